"""Word vectors of any model as plain data, and how words are looked up in them."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from eigentext.errors import ParameterError

Case = Literal["fold", "exact"]
_ROWS = 4096
_NO_LENGTH = np.finfo(np.float32).tiny


class _FittedModel(Protocol):
    @property
    def vocabulary_(self) -> Iterable[str]: ...
    @property
    def vectors_(self) -> ArrayLike: ...


class _KeyedVectors(Protocol):
    @property
    def index_to_key(self) -> Iterable[str]: ...
    @property
    def vectors(self) -> ArrayLike: ...


class _GensimModel(Protocol):
    @property
    def wv(self) -> _KeyedVectors: ...


VectorModel = _FittedModel | _KeyedVectors | _GensimModel | tuple[Iterable[str], ArrayLike]


class WordVectors:
    """Words and their directions. A word whose vector is zero has no direction and is left out.

    Parameters
    ----------
    model : fitted estimator, KeyedVectors, or (words, vectors)
        A model with `vocabulary_` and `vectors_`, an object with gensim's `index_to_key` and
        `vectors`, a gensim model with such an object as `wv`, or the words and the vectors
        themselves. Vectors may have any length.
    case : "fold" or "exact"
        "fold" looks up a word as it is written, then in lower case, then with a capital first
        letter. So it finds "Athens" in a model of lower-case text, and "athens" in a model of
        cased text. "exact" looks up a word only as it is written.
    """

    def __init__(self, model: VectorModel, case: Case = "fold"):
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

    @property
    def kept(self) -> np.ndarray:
        """The rows of the words that have a direction, in order."""
        return self._kept

    def place(self, word: str) -> int:
        """Return the place of the word among the words with a direction, or -1 if it is missing."""
        if word in self._places or self.case == "exact":
            return self._places.get(word, -1)
        lower = self._places.get(word.lower(), -1)
        return lower if lower >= 0 else self._places.get(word[:1].upper() + word[1:], -1)

    def unit_rows(self, places: np.ndarray | slice) -> np.ndarray:
        """Return the vectors at these places, scaled to length 1, in float64."""
        rows = self._kept[places]
        return np.asarray(self._vectors[rows], np.float64) / self._lengths[rows, None]

    def find(self, words: set[str]) -> tuple[dict[str, int], list[str], int]:
        """Return the places of words, the missing ones (sorted), and the number of folded words."""
        found = {word: self.place(word) for word in words}
        missing = sorted(word for word, place in found.items() if place < 0)
        folded = sum(place >= 0 and word not in self._places for word, place in found.items())
        return found, missing, folded


def words_and_vectors(model: VectorModel) -> tuple[list[str], np.ndarray]:
    """Return the words and the matrix of any model that :class:`WordVectors` accepts."""
    words: Any
    vectors: Any
    gensim: Any = getattr(model, "wv", model)
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
    if isinstance(words, Mapping):  # from each word to its row
        words = sorted(words, key=words.__getitem__)
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise ParameterError(
            f"(words, vectors) begins with {type(words).__name__}; give a list of words, and a "
            "matrix with a row for each"
        )
    words, vectors = list(words), np.asarray(vectors)
    if vectors.ndim != 2 or len(words) != len(vectors):
        raise ParameterError(
            f"there are {len(words)} words, but vectors of shape {vectors.shape}; "
            "give one row for each word"
        )
    return words, vectors


def words_and_bit_strings(model: Any) -> tuple[list[str], list[str]]:
    """Return the words and bit strings of WordClusters, or of a dictionary of them."""
    if hasattr(model, "vocabulary_") and hasattr(model, "bit_strings_"):
        return list(model.vocabulary_.words), list(model.bit_strings_)
    if isinstance(model, Mapping) and all(isinstance(path, str) for path in model.values()):
        return list(model), list(model.values())
    raise ParameterError(
        f"{type(model).__name__} has no clusters; give fitted WordClusters, or a dictionary "
        "from words to bit strings"
    )


def fold(word: str, known: dict[str, Any]) -> Any:
    """Return the entry of a word as it is, else in lower case, else capitalized, else None."""
    if (found := known.get(word)) is not None:
        return found
    if (found := known.get(word.lower())) is not None:
        return found
    return known.get(word[:1].upper() + word[1:])


def _lengths(vectors: np.ndarray) -> np.ndarray:
    lengths = np.empty(len(vectors))
    for start in range(0, len(vectors), _ROWS):
        block = np.asarray(vectors[start : start + _ROWS], np.float64)
        lengths[start : start + _ROWS] = np.sqrt(np.einsum("ij,ij->i", block, block))
    return lengths
