"""EM for conditional mixtures: a dense twin, the law that it never falls, equal bits."""

import doctest
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from eigentext import engine
from eigentext.factor.mixture import ConditionalMixture, pair_scores, posteriors, proportions


def random_problem(seed, d=12, d2=9, m=5, dtype=np.float64):
    rng = np.random.default_rng(seed)
    C = rng.poisson(0.7, (d, d2)).astype(np.float64)
    r, s = rng.dirichlet(np.ones(m), d), rng.dirichlet(np.ones(d2), m).T
    return C, np.ascontiguousarray(r, dtype), np.ascontiguousarray(s, dtype)


def dense_expect(C, r, s):
    """The formulas of the module, on whole matrices."""
    P = r @ s.T
    X = C / P
    return r * (X @ s), s * (X.T @ r), (C * np.log(P)).sum()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("m", [1, 3, 8, 21])
def test_expected_counts_are_those_of_dense_matrices(m, dtype):
    C, r, s = random_problem(m, m=m, dtype=dtype)
    found = ConditionalMixture(C, dtype).expect(r, s)
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    for one, other in zip(found, dense_expect(C, r.astype(float), s.astype(float))):
        assert np.allclose(one, other, rtol=tolerance)
    assert found[0].dtype == found[1].dtype == dtype
    assert len(ConditionalMixture(C, dtype).expect(r, s, right=False)[1]) == 0


def test_ratios_are_in_the_order_of_the_counts():
    C, r, s = random_problem(0)
    mixture = ConditionalMixture(sp.coo_array(C))
    ratios, _, _ = mixture.ratios(r, s)
    X = sp.csr_array((ratios, mixture.counts.indices, mixture.counts.indptr), C.shape)
    assert np.allclose(X.toarray(), C / (r @ s.T))


def test_pairs_of_probability_zero():
    r, s = np.eye(2), np.eye(2)
    left, right, total = ConditionalMixture(np.array([[2.0, 1.0], [0.0, 3.0]])).expect(r, s)
    assert total == -np.inf
    assert np.array_equal(left, [[2, 0], [0, 3]])
    assert np.array_equal(right, [[2, 0], [0, 3]])
    scores = pair_scores(np.array([0, 0]), np.array([0, 1]), r, s)
    assert np.array_equal(scores, [0, -np.inf])


@given(st.integers(0, 1000))
def test_likelihood_never_falls_and_counts_are_kept(seed):
    C, r, s = random_problem(seed)
    mixture = ConditionalMixture(C)
    before = -np.inf
    for _ in range(5):
        left, right, total = mixture.expect(r, s)
        assert total >= before - 1e-9 * abs(total)
        assert np.allclose(left.sum(axis=1), C.sum(axis=1))
        assert np.allclose(right.sum(axis=1), C.sum(axis=0))
        r = left / np.maximum(left.sum(axis=1, keepdims=True), 1e-300)
        s = right / right.sum(axis=0)
        before = total


def test_scores_of_pairs():
    _, r, s = random_problem(3)
    fs, gs = np.array([0, 5, 11, 0]), np.array([8, 2, 0, 8])
    assert np.allclose(np.exp(pair_scores(fs, gs, r, s)), (r @ s.T)[fs, gs])
    assert pair_scores(fs[:0], gs[:0], r, s).shape == (0,)


def test_same_bits_on_any_number_of_threads():
    C, r, s = random_problem(0, 300, 200, 40, np.float32)
    results = []
    for threads in (1, 2, 5):
        with engine.use(engine.ThreadEngine(threads)):
            results.append(ConditionalMixture(C, np.float32).expect(r, s))
    for other in results[1:]:
        assert all(np.array_equal(one, two) for one, two in zip(results[0], other))


def test_examples():
    module = sys.modules["eigentext.factor.mixture"]
    failed, tried = doctest.testmod(module)
    assert (failed, tried > 0) == (0, True)


