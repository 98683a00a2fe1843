"""What the words of a sentence say about each item of its forest: the two passes, in Python.

Where numbers come near the ends of the range of doubles, as they may when states of one item are
far apart, or signs cancel, both passes are done again with an exponent for each (``_wide``).
"""

from typing import Any, NamedTuple

import numpy as np

from eigentext.grammars.chart.forest import Forest
from eigentext.grammars.chart.wide import inside_wide_forest, marginals_wide
from eigentext.grammars.grammar import Grammar, ranges, starts

_FAR = 1e60  # an outside value as large has an inside value that is next to nothing
_NEAR = -150.0  # of the logarithm of a root, beside that of the likeliest: its states may not fit


class Posteriors(NamedTuple):
    """Marginals mu(a, i, j) of items and of edges, and log p(sentence) over the forest.

    The p(sentence) of a spectral grammar may be negative: then `sign` is -1, and the logarithm is
    that of its absolute value.
    """

    log_probability: float
    sign: float
    items: np.ndarray
    edges: np.ndarray


def inside_outside(forest: Forest, grammar: Grammar, words: np.ndarray) -> Posteriors | None:
    """Marginals of a forest; None where the grammar gives its sentence no probability.

    Parameters
    ----------
    forest
        Of one sentence.
    grammar
        With the labels and rules of the forest.
    words
        q(a -> x | a, h) of the items of width one, packed one after another.
    """
    from eigentext.grammars.chart._forest_loops import outside_forest

    safe, above = _upwards(forest, grammar, words)
    if safe and above is None:
        return None
    if safe and above is not None:
        place, inside, scale, outside, sign, log_probability = above
        posterior = np.empty(len(forest.left))
        outside_forest(
            forest.label, forest.groups, forest.rule, forest.edges, forest.left, forest.right,
            grammar.n_states, grammar.sizes, grammar.tensor_offsets, grammar.tensor, place, inside,
            scale, outside, posterior,
        )  # fmt: skip
        if np.abs(outside).max(initial=0.0) < _FAR:  # and not NaN
            items = np.add.reduceat(inside * outside, place[:-1])
            return Posteriors(log_probability, sign, items, posterior)
    wide = inside_wide_forest(forest, grammar, words)
    if wide is None:
        return None
    return Posteriors(wide.log_probability, wide.sign, *marginals_wide(forest, grammar, wide))


def log_probability(forest: Forest, grammar: Grammar, words: np.ndarray) -> float:
    """Log |p(sentence)| over a forest, the pass upwards alone; -inf if nothing reaches a root."""
    safe, above = _upwards(forest, grammar, words)
    if safe:
        return -np.inf if above is None else above[-1]
    wide = inside_wide_forest(forest, grammar, words)
    return -np.inf if wide is None else wide.log_probability


def inside_pass(forest: Forest, grammar: Grammar, words: np.ndarray):
    """The pass upwards, and the outside vectors of the roots; None if nothing reaches a root."""
    return _upwards(forest, grammar, words)[1]


def _upwards(forest: Forest, grammar: Grammar, words: np.ndarray) -> tuple[bool, Any]:
    """Whether its numbers are in range, and `inside_pass`."""
    from eigentext.grammars.chart._forest_loops import inside_forest

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
    safe = inside_forest(
        forest.label, forest.groups, forest.rule, forest.edges, forest.left, forest.right,
        grammar.n_states, grammar.sizes, grammar.tensor_offsets, grammar.tensor, place, inside,
        scale,
    )  # fmt: skip

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
    return safe, (place, inside, scale, outside, np.sign(total), log_p)
