"""Whitening: its identities, LAPACK as the oracle of large matrices, what noise and rank do."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import subspace_angles
from scipy.sparse.linalg import aslinearoperator

from eigentext import engine
from eigentext.errors import ParameterError
from eigentext.factor import whiten
from eigentext.matrices.products import Factorable, factorable


def mixture(K, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(K, 2.0)), rng.dirichlet(np.full(d, 0.3), K)


def spectrum(values, seed=0):
    """A symmetric matrix with these eigenvalues, and its eigenvectors: three mirrors."""
    U = np.eye(len(values))
    for u in np.random.default_rng(seed).standard_normal((3, len(values))):
        U -= np.outer(u, (2 / (u @ u)) * (u @ U))
    return (U * values) @ U.T, U


def counting(A):
    """A as a Factorable that counts the columns it is multiplied with."""
    A, columns = factorable(A), []

    def times(X):
        columns.append(X.shape[1])
        return A.times(X)

    return Factorable(A.shape, A.dtype, times, times), columns


@pytest.mark.parametrize("K", [1, 2, 10, 40])
@pytest.mark.parametrize("d", [60, 200, 700])
def test_whitened_means_are_orthonormal_and_come_back(d, K):
    w, mu = mixture(K, d, seed=d + K)
    A = (mu.T * w) @ mu
    W, B, eigenvalues, _, rank, residual = whiten(A, K)
    assert (rank, residual < 1e-12) == (K, True)
    assert np.allclose(W.T @ A @ W, np.eye(K), atol=1e-10)
    assert np.allclose(W.T @ B, np.eye(K), atol=1e-10)
    assert np.allclose(A @ W, B, atol=1e-12)
    V = np.sqrt(w)[:, None] * (mu @ W)
    assert np.allclose(V @ V.T, np.eye(K), atol=1e-10)
    assert np.allclose(V @ B.T, np.sqrt(w)[:, None] * mu, atol=1e-12)
    gram = np.sqrt(np.outer(w, w)) * (mu @ mu.T)  # has the same eigenvalues
    assert np.allclose(eigenvalues, np.linalg.eigvalsh(gram)[::-1], rtol=0, atol=1e-14)


@pytest.mark.parametrize("d", [100, 800])
def test_a_rank_that_is_not_there_is_cut(d):
    w, mu = mixture(5, d)
    found = whiten((mu.T * w) @ mu, 12)
    assert (found.rank, found.W.shape, found.B.shape) == (5, (d, 5), (d, 5))
    assert len(found.eigenvalues) == 5
    assert np.abs(found.dropped).max() < 1e-12 * found.eigenvalues[0]


@pytest.mark.parametrize("size", [300, 900])
def test_negative_eigenvalues_do_not_count(size):
    values = np.zeros(size)
    values[:6] = [3, -5, 2, 1, -0.5, -4]
    A, U = spectrum(values)
    found = whiten(A, 6)
    assert found.rank == 3
    assert np.allclose(found.eigenvalues, [3, 2, 1])
    assert subspace_angles(found.W, U[:, [0, 2, 3]]).max() < 1e-6
    assert np.allclose(whiten(A, 2).dropped[0], 1)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_large_matrices_as_lapack_has_them(seed):
    """Noise as in samples: a few large eigenvalues, and a bulk on both sides of zero."""
    rng = np.random.default_rng(seed)
    bulk = rng.uniform(-1, 1, 800)
    bulk[:25] = np.linspace(20, 1.5, 25)
    A, U = spectrum(bulk, seed)
    found = whiten(A, 25, random_state=seed)
    assert found.rank == 25
    assert found.residual <= 1e-5
    assert np.allclose(found.eigenvalues, bulk[:25], rtol=1e-8)
    assert subspace_angles(found.W, U[:, :25]).max() < 1e-4
    assert np.allclose(found.W.T @ A @ found.W, np.eye(25), atol=1e-8)
    assert 0.8 < found.dropped[0] < 1


def test_the_residual_is_what_it_says():
    A, _ = spectrum(np.append([3, 2.5, 2], np.linspace(-1, 1, 700)))
    found = whiten(A, 3, tol=1e-2)
    U = found.W * np.sqrt(found.eigenvalues)
    residuals = np.linalg.norm(A @ U - U * found.eigenvalues, axis=0) / found.eigenvalues
    assert 1e-7 < residuals.max() <= 1e-2
    assert np.isclose(residuals.max(), found.residual, rtol=1e-6)


def test_an_exact_matrix_costs_no_more_than_its_rank():
    w, mu = mixture(40, 900)
    operator, columns = counting((mu.T * w) @ mu)
    assert whiten(operator, 40).residual < 1e-10
    assert sum(columns) <= 32 * 3


@pytest.mark.parametrize("d", [100, 600])
def test_dense_sparse_and_operator_are_one_matrix(d):
    w, mu = mixture(6, d)
    mu[mu < 1e-3] = 0
    A = (mu.T * w) @ mu
    reference = whiten(A, 6)
    for form in (sp.csr_array(A), sp.coo_matrix(A), aslinearoperator(A), counting(A)[0]):
        found = whiten(form, 6)
        assert np.allclose(found.W, reference.W, rtol=1e-8, atol=1e-8)
        assert np.allclose(found.B, reference.B, rtol=1e-8, atol=1e-10)


def test_single_precision_is_cut_where_it_ends():
    w, mu = mixture(4, 600)
    found = whiten(((mu.T * w) @ mu).astype(np.float32), 9)
    assert found.rank == 4
    assert found.W.dtype == np.float64


def test_any_seed_whitens_the_same_space():
    rng = np.random.default_rng(0)
    values = np.append(np.linspace(5, 2, 12), rng.uniform(-1, 1, 700))
    A, _ = spectrum(values)
    first, second = (whiten(A, 12, random_state=seed) for seed in (0, 1))
    assert np.allclose(first.W, second.W, atol=1e-4)  # signs too
    assert not np.array_equal(first.W, second.W)


def test_same_bits_on_any_number_of_threads():
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.poisson(0.01, (1000, 3000)).astype(np.float64))
    A = sp.csr_array(X.T @ X)
    results = []
    for threads in (1, 2, 5):
        with engine.use(engine.ThreadEngine(threads)):
            results.append(whiten(A, 10, tol=0.1))
    for other in results[1:]:
        for one, two in zip(results[0], other):
            assert np.array_equal(one, two)


def test_bad_input():
    with pytest.raises(ParameterError, match="square"):
        whiten(np.ones((2, 3)), 1)
    with pytest.raises(ParameterError, match="rank must be a whole number from 1 to 2, not 3"):
        whiten([[1.0, 0.0], [0.0, 1.0]], 3)
    with pytest.raises(ParameterError, match="not finite"):
        whiten(np.diag([1.0, np.nan]), 1)
    with pytest.raises(ParameterError, match="not finite"):
        whiten(aslinearoperator(np.diag(np.full(600, np.inf))), 1)
    with pytest.raises(ParameterError, match=r"symmetric matrix .*: average"):
        whiten(np.array([[1.0, 2.0], [0.0, 1.0]]), 1)
    for nothing in (np.zeros((3, 3)), -np.eye(3), sp.csr_array((700, 700))):
        with pytest.raises(ParameterError, match="positive eigenvalue"):
            whiten(nothing, 2)
