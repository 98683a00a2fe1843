"""Probabilistic context-free grammars, by relative frequencies.

p(tree) is the product of pi(root), t(a -> b c | a) and q(a -> x | a) over its nodes. Rules are
estimated by maximum likelihood (``learning/counts.py``), and words are smoothed
(``treebank/lexicon.py``). How good such a grammar is depends on what a label remembers of its
siblings and ancestors (``treebank/normal_form.py``). The hidden states of
:class:`~eigentext.LatentPCFG` are learned, not chosen.
"""

from collections.abc import Iterable
from typing import Any, Self

from eigentext.estimators import learning
from eigentext.grammars import parameters
from eigentext.grammars.chart.cascade import Cascade
from eigentext.grammars.learning.counts import CountedTrees, learn
from eigentext.grammars.learning.protocol import Task
from eigentext.grammars.parser import Parser
from eigentext.grammars.treebank.reading import TreeLike


class PCFG(Parser):
    """A grammar without hidden states: the fastest parser, and the one that prunes for others.

    Parameters
    ----------
    binarize : "left" or "right"
        The side on which intermediate nodes branch.
    horizontal : int or None
        How many siblings an intermediate node remembers; None for all.
    vertical : int
        1: labels alone; 2: labels with their parent's label; and so on.
    rare : int
        Words seen at most this often share the statistics of their class.
    beta, gamma : float
        The weight of the class and of the tags of a word, in tokens of the word.
    vectors : Eigenwords, gensim's KeyedVectors, or (words, matrix), optional
        Word vectors of plain text. They tell the tags of words that are rare in the trees.
    clusters : WordClusters, or a dictionary of words and bit strings, optional
        Word clusters of plain text, for the same words, and for their hidden states.
    prune : float
        In parsing, leave out labels over spans whose marginal, by the grammar without memory, is
        smaller than this.
    decoding : "mbr" | "max-rule" | "viterbi"
        Which tree to choose. "mbr": the one with the most expected brackets. "max-rule": the one
        with the largest product of the posteriors of its rules. "viterbi": the most probable one.
    tau : float
        For "mbr": how probable a bracket must be to be worth having; 0 gives the best recall.
    mbr : "bracket" | "node" | "symbol"
        For "mbr": what must be right. "bracket": each label over a span. "node": the whole chain
        of unary nodes over a span. "symbol": the symbol of the binarized tree, intermediate nodes
        too [Goodman 1996].

    Attributes
    ----------
    symbols_ : list of Symbol
        The labels of the binarized trees.
    diagnostics_ : dict
        Numbers of labels, rules and parameters, rules seen once, and the share of rare words.
    provenance_ : dict
        The size of the treebank, and how it was binarized.

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
        vectors: Any = None,
        clusters: Any = None,
        prune: float = 5e-5,
        decoding: str = "mbr",
        tau: float = 0.45,
        mbr: str = "bracket",
    ):
        self.binarize = binarize
        self.horizontal = horizontal
        self.vertical = vertical
        self.rare = rare
        self.beta = beta
        self.gamma = gamma
        self.vectors = vectors
        self.clusters = clusters
        self.prune = prune
        self.decoding = decoding
        self.tau = tau
        self.mbr = mbr

    @learning
    def fit(self, trees: Iterable[TreeLike], y: Any = None) -> Self:
        """Learn from trees. They are normalized first (``et.normalize_tree``)."""
        counted = CountedTrees.by(self._used, trees)
        learned = learn(Task(counted, self._used))
        symbols, levels = counted.treebank.symbols, [learned.level]
        self._keep(counted, Cascade(symbols, counted.coarse(), None, levels, counted.chains()))
        return self
