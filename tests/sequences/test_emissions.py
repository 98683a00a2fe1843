"""Emissions of frequent, rare and unknown words."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from eigentext.sequences.emissions import Emissions, factor

WORDS = ["dog|NN", "run|VB", "the|DT"]
COUNTS = np.array([[3, 1, 0], [1, 1, 0], [0, 0, 100]])


@pytest.fixture
def emissions():
    return Emissions(WORDS, csr_array(COUNTS), "factor", 10)


def dense(found, m=3):
    where, logs = found
    p = np.zeros(m)
    p[where] = np.exp(logs)
    return p


N = COUNTS.sum() + 1  # no word occurs once, so unknown words count as one token
SHARE = COUNTS.sum(axis=0) / COUNTS.sum()


def test_a_frequent_word_is_as_counted(emissions):
    expected = np.array([0, 0, 1]) * 100 / N / SHARE
    np.testing.assert_allclose(dense(emissions.scores("the|DT", False)), expected)


def test_a_rare_word_is_smoothed_by_its_class(emissions):
    # The only word of its class: (3 + 2 * 3/4) / 6 and (1 + 2 * 1/4) / 6.
    expected = np.array([0.75, 0.25, 0]) * 4 / N / SHARE
    np.testing.assert_allclose(dense(emissions.scores("dog|NN", False)), expected)


def test_an_unseen_word_is_its_class(emissions):
    expected = np.array([0.5, 0.5, 0]) * 1 / N / SHARE
    np.testing.assert_allclose(dense(emissions.scores("walk|VB", False)), expected)
    # A word of an unknown class gets the class of most rare tokens: NN.
    expected = np.array([0.75, 0.25, 0]) * 1 / N / SHARE
    np.testing.assert_allclose(dense(emissions.scores("oh|UH", False)), expected)


def test_the_smaller_group_is_smoothed_by_the_larger():
    words = ["walking", "king", "bird"]
    counts = np.array([[0, 2], [1, 0], [1, 0]])
    emissions = Emissions(words, csr_array(counts), "shape", 10)
    class_ = np.array([2, 2]) / 4
    ending = (np.array([1, 2]) + 2 * class_) / 5  # with endings of one letter, then two, then three
    ending = (np.array([1, 2]) + 2 * ending) / 5
    ending = (np.array([1, 2]) + 2 * ending) / 5
    expected = ending * 2 / 6 / (counts.sum(axis=0) / 4)  # two words occur once
    np.testing.assert_allclose(dense(emissions.scores("sing", False), 2), expected)


def test_in_groups_no_word_counts_for_more_than_a_rare_one():
    counts = np.array([[1000, 0], [0, 10]])
    emissions = Emissions(["the|X", "a|X"], csr_array(counts), "factor", 10)
    expected = np.array([0.5, 0.5]) * 1 / 1011 / (counts.sum(axis=0) / 1010)
    np.testing.assert_allclose(dense(emissions.scores("b|X", False), 2), expected)


def test_wider_scores(emissions):
    assert len(emissions.scores("the|DT", False, 1)[0]) == 1  # its class has no other state
    where, logs = emissions.scores("the|DT", False, 2)
    assert where.tolist() == [0, 1, 2]
    assert logs.argmax() == 2


def test_capitals_of_first_words():
    emissions = Emissions(["dogs", "Rome"], csr_array(np.array([[9, 0], [0, 9]])), "shape", 1)
    assert emissions.scores("Dogs", True)[0].tolist() == [0]
    assert emissions.scores("Dogs", False)[0].tolist() == [1]


def test_factors():
    assert [factor(x) for x in ("dog|NN", "|||", "a|b|C", "dog")] == ["NN", "", "C", "dog"]
