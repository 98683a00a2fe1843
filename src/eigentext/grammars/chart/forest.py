"""Packed forests: all parses of a sentence, or one tree, as a hypergraph.

An item is a label over a span. An item of width one rewrites to its word. A wider item has groups,
one for each rule a -> b c, and a group has edges, one for each split point. The outer products of
the vectors of the children are summed over split points before the tensor of the rule is applied.
So the latent states of a rule cost m^3 for each group and m^2 for each edge. A tree is a forest in
which every wide item has one group with one edge. So learning from trees and parsing sentences use
the same two passes, upwards (inside) and downwards (outside).

Numbers may come near the ends of the range of doubles, if the states of one item are far apart or
if signs cancel. Then both passes are done again with an exponent for each number (``wide.py``).
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from eigentext.grammars.chart.wide import inside_wide_forest, posteriors_wide
from eigentext.grammars.factored_grammar import FactoredGrammar
from eigentext.grammars.grammar import Grammar, ranges, starts
from eigentext.grammars.sparse_grammar import SparseGrammar

if TYPE_CHECKING:
    from eigentext.grammars.treebank.normal_form import Treebank

_FAR = 1e60  # if an outside value is as large, its inside value is next to nothing
_NEAR = -150.0  # log p(root) - log p(likeliest root): below this, states may be out of range


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


def kept(
    forest: ParseForest,
    keep: np.ndarray,
    edge_scores: np.ndarray | None = None,
    least: float = 0.0,
) -> tuple[ParseForest, np.ndarray]:
    """The forest of the items in `keep` that still have a derivation, and the old numbers of these.

    Edges with a score below `least` are removed too. The order stays. A group is removed with its
    last edge.
    """
    from eigentext.grammars.chart._forest_loops import filter_forest

    keep = keep.copy()
    scores = np.full(len(forest.left), least) if edge_scores is None else edge_scores
    number, groups, rule, edges, left, right = filter_forest(
        forest.groups, forest.rule, forest.edges, forest.left, forest.right, keep, scores, least
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


class Posteriors(NamedTuple):
    """Marginals mu(a, i, j) of items and of edges, and log p(sentence) over the forest.

    The p(sentence) of a spectral grammar may be negative. Then `sign` is -1, and the logarithm is
    that of the absolute value.
    """

    log_probability: float
    sign: float
    items: np.ndarray
    edges: np.ndarray


class StatePosteriors(NamedTuple):
    """The posterior of each state of each item, packed, and that of each edge.

    ``states[place[i]:place[i + 1]]`` are those of item i. They sum to the marginal of the item.
    """

    log_probability: float
    sign: float
    place: np.ndarray
    states: np.ndarray
    edges: np.ndarray


class InsidePass(NamedTuple):
    """The inside vectors of all items, scaled, and the outside vectors of the roots."""

    place: np.ndarray  # where the vectors of each item begin
    inside: np.ndarray
    scale: np.ndarray
    outside: np.ndarray
    sign: float
    log_probability: float


def inside_outside(forest: ParseForest, grammar: Grammar, words: np.ndarray) -> Posteriors | None:
    """The marginals of a forest; None if the grammar gives its sentence no probability.

    Parameters
    ----------
    forest
        The forest of one sentence.
    grammar
        A grammar with the labels and rules of the forest.
    words
        q(a -> x | a, h) of the items of width one, packed one after another.
    """
    found = state_posteriors(forest, grammar, words)
    if found is None:
        return None
    items = np.add.reduceat(found.states, found.place[:-1])
    return Posteriors(found.log_probability, found.sign, items, found.edges)


def state_posteriors(
    forest: ParseForest, grammar: Grammar, words: np.ndarray
) -> StatePosteriors | None:
    """The same as :func:`inside_outside`, for each state of each item."""
    safe, above = _upwards(forest, grammar, words)
    if safe and above is None:
        return None
    if safe and above is not None:
        place, inside, scale, outside, sign, log_probability = above
        posterior = np.empty(len(forest.left))
        _outside(forest, grammar, place, inside, scale, outside, posterior)
        if np.abs(outside).max(initial=0.0) < _FAR:  # false for NaN too
            return StatePosteriors(log_probability, sign, place, inside * outside, posterior)
    wide = inside_wide_forest(forest, grammar, words)
    if wide is None:
        return None
    posteriors = posteriors_wide(forest, grammar, wide)
    return StatePosteriors(wide.log_probability, wide.sign, wide.place, *posteriors)


def log_probability(forest: ParseForest, grammar: Grammar, words: np.ndarray) -> float:
    """Log |p(sentence)| over a forest, by the inside pass alone; -inf without a derivation."""
    safe, above = _upwards(forest, grammar, words)
    if safe:
        return -np.inf if above is None else above.log_probability
    wide = inside_wide_forest(forest, grammar, words)
    return -np.inf if wide is None else wide.log_probability


def inside_pass(forest: ParseForest, grammar: Grammar, words: np.ndarray) -> InsidePass | None:
    """The inside pass, and the outside vectors of the roots; None if nothing reaches a root."""
    return _upwards(forest, grammar, words)[1]


def _upwards(
    forest: ParseForest, grammar: Grammar, words: np.ndarray
) -> tuple[bool, InsidePass | None]:
    """Whether all numbers are in range, and what `inside_pass` returns."""
    n_states = grammar.n_states[forest.label]
    place = starts(n_states)
    inside, scale = np.zeros(place[-1]), np.full(len(n_states), -np.inf)
    leaves = np.flatnonzero(np.diff(forest.groups) == 0)
    sizes = n_states[leaves]
    where = ranges(place[leaves], sizes)
    totals = np.add.reduceat(np.abs(words), starts(sizes)[:-1])
    seen = totals > 0
    inside[where] = words / np.repeat(np.where(seen, totals, 1.0), sizes)
    scale[leaves[seen]] = np.log(totals[seen])
    safe = _inside(forest, grammar, place, inside, scale)

    labels = forest.label[forest.roots]
    sizes = grammar.n_states[labels]
    at = ranges(place[forest.roots], sizes)
    pi = grammar.root[grammar.states_of(labels)]
    top = scale[forest.roots].max(initial=-np.inf)
    if top == -np.inf:
        return safe, None
    below = scale[forest.roots] - top
    safe = bool(safe and (below[np.isfinite(below)] > _NEAR).all())
    weights = np.exp(np.repeat(below, sizes)) * pi
    total = float((weights * inside[at]).sum())
    if total == 0.0:
        return safe, None
    outside = np.zeros(place[-1])
    outside[at] = weights / total
    log_p = float(top + np.log(abs(total)))
    return safe, InsidePass(place, inside, scale, outside, float(np.sign(total)), log_p)


def _inside(forest: ParseForest, grammar: Grammar, *vectors: np.ndarray) -> bool:
    """The loop for this kind of grammar."""
    from eigentext.grammars.chart._factored_forest_loops import inside_forest_factored
    from eigentext.grammars.chart._forest_loops import inside_forest
    from eigentext.grammars.chart._sparse_forest_loops import inside_forest_sparse

    arrays = *forest[:1], *forest[3:8], grammar.n_states
    if isinstance(grammar, SparseGrammar):
        return inside_forest_sparse(*arrays, grammar.parts, *vectors)
    if isinstance(grammar, FactoredGrammar):
        return inside_forest_factored(*arrays, grammar.parts, *vectors)
    return inside_forest(*arrays, *_dense(grammar), *vectors)


def _outside(forest: ParseForest, grammar: Grammar, *vectors: np.ndarray) -> None:
    from eigentext.grammars.chart._factored_forest_loops import outside_forest_factored
    from eigentext.grammars.chart._forest_loops import outside_forest
    from eigentext.grammars.chart._sparse_forest_loops import outside_forest_sparse

    arrays = *forest[:1], *forest[3:8], grammar.n_states
    if isinstance(grammar, SparseGrammar):
        outside_forest_sparse(*arrays, grammar.parts, *vectors)
    elif isinstance(grammar, FactoredGrammar):
        outside_forest_factored(*arrays, grammar.parts, *vectors)
    else:
        outside_forest(*arrays, *_dense(grammar), *vectors)


def _dense(grammar: Grammar) -> tuple[np.ndarray, ...]:
    return grammar.sizes, grammar.tensor_offsets, grammar.tensor
