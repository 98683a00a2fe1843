"""Structures as one table of distinct nodes. The table has each node once.

A node is a label over children that are nodes too: a production over subtrees, or a tagged word
before the rest of its sequence. Equal nodes are stored once ("hash-consing"). So a structure is the
number of its root, and equal structures have equal numbers. A kernel computes a value once for all
occurrences of a node; the candidates for one sentence share most of their nodes. The number of a
node is larger than the numbers of its children.
"""

from array import array
from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from eigentext.kernels.kernel import Encoded, Indices

MERGED = 8  # structures that are treated as one
BLOCK = 1024  # structures in a forest, few enough for the processor's cache


class Store:
    """The table of distinct nodes, with the names of their groups, words and word classes."""

    def __init__(self):
        self.groups: dict[Hashable, int] = {}
        self.words: dict[Hashable, int] = {}
        self.classes: dict[Hashable, int] = {}
        self._group, self._word, self._class = array("i"), array("i"), array("i")
        self._child_start, self._children, self._size = array("i", [0]), array("i"), array("q")

    def __len__(self) -> int:
        return len(self._group)

    def add(
        self, group: Hashable, children: Sequence[int], word: int = -1, word_class: int = -1
    ) -> int:
        """Add a node and return its number. A child of -1 means that there is no child."""
        self._group.append(self.groups.setdefault(group, len(self.groups)))
        self._word.append(word)
        self._class.append(word_class)
        self._children.extend(children)
        self._child_start.append(len(self._children))
        size = 1
        for child in children:
            if child >= 0:
                size += self._size[child]
        self._size.append(size)
        return len(self._group) - 1

    @cached_property
    def nodes(self) -> "NodeTable":
        """The table as arrays. Ask for it only after the last `add`."""
        fields = (self._group, self._word, self._class, self._child_start, self._children)
        return NodeTable(
            *(np.array(field, np.int32) for field in fields), size=np.array(self._size)
        )


