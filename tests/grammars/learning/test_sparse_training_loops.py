"""The passes of EM with sparse grammars, beside those with tensors."""

from dataclasses import replace

import numpy as np
import pytest

from eigentext.grammars.grammar import Grammar
from eigentext.grammars.learning import shard
from eigentext.grammars.learning.shard import GrammarParameters
from eigentext.grammars.learning.training import Smoothing, maximize
from eigentext.grammars.sparse_grammar import SparseCounts


@pytest.fixture(params=[0, 6])
def pair(request, latent, hand_trees, monkeypatch):
    """Trees, and the same parameters by sparse counts and by tensors; runs are short or long."""
    monkeypatch.setattr(shard, "LEAST_SHARE", 0.0)
    trees = list(hand_trees) * (1 + request.param)  # then the runs of a rule are long
    world = latent(trees, (2, 1, 3), request.param, shape=0.3)
    counts = world.trees.expect(world.parameters)
    keys = np.flatnonzero(counts.tensor > 1e-3)
    counts = replace(counts, tensor=SparseCounts.of(keys, counts.tensor[keys]))
    few = maximize(world.trees, world.parameters.grammar, counts, Smoothing())
    grammar = few.grammar
    dense = Grammar(grammar.rules, grammar.n_states, grammar.tensor, grammar.root)
    return world.trees, few, GrammarParameters(dense, few.lexical)


def test_expected_counts_equal_those_with_tensors(pair):
    trees, few, dense = pair
    found, expected = trees.expect(few), trees.expect(dense)
    assert found.log_likelihood == pytest.approx(expected.log_likelihood, rel=1e-9)
    tensor = found.tensor.dense(len(expected.tensor))
    assert tensor == pytest.approx(expected.tensor, rel=1e-6, abs=1e-12)
    assert found.states == pytest.approx(expected.states, rel=1e-6)
    assert found.lexical == pytest.approx(expected.lexical, rel=1e-9, abs=1e-15)
    assert found.root == pytest.approx(expected.root, rel=1e-9, abs=1e-15)


def test_posteriors_of_leaves_equal_those_with_tensors(pair):
    trees, few, dense = pair
    for found, expected in zip(trees.leaf_posteriors(few), trees.leaf_posteriors(dense)):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_small_counts_are_left_out(pair, monkeypatch):
    trees, few, _ = pair
    every = trees.expect(few).tensor
    monkeypatch.setattr(shard, "LEAST_SHARE", 0.01)
    found = trees.expect(few).tensor
    offsets = few.grammar.tensor_offsets
    rule = np.searchsorted(offsets, every.key, side="right") - 1
    large = every.value >= 0.01 * np.bincount(rule, every.value)[rule]
    assert found.key.tolist() == every.key[large].tolist()
    assert 0 < len(found.key) < len(every.key)


def test_parameters_return_from_a_checkpoint(pair):
    _, few, _ = pair
    again = few.replaced(few.arrays("x."), "x.")
    assert np.array_equal(again.grammar.tensor, few.grammar.tensor)
    assert np.array_equal(again.lexical, few.lexical)
