"""Tensors: identities, exact recovery of models, quadratic convergence, noise."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.special import poch
from threadpoolctl import threadpool_limits

from eigentext.errors import ParameterError
from eigentext.factor import minimize_tensor, simultaneous_diagonalization, tensor_power, whiten
from eigentext.factor._tensor_loops import jacobi_sweep
from eigentext.factor.tensor import SymmetricTensor, jointly_diagonal, relative_residual

SOLVERS = [tensor_power, simultaneous_diagonalization]


def composed(weights, vectors):
    return np.einsum("r,ri,rj,rk->ijk", weights, vectors, vectors, vectors, optimize=True)


def symmetric(T):
    return sum(T.transpose(axes) for axes in permutations(range(3))) / 6


def orthogonal(K, rank=None, *, seed=0, weights=None, noise=0.0):
    """An orthogonal tensor, its weights and vectors; and noise of a part of its norm."""
    rng = np.random.default_rng(seed)
    rank = K if rank is None else rank
    V = np.linalg.qr(rng.standard_normal((K, K)))[0][:rank]
    weights = np.linspace(5, 1, rank) if weights is None else weights
    T, E = composed(weights, V), symmetric(rng.standard_normal((K, K, K)))
    return T + noise * np.linalg.norm(T) / np.linalg.norm(E) * E, weights, V


def errors(found, truth):
    """How far each vector is from the one it is matched with, and likewise weights."""
    (weights, vectors), (w, V) = found, truth
    far = np.linalg.norm(vectors[:, None] - V, axis=2)
    rows, columns = linear_sum_assignment(far)
    return far[rows, columns], np.abs(weights[rows] - w[columns])


# --- identities (Cohen et al. 2013) ---------------------------------------------------------------


def test_moments_of_the_mixture_are_symmetric_tensors():
    """E over all documents of three words = sum of w mu mu mu'."""
    rng = np.random.default_rng(0)
    w, mu = rng.dirichlet(np.ones(2)), rng.dirichlet(np.ones(4), 2)
    A, T = np.zeros((4, 4)), np.zeros((4, 4, 4))
    for a, b, c in product(range(4), repeat=3):
        p = sum(w[h] * mu[h, a] * mu[h, b] * mu[h, c] for h in range(2))
        A[a, b] += p
        T[a, b, c] += p
    assert np.allclose(A, (mu.T * w) @ mu)
    assert np.allclose(T, composed(w, mu))


def dirichlet_moments(alpha):
    """E[h_i], E[h_i h_j] and E[h_i h_j h_k] in closed form: rising factorials."""

    def moment(*topics):
        numbers = np.bincount(topics, minlength=len(alpha))
        return np.prod(poch(alpha, numbers)) / poch(alpha.sum(), len(topics))

    topics = range(len(alpha))
    return [
        np.array([moment(*t) for t in product(topics, repeat=n)]).reshape([len(alpha)] * n)
        for n in (1, 2, 3)
    ]


def lda_pairs(alpha, mu):
    """A as Cohen et al. (2013) define it, for words whose means are the rows mu."""
    alpha0 = alpha.sum()
    H1, H2, _ = dirichlet_moments(alpha)
    v = H1 @ mu
    return mu.T @ H2 @ mu - alpha0 / (alpha0 + 1) * np.outer(v, v)


def lda_triples(alpha, mu):
    """T as Cohen et al. (2013) define it."""
    alpha0 = alpha.sum()
    H1, H2, H3 = dirichlet_moments(alpha)
    v, pairs = H1 @ mu, mu.T @ H2 @ mu
    T = np.einsum("abc,ai,bj,ck->ijk", H3, mu, mu, mu, optimize=True)
    T -= alpha0 / (alpha0 + 2) * 3 * symmetric(np.multiply.outer(pairs, v))
    T += 2 * alpha0**2 / ((alpha0 + 2) * (alpha0 + 1)) * composed([1.0], v[None])
    return T


def test_moments_of_the_dirichlet_are_those_of_polyas_urn():
    alpha = np.array([0.3, 1.2, 0.5])
    H1, H2, H3 = np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3, 3))
    for a, b, c in product(range(3), repeat=3):
        p = alpha[a] / 2 * (alpha[b] + (a == b)) / 3 * (alpha[c] + (a == c) + (b == c)) / 4
        H1[a] += p
        H2[a, b] += p
        H3[a, b, c] += p
    for one, other in zip((H1, H2, H3), dirichlet_moments(alpha)):
        assert np.allclose(one, other)


