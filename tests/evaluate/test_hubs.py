"""Hubs are counted as a slow count does, and local scaling reduces them."""

import numpy as np
import pytest

import eigentext as et
from eigentext.errors import ParameterError
from eigentext.evaluate import hubness


def cone(n=300, dimensions=40, seed=0):
    """Vectors around a common direction: those in the middle are hubs."""
    rng = np.random.default_rng(seed)
    spread = rng.gamma(2.0, 1.0, size=(n, 1))
    return np.eye(1, dimensions) * 3 + spread * rng.normal(size=(n, dimensions)) / np.sqrt(40)


def test_counts_are_those_of_a_slow_count():
    V = cone(60)
    unit = V / np.linalg.norm(V, axis=1, keepdims=True)
    C = unit @ unit.T
    np.fill_diagonal(C, -np.inf)
    lists = np.argsort(-C, axis=1)[:, :5]
    counts = np.array([(lists == place).sum() for place in range(60)])
    found = hubness((list(map(str, range(60))), V), k=5)
    assert found.largest[0][1] == counts.max()
    assert found.never == pytest.approx((counts == 0).mean())
    assert found.skewness == pytest.approx(((counts - 5) ** 3).mean() / counts.std() ** 3)


def test_equal_neighbors_have_no_skewness():
    angles = 2 * np.pi * np.arange(12) / 12
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    assert abs(hubness((list("abcdefghijkl"), circle), k=2).skewness) < 1e-12


def test_local_scaling_reduces_hubs():
    V = cone()
    words = list(map(str, range(len(V))))
    plain, reduced = hubness((words, V)), hubness((words, V), reduced=True)
    assert reduced.skewness < plain.skewness and reduced.never < plain.never
    assert reduced.largest[0][1] < plain.largest[0][1] / 2
    model = et.Eigenwords.from_vectors(words, V)
    hub = plain.largest[0][0]

    def lists(**how):
        found = model.most_similar(words, 10, **how)
        assert all(len(near) == 10 for near in found)
        return sum(hub in dict(near) for near in found)

    assert lists(reduce_hubs=True) < lists()
    near = model.most_similar("7", 5, reduce_hubs=True)
    assert dict(near)[near[0][0]] == pytest.approx(model.similarity("7", near[0][0]), abs=1e-5)


def test_too_few_words():
    with pytest.raises(ParameterError, match="lower k"):
        hubness((["a", "b"], np.eye(2)), k=10)
