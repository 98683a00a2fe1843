"""The passes over forests with sparse grammars, beside those with tensors."""

import numpy as np
import pytest

from eigentext.grammars.chart.forest import inside_outside, state_posteriors
from eigentext.grammars.grammar import Grammar
from eigentext.grammars.sparse_grammar import Mixing, SparseCounts, SparseGrammar
from eigentext.grammars.treebank.normal_form import Rules

RULES = Rules(*np.array([[0, 0, 1, 1, 0], [0, 0, 0, 2, 2], [0, 1, 2, 0, 2], [1, 1, 1, 1, 1]]))
WORDS = [[0, 1, 2], [0, 2], [0, 1], [2], [0, 1, 2]]


def grammars(seed, n_states=(3, 2, 4)):
    """A sparse grammar, and the same with its tensor."""
    rng = np.random.default_rng(seed)
    sizes = np.resize(n_states, 1 + max(int(x.max()) for x in RULES[:3]))
    shape = Grammar(RULES, sizes, np.empty(0), np.empty(0))
    n = int(shape.tensor_offsets[-1])
    keys = np.sort(rng.choice(n, n // 2, replace=False))
    counts = SparseCounts.of(keys, rng.gamma(0.3, size=len(keys)) + 1e-6)
    states = rng.gamma(2.0, size=int(sizes.sum())) + 10.0
    root = rng.random(int(sizes.sum()))
    found = SparseGrammar(RULES, sizes, counts, states, root, Mixing(0.03, 5.0, 2.0))
    return found, Grammar(RULES, sizes, found.tensor, root)


def leaf_words(forest, grammar, seed):
    leaves = np.flatnonzero(np.diff(forest.groups) == 0)
    return np.random.default_rng(seed).random(int(grammar.n_states[forest.label[leaves]].sum()))


@pytest.mark.parametrize("seed", range(5))
def test_both_passes_equal_those_with_tensors(whole_forest, seed):
    forest = whole_forest(RULES, WORDS)
    few, dense = grammars(seed)
    words = leaf_words(forest, few, seed)
    found, expected = (inside_outside(forest, grammar, words) for grammar in (few, dense))
    assert found.log_probability == pytest.approx(expected.log_probability, rel=1e-9)
    assert found.items == pytest.approx(expected.items, rel=1e-9, abs=1e-15)
    assert found.edges == pytest.approx(expected.edges, rel=1e-9, abs=1e-15)
    states = [state_posteriors(forest, grammar, words).states for grammar in (few, dense)]
    assert states[0] == pytest.approx(states[1], rel=1e-9, abs=1e-15)


def test_numbers_out_of_range_are_done_again(whole_forest):
    """The wide passes take the tensors of the rules of the forest."""
    forest = whole_forest(RULES, WORDS)
    few, dense = grammars(0)
    words = leaf_words(forest, few, 0)
    words[::2] *= 1e-200
    found, expected = (inside_outside(forest, grammar, words) for grammar in (few, dense))
    assert found.log_probability == pytest.approx(expected.log_probability, rel=1e-9)
    assert found.items == pytest.approx(expected.items, rel=1e-9, abs=1e-15)
