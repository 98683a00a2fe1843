"""EM of two views: known posteriors, the loss of joining topics, and what tempering means."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigentext.topics.two_view_em import (
    NumberView,
    TwoViewEM,
    TwoViewState,
    WordView,
    number_scores,
    posteriors,
    refine_views,
    shrunk,
    tempered,
    with_spares,
    word_scores,
)


def _data(n=60, seed=0):
    rng = np.random.default_rng(seed)
    h = rng.integers(0, 3, n)
    phi = np.full((3, 9), 0.02) + np.kron(np.eye(3), np.full(3, 0.3))
    counts = np.array([rng.multinomial(12, phi[k] / phi[k].sum()) for k in h])
    rows = rng.normal(size=(n, 4)) + 3 * np.eye(3, 4)[h]
    return sp.csr_array(counts), (rows - rows.mean(axis=0)) / rows.std(axis=0), h


def test_word_scores_are_log_likelihoods_with_the_root_of_the_length():
    X, _, _ = _data()
    phi = np.random.default_rng(1).dirichlet(np.ones(9), 3)
    dense = X.toarray()
    expected = dense @ np.log(phi).T / np.sqrt(dense.sum(axis=1, keepdims=True))
    assert np.allclose(word_scores(X, phi), expected)
    assert (word_scores(sp.csr_array((2, 9)), phi) == 0).all()
    assert tempered(np.array([0, 1, 4])).tolist() == [0.0, 1.0, 0.5]


def test_number_scores_are_gaussian_up_to_what_topics_share():
    from scipy.stats import multivariate_normal

    _, rows, _ = _data()
    rng = np.random.default_rng(2)
    means, S = rng.normal(size=(3, 4)), shrunk(np.cov(rng.normal(size=(4, 30))))
    found = number_scores(rows, {"means": means, "covariance": S})
    expected = np.array([multivariate_normal(m, S).logpdf(rows) for m in means]).T
    assert np.allclose(found - found[:, :1], expected - expected[:, :1])


def test_a_shrunk_covariance_is_positive_and_has_the_same_variance():
    C = np.diag([4.0, 1.0, 0.0])
    assert np.trace(shrunk(C)) == pytest.approx(5.0)
    assert np.linalg.eigvalsh(shrunk(C)).min() > 0
    assert np.linalg.eigvalsh(shrunk(-C)).min() > 0  # noise may make it negative


def test_posteriors_of_documents_without_views_are_zero_in_em():
    X, _, _ = _data()
    X = sp.csr_array(sp.vstack([X, sp.csr_array((1, 9))]))
    em = TwoViewEM(WordView(X, 0.1), WordView(X, 0.1), 1.0)
    state = TwoViewState(np.full(3, 1 / 3), *[{"components": np.full((3, 9), 1 / 9)}] * 2)
    R = em.expect(state)
    assert np.allclose(R[:-1].sum(axis=1), 1)
    assert (R[-1] == 0).all()
    assert np.allclose(posteriors(np.array([0.7, 0.3]), [np.zeros((1, 2))]), [[0.7, 0.3]])


@pytest.mark.parametrize("view", ["words", "numbers"])
def test_losses_are_differences_of_the_likelihood(view):
    X, rows, h = _data()
    R = np.eye(3)[h]
    one = WordView(X, 0.0) if view == "words" else NumberView(rows)
    known = one.maximized(R)

    def likelihood(R):
        """Of hard clusters, tempered; the covariance stays as it is."""
        if view == "words":
            E = one.sums(R, known)
            logs = np.log(np.where(E > 0, E, 1) / E.sum(axis=1, keepdims=True))
            return (E * np.where(E > 0, logs, 0)).sum()
        means = (R.T @ rows) / R.sum(axis=0)[:, None]
        gaps = rows - R @ means
        return -(gaps * np.linalg.solve(known["covariance"], gaps.T).T).sum() / 2

    sums = one.sums(R, known)
    for i, j in ((0, 1), (1, 2)):
        joined = np.delete(R, j, axis=1)
        joined[:, i] += R[:, j]
        lost = likelihood(R) - likelihood(joined)
        assert one.losses(sums, i)[j] == pytest.approx(lost)
        assert one.losses(sums, i)[i] >= -1e-9 or view == "numbers"


def test_joining_keeps_all_documents_and_joins_what_is_alike():
    X, rows, h = _data()
    R = np.column_stack([np.eye(3)[h], np.zeros(len(h))])
    halves = np.flatnonzero(h == 1)[::2]
    R[halves, 1], R[halves, 3] = 0, 1  # topic 1 was split at random
    em = TwoViewEM(WordView(X, 0.1), NumberView(rows), 1.0)
    joined = em.join(R.copy(), 3)
    assert np.allclose(joined, np.eye(3)[h])
    assert with_spares(1) == 1
    assert with_spares(20) == 30


def test_em_finds_the_topics_from_a_poor_start():
    X, rows, h = _data(200)
    em = TwoViewEM(WordView(X, 0.1), NumberView(rows), 1.0)
    rng = np.random.default_rng(0)
    start = em.maximize(rng.dirichlet(np.ones(5), len(h)))
    state, R, changes = refine_views(em, start, 3, n_steps=30)
    table = np.zeros((3, 3))
    np.add.at(table, (R.argmax(axis=1), h), 1)
    assert table.max(axis=1).sum() > 0.95 * len(h)
    assert changes[-1] < 1e-3
    assert state.weights.sum() == pytest.approx(1)
