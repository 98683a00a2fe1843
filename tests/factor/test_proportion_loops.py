"""Proportions of documents: the plain maximum, the bound, same bits, and rows on their own."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigentext import engine
from eigentext.factor._proportion_loops import fit_documents, padded
from eigentext.factor.mixture import proportions


def problem(K=6, d=40, n=60, length=30, alpha=0.2, seed=0):
    rng = np.random.default_rng(seed)
    phi = 0.999 * rng.dirichlet(np.full(d, 0.15), K) + 0.001 / d
    theta = rng.dirichlet(np.full(K, alpha), n)
    lengths = rng.poisson(length, n)
    X = np.array([rng.multinomial(m, p / p.sum()) for m, p in zip(lengths, theta @ phi)])
    return sp.csr_array(X.astype(float)), phi, np.full(K, alpha) * rng.uniform(0.5, 2, K)


def plain_twin(X, phi, alpha, n_steps=20_000):
    """EM alone, with dense matrices, for a very long time."""
    X = X.toarray()
    theta = np.tile(alpha / alpha.sum(), (len(X), 1))
    for _ in range(n_steps):
        theta = alpha + theta * ((X / (theta @ phi)) @ phi.T)
        theta /= theta.sum(axis=1, keepdims=True)
    return theta


def objective(X, phi, alpha, theta):
    return (X.toarray() * np.log(theta @ phi)).sum(axis=1) + np.log(theta) @ alpha


@pytest.mark.parametrize(
    ("K", "alpha", "length"), [(1, 0.5, 20), (3, 1.5, 5), (6, 0.2, 30), (21, 0.02, 80)]
)
def test_the_maximum_is_that_of_plain_em(K, alpha, length):
    X, phi, prior = problem(K, length=length, alpha=alpha)
    expected = plain_twin(X, phi, prior)
    found = proportions(X, phi, prior, tol=1e-9)
    assert np.allclose(found.sum(axis=1), 1, atol=1e-12)
    assert np.abs(found - expected).max() < 1e-4
    assert (objective(X, phi, prior, found) >= objective(X, phi, prior, expected) - 1e-9).all()


@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-5])
def test_no_more_than_the_tolerance_is_left_to_gain(tol):
    X, phi, prior = problem(12, d=60, n=200, alpha=0.05, seed=1)
    best = objective(X, phi, prior, proportions(X, phi, prior, tol=1e-10))
    left = best - objective(X, phi, prior, proportions(X, phi, prior, tol=tol))
    assert (left <= tol * X.sum(axis=1) + 1e-9).all()
    assert (left >= -1e-9 * np.maximum(np.abs(best), 1)).all()


def test_rows_do_not_depend_on_others_or_threads():
    X, phi, prior = problem(9, n=300, seed=2)
    whole = proportions(X, phi, prior)
    for threads in (1, 3):
        with engine.use(engine.ThreadEngine(threads)):
            assert np.array_equal(proportions(X, phi, prior), whole)
    assert np.array_equal(proportions(X[17:19], phi, prior), whole[17:19])


def test_empty_rows_have_the_prior_and_impossible_words_do_not_count():
    _, phi, prior = problem(3, d=10)
    phi = np.hstack([phi, np.zeros((3, 1))])
    X = np.zeros((3, 11))
    X[1, -1], X[2, 0] = 5, 4
    found = proportions(X, phi, prior, tol=1e-10)
    assert np.allclose(found[:2], prior / prior.sum())
    X[2, -1] = 7
    assert np.allclose(proportions(X, phi, prior, tol=1e-10), found)


def test_without_a_prior_it_is_maximum_likelihood():
    phi = np.array([[0.8, 0.2, 0.0], [0.0, 0.3, 0.7], [0.8, 0.2, 0.0]])  # two topics are the same
    found = proportions(np.array([[8.0, 5.0, 7.0]]), phi, np.zeros(3), tol=1e-9)
    assert np.allclose([found[0, 0] + found[0, 2], found[0, 1]], 0.5, atol=1e-3)
    assert np.isfinite(found).all()


def test_very_long_and_very_short_documents():
    X, phi, prior = problem(8, d=50, n=20, length=40, alpha=0.1, seed=3)
    large = proportions(X * 1e6, phi, prior, tol=1e-7, n_iter=2000)
    assert np.isfinite(large).all() and (large > 0).all()
    ratio = (X.toarray() / (large @ phi)) @ phi.T  # the derivative, without the prior
    assert (ratio.max(axis=1) <= X.sum(axis=1) * (1 + 1e-5)).all()
    one = sp.csr_array(np.eye(50)[:5])
    assert np.abs(proportions(one, phi, prior, tol=1e-9) - plain_twin(one, phi, prior)).max() < 1e-5


def test_it_says_which_rows_need_more_steps():
    X, phi, prior = problem(seed=4)
    theta = padded(np.tile(prior / prior.sum(), (X.shape[0], 1)))
    s = padded(phi.T)
    data = (X.indptr, X.indices, X.data, s, prior, theta)
    assert fit_documents(*data, 1, 1e-6, 0, X.shape[0]) == X.shape[0]
    assert fit_documents(*data, 500, 1e-6, 0, X.shape[0]) == 0
    assert s.shape[1] == theta.shape[1] == 8
