"""The tree of merges: its costs add up to the inertia, and weights count as copies."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage

from eigentext.factor.merging import bit_strings, merge_to_root, running_set


def tree_of(X, weights):
    center = weights @ X / weights.sum()
    return merge_to_root(running_set((X - center) * weights[:, None], weights), len(X))


def test_it_is_the_method_of_ward():
    X = np.random.default_rng(0).normal(size=(12, 3))
    expected = linkage(X, "ward")
    found = tree_of(X, np.ones(12))
    assert np.allclose(found[:, 2], expected[:, 2] ** 2 / 2)
    assert np.array_equal(found[:, 3], expected[:, 3])


@pytest.mark.parametrize("seed", range(5))
def test_costs_never_fall_and_add_up_to_the_inertia(seed):
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(15, 4)), rng.uniform(0.01, 1, 15)
    costs = tree_of(X, weights)[:, 2]
    assert (np.diff(costs) >= -1e-12).all()
    center = weights @ X / weights.sum()
    assert costs.sum() == pytest.approx(weights @ np.square(X - center).sum(axis=1))


def test_a_weight_counts_as_copies():
    X = np.random.default_rng(1).normal(size=(6, 2))
    times = np.array([1, 3, 2, 1, 1, 2])
    copies = tree_of(np.repeat(X, times, axis=0), np.ones(times.sum()))
    assert np.allclose(tree_of(X, times.astype(float))[:, 2], copies[-5:, 2])


def test_one_cluster_and_bit_strings():
    assert tree_of(np.ones((1, 2)), np.ones(1)).shape == (0, 4)
    assert bit_strings(np.zeros((0, 4))) == [""]
    found = bit_strings(np.array([[0, 1, 1.0, 2], [3, 2, 2.0, 3]]))
    assert found == ["00", "01", "1"]
