"""Rectification: a matrix within the conditions stays, and others come near them."""

import numpy as np
import pytest

from eigentext import engine
from eigentext.factor.rectify import negative_times, rectify


def joint(d, m, seed=0):
    """Return the scaled joint distribution of a model of m states, and the roots of its sums."""
    rng = np.random.default_rng(seed)
    A = rng.dirichlet(np.full(d, 0.2), m).T
    R = np.diag(rng.dirichlet(np.full(m, 5.0)))
    Q = A @ R @ A.T
    s = np.sqrt(Q.sum(axis=1))
    return Q / np.outer(s, s), s


def factor(S, m):
    values, U = np.linalg.eigh(S)
    return U[:, -m:] * np.sqrt(np.maximum(values[-m:], 0))


@pytest.mark.parametrize("m", [1, 2, 7])
def test_a_matrix_within_the_conditions_does_not_change(m):
    for seed in range(3):
        S, s = joint(60, m, seed)
        found = rectify(factor(S, m), s, s)
        assert found.negative == [0.0]
        assert np.abs(found.B @ found.B.T - S).max() < 1e-12
        gram = found.B.T @ found.B
        assert np.abs(gram - np.diag(np.diag(gram))).max() < 1e-12
        assert (np.diff(np.diag(gram)) <= 0).all()


def test_the_conditions_hold_at_the_end():
    rng = np.random.default_rng(0)
    S, s = joint(80, 5)
    noise = 0.02 * rng.standard_normal((80, 80))
    B = factor(S + (noise + noise.T) / 2, 5)
    for share in (1.0, 0.5):  # the sums of rows need not be those of a stochastic matrix
        t = share * s
        found = rectify(np.sqrt(share) * B, s, t, n_rounds=3000, tol=1e-3)
        M = found.B @ found.B.T
        assert len(found.negative) < 3000
        assert found.negative[0] > 0.05
        assert np.linalg.norm(np.minimum(M, 0)) <= 1.01e-3 * np.linalg.norm(M)
        assert np.linalg.norm(M @ s - t) <= 1e-3 * np.linalg.norm(t)
        assert np.linalg.matrix_rank(M) <= 5
        assert np.linalg.eigvalsh(M).min() > -1e-10


def test_more_rounds_leave_less_below_zero():
    rng = np.random.default_rng(1)
    S, s = joint(100, 6)
    noise = 0.02 * rng.standard_normal((100, 100))
    B = factor(S + (noise + noise.T) / 2, 6)
    left = [rectify(B, s, s, n_rounds=n, tol=0).negative[-1] for n in (1, 5, 15, 60)]
    assert left == sorted(left, reverse=True)
    assert left[-1] < left[0] / 5


def test_a_noisy_matrix_comes_nearer_to_the_truth():
    S, s = joint(150, 5)
    for seed in range(3):
        noise = 0.01 * np.random.default_rng(seed).standard_normal((150, 150))
        B = factor(S + (noise + noise.T) / 2, 5)
        found = rectify(B, s, s).B
        assert np.linalg.norm(found @ found.T - S) < np.linalg.norm(B @ B.T - S)


@pytest.mark.parametrize("d", [1, 5, 256, 700])
def test_negative_entries_are_multiplied_in_blocks(d):
    rng = np.random.default_rng(d)
    B, X = rng.standard_normal((d, 4)), rng.standard_normal((d, 3))
    B[d // 2] = 0
    N = np.maximum(-B @ B.T, 0)  # the slow twin
    found, size = negative_times(B, X)
    assert np.allclose(found, N @ X, atol=1e-3)
    assert size == pytest.approx(np.linalg.norm(N), rel=1e-4, abs=1e-6)


def test_same_bits_on_any_number_of_threads():
    S, s = joint(700, 6)
    noise = 0.02 * np.random.default_rng(0).standard_normal((700, 700))
    B = factor(S + (noise + noise.T) / 2, 6)
    found = []
    for threads in (1, 2, 5):
        with engine.use(engine.ThreadEngine(threads)):
            found.append(rectify(B, s, s))
    for other in found[1:]:
        assert np.array_equal(found[0].B, other.B)
        assert found[0].negative == other.negative
