"""Packed forests: the parses of a sentence, or the trees of a treebank, as a hypergraph.

An item is a label over a span. An item of width one rewrites to its word; a wider one is built by
groups, one for each rule a -> b c, and a group by edges, one for each split point: the latent
states of a rule cost m^3 once a group and m^2 once an edge, because the outer products of the
children's vectors are summed over split points before the rule's tensor is applied. A tree is the
forest in which every wide item has one group of one edge, so learning from trees and parsing
sentences are the same two passes, upwards (inside) and downwards (outside).
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from eigentext.grammars.treebank.normal_form import Treebank


class ParseForest(NamedTuple):
    """Items bottom-up (children before parents), groups by item, edges by group.

    Attributes
    ----------
    label, start, end
        The label of each item, over the words ``start`` to ``end - 1``.
    groups
        ``groups[i]:groups[i + 1]`` are the groups of item ``i``: none for an item of width one.
    rule
        The binary rule of each group; its parent is the item's label.
    edges
        ``edges[g]:edges[g + 1]`` are the edges of group ``g``.
    left, right
        The two child items of each edge.
    roots
        The items that may be a root.
    """

    label: np.ndarray
    start: np.ndarray
    end: np.ndarray
    groups: np.ndarray
    rule: np.ndarray
    edges: np.ndarray
    left: np.ndarray
    right: np.ndarray
    roots: np.ndarray


def kept(forest: ParseForest, keep: np.ndarray) -> tuple[ParseForest, np.ndarray]:
    """The forest of the items where `keep` is true and that still have a derivation; their numbers.

    Items bottom-up stay bottom-up; a rule's group goes when its last edge does.
    """
    from eigentext.grammars.chart._forest_loops import filter_forest

    keep = keep.copy()
    number, groups, rule, edges, left, right = filter_forest(
        forest.groups, forest.rule, forest.edges, forest.left, forest.right, keep
    )
    roots = number[forest.roots]
    items = np.flatnonzero(keep)
    return ParseForest(
        forest.label[items], forest.start[items], forest.end[items], groups, rule, edges, left,
        right, roots[roots >= 0],
    ), items  # fmt: skip


def tree_forest(treebank: "Treebank") -> ParseForest:
    """The one tree of a treebank as a forest."""
    inner = treebank.left >= 0
    n_wide = int(inner.sum())
    leaves = np.cumsum(~inner) - 1
    start, end = leaves.copy(), leaves + 1
    for p in np.flatnonzero(inner):  # post-order: children are done
        start[p], end[p] = start[treebank.left[p]], end[treebank.right[p]]
    return ParseForest(
        treebank.label,
        start.astype(np.int32),
        end.astype(np.int32),
        np.concatenate(([0], np.cumsum(inner))),
        treebank.rule[inner],
        np.arange(n_wide + 1),
        treebank.left[inner],
        treebank.right[inner],
        np.array([len(inner) - 1], np.int32),
    )
