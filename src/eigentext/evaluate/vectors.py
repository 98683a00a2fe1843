"""Word vectors as plain data, whoever made them, and how the words of a question are found."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from eigentext.errors import ParameterError

Case = Literal["fold", "exact"]
_ROWS = 4096
_NO_LENGTH = np.finfo(np.float32).tiny


class WordVectors:
    """Words with a direction: those whose vector is zero have none and are left out.

    Parameters
    ----------
    model : fitted estimator, KeyedVectors, or (words, vectors)
        Anything with `vocabulary_` and `vectors_`, or with `index_to_key` and `vectors` (gensim's;
        its models, too, by their `wv`), or the two themselves. The vectors may have any length.
    case : "fold" or "exact"
        "fold" looks a word up as it is, else in lower case, else with a first capital letter, so
        that "Athens" is found by a model of lower-cased text and "athens" by one of cased text.
    """

    def __init__(self, model: Any, case: Case = "fold"):
        if case not in ("fold", "exact"):
            raise ParameterError(f"case must be 'fold' or 'exact', not {case!r}")
        self.case = case
        words, self._vectors = words_and_vectors(model)
        lengths = _lengths(self._vectors)
        if not np.isfinite(lengths).all():
            bad = words[int(np.argmin(np.isfinite(lengths)))]
            raise ParameterError(f"the vector of {bad!r} is not finite; learn the vectors again")
        self._kept = np.flatnonzero(lengths > _NO_LENGTH)
        self._lengths = lengths
        self._places: dict[str, int] = {}
        for place, row in enumerate(self._kept.tolist()):
            self._places.setdefault(words[row], place)

    def __len__(self) -> int:
        return len(self._kept)

    def place(self, word: str) -> int:
        """Where the word stands among those with a direction; -1 if it is not there."""
        if word in self._places or self.case == "exact":
            return self._places.get(word, -1)
        lower = self._places.get(word.lower(), -1)
        return lower if lower >= 0 else self._places.get(word[:1].upper() + word[1:], -1)

    def unit_rows(self, places: np.ndarray | slice) -> np.ndarray:
        """The vectors at these places, of length 1, in float64."""
        rows = self._kept[places]
        return np.asarray(self._vectors[rows], np.float64) / self._lengths[rows, None]

    def find(self, words: set[str]) -> tuple[dict[str, int], list[str], int]:
        """The places of words, those missing (sorted), and how many needed another case."""
        found = {word: self.place(word) for word in words}
        missing = sorted(word for word, place in found.items() if place < 0)
        folded = sum(place >= 0 and word not in self._places for word, place in found.items())
        return found, missing, folded


def words_and_vectors(model: Any) -> tuple[list[str], np.ndarray]:
    """The words and the matrix of what :class:`WordVectors` takes."""
    gensim = getattr(model, "wv", model)
    if hasattr(model, "vectors_") and hasattr(model, "vocabulary_"):
        words, vectors = model.vocabulary_, model.vectors_
    elif hasattr(gensim, "vectors") and hasattr(gensim, "index_to_key"):
        words, vectors = gensim.index_to_key, gensim.vectors
    elif isinstance(model, (tuple, list)) and len(model) == 2:
        words, vectors = model
    else:
        raise ParameterError(
            f"{type(model).__name__} has no word vectors: give a fitted model, gensim's "
            "KeyedVectors, or (words, vectors)"
        )
    if isinstance(words, Mapping):  # from words to rows
        words = sorted(words, key=words.__getitem__)
    words, vectors = list(words), np.asarray(vectors)
    if vectors.ndim != 2 or len(words) != len(vectors):
        raise ParameterError(
            f"{len(words)} words, but vectors of shape {vectors.shape}; give one row for each word"
        )
    return words, vectors


def _lengths(vectors: np.ndarray) -> np.ndarray:
    lengths = np.empty(len(vectors))
    for start in range(0, len(vectors), _ROWS):
        block = np.asarray(vectors[start : start + _ROWS], np.float64)
        lengths[start : start + _ROWS] = np.sqrt(np.einsum("ij,ij->i", block, block))
    return lengths
