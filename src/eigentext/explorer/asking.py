"""Checks every value of a request: its type, its range and its size."""

import math
from typing import Any

from eigentext.errors import EigentextError

MOST_BYTES = 256_000  # of the body of a request
MOST_TOKENS = 5_000  # of a text
MOST_WORDS = 200  # of a sentence: the time of parsing grows with the cube of this number
MOST_TREES = 50  # of the k best trees
MOST_FOUND = 200  # of neighbors, clusters and other lists
MOST_POINTS = 20_000  # of a map
_LONGEST_WORD = 200  # characters

Arguments = dict[str, Any]  # a query string has strings, JSON has values of any type


class RefusedError(EigentextError):
    """A request is refused. It has an HTTP status, and more that helps to ask again."""

    def __init__(self, status: int, message: str, **more: object):
        super().__init__(message)
        self.status, self.more = status, more


def whole(arguments: Arguments, name: str, default: int, *, least: int = 1, most: int) -> int:
    """Return a whole number between two limits."""
    value = arguments.get(name, default)
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise RefusedError(400, f"{name} must be a whole number from {least} to {most:,}")
    return value


def number(arguments: Arguments, name: str, default: float, *, above: float, most: float) -> float:
    """Return a number above one limit and up to another."""
    value = arguments.get(name, default)
    good = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not good or not math.isfinite(value) or not above < value <= most:
        raise RefusedError(400, f"{name} must be a number above {above:g} and at most {most:g}")
    return float(value)


def text(arguments: Arguments, name: str = "text") -> str:
    """Return a string of valid Unicode that is not blank."""
    value = arguments.get(name)
    if not isinstance(value, str):
        raise RefusedError(400, f"give {name!r}, a string")
    if not value.strip():
        raise RefusedError(400, f"{name} is empty; type some words")
    return _plain(value, name)


def word(arguments: Arguments, name: str = "word", *, empty: bool = False) -> str:
    """Return one word, which may contain blanks."""
    value = arguments.get(name, "" if empty else None)
    if not isinstance(value, str) or not (value or empty):
        raise RefusedError(400, f"give {name!r}, a word")
    if len(value) > _LONGEST_WORD:
        raise RefusedError(400, f"{name} is longer than {_LONGEST_WORD} characters; shorten it")
    return _plain(value, name)


def check_length(tokens: list[str], most: int, what: str) -> list[str]:
    """Return the tokens. Refuse them if there are none or too many."""
    if not tokens:
        raise RefusedError(400, f"the {what} has no words; type some")
    if len(tokens) > most:
        raise RefusedError(
            400,
            f"the {what} has {len(tokens):,} words, but at most {most:,} are allowed; shorten it",
        )
    return tokens


def _plain(value: str, name: str) -> str:
    # JSON may contain halves of surrogate pairs. NUL separates units in a corpus.
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise RefusedError(400, f"{name} contains characters that are not text; remove them")
    return value
