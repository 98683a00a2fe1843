"""Classes of words: the likelihood never falls, starts, and exact recovery from a distribution."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from eigentext.sequences.learning import classes
from eigentext.sequences.learning.classes import (
    class_pairs,
    exchanged,
    in_order,
    log_likelihood,
    starting_classes,
    whole,
)

INITS = ("cca", "frequency", "brown")


def settings(**changes):
    return SimpleNamespace(**{"n_classes": 4, "init": "cca", "n_iter": 20, "tol": 0.0} | changes)


@pytest.fixture(scope="module")
def counts():
    """Pairs of 60 words, the rare word and the edge, drawn from seven classes."""
    rng = np.random.default_rng(0)
    own = rng.integers(7, size=62)
    weights = rng.zipf(1.6, 62).clip(max=40)
    chance = rng.dirichlet(np.full(7, 0.3), 7)[own][:, own] * weights * weights[:, None]
    C = rng.poisson(chance / chance.sum() * 20_000)
    C[-1, -1] = 0
    return sp.csr_array(C)


def tokens_of(C):
    return np.asarray(C.sum(axis=1))[:-2]


@pytest.mark.parametrize("init", INITS)
def test_no_sweep_lowers_the_likelihood(counts, init):
    tokens = tokens_of(counts)
    start = starting_classes(counts, tokens, settings(init=init))
    assert set(start) == set(range(4))
    found = exchanged(counts, start, tokens, settings())
    steps = np.diff(found.history)
    assert (steps >= 0).all()
    assert found.has_converged
    assert steps.sum() > 0.001 or init == "brown"  # which may be the best
    labels = np.append(start, [4, 5])
    before = log_likelihood(counts, class_pairs(counts, labels, 6))
    assert np.isclose(found.history[0], before)
    after = log_likelihood(counts, class_pairs(counts, found.labels, 6).toarray())
    assert np.isclose(found.history[-1], after)
    assert set(found.labels[:-2]) == set(range(4))  # no class became empty


def test_the_likelihood_is_that_of_the_second_words(counts):
    rng = np.random.default_rng(1)
    labels = np.append(rng.integers(3, size=60), [3, 4])
    C, S = counts.toarray(), np.eye(5)[labels]
    N = S.T @ C @ S
    p_class = N / N.sum(axis=1, keepdims=True)
    p_word = C.sum(axis=0) / (S.T @ C.sum(axis=0))[labels]
    P = p_class[labels][:, labels] * p_word
    inside = C > 0
    expected = (C[inside] * np.log(P[inside])).sum() / C.sum()
    assert np.isclose(log_likelihood(counts, N), expected)


def test_the_number_of_sweeps_and_the_tolerance(counts):
    tokens = tokens_of(counts)
    start = starting_classes(counts, tokens, settings(init="frequency"))
    one = exchanged(counts, start, tokens, settings(n_iter=1))
    assert len(one.history) == 2
    assert not one.has_converged
    early = exchanged(counts, start, tokens, settings(tol=10.0))
    assert len(early.history) == 2
    assert early.has_converged


def test_a_better_start_than_chance_is_kept(counts):
    """A second run from the result of a first one changes nothing."""
    tokens = tokens_of(counts)
    first = exchanged(counts, starting_classes(counts, tokens, settings()), tokens, settings())
    again = exchanged(counts, first.labels[:-2].copy(), tokens, settings())
    assert np.array_equal(first.labels, again.labels)
    assert len(again.history) == 2


@pytest.mark.parametrize("init", INITS)
def test_more_classes_than_words(counts, init):
    tokens = tokens_of(counts)
    assert np.array_equal(
        starting_classes(counts, tokens, settings(n_classes=60, init=init)), np.arange(60)
    )
    most = starting_classes(counts, tokens, settings(n_classes=59, init=init))
    assert len(set(most)) == 59


def test_words_without_pairs_have_a_class(counts):
    C = counts.toarray()
    C[5], C[:, 5], C[9], C[:, 9] = 0, 0, 0, 0
    C = sp.csr_array(C)
    for init in INITS:
        start = starting_classes(C, tokens_of(C), settings(init=init))
        assert set(start) == set(range(4))
        found = exchanged(C, start, tokens_of(C), settings())
        assert (np.diff(found.history) >= 0).all()


def test_equal_words_leave_no_gap():
    C = np.zeros((8, 8), np.int64)
    C[:6, :6] = 2  # all vectors are equal
    start = starting_classes(sp.csr_array(C), np.full(6, 12), settings())
    assert set(start) == set(range(4))


def test_classes_are_numbered_by_their_most_frequent_words():
    labels = in_order(np.array([5, 2, 5, 0, 2]), np.array([1, 9, 3, 4, 1]))
    assert labels.tolist() == [2, 0, 2, 1, 0]


def test_distributions_become_whole_numbers():
    C = sp.csr_array(np.array([[0.5, 0.0], [0.25, 0.25]]))
    assert np.array_equal(whole(C).toarray(), np.array([[2, 0], [1, 1]]) * 2**38)
    counts = sp.csr_array(np.array([[1, 2], [3, 4]]))
    assert whole(counts) is counts


def test_the_same_bits_with_large_counts(counts, monkeypatch):
    """Counts of 64 bits, and counts beyond the table of x log x."""
    tokens = tokens_of(counts)
    start = starting_classes(counts, tokens, settings())
    expected = exchanged(counts, start, tokens, settings())
    many = sp.csr_array(counts * 2**20)
    found = exchanged(many, start, tokens, settings())
    assert np.array_equal(found.labels, expected.labels)
    monkeypatch.setattr(classes, "_TABLE", 3)
    assert np.array_equal(exchanged(counts, start, tokens, settings()).labels, expected.labels)
