"""Anchors and the pivot decomposition: corners by hand, theorem 2 exactly, noise and thresholds."""

import doctest
import sys
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from eigentext import engine
from eigentext.errors import ParameterError
from eigentext.factor import anchors, pivot_decomposition, simplex_weights
from eigentext.factor.anchors import pivot_states, separations


def model(m, seed, *, d=None, d2=None, right_pivots=True):
    """Random pi, r(f|h) and s(g|h) in which every state has a pivot on the left."""
    rng = np.random.default_rng(seed)
    d, d2 = d or 3 * m + 5, d2 or 2 * m + 9
    r, s = rng.dirichlet(np.ones(d), m), rng.dirichlet(np.ones(d2), m)
    r[:, :m] = np.diag(rng.uniform(0.05, 0.3, m))
    if right_pivots:
        s[:, :m] = np.diag(rng.uniform(0.05, 0.3, m))
    r /= r.sum(axis=1, keepdims=True)
    s /= s.sum(axis=1, keepdims=True)
    return rng.dirichlet(np.full(m, 5.0)), r[:, rng.permutation(d)], s[:, rng.permutation(d2)]


def joint(prior, r, s):
    return (r.T * prior) @ s


def error(found, truth):
    """The largest difference under the one permutation that fits r best."""
    order = ((found[1][:, None] - truth[1][None]) ** 2).sum(axis=2).argmin(axis=1)
    assert sorted(order) == list(range(len(order)))
    return max(np.abs(one - other[order]).max() for one, other in zip(found, truth))


def nearest_by_trying(point, corners):
    """The best weights of every face, the best of those that are on the simplex."""
    best = np.inf, None
    for size in range(1, len(corners) + 1):
        for face in combinations(range(len(corners)), size):
            A = corners[list(face)]
            steps = np.linalg.lstsq((A[1:] - A[0]).T, point - A[0], rcond=None)[0]
            y = np.zeros(len(corners))
            y[list(face)] = np.append(1 - steps.sum(), steps)
            if y.min() > -1e-10:
                best = min(best, (float(((y @ corners - point) ** 2).sum()), y), key=lambda b: b[0])
    return best


# Corners.


def test_corners_by_hand():
    V = np.array([[0, 0], [0.2, 0.3], [1, 0], [0.4, 0.4], [0, 1.1]])
    assert anchors(V, 3).tolist() == [4, 2, 0]
    assert anchors(V + 100, 3).tolist() == [4, 2, 0]  # an affine span has no origin
    assert anchors(V, 2, candidates=[0, 1, 3]).tolist() == [0, 3]
    assert anchors(V, 2, candidates=V[:, 0] < 0.3).tolist() == [4, 0]
    assert anchors(V, 1, weights=np.array([1, 1, 9, 1, 1])).tolist() == [2]


@pytest.mark.parametrize("m", [1, 2, 5, 20])
@pytest.mark.parametrize("extra", [-1, 0, 3])
def test_corners_of_a_simplex_are_found(m, extra):
    rng = np.random.default_rng(m)
    corners = rng.standard_normal((m, max(m + extra, 1)))
    V = np.vstack([rng.dirichlet(np.ones(m), 200), np.eye(m)]) @ corners
    shuffled = rng.permutation(len(V))
    found = anchors(V[shuffled], m)
    assert m == 1 or sorted(shuffled[found]) == list(range(200, 200 + m))


def test_more_corners_than_there_are():
    line = np.outer(np.arange(5.0), [1, 2, 3])
    with pytest.raises(ParameterError, match="only 2 corners in independent directions; use 2"):
        anchors(line, 3)
    with pytest.raises(ParameterError, match="only 1 corners"):
        anchors(np.ones((5, 3)), 2)
    with pytest.raises(ParameterError, match="m must be a whole number from 1 to 5, not"):
        anchors(line, 6)
    with pytest.raises(ParameterError, match="finite"):
        anchors(line * np.nan, 2)


def test_fewer_corners_may_be_an_answer():
    line = np.outer(np.arange(5.0), [1, 2, 3])
    assert anchors(line, 3, fewer=True).tolist() == anchors(line, 2).tolist()
    assert anchors(line, 2, fewer=True).tolist() == anchors(line, 2).tolist()
    rng = np.random.default_rng(0)
    point = np.ones(3) / 3 + 1e-16 * rng.standard_normal((5, 3))  # one point, up to rounding
    assert len(anchors(point, 2, fewer=True)) == 1
    with pytest.raises(ParameterError, match="m must be a whole number from 1 to 5, not"):
        anchors(line, 6, fewer=True)


# Weights.


