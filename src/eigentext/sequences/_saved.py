"""Checks that the files of all models of sequences share."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from eigentext.parameters import REQUIRED, Given, Number, is_number
from eigentext.storage.schema import Array, Strings, damage

LARGEST = 1 << 53  # counts and their sums are smaller: floats of 64 bits are exact up to here
_DRIFT = 1e-4  # the error of a sum of probabilities that were rounded to 32 bits


def items(what: str, test: Callable[[Any], bool]) -> Given:
    """Describe a list whose items all pass a test."""
    return Given(
        REQUIRED,
        what=what,
        test=lambda value: isinstance(value, (list, tuple)) and all(map(test, value)),
    )


def is_figure(value: Any) -> bool:
    """Whether a value is a number, which may be infinite but not NaN."""
    return is_number(value) and value == value


def are_figures(value: Any) -> bool:
    """Whether a value is a list of numbers, which may be infinite but not NaN."""
    return isinstance(value, (list, tuple)) and all(map(is_figure, value))


FIGURES = items("a list of numbers", is_figure)
FIGURE = Number(0.0, infinite=True)
WORDS: dict[str, Array | Strings] = {
    "words": Strings("words", unique=True),
    "word_counts": Array("int64", ("words",), least=0, below=LARGEST),
}


def check_sums(name: str, rows: np.ndarray) -> None:
    """Raise ModelFileError unless every row holds probabilities that add up to 1."""
    if not (np.abs(rows.sum(axis=-1, dtype=np.float64) - 1) <= _DRIFT).all():
        raise damage(name, "has probabilities that do not add up to 1")


def check_total(name: str, counts: Iterable[int] | np.ndarray) -> None:
    """Raise ModelFileError if the sum of counts is too large to be exact."""
    if np.asarray(counts).sum(dtype=np.float64) >= LARGEST:
        raise damage(name, "counts more than can be added up")
