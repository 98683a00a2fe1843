"""Moments of words with a second view, beside sums over all pairs of positions."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigentext.moments.bags import BagMoments
from eigentext.moments.second_views import SecondView


def _documents(seed=0, n=12, d=5, q=3):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.7, (n, d))
    counts[0], counts[1] = 0, np.eye(d, dtype=int)[2]  # without words, and with one
    return counts, rng.normal(size=(n, q)), rng.random(n) < 0.8, rng.uniform(0.5, 2, n)


def _by_positions(counts, rows, present, weights):
    """E[x z'] and E[x1 x2 z] by their definition."""
    d, q = counts.shape[1], rows.shape[1]
    cross, triples, ones, pairs = np.zeros((d, q)), np.zeros((d, d, q)), 0.0, 0.0
    for c, z, here, weight in zip(counts, rows, present, weights):
        words = np.repeat(np.eye(d), c, axis=0)
        n = len(words)
        if here and n:
            ones += weight
            cross += weight * np.outer(words.mean(axis=0), z)
        if here and n > 1:
            pairs += weight
            both = [np.outer(words[i], words[j]) for i in range(n) for j in range(n) if i != j]
            triples += weight * np.mean(both, axis=0)[:, :, None] * z
    return cross / ones, triples / pairs


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_moments_are_means_over_distinct_positions(form):
    counts, rows, present, weights = _documents()
    view = SecondView(BagMoments(counts, weights), form(rows), present)
    cross, triples = _by_positions(counts, rows, present, weights)
    rng = np.random.default_rng(1)
    W, P = rng.normal(size=(5, 4)), rng.normal(size=(3, 2))
    assert np.allclose(view.cross(P), cross @ P, atol=1e-12)
    assert np.allclose(view.cross_back(W), cross.T @ W, atol=1e-12)
    assert np.allclose(
        view.triples(W, P), np.einsum("abc,ai,bj,ck->ijk", triples, W, W, P), atol=1e-12
    )
    assert view.n_columns == 3


def test_nothing_present_gives_zeros():
    counts, rows, _, weights = _documents()
    view = SecondView(BagMoments(counts, weights), rows, np.zeros(len(rows), bool))
    assert not view.cross(np.eye(3)).any()
    assert not view.triples(np.eye(5), np.eye(3)).any()
