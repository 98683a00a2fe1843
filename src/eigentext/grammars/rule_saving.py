"""The rules of a grammar as arrays for a model file, and back, with all checks.

A grammar has a tensor, or sparse counts (``sparse_grammar.py``).
"""

from dataclasses import replace
from typing import Any

import numpy as np

from eigentext.grammars.grammar import Grammar
from eigentext.grammars.sparse_grammar import (
    MOST_STATES,
    Mixing,
    SparseCounts,
    SparseGrammar,
    parent_counts,
)
from eigentext.grammars.treebank.normal_form import Rules
from eigentext.storage.schema import Array, damage

_SPARSE = ("entry_offsets", "entry_places", "entry_counts", "state_counts", "mixing")
_MOST_COUNTS = 1e15  # of a rule or state, so that their ratios stay finite
_ROUNDED = 1.001  # counts are kept with seven digits, and may exceed their sum by so much


def sparse_arrays(name: str, states: str) -> dict[str, Array]:
    """What the arrays of sparse counts must be."""
    entries = f"{name} counts"

    def some(kind: str, *shape: str | int, **limits: Any) -> Array:
        return Array(kind, shape, least=0, below=_MOST_COUNTS, optional=True, **limits)

    kinds = (
        Array("int", ("fine rules+1",), rising_to=entries, optional=True),
        replace(some("int", entries), below=2**53),
        some("float32", entries),
        some("float64", states),
        some("float64", 3),
    )
    # The size of the entries is known from the places: offsets are checked after them.
    found = dict(zip(_SPARSE, kinds, strict=True))
    return {key: found[key] for key in (*_SPARSE[1:], _SPARSE[0])}


def arrays_to_grammar(
    name: str, arrays: Any, rules: Rules, n_states: np.ndarray, root: np.ndarray
) -> Grammar:
    """The grammar of a level: by its tensor, or by sparse counts."""
    shape = Grammar(rules, n_states, np.empty(0), root)
    # In floating point: integer products of wrong numbers could overflow to the right sum.
    size = shape.sizes.astype(float).prod(axis=1)
    if f"{name}.tensor" in arrays:
        shape.tensor = np.array(arrays[f"{name}.tensor"])
        if size.sum() != len(shape.tensor):
            raise damage(f"{name}.tensor", f"has {len(shape.tensor)} numbers, not {size.sum():.0f}")
        return shape
    for key in _SPARSE:
        if f"{name}.{key}" not in arrays:
            raise damage(f"{name}.tensor", "is missing, and so are sparse counts")
    offsets, places, values, states, mixing = (np.array(arrays[f"{name}.{key}"]) for key in _SPARSE)
    if size.sum() >= 2**53 or n_states.max() > MOST_STATES:
        raise damage(f"{name}.n_states", "are too many")
    if mixing[0] > 1:
        raise damage(f"{name}.mixing", "has a share above 1")
    rule = np.repeat(np.arange(len(size)), np.diff(offsets.astype(np.int64)))
    places = places.astype(np.int64)
    keys = shape.tensor_offsets[rule] + places
    if (places >= size[rule]).any() or (np.diff(keys) <= 0).any():
        raise damage(f"{name}.entry_places", "do not rise, or are outside of their tensors")
    counts = SparseCounts(keys, values.astype(np.float64))
    if (parent_counts(shape, counts) > _ROUNDED * states).any():
        raise damage(f"{name}.state_counts", "are smaller than the counts of their rules")
    return SparseGrammar(rules, n_states, counts, states, root, Mixing(*mixing.tolist()))


def grammar_to_arrays(grammar: Grammar) -> dict[str, np.ndarray]:
    """The arrays of a file: a tensor, or sparse counts."""
    if not isinstance(grammar, SparseGrammar):
        return {"tensor": grammar.tensor}
    key, value = grammar.counts
    offsets = grammar.parts.entries
    places = key - np.repeat(grammar.tensor_offsets[:-1], np.diff(offsets))
    short = np.uint16 if places.max(initial=0) < 1 << 16 else np.uint32
    parts = offsets, places.astype(short), value.astype(np.float32), grammar.states
    return dict(zip(_SPARSE, (*parts, np.array(grammar.mixing)), strict=True))
