"""Sparse counts, and the tensors that they imply with their smoothing."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigentext.grammars.grammar import Grammar
from eigentext.grammars.learning.training import Smoothing, maximize
from eigentext.grammars.sparse_grammar import SparseCounts, SparseGrammar, parent_counts


def sparse(counts, share=0.0):
    """The same expectations, with counts that a grammar can keep."""
    keys = np.flatnonzero(counts.tensor > share)
    return replace(counts, tensor=SparseCounts.of(keys, counts.tensor[keys]))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([None, Smoothing(), Smoothing().times(0.3)]))
def test_the_tensor_is_that_of_the_m_step(latent, hand_trees, seed, smoothing):
    """The known answer: the dense M step, with its smoothing."""
    world = latent(hand_trees, (2, 1, 3), seed, shape=0.3)
    grammar, counts = world.parameters.grammar, world.trees.expect(world.parameters)
    few = sparse(counts)
    dense = few.tensor.dense(grammar.tensor_offsets[-1])
    expected = maximize(world.trees, grammar, replace(counts, tensor=dense), smoothing)
    found = maximize(world.trees, grammar, few, smoothing)
    assert isinstance(found.grammar, SparseGrammar)
    assert found.grammar.tensor == pytest.approx(expected.grammar.tensor, rel=1e-5, abs=1e-12)
    assert np.array_equal(found.lexical, expected.lexical)
    assert np.array_equal(found.grammar.root, expected.grammar.root)


def test_probabilities_of_a_state_sum_to_one(latent, hand_trees):
    world = latent(hand_trees, (3, 2), 1, shape=0.2)
    counts = sparse(world.trees.expect(world.parameters))
    found = maximize(world.trees, world.parameters.grammar, counts, Smoothing())
    grammar, trees = found.grammar, world.trees
    sums = np.zeros(len(grammar.root))
    for r, a in enumerate(grammar.rules.parent):
        at = grammar.state_offsets[a]
        sums[at : at + grammar.n_states[a]] += grammar.tensor_of(r).sum(axis=(0, 1))
    sums += np.bincount(trees.lexical_states(grammar), found.lexical, len(sums))
    assert sums[counts.states > 0] == pytest.approx(1.0, rel=1e-5)


def test_some_tensors_and_all_tensors(latent, hand_trees):
    world = latent(hand_trees, (2, 3), 2)
    counts = sparse(world.trees.expect(world.parameters))
    grammar = maximize(world.trees, world.parameters.grammar, counts, Smoothing()).grammar
    dense = Grammar(grammar.rules, grammar.n_states, grammar.tensor, grammar.root)
    some = np.array([3, 0, 1])
    assert np.array_equal(grammar.tensors_of(some), dense.tensors_of(some))
    assert np.array_equal(grammar.tensor_of(2), dense.tensor_of(2))
    assert grammar.state_means()[1] == pytest.approx(dense.state_means()[1])


def test_counts_are_added_by_their_places():
    one = SparseCounts.of(np.array([5, 2, 5]), np.array([1.0, 2.0, 0.5]))
    assert one.key.tolist() == [2, 5]
    assert one.value.tolist() == [2.0, 1.5]
    other = SparseCounts.of(np.array([0, 5]), np.array([4.0, 1.0]))
    both = one.plus(other)
    assert both.dense(7).tolist() == [4.0, 0, 2.0, 0, 0, 2.5, 0]
    nothing = SparseCounts.of(np.empty(0, np.int64), np.empty(0))
    assert one.plus(nothing).dense(6).tolist() == one.dense(6).tolist()


def test_counts_of_parents(latent, hand_trees):
    world = latent(hand_trees, (2, 3), 3)
    grammar, counts = world.parameters.grammar, world.trees.expect(world.parameters)
    words = np.bincount(world.trees.lexical_states(grammar), counts.lexical, len(grammar.root))
    found = parent_counts(grammar, sparse(counts).tensor)
    assert found == pytest.approx(counts.states - words, rel=1e-5, abs=1e-6)