def test_weights_by_hand():
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    points = np.array([[0.2, 0.3], [1.0, 1.0], [-1.0, -1.0], [0.5, -3.0], [0.0, 1.0]])
    expected = [[0.5, 0.2, 0.3], [0, 0.5, 0.5], [1, 0, 0], [0.5, 0.5, 0], [0, 0, 1]]
    assert np.allclose(simplex_weights(points, corners), expected)
    assert np.allclose(simplex_weights(np.vstack([corners, points]), np.arange(3))[3:], expected)
    assert np.array_equal(simplex_weights(points, corners[:1]), np.ones((5, 1)))


@given(st.integers(0, 10_000))
def test_no_face_is_nearer(seed):
    rng = np.random.default_rng(seed)
    m, width = rng.integers(1, 6), rng.integers(1, 5)
    corners = np.round(rng.standard_normal((m, width)), rng.integers(0, 3))  # some coincide
    points = rng.standard_normal((4, width)) * 2
    weights, gaps = simplex_weights(points, corners, return_gaps=True)
    assert (weights >= 0).all()
    assert np.allclose(weights.sum(axis=1), 1)
    for point, y, gap in zip(points, weights, gaps):
        distance = ((y @ corners - point) ** 2).sum()
        least = nearest_by_trying(point, corners)[0]
        assert distance <= least + 1e-9
        assert (distance - least) / 2 <= gap + 1e-9


def test_weights_of_many_corners_meet_the_gap():
    rng = np.random.default_rng(0)
    corners = rng.standard_normal((60, 40))
    points = rng.standard_normal((300, 40)) * 0.5
    for tol in (1e-2, 1e-12):
        weights, gaps = simplex_weights(points, corners, tol=tol, return_gaps=True)
        gradient = (weights @ corners - points) @ corners.T
        exact = (weights * gradient).sum(axis=1) - gradient.min(axis=1)
        scale = ((corners - corners.mean(axis=0)) ** 2).sum(axis=1).max()
        assert np.allclose(gaps, exact, atol=1e-10)
        assert gaps.max() <= tol * scale + 1e-10


def test_convex_weights_come_back():
    rng = np.random.default_rng(0)
    corners = rng.standard_normal((30, 35))
    truth = rng.dirichlet(np.full(30, 0.1), 500)
    assert np.abs(simplex_weights(truth @ corners, corners) - truth).max() < 1e-10


def test_same_bits_on_any_number_of_threads():
    rng = np.random.default_rng(0)
    V = rng.standard_normal((3000, 20))
    results = []
    for threads in (1, 2, 5):
        with engine.use(engine.ThreadEngine(threads)):
            found = anchors(V, 15)
            results.append((found, simplex_weights(V, found)))
    for other in results[1:]:
        assert all(np.array_equal(one, two) for one, two in zip(results[0], other))


def test_separation_is_the_distance_from_the_others_span():
    A = np.array([[0.0, 0.0, 1.0], [2.0, 0.0, 1.0], [0.0, 3.0, 1.0]])
    height = 6 / np.sqrt(13)  # of the triangle over its longest side
    assert np.allclose(separations(A), [height, 2, 3])
    assert separations(A[:1]) == np.inf


def test_corners_in_the_span_of_the_others_are_not_apart():
    twice = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    assert np.allclose(separations(twice), [0, 0, 1])
    on_a_line = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 3.0]])
    assert np.allclose(separations(on_a_line), [0, 0, 0, 3])
    assert np.array_equal(separations(np.ones((3, 2))), np.zeros(3))


def test_bad_corners():
    with pytest.raises(ParameterError, match="2 coordinates"):
        simplex_weights(np.ones((3, 2)), np.ones((2, 3)))
    with pytest.raises(ParameterError, match="finite"):
        simplex_weights(np.ones((3, 2)), np.full((2, 2), np.inf))


# The decomposition.


@pytest.mark.parametrize("m", range(2, 9))
@pytest.mark.parametrize("method", ["pivots", "left"])
def test_theorem_2(m, method):
    for seed in range(5):
        truth = model(m, seed)
        Q = joint(*truth)
        found = pivot_decomposition(Q, m, method=method)
        assert error(found, truth) < 1e-9
        # Counts and sparse matrices are as good.
        assert error(pivot_decomposition(sp.csr_array(Q * 1e6), m, method=method), truth) < 1e-9


def test_pivots_on_the_left_alone_are_enough_for_the_remark():
    truth = model(4, 0, right_pivots=False)
    Q = joint(*truth)
    assert error(pivot_decomposition(Q, 4, method="left"), truth) < 1e-9
    prior, left, right = pivot_decomposition(Q, 4)
    assert error((prior, left), truth[:2]) < 1e-9  # one half of it still holds
    assert not np.allclose(joint(prior, left, right), Q, atol=1e-4)


