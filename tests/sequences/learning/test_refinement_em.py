"""EM of refinement HMMs: every step rises, and samples lead back to the truth."""

from itertools import product

import numpy as np
import pytest

from eigentext import engine
from eigentext.sequences.learning.refinement import clusters, project
from eigentext.sequences.learning.refinement_em import Parameters, Training, run
from sequences.refinement_truth import Truth, matrices, product_of


@pytest.fixture(scope="module")
def data():
    truth = Truth(2, 2, 4, seed=1)
    return truth, truth.stream_of(truth.sample(300))


def starts(training, stream, n_states):
    yield training.random_start(0)
    yield training.start_at(clusters(stream, project(stream, n_states), 0))


@pytest.mark.parametrize("smoothing", [0.0, 3.0])
def test_no_step_lowers_the_value(data, smoothing):
    _, stream = data
    for n_states in (np.array([2, 2]), np.array([3, 1])):
        training = Training(stream, n_states, smoothing)
        for start in starts(training, stream, np.array([2, 2])):
            if n_states[1] == 1:
                start = training.random_start(1)
            _, monitor = run(training, start, n_iter=30, tol=0.0)
            assert (np.diff(monitor.history) > -1e-12).all()
            assert monitor.history[-1] > monitor.history[0]


def test_parameters_are_distributions(data):
    _, stream = data
    training = Training(stream, np.array([3, 2]), 1.0)
    theta = training.maximize(training.expect(training.random_start(0)))
    totals = np.zeros((2, 3))
    np.add.at(totals, stream.pair_label, theta.o)
    np.testing.assert_allclose(totals[training.has[:2]], 1.0)
    left = np.zeros((3, 3))
    np.add.at(left, stream.bigrams[:, 0], theta.t.sum(axis=2))
    np.testing.assert_allclose(left[training.has], 1.0)
    assert (theta.o[~training.has[stream.pair_label]] == 0).all()


def test_the_likelihood_is_that_of_all_states(data):
    _, stream = data
    training = Training(stream, np.array([2, 2]))
    theta = training.random_start(0)
    total = 0.0
    for s, (a, z) in enumerate(zip(stream.begins[:20], stream.begins[1:21])):
        p = 0.0
        for h in product(range(2), repeat=int(z - a)):
            one = 1.0
            for i, j in enumerate(range(a, z)):
                one *= theta.t[stream.into[j], h[i - 1] if i else 0, h[i]]
                one *= theta.o[stream.pair[j], h[i]]
            p += one * theta.t[stream.after[s], h[-1], 0]
        total += np.log(p)
    few = stream._replace(begins=stream.begins[:21], after=stream.after[:20])
    training.stream = few._replace(label=few.label[: few.begins[-1]])
    assert training.expect(theta).log_likelihood == pytest.approx(total)


def test_samples_lead_back_to_the_truth():
    truth = Truth(2, 2, 5, seed=6)
    strings = [tokens for length in (1, 2) for tokens in truth.strings(length)]
    p = np.array([truth.probability(tokens) for tokens in strings])
    errors = []
    for n in (200, 20_000):
        stream = truth.stream_of(truth.sample(n))
        n_states = np.array([2, 2])
        training = Training(stream, n_states)
        start = training.start_at(clusters(stream, project(stream, n_states), 0))
        theta, _ = run(training, start, n_iter=200, tol=1e-7)
        known = matrices(stream, training.averages(theta))
        errors.append(np.abs([product_of(one, *known) for one in strings] - p).sum())
    assert errors[1] < errors[0] / 3
    assert errors[1] < 0.03


def test_averages_are_the_parameters(data):
    _, stream = data
    training = Training(stream, np.array([2, 3]), 2.0)
    theta, _ = run(training, training.random_start(0), n_iter=5, tol=0.0)
    found = training.averages(theta)
    assert found.is_diagonal
    expected = training.p_bigram[:, None, None] * found.blocks
    np.testing.assert_allclose(expected, theta.t)
    np.testing.assert_allclose(found.mean.sum(axis=1), 1.0)
    # The average of the shares of a label is one for each of its states.
    sums = np.zeros((2, 3))
    np.add.at(sums, stream.pair_label, training.p_pair[:, None] * found.shares[:, :, 0])
    np.testing.assert_allclose(sums[training.has[:2]], 1.0)


def test_any_number_of_threads_gives_the_same_bits(data, monkeypatch):
    from eigentext.sequences.learning import refinement_em

    monkeypatch.setattr(refinement_em, "_TASK", 50)
    _, stream = data
    found = []
    for n in (1, 3):
        with engine.use(engine.ThreadEngine(n)):
            training = Training(stream, np.array([2, 2]), 1.0)
            found.append(run(training, training.random_start(0), n_iter=4, tol=0.0)[0])
    for a, b in zip(*found):
        np.testing.assert_array_equal(a, b)


def test_a_state_that_dies_stays_dead(data):
    _, stream = data
    training = Training(stream, np.array([2, 2]))
    theta = training.random_start(0)
    o = theta.o.copy()
    o[stream.pair_label == 0, 1] = 0.0
    found, monitor = run(training, Parameters(o, theta.t), n_iter=3, tol=0.0)
    assert np.isfinite(monitor.history).all()
    assert np.isfinite(found.o).all()
    averages = training.averages(found)
    assert all(np.isfinite(part).all() for part in averages)
    assert averages.mean[0].tolist() == [1.0, 0.0]