@pytest.mark.parametrize("alpha", [[0.2, 0.3], [1.0, 2.0, 0.5], [0.01, 0.02, 0.03, 0.04]])
def test_moments_of_lda_are_symmetric_tensors(alpha):
    alpha = np.array(alpha)
    alpha0 = alpha.sum()
    mu = np.random.default_rng(1).dirichlet(np.ones(6), len(alpha))
    A = (mu.T * alpha / ((alpha0 + 1) * alpha0)) @ mu
    T = composed(2 * alpha / ((alpha0 + 2) * (alpha0 + 1) * alpha0), mu)
    assert np.allclose(lda_pairs(alpha, mu), A, atol=1e-14)
    assert np.allclose(lda_triples(alpha, mu), T, atol=1e-14)


# --- exactness ------------------------------------------------------------------------------------


def descent(T, rank):
    """From a wrong start: the neighborhood of the answer."""
    weights, vectors = simultaneous_diagonalization(T, rank)
    rng = np.random.default_rng(0)
    return minimize_tensor(T, weights * 0.8, vectors + 0.05 * rng.standard_normal(vectors.shape))


@pytest.mark.parametrize("solver", [*SOLVERS, descent])
@pytest.mark.parametrize(("K", "d"), [(1, 5), (2, 30), (5, 100), (10, 200)])
@pytest.mark.parametrize("alpha0", [0.0, 0.3, 4.0])
def test_models_are_recovered_from_exact_moments(alpha0, K, d, solver):
    for seed in range(3):
        rng = np.random.default_rng(100 * seed + K)
        w, mu = rng.dirichlet(np.full(K, 3.0)), rng.dirichlet(np.full(d, 0.2), K)
        W, B, *_ = whiten(lda_pairs(alpha0 * w, mu) if alpha0 else (mu.T * w) @ mu, K)
        T = lda_triples(alpha0 * w, mu @ W) if alpha0 else composed(w, mu @ W)
        lambdas, V = solver(T, K)
        weights = 4 * (alpha0 + 1) / ((alpha0 + 2) ** 2 * lambdas**2)
        means = V @ B.T
        means /= means.sum(axis=1, keepdims=True)
        assert max(map(np.max, errors((weights, means), (w, mu)))) < 1e-8


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("weights", [np.ones(12), np.geomspace(1, 1e-3, 12)])
def test_seeds_restarts_and_bases_do_not_change_the_answer(solver, weights):
    T, w, V = orthogonal(12, weights=weights)
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((12, 12)))[0]
    turned = np.einsum("ijk,ia,jb,kc->abc", T, turn, turn, turn, optimize=True)
    more = {"n_restarts": 1} if solver is tensor_power else {"n_iter": 50}
    for found in (
        *(solver(T, 12, random_state=seed) for seed in range(5)),
        solver(T, 12, **more),
        (lambda weights, vectors: (weights, vectors @ turn.T))(*solver(turned, 12)),
    ):
        assert max(map(np.max, errors(found, (w, V)))) < 1e-10
        assert (np.diff(found[0]) <= 1e-12).all()


def test_the_order_of_deflation_leaves_no_trace():
    """Under noise too: from any seed, other components come first, and the answer is one."""
    T, *_ = orthogonal(15, noise=0.2, weights=np.linspace(1.2, 1, 15))
    runs = [tensor_power(T, 15, random_state=seed, return_diagnostics=True) for seed in range(4)]
    assert all(run[2]["polish_steps"] > 1 for run in runs)
    for run in runs[1:]:
        assert max(map(np.max, errors(run[:2], runs[0][:2]))) < 1e-8
    raw = [tensor_power(T, 15, polish=False, n_restarts=1, random_state=seed) for seed in (0, 1)]
    assert errors(*raw)[0].max() > 1e-4


def test_what_stands_still_is_a_stationary_point_of_the_direct_minimization():
    T, *_ = orthogonal(15, noise=0.2)
    found = tensor_power(T, 15)
    *descended, diagnostics = minimize_tensor(T, *found, return_diagnostics=True)
    assert max(map(np.max, errors(descended, found))) < 1e-8
    assert np.isclose(diagnostics["before"], diagnostics["after"], rtol=1e-12)


# --- convergence ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_power_iteration_converges_quadratically(seed):
    """With e the tangent of the angle to v, e_{t+1} <= C e_t^2 for C = max lambda / lambda."""
    T, w, V = orthogonal(20, weights=np.linspace(2, 1, 20), seed=seed)
    contract = SymmetricTensor(T)
    x = np.random.default_rng(seed).standard_normal((1, 20))
    along = []
    for _ in range(25):
        x = contract(x / np.linalg.norm(x))
        along.append(V @ x[0])
    last = int(along[-1].argmax())
    tangents = np.array([np.linalg.norm(np.delete(c, last)) / c[last] for c in along])
    assert tangents[-1] < 1e-14
    assert (tangents[1:] <= w.max() / w[last] * tangents[:-1] ** 2 + 1e-14).all()


