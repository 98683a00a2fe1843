r"""Counts of documents: the statistic behind topics.

A document is a bag of words, the row :math:`x_i` of its counts. A corpus is a *multiset* of bags.
Its distinct bags are the rows of ``counts``, and ``times`` says how often each occurred. Every
moment of documents is a function of these, for example

.. math:: \sum_i t_i \, \frac{x_i x_i^\top - \operatorname{diag}(x_i)}{\ell_i (\ell_i - 1)},

the average over pairs of distinct positions, with :math:`\ell_i` the document's length.

A multiset has no order. So rows are in the order of their (column, count) pairs, and the words of
text are in the order of falling counts. Then equal multisets are equal bit for bit: any sharding
and any number of threads gives the same arrays, and ``moments(a) + moments(b) == moments(b + a)``.
The columns of a matrix keep their places.

Moments over all words are *whole*: text can be added to them exactly, and they can be cut to any
vocabulary. Words that are cut disappear from their documents. Documents that become empty are
counted.
"""

import hashlib
import math
import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from eigentext import engine
from eigentext.corpus import Vocabulary, encode
from eigentext.corpus.documents import (
    MATRIX,
    as_documents,
    checked_matrix,
    document_ids,
    is_matrix,
)
from eigentext.corpus.encoded import EncodedCorpus
from eigentext.corpus.shards import can_shard
from eigentext.corpus.text import TextCorpus
from eigentext.errors import CorpusError, MomentsError, ParameterError
from eigentext.matrices.lazy import Later, lazy
from eigentext.matrices.runs import CSR, csr
from eigentext.moments import distributed
from eigentext.moments.additive import Counted, VocabularyMoments, read_counts
from eigentext.moments.document_checks import (
    ABOUT,
    MOST,
    SCHEMA,
    WITH_LIMITS,
    check_counts,
    check_documents,
    check_sums,
    is_of_matrix,
)
from eigentext.moments.limits import Kept, Limit, adapted, words_within
from eigentext.moments.multisets import counted, distinct, moved, narrowed
from eigentext.moments.packing import check_packed, pack
from eigentext.storage import checkpoint