class NodeTable(NamedTuple):
    """Arrays over nodes. The children of n are ``children[child_start[n]:child_start[n + 1]]``."""

    group: np.ndarray
    word: np.ndarray
    word_class: np.ndarray
    child_start: np.ndarray
    children: np.ndarray
    size: np.ndarray  # the number of nodes in the structure below, with repetitions

    def children_of(self, node: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the children of some nodes, where those of each node begin, and whose they are."""
        arity = self.child_start[node + 1] - self.child_start[node]
        start = np.concatenate([[0], np.cumsum(arity)])
        owner = np.repeat(np.arange(len(node)), arity)
        at = np.arange(len(owner)) + (self.child_start[node] - start[:-1])[owner]
        return self.children[at], start, owner


class Rows(NamedTuple):
    """Structures as lists of their distinct nodes, children first.

    A child is given by its place in its list. Groups, words and classes have the numbers of the
    structures that these will be compared with. A number of -1 means that those do not have it.
    """

    offsets: np.ndarray
    group: np.ndarray
    word: np.ndarray
    word_class: np.ndarray
    child_start: np.ndarray
    children: np.ndarray
    weights: np.ndarray


class NodeForest(NamedTuple):
    """The distinct nodes of many structures, sorted by group, and the structures that have them.

    Within a group, nodes are in falling order of `last`, the last structure that has them.
    Occurrences are in falling order of their structure.
    """

    group_start: np.ndarray
    group: np.ndarray
    word: np.ndarray
    word_class: np.ndarray
    child_start: np.ndarray
    children: np.ndarray
    parent_start: np.ndarray
    parents: np.ndarray
    last: np.ndarray
    occurrence_start: np.ndarray  # of groups
    occurrence_row: np.ndarray
    occurrence_node: np.ndarray


class EncodedNodes(Encoded):
    """Structures, given by their roots in a store."""

    def __init__(self, store: Store, roots: np.ndarray, coding: Any = None):
        self.store, self.roots, self.coding = store, roots, coding

    def __len__(self) -> int:
        return len(self.roots)

    def __getitem__(self, indices: Indices) -> "EncodedNodes":
        return EncodedNodes(self.store, self.roots[indices], self.coding)

    @property
    def identity(self) -> np.ndarray:
        """The root of each structure."""
        return self.roots

    @cached_property
    def forests(self) -> list[tuple[int, NodeForest]]:
        """A forest for each block of structures, with the place of its first structure."""
        starts = range(0, len(self), BLOCK)
        return [(start, self[start : start + BLOCK]._forest()) for start in starts]

    def rows(self, other: "EncodedNodes") -> Rows:
        """Return each structure, with the numbers that `other` has for names."""
        return self._rows if other.store is self.store else self._listed_for(other.store)

    @cached_property
    def _rows(self) -> Rows:
        return self._listed_for(self.store)

    def _listed_for(self, names: Store) -> Rows:
        row, node, counts = self._counts
        return self._listed(row, node, counts, len(self), names)

    def merged(self, alpha: np.ndarray, other: "EncodedNodes") -> Rows:
        """Merge a few structures at a time into one, where a node weighs the sum of its alphas.

        A few fit into the cache. Neighbors, such as the two structures of an update, share most of
        their nodes.
        """
        row, node, counts = self._counts
        row, alpha = row // MERGED, alpha[row] * counts
        distinct, place = np.unique(row * len(self.store) + node, return_inverse=True)
        weights = np.bincount(place, alpha, minlength=len(distinct))
        n_rows = -(-len(self) // MERGED)
        return self._listed(*np.divmod(distinct, len(self.store)), weights, n_rows, other.store)

    def alone(self) -> tuple[Rows, NodeForest]:
        """Return rows and a forest in which each structure matches only itself."""
        rows = self.rows(self)
        row = np.repeat(np.arange(len(self)), np.diff(rows.offsets))
        own = row * len(self.store.groups) + rows.group
        group = np.unique(own, return_inverse=True)[1]
        first = rows.offsets[row[np.repeat(np.arange(len(row)), np.diff(rows.child_start))]]
        children = np.where(rows.children < 0, -1, rows.children + first)
        fields = (group, rows.word, rows.word_class, rows.child_start, children)
        private = NodeTable(*fields, np.ones_like(row))
        place = np.arange(len(row))
        forest = _forest(private, place, np.zeros_like(row), place, rows.weights.astype(np.int64))
        return rows._replace(group=group), forest

    def walked(self) -> tuple[np.ndarray, np.ndarray]:
        """Return all nodes of each structure, the root first, and where each structure begins."""
        from eigentext.kernels._loops import occurrences

        nodes = self.store.nodes
        offsets = np.concatenate([[0], np.cumsum(nodes.size[self.roots])])
        found = np.empty(offsets[-1], dtype=np.int64)
        occurrences(self.roots, nodes.child_start, nodes.children, offsets, found)
        return found, offsets

    @cached_property
    def _counts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Three arrays: the place of a structure, one of its distinct nodes, and its count."""
        found, offsets = self.walked()
        found += np.repeat(np.arange(len(self)) * len(self.store), np.diff(offsets))
        distinct, counts = np.unique(found, return_counts=True)
        row, node = np.divmod(distinct, len(self.store))
        return row, node, counts

    def _listed(
        self, row: np.ndarray, node: np.ndarray, weights: np.ndarray, n_rows: int, names: Store
    ) -> Rows:
        nodes = self.store.nodes
        offsets = np.searchsorted(row, np.arange(n_rows + 1))
        children, child_start, owner = nodes.children_of(node)
        # A child is a node of the same row: look it up there.
        keys = row * len(self.store) + node
        wanted = (row * len(self.store))[owner] + children
        place = np.searchsorted(keys, wanted) - offsets[row[owner]]
        place = np.where(children < 0, -1, place)
        weights = np.asarray(weights, dtype=np.float64)
        group, word, word_class = self.named(node, names)
        return Rows(offsets, group, word, word_class, child_start, place, weights)

    def named(self, node: np.ndarray, names: Store) -> list[np.ndarray]:
        """Return the groups, words and classes of nodes, with the numbers of the store `names`."""
        mine, nodes = self.store, self.store.nodes
        numbers = [nodes.group[node], nodes.word[node], nodes.word_class[node]]
        if names is not mine:
            pairs = zip(
                (mine.groups, mine.words, mine.classes),
                (names.groups, names.words, names.classes),
                strict=True,
            )
            numbers = [_renumbered(*pair)[one] for pair, one in zip(pairs, numbers, strict=True)]
        # The same types in both cases, so that Numba compiles a loop only once.
        return [one.astype(np.int64) for one in numbers]

    def _forest(self) -> NodeForest:
        row, node, counts = self._counts
        distinct, place = np.unique(node, return_inverse=True)
        return _forest(self.store.nodes, distinct, row, place, counts, len(self.store.groups))


def _forest(
    nodes: NodeTable,
    distinct: np.ndarray,
    row: np.ndarray,
    place: np.ndarray,
    counts: np.ndarray,
    n_groups: int | None = None,
) -> NodeForest:
    """Make a forest. Row `row[i]` has the node ``distinct[place[i]]``, `counts[i]` times."""
    last = np.zeros(len(distinct), dtype=np.int64)
    last[place] = row  # rows are in rising order, so that the last one stays
    order = np.lexsort((-last, nodes.group[distinct]))
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    node = distinct[order]
    group = nodes.group[node]
    groups = np.arange((group[-1] + 1 if n_groups is None else n_groups) + 1)
    children, child_start, owner = nodes.children_of(node)
    known = children >= 0
    children[known] = number[np.searchsorted(distinct, children[known])]
    by_child = np.argsort(children, kind="stable")
    occurring, row = np.repeat(number[place], counts), np.repeat(row, counts)
    by_group = np.lexsort((-row, group[occurring]))
    return NodeForest(
        np.searchsorted(group, groups),
        group.astype(np.int32),
        nodes.word[node].astype(np.int32),
        nodes.word_class[node].astype(np.int32),
        child_start,
        children.astype(np.int32),
        np.searchsorted(children[by_child], np.arange(len(node) + 1)),
        owner[by_child].astype(np.int32),
        last[order],
        np.searchsorted(group[occurring[by_group]], groups),
        row[by_group].astype(np.int32),
        occurring[by_group].astype(np.int32),
    )


def _renumbered(names: dict[Hashable, int], others: dict[Hashable, int]) -> np.ndarray:
    """Return an array from the numbers of `names` to those of `others`. -1 means unknown."""
    return np.array([*(others.get(name, -1) for name in names), -1])
