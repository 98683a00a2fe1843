"""Merging by dot products and remembered neighbors gives the merges of the plain algorithm."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext.factor._merging_loops import add_words, merge_all
from eigentext.factor.merging import running_set


def merges_of(X, m, block):
    """All n - 1 merges, as pairs of first words with their distances."""
    X = np.asarray(X, np.float64)
    n = len(X)
    running = running_set(X[:m], np.ones(m))
    merges, heights = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
    free = m
    for start in range(m, n, block):
        new = X[start : start + block]
        done = slice(start - m, start - m + len(new))
        dots, own = new @ running.sums.T, new @ new.T
        free, _ = add_words(running, new, dots, own, start, free, merges[done], heights[done])
    assert (running.first >= 0).sum() == m
    assert running.first[free] == -1
    merge_all(running, merges[n - m :], heights[n - m :])
    assert np.allclose(running.sums[running.first == 0], X.sum(axis=0))
    return [(int(a), int(b), d) for (a, b), d in zip(merges, heights)]


def plain_merges(X, m):
    """The algorithm by its definition: all pairs, every time."""
    clusters = {w: [X[w]] for w in range(m)}
    waiting = list(range(m, len(X)))
    merges = []
    while len(clusters) > 1 or waiting:
        if waiting:
            w = waiting.pop(0)
            clusters[w] = [X[w]]
        d, a, b = min((distance(clusters[a], clusters[b]), a, b) for a, b in pairs(clusters))
        clusters[a] += clusters.pop(b)
        merges.append((a, b, float(d)))
    return merges


def pairs(names):
    return [(a, b) for a in names for b in names if a < b]


def distance(a, b):
    """Exact, if the vectors are of Fractions."""
    mean_a, mean_b = (sum(c[1:], start=c[0]) / len(c) for c in (a, b))
    difference = mean_a - mean_b
    weight = Fraction(len(a) * len(b), len(a) + len(b))
    square = difference @ difference
    return weight * square if isinstance(square, Fraction) else float(weight) * square


@pytest.mark.parametrize("m", [1, 2, 7, 20, 39, 40])
@pytest.mark.parametrize("block", [1, 8, 1000])
def test_the_merges_of_the_plain_algorithm(m, block):
    X = np.random.default_rng(m).standard_normal((40, 3))
    found, expected = merges_of(X, m, block), plain_merges(X, m)
    assert [pair[:2] for pair in found] == [pair[:2] for pair in expected]
    assert np.allclose([d for *_, d in found], [d for *_, d in expected], atol=1e-12)


@given(
    st.lists(st.tuples(*[st.integers(-3, 3)] * 2), min_size=2, max_size=12),
    st.integers(1, 12),
    st.integers(1, 4),
)
def test_equal_distances_go_by_the_first_words(points, m, block):
    m = min(m, len(points))
    exact = np.array([[Fraction(x) for x in point] for point in points], object)
    assert merges_of(points, m, block) == plain_merges(exact, m)


def test_by_hand():
    # 0 and 10 start; 1 joins 0 (d = 1/2); 8 joins 10 (d = 2) before {0, 1} (d = 2/3 * 7.5^2).
    found = merges_of([[0], [10], [1], [8]], 2, block=2)
    assert found == [(0, 2, 0.5), (1, 3, 2.0), (0, 1, 8.5**2)]
    # With all four from the start the merges are the same: the most frequent word is the name.
    assert merges_of([[0], [10], [1], [8]], 4, block=2) == found


def test_a_new_word_may_make_two_others_merge():
    # 0 and 1 are far nearer to each other than 100 is to either.
    assert merges_of([[0], [1], [100]], 2, block=1)[0] == (0, 1, 0.5)
