"""The sources that were learned without labels: vectors of words, vectors of tokens, clusters."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np

from eigentext import engine
from eigentext.errors import ParameterError
from eigentext.evaluate.vectors import fold, words_and_bit_strings, words_and_vectors

Words = Sequence[str]


class VectorSource(Protocol):
    """A source of vectors for tokens."""

    width: int
    scale: float

    def rows(self, sentences: list[Any], words: Words) -> tuple[np.ndarray, np.ndarray]:
        """Return the row of each token's vector, or -1, and the scaled vectors in float32."""
        ...

    def coverage(self, words: Words) -> float:
        """Return the share of the words that are known."""
        ...

    def set_scale(self, sentences: list[Any], words: Words, scale: float) -> None:
        """Choose the factor that makes the root mean square of these tokens' vectors `scale`."""
        ...


class WordVectorSource:
    """Vectors of words: of a word as it is, else in lower case, else capitalized."""

    def __init__(self, words: Words, vectors: np.ndarray):
        if len(words) != len(vectors):
            raise ValueError(f"{len(words)} words, but {len(vectors)} vectors")
        self.words, self.vectors, self.scale = list(words), vectors, 1.0
        self.width = vectors.shape[1]
        self._places = {word: place for place, word in enumerate(self.words)}

    @classmethod
    def of(cls, model: Any) -> "WordVectorSource":
        """Make a source of Eigenwords, of gensim's vectors, or of words and a matrix."""
        if isinstance(model, WordVectorSource):
            return cls(model.words, model.vectors)
        words, vectors = words_and_vectors(model)
        with np.errstate(over="ignore"):
            vectors = _checked(vectors)
        return cls(words, vectors)

    def __repr__(self) -> str:
        return f"WordVectorSource({len(self.words)} words, {self.width} dimensions)"

    def rows(self, sentences: list[Any], words: Words) -> tuple[np.ndarray, np.ndarray]:
        """Return a row for each distinct known word."""
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
        """Return the share of the words that have a vector."""
        return _share(words, self._places)

    def set_scale(self, sentences: list[Any], words: Words, scale: float) -> None:
        """Choose the factor from the tokens that have a vector."""
        self.scale = 1.0
        rows, vectors = self.rows(sentences, words)
        self.scale = _factor(vectors[rows[rows >= 0]], scale)


class TokenModel(Protocol):
    """A fitted model that gives each token a vector. It may have a `vocabulary_`."""

    def transform(self, sentences: list[list[str]], /) -> Any:
        """Return an array for each sentence, with a row for each token."""
        ...


class TokenVectorSource:
    """Vectors of tokens in their sentences, from a model with ``transform(sentences)``.

    A word that the model does not know is given to it in lower case or capitalized, if it knows
    that form.
    """

    def __init__(self, model: TokenModel):
        if not hasattr(model, "transform"):
            raise ParameterError(
                f"{type(model).__name__} has no method transform, so that it gives no vectors of "
                "tokens; give fitted Eigentokens or an HMM"
            )
        self.model, self.scale = model, 1.0
        words = getattr(getattr(model, "vocabulary_", None), "words", [])
        self._words = dict(zip(words, words))
        with engine.report_to(None):
            first = model.transform([["a"]])[0]
        if np.ndim(first) != 2:
            raise ParameterError(
                f"{type(model).__name__}.transform gives one vector for a sentence, not one for "
                "each token; give fitted Eigentokens or an HMM"
            )
        self.width = first.shape[1]

    def coverage(self, words: Words) -> float:
        """Return the share of the words that the model knows, or 1 if it has no vocabulary."""
        return _share(words, self._words) if self._words else 1.0

    def rows(self, sentences: list[Any], words: Words) -> tuple[np.ndarray, np.ndarray]:
        """Return a row for each token."""
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
        """Choose the factor from all tokens."""
        self.scale = 1.0
        self.scale = _factor(self.rows(sentences, words)[1], scale)


class ClusterSource:
    """Bit strings of words: of a word as it is, else in lower case, else capitalized."""

    def __init__(self, words: Words, paths: Words):
        if len(words) != len(paths):
            raise ValueError(f"{len(words)} words, but {len(paths)} bit strings")
        self.words, self.paths = list(words), list(paths)
        self._paths = {word: path for word, path in zip(self.words, self.paths) if path}

    @classmethod
    def of(cls, model: Any) -> "ClusterSource":
        """Make a source of WordClusters, or of a dictionary of words and bit strings."""
        if isinstance(model, ClusterSource):
            return model
        return cls(*words_and_bit_strings(model))

    def __repr__(self) -> str:
        return f"ClusterSource({len(self.words)} words)"

    def coverage(self, words: Words) -> float:
        """Return the share of the words that are in a cluster."""
        return _share(words, self._paths)

    def attribute(self, name: str) -> Callable[[str], str | None] | None:
        """Return the function from a word to ``cluster`` or ``cluster6``; None for other names."""
        if not name.startswith("cluster"):
            return None
        bits = name.removeprefix("cluster")
        if bits and (not bits.isdigit() or int(bits) < 1):
            return None
        return partial(self._prefix, int(bits) if bits else None)

    def _prefix(self, length: int | None, word: str) -> str | None:
        path = fold(word, self._paths)
        return path if path is None else path[:length]


def given_sources(
    vectors: Any = None,
    clusters: Any = None,
    eigentokens: TokenModel | None = None,
    states: TokenModel | None = None,
    parser: TokenModel | None = None,
) -> tuple[ClusterSource | None, dict[str, VectorSource]]:
    """Return the clusters and the sources of vectors, from the parameters of a tagger."""
    sources: dict[str, VectorSource] = {}
    if vectors is not None:
        sources["vector"] = WordVectorSource.of(vectors)
    for name, model in (("token", eigentokens), ("state", states), ("node", parser)):
        if model is not None:
            sources[name] = TokenVectorSource(model)
    return None if clusters is None else ClusterSource.of(clusters), sources


def _checked(vectors: np.ndarray) -> np.ndarray:
    """Return vectors in single precision. Raise ParameterError if they are not finite."""
    try:
        vectors = np.asarray(vectors, np.float32)
    except (TypeError, ValueError):
        vectors = np.array([np.nan])
    if not np.isfinite(vectors).all():
        raise ParameterError("vectors must be finite numbers; learn them again")
    return vectors


def _factor(vectors: np.ndarray, scale: float) -> float:
    """Return the factor that makes the root mean square of the vectors `scale`."""
    mean = float(np.mean(np.square(vectors, dtype=np.float64))) if vectors.size else 0.0
    return scale / np.sqrt(mean) if mean > 0 else 1.0


def _share(words: Words, known: dict[str, Any]) -> float:
    counts = Counter(words)
    return sum(n for word, n in counts.items() if fold(word, known) is not None) / len(words)
