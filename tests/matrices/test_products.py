"""Parallel products against scipy and numpy."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigentext import engine
from eigentext.engine.intrinsics import PANEL
from eigentext.matrices._panel_loops import csr_times_panel
from eigentext.matrices.products import (
    factorable,
    rows_times,
    scaled_symmetric,
    sparse_times,
    transposed_times,
)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 7, 32, 64, 65, 200])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_sparse_products(dtype, width, threads):
    rng = np.random.default_rng(0)
    A = sp.random(300, 200, 0.1, format="csr", dtype=dtype, random_state=1)
    X, Y = (rng.standard_normal((n, width)).astype(dtype) for n in (200, 300))
    tolerance = {"rtol": 1e-4, "atol": 1e-5} if dtype == np.float32 else {}
    with engine.use(engine.ThreadEngine(threads)):
        assert np.allclose(sparse_times(A, X), A @ X, **tolerance)
        assert np.allclose(factorable(A).times(X), A @ X, **tolerance)
        assert np.allclose(factorable(A).transposed_times(Y), A.T @ Y, **tolerance)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_the_loop_is_its_slow_twin(index):
    rng = np.random.default_rng(0)
    A = sp.random(50, 40, 0.2, format="csr", random_state=1)  # with some empty rows
    X, out = rng.standard_normal((40, PANEL)), np.full((50, PANEL), np.nan)
    csr_times_panel(A.indptr.astype(index), A.indices.astype(index), A.data, X, out, 10, 30)
    expected = np.full((50, PANEL), np.nan)
    for r in range(10, 30):
        expected[r] = 0
        for p in range(A.indptr[r], A.indptr[r + 1]):
            expected[r] += A.data[p] * X[A.indices[p]]
    assert np.allclose(out, expected, equal_nan=True)


def test_scaled_symmetric():
    rng = np.random.default_rng(0)
    S = sp.random(60, 60, 0.2, format="csr", random_state=1)
    S = sp.csr_array(S + S.T)
    left, right, X = rng.random(60), rng.random(60), rng.standard_normal((60, 40))
    A = scaled_symmetric(left, S, right)
    dense = np.diag(left) @ S.toarray() @ np.diag(right)
    assert np.allclose(A.times(X), dense @ X)
    assert np.allclose(A.transposed_times(X), dense.T @ X)
    assert np.allclose(A.T.times(X), dense.T @ X)


def test_tall_products_over_several_blocks():
    rng = np.random.default_rng(0)
    X, Y, M = (rng.standard_normal(shape) for shape in ((9000, 20), (9000, 7), (20, 5)))
    assert np.allclose(rows_times(X, M), X @ M)
    assert np.allclose(transposed_times(X, Y), X.T @ Y)


def test_types():
    assert factorable(np.eye(3, dtype=np.float32)).dtype == np.float32
    assert factorable(sp.eye(3, dtype=np.int64)).dtype == np.float64
    assert factorable(np.eye(3, dtype=int)).dtype == np.float64
