"""What a parser learned from plain text, as arrays for a model file, and back."""

from typing import Any

import numpy as np

from eigentext.grammars.treebank.plain_text import TextTags
from eigentext.parameters import Number, Parameter
from eigentext.storage.schema import Array, Schema, Strings, damage

_ARRAYS: dict[str, Array | Strings] = {
    "text.words": Strings("text words", unique=True, optional=True),
    "text.scores": Array("float16", ("text words", "tags"), optional=True),
    "text.groups": Array("int", ("text words",), least=-1, below="text words", optional=True),
    "text.mate_tags": Array("float64", ("text groups", "tags"), least=0, optional=True),
    "text.features": Strings("text features", unique=True, optional=True),
    "text.weights": Array("float32", ("text features", "tags"), largest=1e6, optional=True),
}
_SHARE: Parameter = Number(0.0, least=0, most=1)


def text_schema(about: dict[str, Any]) -> dict[str, Array | Strings]:
    """What the file of a parser may hold of plain text: all of this, or nothing."""
    shares = about.get("coverage", {})
    if not isinstance(shares, dict):
        raise damage("coverage", "is not a table of shares")
    Schema(about=dict.fromkeys(shares, _SHARE)).check({}, shares)
    return _ARRAYS


def text_to_arrays(text: TextTags | None) -> dict[str, Any]:
    """The arrays of a file; none without plain text."""
    if text is None:
        return {}
    parts = text.words, text.scores, text.groups, text.mate_tags, text.features, text.weights
    return dict(zip(_ARRAYS, parts, strict=True))


def arrays_to_text(arrays: Any) -> TextTags | None:
    """What :func:`text_to_arrays` saved."""
    there = [name in arrays for name in _ARRAYS]
    if not any(there):
        return None
    if not all(there):
        missing = next(name for name in _ARRAYS if name not in arrays)
        raise damage(missing, "is missing, where other parts of plain text are there")
    words, scores, groups, mate_tags, features, weights = (arrays[name] for name in _ARRAYS)
    groups = np.array(groups, np.int32)
    if groups.max(initial=-1) + 2 != len(mate_tags):
        raise damage("text.mate_tags", f"has {len(mate_tags)} rows, not one more than clusters")
    return TextTags(
        list(features), np.array(weights), list(words), np.array(scores), groups,
        np.array(mate_tags),
    )  # fmt: skip