def test_steps_shrink_quadratically():
    T, *_ = orthogonal(20, weights=np.linspace(2, 1, 20))
    *_, found = tensor_power(T, 20, return_diagnostics=True)
    assert all(found["converged"])
    for steps in found["steps"]:
        assert steps[-1] <= 2 * steps[-2] ** 2 + 1e-14
        assert len(steps) < 15


def test_matrices_take_many_more_steps():
    _, w, V = orthogonal(20, weights=np.linspace(2, 1, 20))
    M = (V.T * w) @ V
    x, steps = np.ones(20) / np.sqrt(20), 0
    while np.linalg.norm(x - np.sign(x @ V[0]) * V[0]) > 1e-10:
        x = M @ x
        x, steps = x / np.linalg.norm(x), steps + 1
    assert steps > 100


# --- noise ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("spread", [1.0, 5.0])
@pytest.mark.parametrize("K", [20, 40])
def test_noise_moves_the_answer_by_no_more_than_its_size(K, spread, solver):
    T, w, V = orthogonal(K, weights=np.linspace(spread, 1, K), noise=0.1)
    weights, vectors, found = solver(T, K, return_diagnostics=True)
    far, off = errors((weights, vectors), (w, V))
    # Each T(I, v, v) is off by some 0.1 ||T|| sqrt(K / (K^3 / 6)), and mostly orthogonal to v.
    noise = 0.1 * np.linalg.norm(w) * np.sqrt(6) / K
    assert far.max() < 4 * noise
    assert off.max() < 4 * noise
    assert found["residual"] < 0.1
    half, _ = errors(solver(orthogonal(K, weights=w, noise=0.05)[0], K), (w, V))
    assert half.mean() < 0.6 * far.mean()


def test_diagonalization_is_nearer_than_deflation_under_noise():
    """That vectors are orthogonal is knowledge, and it uses it."""
    means = []
    for seed in range(5):
        T, w, V = orthogonal(30, noise=0.3, seed=seed)
        means.append([errors(solver(T, 30), (w, V))[0].mean() for solver in SOLVERS])
    power, diagonal = np.mean(means, axis=0)
    assert diagonal < 0.8 * power


def test_far_from_orthogonal_the_polish_is_undone():
    T = symmetric(np.random.default_rng(0).standard_normal((15, 15, 15)))
    rough = tensor_power(T, 15, polish=False)
    weights, vectors, found = tensor_power(T, 15, return_diagnostics=True)
    assert found["polish_steps"] == 0
    assert np.array_equal(weights, rough[0])
    assert np.array_equal(vectors, rough[1])
    assert 0 < found["residual"] < 1