def test_one_state_and_rows_of_no_weight():
    truth = model(3, 0)
    Q = np.pad(joint(*truth), ((1, 0), (0, 2)))
    prior, left, right, about = pivot_decomposition(Q, 3, return_diagnostics=True)
    assert error((prior, left[:, 1:], right[:, :-2]), truth) < 1e-9
    assert not left[:, 0].any()
    assert min(about["anchors"]) > 0
    assert about["gap"] < 1e-9
    assert about["n_iter"] == 0
    prior, left, right = pivot_decomposition(np.outer([0.25, 0.75], [0.5, 0.5]), 1)
    assert np.allclose(prior, 1)
    assert np.allclose(left, [[0.25, 0.75]])
    assert np.allclose(right, [[0.5, 0.5]])


@pytest.mark.parametrize("method", ["pivots", "left"])
def test_error_falls_with_samples(method):
    truth = model(3, 1)
    rng = np.random.default_rng(0)
    errors = []
    for n in (10**4, 10**6, 10**8):
        counts = rng.multinomial(n, joint(*truth).ravel()).reshape(joint(*truth).shape)
        found = pivot_decomposition(counts, 3, method=method, min_weight=n / 200, tol=1e-6)
        assert np.allclose(found[1].sum(axis=1), 1)
        assert np.allclose(found[2].sum(axis=1), 1)
        errors.append(error(found, truth))
    assert errors[2] < 0.003
    assert errors[0] > 5 * errors[1] > 25 * errors[2] / 2


@pytest.mark.parametrize("method", ["pivots", "left"])
def test_convex_em_reaches_its_gap(method):
    rng = np.random.default_rng(3)
    counts = rng.multinomial(10**4, joint(*model(3, 1)).ravel()).reshape(14, 15)
    options = {"method": method, "min_weight": 50, "return_diagnostics": True}
    likelihoods = []
    for n_iter in (0, 5, 5000):
        prior, left, right, about = pivot_decomposition(
            counts, 3, n_iter=n_iter, tol=1e-5, **options
        )
        posteriors = (left.T * prior) / (counts.sum(axis=1) / counts.sum())[:, None]
        with np.errstate(divide="ignore"):
            scores = np.log(posteriors @ right)
        likelihoods.append((counts * np.where(counts, scores, 0)).sum() / counts.sum())
    assert about["gap"] <= 1e-5
    assert 0 < about["n_iter"] < 5000
    assert likelihoods[1] <= likelihoods[2] + 1e-12
    assert likelihoods[0] <= likelihoods[2] + 1e-12


def test_a_threshold_keeps_rare_noisy_rows_from_being_pivots():
    truth = model(4, 2)
    Q = joint(*truth)
    rng = np.random.default_rng(0)
    counts = rng.multinomial(10**7, Q.ravel()).reshape(Q.shape)
    rare = np.zeros((3, Q.shape[1]), int)
    rare[np.arange(3), [1, 4, 7]] = 2  # two tokens each, always before the same
    counts = np.vstack([counts, rare])
    rows = len(Q)
    *_, fooled = pivot_decomposition(counts, 4, method="left", return_diagnostics=True)
    assert max(fooled["anchors"]) >= rows
    *found, about = pivot_decomposition(
        counts, 4, method="left", min_weight=1000, return_diagnostics=True
    )
    assert max(about["anchors"]) < rows
    found[1] = found[1][:, :rows]
    assert error(found, truth) < 0.02
    assert min(about["separations"]) > 0.1


def test_a_ridge_keeps_isolated_rare_pairs_from_taking_a_state():
    Q = np.zeros((22, 22))
    Q[:20, :20] = 1000 * joint(*model(3, 0, d=20, d2=20))
    Q[20, 20] = Q[21, 21] = 0.01  # they occur only with each other
    assert np.allclose(pivot_states(Q, 2).singular_values, 1)
    states = pivot_states(Q, 3, ridge=1.0)
    assert states.singular_values[1] < 0.99
    assert states.prior.min() > 0.01


def test_bad_matrices():
    Q = joint(*model(3, 0))
    with pytest.raises(ParameterError, match="rank 3; use 3 or less"):
        pivot_decomposition(Q, 5)
    with pytest.raises(ParameterError, match="m must be a whole number from 1 to 14, not"):
        pivot_decomposition(Q, 15)
    with pytest.raises(ParameterError, match="none below 0"):
        pivot_decomposition(-Q, 3)
    with pytest.raises(ParameterError, match="none below 0"):
        pivot_decomposition(Q * 0, 3)
    with pytest.raises(ParameterError, match=r"only \d rows .* lower min_weight"):
        pivot_decomposition(Q, 3, min_weight=Q.sum(axis=1).max())
    with pytest.raises(ParameterError, match="'pivots' or 'left'"):
        pivot_decomposition(Q, 3, method="right")


def test_examples():
    failed, tried = doctest.testmod(sys.modules["eigentext.factor.anchors"])
    assert (failed, tried > 0) == (0, True)
