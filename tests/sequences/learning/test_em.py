"""EM: compared with plain NumPy, and laws that hold at every step."""

import numpy as np
import pytest

from eigentext import HMM, engine
from eigentext.corpus import encode_sequences
from eigentext.corpus.encoded import END
from eigentext.sequences.forms import HMMParameters
from eigentext.sequences.learning import em
from eigentext.sequences.learning.em import (
    Sequences,
    expect,
    maximized,
    race,
    random_start,
    refine,
)


def sequences(array, *, stream=False):
    return Sequences.of(encode_sequences(array).tokens, stream=stream)


def start(data, m, seed=0):
    rng = np.random.default_rng(seed)
    return random_start(np.bincount(data.ids[data.ids != END]), m, rng)


def em_step(model: HMMParameters, data: Sequences, prior=0.0):
    """Return the log-likelihood, and the parameters after one step of EM in plain NumPy."""
    pi, T, E = model.initial, model.transition, model.emission
    starts, moves, emitted = np.zeros_like(pi), np.zeros_like(T), np.zeros_like(E)
    total = 0.0
    lengths = data.ends - data.begins
    for length in np.unique(lengths):  # sequences of the same length are processed together
        x = data.ids[data.begins[lengths == length] + np.arange(length)[:, None]]
        forward = [pi * E[x[0]]]
        for t in range(1, length):
            forward.append(forward[-1] @ T * E[x[t]])
        backward = [np.ones_like(forward[0])]
        for t in range(length - 1, 0, -1):
            backward.insert(0, (E[x[t]] * backward[0]) @ T.T)
        p = forward[-1].sum(axis=1, keepdims=True)
        total += np.log(p).sum()
        starts += (forward[0] * backward[0] / p).sum(axis=0)
        for t in range(length):
            np.add.at(emitted, x[t], forward[t] * backward[t] / p)
            if t:
                moves += (forward[t - 1] / p).T @ (E[x[t]] * backward[t]) * T
    emitted += prior
    return total, HMMParameters(
        starts / starts.sum(), moves / moves.sum(axis=1)[:, None], emitted / emitted.sum(axis=0)
    )


def blend(a: HMMParameters, b: HMMParameters) -> HMMParameters:
    """Return the mean of two models."""
    return HMMParameters(
        *((getattr(a, n) + getattr(b, n)) / 2 for n in ("initial", "transition", "emission"))
    )


def assert_near(a: HMMParameters, b: HMMParameters, tolerance):
    for name in ("initial", "transition", "emission"):
        assert np.allclose(getattr(a, name), getattr(b, name), rtol=0, atol=tolerance), name


# Sequences.


def test_sequences_and_where_they_end():
    data = sequences([[1, 0, 1], [], [0], [0, 1]])
    assert [data.ids[a:z].tolist() for a, z in zip(data.begins, data.ends)] == [
        [1, 0, 1],
        [0],
        [0, 1],
    ]
    assert data.n_tokens == 6
    part = data.part(2)
    assert [part.ids[a:z].tolist() for a, z in zip(part.begins, part.ends)] == [[1, 0, 1], [0, 1]]
    assert part.n_tokens == 5
    assert data.part(1) is data


def test_a_stream_is_cut_into_pieces(monkeypatch):
    monkeypatch.setattr(em, "_PIECE", 4)
    for length in (1, 4, 5, 8, 11):
        data = sequences(list(range(length)), stream=True)
        assert data.n_tokens == length
        assert (data.ends - data.begins).max() <= 4
        assert np.array_equal(data.begins[1:], data.ends[:-1])


# Steps.


def test_a_step_is_the_twin_s(random_hmm):
    data = sequences([[0, 2, 1, 4, 4], [3], [1, 1, 0], *random_hmm(3, 5).sample(20, 7).tolist()])
    model = start(data, 3)
    found = expect(model, data)
    expected, after = em_step(model, data)
    assert np.isclose(found.log_likelihood, expected, rtol=1e-12)
    assert_near(maximized(model, found), after, 1e-12)
    assert np.isclose(found.counts.sum(), data.n_tokens, rtol=1e-12)
    assert np.isclose(found.emitted.sum(), data.n_tokens, rtol=1e-12)


def test_a_state_without_work_keeps_its_parameters():
    idle = HMMParameters(
        np.array([1.0, 0.0]), np.array([[1.0, 0.0], [0.4, 0.6]]), np.array([[0.5, 0.1], [0.5, 0.9]])
    )
    data = sequences([[0, 1, 1]])
    after = maximized(idle, expect(idle, data))
    assert np.allclose(after.transition, idle.transition)
    assert np.allclose(after.emission, [[1 / 3, 0.1], [2 / 3, 0.9]])