@lazy("counts")
@dataclass(eq=False)
class DocumentMoments(VocabularyMoments):
    """A multiset of bags of words; see the module.

    :meth:`from_corpus` and :meth:`from_matrix` make them, ``+`` adds them, :meth:`restrict` cuts
    them to fewer words, and ``save`` writes a file.

    Attributes
    ----------
    vocabulary : Vocabulary
        The words, with their counts in all documents (rounded, where counts are fractions).
    counts : csr_array, shape (distinct documents that are not empty, words)
        Counts of 1 or more, in int32 (or int64 if they are large); or fractions, in float64.
    times : int64 array
        How often each of these documents occurred.
    n_empty : int
        The number of documents without words of the vocabulary.
    rare_count : int or float
        The number of tokens outside the vocabulary.
    whole : bool
        Whether every word of the corpus is in the vocabulary.
    options : dict
        How the text was read.
    sources : list of str
        The fingerprints of the counted corpora, sorted.
    left_out : dict
        How many words the limits left out, and the language of the stop words. It is empty if
        nothing was cut, or for a sum.

    Examples
    --------
    >>> from eigentext import DocumentMoments
    >>> moments = DocumentMoments.from_corpus(["Ham and eggs", "and", "eggs and ham", "and ham"])
    >>> moments.vocabulary.words
    ['and', 'ham', 'eggs']
    >>> moments.counts.toarray()
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]], dtype=int32)
    >>> moments.times
    array([1, 1, 2])
    >>> moments.restrict(stop_words=["and"])
    DocumentMoments(4 documents, 2 words, 5 tokens, cut)
    """

    vocabulary: Vocabulary
    counts: CSR
    times: np.ndarray
    n_empty: int = 0
    rare_count: float = 0
    whole: bool = True
    options: dict[str, Any] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)
    left_out: dict[str, Any] = field(default_factory=dict)

    _format = "eigentext.documents.v1"
    _settings = ()

    @classmethod
    def from_corpus(
        cls,
        corpus: Any,
        *,
        min_df: Limit = 1,
        max_df: Limit = 1.0,
        min_count: int = 1,
        max_size: int | None = None,
        stop_words: str | Iterable[str] | None = None,
        cache: str | os.PathLike[str] | bool | None = None,
    ) -> Self:
        """Count the documents of a corpus.

        Parameters
        ----------
        corpus : list of strings
            One for each document. They are always text: the tokenizer "words" splits them, in lower
            case.
        corpus : list of paths
            A file is a document. A single string is a pattern that names files.
        corpus : list of lists of tokens
            One for each document. The tokens stay as they are.
        corpus : TextCorpus or EncodedCorpus
            Its units are the documents. Lines without tokens are not documents.
        corpus : matrix of counts
            See :meth:`from_matrix`.
        min_df, max_df : int or float
            Leave out words that are in fewer than `min_df` documents or in more than `max_df`: a
            number of documents (int) or their share (float), as in scikit-learn's
            ``CountVectorizer``. "auto" is the choice of :class:`eigentext.TopicModel`.
        min_count : int
            Leave out words that occur less often.
        max_size : int, optional
            Keep only this many of these words: those that occur most often. Among equally frequent
            words, the first in the order of their letters are kept (of a matrix, the first
            columns), so the order of documents does not matter.
        stop_words : "auto", "none", a language ("english") or list of str, optional
            Words to leave out: those of a language (:mod:`eigentext.corpus.stop_words`), with all
            tokens that are signs, whatever their case; or those of a list, as they are. "auto"
            guesses the language. A matrix has no language.
        cache
            See :func:`eigentext.corpus.encode`.
        """
        limits = {
            "min_df": min_df,
            "max_df": max_df,
            "min_count": min_count,
            "max_size": max_size,
            "stop_words": stop_words if stop_words is None or isinstance(stop_words, str)
            else list(stop_words),
        }  # fmt: skip
        if is_matrix(corpus):
            moments = cls.from_matrix(corpus)
            return moments._cut(moments._within(**limits))._in_order()
        corpus, point = as_documents(corpus), checkpoint()
        if point is None:
            return cls._counted(corpus, cache, limits)
        read = corpus.fingerprint
        text, name = read if isinstance(read, str) else read(), point.name("documents")
        kept, key = point.read(name), [text, *map(repr, limits.values())]
        if kept is not None and kept[1].get("key") == key:
            return cls._from_saved(*kept)
        moments = cls._counted(corpus, cache, limits)
        arrays, about = moments._to_saved()
        point.write(name, arrays, about | {"key": key})
        return moments

    @classmethod
    def _counted(cls, corpus: TextCorpus | EncodedCorpus, cache: Any, limits: dict) -> Self:
        n_empty = 0
        if engine.distributed() and can_shard(corpus):
            found = distributed.documents(corpus)
            counts, times, n_empty = found.counts
        else:
            encoded = encode(corpus, cache=cache)
            vocabulary = Vocabulary.from_counts(encoded.words, encoded.counts)
            found = Counted.of(encoded, vocabulary)
            counts = counted(document_ids(encoded, vocabulary), len(vocabulary))
            times = np.ones(counts.shape[0], np.int64)
        about = {"options": found.options, "sources": [found.fingerprint]}
        moments = cls(found.vocabulary, counts, times, n_empty, **about)
        return moments._cut(moments._within(**limits))._in_order()

    @classmethod
    def from_matrix(cls, X: Any, words: Iterable[str] | None = None) -> Self:
        """Moments of documents that are already counted: the rows of a dense or sparse matrix.

        Columns keep their order. Their names are `words`, or "0", "1", and so on. Counts may be
        fractions.

        Examples
        --------
        >>> from eigentext import DocumentMoments
        >>> DocumentMoments.from_matrix([[2, 0], [0, 1], [0, 0]], words=["ham", "eggs"])
        DocumentMoments(3 documents, 2 words, 3 tokens, whole)
        """
        counts = checked_matrix(X)
        if counts.nnz == 0:
            raise CorpusError("all documents are empty; give some that have words")
        if (total := counts.sum(dtype=np.float64)) >= MOST:
            raise CorpusError(
                f"the counts add up to {total:.3g}, and beyond 2**53 sums are no longer exact; "
                "divide all counts by some number"
            )
        d = counts.shape[1]
        names = list(map(str, range(d) if words is None else words))
        if len(names) != d or len(set(names)) != d:
            raise ParameterError(
                f"{len(names)} words, {len(set(names))} of them distinct, for a matrix of {d} "
                "columns; give one for each column"
            )
        digest = hashlib.sha256(repr((names, counts.shape, counts.dtype)).encode())
        for part in (counts.indptr, counts.indices, counts.data):
            digest.update(part)
        options = {"tokenizer": MATRIX, "lowercase": False, "unit": "document", "columns": d}
        vocabulary = Vocabulary(names, np.zeros(d, np.int64))
        times = np.ones(counts.shape[0], np.int64)
        about = {"options": options, "sources": [digest.hexdigest()]}
        return cls(vocabulary, counts, times, **about)._in_order()

    @property
    def n_documents(self) -> int:
        """The number of documents, including empty ones."""
        return int(self.times.sum()) + self.n_empty

    @property
    def n_short(self) -> int:
        """The number of documents of one or two words, which have no third moment."""
        return int(self.times[self.lengths <= 2].sum())

    @property
    def n_tokens(self) -> float:
        """The number of tokens of all documents, including those outside the vocabulary."""
        return (self.times @ self.lengths).item() + self.rare_count

    @property
    def lengths(self) -> np.ndarray:
        """The length of each distinct document: the sum of its counts."""
        return self.counts.sum(axis=1)

    @property
    def document_frequencies(self) -> np.ndarray:
        """The number of documents that have each word."""
        return self._sum(np.ones(self.counts.nnz, np.int8))

    @property
    def limits(self) -> str | None:
        """What is no longer possible with cut moments; None if they are whole."""
        if self.whole:
            return None
        return (
            f"cut to {len(self.vocabulary)} words: the {self.rare_count} other tokens are gone "
            "from their documents, so no word can join the vocabulary any more, and a sum with "
            "new text keeps these words and differs from counting all text again"
        )

    def restrict(
        self,
        vocabulary: Iterable[str] | None = None,
        *,
        min_df: Limit = 1,
        max_df: Limit = 1.0,
        min_count: int = 1,
        max_size: int | None = None,
        stop_words: str | Iterable[str] | None = None,
    ) -> Self:
        """Keep only some words: those given, in that order, or those within the limits.

        The answer equals, bit for bit, counting the corpus with these limits; see
        :meth:`from_corpus`. A given vocabulary is fixed: the answer is cut even if the vocabulary
        has all words so far.
        """
        if vocabulary is None:
            kept = self._within(
                min_df=min_df,
                max_df=max_df,
                min_count=min_count,
                max_size=max_size,
                stop_words=stop_words,
            )
            return self if kept.words is None else self._cut(kept)._in_order()
        words = list(vocabulary)
        if not words or len(set(words)) < len(words):
            raise ParameterError("give a vocabulary of one word or more, each of them once")
        self._chosen(words, 1, None)  # raises an error if words were cut before
        return self._cut(Kept(words, {}))._in_order()

    def check_adds_up(self, other: Any) -> None:
        """Raise a MomentsError if these two cannot be added, and say why."""
        super().check_adds_up(other)
        if self.options.get("tokenizer") != MATRIX:
            return
        cut, full = (other, self) if self.whole else (self, other)
        words, columns = cut.vocabulary.words, full.vocabulary.words
        if not (words == columns if cut.whole == full.whole else set(words) <= set(columns)):
            raise MomentsError(
                "moments of matrices with different columns do not add up; "
                "give both the same words, in the same order"
            )

    def check(self) -> None:
        """Raise a MomentsError if the moments are wrong, as they may be if made by hand."""
        check_documents(self)

    def __add__(self, other: Self) -> Self:
        if not isinstance(other, DocumentMoments):
            return NotImplemented
        self.check_adds_up(other)
        if self.whole != other.whole:
            cut, full = (other, self) if self.whole else (self, other)
            return cut + full.restrict(cut.vocabulary.words)
        is_text = self.options.get("tokenizer") != MATRIX
        vocabulary = self._joined(other) if is_text else self.vocabulary
        parts = [moved(part.counts, part.vocabulary, vocabulary) for part in (self, other)]
        return replace(
            self,
            vocabulary=vocabulary,
            counts=sp.vstack(parts, format="csr"),
            times=np.concatenate([self.times, other.times]),
            n_empty=self.n_empty + other.n_empty,
            rare_count=self.rare_count + other.rare_count,
            sources=sorted(self.sources + other.sources),
            left_out={},
        )._in_order()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DocumentMoments):
            return NotImplemented
        exact = isinstance(self.rare_count, int)  # sums of fractions depend on their order
        return (
            self.vocabulary == other.vocabulary
            and (self.n_empty, self.whole, self.options)
            == (other.n_empty, other.whole, other.options)
            and math.isclose(self.rare_count, other.rare_count, rel_tol=0 if exact else 1e-9)
            and np.array_equal(self.times, other.times)
            and self.counts.dtype == other.counts.dtype
            and all(
                np.array_equal(getattr(self.counts, part), getattr(other.counts, part))
                for part in ("indptr", "indices", "data")
            )
        )

    def __repr__(self) -> str:
        kind = "whole" if self.whole else "cut"
        n_tokens = self.n_tokens - self.rare_count
        return (
            f"DocumentMoments({self.n_documents} documents, {len(self.vocabulary)} words, "
            f"{n_tokens:.12g} tokens, {kind})"
        )

    # Private steps.

    def _sum(self, values: np.ndarray) -> np.ndarray:
        """The sum over documents of a value for each entry, by word."""
        weights = np.repeat(self.times.astype(np.float64), np.diff(self.counts.indptr))
        weights *= values  # integers below 2^53, like their sums
        sums = np.bincount(self.counts.indices, weights, minlength=self.counts.shape[1])
        return sums if values.dtype == np.float64 else sums.astype(np.int64)

    def _within(self, **limits: Any) -> Kept:
        """The words within the limits, in their order; None if there is nothing to cut."""
        n, columns = self.n_documents, is_of_matrix(self.options)
        low, high = adapted(limits.pop("min_df"), limits.pop("max_df"), n, columns=columns)
        if columns and isinstance(limits["stop_words"], str):  # columns may have any names
            limits["stop_words"] = None
        totals = self._sum(self.counts.data)
        return words_within(
            self.vocabulary,
            self.document_frequencies,
            totals,
            n,
            min_df=low,
            max_df=high,
            **limits,
        )

    def _cut(self, kept: Kept) -> Self:
        """Only these words, as new columns. Rows keep their places, also empty ones."""
        if kept.words is None:
            return self
        vocabulary = Vocabulary(kept.words, np.zeros(len(kept.words), np.int64))
        outside = vocabulary.ids_of(self.vocabulary.words) < 0
        return replace(
            self,
            vocabulary=vocabulary,
            counts=moved(self.counts, self.vocabulary, vocabulary),
            rare_count=self.rare_count + self._sum(self.counts.data)[outside].sum().item(),
            whole=False,
            left_out=kept.left_out,
        )

    def _in_order(self) -> Self:
        """The same documents, each once, in the order of their content; words get their counts."""
        filled = np.diff(self.counts.indptr) > 0
        X, times = self.counts, self.times
        if not filled.all():
            X, times = X[filled], times[filled]
        counts, times = distinct(X, times)
        n_empty = self.n_empty + int(self.times[~filled].sum())
        moments = replace(self, counts=counts, times=times, n_empty=n_empty)
        totals = np.rint(moments._sum(counts.data)).astype(np.int64)
        return replace(moments, vocabulary=Vocabulary(self.vocabulary.words, totals))

    def _to_saved(self):
        names = ("n_empty", "rare_count", "whole", "options", "sources", "limits")
        about = {name: getattr(self, name) for name in names}
        if self.left_out:
            about["left_out"] = self.left_out
        arrays: dict[str, Any] = {
            "words": self.vocabulary.words,
            "totals": self.vocabulary.counts,
            "times": self.times,
        }
        if self.counts.dtype == np.float64:
            for part in ("indptr", "indices", "data"):
                arrays[part] = getattr(self.counts, part)
        else:
            arrays["packed"], arrays["blocks"] = pack(self.counts)
        return arrays, about

    @classmethod
    def _schema(cls, about):
        return WITH_LIMITS if "left_out" in about else SCHEMA

    @classmethod
    def _from_saved(cls, arrays, about):
        vocabulary = Vocabulary(arrays["words"], np.asarray(arrays["totals"]))
        times = np.asarray(arrays["times"])
        shape = (len(times), len(vocabulary))
        if "packed" in arrays:
            check_packed(arrays["packed"], arrays["blocks"], shape)
            counts: Any = Later(_unpacked, arrays["packed"], arrays["blocks"], shape, times)
        else:
            data, indices, indptr = (np.array(arrays[n]) for n in ("data", "indices", "indptr"))
            counts = csr(data, indices, indptr, shape)
            check_counts(vocabulary, counts, times)
        known = {name: about[name] for name in ABOUT}
        return cls(vocabulary, counts, times, **known, left_out=about.get("left_out", {}))


def _unpacked(
    packed: np.ndarray, blocks: np.ndarray, shape: tuple[int, int], times: np.ndarray
) -> CSR:
    """The counts of a file."""
    counts = narrowed(read_counts(packed, blocks, shape))
    check_sums(counts, times)
    return counts
