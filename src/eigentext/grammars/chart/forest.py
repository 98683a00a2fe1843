"""Packed forests: all parses of a sentence, or one tree, as a hypergraph.

An item is a label over a span. An item of width one rewrites to its word. A wider item has groups,
one for each rule a -> b c, and a group has edges, one for each split point. The outer products of
the vectors of the children are summed over split points before the tensor of the rule is applied.
So the latent states of a rule cost m^3 for each group and m^2 for each edge. A tree is a forest in
which every wide item has one group with one edge. So learning from trees and parsing sentences use
the same two passes, upwards (inside) and downwards (outside).
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
        ``groups[i]:groups[i + 1]`` are the groups of item ``i``. An item of width one has none.
    rule
        The binary rule of each group. Its parent is the label of the item.
    edges
        ``edges[g]:edges[g + 1]`` are the edges of group ``g``.
    left, right
        The two child items of each edge.
    roots
        The items that may be the root.
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
    """The forest of the items in `keep` that still have a derivation, and the old numbers of these.

    The order stays. A group is removed with its last edge.
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
    for p in np.flatnonzero(inner):  # in post-order, children come first
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
