"""What the words of a sentence say about each item of its forest: the two passes, in Python."""

from typing import NamedTuple

import numpy as np

from eigentext.grammars._forest import Forest
from eigentext.grammars._grammar import Grammar, ranges, starts


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
    from eigentext.grammars._forest_kernels import outside_forest

    above = inside_pass(forest, grammar, words)
    if above is None:
        return None
    place, inside, scale, outside, sign, log_probability = above
    posterior = np.empty(len(forest.left))
    outside_forest(
        forest.label, forest.groups, forest.rule, forest.edges, forest.left, forest.right,
        grammar.n_states, grammar.sizes, grammar.tensor_offsets, grammar.tensor, place, inside,
        scale, outside, posterior,
    )  # fmt: skip
    items = np.add.reduceat(inside * outside, place[:-1])
    return Posteriors(log_probability, sign, items, posterior)


def inside_pass(forest: Forest, grammar: Grammar, words: np.ndarray):
    """The pass upwards, and the outside vectors of the roots; None if nothing reaches a root."""
    from eigentext.grammars._forest_kernels import inside_forest

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
    inside_forest(
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
        return None
    weights = np.exp(np.repeat(scale[forest.roots], sizes) - top) * pi
    total = float((weights * inside[at]).sum())
    if total == 0.0:
        return None
    outside = np.zeros(place[-1])
    outside[at] = weights / total
    return place, inside, scale, outside, np.sign(total), float(top + np.log(abs(total)))
