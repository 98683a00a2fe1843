"""The rank and the floor by noise or by held-out text: likelihoods by hand, and the best of all."""

from itertools import pairwise, product

import numpy as np
import pytest

from eigentext import NgramMoments
from eigentext.moments.hankel import Basis, Hankel, Trie
from eigentext.sequences.inference import filtered
from eigentext.sequences.learning import rank_choice
from eigentext.sequences.learning.automaton import projected
from eigentext.sequences.learning.rank_choice import (
    FLOORS,
    floor_of_windows,
    ranks_up_to,
    tried,
)

STRINGS = [string for k in range(3) for string in product(range(3), repeat=k)]
BASIS = Basis(STRINGS, STRINGS)


@pytest.fixture(scope="module")
def trie(random_automaton):
    data = random_automaton(2, 3).sample(400, 12)
    return Trie.of(NgramMoments.from_corpus(data, order=5))


@pytest.fixture(scope="module")
def found(trie):
    return projected(Hankel.of(trie, BASIS, "substring"), BASIS, "substring", 5)


@pytest.fixture(scope="module")
def held(random_automaton):
    """Other sequences, with the symbol of the end and END after each, and one unknown symbol."""
    rows = [row for row in random_automaton(2, 3).sample(40, 12, random_state=5) if row]
    ids = [x for row in rows for x in [*row, 3, -1]]
    return np.array([0, -2, 1, 3, -1, *ids], np.int32)


@pytest.mark.parametrize("most", [1, 2, 3, 7, 50, 1000])
def test_ranks_rise_to_the_largest(most):
    ranks = ranks_up_to(most)
    assert ranks[0] == 1
    assert ranks[-1] == most
    assert all(a < b <= max(a + 1, 1.5 * a) for a, b in pairwise(ranks))


def test_likelihoods_by_hand():
    p, usual = np.array([[0.5, -0.1, 0.6], [1.0, 0.0, 0.0]]), np.array([0.5, 0.25, 0.25])
    found = rank_choice._log_likelihoods(p, np.array([1, 1]), usual)
    for floor, value in zip(FLOORS, found):
        least = floor / 4
        first = least / (0.5 + least + 0.6)
        second = least / (1 + 2 * least)
        assert value == pytest.approx(np.log(first) + np.log(second))


def test_each_rank_is_tried_and_the_best_floor_is_told(found, held):
    trials = tried(found, held, 13)
    assert [trial.rank for trial in trials] == [1, 2, 3, 4, 5]
    assert {trial.basis for trial in trials} == {13}
    for trial in trials:
        model, _ = found.operators(trial.rank)
        scores = rank_choice._scores(model, held, found.usual)
        assert trial.log_probability == scores.max()
        assert trial.floor == FLOORS[int(scores.argmax())]


def test_scores_are_those_of_the_model(found, held):
    """With the floor that the states have, the score is the mean log-probability."""
    model, _ = found.operators(3)
    scores = rank_choice._scores(model, held, found.usual)
    model.floors = FLOORS[2] * found.usual
    logs = filtered(model, held).logs[held >= 0]
    assert scores[2] == pytest.approx(logs.mean())


def test_blocks_do_not_matter(found, held, monkeypatch):
    model, _ = found.operators(3)
    whole = rank_choice._scores(model, held, found.usual)
    monkeypatch.setattr(rank_choice, "_BLOCK", 20)
    assert np.allclose(rank_choice._scores(model, held, found.usual), whole)


def test_windows_are_those_of_the_text(trie):
    """A window has the longest length or ends with its sequence, and is drawn by frequency."""
    drawn = 0
    for windows in rank_choice._windows(trie, np.random.default_rng(0)):
        assert len(set(windows[:, 0] == trie.edge)) == 1
        for window in np.unique(windows, axis=0).tolist():
            assert trie.counts[trie.node(window)] > 0
            assert len(window) == 5 or window[-1] == trie.edge
        drawn += len(windows)
    assert drawn == 5000


def test_a_model_without_mistakes_has_the_least_floor(random_automaton):
    truth = random_automaton(2, 3)
    trie = Trie.of(NgramMoments.from_corpus(truth.sample(20_000, 30), order=5))
    found = projected(Hankel.of(trie, BASIS, "substring"), BASIS, "substring", 3)
    good, bad = (found.operators(r)[0] for r in (3, 3))
    floor = floor_of_windows(good, found, trie, np.random.default_rng(0))
    assert floor <= 0.03
    assert not good.floors.any()  # the given model is as it was
    # A model that takes symbols for impossible needs a floor.
    bad.rows[:2] = bad.rows[:2][::-1].copy()
    assert floor_of_windows(bad, found, trie, np.random.default_rng(0)) > floor


def test_the_same_seed_gives_the_same_floor(found, trie):
    model, _ = found.operators(3)
    floors = {floor_of_windows(model, found, trie, np.random.default_rng(7)) for _ in range(3)}
    assert len(floors) == 1
    assert floors <= set(FLOORS)
