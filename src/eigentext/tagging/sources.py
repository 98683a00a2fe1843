"""What was learned without labels, as a tagger takes it: vectors of words, of tokens, clusters."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np

from eigentext import engine
from eigentext.errors import ParameterError
from eigentext.evaluate.vectors import words_and_vectors

Words = Sequence[str]


class VectorSource(Protocol):
    """Gives tokens vectors."""

    width: int
    scale: float

    def rows(self, sentences: list[Any], words: Words) -> tuple[np.ndarray, np.ndarray]:
        """The row of each token (-1: none) among vectors (float32, scaled), and the vectors."""
        ...

    def coverage(self, words: Words) -> float:
        """The share of words that are known."""
        ...

    def set_scale(self, sentences: list[Any], words: Words, scale: float) -> None:
        """Choose the factor that gives coordinates of these tokens that root mean square."""
        ...


class WordVectorSource:
    """Vectors of word types: of a word as it is, else in lower case, else as capitalised."""

    def __init__(self, words: Words, vectors: np.ndarray):
        if len(words) != len(vectors):
            raise ValueError(f"{len(words)} words, but {len(vectors)} vectors")
        self.words, self.vectors, self.scale = list(words), vectors, 1.0
        self.width = vectors.shape[1]
        self._places = {word: place for place, word in enumerate(self.words)}

    @classmethod
    def of(cls, model: Any) -> "WordVectorSource":
        """From Eigenwords, gensim's vectors, or words and a matrix."""
        if isinstance(model, WordVectorSource):
            return cls(model.words, model.vectors)
        words, vectors = words_and_vectors(model)
        with np.errstate(over="ignore"):
            vectors = _checked(vectors)
        return cls(words, vectors)

    def __repr__(self) -> str:
        return f"WordVectorSource({len(self.words)} words, {self.width} dimensions)"

    def rows(self, sentences: list[Any], words: Words) -> tuple[np.ndarray, np.ndarray]:
        """One row for each distinct word that is known."""
        distinct: dict[str, int] = {}
        used: list[int] = []
        for word in words:
            if word not in distinct:
                place = fold(word, self._places)
                distinct[word] = -1 if place is None else len(used)
                if place is not None:
                    used.append(place)
        rows = np.fromiter(map(distinct.__getitem__, words), np.int64, len(words))
        return rows, np.asarray(self.vectors[used], np.float32) * np.float32(self.scale)

    def coverage(self, words: Words) -> float:
        """The share of words that have a vector."""
        return _share(words, self._places)

    def set_scale(self, sentences: list[Any], words: Words, scale: float) -> None:
        """By the tokens that have a vector."""
        self.scale = 1.0
        rows, vectors = self.rows(sentences, words)
        self.scale = _factor(vectors[rows[rows >= 0]], scale)


class TokenVectorSource:
    """Vectors of tokens in their sentence, by a model with ``transform(sentences)``.

    It gets words as it knows them, in another case if need be.
    """

    def __init__(self, model: Any):
        if not hasattr(model, "transform"):
            raise ParameterError(
                f"{type(model).__name__} has no transform, so it has no vectors of tokens: give "
                "fitted Eigentokens or an HMM"
            )
        self.model, self.scale = model, 1.0
        words = getattr(getattr(model, "vocabulary_", None), "words", [])
        self._words = dict(zip(words, words))
        with engine.report_to(None):
            first = model.transform([["a"]])[0]
        if np.ndim(first) != 2:
            raise ParameterError(
                f"{type(model).__name__}.transform gives a sentence one vector, not one for each "
                "token: give fitted Eigentokens or an HMM"
            )
        self.width = first.shape[1]

    def coverage(self, words: Words) -> float:
        """The share of words that the model knows, if it says which these are."""
        return _share(words, self._words) if self._words else 1.0

    def rows(self, sentences: list[Any], words: Words) -> tuple[np.ndarray, np.ndarray]:
        """One row for each token."""
        known = {word: fold(word, self._words) or word for word in set(words)}
        with engine.report_to(None):
            found = self.model.transform([[known[t[0]] for t in one] for one in sentences])
        for sentence, vectors in zip(sentences, found, strict=True):
            if np.shape(vectors) != (len(sentence), self.width):
                raise ParameterError(
                    f"{type(self.model).__name__}.transform gives vectors of shape "
                    f"{np.shape(vectors)} for {len(sentence)} tokens, not "
                    f"{(len(sentence), self.width)}; it must give a row for each token"
                )
        vectors = _checked(np.concatenate(found)) if found else np.empty((0, self.width))
        return np.arange(len(words)), np.asarray(vectors, np.float32) * np.float32(self.scale)

    def set_scale(self, sentences: list[Any], words: Words, scale: float) -> None:
        """By all tokens."""
        self.scale = 1.0
        self.scale = _factor(self.rows(sentences, words)[1], scale)


