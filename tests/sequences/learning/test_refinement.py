"""Spectral learning of refinement HMMs: exact with population moments, better with more data."""

import numpy as np
import pytest

from eigentext.sequences.learning.refinement import (
    Stream,
    averages,
    clusters,
    project,
    shrunk,
    spectral,
)
from sequences.refinement_truth import NEAR, Truth, matrices, product_of


@pytest.mark.parametrize("kappa", [0.01, np.inf])
@pytest.mark.parametrize(("m", "S", "n"), [(1, 2, 3), (2, 2, 3), (2, 3, 3), (3, 2, 5)])
def test_population_moments_give_the_probability_of_every_string(m, S, n, kappa):
    for seed in range(2):
        truth = Truth(m, S, n, seed)
        stream = truth.stream()
        found, projected = spectral(stream, np.full(S, m), features=NEAR, kappa=kappa)
        assert projected.sizes.tolist() == [m] * S
        known = matrices(stream, found)
        for length in (1, 2, 3):
            for tokens in list(truth.strings(length))[:400]:
                assert product_of(tokens, *known) == pytest.approx(
                    truth.probability(tokens), rel=1e-8, abs=1e-12
                )


def test_more_states_than_there_are_are_not_found():
    truth = Truth(2, 2, 4)
    stream = truth.stream()
    found, projected = spectral(stream, np.full(2, 4), features=NEAR)
    assert projected.sizes.tolist() == [2, 2]
    known = matrices(stream, found)
    for tokens in truth.strings(2):
        assert product_of(tokens, *known) == pytest.approx(truth.probability(tokens), rel=1e-7)


def test_projections_of_past_and_future_are_dual():
    truth = Truth(3, 2, 5)
    stream = truth.stream()
    found = project(stream, np.full(2, 3), features=NEAR)
    for a in range(2):
        w = stream.weights * (stream.label == a)
        w /= w.sum()
        for y, z in ((found.y, found.z), (found.y_after, found.z_after)):
            np.testing.assert_allclose(z.T @ (w[:, None] * y), np.eye(3), atol=1e-9)


def test_the_error_falls_with_more_sentences():
    truth = Truth(2, 2, 3, seed=3)
    strings = [tokens for length in (1, 2, 3) for tokens in truth.strings(length)]
    p = np.array([truth.probability(tokens) for tokens in strings])
    errors = []
    for n in (300, 3_000, 30_000):
        some = []
        for seed in range(2 if n > 3000 else 4):
            stream = truth.stream_of(truth.sample(n, seed))
            known = matrices(stream, spectral(stream, np.full(2, 2), features=NEAR)[0])
            some.append(np.abs([product_of(one, *known) for one in strings] - p).sum())
        errors.append(np.mean(some))
    assert errors[0] > 1.5 * errors[1] > 2 * errors[2]


def test_one_state_has_averages_of_one():
    truth = Truth(2, 2, 3)
    stream = truth.stream_of(truth.sample(50))
    found, _ = spectral(stream, np.ones(2, int))
    assert found.shares.shape[1:] == (1, 1)
    np.testing.assert_array_equal(found.shares, 1.0)
    np.testing.assert_array_equal(found.blocks, 1.0)


def test_shrinking():
    blocks = np.array([[[1.0, 0.4], [0.8, 2.0]]])
    np.testing.assert_array_equal(shrunk(blocks, np.array([4.0]), 0.0), blocks)
    # With C = 2 and 4 tokens, the weight is one half.
    expected = [[1.0, 0.2], [0.4, 0.5 * 2.0 + 0.5 * 0.2 * 0.4]]
    np.testing.assert_allclose(shrunk(blocks, np.array([4.0]), 2.0)[0], expected)
    far = shrunk(blocks, np.array([1e-18]), 1.0)[0]
    np.testing.assert_allclose(far, [[1, 0], [0, 0]], atol=1e-8)


def test_clusters_find_states_that_differ():
    # Label 0 has two states: one after label 1 with words 0 and 1, one after label 2 with others.
    rng = np.random.default_rng(0)
    sentences, states = [], []
    for _ in range(400):
        h = int(rng.integers(2))
        sentences.append([(1 + h, 5), (0, int(2 * h + rng.integers(2)))])
        states += [0, h]
    a, x = np.array([token for one in sentences for token in one]).T
    stream = Stream.of(a, x, x, np.full(400, 2), 3)
    found = project(stream, np.array([2, 1, 1]), features=NEAR)
    given = clusters(stream, found, seed=0)[1::2]
    truth = np.array(states)[1::2]
    assert max((given == truth).mean(), (given != truth).mean()) == 1.0


def test_streams_number_pairs_and_bigrams():
    label, word = np.array([0, 1, 1]), np.array([2, 0, 0])
    stream = Stream.of(label, word, word, np.array([2, 1]), 2)
    assert stream.pair.tolist() == [1, 0, 0]
    assert stream.pair_label.tolist() == [1, 0]
    bigrams = stream.bigrams
    assert bigrams[stream.into].tolist() == [[2, 0], [0, 1], [2, 1]]
    assert bigrams[stream.after].tolist() == [[1, 2], [1, 2]]
    assert stream.is_last.tolist() == [False, True, True]
    assert stream.n_labels == 2
    assert averages(stream, project(stream, np.ones(2, int)), 1.0).is_diagonal
