"""The rules of a grammar as arrays for a model file, and back, with all checks.

A grammar has a tensor, factors (``factored_grammar.py``), or sparse counts (``sparse_grammar.py``).
A fit rounds its tensors to numbers of 32 bits (:func:`round_tensor`), and a file has them so. Other
tensors, such as those of older files, are saved with 64 bits, so that nothing changes.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from eigentext.grammars.factored_grammar import FactoredGrammar, lengths
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
_FACTORED = ("ranks", "factors")
_LARGEST_FACTOR = 1e30  # so that the product of three is finite
_MOST_RANK = 1 << 24
_CHUNK = 1 << 20  # numbers that are rounded at a time, so that no copy of a tensor is made
_MOST_COUNTS = 1e15  # of a rule or state, so that their ratios stay finite
_ROUNDED = 1.001  # counts are kept with seven digits, and may exceed their sum by so much


def small_arrays(name: str, states: str, least: float) -> dict[str, Array]:
    """What the arrays of sparse counts and of factors must be. Factors are at least `least`."""
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
    found = {key: found[key] for key in (*_SPARSE[1:], _SPARSE[0])}
    return found | {
        "ranks": Array("int", ("fine rules",), least=0, below=_MOST_RANK, optional=True),
        "factors": Array(
            "float32", (f"{name} factors",), least=least, largest=_LARGEST_FACTOR, optional=True
        ),
    }


def round_tensor(grammar: Grammar) -> None:
    """Round the tensor to numbers that 32 bits can hold, in place. Small forms are so already.

    Numbers that are too small become the smallest such number, so that nothing becomes impossible.
    """
    if isinstance(grammar, (SparseGrammar, FactoredGrammar)):
        return
    tensor, tiny = grammar.tensor, float(np.finfo(np.float32).tiny)
    if not max(tensor.max(initial=0.0), -tensor.min(initial=0.0)) < _LARGEST_FACTOR:
        return  # too large, or not a number
    for start in range(0, len(tensor), _CHUNK):
        part = tensor[start : start + _CHUNK]
        lost = (np.abs(part) < tiny) & (part != 0)
        part[:] = np.where(lost, np.copysign(tiny, part), part.astype(np.float32))


def arrays_to_grammar(
    name: str, arrays: Any, rules: Rules, n_states: np.ndarray, root: np.ndarray
) -> Grammar:
    """The grammar of a level: by its tensor, by factors, or by sparse counts."""
    shape = Grammar(rules, n_states, np.empty(0), root)
    # In floating point: integer products of wrong numbers could overflow to the right sum.
    size = shape.sizes.astype(float).prod(axis=1)
    if f"{name}.tensor" in arrays:
        shape.tensor = np.array(arrays[f"{name}.tensor"], np.float64)
        if size.sum() != len(shape.tensor):
            raise damage(f"{name}.tensor", f"has {len(shape.tensor)} numbers, not {size.sum():.0f}")
        return shape
    if any(f"{name}.{key}" in arrays for key in _FACTORED):
        return _factored(name, arrays, shape)
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


def _factored(name: str, arrays: Any, shape: Grammar) -> Grammar:
    for key in _FACTORED:
        if f"{name}.{key}" not in arrays:
            raise damage(f"{name}.{key}", "are missing, where other parts of factors are there")
    ranks, factors = (np.array(arrays[f"{name}.{key}"]) for key in _FACTORED)
    size = lengths(shape.sizes.astype(float), ranks.astype(float)).sum()
    if size != len(factors):
        raise damage(f"{name}.factors", f"has {len(factors)} numbers, not {size:.0f}")
    return FactoredGrammar(shape.rules, shape.n_states, ranks, factors, shape.root)


def grammar_to_arrays(grammar: Grammar) -> dict[str, np.ndarray]:
    """The arrays of a file: a tensor, factors, or sparse counts."""
    if isinstance(grammar, FactoredGrammar):
        ranks = grammar.parts.ranks
        short = np.uint8 if ranks.max(initial=0) < 1 << 8 else np.uint32
        return {"ranks": ranks.astype(short), "factors": grammar.parts.numbers}
    if not isinstance(grammar, SparseGrammar):
        with np.errstate(over="ignore"):
            small = grammar.tensor.astype(np.float32)
        return {"tensor": small if np.array_equal(small, grammar.tensor) else grammar.tensor}
    key, value = grammar.counts
    offsets = grammar.parts.entries
    places = key - np.repeat(grammar.tensor_offsets[:-1], np.diff(offsets))
    short = np.uint16 if places.max(initial=0) < 1 << 16 else np.uint32
    parts = offsets, places.astype(short), value.astype(np.float32), grammar.states
    return dict(zip(_SPARSE, (*parts, np.array(grammar.mixing)), strict=True))
