"""The compiled loops of the distribution over trees against their slow twins."""

from itertools import pairwise

import numpy as np
import pytest

from eigentext.grammars.chart._posterior_loops import log_weights, push_down


@pytest.mark.parametrize("beta", [0.4, 1.0, 2.0])
@pytest.mark.parametrize("seed", range(5))
def test_weights_and_shares(seed, beta):
    """Six leaves, then items with one to three edges to items before them."""
    rng = np.random.default_rng(seed)
    sizes = np.concatenate((np.zeros(6, int), rng.integers(1, 4, 8)))
    bounds = np.concatenate(([0], np.cumsum(sizes)))
    owner = np.repeat(np.arange(14), sizes)
    left, right = rng.integers(owner), rng.integers(owner)
    scores = np.exp(3 * rng.normal(size=len(owner)))
    scores[bounds[8] : bounds[9]] = 0.0  # then all edges of an item have equal shares
    shares = np.empty(len(owner))
    sums = log_weights(bounds, left, right, scores, beta, shares)
    Z, c = np.ones(14), np.empty(len(owner))
    for i, (a, b) in enumerate(pairwise(bounds)):
        if a < b:
            total = scores[a:b].sum()
            q = scores[a:b] / total if total > 0 else np.full(b - a, 1 / (b - a))
            weights = q**beta * Z[left[a:b]] * Z[right[a:b]]
            Z[i], c[a:b] = weights.sum(), weights / weights.sum()
    np.testing.assert_allclose(np.exp(sums), Z, rtol=1e-9)
    np.testing.assert_allclose(np.exp(shares), c, rtol=1e-9)
    found, expected = np.zeros(14), np.zeros(14)
    found[-1] = expected[-1] = 1.0
    push_down(bounds, left, right, shares, found)
    for i in range(13, -1, -1):
        for e in range(bounds[i], bounds[i + 1]):
            expected[left[e]] += expected[i] * c[e]
            expected[right[e]] += expected[i] * c[e]
    np.testing.assert_allclose(found, expected, rtol=1e-9)
