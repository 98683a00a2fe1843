import numpy as np
import pytest

from eigentext.explorer.maps import word_map


def _classes(n_words: int, n_classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(n_classes, 20))
    label = rng.integers(0, n_classes, n_words)
    X = centers[label] + 0.3 * rng.normal(size=(n_words, 20))
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32), label


def test_neighbors_on_the_map_are_of_one_class():
    X, label = _classes(400, 8)
    at, cluster = word_map(X)
    squared = np.square(at[:, None] - at[None]).sum(axis=2)
    np.fill_diagonal(squared, np.inf)
    assert (label[squared.argmin(axis=1)] == label).mean() > 0.95
    assert 1 < cluster.max() + 1 <= 12


def test_the_map_is_within_its_square_and_the_same_each_time():
    X, _ = _classes(300, 5)
    at, cluster = word_map(X)
    assert 0.9 < np.abs(at).max() <= 1
    again = word_map(X)
    assert np.array_equal(at, again[0])
    assert np.array_equal(cluster, again[1])


@pytest.mark.parametrize("shape", [(2, 1), (3, 5), (12, 1), (11, 3)])
def test_few_words_and_few_dimensions_have_a_map_too(shape):
    at, cluster = word_map(np.random.default_rng(0).normal(size=shape))
    assert at.shape == (shape[0], 2)
    assert np.isfinite(at).all()
    assert len(cluster) == shape[0]


def test_equal_vectors_have_a_map():
    at, _ = word_map(np.ones((30, 4)))
    assert np.isfinite(at).all()
