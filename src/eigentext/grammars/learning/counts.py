"""Relative frequencies: the plain PCFG of a treebank, with which every method begins.

With #(.) for counts in the treebank, the probabilities of a PCFG are

    pi(a) = #(root = a) / #(roots),  t(a -> b c | a) = #(a -> b c) / #(a),

and those of words are smoothed (``treebank/lexicon.py``). :class:`~eigentext.PCFG` is this grammar.
Two other things are counted here. The *coarse grammar* is the PCFG of the labels without what they
remember of siblings and ancestors; every parser prunes its charts with it. And every grammar,
however it was learned, gets its smoothed words here.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from eigentext import engine
from eigentext.grammars.chart.cascade import Level
from eigentext.grammars.grammar import Grammar
from eigentext.grammars.learning.protocol import Learned, Task
from eigentext.grammars.learning.training import GrammarParameters, TrainingTrees
from eigentext.grammars.treebank.lexicon import Lexicon, WordStates, state_tags, tag_numbers
from eigentext.grammars.treebank.normal_form import Rules, coarse
from eigentext.grammars.treebank.plain_text import PlainText
from eigentext.grammars.treebank.reading import TreeLike, read_treebank
from eigentext.grammars.treebank.unaries import ChainCounts
from eigentext.parameters import Settings


class CountedTrees:
    """Trees that were read and counted, ready for any method.

    Parameters
    ----------
    trees
        Trees, bracket strings, or objects with the shape of an ``nltk.Tree``.
    rare
        Words seen at most this often share the statistics of their class.
    beta, gamma
        The smoothing of words (``Lexicon.learn``).
    vectors, clusters
        Of plain text, for rare and unseen words, or None (``treebank/plain_text.py``).
    binarization
        Keyword arguments of ``Treebank.from_trees``.

    Attributes
    ----------
    treebank
        The trees, normalized and binarized.
    lexicon
        Their words and the classes of the rare ones.
    trees
        The trees as EM passes over them.
    pcfg
        The relative frequencies of rules and words, without smoothing.
    rare_tokens
        The share of the tokens that are rare words.
    """

    def __init__(
        self,
        trees: Iterable[TreeLike],
        *,
        rare: int,
        beta: float,
        gamma: float,
        vectors: Any = None,
        clusters: Any = None,
        **binarization: Any,
    ):
        text = PlainText.of(vectors, clusters)
        with engine.phase("treebank"):
            self.treebank = read_treebank(trees, **binarization)
            is_leaf = self.treebank.left < 0
            is_first = np.zeros(int(is_leaf.sum()), bool)
            is_first[np.cumsum(is_leaf)[self.treebank.offsets[:-1]] - 1] = True
            self.lexicon = Lexicon(self.treebank.tokens, is_first, rare)
            self.trees = TrainingTrees(self.treebank, self.lexicon.terminals())
            self.pcfg = self.trees.maximum_likelihood(self.treebank)
            self.rare_tokens = float((self.lexicon.counts[self.lexicon.counts <= rare]).sum())
            self.rare_tokens /= len(self.treebank.tokens)
        if text is not None:
            symbols = self.treebank.symbols
            tags = state_tags(symbols, np.ones(len(symbols), np.int64))
            of_leaves = tags[self.treebank.label[is_leaf]]
            self.lexicon.read_plain_text(text, of_leaves, len(tag_numbers(symbols)), gamma)
        self.beta, self.gamma = float(beta), float(gamma)

    @classmethod
    def by(cls, settings: Settings, trees: Iterable[TreeLike]) -> "CountedTrees":
        """Read and count trees as the parameters of an estimator say."""
        names = (
            "rare", "beta", "gamma", "vectors", "clusters", "binarize", "horizontal", "vertical",
        )  # fmt: skip
        return cls(trees, **{name: settings[name] for name in names})

    def level(self, parameters: GrammarParameters) -> Level:
        """The grammar of some parameters, with the smoothed words of its states."""
        grammar = parameters.grammar
        posteriors, states, sizes = self.trees.leaf_posteriors(parameters)
        tags = state_tags(self.treebank.symbols, grammar.n_states)
        return Level(grammar, self._words(posteriors, states, sizes, tags))

    def coarse(self) -> Level:
        """The coarse grammar: the PCFG of the labels without what they remember."""
        treebank, rules = self.treebank, self.treebank.rules()
        place, symbols = coarse(treebank.symbols)
        n = len(symbols)
        keys = (place[rules.left].astype(np.int64) * n + place[rules.right]) * n
        keys, which = np.unique(keys + place[rules.parent], return_inverse=True)
        counts = np.bincount(which, rules.counts)
        pairs, parent = np.divmod(keys, n)
        plain = Rules(parent, *np.divmod(pairs, n), counts)
        labels = np.bincount(place[treebank.label], minlength=n)
        roots = place[treebank.label[treebank.offsets[1:] - 1]]
        pi = np.bincount(roots, minlength=n) / len(roots)
        grammar = Grammar(plain, np.ones(n, np.int64), counts / labels[parent], pi)
        leaves = place[treebank.label[treebank.left < 0]]
        ones = np.ones(len(leaves), np.int64)
        tags = state_tags(symbols, grammar.n_states)
        return Level(grammar, self._words(ones.astype(float), leaves, ones, tags))

    def chains(self) -> ChainCounts:
        """What the back-off of a parser needs: how often each symbol occurs."""
        treebank = self.treebank
        counts = np.bincount(treebank.label, minlength=len(treebank.symbols))
        return ChainCounts(counts, treebank.binarization)

    def sentences(self, n: int) -> list[list[str]]:
        """The words of the first `n` trees."""
        bounds = np.cumsum(np.diff(self.treebank.offsets[: n + 1]) // 2 + 1)
        tokens = np.array(self.treebank.tokens, object)
        return [list(some) for some in np.split(tokens, bounds)[: len(bounds)]]

    def _words(
        self, posteriors: np.ndarray, states: np.ndarray, sizes: np.ndarray, tags: np.ndarray
    ) -> WordStates:
        return self.lexicon.learn(posteriors, states, sizes, tags, beta=self.beta, gamma=self.gamma)


def learn(task: Task, k: int = 0) -> Learned:
    """The PCFG. There is only one, whatever `k` is."""
    return Learned(task.counted.level(task.counted.pcfg), {})
