"""Perceptrons with and without validation, and the temperature of a twin."""

import numpy as np
import pytest

from eigentext.tagging.learning import (
    PerceptronSettings,
    temperature_by_twin,
    train_perceptrons,
)
from eigentext.tagging.perceptron import train
from eigentext.tagging.weights import TrainingProblem


@pytest.fixture
def problem(random_problem):
    drawn = random_problem(0, n_sentences=30)
    n, m = len(drawn.data.features), drawn.weights.W.shape[1]
    gold = drawn.rng.integers(0, m, n).astype(np.int32)
    start = drawn.weights._replace(T=np.zeros((m + 1, m), np.float32), end=np.zeros(m, np.float32))
    return TrainingProblem(drawn.data, drawn.places, drawn.widths, gold, start)


def test_without_validation_all_passes_count(problem):
    weights, found = train_perceptrons(problem, PerceptronSettings(4, 1, 0.0, 7), None)
    rng = np.random.default_rng(7)
    expected, epochs = train(problem, n_epochs=4, margin=0.0, rng=rng)
    for part, other in zip(weights, expected):
        np.testing.assert_array_equal(part, other)
    assert found["wrong_tags"] == [epoch.n_wrong_tags for epoch in epochs]
    assert "validation" not in found


def test_validation_chooses_the_number_of_passes(problem):
    scores = iter([0.1, 0.7, 0.2, 0.7])
    settings = PerceptronSettings(4, 1, 0.0, 7)
    weights, found = train_perceptrons(problem, settings, lambda weights: next(scores))
    assert found["validation"] == [0.1, 0.7, 0.2, 0.7]
    rng = np.random.default_rng(7)
    expected, _ = train(problem, n_epochs=2, margin=0.0, rng=rng)  # the first of the best
    np.testing.assert_array_equal(weights.W, expected.W)


def test_few_sentences_have_no_twin(problem):
    few = problem.data._replace(borders=problem.data.borders[:5])
    settings = PerceptronSettings(2, 1, 0.0, 0)
    assert temperature_by_twin(problem._replace(data=few), None, settings) == 1.0
