"""Stop words of 33 languages, and which of these languages a text is in.

The English list is scikit-learn's, with contractions. The other lists are those of the package
`stop-words <https://pypi.org/project/stop-words/>`_ (its English list has 1,333 words, among them
"computer" and "system", which make topics).

A list is compared with words in lower case, without the signs at their ends. A word with
apostrophes is a stop word if all its parts are, or are single letters: "c'est", "qu'il". A word
without letters and digits is a *sign*.
"""

from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc

from eigentext.corpus.buffers import string_array
from eigentext.errors import ParameterError

_LEAST = 0.04  # the least share of stop words in a text whose language is recognized
_FEWEST = 3  # the fewest different stop words by which a language is recognized
_CLEAR = 0.7  # the language is clear if the next one has at most this part of the share
_MOST = 0.02  # the most that one word counts, as a share of the tokens
_ASIDE = 1e-3  # another language with a smaller share is not named
_AUXILIARIES = ("ai", "ca", "did", "do", "does", "let", "sha", "wo")  # of ain't, can't, won't, …
_ENDS = (("n", "t"), ("", "s"), ("", "m"), ("", "re"), ("", "ve"), ("", "ll"), ("", "d"))


class Guess(NamedTuple):
    """The language of a text, as far as its stop words tell it."""

    language: str | None  # None if too few words are stop words of any language
    share: float  # of its stop words; a word of n lists counts 1 / n for each of them
    other: str | None  # the language with the next largest share, if it is nearly as large

    @property
    def is_clear(self) -> bool:
        """Whether a language was recognized, and no other is nearly as likely."""
        return self.language is not None and self.other is None


class Stopped(NamedTuple):
    """What :func:`among` returns: for each word, whether it is a stop word, or a sign."""

    words: np.ndarray
    signs: np.ndarray


@cache
def languages() -> tuple[str, ...]:
    """Return the names of the languages that have a list, sorted."""
    from stop_words import AVAILABLE_LANGUAGES

    return tuple(sorted(AVAILABLE_LANGUAGES))


def language_named(name: str) -> str | None:
    """Return the language with this name or ISO 639-1 code, or None.

    Examples
    --------
    >>> language_named("es"), language_named("Spanish"), language_named("nonsense")
    ('spanish', 'spanish', None)
    """
    from stop_words import LANGUAGE_MAPPING

    name = name.lower()
    name = LANGUAGE_MAPPING.get(name, name)
    return name if name in languages() else None


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language, in lower case."""
    named = language_named(language)
    if named is None:
        raise ParameterError(
            f"there are no stop words of {language!r}; languages: {', '.join(languages())}"
        )
    if named == "english":
        return _english()
    from stop_words import get_stop_words

    # Some entries have stray signs at their ends. Phrases are not words.
    entries = _forms(get_stop_words(named))
    return frozenset(entry for entry in entries if entry and not any(map(str.isspace, entry)))


def _english() -> frozenset[str]:
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    # Its words come from a tokenizer that cuts at apostrophes. Ours keeps "don't" and "it's" whole.
    stems = {*ENGLISH_STOP_WORDS, *_AUXILIARIES}
    ends = [mark.join(end) for mark in "'’" for end in _ENDS]
    return frozenset(ENGLISH_STOP_WORDS) | {stem + end for stem in stems for end in ends}


def among(words: Iterable[str], language: str) -> Stopped:
    """Find the stop words of a language, and the signs.

    Examples
    --------
    >>> among(["The", "ham", "C'est", "it,", "--"], "english").words.tolist()
    [True, False, False, True, False]
    >>> among(["The", "ham", "C'est", "it,", "--"], "french").words.tolist()
    [False, False, True, False, False]
    >>> among(["The", "--", "3"], "english").signs.tolist()
    [False, True, False]
    """
    listed = stop_words(language)
    forms = _forms(words)
    return Stopped(
        np.array([form in listed or _is_elided(form, listed) for form in forms], bool),
        np.array([not form for form in forms], bool),
    )


def guess_language(words: Iterable[str], counts: Iterable[float]) -> Guess:
    """Guess the language of a text from its words and how often each occurs.

    Examples
    --------
    >>> guess_language(["the", "ham", "of", "them"], [9, 30, 2, 2]).language
    'english'
    >>> guess_language(["ham", "eggs"], [9, 30]).language is None
    True
    """
    lists, forms = _languages_of_words(), _forms(words)
    occurred = np.array([float(count) for count in counts]) * [bool(form) for form in forms]
    # So that no single word decides: "ham" is a stop word of Danish.
    occurred = np.minimum(occurred, _MOST * occurred.sum())
    total = float(occurred.sum())
    shares, seen = Counter[str](), Counter[str]()
    for form, count in zip(forms, occurred.tolist()):
        found = lists.get(form, ()) if len(form) > 1 else ()  # many lists have all letters
        for language in found:
            shares[language] += count / len(found)
            seen[language] += 1
    ranked = sorted(shares.items(), key=lambda item: (-item[1], item[0]))
    ranked = [item for item in ranked if seen[item[0]] >= _FEWEST]
    if not ranked or ranked[0][1] < _LEAST * total:
        return Guess(None, ranked[0][1] / total if ranked else 0.0, None)
    (language, share), other = ranked[0], None
    if len(ranked) > 1 and ranked[1][1] > max(_CLEAR * share, _ASIDE * total):
        other = ranked[1][0]
    return Guess(language, share / total, other)


@cache
def _languages_of_words() -> dict[str, tuple[str, ...]]:
    """The languages that list each word."""
    found: dict[str, list[str]] = {}
    for language in languages():
        for word in stop_words(language):
            found.setdefault(word, []).append(language)
    return {word: tuple(names) for word, names in found.items()}


def _forms(words: Iterable[str]) -> list[str]:
    """Words as lists have them; "" for signs."""
    lowered = pc.utf8_lower(string_array(list(words)))  # as tokenizers do
    return [_bare(word) for word in lowered.to_pylist()]


def _bare(word: str) -> str:
    """A word without the signs at its ends."""
    if word.isalnum():
        return word
    start, stop = 0, len(word)
    while start < stop and not _is_of_words(word[start]):
        start += 1
    while stop > start and not _is_of_words(word[stop - 1]):
        stop -= 1
    return word[start:stop]


def _is_of_words(sign: str) -> bool:
    """Whether it is a letter, a mark of one (as in Hindi), or a digit."""
    return sign.isalnum() or (not sign.isascii() and _category(sign) == "M")


@cache
def _category(sign: str) -> str:
    from unicodedata import category

    return category(sign)[0]


def _is_elided(form: str, listed: frozenset[str]) -> bool:
    if "'" not in form and "’" not in form:
        return False
    parts = form.replace("’", "'").split("'")
    return all(len(part) < 2 or part in listed for part in parts)
