"""The spectral algorithm: exact with population moments, and robust with counts."""

from itertools import product

import numpy as np
import pytest

from eigentext import HMM, NgramMoments, engine
from eigentext.errors import ParameterError
from eigentext.sequences.inference import filtered
from eigentext.sequences.learning.spectral import spectral_operators
from eigentext.sequences.learning.windows import Windows

SIZES = [(2, 10), (3, 10), (4, 20), (5, 20), (6, 30), (7, 40), (8, 50)]
SCALINGS = ["cca", "none"]


def learned(moments, m, **settings):
    return spectral_operators(Windows.of(moments), m, **settings)


# Exactness.


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("m", "n"), SIZES)
def test_one_matrix_leads_to_all_true_operators(random_hmm, m, n, seed, scaling):
    truth = random_hmm(m, n, seed)
    model, _, diagnostics = learned(truth.moments(), m, scaling=scaling)
    assert diagnostics["rank"] == m
    assert diagnostics["floor"] == 0
    # The equations B_x G = G A_x, end G = 1 and start = G pi are linear in G.
    eye = np.eye(m)
    A = [truth.operator(x) for x in range(n)]
    equations = [np.kron(model.operator(x), eye) - np.kron(eye, A[x].T) for x in range(n)]
    equations += [np.kron(model.end[None], eye), np.kron(eye, truth.initial_[None])]
    known = np.concatenate([np.zeros(n * m * m), np.ones(m), model.start])
    G = np.linalg.lstsq(np.vstack(equations), known, rcond=None)[0].reshape(m, m)
    assert np.linalg.cond(G) < 1e8
    for x in range(n):
        assert np.allclose(model.operator(x), G @ A[x] @ np.linalg.inv(G), rtol=0, atol=1e-8)
    assert np.allclose(model.end @ G, 1, rtol=0, atol=1e-8)
    assert np.allclose(model.start, G @ truth.initial_, rtol=0, atol=1e-8)


@pytest.mark.parametrize("scaling", SCALINGS)
def test_every_string_of_a_small_model(random_hmm, scaling):
    for seed in range(3):
        truth = random_hmm(2, 4, seed)
        model, _, _ = learned(truth.moments(), 2, scaling=scaling)
        for length in range(1, 6):
            strings = np.array(list(product(range(4), repeat=length)), np.int32)
            p = [np.exp(filtered(model, string).logs.sum()) for string in strings]
            assert np.allclose(p, [truth.probability(x) for x in strings], rtol=1e-8, atol=0)
            assert np.isclose(sum(p), 1, rtol=1e-8)


def test_what_operators_sum_to(random_hmm):
    model, _, _ = learned(random_hmm(3, 8).moments(), 3)
    assert np.allclose(model.mean, sum(model.operator(x) for x in range(8)))
    assert np.allclose(model.end @ model.mean, model.end)
    assert np.allclose(model.after @ model.end, 1)
    assert np.allclose([model.end @ model.operator(x) for x in range(8)], model.rows)
    assert model.negative_mass() == pytest.approx(0, abs=1e-12)


# Samples.


def test_counts_come_near_the_truth(clear_hmm):
    truth = clear_hmm(3, 9)
    exact, _, _ = learned(truth.moments(), 3)
    model, _, diagnostics = learned(NgramMoments.from_corpus(truth.sample(20_000, 8)), 3)
    assert diagnostics["usable_rank"] == 3
    assert diagnostics["singular_values"][2] > diagnostics["noise"]
    assert diagnostics["singular_values"][3] < diagnostics["noise"]
    assert diagnostics["windows"] == 6 * 20_000
    for x in range(9):
        # Probabilities do not depend on G.
        p, q = (y.end @ y.operator(x) @ y.mean @ y.start for y in (model, exact))
        assert p == pytest.approx(q, abs=0.01)


def test_noise_is_told_from_signal(clear_hmm):
    # The fourth direction is noise, which more text makes smaller.
    truth = clear_hmm(3, 9)
    noises = []
    for size in (1000, 16_000):
        moments = NgramMoments.from_corpus(truth.sample(size, 8))
        with pytest.warns(UserWarning, match=r"6 states asked for, but only 3 can be told"):
            _, _, diagnostics = learned(moments, 6, scaling="none")
        assert diagnostics["rank"] == diagnostics["usable_rank"] == 3
        noises.append(diagnostics["noise"])
    assert 2.5 < noises[0] / noises[1] < 6  # about four, the square root of the ratio of sizes


def test_a_rank_asked_for_is_used_whatever_the_noise(clear_hmm):
    moments = NgramMoments.from_corpus(clear_hmm(3, 9).sample(500, 8))
    model, _, diagnostics = learned(moments, 6, rank=5)
    assert diagnostics["rank"] == len(model.start) == 5
    assert diagnostics["usable_rank"] < 5


def test_ranks_that_are_not_there(random_hmm):
    moments = random_hmm(2, 6).moments()
    with pytest.warns(UserWarning, match="4 states asked for, but P21 has rank 2: using 2"):
        learned(moments, 4)
    with pytest.raises(ParameterError, match="rank 3 asked for, but P21 has rank 2"):
        learned(moments, 4, rank=3)
    one = NgramMoments.from_corpus([[0, 0, 0, 0]])
    with pytest.warns(UserWarning, match="2 states asked for, but P21 has rank 1"):
        learned(one, 2)


def test_rare_symbols_keep_two_vectors(clear_hmm):
    data = clear_hmm(3, 9).sample(2000, 8)
    data[7, 4] = 9
    model, _, diagnostics = learned(NgramMoments.from_corpus(data), 3)
    assert model.places[9] == -1
    assert np.linalg.matrix_rank(model.operator(9)) == 1
    assert (model.places >= 0).sum() == diagnostics["full_operators"] > 0
    assert 0 < diagnostics["mean_share_of_rank_one"] < 1


def test_floors_are_fractions_of_frequencies(clear_hmm):
    moments = NgramMoments.from_corpus(clear_hmm(3, 9).sample(300, 8))
    model, _, diagnostics = learned(moments, 3)
    assert 0 < diagnostics["floor"] < 1
    expected = diagnostics["floor"] * moments.unigrams[:9] / moments.n_tokens
    assert np.allclose(model.floors, expected, rtol=0.05)


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_the_same_bits_on_any_number_of_threads(clear_hmm, threads):
    windows = Windows.of(NgramMoments.from_corpus(clear_hmm(4, 30).sample(500, 9)))
    reference, _, _ = spectral_operators(windows, 4)
    with engine.use(engine.ThreadEngine(threads)):
        model, _, _ = spectral_operators(windows, 4)
        logs = filtered(model, np.arange(30, dtype=np.int32)).logs
    for name, part in vars(reference).items():
        assert np.array_equal(part, getattr(model, name)), name
    assert np.array_equal(logs, filtered(reference, np.arange(30, dtype=np.int32)).logs)


def test_symbols_past_the_memory_keep_two_vectors(clear_hmm, monkeypatch):
    monkeypatch.setattr("eigentext.sequences.learning.spectral._NUMBERS", 4 * 9)
    truth = clear_hmm(3, 9)
    model, _, diagnostics = learned(truth.moments(), 3)
    assert diagnostics["full_operators"] == 4
    frequent = np.argsort(-truth.moments().levels[0].toarray()[:9, :9].sum(axis=0))[:4]
    assert len(set(np.flatnonzero(model.places >= 0)) & set(frequent)) >= 3
    assert isinstance(HMM(3).fit_moments(truth.moments()).probability([0, 1, 2]), float)