class ClusterSource:
    """Bit strings of words, found as vectors are."""

    def __init__(self, words: Words, paths: Words):
        if len(words) != len(paths):
            raise ValueError(f"{len(words)} words, but {len(paths)} bit strings")
        self.words, self.paths = list(words), list(paths)
        self._paths = {word: path for word, path in zip(self.words, self.paths) if path}

    @classmethod
    def of(cls, model: Any) -> "ClusterSource":
        """From WordClusters, or a dictionary of words and bit strings."""
        if isinstance(model, ClusterSource):
            return model
        if hasattr(model, "vocabulary_") and hasattr(model, "bit_strings_"):
            return cls(model.vocabulary_.words, model.bit_strings_)
        if isinstance(model, Mapping) and all(isinstance(path, str) for path in model.values()):
            return cls(list(model), list(model.values()))
        raise ParameterError(
            f"{type(model).__name__} has no clusters: give fitted WordClusters, or a dictionary "
            "from words to bit strings"
        )

    def __repr__(self) -> str:
        return f"ClusterSource({len(self.words)} words)"

    def coverage(self, words: Words) -> float:
        """The share of words in a cluster."""
        return _share(words, self._paths)

    def attribute(self, name: str) -> Callable[[str], str | None] | None:
        """How ``cluster`` or ``cluster6`` is read off a word; None if that is not the name."""
        if not name.startswith("cluster"):
            return None
        bits = name.removeprefix("cluster")
        if bits and (not bits.isdigit() or int(bits) < 1):
            return None
        return partial(self._prefix, int(bits) if bits else None)

    def _prefix(self, length: int | None, word: str) -> str | None:
        path = fold(word, self._paths)
        return path if path is None else path[:length]


def given_sources(tagger: Any) -> tuple[ClusterSource | None, dict[str, VectorSource]]:
    """The clusters and the sources of vectors that are among a tagger's parameters."""
    sources: dict[str, VectorSource] = {}
    if tagger.vectors is not None:
        sources["vector"] = WordVectorSource.of(tagger.vectors)
    for name, model in (("token", tagger.eigentokens), ("state", tagger.states)):
        if model is not None:
            sources[name] = TokenVectorSource(model)
    return None if tagger.clusters is None else ClusterSource.of(tagger.clusters), sources


def fold(word: str, known: dict[str, Any]) -> Any:
    """What is known of a word as it is, else in lower case, else with a first capital."""
    if (found := known.get(word)) is not None:
        return found
    if (found := known.get(word.lower())) is not None:
        return found
    return known.get(word[:1].upper() + word[1:])


def _checked(vectors: np.ndarray) -> np.ndarray:
    """In single precision, if all are finite there."""
    try:
        vectors = np.asarray(vectors, np.float32)
    except (TypeError, ValueError):
        vectors = np.array([np.nan])
    if not np.isfinite(vectors).all():
        raise ParameterError("vectors must be finite numbers; learn them again")
    return vectors


def _factor(vectors: np.ndarray, scale: float) -> float:
    """What to multiply by for a root mean square of `scale`."""
    mean = float(np.mean(np.square(vectors, dtype=np.float64))) if vectors.size else 0.0
    return scale / np.sqrt(mean) if mean > 0 else 1.0


def _share(words: Words, known: dict[str, Any]) -> float:
    counts = Counter(words)
    return sum(n for word, n in counts.items() if fold(word, known) is not None) / len(words)