def sample(K=4, d=30, n=200, length=40, alpha=0.2, seed=0):
    """Topics, proportions and documents."""
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(d, 0.2), K)
    theta = rng.dirichlet(np.full(K, alpha), n)
    return phi, theta, sp.csr_array(rng.multinomial(length, theta @ phi))


@pytest.mark.parametrize("alpha", [0.05, 0.7, 3.0])
def test_proportions_are_the_maximum(alpha):
    phi, _, X = sample(n=5)
    prior = np.full(4, alpha) * [1, 2, 0.5, 1]
    theta = proportions(X, phi, prior, tol=1e-6)
    for row, counts in zip(theta, X.toarray()):

        def loss(a, counts=counts):
            t = np.exp(a - np.logaddexp.reduce(a))
            return -counts @ np.log(t @ phi) - prior @ np.log(t)

        best = minimize(loss, np.zeros(4), tol=1e-12)
        assert loss(np.log(row)) == pytest.approx(best.fun, abs=1e-3)


def test_every_step_rises():
    phi, _, X = sample(n=30)
    prior = np.full(4, 0.3)

    def objective(theta):
        return (X.toarray() * np.log(theta @ phi)).sum() + (prior * np.log(theta)).sum()

    values = [objective(proportions(X, phi, prior, n_iter=n, tol=0)) for n in range(12)]
    assert (np.diff(values) > 0).all()


def test_posterior_of_one_topic():
    """Bayes' rule in probabilities, where they do not vanish."""
    phi, _, X = sample(n=20, length=5)
    phi = 0.99 * phi + 0.01 / 30
    weights = np.array([0.4, 0.3, 0.2, 0.1])
    joint = weights * np.prod(phi[None] ** X.toarray()[:, None, :], axis=2)
    expected = joint / joint.sum(axis=1, keepdims=True)
    found, logs = posteriors(X, phi, weights)
    assert np.allclose(found, expected)
    assert np.allclose(logs, np.log(joint.sum(axis=1)))
    long = posteriors(X * 1000, phi, weights)[0]
    assert np.allclose(long.sum(axis=1), 1)


def test_posterior_of_what_no_topic_has():
    phi, weights = np.array([[1.0, 0], [1, 0]]), np.array([0.3, 0.7])
    found, logs = posteriors(np.array([[0, 1], [1, 0]]), phi, weights)
    assert np.allclose(found, [[0.3, 0.7], [0.3, 0.7]])
    assert logs[0] == -np.inf
    assert abs(logs[1]) < 1e-12


def test_a_word_of_no_topic_says_nothing():
    phi, _, X = sample(n=50)
    prior = np.full(4, 0.3)
    more = sp.hstack([X, np.ones((50, 1), int)], "csr")
    wider = proportions(more, np.pad(phi, ((0, 0), (0, 1))), prior, tol=0)
    assert np.array_equal(wider, proportions(X, phi, prior, tol=0))
    nothing = proportions(sp.csr_array([[0, 2]]), np.array([[1.0, 0], [1, 0]]), np.array([1, 3]))
    assert nothing.tolist() == [[0.25, 0.75]]


def test_what_a_row_gets_does_not_depend_on_the_others():
    phi, _, X = sample(n=40)
    prior = np.full(4, 0.3)
    whole = proportions(X, phi, prior)
    for i in (0, 7, 39):
        assert np.array_equal(proportions(X[[i]], phi, prior)[0], whole[i])


def test_proportions_are_those_of_dense_steps():
    phi, _, X = sample(n=10)
    prior = np.array([0.1, 0.2, 0.3, 0.4])
    theta = np.tile(prior, (10, 1))
    for _ in range(7):
        expected, _, _ = dense_expect(X.toarray(), theta, phi.T)
        theta = (expected + prior) / (expected + prior).sum(axis=1, keepdims=True)
    assert np.allclose(proportions(X, phi, prior, n_iter=7, tol=0), theta, atol=1e-12)
