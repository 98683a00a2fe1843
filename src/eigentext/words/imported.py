"""Word vectors that were learned elsewhere, as a model; and a model as vectors of gensim.

Such a model answers like one that was fitted here. But it has no moments, its `singular_values_`
are empty, and its `parameters_` say nothing except the dimension. ``provenance_["imported"]`` says
where it comes from, and `findings` says it in words.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from eigentext.corpus import Vocabulary
from eigentext.errors import EigentextError, ParameterError
from eigentext.estimators import Finding, check_is_fitted, learned_with
from eigentext.words.neighbors import Neighbors

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from eigentext.corpus.bad_items import Errors
    from eigentext.words.vector_files import VectorFileFormat

_MOST = 2**53 - 1  # the largest count of a file


class ImportedVectors:
    """Mixin of :class:`~eigentext.Eigenwords`: from other tools, and to gensim."""

    vectors_: np.ndarray
    vocabulary_: Vocabulary
    provenance_: dict[str, Any]
    diagnostics_: dict[str, Any]

    @classmethod
    def from_vectors(
        cls,
        words: Iterable[str],
        vectors: ArrayLike,
        *,
        counts: Iterable[int] | None = None,
        tokenizer: str = "whitespace",
        lowercase: bool = False,
        origin: str = "a matrix",
    ) -> Self:
        """A model of given vectors.

        Parameters
        ----------
        words : list of str
            Different words, the most frequent first.
        vectors : array, shape (n_words, n_components)
            They are scaled to length 1. Cosines stay as they are.
        counts : list of int, optional
            How often each word was in the text that the vectors were learned from. Without them,
            all counts are 0, which means unknown.
        tokenizer : "whitespace" or "simple"
            How the model splits texts (:meth:`transform`).
        lowercase : bool
            Whether words that the model is asked for are changed to lower case. Say True if the
            vectors were learned from such text.
        origin : str
            Where the vectors come from, for `provenance_` and `findings`.

        Examples
        --------
        >>> from eigentext import Eigenwords
        >>> words = Eigenwords.from_vectors(["cat", "dog", "sun"], [[3, 4], [4, 3], [-1, 0]])
        >>> words.most_similar("cat", topn=1)[0][0]
        'dog'
        """
        from eigentext.corpus.tokenizers import NAMED

        names = list(words)
        rows = np.asarray(vectors)
        _check(names, rows)
        if tokenizer not in NAMED:
            raise ParameterError(f"tokenizer must be one of {', '.join(NAMED)}, not {tokenizer!r}")
        unit = Neighbors(rows).vectors
        self: Any = learned_with(cls, {"n_components": rows.shape[1]})
        self.vectors_ = unit
        self.vocabulary_ = Vocabulary(names, _checked_counts(counts, len(names)))
        self.singular_values_ = np.zeros(0)
        self.moments_ = self.spelling_ = self.phrases_ = None
        self.provenance_ = {
            "n_tokens": int(self.vocabulary_.counts.sum()),
            "options": {"tokenizer": tokenizer, "lowercase": bool(lowercase), "unit": "line"},
            "sources": [],
            "imported": str(origin),
        }
        n_zero = len(unit) - int(np.count_nonzero(unit.any(axis=1)))
        self.diagnostics_ = {"n_words": len(names), "words_without_context": n_zero}
        return self

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        format: "VectorFileFormat | None" = None,
        *,
        max_words: int | None = None,
        errors: "Errors" = "raise",
        tokenizer: str = "whitespace",
        lowercase: bool = False,
    ) -> Self:
        """A model of a file of vectors: word2vec (text or binary), GloVe, or fastText (.vec).

        Parameters
        ----------
        path : path
            A plain or packed (.gz, .bz2, .xz, .zst) file.
        format : "word2vec", "word2vec-binary" or "glove"
            By default, the content decides. Text of fastText is "word2vec".
        max_words : int, optional
            Read only so many words from the start. They are usually the most frequent ones.
        errors : "raise" or "skip"
            "skip" leaves out words that cannot be read, and warns of them.
        tokenizer, lowercase
            See :meth:`from_vectors`.
        """
        from eigentext.words.vector_files import read_vectors

        found = read_vectors(path, format, max_words=max_words, errors=errors)
        origin = f"the file {Path(path).name} ({found.format})"
        return cls.from_vectors(*found[:2], tokenizer=tokenizer, lowercase=lowercase, origin=origin)

    @classmethod
    def from_gensim(
        cls, keyed_vectors: Any, *, tokenizer: str = "whitespace", lowercase: bool = False
    ) -> Self:
        """A model of gensim's KeyedVectors, or of a gensim model (Word2Vec, FastText).

        Words keep their counts, if gensim has them. The vectors that fastText computes for unknown
        words are not taken. `tokenizer` and `lowercase` are those of :meth:`from_vectors`.
        """
        from eigentext.evaluate.vectors import words_and_vectors

        keyed = getattr(keyed_vectors, "wv", keyed_vectors)
        if not hasattr(keyed, "index_to_key"):
            raise ParameterError(
                f"{type(keyed_vectors).__name__} is no KeyedVectors of gensim; for words and a "
                "matrix, call Eigenwords.from_vectors"
            )
        words, vectors = words_and_vectors(keyed)
        counts = getattr(keyed, "expandos", {}).get("count")
        origin = f"gensim's {type(keyed_vectors).__name__}"
        return cls.from_vectors(
            words, vectors, counts=counts, tokenizer=tokenizer, lowercase=lowercase, origin=origin
        )

    def to_gensim(self) -> "KeyedVectors":
        """The vectors as KeyedVectors of gensim, with the counts of the words."""
        check_is_fitted(self)
        try:
            from gensim.models import KeyedVectors
        except ImportError as error:
            raise EigentextError("to_gensim needs gensim; run pip install gensim") from error
        vectors = np.array(self._all_vectors())  # type: ignore[attr-defined]
        keyed = KeyedVectors(vectors.shape[1])
        keyed.add_vectors(self.vocabulary_.words, vectors)
        if self.vocabulary_.counts.any():
            for word, count in zip(self.vocabulary_.words, self.vocabulary_.counts.tolist()):
                keyed.set_vecattr(word, "count", count)
        return keyed


def imported_findings(origin: str, n_zero: int, *, has_counts: bool) -> Iterator[Finding]:
    """Report on vectors that were not learned here."""
    yield Finding(
        "note",
        f"These vectors come from {origin}. They were not learned here, so that the parameters of "
        "this model say nothing about them, except their dimension. They have length 1.",
    )
    if not has_counts:
        yield Finding(
            "note",
            "It is not known how often the words occur.",
            "Weights of words by their frequency (TextVectors) take it from your texts.",
        )
    if n_zero:
        yield Finding("note", f"{n_zero:,} words have a zero vector.")


def _check(words: list[Any], vectors: np.ndarray) -> None:
    """Raise ParameterError unless there is a finite vector for each of different words."""
    if vectors.ndim != 2 or vectors.dtype.kind not in "iuf" or len(words) != len(vectors):
        raise ParameterError(
            f"{len(words)} words, but vectors of {vectors.dtype} of shape {vectors.shape}; give a "
            "row of numbers for each word"
        )
    if not vectors.size:
        raise ParameterError("there are no vectors; give at least one word and one dimension")
    seen = set[str]()
    for word in words:
        if not isinstance(word, str) or not word or word in seen:
            what = "comes twice" if isinstance(word, str) and word else "is no word"
            raise ParameterError(f"words must be different strings; {word!r:.80} {what}")
        seen.add(word)
    with np.errstate(over="ignore"):
        finite = np.isfinite(vectors.astype(np.float32, copy=False)).all(axis=1)
    if not finite.all():
        bad = words[int(np.argmin(finite))]
        raise ParameterError(f"the vector of {bad!r} is not finite; leave this word out")


def _checked_counts(counts: Any, n_words: int) -> np.ndarray:
    if counts is None:
        return np.zeros(n_words, np.int64)
    found = np.asarray(counts if isinstance(counts, np.ndarray) else list(counts))
    is_good = found.shape == (n_words,) and found.dtype.kind in "iu"
    if not is_good or found.min() < 0 or found.max() > _MOST:
        raise ParameterError(f"counts must be {n_words} whole numbers, one for each word")
    return found.astype(np.int64)
