"""Inside and outside over forests, against the same sums without scales."""

import numpy as np
import pytest

from eigentext.grammars.chart._forest_loops import filter_forest, inside_forest, outside_forest
from eigentext.grammars.grammar import Grammar, starts
from eigentext.grammars.treebank.normal_form import Rules

RULES = Rules(*np.array([[0, 0, 1, 1, 0], [0, 0, 0, 2, 2], [0, 1, 2, 0, 2], [1, 1, 1, 1, 1]]))
WORDS = [[0, 2], [2], [0], [0, 2], [2], [0, 1]]


def problem(whole_forest, seed, signs):
    """A forest, a grammar of 1, 4 and 3 states, and the vectors of words and roots."""
    rng = np.random.default_rng(seed)
    forest, n_states = whole_forest(RULES, WORDS), np.array([4, 1, 3])
    grammar = Grammar(RULES, n_states, np.empty(0), np.empty(0))

    def draw(n):
        return rng.gamma(1.0, size=n) * (rng.choice([-1, 1], n, p=[0.2, 0.8]) if signs else 1)

    grammar.tensor = draw(grammar.tensor_offsets[-1])
    leaves = np.flatnonzero(np.diff(forest.groups) == 0)
    return forest, grammar, {p: draw(n_states[forest.label[p]]) for p in leaves}, draw


def edges_of(forest, p):
    for g in range(forest.groups[p], forest.groups[p + 1]):
        for e in range(forest.edges[g], forest.edges[g + 1]):
            yield forest.rule[g], e, forest.left[e], forest.right[e]


def upwards(forest, grammar, words):
    """Inside vectors without scales."""
    vectors = []
    for p, a in enumerate(forest.label):
        vector = words.get(p, np.zeros(grammar.n_states[a]))
        for r, _, b, c in edges_of(forest, p):
            vector = vector + np.einsum("b,c,bca->a", vectors[b], vectors[c], grammar.tensor_of(r))
        vectors.append(vector)
    return vectors


def downwards(forest, grammar, inside, above):
    """Outside vectors, given those of some items, and the posterior of each edge."""
    outside = [np.zeros_like(vector) for vector in inside]
    for p, vector in above.items():
        outside[p] = vector.copy()
    posterior = np.zeros(len(forest.left))
    for p in range(len(forest.label) - 1, -1, -1):
        for r, e, b, c in edges_of(forest, p):
            g = grammar.tensor_of(r) @ outside[p]
            outside[b] += g @ inside[c]
            outside[c] += inside[b] @ g
            posterior[e] = inside[b] @ g @ inside[c]
    return outside, posterior


def run_inside(forest, grammar, words, far=0.0):
    """By the compiled loop: vectors and scales. The scales of words are `far` from zero."""
    place = starts(grammar.n_states[forest.label])
    inside, scale = np.full(place[-1], np.nan), np.full(len(forest.label), np.nan)
    for p, vector in words.items():
        total = np.abs(vector).sum()
        inside[place[p] : place[p + 1]] = vector / (total or 1.0)
        scale[p] = far + np.log(total) if total else -np.inf
    inside_forest(
        forest.label, forest.groups, forest.rule, forest.edges, forest.left, forest.right,
        grammar.n_states, grammar.sizes, grammar.tensor_offsets, grammar.tensor, place, inside,
        scale,
    )  # fmt: skip
    return place, inside, scale


def run_outside(forest, grammar, place, inside, scale, above, factor):
    """By the compiled loop, from outside vectors of items times exp(factor)."""
    outside, posterior = np.zeros(place[-1]), np.full(len(forest.left), np.nan)
    for p, vector in above.items():
        outside[place[p] : place[p + 1]] = vector * np.exp(scale[p] + factor)
    outside_forest(
        forest.label, forest.groups, forest.rule, forest.edges, forest.left, forest.right,
        grammar.n_states, grammar.sizes, grammar.tensor_offsets, grammar.tensor, place, inside,
        scale, outside, posterior,
    )  # fmt: skip
    return outside, posterior


