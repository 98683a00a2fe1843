"""Forms of one word, shown as one: "drive" and "drives", "Windows" and "windows".

Two words are forms of one word if three things hold. They differ in case only, or one is the
plural or possessive of the other by the rules of the language, which is that of the stop words.
Both are in the vocabulary. And they belong to the same topics: the cosine of their profiles
p(topic | word) is 0.8 or more. So "news" is not a plural of "new", and "windows", the system, is
not one of "window". Fewer than five topics tell too little about a word, and then nothing is
merged. In languages that have no rules here, only words that differ in case are merged.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

_ALIKE = 0.8  # the least cosine of two profiles
_FEWEST = 5  # topics
_SHORTEST = 3  # letters of a word that has a plural
_HISSING = ("s", "x", "z", "ch", "sh", "o")


def language_of(diagnostics: dict[str, Any]) -> str | None:
    """Return the language of the stop words that a model left out, or None if it is not known."""
    about = diagnostics.get("left_out") or {}
    return about.get("language") if about.get("recognized", True) else None


def groups(
    components: np.ndarray,
    weights: np.ndarray,
    counts: np.ndarray,
    names: Sequence[str],
    language: str | None = None,
) -> list[list[int]]:
    """Return the groups of two or more forms of one word, the most frequent form first.

    Parameters
    ----------
    components, weights : arrays, shapes (K, d) and (K,)
        The topics and their probabilities.
    counts : array, shape (d,)
        How often each word occurs.
    names : list of str
        The words.
    language : str, optional
        The language of the words, as in :func:`eigentext.corpus.stop_words.languages`.

    Examples
    --------
    >>> components = np.full((5, 4), 0.1)
    >>> components[0, :2] = components[1, 2] = 0.7
    >>> names = ["drive", "drives", "new", "news"]
    >>> groups(components, np.ones(5) / 5, np.array([3, 8, 9, 9]), names, "english")
    [[1, 0]]
    """
    joint = np.asarray(components, float) * np.asarray(weights, float)[:, None]
    if len(joint) < _FEWEST:
        return []
    first = list(range(len(names)))  # of the group of each word

    def found(word: int) -> int:
        while first[word] != word:
            word = first[word]
        return word

    for a, b in _candidates(names, language):
        if _alike(joint[:, a], joint[:, b]):
            a, b = sorted((found(a), found(b)))
            first[b] = a
    together: dict[int, list[int]] = {}
    for word, to in enumerate(first):
        if to != word:
            together.setdefault(found(word), [found(word)]).append(word)
    return [sorted(group, key=lambda w: (-counts[w], w)) for group in together.values()]


def merged(
    components: np.ndarray, counts: np.ndarray, found: Sequence[Sequence[int]]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return components and counts in which one word stands for each group, and the words left.

    Its probability and its count are the sums over the group. The other forms are left out.
    """
    components, counts = np.array(components, float), np.array(counts)
    is_left = np.ones(len(counts), bool)
    for group in found:
        components[:, group[0]] = components[:, list(group)].sum(axis=1)
        counts[group[0]] = counts[list(group)].sum()
        is_left[list(group[1:])] = False
    left = np.flatnonzero(is_left)
    return components[:, left], counts[left], left


def _alike(a: np.ndarray, b: np.ndarray) -> bool:
    sizes = float(np.sqrt((a @ a) * (b @ b)))
    return sizes > 0 and float(a @ b) >= _ALIKE * sizes


def _candidates(names: Sequence[str], language: str | None) -> Iterator[tuple[int, int]]:
    """Pairs of words that may be forms of one, by their letters."""
    plurals = _PLURALS.get(language or "", _no_plurals)
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        places.setdefault(name.casefold(), []).append(place)
    for name, same in places.items():
        for other in same[1:]:
            yield same[0], other
        for plural in plurals(name) if len(name) >= _SHORTEST else ():
            if plural in places and plural != name:
                for a in same:
                    for b in places[plural]:
                        yield a, b


def _no_plurals(word: str) -> Iterator[str]:
    yield from ()


def _english(word: str) -> Iterator[str]:
    yield word + "'s"
    yield word + "’s"
    if word.endswith("y"):
        yield word[:-1] + "ies"
    if word.endswith(_HISSING):
        yield word + "es"
    if not word.endswith("s"):
        yield word + "s"


def _french(word: str) -> Iterator[str]:
    if word.endswith("al"):
        yield word[:-1] + "ux"
    if word.endswith(("au", "eu")):
        yield word + "x"
    if not word.endswith(("s", "x", "z")):
        yield word + "s"


def _spanish(word: str) -> Iterator[str]:
    if word.endswith("z"):
        yield word[:-1] + "ces"
    if word.endswith("ión"):
        yield word[:-2] + "ones"
    yield word + ("s" if word.endswith(tuple("aeiouáéíóú")) else "es")


def _portuguese(word: str) -> Iterator[str]:
    if word.endswith("ão"):
        yield word[:-2] + "ões"
    if word.endswith("m"):
        yield word[:-1] + "ns"
    if word.endswith("l"):
        yield word[:-1] + "is"
    yield word + ("s" if word.endswith(tuple("aeiouãáéíóú")) else "es")


def _catalan(word: str) -> Iterator[str]:
    if word.endswith("a"):
        yield word[:-1] + "es"
    yield word + "s"


def _italian(word: str) -> Iterator[str]:
    if word.endswith(("o", "e")):
        yield word[:-1] + "i"
    if word.endswith("a"):
        yield word[:-1] + "e"


def _german(word: str) -> Iterator[str]:
    for end in ("e", "en", "n", "er", "s", "es"):
        yield word + end


def _dutch(word: str) -> Iterator[str]:
    for end in ("en", "n", "s", "'s"):
        yield word + end


_PLURALS: dict[str, Callable[[str], Iterator[str]]] = {
    "english": _english,
    "french": _french,
    "spanish": _spanish,
    "portuguese": _portuguese,
    "catalan": _catalan,
    "italian": _italian,
    "german": _german,
    "dutch": _dutch,
}
