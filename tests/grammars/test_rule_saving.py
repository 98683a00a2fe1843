"""The rules of grammars in files: tensors, factors, or sparse counts."""

import numpy as np
import pytest

from eigentext.errors import ModelFileError
from eigentext.grammars.factored_grammar import FactoredGrammar
from eigentext.grammars.grammar import Grammar
from eigentext.grammars.learning.low_rank import low_rank
from eigentext.grammars.learning.training import Smoothing, maximize
from eigentext.grammars.rule_saving import arrays_to_grammar, grammar_to_arrays, round_tensor
from eigentext.grammars.sparse_grammar import SparseCounts, SparseGrammar


@pytest.fixture
def grammar(latent, hand_trees):
    world = latent(hand_trees, (2, 1, 3), 0, shape=0.3)
    counts = world.trees.expect(world.parameters)
    keys = np.flatnonzero(counts.tensor > 1e-3)
    counts.tensor = SparseCounts.of(keys, counts.tensor[keys])
    return maximize(world.trees, world.parameters.grammar, counts, Smoothing()).grammar


def named(grammar, **changes):
    return {f"x.{key}": part for key, part in (grammar_to_arrays(grammar) | changes).items()}


def read(grammar, arrays):
    return arrays_to_grammar("x", arrays, grammar.rules, grammar.n_states, grammar.root)


def test_sparse_counts_return_as_they_were(grammar):
    again = read(grammar, named(grammar))
    assert isinstance(again, SparseGrammar)
    assert again.mixing == grammar.mixing
    for part, expected in zip(again.parts, grammar.parts):
        assert np.array_equal(part, expected)


def damaged(grammar):
    saved = grammar_to_arrays(grammar)
    places = saved["entry_places"].astype(np.int64)
    yield {"entry_places": places + 10_000}
    yield {"entry_places": places[::-1].copy()}
    yield {"entry_counts": 1e6 * saved["entry_counts"]}
    yield {"state_counts": 0 * saved["state_counts"]}
    yield {"mixing": np.array([2.0, 1.0, 1.0])}


def test_wrong_counts_are_refused(grammar):
    for changes in damaged(grammar):
        with pytest.raises(ModelFileError):
            read(grammar, named(grammar, **changes))


def test_neither_a_tensor_nor_counts(grammar):
    arrays = named(grammar)
    del arrays["x.mixing"]
    with pytest.raises(ModelFileError, match="tensor is missing"):
        read(grammar, arrays)


@pytest.fixture
def dense(grammar):
    return Grammar(grammar.rules, grammar.n_states, grammar.tensor, grammar.root)


def test_factors_return_as_they_were(dense):
    small = low_rank(dense, 1).grammar
    assert small.parts.ranks.any()
    again = read(dense, named(small))
    assert isinstance(again, FactoredGrammar)
    for part, expected in zip(again.parts, small.parts):
        assert np.array_equal(part, expected)
        assert part.dtype == expected.dtype


def test_rounded_tensors_take_half_the_room(dense):
    assert grammar_to_arrays(dense)["tensor"].dtype == np.float64  # nothing is lost
    before = dense.tensor.copy()
    round_tensor(dense)
    assert dense.tensor.dtype == np.float64
    assert dense.tensor == pytest.approx(before, rel=1e-7)
    assert grammar_to_arrays(dense)["tensor"].dtype == np.float32
    assert np.array_equal(read(dense, named(dense)).tensor, dense.tensor)
    once = dense.tensor.copy()
    round_tensor(dense)
    assert np.array_equal(dense.tensor, once)


def test_nothing_becomes_impossible(dense):
    dense.tensor[:3] = 1e-60, -1e-60, 0.0
    round_tensor(dense)
    tiny = np.finfo(np.float32).tiny
    assert dense.tensor[:3].tolist() == [tiny, -tiny, 0.0]


@pytest.mark.parametrize("value", [1e60, -1e60, np.nan, np.inf])
def test_nothing_becomes_infinite(dense, value):
    dense.tensor[0] = value
    before = dense.tensor.copy()
    round_tensor(dense)
    assert np.array_equal(dense.tensor, before, equal_nan=True)
    assert grammar_to_arrays(dense)["tensor"].dtype == np.float64


def test_small_forms_stay_as_they_are(grammar, dense):
    for one in (grammar, low_rank(dense, 1).grammar):
        before = one.tensor
        round_tensor(one)
        assert np.array_equal(one.tensor, before)
