"""Topics by tensors: exact moments give exact topics, and outlier documents do not make topics."""

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from eigentext import engine
from eigentext.moments.bags import BagMoments
from eigentext.topics.tensor import (
    _centered_pairs,
    _centered_triples,
    robust_weights,
    tensor_topics,
)


@pytest.mark.parametrize("alpha0", [0.0, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("solver", ["power", "diagonal"])
@pytest.mark.parametrize("descend", [False, True])
@pytest.mark.parametrize(("K", "d"), [(1, 5), (2, 3), (3, 20), (6, 60), (10, 200)])
def test_exact_moments_give_exact_topics(random_topics, matched, alpha0, solver, descend, K, d):
    for seed in range(2):
        truth = random_topics(K, d, alpha0, seed)
        found = tensor_topics(truth, K, alpha0=alpha0, solver=solver, descend=descend)
        order, _ = matched(truth.topics, found.components)
        assert np.abs(found.components[order] - truth.topics).max() < 1e-8
        assert np.abs(found.weights[order] - truth.weights).max() < 1e-8
        assert found.residual < 1e-8


@pytest.mark.parametrize("alpha0", [0.0, 0.5, 3.0])
def test_identities_of_the_moments(random_topics, alpha0):
    """A and T are sums over topics, with the weights of Anandkumar et al. (2014) in alpha_i."""
    truth = random_topics(4, 9, alpha0)
    A = _centered_pairs(truth, alpha0, np.ones(9)).times(np.eye(9))
    T = _centered_triples(truth, alpha0, np.eye(9))
    mu, w, a = truth.topics, truth.weights, alpha0
    pairs = np.einsum("r,ri,rj->ij", w, mu, mu) / (a + 1)
    triples = 2 * np.einsum("r,ri,rj,rk->ijk", w, mu, mu, mu) / ((a + 2) * (a + 1))
    if alpha0:  # the weights in terms of alpha_i
        alpha = a * w
        assert np.allclose(pairs, np.einsum("r,ri,rj->ij", alpha / ((a + 1) * a), mu, mu))
        heavy = 2 * alpha / ((a + 2) * (a + 1) * a)
        assert np.allclose(triples, np.einsum("r,ri,rj,rk->ijk", heavy, mu, mu, mu))
    assert np.allclose(A, pairs, atol=1e-14)
    assert np.allclose(T, triples, atol=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_the_seed_does_not_change_the_answer(random_topics, matched, seed):
    truth = random_topics(8, 50, 1.0)
    found = tensor_topics(truth, 8, alpha0=1.0, random_state=seed)
    order, _ = matched(truth.topics, found.components)
    assert np.abs(found.components[order] - truth.topics).max() < 1e-8


def test_too_many_topics(random_topics, matched):
    """The rank of the pair moment is the number of topics."""
    truth = random_topics(3, 20, 1.0)
    found = tensor_topics(truth, 7, alpha0=1.0)
    assert found.whitening.rank == len(found.weights) == 3
    _, l1 = matched(truth.topics, found.components)
    assert l1.max() < 1e-8


@pytest.mark.parametrize("alpha0", [0.0, 1.0])
def test_error_falls_as_documents_grow(random_topics, matched, alpha0):
    """The error falls by about sqrt(16) = 4."""
    truth = random_topics(4, 30, alpha0)
    errors = []
    for n in (2_000, 32_000):
        found = tensor_topics(BagMoments(truth.draw(n, 20)), 4, alpha0=alpha0)
        errors.append(matched(truth.topics, found.components)[1].mean())
    assert 2.5 < errors[0] / errors[1] < 6.5


def with_outliers(X, n_outliers=3):
    """Add documents in which one word occurs 400 times, like bytes that were read as words."""
    rng = np.random.default_rng(1)
    n, d = X.shape
    outliers = np.zeros((n_outliers, d + 2 * n_outliers), int)
    for i in range(n_outliers):
        outliers[i, d + 2 * i : d + 2 * i + 2] = 400
        outliers[i, rng.choice(d, 5)] += 1
    return sp.vstack([sp.hstack([X, sp.csr_array((n, 2 * n_outliers))]), outliers]).tocsr()


def test_outliers_make_topics_unless_they_lose_weight(random_topics, matched):
    truth = random_topics(5, 60, 1.0)
    X = with_outliers(truth.draw(3000, 40))
    topics = np.pad(truth.topics, ((0, 0), (0, 6)))
    bags = BagMoments(X)
    plain = tensor_topics(bags, 5, alpha0=1.0)
    weights, _, n_reduced, scale, _ = robust_weights(bags, 5, alpha0=1.0, most=4.0)
    robust = tensor_topics(bags.reweighted(weights), 5, alpha0=1.0, scale=scale)
    assert matched(topics, plain.components)[1].max() > 1
    assert matched(topics, robust.components)[1].max() < 0.3
    assert weights[-3:].max() < 0.05
    assert 3 <= n_reduced < 100


def test_documents_of_the_model_keep_their_weight(random_topics):
    truth = random_topics(5, 60, 0.0)
    bags = BagMoments(truth.draw(3000, 40))
    weights, _, n_reduced, _, _ = robust_weights(bags, 5, alpha0=0.0, most=10.0)
    assert n_reduced == 0
    assert (weights == 1).all()


def test_same_bits_on_any_number_of_threads(random_topics):
    X = with_outliers(random_topics(5, 600, 1.0).draw(3000, 40))
    found = []
    for n_threads in (1, 2, 8):
        with engine.use(engine.ThreadEngine(n_threads)):
            bags = BagMoments(X)
            weights, _, _, scale, start = robust_weights(bags, 5, alpha0=1.0, most=4.0)
            found.append(
                tensor_topics(
                    bags.reweighted(weights), 5, alpha0=1.0, scale=scale, start=start
                ).components
            )
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_same_bits_on_any_number_of_blas_threads(random_topics):
    bags = BagMoments(random_topics(5, 2000, 1.0).draw(3000, 40))
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, "blas"):
            weights, _, _, scale, start = robust_weights(bags, 5, alpha0=1.0, most=4.0)
            weighed = bags.reweighted(weights)
            found.append(tensor_topics(weighed, 5, alpha0=1.0, scale=scale, start=start).components)
    assert np.array_equal(found[0], found[1])