def test_accelerated_em_ends_where_plain_em_ends():
    truth = HMM.from_parameters(
        [0.6, 0.4], [[0.9, 0.1], [0.2, 0.8]], [[0.85, 0.1, 0.05], [0.0, 0.1, 0.9]]
    )
    data = sequences(truth.sample(200, 10))
    for seed in range(3):
        theta = blend(truth._model, start(data, 2, seed))  # near one optimum
        run = refine(theta, data, n_iter=1000, tol=1e-12)
        for _ in range(1000):
            value, theta = em_step(theta, data)
        assert run.converged
        assert run.history[-1] == pytest.approx(value / data.n_tokens, abs=1e-8)
        assert_near(run.parameters, theta, 1e-3)


def test_it_takes_fewer_passes(clear_hmm):
    data = sequences(clear_hmm(3, 8).sample(100, 10))
    theta = start(data, 3)
    run = refine(theta, data, n_iter=40, tol=0)
    values = []
    for _ in range(40):
        value, theta = em_step(theta, data)
        values.append(value / data.n_tokens)
    assert run.history[-1] > values[-1]
    assert run.n_passes <= 40


@pytest.mark.parametrize("prior", [None, 0.7])
def test_no_step_loses_likelihood(random_hmm, prior):
    data = sequences(random_hmm(3, 6).sample(50, 9))
    prior = None if prior is None else np.full(6, prior)
    for seed in range(6):
        run = refine(start(data, 4, seed), data, n_iter=200, tol=0, prior=prior)
        assert (np.diff(run.history) > -1e-10).all()
        value = expect(run.parameters, data).log_likelihood
        if prior is not None:
            value += np.log(run.parameters.emission).sum(axis=1) @ prior
        assert value / data.n_tokens >= run.history[-1] - 1e-10


@pytest.mark.parametrize("n_iter", range(1, 12))
def test_no_more_passes_than_asked_for(random_hmm, n_iter):
    data = sequences(random_hmm(3, 6).sample(30, 6))
    passes = []
    theta = start(data, 3)
    run = refine(theta, data, n_iter=n_iter, tol=0, advance=passes.append)
    assert run.n_passes == len(passes) == n_iter
    assert not run.converged
    assert run.history
    first, _ = em_step(theta, data)
    value = expect(run.parameters, data).log_likelihood
    assert value > first


def test_a_prior_adds_to_every_state(random_hmm):
    data = sequences(random_hmm(2, 4).sample(20, 5))
    theta = start(data, 2)
    prior = np.array([1.0, 2.0, 0.0, 3.0])
    run = refine(theta, data, n_iter=1, prior=prior)
    assert_near(run.parameters, em_step(theta, data, prior[:, None])[1], 1e-12)


def test_a_race_is_won_by_the_truth(clear_hmm):
    truth = clear_hmm(3, 9)
    for size in (200, 1200):  # the first round uses all data, or a part of it
        array = truth.sample(size, 6)
        data = sequences(array)
        frequencies = np.bincount(array.ravel())
        best = refine(truth._model, data, n_iter=100, tol=1e-9).history[-1]
        flat = [start(data, 3, seed) for seed in range(2)]
        for order in ([truth._model, *flat], [*flat, truth._model]):
            won = race(order, data, frequencies)
            assert expect(won, data).log_likelihood / data.n_tokens == pytest.approx(best, abs=1e-3)


def test_one_start_needs_no_race(random_hmm):
    only = random_hmm(2, 4)._model
    assert race([only], sequences([[0, 1, 2]]), np.ones(4)) is only


def test_what_a_part_lacks_stays_possible():
    rare = [[0, 1, 0]] * 2000
    rare[1] = [2, 0, 1]  # every fourth sequence does not include this one
    data = sequences(rare)
    won = race([start(data, 2, seed) for seed in range(3)], data, np.bincount(data.ids + 1)[1:])
    assert np.isfinite(expect(won, data).log_likelihood)


def test_random_starts_are_probabilities():
    frequencies = np.array([3, 0, 2, 1])
    theta = random_start(frequencies, 5, np.random.default_rng(0))
    assert np.allclose(theta.initial.sum(), 1)
    assert np.allclose(theta.transition.sum(axis=1), 1)
    assert np.allclose(theta.emission.sum(axis=0), 1)
    assert not theta.emission[1].any()
    assert (theta.emission[[0, 2, 3]] > 0).all()


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_the_same_bits_on_any_number_of_threads(random_hmm, threads):
    data = sequences(random_hmm(4, 9).sample(300, 8))
    theta = start(data, 5)
    reference = refine(theta, data, n_iter=9)
    with engine.use(engine.ThreadEngine(threads)):
        run = refine(theta, data, n_iter=9)
    assert run.history == reference.history
    assert_near(run.parameters, reference.parameters, 0)
