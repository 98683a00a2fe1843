"""Compiled loops over sequences, compared with sums over all paths and all windows."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from eigentext.corpus.encoded import END
from eigentext.corpus.symbols import UNKNOWN
from eigentext.matrices.row_loops import sort_positions
from eigentext.sequences._hmm_loops import (
    best_path,
    expect,
    expect_windows,
    filter_operators,
    filter_parameters,
    filter_plain,
    project_trigrams,
)
from eigentext.sequences._row_loops import padded

M, N = 3, 4


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    emission = rng.dirichlet(np.ones(N), M).T.copy()
    return rng.dirichlet(np.ones(M)), rng.dirichlet(np.ones(M), M), emission


def paths(model, ids):
    """Return every path and its probability together with the symbols."""
    initial, transition, emission = model
    for path in product(range(M), repeat=len(ids)):
        p = initial[path[0]] * emission[ids[0], path[0]]
        for t in range(1, len(ids)):
            p *= transition[path[t - 1], path[t]] * emission[ids[t], path[t]]
        yield path, p


def test_expectation_is_over_all_paths(model):
    initial, transition, emission = model
    rng = np.random.default_rng(1)
    begins, ends = np.array([0, 5, 6]), np.array([4, 6, 12])
    ids = rng.integers(0, N, 12)
    tables = [padded(np.ascontiguousarray(x)) for x in (transition, transition.T, emission)]
    first = padded(initial[None])[0]
    counts, emitted = np.zeros((M + 1, len(first))), np.zeros_like(tables[2])
    log_likelihood = expect(ids, begins, ends, 0, 3, first, *tables, counts, emitted)
    expected, out, total = np.zeros((M + 1, M)), np.zeros((N, M)), 0.0
    for begin, end in zip(begins, ends):
        x = ids[begin:end]
        p_x = sum(p for _, p in paths(model, x))
        total += np.log(p_x)
        for path, p in paths(model, x):
            expected[M, path[0]] += p / p_x
            for t, h in enumerate(path):
                out[x[t], h] += p / p_x
                if t:
                    expected[path[t - 1], h] += p / p_x
    assert np.isclose(log_likelihood, total, rtol=1e-12)
    assert np.allclose(counts[:M, :M] * transition, expected[:M], rtol=1e-12)
    assert np.allclose(counts[M, :M], expected[M], rtol=1e-12)
    assert np.allclose(emitted[:, :M], out, rtol=1e-12)
    assert not counts[:, M:].any()
    assert not emitted[:, M:].any()


def test_expectation_of_the_impossible(model):
    initial, transition, emission = model
    emission = emission.copy()
    emission[2] = 0
    tables = [padded(np.ascontiguousarray(x)) for x in (transition, transition.T, emission)]
    first = padded(initial[None])[0]
    sums = np.zeros((M + 1, len(first))), np.zeros_like(tables[2])
    ids = np.array([0, 1, 2])
    begins, ends = np.array([0]), np.array([3])
    assert expect(ids, begins, ends, 0, 1, first, *tables, *sums) == -np.inf


def test_filtering_is_over_all_paths(model):
    ids = np.array([1, 0, 3, END, 2, 2], np.int32)
    logs, states = np.zeros(6), np.zeros((6, M))
    filter_parameters(ids, *model, logs, states)
    for begin, end in ((0, 3), (4, 6)):
        before = 1.0
        for t in range(begin, end):
            p, state = 0.0, np.zeros(M)
            for path, share in paths(model, ids[begin : t + 1]):
                p += share
                state[path[-1]] += share
            assert np.isclose(logs[t], np.log(p / before), rtol=1e-12)
            assert np.allclose(states[t], state / p, rtol=1e-12)
            before = p


def test_filtering_goes_on_after_the_unknown(model):
    initial, transition, emission = model
    emission = emission.copy()
    emission[3] = 0
    for strange in (UNKNOWN, 3):
        logs, states = np.zeros(3), np.zeros((3, M))
        ids = np.array([0, strange, 1], np.int32)
        filter_parameters(ids, initial, transition, emission, logs, states)
        assert logs[1] == -np.inf
        assert np.allclose(states[1], states[0] @ transition)
        now = states[1] @ transition * emission[1]
        assert np.isclose(logs[2], np.log(now.sum()))
        assert np.allclose(states[2], now / now.sum())


def test_the_best_path_is_the_best_of_all(model):
    rng = np.random.default_rng(2)
    logs = [np.log(part) for part in model]
    for length in (1, 2, 5):
        ids = rng.integers(0, N, length).astype(np.int32)
        path, value = best_path(ids, *logs)
        best, p = max(paths(model, ids), key=lambda found: found[1])
        assert path.tolist() == list(best)
        assert np.isclose(value, np.log(p), rtol=1e-12)


def test_operators_and_their_floors():
    rng = np.random.default_rng(3)
    r, n = 2, 4
    start, end = np.array([0.5, 0.5]), np.ones(r)
    rows, after = rng.random((n, r)), rng.random((n, r))
    after /= after.sum(axis=1, keepdims=True)
    rows[2] = -0.1  # this is never above the floor
    places = np.array([0, -1, 1, 2], np.int32)
    operators = rng.random((3, r, r))
    operators[2] = -operators[2]  # a positive probability, but a negative product
    mean = rng.random((r, r))
    floors = np.full(n, 0.01)
    ids = np.array([0, 0, 1, 0, UNKNOWN, 3, END, 2, 0], np.int32)
    before, states = np.zeros((2, len(ids), r))
    given = np.zeros(len(ids))
    filter_operators(
        ids, start, end, rows, after, places, operators, mean, floors, before, states, given
    )
    b = start
    for t, x in enumerate(ids):
        if x == END:
            b = start
            continue
        assert np.allclose(before[t], b)
        if x == UNKNOWN:
            new = mean @ b
            assert given[t] == 1
        else:
            assert np.isclose(given[t], rows[x] @ b)
            forgets = x in (1, 2, 3)
            new = after[x] if forgets else operators[places[x]] @ b
        b = new / (end @ new)
        assert np.allclose(states[t], b)


def test_plain_operators_multiply():
    rng = np.random.default_rng(1)
    start, end, operators = rng.standard_normal(2), rng.standard_normal(2), np.zeros((4, 2, 2))
    operators[:3] = rng.standard_normal((3, 2, 2))  # the last symbol never occurred
    mean = operators.sum(axis=0)
    ids = np.array([0, 1, 2, END, 2, UNKNOWN, 1, 3, 0, END], np.int32)
    ratios, states = np.zeros(len(ids)), np.zeros((len(ids), 2))
    filter_plain(ids, start, end, operators, np.zeros(0), mean, ratios, states)
    b, before = start, 1.0
    for t in range(3):
        b = operators[ids[t]] @ b
        assert ratios[t] == pytest.approx(end @ b / before)
        assert np.allclose(states[t], b / (end @ b))
        before = end @ b
    b = mean @ operators[2] @ start
    assert ratios[4] == pytest.approx(end @ operators[2] @ start)
    assert ratios[5] == 0
    assert np.allclose(states[5], b / (end @ b))
    assert ratios[6] == pytest.approx(end @ operators[1] @ b / (end @ b))
    assert ratios[7] == ratios[8] == 0
    assert np.isfinite(states).all()
    stop = np.array([0.1, 0.2])
    filter_plain(np.array([1, 4], np.int32), start, end, operators, stop, mean, ratios, states)
    b = operators[1] @ start
    assert ratios[1] == pytest.approx(stop @ b / (end @ b))


@pytest.mark.parametrize("tiny", [5e-324, 1e-300, -1e-200, 0.0])
def test_plain_states_without_a_probability_are_finite(tiny):
    operators = np.array([[[0.0, 0.0], [0.0, 0.3]], [[1e40, 0.0], [1e40, 0.5]]])
    start, end = np.array([0.0, 1.0]), np.array([1.0, tiny])
    ids = np.array([0, 0, 1, 1, END, 1], np.int32)
    ratios, states = np.zeros(len(ids)), np.zeros((len(ids), 2))
    filter_plain(ids, start, end, operators, np.zeros(0), operators.sum(axis=0), ratios, states)
    assert np.isfinite(states).all()
    assert np.isfinite(ratios).all()
    assert ratios[1] == ratios[2] == 0
    states[:] = np.nan
    operators[0, 1, 1] = tiny
    states[4] = 0  # an end has no state
    filter_plain(ids, start, end, operators, np.zeros(0), operators.sum(axis=0), ratios, states)
    assert np.isfinite(states).all()
    assert np.isfinite(ratios).all()


def test_projected_trigrams():
    rng = np.random.default_rng(4)
    n, r = 5, 2
    counts = rng.poisson(0.7, (n, n, n + 2)) * (rng.random((n, n, 1)) < 0.6)
    firsts, seconds = np.nonzero(counts.any(axis=2))
    trigrams = sp.csr_array(counts[firsts, seconds].astype(float))
    U, V = rng.standard_normal((2, n, r))
    pairs = sort_positions(seconds.astype(np.int32), len(seconds), n)
    symbols = np.array([0, 2, 4])
    projected, noise = np.zeros((3, r, r)), np.zeros(3)
    table = trigrams.indptr, trigrams.indices, trigrams.data
    project_trigrams(table, pairs, firsts.astype(np.int32), symbols, U, V, projected, noise)
    for k, x in enumerate(symbols):
        P = counts[:, x, :n].T  # third by first; the last two columns have no row in U
        assert np.allclose(projected[k], U.T @ P @ V)
        assert np.isclose(noise[k], (U**2).sum(axis=1) @ P @ (V**2).sum(axis=1))


def test_slopes_of_the_likelihood_of_windows():
    rng = np.random.default_rng(5)
    n, r = 4, 3
    counts = rng.poisson(0.7, (n, n, n + 1)) * (rng.random((n, n, 1)) < 0.7)
    firsts, seconds = np.nonzero(counts.any(axis=2))
    table = sp.csr_array(counts[firsts, seconds])
    windows = table.indptr, table.indices, table.data, firsts, seconds
    factors = [padded(part) for part in rng.random((3, n, r))]
    slopes = np.zeros((3, *factors[0].shape))
    value = expect_windows(*windows, 0, len(firsts), *factors, *slopes)
    F, M_, B = (part[:, :r] for part in factors)
    p, c = np.einsum("xh,yh,zh->xyz", F, M_, B), counts[:, :, :n]
    ratios = c / p
    assert np.isclose(value, (c * np.log(p)).sum())
    assert np.allclose(slopes[0, :, :r], np.einsum("xyz,yh,zh->xh", ratios, M_, B))
    assert np.allclose(slopes[1, :, :r], np.einsum("xyz,xh,zh->yh", ratios, F, B))
    assert np.allclose(slopes[2, :, :r], np.einsum("xyz,xh,yh->zh", ratios, F, M_))
    assert not slopes[:, :, r:].any()


def test_windows_that_are_impossible():
    table = sp.csr_array(np.array([[0, 1]]))
    windows = table.indptr, table.indices, table.data, np.array([0]), np.array([1])
    factors = [padded(np.array([[1.0], [0.0]]))] * 3
    assert expect_windows(*windows, 0, 1, *factors, *np.zeros((3, 2, 8))) == -np.inf
