"""The log-linear model: its gradient, its optimum; and the perceptron by hand."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigentext.reranking.bracket_model import (
    fit_logistic,
    fit_perceptron,
    logistic_loss,
    sigmoid,
)


@pytest.fixture
def examples():
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.poisson(0.4, (60, 7)).astype(float))
    return X, (rng.random(60) < 0.4).astype(float), rng.normal(size=60)


def test_the_gradient_is_that_of_finite_differences(examples):
    X, y, offset = examples
    w = np.random.default_rng(1).normal(size=7)
    _, gradient = logistic_loss(w, X, X.T.tocsr(), y, offset, 0.7)
    h = 1e-5
    for k in range(7):
        step = h * (np.arange(7) == k)
        up, down = (logistic_loss(w + s, X, X.T.tocsr(), y, offset, 0.7)[0] for s in (step, -step))
        assert gradient[k] == pytest.approx((up - down) / (2 * h), rel=1e-6, abs=1e-6)


def test_at_the_optimum_expected_features_are_those_of_right_brackets(examples):
    X, y, offset = examples
    w, _ = fit_logistic(X, y, offset, 0.5, 200)
    expected, found = X.T @ sigmoid(offset + X @ w), X.T @ y
    np.testing.assert_allclose(found - expected, 0.5 * w, atol=1e-3)


def test_a_large_penalty_leaves_the_base_model(examples):
    w, _ = fit_logistic(*examples, 1e9, 50)
    assert np.abs(w).max() < 1e-6


def test_the_logistic_function_does_not_overflow():
    np.testing.assert_allclose(sigmoid(np.array([-1e4, 0.0, 1e4])), [0.0, 0.5, 1.0])


def test_the_perceptron_by_hand():
    trees = sp.csr_array(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]))
    values = [np.array([0.5, 1.0]), np.array([0.5, 1.0])]
    borders = np.array([0, 2, 4])
    base = np.array([0.5, 0.0, 0.5, 0.0])
    weights, mistakes = fit_perceptron(trees, base, values, borders, margin=0.0, n_epochs=2)
    # The first step is a mistake, W = (-1, 1), and the three others are none. The mean is over the
    # four steps, and all have this W after them.
    assert mistakes == [1, 0]
    np.testing.assert_allclose(weights, [-1.0, 1.0])


def test_a_margin_gives_worse_trees_a_head_start():
    trees = sp.csr_array(np.eye(2))
    values, borders = [np.array([1.0, 0.0])], np.array([0, 2])
    base = np.array([1.0, 0.0])
    assert fit_perceptron(trees, base, values, borders, margin=0.5, n_epochs=1)[1] == [0]
    assert fit_perceptron(trees, base, values, borders, margin=2.0, n_epochs=1)[1] == [1]


def test_lists_without_a_choice_teach_nothing():
    trees, values = sp.csr_array(np.eye(3)), [np.array([0.5]), np.array([0.5, 0.5])]
    found = fit_perceptron(trees, np.zeros(3), values, np.array([0, 1, 3]), margin=1.0, n_epochs=3)
    assert found[1] == [0, 0, 0]
    assert not found[0].any()
