"""Tagged sentences as a table, with a row for each token."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

_OWN = ("sentence", "token", "tag", "confidence")


def token_schema(columns: Sequence[str], *, confidence: bool) -> pa.Schema:
    """The columns: sentence, token, those of the tagger, tag, and its probability if wanted.

    Examples
    --------
    >>> token_schema(["word", "tag"], confidence=False).names
    ['sentence', 'token', 'word', 'given_tag', 'tag']
    """
    given = [f"given_{name}" if name in _OWN else name for name in columns]
    kinds = dict.fromkeys(("sentence", "token"), pa.int64())
    kinds |= dict.fromkeys((*given, "tag"), pa.string())
    return pa.schema(kinds | ({"confidence": pa.float64()} if confidence else {}))


def token_table(
    schema: pa.Schema,
    tagged: Sequence[Sequence[tuple[str, ...]]],
    confidences: Sequence[Any] | None = None,
    *,
    first: int = 1,
) -> pa.Table:
    """Tokens with their columns and tags, in sentences with numbers from `first`.

    Tokens have numbers from 1 in their sentence. `confidences` has an array for each sentence.
    """
    lengths = [len(sentence) for sentence in tagged]
    parts = [*zip(*(token for sentence in tagged for token in sentence))]
    columns: list[Any] = [
        np.repeat(np.arange(first, first + len(tagged)), lengths),
        np.concatenate([np.arange(0), *(np.arange(1, length + 1) for length in lengths)]),
        *(parts or [[]] * (len(schema) - 2 - (confidences is not None))),
    ]
    if confidences is not None:
        columns.append(np.concatenate([np.zeros(0), *confidences]))
    arrays = [pa.array(part, field.type) for part, field in zip(columns, schema)]
    return pa.Table.from_arrays(arrays, schema=schema)
