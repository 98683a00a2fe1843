"""What parsers return."""

from typing import NamedTuple

import numpy as np

from eigentext.corpus.trees import Tree


class Parse(NamedTuple):
    """A tree for a sentence.

    Attributes
    ----------
    tree
        The tree; None for an empty sentence only.
    log_probability
        log p(sentence), summed over its parses; -inf for pieces and for an empty sentence. For a
        spectral grammar, the logarithm of the absolute value of its score.
    fallback
        None if the tree is a parse by the grammar. Else the reason why it is not. It is then a
        parse by the plain PCFG without memory and states, whose probability is given, or it is made
        of pieces below a root.
    """

    tree: Tree | None
    log_probability: float
    fallback: str | None


class Span(NamedTuple):
    """A label over the words ``start`` to ``end - 1``, and the probability that the tree has it."""

    label: str
    start: int
    end: int
    probability: float


class ScoredSpan(NamedTuple):
    """A label over the words ``start`` to ``end - 1``, and its score: any number."""

    label: str
    start: int
    end: int
    score: float


class ScoredTree(NamedTuple):
    """A tree and log p(tree, words).

    A spectral grammar has scores with signs in place of probabilities. Then `log_probability` is
    the logarithm of the absolute value of the score, which `score` is another name of.
    """

    tree: Tree
    log_probability: float

    @property
    def score(self) -> float:
        """The same number, by the name that it should have for a spectral grammar."""
        return self.log_probability


class WeighedTree(NamedTuple):
    """A tree to choose from, with what the grammar expects of it.

    Attributes
    ----------
    tree
        The tree.
    log_probability
        The sum of the logs of the posteriors of its rules, an estimate of log p(tree | words). For
        a grammar without hidden states, log p(tree, words). -inf if the tree is no parse by the
        grammar.
    expected
        How many of its brackets and tags the grammar expects to be right, less `tau` for each
        bracket. The answer of :meth:`Parser.parse` has the largest value.
    marginals
        The posterior mu(X, i, j) of each bracket, parents first, from left to right. Parts of
        speech are no brackets.
    """

    tree: Tree
    log_probability: float
    expected: float
    marginals: tuple[float, ...]


class ForestItem(NamedTuple):
    """A node of some of the trees of a sentence.

    Attributes
    ----------
    labels
        Its labels, the topmost first: several for a chain of nodes with one child each, and none
        for a part of the children of a node. The last label over a word is its tag.
    start, end
        It spans the words ``start`` to ``end - 1``.
    worth
        What it adds to :attr:`WeighedTree.expected`.
    edges
        Pairs of items below it, the left and the right one, by their numbers. Over a word there are
        none.
    """

    labels: tuple[str, ...]
    start: int
    end: int
    worth: float
    edges: tuple[tuple[int, int], ...]


class Forest(NamedTuple):
    """All trees that are left for a sentence, packed.

    Attributes
    ----------
    words
        The words.
    parse
        The tree that the parser chooses.
    items
        Children come before parents. There are none if the grammar has no parse.
    roots
        The items that may be the root.
    marginals
        The posterior mu(X, i, j) of each label over each span.
    """

    words: list[str]
    parse: Tree
    items: list[ForestItem]
    roots: list[int]
    marginals: dict[tuple[str, int, int], float]


class Analysis(NamedTuple):
    """All that one reading of a sentence gives.

    Attributes
    ----------
    parse
        As :meth:`Parser.parses` gives it.
    spans
        As :meth:`Parser.marginals` gives them.
    best
        As :meth:`Parser.k_best` gives them.
    """

    parse: Parse
    spans: list[Span]
    best: list[ScoredTree]


class NodeStates(NamedTuple):
    """A node of a tree, or of all trees of a sentence, and the posterior of its hidden states.

    Attributes
    ----------
    label
        The symbol of the node as text. A chain of nodes with one child each is one node: "S+VP".
    chain
        The labels of that chain, the topmost first. The last one of a leaf is its tag.
    start, end
        The node spans the words ``start`` to ``end - 1``.
    states
        Given a tree, p(h | tree, words) for each state h of the label. They sum to one. Given a
        sentence, p(node, h | words). They sum to the probability of the node.
    """

    label: str
    chain: tuple[str, ...]
    start: int
    end: int
    states: np.ndarray

    @property
    def probability(self) -> float:
        """The sum over the states: the probability of the node, which is 1 in a given tree."""
        return float(self.states.sum())


class FallbackWarning(UserWarning):
    """A sentence has no parse by the grammar; its tree is plainer, made of pieces, or None."""
