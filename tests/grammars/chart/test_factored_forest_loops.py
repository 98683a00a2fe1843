"""The passes over forests with factors, beside those with tensors."""

import numpy as np
import pytest

from eigentext.grammars.chart._factored_forest_loops import expand, project, room
from eigentext.grammars.chart.forest import inside_outside, log_probability, state_posteriors
from eigentext.grammars.factored_grammar import FactoredGrammar, lengths
from eigentext.grammars.grammar import Grammar
from eigentext.grammars.treebank.normal_form import Rules

RULES = Rules(*np.array([[0, 0, 1, 1, 0], [0, 0, 0, 2, 2], [0, 1, 2, 0, 2], [1, 1, 1, 1, 1]]))
WORDS = [[0, 1, 2], [0, 2], [0, 1], [2], [0, 1, 2]]
N_STATES = np.array([3, 2, 4])


def grammars(seed):
    """A grammar by factors, some of them with signs, and the same with its tensor."""
    rng = np.random.default_rng(seed)
    sizes = Grammar(RULES, N_STATES, np.empty(0), np.empty(0)).sizes
    ranks = rng.integers(0, 4, len(sizes))
    n = int(lengths(sizes, ranks).sum())
    numbers = rng.gamma(1.0, size=n) * rng.choice([-1, 1], n, p=[0.1, 0.9])
    root = rng.random(int(N_STATES.sum()))
    found = FactoredGrammar(RULES, N_STATES, ranks, numbers, root)
    return found, Grammar(RULES, N_STATES, found.tensor, root)


def leaf_words(forest, seed):
    leaves = np.flatnonzero(np.diff(forest.groups) == 0)
    return np.random.default_rng(seed).random(int(N_STATES[forest.label[leaves]].sum()))


def same(found, expected):
    """Equal to 10 digits of the largest number, since signs cancel."""
    largest = np.abs(expected).max()
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-10 * largest)


@pytest.mark.parametrize("seed", range(8))
def test_both_passes_equal_those_with_tensors(whole_forest, seed):
    forest = whole_forest(RULES, WORDS)
    small, dense = grammars(seed)
    words = leaf_words(forest, seed)
    found, expected = (inside_outside(forest, grammar, words) for grammar in (small, dense))
    assert found.log_probability == pytest.approx(expected.log_probability, rel=1e-10, abs=1e-10)
    assert found.sign == expected.sign
    same(found.items, expected.items)
    same(found.edges, expected.edges)
    states = [state_posteriors(forest, grammar, words).states for grammar in (small, dense)]
    same(*states)
    assert log_probability(forest, small, words) == found.log_probability


def test_numbers_out_of_range_are_done_again(whole_forest):
    """The wide passes take the tensors of the rules of the forest."""
    forest = whole_forest(RULES, WORDS)
    small, dense = grammars(0)
    words = leaf_words(forest, 0)
    words[::2] *= 1e-200
    found, expected = (inside_outside(forest, grammar, words) for grammar in (small, dense))
    assert found.log_probability == pytest.approx(expected.log_probability, rel=1e-10)
    same(found.items, expected.items)


def test_words_without_probability(whole_forest):
    forest = whole_forest(RULES, WORDS)
    small, _ = grammars(1)
    words = np.zeros_like(leaf_words(forest, 1))
    assert inside_outside(forest, small, words) is None
    assert log_probability(forest, small, words) == -np.inf


def test_project_and_expand():
    rng = np.random.default_rng(0)
    numbers, vector = rng.standard_normal(20), rng.standard_normal(7)
    matrix = numbers[2:14].reshape(4, 3)
    found = np.full(5, np.nan)
    project(numbers, 2, 3, 4, vector, 1, found)
    assert found[:3] == pytest.approx(vector[1:5] @ matrix)
    again = vector.copy()
    expand(numbers, 2, 3, 4, 0.5, found, again, 1)
    expected = vector.copy()
    expected[1:5] += 0.5 * (matrix @ found[:3])
    assert again == pytest.approx(expected)


def test_room_is_that_of_the_widest_group():
    sizes = np.array([[2, 3, 9], [5, 4, 1]])
    assert room(np.array([0]), sizes, np.array([0, 2])) == 6
    assert room(np.array([0, 1]), sizes, np.array([7, 0])) == 20
    assert room(np.array([0, 1]), sizes, np.array([7, 2])) == 7
    assert room(np.array([], int), sizes, np.array([7, 2])) == 1
