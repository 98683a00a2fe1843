"""Exact whitening: the same as canonical correlation analysis, and the identity as covariance."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigentext.factor.cca import CCA
from eigentext.grammars.learning.spectral import scaled
from eigentext.grammars.learning.whitening import canonical_directions, whitening


def one_of_each(sizes, n, rng):
    """Rows with one feature of each template."""
    parts = [sp.csr_array(np.eye(size)[rng.integers(size, size=n)]) for size in sizes]
    return sp.csr_array(sp.hstack(parts))


def related(n=400, seed=0):
    """Two views with something in common."""
    rng = np.random.default_rng(seed)
    state = rng.integers(3, size=n)
    noisy = np.where(rng.random(n) < 0.7, state, rng.integers(3, size=n))
    views = []
    for sizes, known in (((4, 5), state), ((3, 6), noisy)):
        views.append(sp.csr_array(sp.hstack((one_of_each(sizes, n, rng), np.eye(3)[known]))))
    return *views, rng.integers(1, 4, size=n).astype(float)


@pytest.mark.parametrize("kappa", [1.0, 5.0, 50.0])
def test_it_is_canonical_correlation_analysis(kappa):
    phi, psi, w = related()
    repeated = np.repeat(np.arange(len(w)), w.astype(int))  # a weight is a number of rows
    X, Y = phi.toarray()[repeated], psi.toarray()[repeated]
    cca = CCA(3, regularization=kappa / w.sum(), center=False).fit(X, Y)
    both = [whitening(view, w, kappa) for view in (phi, psi)]
    U, s, V = canonical_directions(phi, psi, w, *both, 3)
    np.testing.assert_allclose(s, cca.correlations_, rtol=1e-9)
    for found, right in ((U, cca.x_weights_), (V, cca.y_weights_)):
        signs = np.sign((found * right).sum(axis=0))
        np.testing.assert_allclose(signs * found, right, atol=1e-8)


def test_whitened_features_have_the_identity_as_covariance():
    phi, _, w = related()
    phi = phi[:, :-4]  # without the last feature of a template, nothing is redundant but one sum
    T = whitening(phi[:, 1:], w, kappa=0.0).times(np.eye(phi.shape[1] - 1))
    white = phi[:, 1:] @ T
    C = (white * w[:, None]).T @ white / w.sum()
    assert np.linalg.eigvalsh(C).max() == pytest.approx(1, abs=1e-4)
    assert np.sum(np.linalg.eigvalsh(C) > 0.99) >= len(C) - 1


def test_transposed_products():
    phi, _, w = related()
    rng = np.random.default_rng(1)
    T = whitening(phi, w, 5.0, 0.2, rng, most=6)
    matrix = T.times(np.eye(phi.shape[1]))
    np.testing.assert_allclose(T.transposed_times(np.eye(phi.shape[1])), matrix.T, atol=1e-12)


def test_features_beyond_the_most_frequent_are_scaled_one_by_one():
    phi, _, w = related()
    T = whitening(phi, w, 5.0, most=4)
    counts = phi.T @ w
    block = np.sort(np.argsort(-counts, kind="stable")[:4])
    matrix = T.times(np.eye(len(counts)))
    others = np.setdiff1d(np.arange(len(counts)), block)
    expected = np.sqrt(w.sum() / (counts + 5.0))
    np.testing.assert_allclose(matrix[np.ix_(others, others)], np.diag(expected[others]))
    assert not matrix[np.ix_(block, others)].any()
    C = (phi[:, block].T @ sp.diags_array(w) @ phi[:, block]).toarray() + 5.0 * np.eye(4)
    inner = matrix[np.ix_(block, block)]
    np.testing.assert_allclose(inner.T @ C @ inner / w.sum(), np.eye(4), atol=1e-12)


@pytest.mark.parametrize("kappa", [0.5, 5.0, np.inf])
def test_a_single_template_needs_no_covariances(kappa):
    rng = np.random.default_rng(0)
    phi, w = one_of_each((5,), 100, rng), np.ones(100)
    T = whitening(phi, w, kappa).times(np.eye(5))
    np.testing.assert_allclose((phi @ T), scaled(phi, w, kappa).toarray(), rtol=1e-12)
