"""What may be asked, and how much of it: every value of a request is checked here."""

import math
from typing import Any

from eigentext.errors import EigentextError

MOST_BYTES = 256_000  # of a request's body
MOST_TOKENS = 5_000  # of a text
MOST_WORDS = 200  # of a sentence: parsing takes time by the cube of their number
MOST_TREES = 50  # of a list of the k best
MOST_FOUND = 200  # neighbours and the like
MOST_POINTS = 20_000  # on a map
_LONGEST_WORD = 200  # characters

Arguments = dict[str, Any]  # of strings from a query, of anything from JSON


class RefusedError(EigentextError):
    """A request that is not answered: with an HTTP status, and whatever else helps to ask again."""

    def __init__(self, status: int, message: str, **more: Any):
        super().__init__(message)
        self.status, self.more = status, more


def whole(arguments: Arguments, name: str, default: int, *, least: int = 1, most: int) -> int:
    """A whole number between two limits."""
    value = arguments.get(name, default)
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise RefusedError(400, f"{name} must be a whole number from {least} to {most:,}")
    return value


def number(arguments: Arguments, name: str, default: float, *, above: float, most: float) -> float:
    """A number above one limit and up to another."""
    value = arguments.get(name, default)
    good = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not good or not math.isfinite(value) or not above < value <= most:
        raise RefusedError(400, f"{name} must be a number above {above:g} and at most {most:g}")
    return float(value)


def text(arguments: Arguments, name: str = "text") -> str:
    """A string of valid Unicode that is not blank."""
    value = arguments.get(name)
    if not isinstance(value, str):
        raise RefusedError(400, f"give {name!r}, a string")
    if not value.strip():
        raise RefusedError(400, f"{name} is empty; type some words")
    return _plain(value, name)


def word(arguments: Arguments, name: str = "word", *, empty: bool = False) -> str:
    """One word; blanks inside are its own."""
    value = arguments.get(name, "" if empty else None)
    if not isinstance(value, str) or not (value or empty):
        raise RefusedError(400, f"give {name!r}, a word")
    if len(value) > _LONGEST_WORD:
        raise RefusedError(400, f"{name} is longer than {_LONGEST_WORD} characters; shorten it")
    return _plain(value, name)


def check_length(tokens: list[str], most: int, what: str) -> list[str]:
    """The tokens, if there are some and not too many."""
    if not tokens:
        raise RefusedError(400, f"no words in the {what}; type some")
    if len(tokens) > most:
        raise RefusedError(
            400, f"the {what} has {len(tokens):,} words, and {most:,} is the most; shorten it"
        )
    return tokens


def _plain(value: str, name: str) -> str:
    # Halves of surrogate pairs pass through JSON, and NUL parts units in a corpus.
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise RefusedError(400, f"{name} has characters that no text has; take them out")
    return value
