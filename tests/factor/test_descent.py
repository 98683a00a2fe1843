"""Direct minimization: its gradient, exact fits of what is not orthogonal, pairs and lengths."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, linear_sum_assignment
from threadpoolctl import threadpool_limits

from eigentext.errors import ParameterError
from eigentext.factor import minimize_tensor
from eigentext.factor.descent import _Objective
from eigentext.factor.tensor import SymmetricTensor


def composed(weights, vectors):
    return np.einsum("r,ri,rj,rk->ijk", weights, vectors, vectors, vectors, optimize=True)


def problem(K, rank, seed=0):
    """Weights, vectors that are not orthogonal, and a start near by."""
    rng = np.random.default_rng(seed)
    weights, vectors = rng.uniform(1, 3, rank), rng.dirichlet(np.full(K, 0.3), rank)
    start = weights * rng.uniform(0.8, 1.2, rank), vectors + 0.05 * rng.standard_normal((rank, K))
    return weights, vectors, start


def matched(found, truth):
    (weights, vectors), (w, V) = found, truth
    far = np.linalg.norm(vectors[:, None] - V, axis=2)
    rows, columns = linear_sum_assignment(far)
    return max(far[rows, columns].max(), np.abs(weights[rows] - w[columns]).max())


def distance(T, weights, vectors):
    return (np.linalg.norm(T - composed(weights, vectors)) / np.linalg.norm(T)) ** 2


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 6), st.integers(1, 4), st.booleans(), st.integers(0, 1000))
def test_gradient_is_that_of_finite_differences(K, rank, with_pairs, seed):
    rng = np.random.default_rng(seed)
    weights, vectors, _ = problem(K, rank, seed)
    T, M = composed(weights, vectors), (vectors.T * weights) @ vectors
    objective = _Objective(SymmetricTensor(T), M if with_pairs else None, 1.7)
    x = rng.standard_normal(rank * (K + with_pairs))
    for near in (False, True):
        value, slope = objective(x, near)
        numeric = approx_fprime(x, lambda x, near=near: objective(x, near)[0], 1e-7)
        assert np.allclose(slope, numeric, rtol=1e-4, atol=1e-4 * (1 + np.abs(numeric).max()))
        A, q = objective.split(x)
        expected = distance(T, np.ones(rank), A)
        if with_pairs:
            expected += np.linalg.norm(M - 1.7 * (A.T * q) @ A) ** 2 / np.linalg.norm(M) ** 2
        assert np.isclose(value, expected, rtol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_components_need_not_be_orthogonal(seed):
    weights, vectors, start = problem(12, 6, seed)
    T = composed(weights, vectors)
    *found, diagnostics = minimize_tensor(T, *start, return_diagnostics=True)
    lengths = np.linalg.norm(vectors, axis=1)
    truth = weights * lengths**3, vectors / lengths[:, None]
    assert matched(found, truth) < 1e-8
    assert (np.diff(found[0]) <= 0).all()
    assert np.allclose(np.linalg.norm(found[1], axis=1), 1)
    assert np.isclose(diagnostics["before"], distance(T, *start))
    assert diagnostics["after"] < 1e-18 < diagnostics["before"]
    assert diagnostics["converged"]


@pytest.mark.parametrize("alpha0", [0.0, 0.7])
@pytest.mark.parametrize("seed", range(3))
def test_pairs_tell_lengths(seed, alpha0):
    """Both moments of LDA together, not whitened, give the weights and topics themselves."""
    rng = np.random.default_rng(seed)
    w, mu = rng.dirichlet(np.full(5, 5.0)), rng.dirichlet(np.full(15, 0.3), 5)
    A = (mu.T * w / (alpha0 + 1)) @ mu
    theta = 2 * w / ((alpha0 + 2) * (alpha0 + 1))
    T = composed(theta, mu)
    start = theta * rng.uniform(0.8, 1.2, 5), mu + 0.02 * rng.standard_normal(mu.shape)
    found = minimize_tensor(T, *start, pairs=A, ratio=(alpha0 + 2) / 2)
    assert matched(found, (theta, mu)) < 1e-8
    assert np.allclose(found[1].sum(axis=1), 1)


def test_pairs_of_a_whitened_tensor():
    """M = I and T = sum lambda v v v: the weights are 1 / lambda^2, as whitening has them."""
    rng = np.random.default_rng(0)
    w = np.sort(rng.dirichlet(np.full(6, 5.0)))[::-1]
    V = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    T = composed(1 / np.sqrt(w), V)
    weights, vectors = minimize_tensor(T, 1 / np.sqrt(w), V, pairs=np.eye(6))
    assert np.allclose(weights, w, atol=1e-10)
    assert np.allclose(vectors, V / np.sqrt(w)[:, None], atol=1e-10)


def test_noise_and_pairs():
    """What T leaves open to noise, M holds: the fit of both is nearer to the truth."""
    with_pairs, without = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        V = np.linalg.qr(rng.standard_normal((10, 10)))[0]
        noise = rng.standard_normal((10, 10, 10))
        noise = sum(noise.transpose(p) for p in ((0, 1, 2), (1, 2, 0), (2, 0, 1)))
        noise = (noise + noise.transpose(1, 0, 2)) / 6
        T = composed(np.ones(10), V) + 0.05 * noise
        before, after = {}, {}
        for pairs, scores in ((None, without), (np.eye(10), with_pairs)):
            _, phi, found = minimize_tensor(T, np.ones(10), V, pairs=pairs, return_diagnostics=True)
            phi = phi / np.linalg.norm(phi, axis=1, keepdims=True)
            scores.append(matched((np.ones(10), phi), (np.ones(10), V)))
            before[len(scores)], after[len(scores)] = found["before"], found["after"]
        assert all(after[key] < before[key] for key in after)
    assert np.mean(with_pairs) < np.mean(without)


def test_steps_are_counted():
    weights, vectors, start = problem(10, 5)
    T = composed(weights, vectors)
    *_, few = minimize_tensor(T, *start, n_iter=3, return_diagnostics=True)
    assert (few["n_iter"], few["converged"]) == (3, False)
    assert few["gradient"] > 1e-10
    assert few["after"] < few["before"]


def test_a_start_at_the_answer_stays():
    weights, vectors, _ = problem(8, 4)
    T = composed(weights, vectors)
    *_, found = minimize_tensor(T, weights, vectors, return_diagnostics=True)
    assert found["n_iter"] == 0
    assert found["after"] < 1e-28


def test_same_bits_on_any_number_of_threads():
    weights, vectors, start = problem(50, 20)
    T = composed(weights, vectors)
    results = []
    for threads in (1, 2, 4):
        with threadpool_limits(limits=threads, user_api="blas"):
            results.append(minimize_tensor(T, *start, n_iter=20))
    for other in results[1:]:
        assert all(np.array_equal(one, two) for one, two in zip(results[0], other))


def test_bad_input():
    T, V = np.ones((3, 3, 3)), np.eye(3)[:2]
    with pytest.raises(ParameterError, match="vectors are rows, one for each weight"):
        minimize_tensor(T, np.ones(2), V.T)
    with pytest.raises(ParameterError, match="one for each weight"):
        minimize_tensor(T, np.ones(3), V)
    with pytest.raises(ParameterError, match="start has numbers that are not finite"):
        minimize_tensor(T, [1, np.nan], V)
    with pytest.raises(ParameterError, match=r"shape \(3, 3\), not \(2, 2\)"):
        minimize_tensor(T, np.ones(2), V, pairs=np.eye(2))
    with pytest.raises(ParameterError, match="pairs are not symmetric"):
        minimize_tensor(T, np.ones(2), V, pairs=np.triu(np.ones((3, 3))))
    with pytest.raises(ParameterError, match="ratio must be a number, above 0, not"):
        minimize_tensor(T, np.ones(2), V, pairs=np.eye(3), ratio=0)
    with pytest.raises(ParameterError, match="n_iter must be a whole number, 1 or more, not"):
        minimize_tensor(T, np.ones(2), V, n_iter=0)
    with pytest.raises(ParameterError, match=r"shape \(K, K, K\)"):
        minimize_tensor(T[0], np.ones(2), V)
