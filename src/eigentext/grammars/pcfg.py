"""Probabilistic context-free grammars, by relative frequencies.

p(tree) is the product of pi(root), t(a -> b c | a) and q(a -> x | a) over its nodes; rules by
maximum likelihood, words smoothed (``lexicon.py``). What a label remembers of its siblings and
ancestors (``treebank.py``) is what makes such a grammar good or bad; hidden states, which
:class:`~eigentext.LatentPCFG` adds, are learned instead of chosen.
"""

from collections.abc import Iterable
from typing import Any, Self

from eigentext.estimators import learning
from eigentext.grammars import parameters
from eigentext.grammars.chart.cascade import Cascade
from eigentext.grammars.parser import Parser


class PCFG(Parser):
    """A grammar without hidden states: the quickest parser, and the one that prunes for others.

    Parameters
    ----------
    binarize : "left" or "right"
        The side on which intermediate nodes branch.
    horizontal : int or None
        How many siblings an intermediate node remembers; None is all.
    vertical : int
        1 is a label alone, 2 with its parent's, and so on.
    rare : int
        Words seen at most so often share the statistics of their class.
    beta, gamma : float
        What a word's class and its tags weigh beside what was seen of it, in tokens.
    prune : float
        The least marginal, by the grammar without memory, that a label over a span may have.
    decoding : "mbr" | "max-rule" | "viterbi"
        The tree with the most expected brackets, the one with the largest product of its rules'
        probabilities given the sentence, or the most probable one.
    tau : float
        In "mbr", how probable a bracket must be to be worth having: 0 for the best recall.

    Attributes
    ----------
    symbols_ : list of Symbol
    diagnostics_ : dict
    provenance_ : dict

    Examples
    --------
    >>> trees = ["(S (NP (NNP Ann)) (VP (VBZ likes) (NP (NNP Bob))))",
    ...          "(S (NP (NNP Bob)) (VP (VBZ sleeps)))"]
    >>> print(PCFG().fit(trees).parse("Bob likes Ann"))
    (S (NP (NNP Bob)) (VP (VBZ likes) (NP (NNP Ann))))
    """

    _format = "eigentext.pcfg.v2"
    _table = parameters.PCFG
    _has_middle = False

    def __init__(
        self,
        *,
        binarize: str = "left",
        horizontal: int | None = 2,
        vertical: int = 2,
        rare: int = 5,
        beta: float = 1.0,
        gamma: float = 3.0,
        prune: float = 5e-5,
        decoding: str = "mbr",
        tau: float = 0.45,
    ):
        self.binarize = binarize
        self.horizontal = horizontal
        self.vertical = vertical
        self.rare = rare
        self.beta = beta
        self.gamma = gamma
        self.prune = prune
        self.decoding = decoding
        self.tau = tau

    @learning
    def fit(self, trees: Iterable[Any], y: Any = None) -> Self:
        """Learn from trees; they are normalised first (``et.normalize_tree``)."""
        learner = self._learner(trees)
        level = learner.level(learner.pcfg)
        symbols = learner.treebank.symbols
        self._keep(learner, Cascade(symbols, learner.coarse(), None, [level]))
        return self
