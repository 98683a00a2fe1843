"""A symmetric matrix in tiles: the same entries and products as CSR, to the last bit."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigentext import engine
from eigentext.engine import ThreadEngine
from eigentext.matrices import tiles
from eigentext.matrices.products import scaled_symmetric, sparse_times
from eigentext.matrices.tiles import SymmetricTiles, pack_run, runs_of, strips_of, tiled


def symmetric(n, density=0.1, most=9, seed=0):
    """Integers that are symmetric and have empty rows, and a diagonal that is partly there."""
    rng = np.random.default_rng(seed)
    half = sp.random_array((n, n), density=density, format="csr", rng=rng)
    half.data = rng.integers(1, most, half.nnz)
    S = (half + half.T).tolil()
    S[n // 3 : n // 3 + 5] = 0
    S[:, n // 3 : n // 3 + 5] = 0
    S = sp.csr_array(S, dtype=np.int64)
    S.sort_indices()
    return S


def root(x):
    return np.sqrt(x.astype(np.float32))


def as_floats(S):
    T = S.astype(np.float32)
    T.data = root(S.data)
    return T


@pytest.mark.parametrize("n", [3, 40, 700])
@pytest.mark.parametrize("width", [1, 32, 70])
def test_products_have_the_bits_of_csr(n, width):
    S = symmetric(n)
    T = tiled(S, root, np.float32)
    X = np.random.default_rng(1).standard_normal((n, width)).astype(np.float32)
    expected = sparse_times(as_floats(S), X)
    assert T.shape == S.shape
    assert T.nnz == S.nnz
    assert np.array_equal(T.times(X), expected)
    out = np.empty_like(expected)
    assert T.times(X, out) is out
    assert np.array_equal(out, expected)
    for n_threads in (1, 2, 3):
        with engine.use(ThreadEngine(n_threads)):
            assert np.array_equal(T.times(X), expected)


def test_strips_and_runs_change_nothing(monkeypatch):
    S = symmetric(300)
    X = np.random.default_rng(1).standard_normal((300, 32)).astype(np.float32)
    expected = sparse_times(as_floats(S), X)
    for widest, fewest, run in ((7, 1, 50), (300, 1, 10**6), (64, 3, 1000)):
        monkeypatch.setattr(tiles, "_WIDEST", widest)
        monkeypatch.setattr(tiles, "_FEWEST_STRIPS", fewest)
        monkeypatch.setattr(tiles, "_MOST_STRIPS", 300)
        monkeypatch.setattr(tiles, "_RUN", run)
        assert np.array_equal(tiled(S, root, np.float32).times(X), expected)


def test_more_numbers_than_codes():
    n = 380  # 72,390 entries from the diagonal on, all different; a code has 65,536 values
    upper = np.triu(np.arange(1, n * n + 1).reshape(n, n))
    rows = sp.csr_array(upper)
    parts = rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data
    borders = np.array([0, n])
    runs = pack_run((0, n), parts, borders)
    assert [run.rows for run in runs] == [(0, 190), (190, 380)]
    T = SymmetricTiles(borders, runs, lambda x: x.astype(np.float64), np.float64)
    assert np.array_equal(T.times(np.eye(n)), upper + np.triu(upper, 1).T)
    assert T.nnz == n * n


def test_in_double_precision_too():
    S = symmetric(50)
    T = tiled(S, np.sqrt, np.float64)
    assert np.allclose(T.times(np.eye(50)), np.sqrt(S.toarray()), atol=1e-15)


def test_large_counts():
    S = symmetric(60, most=2**40)
    T = tiled(S, lambda x: x.astype(np.float64), np.float64)
    assert np.array_equal(T.times(np.eye(60)), S.toarray())


def test_it_takes_half_the_memory_of_csr_and_less():
    S = symmetric(700, density=0.2)
    assert tiled(S, root, np.float32).nbytes < 0.4 * 8 * S.nnz


def test_strips_cover_the_rows_and_are_not_too_wide():
    work = np.append(0, np.cumsum(np.arange(50_000, 0, -1)))
    borders = strips_of(work)
    assert borders[0] == 0
    assert borders[-1] == 50_000
    assert (np.diff(borders) > 0).all()
    assert np.diff(borders).max() <= tiles._WIDEST
    runs = runs_of(borders, work)
    assert [start for start, _ in runs] == [0, *(stop for _, stop in runs[:-1])]
    assert set(borders.tolist()) <= {0, *(stop for _, stop in runs)}
    assert len(strips_of(np.arange(10**6 + 1))) <= 40


def test_a_product_with_the_square_overwrites_its_panel_and_nothing_else():
    S, rng = symmetric(90), np.random.default_rng(2)
    left, right = rng.random((2, 90)).astype(np.float32)
    A = scaled_symmetric(left, tiled(S, root, np.float32), right)
    B = scaled_symmetric(left, as_floats(S), right)
    X = rng.standard_normal((90, 32)).astype(np.float32)
    expected = A.times(A.transposed_times(X))
    assert np.array_equal(B.times(B.transposed_times(X)), expected)
    X.flags.writeable = False
    before = X.copy()
    assert np.array_equal(A.gram_times(X), expected)
    assert np.array_equal(B.gram_times(X), expected)
    assert np.array_equal(X, before)
    assert np.array_equal(A.gram_times(X.copy()), expected)
    dense = np.sqrt(S.toarray()) * left[:, None] * right
    assert np.allclose(expected, dense @ dense.T @ X, rtol=1e-3, atol=1e-2)
