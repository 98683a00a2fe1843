"""Packed parameters: where things are, and the PCFG of a treebank by hand."""

import numpy as np
import pytest

from eigentext.grammars.grammar import Grammar, ranges, starts, tensor_sizes
from eigentext.grammars.treebank.normal_form import Rules, Treebank


def test_one_after_another():
    sizes = np.array([2, 0, 3, 1])
    assert starts(sizes).tolist() == [0, 2, 2, 5, 6]
    assert ranges(10 * np.arange(len(sizes)), sizes).tolist() == [0, 1, 20, 21, 22, 30]
    nothing = np.empty(0, np.int64)
    assert starts(nothing).tolist() == [0]
    assert ranges(nothing, nothing).tolist() == []


def test_tensors_are_packed_with_the_parent_innermost():
    rules = Rules(*np.array([[0, 0], [1, 2], [2, 0], [1, 1]]))
    n_states = np.array([2, 3, 4], np.int32)
    assert tensor_sizes(rules, n_states).tolist() == [[3, 4, 2], [4, 2, 2]]
    grammar = Grammar(rules, n_states, np.arange(40.0), np.zeros(9))
    assert grammar.state_offsets.tolist() == [0, 2, 5, 9]
    assert grammar.tensor_offsets.tolist() == [0, 24, 40]
    assert grammar.parent_states.tolist() == [0, 0]
    assert grammar.tensor_of(0)[1, 2].tolist() == [12, 13]
    assert grammar.tensor_of(1).shape == (4, 2, 2)
    grammar.tensor_of(1)[3, 1, 1] = -1  # a view
    assert grammar.tensor[39] == -1


def test_relative_frequencies():
    treebank = Treebank.from_trees(
        ["(S (A a) (B b))", "(S (A a) (S (A a) (B b)))", "(S (S (A a) (B b)) (B c))", "(A a)"]
    )
    grammar = Grammar.maximum_likelihood(treebank)
    names = [str(symbol) for symbol in treebank.symbols]
    found = {
        tuple(names[a] for a in rule): grammar.tensor_of(r).item()
        for r, rule in enumerate(zip(*grammar.rules[:3]))
    }
    assert found == {("S", "A", "B"): 3 / 5, ("S", "A", "S"): 1 / 5, ("S", "S", "B"): 1 / 5}
    assert dict(zip(names, grammar.root)) == {"S": 0.75, "A": 0.25, "B": 0}
    assert grammar.n_states.tolist() == [1, 1, 1]


@pytest.mark.parametrize("trees", [["(A a)"], ["(A a)", "(B b)", "(A b)", "(A a)"]])
def test_trees_of_one_word_have_no_rules(trees):
    grammar = Grammar.maximum_likelihood(Treebank.from_trees(trees))
    assert grammar.tensor.shape == (0,)
    assert grammar.sizes.shape == (0, 3)
    assert grammar.tensor_offsets.tolist() == [0]
    assert grammar.root.tolist() == ([1] if len(trees) == 1 else [0.75, 0.25])
