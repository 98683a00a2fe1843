"""Sequences in the form that users give them, some of them empty."""

import os
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np

from eigentext.corpus import EncodedCorpus, TextCorpus
from eigentext.corpus.items import kind_of_item

Word: TypeAlias = str | int | np.integer
Words: TypeAlias = Iterable[Word]
# What `encode_sequences` takes: text, a stream of words or integers, or sequences of them.
Text: TypeAlias = TextCorpus | EncodedCorpus | os.PathLike[str] | Words | Iterable[Words]


def without_empty(sequences: Any) -> tuple[Any, list[bool] | None]:
    """Return the sequences that are not empty, and a flag for each sequence: whether it is empty.

    The flags are None if the sequences are text or a stream.

    Examples
    --------
    >>> without_empty([["a", "b"], [], iter("c")])
    ([['a', 'b'], ['c']], [False, True, False])
    >>> without_empty(["a", "b"])
    (['a', 'b'], None)
    """
    is_text = isinstance(sequences, (TextCorpus, EncodedCorpus, str, os.PathLike))
    if is_text or not isinstance(sequences, Iterable):
        return sequences, None
    if isinstance(sequences, np.ndarray):
        if sequences.ndim == 2:
            return sequences, [sequences.shape[1] == 0] * len(sequences)
        if sequences.dtype != object:
            return sequences, None
    items = list(sequences)
    if any(kind_of_item(kind) != "tokens" for kind in set(map(type, items))):
        return items, None
    items = [unit if hasattr(unit, "__len__") else list(unit) for unit in items]
    is_empty = [len(unit) == 0 for unit in items]
    return [unit for unit, nothing in zip(items, is_empty) if not nothing], is_empty


def in_places(found: np.ndarray, is_empty: list[bool], empty: float = 0.0) -> np.ndarray:
    """Return the scores of all sequences: those found, and `empty` for each empty one."""
    scores = np.full(len(is_empty), empty)
    scores[~np.array(is_empty)] = found
    return scores
