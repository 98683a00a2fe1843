"""Inference with parameters and with operators. Most laws are tested with `HMM` itself."""

import numpy as np

from eigentext import HMM
from eigentext.corpus.symbols import UNKNOWN
from eigentext.sequences.forms import Operators
from eigentext.sequences.inference import best_path, filtered, filtered_states, next_symbols

# Parameters.


def test_distribution_and_operator(random_hmm):
    model = random_hmm(3, 5)._model
    assert np.allclose(
        next_symbols(model), [model.operator(x).sum(axis=0) @ model.initial for x in range(5)]
    )
    state = np.array([0.2, 0.5, 0.3])
    assert np.allclose(next_symbols(model, state), model.emission @ (model.transition.T @ state))


def test_the_best_path_of_strange_sequences():
    hmm = HMM.from_parameters([1, 0], [[0, 1], [1, 0]], [[1, 0, 0], [0, 1, 0]])
    model = hmm._model
    path, value = best_path(model, np.array([0, 1, 0], np.int32))
    assert (path.tolist(), value) == ([0, 1, 0], 0.0)
    path, value = best_path(model, np.array([0, -2, 0], np.int32))  # unknown
    assert (path.tolist(), value) == ([0, 1, 0], -np.inf)
    assert best_path(model, np.array([0, 0], np.int32))[1] == -np.inf
    path, value = best_path(model, np.zeros(0, np.int32))
    assert (len(path), value) == (0, 0.0)


# Operators.


def test_negative_probabilities_are_repaired():
    rows = np.array([[0.9, 0.3], [0.4, -0.2], [-0.3, 0.9]])
    model = Operators(
        start=np.array([1.0, 0.0]),
        end=np.ones(2),
        rows=rows,
        after=np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]),
        places=np.full(3, -1, np.int32),
        operators=np.zeros((0, 2, 2)),
        floors=np.array([0.05, 0.03, 0.02]),
    )
    assert np.allclose(next_symbols(model), np.array([0.9, 0.4, 0.02]) / 1.32)
    assert np.allclose(next_symbols(model, np.array([0.0, 1.0])), np.array([0.3, 0.03, 0.9]) / 1.23)
    logs, states, repairs, _ = filtered(model, np.array([2, 1, 0, UNKNOWN], np.int32))
    assert np.allclose(np.exp(logs[:2]), [0.02 / 1.32, 0.03 / 1.23])
    assert logs[3] == -np.inf
    assert np.allclose(states[:3], model.after[[2, 1, 0]])
    assert repairs == {"tokens": 4, "unknown": 1, "negative": 2, "floored": 2}


def test_states_alone_are_those_of_filtering(random_hmm):
    truth = random_hmm(3, 6)
    ids = np.array([0, 5, UNKNOWN, 2, 2], np.int32)
    for model in (truth._model, HMM(3).fit_moments(truth.moments())._model):
        assert np.array_equal(filtered_states(model, ids), filtered(model, ids).states)
