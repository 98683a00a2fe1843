"""Attributes of a single token: its columns, and the form of its word."""

import re
from collections.abc import Callable
from functools import partial

from eigentext.errors import ParameterError

_AFFIX = re.compile(r"(prefix|suffix)([1-9]\d?)")


def attribute(name: str) -> Callable[[str], str] | None:
    """Return the function from a word to the attribute with this name, or None if it is unknown.

    Examples
    --------
    >>> [attribute(name)("McDonald's-97") for name in ("shape", "short_shape", "case", "digits")]
    ["XxXxxxxx'x-00", "XxXx'x-0", 'mixed', "McDonald's-00"]
    >>> attribute("prefix3")("is"), attribute("suffix2")("dogs")
    ('', 'gs')
    """
    if name in _LOOKS:
        return _LOOKS[name]
    if match := _AFFIX.fullmatch(name):
        length = int(match[2])
        return partial(_prefix if match[1] == "prefix" else _suffix, length)
    return None


def check_attribute(name: str, columns: tuple[str, ...]) -> None:
    """Raise ParameterError if a template may not use this name."""
    if name in columns or attribute(name):
        return
    raise ParameterError(
        f"no attribute {name!r}: use the columns {', '.join(columns)}, an attribute of a word "
        f"({', '.join(_LOOKS)}, prefix1, suffix3, …), or clusters and vectors if they are given"
    )


def shape(word: str) -> str:
    """Return X for a capital, x for another letter, 0 for a digit, and other signs unchanged."""
    return "".join(map(_kind, word))


def short_shape(word: str) -> str:
    """Return the shape, with each run of one kind shortened to one letter."""
    kinds = shape(word)
    return "".join(kind for i, kind in enumerate(kinds) if i == 0 or kind != kinds[i - 1])


def case(word: str) -> str:
    """Return how the word is capitalized: "lower", "upper", "capital", "mixed" or "none"."""
    if word.islower():
        return "lower"
    if word.isupper():
        return "upper" if len(word) > 1 else "capital"
    if word[:1].isupper() and not any(map(str.isupper, word[1:])):
        return "capital"
    return "mixed" if any(map(str.isalpha, word)) else "none"


def digits(word: str) -> str:
    """Return the word with every digit replaced by 0."""
    return "".join("0" if letter.isdigit() else letter for letter in word)


def _prefix(length: int, word: str) -> str:
    return word[:length] if len(word) >= length else ""


def _suffix(length: int, word: str) -> str:
    return word[-length:] if len(word) >= length else ""


def _kind(letter: str) -> str:
    if letter.isupper():
        return "X"
    if letter.isalpha():
        return "x"
    return "0" if letter.isdigit() else letter


_LOOKS: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "shape": shape,
    "short_shape": short_shape,
    "case": case,
    "digits": digits,
}
