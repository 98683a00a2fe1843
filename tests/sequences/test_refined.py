"""The form of refinement HMMs: transitions as those of HMMTagger, averages by groups of words."""

import numpy as np
from scipy.sparse import csr_array

from eigentext.sequences.emissions import Emissions
from eigentext.sequences.refined import RefinedEmissions, Transitions
from eigentext.sequences.transitions import deleted_interpolation, transition_scores

GRAMS = np.array([[0, 0], [0, 1], [1, 0], [1, 2], [2, 0]])
TIMES = np.array([3, 4, 2, 2, 2])


def test_with_one_state_transitions_are_those_of_the_tagger():
    weights = deleted_interpolation(GRAMS, TIMES)
    forbidden = np.zeros((3, 3), bool)
    forbidden[1, 1] = True
    found = Transitions.of(GRAMS, TIMES, weights, forbidden)
    _, rows = transition_scores(GRAMS, TIMES, weights, forbidden)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(np.log(found.flat + found.seen), rows[:3])
    assert found.place[0, 1] == 1
    assert found.place[1, 1] == -1
    assert found.flat[1, 1] == found.seen[1, 1] == 0


def emissions(smoothing, rare=2):
    words = ["cat", "dog", "the"]
    counts = csr_array(np.array([[1, 0], [1, 1], [0, 6]]))
    shares = np.array([[2.0, 0.0], [0.0, 2.0], [4.0, 0.0], [0.5, 1.5]])[:, :, None]
    return RefinedEmissions(Emissions(words, counts, None, rare), shares, smoothing)


def test_averages_are_smoothed_by_those_of_larger_groups():
    found = emissions(2.0)
    # The mean of label 0 is (1, 1); that of label 1 has one token of "dog" and six of "the".
    mean = np.array([[1, 1], [(4 + 6 * 0.5) / 7, 9 / 7]])
    np.testing.assert_allclose(found.mean[:, :, 0], mean)
    active, weight, averages, _ = found.scores("the", False)
    assert (active.tolist(), weight.tolist()) == ([1], [1.0])
    the = (6 * np.array([0.5, 1.5]) + 2 * mean[1]) / 8
    np.testing.assert_allclose(averages[0, :, 0], the)
    # All words are one group. In it, "the" counts for 2 of its 6 tokens.
    group = (np.array([2.0, 2.0]) + 2 * mean[0]) / 4
    other = (np.array([4.0, 0.0]) + 2 * np.array([0.5, 1.5]) + 2 * mean[1]) / 5
    active, _, averages, _ = found.scores("new", False)
    assert active.tolist() == [0, 1]
    np.testing.assert_allclose(averages[:, :, 0], [group, other])
    _, _, averages, _ = found.scores("dog", False)
    expected = [([0, 2] + 2 * group) / 3, ([4, 0] + 2 * other) / 3]
    np.testing.assert_allclose(averages[:, :, 0], expected)


def test_without_smoothing_averages_are_their_own():
    found = emissions(0.0, rare=0)
    for word, expected in (("cat", [[2, 0]]), ("dog", [[0, 2], [4, 0]])):
        _, _, averages, _ = found.scores(word, False)
        np.testing.assert_allclose(averages[:, :, 0], expected, atol=1e-9)
    assert np.isfinite(found.scores("new", True)[2]).all()
