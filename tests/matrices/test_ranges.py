"""A matrix on the workers is the same matrix, and its products have the same bits."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from eigentext import engine
from eigentext.factor import scaled_symmetric, svd
from eigentext.matrices.products import sparse_times
from eigentext.matrices.ranges import RowRanges


@pytest.fixture
def on_workers(cluster):
    def put(A, borders):
        parts = [cluster.share(A[start:stop]) for start, stop in pairwise(borders)]
        return RowRanges(parts, borders, A.shape, A.dtype)

    with engine.use(cluster):
        yield put


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_columns", [1, 32, 45])
def test_products_have_the_bits_of_one_machine(on_workers, dtype, n_columns):
    rng = np.random.default_rng(0)
    A = sp.random_array((300, 200), density=0.05, format="csr", rng=rng, dtype=dtype)
    X = rng.normal(size=(200, n_columns)).astype(dtype)
    there = on_workers(A, [0, 7, 8, 250, 300])
    assert np.array_equal(there.times(X), sparse_times(A, X))
    np.testing.assert_allclose(there.times(X), A @ X, rtol=1e-4, atol=1e-5)


def test_counts_come_back_as_they_were(on_workers):
    A = sp.random_array((50, 40), density=0.2, format="csr", rng=np.random.default_rng(1))
    A.data = np.arange(1, A.nnz + 1) ** 3
    A = A.astype(np.int64)
    there = on_workers(A, [0, 20, 50])
    indptr, indices, data = there.gathered()
    assert there.nnz == A.nnz
    assert (sp.csr_array((data, indices, indptr), shape=A.shape) != A).nnz == 0
    rows, columns = there.sums()
    assert np.array_equal(rows, A.sum(axis=1))
    assert np.array_equal(columns, A.sum(axis=0))


def test_the_svd_of_a_matrix_on_workers(on_workers):
    rng = np.random.default_rng(2)
    A = sp.random_array((1500, 1500), density=0.01, format="csr", rng=rng, dtype=np.float32)
    S = (A + A.T).tocsr()
    left, right = rng.uniform(0.5, 1, (2, 1500))
    here = svd(scaled_symmetric(left, S, right), 20, method="krylov", right=False)
    there = on_workers(S, [0, 100, 900, 1500])
    found = svd(scaled_symmetric(left, there, right), 20, method="krylov", right=False)
    assert all(np.array_equal(a, b) for a, b in zip(here, found))
