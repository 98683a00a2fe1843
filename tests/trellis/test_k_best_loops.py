"""The search with transitions that depend on two states, against the list of all paths."""

import itertools

import numpy as np
import pytest

from eigentext.trellis import second_order_paths


def all_paths(pair, rows, local):
    """Every possible path between the starts and the end, and its score, best first."""
    length, m = local.shape
    found = []
    for path in itertools.product(range(m), repeat=length):
        whole = (m, m, *path, m)
        score = sum(local[t, v] for t, v in enumerate(path))
        score += sum(rows[pair[u, v], w] for u, v, w in zip(whole, whole[1:], whole[2:]))
        if score > -np.inf:
            found.append((score, path))
    return sorted(found, key=lambda one: -one[0])


def searched(pair, rows, local, k):
    """The same by the compiled loop, which needs the end state twice."""
    length, m = local.shape
    edged = np.full((length + 4, m + 1), -np.inf)
    edged[2:-2, :m] = local
    edged[[0, 1, -2, -1], m] = 0.0
    position, active = np.nonzero(edged > -np.inf)
    border = np.searchsorted(position, np.arange(length + 5))
    pair, rows = pair.copy(), np.concatenate([rows, np.zeros((1, m + 1))])
    pair[:m, m] = len(rows) - 1
    pair = pair.astype(np.int32)
    scores = edged[position, active]
    return second_order_paths(pair, rows, active.astype(np.int32), border, scores, k)


@pytest.mark.parametrize("seed", range(40))
def test_all_paths(seed):
    rng = np.random.default_rng(seed)
    m, length, k, n_rows = rng.integers([1, 1, 1, 1], [5, 6, 60, 30])
    pair = rng.integers(0, n_rows, (m + 1, m + 1))
    rows, local = (
        np.where(rng.random(shape) < 0.2, -np.inf, rng.normal(size=shape))
        for shape in ((n_rows, m + 1), (length, m))
    )
    expected = all_paths(pair, rows, local)
    paths, scores = searched(pair, rows, local, k)
    np.testing.assert_allclose(scores, [score for score, _ in expected[:k]], rtol=1e-12, atol=1e-14)
    known = {path: score for score, path in expected}  # ties may be in any order
    found = list(map(tuple, paths.tolist()))
    assert len(set(found)) == len(found)
    np.testing.assert_allclose([known[path] for path in found], scores, rtol=1e-12, atol=1e-14)


def test_few_of_many_states():
    # Few of many states are possible. The loop then takes them one by one.
    rng = np.random.default_rng(0)
    m, length = 60, 5
    pair = rng.integers(0, 500, (m + 1, m + 1))
    rows, local = rng.normal(size=(500, m + 1)), np.full((length, m), -np.inf)
    few = np.array([rng.choice(m, 3, replace=False) for _ in range(length)])
    local[np.arange(length)[:, None], few] = rng.normal(size=(length, 3))
    expected = []
    for path in itertools.product(*few.tolist()):
        whole = (m, m, *path, m)
        score = sum(rows[pair[u, v], w] for u, v, w in zip(whole, whole[1:], whole[2:]))
        expected.append((score + sum(local[t, v] for t, v in enumerate(path)), path))
    expected.sort(reverse=True)
    paths, scores = searched(pair, rows, local, 100)
    assert list(map(tuple, paths.tolist())) == [path for _, path in expected[:100]]
    np.testing.assert_allclose(scores, [score for score, _ in expected[:100]], rtol=1e-12)
