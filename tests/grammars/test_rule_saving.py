"""The rules of grammars in files: tensors, or sparse counts."""

import numpy as np
import pytest

from eigentext.errors import ModelFileError
from eigentext.grammars.learning.training import Smoothing, maximize
from eigentext.grammars.rule_saving import arrays_to_grammar, grammar_to_arrays
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
