"""Deleted interpolation: known answers, and sums of probabilities."""

from collections import Counter

import numpy as np
import pytest

from eigentext.sequences.transitions import deleted_interpolation, transition_scores


def counted(stream, order):
    grams = Counter(zip(*(stream[i:] for i in range(order + 1))))
    return np.array(list(grams)), np.array(list(grams.values()))


def slow_weights(grams, counts):
    """Figure 1 of Brants (2000), line by line, with a first vote for each order."""
    f = Counter()
    for gram, count in zip(map(tuple, grams.tolist()), counts.tolist()):
        for begin in range(len(gram)):
            f[gram[begin:]] += count
            f["before", gram[begin:-1]] += count
    votes = [1.0] * grams.shape[1]
    for gram, count in zip(map(tuple, grams.tolist()), counts.tolist()):
        cases = []
        for begin in range(len(gram) - 1, -1, -1):
            below = f["before", gram[begin:-1]] - 1
            cases.append((f[gram[begin:]] - 1) / below if below else 0.0)
        votes[cases.index(max(cases))] += count
    return np.array(votes) / sum(votes)


@pytest.mark.parametrize("order", [1, 2])
def test_weights_line_by_line(order):
    stream = np.random.default_rng(order).choice(6, 300, p=[0.4, 0.3, 0.1, 0.1, 0.05, 0.05])
    grams, counts = counted(stream.tolist(), order)
    np.testing.assert_allclose(deleted_interpolation(grams, counts), slow_weights(grams, counts))


def test_a_chain_votes_for_bigrams():
    grams, counts = counted([0, 1, 2] * 50, 2)
    weights = deleted_interpolation(grams, counts)
    assert weights.argmax() == 1  # trigrams predict equally well, so the lower order wins
    assert weights.sum() == pytest.approx(1)


@pytest.mark.parametrize("order", [1, 2])
def test_scores_are_the_mixture(order):
    m = 4
    stream = np.random.default_rng(0).choice(m, 60, p=[0.5, 0.3, 0.1, 0.1])
    grams, counts = counted(stream.tolist(), order)
    weights = deleted_interpolation(grams, counts)
    pair, rows = transition_scores(grams, counts, weights, np.zeros((m, m), bool))
    for v in range(m - 1):  # the last one stands for the ends of sentences
        for u in range(m):
            p = np.exp(rows[pair[u, v]])
            assert p.sum() == pytest.approx(1)
            before = grams[:, -2] == v
            parts = [np.bincount(grams[:, -1], counts, m), np.zeros(m), np.zeros(m)]
            parts[1] = np.bincount(grams[before, -1], counts[before], m)
            if order == 2:
                both = before & (grams[:, 0] == u)
                parts[2] = np.bincount(grams[both, -1], counts[both], m)
            kept = [(x, part) for x, part in zip(weights, parts) if part.sum()]
            mixed = sum(x * part / part.sum() for x, part in kept) / sum(x for x, _ in kept)
            np.testing.assert_allclose(p, mixed)
    assert rows[pair[0, m - 1], m - 1] == 0.0  # the end follows the end


def test_what_is_forbidden_is_impossible():
    grams, counts = counted([0, 1, 0, 0, 1, 2, 0, 1], 2)
    forbidden = np.zeros((3, 3), bool)
    forbidden[0, 2] = True
    pair, rows = transition_scores(grams, counts, np.array([0.2, 0.3, 0.5]), forbidden)
    for u in range(3):
        assert rows[pair[u, 0], 2] == -np.inf
        assert np.exp(rows[pair[u, 0]]).sum() == pytest.approx(1)
        assert np.isfinite(rows[pair[u, 1]]).all()
