r"""The best tree of a packed forest by features that look beyond one edge: cube pruning.

Candidates are a few dozen trees. The forest of a parser has millions. The score of a tree is that
of ``tree_reranker.py``: the sum of what its items are worth, which is local, and of the corrections
of its brackets, which are not. The features of a bracket depend on all its children, their heads,
its parent and its grandparent. So an item has no single best tree, and keeps the best few.

[Huang 2008] computes features as soon as all that they depend on is there. A bracket is scored
three times: when its children are known, again with its parent, and finally with its grandparent.
Until then, features of what is still unknown do not count. The trees of an edge are pairs of trees
of its two children. The best pairs of all edges of an item are found in the order of the sums of
their scores (a cube for each edge), and are then sorted by their own scores.

With a beam as large as the number of trees, the search is exact. Without corrections it is exact
for any beam.

[Huang 2008] L. Huang, Forest reranking: discriminative parsing with non-local features, ACL 2008.
"""

import heapq
from collections.abc import Callable, Sequence
from math import log, tanh
from typing import Any, NamedTuple

import numpy as np

from eigentext.corpus.trees import Tree
from eigentext.reranking.brackets import LEAST
from eigentext.reranking.extraction import Extractor
from eigentext.reranking.pieces import NONE, Piece, piece_of

UNKNOWN = "?"  # the label of a parent that is not there yet
Correct = Callable[[Piece], float]


class _Node(NamedTuple):
    """A node whose parent is unknown.

    Attributes
    ----------
    tree
        The tree below it.
    label, end, head, below
        As :func:`piece_of` takes them.
    piece
        Itself, or None for a tag.
    own
        Its correction, as it counts now.
    children
        Those with a piece.
    """

    tree: Tree
    label: str
    end: int
    head: int
    below: str
    piece: Piece | None
    own: float
    children: "tuple[_Node, ...]"


class _Found(NamedTuple):
    """A derivation of an item: its score, and its nodes side by side."""

    score: float
    nodes: tuple[_Node, ...]


def best_tree(forest: Any, correct: Correct, *, weight: float = 1.0, beam: int = 10) -> Tree:
    """The best tree that the search finds.

    Parameters
    ----------
    forest
        That of ``parser.forest``.
    correct
        The correction of a piece. It may have a parent and a grandparent that are
        :data:`UNKNOWN`.
    weight
        The weight of what items are worth.
    beam
        How many trees of an item are kept.
    """
    made: list[list[_Found]] = []
    for item in forest.items:
        if item.edges:
            pairs = _cube(item, made, weight * item.worth, correct, beam)
        else:
            pairs = [_leaf(item, forest.words[item.start], weight * item.worth, correct)]
        made.append(pairs)
    best, tree = -float("inf"), forest.parse
    for root in forest.roots:
        for found in made[root]:
            if len(found.nodes) == 1:
                (node,) = found.nodes
                score = found.score + _settled(node, NONE, correct)[0]
                score += sum(_settled(one, node.label, correct, NONE)[0] for one in node.children)
                if score > best:
                    best, tree = score, node.tree
    return tree


def corrector(forest: Any, extractor: Extractor, weights: np.ndarray, *, of_trees: bool) -> Correct:
    """The corrections of a reranker for the pieces of a forest. Each piece is looked at once.

    Parameters
    ----------
    forest
        That of ``parser.forest``.
    extractor, weights
        What finds features, and their weights.
    of_trees
        Whether the sum of the weights is the correction, as for the perceptron. Otherwise, it
        corrects the log-odds of the bracket, and the correction is what its probability gains.
    """
    sentence, w = extractor.sentence(forest.parse), weights.tolist()
    known: dict[Piece, float] = {}

    def correct(piece: Piece) -> float:
        found = known.get(piece)
        if found is None:
            mu = min(max(forest.marginals.get(piece[:3], 0.0), LEAST), 1 - LEAST)
            odds = log(mu / (1 - mu))
            columns: list[int] = []
            values: list[float] = []
            extractor.add(piece, sentence, odds, columns, values)
            found = sum(w[column] * value for column, value in zip(columns, values))
            if not of_trees:
                found = 0.5 * (1.0 + tanh(0.5 * (odds + found))) - mu
            known[piece] = found
        return found

    return correct


def tree_score(
    worth: float, pieces: Sequence[Piece], correct: Correct, *, weight: float = 1.0
) -> float:
    """The score of a tree whose items are worth this together."""
    return weight * worth + sum(map(correct, pieces))


def _cube(
    item: Any, made: list[list[_Found]], worth: float, correct: Correct, beam: int
) -> list[_Found]:
    """The best derivations of an item over several words."""
    queue: list[tuple[float, int, int, int]] = []
    for number, (b, c) in enumerate(item.edges):
        if made[b] and made[c]:
            queue.append((-(made[b][0].score + made[c][0].score), number, 0, 0))
    heapq.heapify(queue)
    found: list[_Found] = []
    while queue and len(found) < beam:
        _, number, m, n = heapq.heappop(queue)
        lefts, rights = (made[child] for child in item.edges[number])
        one, other = lefts[m], rights[n]
        found.append(
            _joined(item, one.nodes + other.nodes, one.score + other.score + worth, correct)
        )
        if n + 1 < len(rights):
            _queue(queue, number, m, n + 1, lefts, rights)
        if n == 0 and m + 1 < len(lefts):  # so that each pair is found once
            _queue(queue, number, m + 1, 0, lefts, rights)
    return sorted(found, key=lambda one: -one.score)


def _queue(
    queue: list[tuple[float, int, int, int]],
    number: int,
    m: int,
    n: int,
    lefts: list[_Found],
    rights: list[_Found],
) -> None:
    """Add the pair of the m-th and the n-th derivation of two items to the queue."""
    heapq.heappush(queue, (-(lefts[m].score + rights[n].score), number, m, n))


def _leaf(item: Any, word: str, worth: float, correct: Correct) -> _Found:
    tag = item.labels[-1]
    node = _Node(Tree(tag, [word]), tag, item.end, item.start, "", None, 0.0, ())
    return _above(item.labels[:-1], item.start, (node,), worth, correct)


def _joined(item: Any, nodes: tuple[_Node, ...], score: float, correct: Correct) -> _Found:
    return _above(item.labels, item.start, nodes, score, correct)


def _above(
    labels: tuple[str, ...], start: int, nodes: tuple[_Node, ...], score: float, correct: Correct
) -> _Found:
    """Put labels above nodes, the last one first."""
    for label in reversed(labels):
        piece = piece_of(
            label, start, UNKNOWN, UNKNOWN, [(n.label, n.end, n.head, n.below) for n in nodes]
        )
        children = []
        for node in nodes:
            if node.piece is not None:
                change, child = _settled(node, label, correct)
                score += change
                children.append(child)
                score += sum(_settled(one, node.label, correct, label)[0] for one in node.children)
        own = correct(piece)
        score += own
        tree = Tree(label, [node.tree for node in nodes])
        head, below = piece.heads[piece.head], " ".join(piece.labels)
        nodes = (_Node(tree, label, piece.end, head, below, piece, own, tuple(children)),)
    return _Found(score, nodes)


def _settled(
    node: _Node, parent: str, correct: Correct, grandparent: str = UNKNOWN
) -> tuple[float, _Node]:
    """By how much the correction of a node changes if more is known, and the node with it."""
    if node.piece is None:
        return 0.0, node
    if parent == NONE:
        grandparent = NONE
    own = correct(node.piece._replace(parent=parent, grandparent=grandparent))
    return own - node.own, node._replace(own=own)
