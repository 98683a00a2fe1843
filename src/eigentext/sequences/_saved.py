"""What the files of models of sequences have in common: how their documents are checked."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from eigentext.parameters import REQUIRED, Given, Number, is_number
from eigentext.storage.schema import Array, Strings, damage

LARGEST = 1 << 53  # of counts and of their sums: floats of 64 bits are exact up to here
_DRIFT = 1e-4  # of probabilities that were rounded to 32 bits and added up


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
FIGURE = Number(0.0, infinite=True)
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
