"""The k best paths, against the list of all paths."""

import itertools

import numpy as np
import pytest

from eigentext.errors import ParameterError
from eigentext.trellis import k_best_paths


def all_paths(start, transition, local):
    """Every possible path and its score, best first: the slow twin of the search."""
    length, m = local.shape
    found = []
    for path in itertools.product(range(m), repeat=length):
        score = start[path[0]] + local[0, path[0]]
        for t in range(1, length):
            score += transition[path[t - 1], path[t]] + local[t, path[t]]
        if score > -np.inf:
            found.append((score, path))
    return sorted(found, key=lambda one: -one[0])


def forbid(rng, scores, share=0.2):
    return np.where(rng.random(scores.shape) < share, -np.inf, scores)


@pytest.mark.parametrize("seed", range(40))
def test_all_paths(seed):
    rng = np.random.default_rng(seed)
    m, length, k = rng.integers([1, 1, 1], [5, 6, 60])
    start, transition, local = (
        forbid(rng, rng.normal(size=shape)) for shape in (m, (m, m), (length, m))
    )
    expected = all_paths(start, transition, local)[:k]
    paths, scores = k_best_paths(start, transition, local, k)
    assert list(map(tuple, paths.tolist())) == [path for _, path in expected]
    np.testing.assert_allclose(scores, [score for score, _ in expected], rtol=1e-12)
    assert (np.diff(scores) <= 0).all()


def test_ties_are_all_found_and_always_in_the_same_order():
    start, transition, local = np.zeros(3), np.zeros((3, 3)), np.zeros((4, 3))
    paths, scores = k_best_paths(start, transition, local, 100)
    assert len({tuple(path) for path in paths.tolist()}) == 81
    assert (scores == 0).all()
    some = k_best_paths(start, transition, local, 10)[0]
    assert len({tuple(path) for path in some.tolist()}) == 10
    np.testing.assert_array_equal(some, k_best_paths(start, transition, local, 10)[0])


def test_fewer_paths_than_asked_for():
    never = np.full((2, 2), -np.inf)
    paths, scores = k_best_paths(np.zeros(2), never, np.zeros((1, 2)), 5)
    assert paths.tolist() == [[0], [1]]
    paths, scores = k_best_paths(np.zeros(2), never, np.zeros((3, 2)), 5)
    assert paths.shape == (0, 3)
    assert len(scores) == 0
    assert len(k_best_paths(np.zeros(2), 0 * np.eye(2), np.full((2, 2), -np.inf), 5)[1]) == 0
    paths, scores = k_best_paths(np.zeros(2), never, np.zeros((0, 2)), 5)
    assert paths.shape == (1, 0)
    assert scores.tolist() == [0.0]


def test_a_long_sequence():
    rng = np.random.default_rng(0)
    start, transition, local = rng.normal(size=4), rng.normal(size=(4, 4)), np.zeros((500, 4))
    local[:] = rng.normal(size=(500, 4))
    paths, scores = k_best_paths(start, transition, local, 200)
    assert len({tuple(path) for path in paths.tolist()}) == 200
    again = start[paths[:, 0]] + transition[paths[:, :-1], paths[:, 1:]].sum(axis=1)
    again += local[np.arange(500), paths].sum(axis=1)
    np.testing.assert_allclose(scores, again, rtol=1e-12)
    np.testing.assert_allclose(k_best_paths(start, transition, local, 50)[1], scores[:50])


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "3", None])
def test_k_that_is_refused(k):
    with pytest.raises(ParameterError, match="k must be a whole number, 1 or more"):
        k_best_paths(np.zeros(2), np.zeros((2, 2)), np.zeros((3, 2)), k)


def test_shapes_that_do_not_fit():
    with pytest.raises(ParameterError, match=r"not \(2,\), \(3, 3\) and \(4, 2\)"):
        k_best_paths(np.zeros(2), np.zeros((3, 3)), np.zeros((4, 2)), 1)
