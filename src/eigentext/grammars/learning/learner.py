"""Steps that all parsers take from trees to a cascade."""

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import count, islice
from typing import Any

import numpy as np

from eigentext import engine
from eigentext.corpus.packing import pack, unpack
from eigentext.corpus.trees import Tree, as_tree, normalize_tree
from eigentext.errors import CorpusError, ParameterError
from eigentext.grammars.chart.cascade import Level
from eigentext.grammars.grammar import Grammar
from eigentext.grammars.learning.training import Parameters, TrainingTrees
from eigentext.grammars.treebank.lexicon import Lexicon, WordStates
from eigentext.grammars.treebank.normal_form import (
    Binarization,
    Part,
    Rules,
    Symbol,
    Treebank,
    binarized,
    check_binarization,
    coarse,
)

_BLOCK = 500  # trees of a task: a tenth of a second
_EMPTY = "no trees to learn from: is the treebank empty?"


class Learner:
    """Trees ready to learn from: normalised, binarised, words classed.

    Parameters
    ----------
    trees
        Trees, bracket strings, or what is shaped like an ``nltk.Tree``.
    rare
        Words seen at most so often share the statistics of their class.
    beta, gamma
        The lexicon's smoothing (``Lexicon.learn``).
    binarization
        Keyword arguments of ``Treebank.from_trees``.
    """

    def __init__(
        self, trees: Iterable[Any], *, rare: int, beta: float, gamma: float, **binarization: Any
    ):
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
        self.beta, self.gamma = float(beta), float(gamma)

    def level(self, parameters: Parameters) -> Level:
        """A grammar with the words of its states, smoothed."""
        grammar = parameters.grammar
        posteriors, states, sizes = self.trees.leaf_posteriors(parameters)
        tags = state_tags(self.treebank.symbols, grammar.n_states)
        return Level(grammar, self._words(posteriors, states, sizes, tags))

    def coarse(self) -> Level:
        """The plain PCFG of the labels without what they remember."""
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

    def _words(self, posteriors, states, sizes, tags) -> WordStates:
        return self.lexicon.learn(posteriors, states, sizes, tags, beta=self.beta, gamma=self.gamma)


def read_treebank(trees: Iterable[Any], **binarization: Any) -> Treebank:
    """Trees normalised and binarised: by a cluster if there is one, in blocks; the same anywhere.

    `binarization` is that of ``Treebank.from_trees``.
    """
    workers = engine.cluster()
    if workers is None:
        return Treebank.from_trees(normalized(trees), **binarization)
    _check_several(trees)
    how = Binarization(**binarization)
    check_binarization(how)
    parts = list(workers.map(_read_block, _blocks(trees), how))
    if not parts:
        raise CorpusError(_EMPTY)
    return Treebank.from_parts(parts, how)


def normalized(trees: Iterable[Any]) -> list[Tree]:
    """Trees as they are learned; an error names the tree."""
    _check_several(trees)
    result = _normalized(trees, 1)
    if not result:
        raise CorpusError(_EMPTY)
    return result


def _check_several(trees: Any) -> None:
    is_one = isinstance(trees, (str, bytes, os.PathLike)) or hasattr(trees, "label")
    if is_one or not isinstance(trees, Iterable):
        raise CorpusError("give a list of trees, as et.read_trees does, not a single one or a path")


def _normalized(trees: Iterable[Any], first: int) -> list[Tree]:
    return [_named(number, _normalize, tree) for number, tree in enumerate(trees, first)]


def _normalize(tree: Any) -> Tree:
    return normalize_tree(as_tree(tree))


def _named(number: int, function: Callable[[Any], Any], tree: Any) -> Any:
    """What a function makes of a tree; an error names the tree."""
    try:
        return function(tree)
    except (CorpusError, ParameterError) as error:
        raise type(error)(f"tree {number}: {error}") from None


def _blocks(trees: Iterable[Any]) -> Iterator[tuple[int, list[Any]]]:
    """Trees ready to travel: strings as they are, others packed; and the number of the first."""
    queue = iter(trees)
    for first in count(1, _BLOCK):
        block = [
            tree if isinstance(tree, str) else pack(_named(number, as_tree, tree))
            for number, tree in enumerate(islice(queue, _BLOCK), first)
        ]
        if not block:
            return
        yield first, block


def _read_block(block: tuple[int, list[Any]], how: Binarization) -> Part:
    first, packed = block
    trees = [tree if isinstance(tree, str) else unpack(tree) for tree in packed]
    return binarized(_normalized(trees, first), how, first)


def state_tags(symbols: list[Symbol], n_states: np.ndarray) -> np.ndarray:
    """The tag of each state's label, as a number; all inner labels have one number."""
    names = [symbol.chain[-1] if symbol.preterminal else "" for symbol in symbols]
    numbers = {name: k for k, name in enumerate(dict.fromkeys(["", *names]))}
    return np.repeat([numbers[name] for name in names], n_states)