def test_stages_that_find_nothing_are_reported():
    T, w, V = orthogonal(8, 3)
    weights, vectors, found = tensor_power(T, 6, return_diagnostics=True)
    assert found["found"] == 3
    assert np.abs(weights[3:]).max() < 1e-12
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert max(map(np.max, errors((weights[:3], vectors[:3]), (w, V)))) < 1e-12
    assert len(found["values"]) == len(found["steps"]) == len(found["converged"]) == 6
    assert all(len(values) == 10 for values in found["values"])
    assert found["residual"] < 1e-12


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_tensor_of_zeros_has_weights_of_zero(solver):
    weights, vectors, found = solver(np.zeros((4, 4, 4)), 2, return_diagnostics=True)
    assert np.array_equal(weights, [0, 0])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert found["residual"] == 0
    assert found.get("found", 0) == 0


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_fewer_components_than_dimensions(solver, noise):
    T, w, V = orthogonal(25, 4, noise=noise)
    far, off = errors(solver(T, 4), (w, V))
    assert far.max() < max(noise, 1e-10)
    assert off.max() < max(2 * noise, 1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
def test_signs_are_those_of_positive_weights(solver):
    T, w, V = orthogonal(3, weights=np.array([3.0, -2.0, -1.0]))
    found = solver(T, 3)
    signs = np.sign(w)
    assert max(map(np.max, errors(found, (np.abs(w), signs[:, None] * V)))) < 1e-12


# --- parts ----------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.integers(1, 8), st.integers(1, 5), st.integers(0, 100))
def test_contractions_are_those_of_all_numbers(K, n, seed):
    rng = np.random.default_rng(seed)
    T, X, w = symmetric(rng.standard_normal((K, K, K))), rng.standard_normal((n, K)), rng.random(n)
    packed = SymmetricTensor(T)
    assert np.allclose(packed(X), np.einsum("ijk,nj,nk->ni", T, X, X))
    assert np.isclose(packed.norm, np.linalg.norm(T))
    rest = T - composed(w, X)
    assert np.allclose(packed.less(w, X)(X), np.einsum("ijk,nj,nk->ni", rest, X, X))
    ratio = np.linalg.norm(rest) / np.linalg.norm(T)
    assert np.isclose(relative_residual(packed, w, X), ratio)


def slow_sweep(T, V):
    """Pair after pair, the best of the angles on a fine grid, applied to whole matrices."""
    angles = np.linspace(-np.pi / 4, np.pi / 4, 20001)
    for p in range(len(T)):
        for q in range(p + 1, len(T)):
            c, s = np.cos(angles), np.sin(angles)
            pp, pq, qq = T[p, p, :, None], T[p, q, :, None], T[q, q, :, None]
            first = c * c * pp + 2 * c * s * pq + s * s * qq
            second = s * s * pp - 2 * c * s * pq + c * c * qq
            best = angles[(first**2 + second**2).sum(axis=0).argmax()]
            R = np.eye(len(T))
            R[p, p] = R[q, q] = np.cos(best)
            R[p, q], R[q, p] = np.sin(best), -np.sin(best)
            T, V = np.einsum("ai,bj,ijk->abk", R, R, T), R @ V
    return T, V


def test_a_sweep_is_the_best_angle_of_each_pair():
    T, *_ = orthogonal(5, noise=0.3)
    T = np.ascontiguousarray(T[:, :, :3])
    slow_T, slow_V = slow_sweep(T, np.eye(5))
    D, V = T.copy(), np.eye(5)
    assert 0 < jacobi_sweep(D, V) <= 1
    upper = np.triu_indices(5)
    assert np.allclose(V, slow_V, atol=1e-3)
    assert np.allclose(D[upper], slow_T[upper], atol=2e-3)
    assert np.allclose(D[upper], np.einsum("ai,bj,ijk->abk", V, V, T)[upper])
    assert np.allclose(V @ V.T, np.eye(5))


@pytest.mark.parametrize("solver", SOLVERS)
def test_same_bits_on_any_number_of_threads(solver):
    T, *_ = orthogonal(60, noise=0.1)
    results = []
    for threads in (1, 2, 4):
        with threadpool_limits(limits=threads, user_api="blas"):
            results.append(solver(T, 60))
    for other in results[1:]:
        assert all(np.array_equal(one, two) for one, two in zip(results[0], other))


@pytest.mark.parametrize("solver", SOLVERS)
def test_bad_input(solver):
    for wrong in (np.zeros((2, 2)), np.zeros((2, 2, 3)), np.zeros((2, 3, 2))):
        with pytest.raises(ParameterError, match=r"shape \(K, K, K\)"):
            solver(wrong, 1)
    with pytest.raises(ParameterError, match="not symmetric: average"):
        solver(np.random.default_rng(0).standard_normal((3, 3, 3)), 1)
    for number in (np.nan, np.inf):
        with pytest.raises(ParameterError, match="not finite"):
            solver(np.full((2, 2, 2), number), 1)
    for rank in (0, 4):
        with pytest.raises(
            ParameterError, match=f"rank must be a whole number from 1 to 3, not {rank}"
        ):
            solver(np.ones((3, 3, 3)), rank)


def test_no_restart_is_no_answer():
    for nothing in ({"n_restarts": 0}, {"n_iter": 0}):
        with pytest.raises(ParameterError, match="1 or more"):
            tensor_power(np.ones((2, 2, 2)), 1, **nothing)


# Slices that share a basis.


@pytest.mark.parametrize("n_slices", [2, 7, 20])
def test_slices_with_one_basis_give_it(n_slices):
    rng = np.random.default_rng(n_slices)
    V = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    D = np.einsum("ri,rj,rk->ijk", V, V, rng.standard_normal((6, n_slices)))
    U, residual = jointly_diagonal(D)
    assert residual < 1e-8
    assert np.allclose(U @ U.T, np.eye(6), atol=1e-12)
    assert np.allclose(np.sort(np.abs(V @ U.T).max(axis=1)), 1, atol=1e-8)


def test_the_residual_is_what_is_off_the_diagonals():
    rng = np.random.default_rng(0)
    D = rng.standard_normal((5, 5, 4))
    D = D + D.transpose(1, 0, 2)
    U, residual = jointly_diagonal(D)
    rotated = np.einsum("ai,bj,ijk->abk", U, U, D)
    off = np.sqrt((rotated**2).sum() - sum((rotated[i, i] ** 2).sum() for i in range(5)))
    assert residual == pytest.approx(off / np.linalg.norm(D))
    for _ in range(20):  # no other basis is better than a stationary one nearby
        R = np.linalg.qr(np.eye(5) + 1e-3 * rng.standard_normal((5, 5)))[0] @ U
        other = np.einsum("ai,bj,ijk->abk", R, R, D)
        assert sum((other[i, i] ** 2).sum() for i in range(5)) <= sum(
            (rotated[i, i] ** 2).sum() for i in range(5)
        ) * (1 + 1e-9)
