"""Parallel products against scipy and numpy."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigentext import engine
from eigentext.factor.products import (
    factorable,
    rows_times,
    sparse_times,
    sparse_transposed_times,
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
        assert np.allclose(sparse_transposed_times(A, Y), A.T @ Y, **tolerance)


def test_tall_products_over_several_blocks():
    rng = np.random.default_rng(0)
    X, Y, M = (rng.standard_normal(shape) for shape in ((9000, 20), (9000, 7), (20, 5)))
    assert np.allclose(rows_times(X, M), X @ M)
    assert np.allclose(transposed_times(X, Y), X.T @ Y)


def test_types():
    assert factorable(np.eye(3, dtype=np.float32)).dtype == np.float32
    assert factorable(sp.eye(3, dtype=np.int64)).dtype == np.float64
    assert factorable(np.eye(3, dtype=int)).dtype == np.float64