@pytest.mark.parametrize("signs", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_both_passes(whole_forest, seed, signs):
    forest, grammar, words, draw = problem(whole_forest, seed, signs)
    expected = upwards(forest, grammar, words)
    far = -400.0  # times six words is below the least double
    width = forest.end - forest.start
    place, inside, scale = run_inside(forest, grammar, words, far)
    for p, vector in enumerate(expected):
        found = inside[place[p] : place[p + 1]]
        assert np.abs(found).sum() == pytest.approx(1)
        assert np.allclose(found * np.exp(scale[p] - far * width[p]), vector, rtol=1e-9, atol=1e-12)

    above = {p: draw(len(expected[p])) for p in forest.roots}
    beyond, worth = downwards(forest, grammar, expected, above)
    outside, posterior = run_outside(
        forest, grammar, place, inside, scale, above, -far * len(WORDS)
    )
    assert np.allclose(posterior, worth, rtol=1e-9, atol=1e-12)
    for p, vector in enumerate(beyond):
        found = outside[place[p] : place[p + 1]] * np.exp(far * width[p] - scale[p])
        assert np.allclose(found, vector, rtol=1e-8, atol=1e-10)


def test_words_without_probability(whole_forest):
    """What is built from them has none either. The rest is the same as without them."""
    forest, grammar, words, draw = problem(whole_forest, 0, False)
    for p in list(words)[:2]:
        words[p] = np.zeros_like(words[p])
    expected = upwards(forest, grammar, words)
    place, inside, scale = run_inside(forest, grammar, words)
    nothing = [p for p, vector in enumerate(expected) if not vector.any()]
    assert len(nothing) > 2
    assert np.isfinite(inside).all()
    assert (np.isneginf(scale) == np.isin(np.arange(len(scale)), nothing)).all()
    above = {p: draw(len(expected[p])) for p in forest.roots}
    _, worth = downwards(forest, grammar, expected, above)
    outside, posterior = run_outside(forest, grammar, place, inside, scale, above, 0.0)
    assert np.isfinite(outside).all()
    assert np.allclose(posterior, worth, rtol=1e-9)


def test_an_edge_far_below_another_may_be_the_one_that_counts(whole_forest):
    """If the states of the likelier edge do not fit the rule above it."""
    rules = Rules(*np.array([[1, 2, 3, 3], [0, 0, 1, 0], [0, 0, 0, 2], [1, 1, 1, 1]]))
    grammar = Grammar(rules, np.array([1, 2, 1, 1]), np.empty(6), np.zeros(5))
    grammar.tensor_of(0)[:] = [1.0, 0.0]  # in its first state for certain
    grammar.tensor_of(1)[:] = 1e-40
    grammar.tensor_of(2)[:] = [[[0.0]], [[0.5]]]  # wants the second
    grammar.tensor_of(3)[:] = 0.5
    forest = whole_forest(rules, [[0], [0], [0]])
    words = {p: np.ones(1) for p in np.flatnonzero(np.diff(forest.groups) == 0)}
    place, inside, scale = run_inside(forest, grammar, words)
    (root,) = forest.roots
    assert scale[root] == pytest.approx(np.log(0.5e-40))
    above = {root: np.ones(1)}
    _, posterior = run_outside(forest, grammar, place, inside, scale, above, -scale[root])
    worth = {(p, r): posterior[e] for p in range(len(scale)) for r, e, *_ in edges_of(forest, p)}
    assert worth[root, 2] == 0
    assert worth[root, 3] == pytest.approx(1)


def test_what_is_left_of_a_forest(whole_forest):
    """New numbers, and `keep` without the items that have no derivation any more."""
    forest = whole_forest(RULES, WORDS)
    rng = np.random.default_rng(0)
    keep, scores = rng.random(len(forest.label)) < 0.7, rng.random(len(forest.left))
    high = scores >= 0.2
    expected = keep.copy()
    for p in range(len(keep)):
        edges = list(edges_of(forest, p))
        if edges and not any(high[e] and expected[b] and expected[c] for _, e, b, c in edges):
            expected[p] = False
    assert expected.sum() < keep.sum()
    number, groups, rule, edges, left, right = filter_forest(
        forest.groups, forest.rule, forest.edges, forest.left, forest.right, keep, scores, 0.2
    )
    assert np.array_equal(keep, expected)
    assert np.array_equal(number, np.where(keep, np.cumsum(keep) - 1, -1))
    made = [
        (number[p], r, number[b], number[c])
        for p in np.flatnonzero(keep)
        for r, e, b, c in edges_of(forest, p)
        if high[e] and keep[b] and keep[c]
    ]
    item = np.repeat(np.arange(len(groups) - 1), np.diff(groups))
    per_edge = np.diff(edges)
    found = zip(np.repeat(item, per_edge), np.repeat(rule, per_edge), left, right)
    assert list(found) == made
