"""Coordinates of head words: principal axes, the same for all orders of axes and signs."""

import numpy as np
import pytest

import eigentext as et
from eigentext.errors import ParameterError
from eigentext.reranking.head_vectors import HeadVectors

WORDS = [f"w{n}" for n in range(40)]
MATRIX = np.random.default_rng(0).normal(size=(40, 6)) * [5, 4, 3, 2, 1, 0.5]


def test_coordinates_are_principal_axes_of_equal_variance():
    vectors = HeadVectors.of((WORDS, MATRIX), n_axes=3)
    found = vectors.coordinates[:-1].astype(float)
    np.testing.assert_allclose(found.T @ found / 40, 0.25 * np.eye(3), atol=1e-6)
    unit = MATRIX / np.linalg.norm(MATRIX, axis=1, keepdims=True)
    unit -= unit.mean(axis=0)
    u, _, _ = np.linalg.svd(unit, full_matrices=False)
    near = np.abs(u[:, :3].T @ found) / np.sqrt(40)
    np.testing.assert_allclose(near, 0.5 * np.eye(3), atol=1e-5)


def test_lengths_of_vectors_do_not_matter():
    one, other = HeadVectors.of((WORDS, MATRIX)), HeadVectors.of((WORDS, 7 * MATRIX))
    np.testing.assert_allclose(one.coordinates, other.coordinates, atol=1e-5)


def test_words_are_looked_up_in_several_spellings():
    vectors = HeadVectors.of((["Ann", "sleeps", "Ann"], np.eye(3)))
    assert [vectors.row(word) for word in ("ann", "Sleeps", "x")] == [0, 1, 2]
    assert not vectors.coordinates[2].any()


def test_models_and_pairs_are_the_same():
    model = et.Eigenwords.from_vectors(WORDS, MATRIX)
    one, other = HeadVectors.of(model), HeadVectors.of((WORDS, model.vectors_))
    assert (one.coordinates == other.coordinates).all()


def test_vectors_without_anything():
    with pytest.raises(ParameterError, match="all zero"):
        HeadVectors.of(([], np.zeros((0, 2))))
