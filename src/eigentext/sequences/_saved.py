"""What the files of models of sequences have in common: how their documents are checked."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from eigentext.parameters import REQUIRED, Choice, Count, Flag, Given, Number, Parameter, is_number
from eigentext.storage.schema import Array, Strings, damage

LARGEST = 1 << 53  # of counts and of their sums: floats of 64 bits are exact up to here
_DRIFT = 1e-4  # of probabilities that were rounded to 32 bits and added up


def record(what: str, needed: tuple[str, ...] = (), **kinds: Parameter) -> Given:
    """A dictionary in which these names, if they are there, have values of these kinds."""

    def is_one(value: Any) -> bool:
        return (
            isinstance(value, Mapping)
            and all(isinstance(name, str) for name in value)
            and all(name in value for name in needed)
            and all(kind.accepts(value[name]) for name, kind in kinds.items() if name in value)
        )

    return Given(REQUIRED, what=what, test=is_one)


def items(what: str, test: Callable[[Any], bool]) -> Given:
    """A list whose items all pass a test."""
    return Given(
        REQUIRED,
        what=what,
        test=lambda value: isinstance(value, (list, tuple)) and all(map(test, value)),
    )


def is_figure(value: Any) -> bool:
    """A number that is no NaN; a perplexity may be infinite."""
    return is_number(value) and value == value


FIGURES = items("a list of numbers", is_figure)
NAMES = items("a list of strings", lambda value: isinstance(value, str))
FIGURE = Number(0.0, infinite=True)
OPTIONS = record(
    "how the text was read: tokenizer, lowercase, unit",
    tokenizer=Given("none", what="a name", test=lambda value: isinstance(value, str)),
    lowercase=Flag(False),
    unit=Choice("line", of=("line", "document", "stream")),
)
PROVENANCE = record(
    "what it was learned from: n_tokens, options, sources",
    ("n_tokens", "options", "sources"),
    n_tokens=Count(0, least=0),
    options=OPTIONS,
    sources=NAMES,
)
WORDS: dict[str, Array | Strings] = {
    "words": Strings("words", unique=True),
    "word_counts": Array("int64", ("words",), least=0, below=LARGEST),
}


def check_sums(name: str, rows: np.ndarray) -> None:
    """Raise unless every row holds probabilities that add up to 1."""
    if not (np.abs(rows.sum(axis=-1, dtype=np.float64) - 1) <= _DRIFT).all():
        raise damage(name, "has probabilities that do not add up to 1")


def check_total(name: str, counts: Iterable[int] | np.ndarray) -> None:
    """Raise if counts, added up, are too many for exact sums."""
    if np.asarray(counts).sum(dtype=np.float64) >= LARGEST:
        raise damage(name, "counts more than can be added up")
