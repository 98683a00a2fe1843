"""Sequences as they are given, of which each wants an answer in its place."""

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from eigentext.corpus import EncodedCorpus, TextCorpus
from eigentext.corpus.text import kind_of_item


def without_empty(sequences: Any) -> tuple[Any, list[bool] | None]:
    """The sequences that are not empty, and which of all are; None for text and for a stream.

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


def in_places(found: np.ndarray, is_empty: list[bool]) -> np.ndarray:
    """What was found for the sequences that are not empty, with 0 where the others stood."""
    scores = np.zeros(len(is_empty))
    scores[~np.array(is_empty)] = found
    return scores
