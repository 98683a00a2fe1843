"""Comparing two parsers: known answers, laws, and how often chance is taken for a difference."""

import numpy as np
import pytest

from eigentext import evaluate
from eigentext.errors import CorpusError, ParameterError
from eigentext.evaluate import brackets, compare

RIGHT = "(S (NP (D the) (N dog)) (VP (V slept)))"
FLAT = "(S (D the) (N dog) (V slept))"
WRONG = "(S (NP (D the)) (VP (N dog) (V slept)))"  # as many brackets, one of three is right


def mixed(share, n, rng):
    """Trees of which about this share is right."""
    return [RIGHT if rng.random() < share else WRONG for _ in range(n)]


def test_the_difference_is_that_of_both_scores():
    rng = np.random.default_rng(0)
    gold, a, b = [RIGHT] * 60, mixed(0.5, 60, rng), mixed(0.9, 60, rng)
    found = compare(gold, a, b)
    assert (found.a, found.b) == (brackets(gold, a).f1, brackets(gold, b).f1)
    assert found.difference == found.b - found.a > 0
    low, high = found.interval
    assert low < found.difference < high
    assert found.n_sentences == 60
    assert found.p < 0.01
    assert found.to_dict()["interval"] == [low, high]
    assert str(found).startswith(f"F1 {100 * found.a:.2f} and {100 * found.b:.2f}: difference +")


def test_the_other_way_round_is_the_same_with_the_other_sign():
    rng = np.random.default_rng(1)
    gold, a, b = [RIGHT] * 40, mixed(0.6, 40, rng), mixed(0.7, 40, rng)
    one, two = compare(gold, a, b), compare(gold, b, a)
    assert two.difference == -one.difference
    assert two.interval == pytest.approx((-one.interval[1], -one.interval[0]))
    assert two.p == one.p


def test_equal_trees_do_not_differ():
    found = compare([RIGHT] * 5, [FLAT] * 5, [FLAT] * 5)
    assert (found.difference, found.interval, found.p) == (0, (0, 0), 1)


def test_the_interval_is_that_of_a_mean_if_all_sentences_are_alike():
    """With equally many brackets everywhere, F1 is a mean over sentences."""
    rng = np.random.default_rng(2)
    n = 400
    gold, a, b = [RIGHT] * n, mixed(0.4, n, rng), mixed(0.6, n, rng)
    gains = np.array([x == WRONG for x in a], float) - [y == WRONG for y in b]
    found = compare(gold, a, b)
    width = found.interval[1] - found.interval[0]
    assert width == pytest.approx(2 * 1.96 * 2 / 3 * gains.std() / np.sqrt(n), rel=0.1)


def test_chance_alone_is_seldom_taken_for_a_difference():
    n, told = 50, 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        a, b = mixed(0.6, n, rng), mixed(0.6, n, rng)
        told += compare([RIGHT] * n, a, b, n_samples=400).p < 0.05
    assert told <= 15  # 5 on average


def test_seeds_and_missing_trees():
    gold, a, b = [RIGHT] * 20, [RIGHT, None] * 10, [RIGHT] * 15 + [WRONG] * 5
    one, two = compare(gold, a, b, random_state=3), compare(gold, a, b, random_state=3)
    assert one == two
    assert compare(gold, a, b, level=0.5).interval[0] > one.interval[0]


def test_mistakes():
    with pytest.raises(ParameterError, match="level must be between 0 and 1, not 95"):
        compare([RIGHT], [RIGHT], [RIGHT], level=95)
    with pytest.raises(ParameterError, match="n_samples must be a whole number, 1 or more, not 0"):
        compare([RIGHT], [RIGHT], [RIGHT], n_samples=0)
    with pytest.raises(ParameterError, match="2 gold trees and 1 predicted"):
        compare([RIGHT] * 2, [RIGHT] * 2, [RIGHT])
    for gold in (["(N dog)"], []):
        with pytest.raises(CorpusError, match="no brackets to compare"):
            compare(gold, gold, gold)


def test_taggings_are_compared_by_tags_or_by_chunks():
    gold = [["D", "N"], ["N", "V", "N"]] * 20
    wrong = [["D", "N"], ["N", "V", "V"]] * 20
    found = evaluate.compare_taggings(gold, wrong, gold)
    assert (found.a, found.b) == (0.8, 1.0)
    assert found.difference == pytest.approx(0.2)
    assert found.interval[0] > 0.1
    assert found.p < 0.01
    same = evaluate.compare_taggings(gold, wrong, wrong)
    assert (same.difference, same.p) == (0.0, 1.0)
    gold = [["B-X", "I-X", "O", "B-Y"]] * 30
    a = [["B-X", "O", "O", "B-Y"]] * 30
    found = evaluate.compare_taggings(gold, a, [list(zip("abcd", one)) for one in gold])
    assert (found.a, found.b) == (0.5, 1.0)
    assert found.a == evaluate.chunks(gold, a).f1
    with pytest.raises(ParameterError, match="30 gold sentences and 3 predicted ones"):
        evaluate.compare_taggings(gold, a[:3], gold)
    with pytest.raises(CorpusError, match="no tags to compare"):
        evaluate.compare_taggings([[]], [[]], [[]])
