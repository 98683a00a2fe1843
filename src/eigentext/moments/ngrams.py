r"""Counts of n-grams: the statistic behind language models and hidden Markov models.

All windows of 1 to `order` symbols are a trie of sparse matrices. Level 0 is the matrix of bigrams,
:math:`P[w_1, w_2]`. Each of its entries is a row of level 1, whose columns are the third symbol.
Each entry of level 1 is a row of level 2, and so on. An n-gram takes one column and one count,
however long it is.

The V words of the vocabulary are the symbols 0 to V-1. Words outside it share the symbol `rare`, V.
A unit :math:`x_1 \dots x_T` (a line, a sequence) is counted as :math:`\# x_1 \dots x_T \#`, with
`edge`, V+1, for #. A window may begin or end with an edge, and never runs through one.

Counts are integers, so sums are exact in any order: any number of shards and threads gives equal
bits, and ``moments(a) + moments(b) == moments(a then b)``. Moments over all words are *whole*: text
can be added to them exactly, and they can be cut to any vocabulary. Symbols given as integers keep
their numbers and are never cut.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from eigentext import engine
from eigentext.corpus import TextCorpus, Vocabulary
from eigentext.corpus.ngram_counts import read_ngram_counts
from eigentext.corpus.symbols import encode_sequences
from eigentext.errors import MomentsError, ParameterError
from eigentext.matrices import budget
from eigentext.matrices.lazy import Later, lazy, waiting
from eigentext.matrices.runs import CSR
from eigentext.moments import distributed
from eigentext.moments.additive import Counted, VocabularyMoments, limited, read_counts
from eigentext.moments.counted_ngrams import trie_of
from eigentext.moments.ngram_checks import check_levels, check_ngrams, schema
from eigentext.moments.packing import check_packed, pack
from eigentext.moments.tries import counted, merged, relabeled
from eigentext.parameters import Count, argument


@lazy("levels")
@dataclass(eq=False)
class NgramMoments(VocabularyMoments):
    """Counts of all n-grams up to an order; see the module for their layout.

    :meth:`from_corpus` makes them, ``+`` adds them, :meth:`restrict` cuts them to fewer words, and
    ``save`` writes a file.

    Attributes
    ----------
    vocabulary : Vocabulary
        The words, with their counts in the corpus.
    unigrams : int64 array, shape (n,)
        The number of tokens of each symbol, n = V + 2; for `edge`, the number of units.
    levels : list of csr_array of int64
        ``levels[0]`` (n x n) has the bigrams. ``levels[k]`` has the (k + 2)-grams: a row for each
        entry of ``levels[k - 1]``, in the order of its data, and n columns.
    whole : bool
        Whether every word of the corpus is in the vocabulary.
    options : dict
        How the text was read; ``options["unit"] == "stream"`` if its edges mean nothing.
    sources : list of str
        The fingerprints of the counted corpora, sorted.

    Examples
    --------
    >>> from eigentext import NgramMoments
    >>> moments = NgramMoments.from_corpus([["a", "rose"], ["a", "rose", "is", "a", "rose"]])
    >>> a, rose, edge = moments.vocabulary["a"], moments.vocabulary["rose"], moments.edge
    >>> moments.levels[0][a, rose], moments.levels[0][edge, a], moments.levels[0][rose, edge]
    (np.int64(3), np.int64(2), np.int64(2))
    >>> moments.count([a, rose, edge])
    2
    """

    vocabulary: Vocabulary
    unigrams: np.ndarray
    levels: list[CSR]
    whole: bool = True
    options: dict[str, Any] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)

    _format = "eigentext.ngrams.v1"
    _settings = ("order",)
    _shared = "symbol"

    @classmethod
    def from_corpus(
        cls,
        corpus: Any,
        *,
        order: int = 3,
        min_count: int = 1,
        max_size: int | None = None,
        memory: int | None = None,
        cache: str | os.PathLike[str] | bool | None = None,
        n_shards: int | None = None,
    ) -> Self:
        """Count a corpus.

        Parameters
        ----------
        corpus
            Text, a stream of words or integers, or sequences of them: see
            :func:`eigentext.corpus.encode_sequences`.
        order : int
            The number of symbols of the longest window.
        min_count, max_size : int
            Words that occur less than `min_count` times, or are not among the `max_size` most
            frequent, are counted as `rare`.
        memory : int, optional
            The bytes that the whole process may take. Partial counts that do not fit wait on disk;
            by default, when they exceed 2 GB. The answer itself is in memory.
        cache
            See :func:`eigentext.corpus.encode`.
        n_shards : int, optional
            The number of pieces to count separately; by default the memory decides. It changes no
            answer.
        """
        order = argument("order", Count(3), order)
        if engine.distributed() and isinstance(corpus, (TextCorpus, str, os.PathLike)):
            found, n_units = distributed.ngrams(
                corpus, order, min_count=min_count, max_size=max_size
            )
            vocabulary, levels = found.vocabulary, found.counts
        else:
            encoded = encode_sequences(corpus, cache=cache)
            vocabulary = limited(
                encoded.words, encoded.counts, encoded.options, min_count, max_size
            )
            found = Counted.of(encoded, vocabulary)
            V = len(vocabulary)
            places = vocabulary.ids_of(encoded.words)
            places[places < 0] = V
            # END is -1, NumPy's index of the last place: one look-up maps words and ends of units.
            lookup = np.append(places, np.int32(V + 1))
            with budget.within(memory):
                n_units, levels = counted(encoded, lookup, order, n_shards)
        rare = found.n_tokens - int(vocabulary.counts.sum())
        return cls(
            vocabulary,
            np.concatenate([vocabulary.counts, [rare, n_units]]),
            levels,
            found.whole,
            found.options,
            [found.fingerprint],
        )._counted()

    @classmethod
    def from_counts(
        cls,
        counts: Any,
        *,
        order: int | None = None,
        min_count: int = 1,
        max_size: int | None = None,
        lowercase: bool = False,
        encoding: str = "utf-8",
        errors: str = "raise",
    ) -> Self:
        """Take n-gram counts that somebody else made, in files of ``n-gram TAB count`` or as pairs.

        See :mod:`eigentext.corpus.ngram_counts` for the formats, and
        :mod:`eigentext.moments.counted_ngrams` for how counts of shorter n-grams follow from longer
        ones. Counts with ``<s>`` and ``</s>`` are those of separate units; others are those of a
        stream.

        Parameters
        ----------
        counts : path, glob, list of paths, mapping, or list of (n-gram, count)
            In a mapping or a list, an n-gram is a string with blanks or a tuple of words.
        order : int, optional
            The longest n-grams to take; by default all.
        min_count, max_size
            As for :meth:`from_corpus`.
        lowercase : bool
            Whether to change all words to lower case.
        encoding, errors
            The encoding of files; "skip" skips lines that are no counts.

        Examples
        --------
        >>> from eigentext import NgramMoments
        >>> moments = NgramMoments.from_counts({"a rose is": 1, "rose is a": 1, "is a rose": 1})
        >>> moments.count([moments.vocabulary["a"], moments.vocabulary["rose"]])
        1
        """
        order = argument("order", Count(None), order)
        found = read_ngram_counts(
            counts, order=order, lowercase=lowercase, encoding=encoding, errors=errors
        )
        parts = trie_of(found)
        unit = "line" if parts["unigrams"][-1] else "stream"
        options = {"tokenizer": "whitespace", "lowercase": lowercase, "unit": unit}
        moments = cls(**parts, options=options)
        check_ngrams(moments)
        return moments._counted().restrict(min_count=min_count, max_size=max_size)

    @property
    def order(self) -> int:
        """The number of symbols of the longest windows."""
        later = waiting(self, "levels")  # levels of a file that nobody has read yet
        return len(self.levels) + 1 if later is None else len(later.arguments)

    @property
    def rare(self) -> int:
        """The symbol that all words outside the vocabulary share."""
        return len(self.vocabulary)

    @property
    def edge(self) -> int:
        """The symbol of the start and the end of a unit."""
        return len(self.vocabulary) + 1

    @property
    def rare_count(self) -> int:
        """The number of tokens outside the vocabulary."""
        return int(self.unigrams[self.rare])

    @property
    def n_tokens(self) -> int:
        """The number of tokens of the corpus."""
        return int(self.unigrams[: self.edge].sum())

    @property
    def n_units(self) -> int:
        """The number of units that have tokens."""
        return int(self.unigrams[self.edge])

    def count(self, symbols: Iterable[int]) -> int:
        """How often an n-gram was counted; it is given by the numbers of its symbols."""
        first, *others = symbols
        if len(others) >= self.order:
            raise ParameterError(
                f"a window of {len(others) + 1} symbols, but these moments are of order "
                f"{self.order}; count with a higher order"
            )
        count, row = self.unigrams[first], first
        for level, symbol in zip(self.levels, others):
            begin, end = level.indptr[row], level.indptr[row + 1]
            row = begin + np.searchsorted(level.indices[begin:end], symbol)
            if row == end or level.indices[row] != symbol:
                return 0
            count = level.data[row]
        return count.item()

    def restrict(
        self,
        vocabulary: Iterable[str] | None = None,
        *,
        min_count: int = 1,
        max_size: int | None = None,
    ) -> Self:
        """Keep only some words, given or by count. The others become `rare`.

        The answer equals, bit for bit, counting the corpus with that vocabulary. A given vocabulary
        is fixed: the answer is cut even if the vocabulary has all words so far.
        """
        self._check()
        new = self._chosen(vocabulary, min_count, max_size)
        if new is None:
            return self
        return replace(self._relabeled(new), whole=False)._counted()

    def __add__(self, other: Self) -> Self:
        if not isinstance(other, NgramMoments):
            return NotImplemented
        for part in (self, other):
            part._check()
        self.check_adds_up(other)
        if self.whole != other.whole:
            cut, full = (other, self) if self.whole else (self, other)
            return cut + full.restrict(cut.vocabulary.words)
        vocabulary = self._joined(other)
        parts = [part._relabeled(vocabulary) for part in (self, other)]
        return replace(
            parts[0],
            vocabulary=vocabulary,
            unigrams=parts[0].unigrams + parts[1].unigrams,
            levels=merged([part.levels for part in parts]),
            sources=sorted(self.sources + other.sources),
        )._counted()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NgramMoments):
            return NotImplemented
        return (
            self.vocabulary == other.vocabulary
            and (self.order, self.whole, self.options) == (other.order, other.whole, other.options)
            and np.array_equal(self.unigrams, other.unigrams)
            and all(
                np.array_equal(getattr(mine, part), getattr(theirs, part))
                for mine, theirs in zip(self.levels, other.levels)
                for part in ("indptr", "indices", "data")
            )
        )

    def __repr__(self) -> str:
        kind = "whole" if self.whole else "cut"
        return (
            f"NgramMoments({self.n_tokens} tokens, {len(self.vocabulary)} words, "
            f"order={self.order}, {kind})"
        )

    # Private steps.

    def _counted(self) -> Self:
        """Mark the moments as counted here, so that nothing needs a check."""
        self._is_counted = True
        return self

    def _check(self) -> None:
        """Raise a MomentsError if moments that were made by hand are wrong."""
        if not vars(self).get("_is_counted"):
            check_ngrams(self)

    def _relabeled(self, vocabulary: Vocabulary) -> Self:
        """The same counts with the symbols of another vocabulary; words outside it are rare."""
        if any(not np.issubdtype(level.dtype, np.integer) for level in self.levels):
            raise MomentsError("only counts can be joined or cut, not moments of a distribution")
        n = len(vocabulary) + 2
        places = vocabulary.ids_of(self.vocabulary.words)
        places = np.append(places, np.array([n - 2, n - 1], np.int32))
        places[places < 0] = n - 2
        if len(places) == n and np.array_equal(places, np.arange(n)):
            return replace(self, vocabulary=vocabulary)
        unigrams = np.zeros(n, np.int64)
        np.add.at(unigrams, places, self.unigrams)
        levels = relabeled(self.levels, places, n)
        return replace(self, vocabulary=vocabulary, unigrams=unigrams, levels=levels)

    def _to_saved(self):
        arrays: dict[str, Any] = {"words": self.vocabulary.words, "unigrams": self.unigrams}
        for k, level in enumerate(self.levels):
            if not np.issubdtype(level.dtype, np.integer):
                raise MomentsError("only counts can be saved, not moments of a distribution")
            arrays[f"packed.{k}"], arrays[f"blocks.{k}"] = pack(level)
        about = {name: getattr(self, name) for name in ("order", "whole", "options", "sources")}
        return arrays, {**about, "limits": self.limits}

    @classmethod
    def _schema(cls, about):
        return schema(about)

    @classmethod
    def _from_saved(cls, arrays, about):
        unigrams = np.asarray(arrays["unigrams"])
        vocabulary = Vocabulary(arrays["words"], unigrams[:-2])
        saved = []
        n_rows = len(unigrams)
        for k in range(about["order"] - 1):
            blocks = arrays[f"blocks.{k}"]
            saved.append((arrays[f"packed.{k}"], blocks, (n_rows, len(unigrams))))
            check_packed(*saved[-1])
            n_rows = int(blocks[:, 1].sum())
        check_levels(unigrams, [])
        about = {name: about[name] for name in ("whole", "options", "sources")}
        levels: Any = Later(_unpacked, unigrams, *saved)
        return cls(vocabulary, unigrams, levels, **about)._counted()


def _unpacked(unigrams: np.ndarray, *packed: tuple[Any, Any, tuple[int, int]]) -> list[CSR]:
    """The levels of a file."""
    levels = [read_counts(*level) for level in packed]
    check_levels(unigrams, levels)
    return levels
