r"""Word-context co-occurrence counts, the statistic behind the spectral template.

With a window of :math:`\rho` words, let :math:`F_d[w, c]` count how often c stands d places after
w in the same unit. All contexts follow from these *forward* counts, so only they are kept:

- ``bag``: :math:`\#(w, c) = \sum_d k_d\,(F_d + F_d^\top)[w, c]`, kept as one matrix
  :math:`F = \sum_d k_d F_d`;
- ``list`` (position-sensitive): one column for each word at each place,
  :math:`[F_\rho^\top \dots F_1^\top\; F_1 \dots F_\rho]`;
- ``next`` (one-directional): only the words after w, F itself. With a window of 1 this is the
  matrix of bigrams.

The weight :math:`k_d` is 1 (``flat``), or 1/d (``distance``) as the integer lcm(1..ρ)/d, to be
divided by `unit`. All counts are integers, so sums are exact in any order: any number of shards and
threads gives equal bits, and ``moments(a) + moments(b) == moments(a then b)``.

Words outside the vocabulary keep their place in the window and share one last row, `RARE`. Moments
over all words are *whole*: text can be added to them exactly, and they can be cut to any
vocabulary. Moments may also be *thresholded*: then they are smaller and no longer exact.
"""

import math
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from eigentext import engine
from eigentext.corpus import Vocabulary
from eigentext.corpus.shards import can_shard
from eigentext.errors import MomentsError
from eigentext.matrices import budget
from eigentext.matrices.disk import rows_of
from eigentext.matrices.lazy import Later, lazy, waiting
from eigentext.matrices.ranges import RowRanges
from eigentext.matrices.runs import (
    CSR,
    assembled,
    csr,
    listed,
    merge,
    mirrored,
    relabeled,
    sums,
    transposed,
)
from eigentext.moments import distributed
from eigentext.moments.counted_ngrams import forward_pairs
from eigentext.moments.distributed import OnWorkers
from eigentext.moments.ngram_checks import check_ngrams
from eigentext.moments.ngrams import NgramMoments
from eigentext.moments.packing import check_packed, pack
from eigentext.moments.pair_checks import check_total, checked_counts, unpacked_pairs
from eigentext.moments.pairs import (
    check_sums,
    check_window,
    counted_corpus,
    nothing_to_count,
    pair_shape,
    pair_weights,
)
from eigentext.moments.tree_contexts import TreeContexts
from eigentext.parameters import Choice, Count, Flag, Table, argument
from eigentext.storage import facts
from eigentext.storage.schema import Array, Schema, Strings, damage

Context = Literal["bag", "list", "next"]
Weighting = Literal["flat", "distance"]
RARE = "<rare>"  # the name of the shared last row for people; no word of the vocabulary
_LARGEST_WINDOW = 1_000_000  # there is a weight for each distance
_SETTINGS = Table(
    "CooccurrenceMoments",
    window=Count(10, most=_LARGEST_WINDOW),
    context=Choice("bag", of=("bag", "list", "next")),
    weighting=Choice("distance", of=("flat", "distance")),
)
_LIMITS = Table(
    "CooccurrenceMoments",
    min_count=Count(1),
    max_size=Count(None),
    n_shards=Count(None),
)
_TOKENS = Count(0, least=0, most=2**53)
# What is saved besides the counts.
_ABOUT = {
    "rare_count": _TOKENS,
    **_SETTINGS,
    "whole": Flag(True),
    "options": facts.OPTIONS,
    "sources": facts.TEXTS,
    "min_pairs": facts.COUNT,
}


@lazy("forward")
@dataclass(eq=False)
class CooccurrenceMoments(TreeContexts):
    """Forward co-occurrence counts of a corpus; see the module for their definition.

    :meth:`from_corpus` and :meth:`from_trees` make them, ``+`` adds them, :meth:`restrict` cuts
    them to fewer words, :meth:`thresholded` makes them smaller, and ``save`` writes a file. Moments
    that are made by hand are checked.

    Attributes
    ----------
    vocabulary : Vocabulary
        The words of rows and columns, with their counts in the corpus.
    rare_count : int
        The number of tokens outside the vocabulary; 0 if `whole`.
    forward : csr_array of int64, shape (n, n); or (n, window * n) for "list"
        n counts `RARE` too, unless `whole`.
    window, context, weighting
        The definition of a context.
    whole : bool
        Whether every word of the corpus has its own row.
    options : dict
        How the text was read. Only moments that agree on this can be added.
    sources : list of str
        The fingerprints of the counted corpora, sorted.
    min_pairs : int
        :meth:`thresholded` dropped pairs that were counted less often, from all the counts or from
        a part of the sum; 0 if it dropped none.

    Examples
    --------
    >>> from eigentext import CooccurrenceMoments
    >>> text = ["I ate ham", "You ate cheese", "You ate"]
    >>> moments = CooccurrenceMoments.from_corpus(text, window=1)
    >>> moments.vocabulary.words
    ['ate', 'You', 'I', 'cheese', 'ham']
    >>> moments.forward.toarray()[1]  # after "You": twice "ate"
    array([2, 0, 0, 0, 0])
    """

    vocabulary: Vocabulary
    rare_count: int
    forward: CSR
    window: int
    context: Context = "bag"
    weighting: Weighting = "flat"
    whole: bool = True
    options: dict[str, Any] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)
    min_pairs: int = 0

    _format = "eigentext.cooccurrence.v2"
    _settings = ("window", "context", "weighting")
    _shared = "row"

    def __post_init__(self) -> None:
        if not isinstance(self.vocabulary, Vocabulary):
            raise MomentsError(f"vocabulary is {self.vocabulary!r:.60}; give a Vocabulary")
        for name, kind in _ABOUT.items():
            setattr(self, name, argument(name, kind, getattr(self, name)))
        check_window(self.window, self.weighting, self.context)
        n = len(self.vocabulary) + (not self.whole)
        self.forward = checked_counts(self.forward, pair_shape(n, self.window, self.context))

    @classmethod
    def _made(cls, **parts: Any) -> Self:
        """Moments of parts that were made here and need no check of every entry."""
        self = object.__new__(cls)
        vars(self).update({"options": {}, "sources": [], "min_pairs": 0} | parts)
        return self

    def _with(self, **parts: Any) -> Self:
        """The same moments with some other parts that were made here."""
        own = {name: getattr(self, name) for name in ("vocabulary", *_ABOUT)}
        return self._made(**{**own, **parts})

    @classmethod
    def from_corpus(
        cls,
        corpus: Any,
        *,
        window: int = 10,
        context: Context = "bag",
        weighting: Weighting = "distance",
        min_count: int = 1,
        max_size: int | None = None,
        memory: int | None = None,
        cache: str | os.PathLike[str] | bool | None = None,
        n_shards: int | None = None,
    ) -> Self:
        """Count a corpus.

        Parameters
        ----------
        corpus : TextCorpus, EncodedCorpus, or what :func:`eigentext.corpus.encode` takes
            What to count. A list of strings is always text; files are paths.
        window : int
            The number of context words on each side.
        context : "bag", "list" or "next"
            Whether a context word is the same at every place of the window; "next" has only the
            words after it.
        weighting : "flat" or "distance"
            Whether a pair counts 1 or 1/distance.
        min_count, max_size : int
            Words that occur less than `min_count` times, or are not among the `max_size` most
            frequent, are counted as `RARE`.
        memory : int, optional
            The bytes that the whole process may take. Counts that do not fit are in files of the
            temporary folder. By default the answer is in memory, and partial counts wait on disk
            when they exceed 2 GB.
        cache
            See :func:`eigentext.corpus.encode`.
        n_shards : int, optional
            The number of pieces to count separately; by default the memory decides. It changes no
            answer.
        """
        how = _SETTINGS.taken({"window": window, "context": context, "weighting": weighting})
        limits = _LIMITS.taken({"min_count": min_count, "max_size": max_size, "n_shards": n_shards})
        n_shards = limits.pop("n_shards")
        check_window(**how)
        weights = pair_weights(how["window"], how["weighting"])
        shape_of = partial(pair_shape, window=how["window"], context=how["context"])
        with budget.within(memory):
            if engine.distributed() and can_shard(corpus):
                found = distributed.cooccurrences(corpus, weights, shape_of, **limits)
            else:
                found = counted_corpus(corpus, weights, shape_of, limits, n_shards, cache)
        if found.counts.nnz == 0:
            raise nothing_to_count(found.options)
        return cls._made(
            vocabulary=found.vocabulary,
            rare_count=found.rare_count,
            forward=found.counts,
            whole=found.whole,
            options=found.options,
            sources=[found.fingerprint],
            **how,
        )

    @classmethod
    def from_ngrams(
        cls,
        moments: NgramMoments,
        *,
        window: int | None = None,
        context: Context = "bag",
        weighting: Weighting = "distance",
    ) -> Self:
        """Take the pairs of words from counts of n-grams: equal to counting their text.

        A window of d words needs n-grams of d + 1 words; by default all of them are used. See
        :meth:`NgramMoments.from_counts` for counts that somebody else made.
        """
        check_ngrams(moments)
        most = moments.order - 1
        window = window or max(most, 1)
        how = _SETTINGS.taken({"window": window, "context": context, "weighting": weighting})
        if how["window"] > most:
            raise MomentsError(
                f"window={how['window']}, but n-grams of {moments.order} words show pairs at a "
                f"distance of up to {most}; use a smaller window (--window)"
            )
        check_window(**how)
        n = len(moments.vocabulary) + (not moments.whole)
        shape = pair_shape(n, how["window"], how["context"])
        weights = pair_weights(how["window"], how["weighting"])
        check_sums(moments.vocabulary, moments.rare_count, weights)
        return cls(
            vocabulary=moments.vocabulary,
            rare_count=moments.rare_count,
            forward=forward_pairs(moments.levels, moments.edge, weights, shape),
            whole=moments.whole,
            options=dict(moments.options),
            sources=list(moments.sources),
            **how,
        )

    @property
    def unit(self) -> int:
        """What the counts are to be divided by: lcm(1..window) with "distance", else 1."""
        return math.lcm(*range(1, self.window + 1)) if self.weighting == "distance" else 1

    @property
    def n_tokens(self) -> int:
        """The number of tokens of the corpus."""
        return int(self.vocabulary.counts.sum()) + self.rare_count

    @property
    def n_pairs(self) -> int:
        """The number of distinct pairs: the entries of `forward`."""
        return (self._on_workers or self.forward).nnz

    @property
    def _on_workers(self) -> RowRanges | None:
        """The counts as they are on the Dask workers, if nobody has brought them here yet."""
        later = waiting(self, "forward")
        return later.counts if isinstance(later, OnWorkers) else None

    @property
    def limits(self) -> str | None:
        """What is no longer possible with these moments; None if they are whole and exact."""
        limits = [cut] if (cut := super().limits) else []
        if self.min_pairs:
            limits.append(
                f"thresholded: pairs counted less than {self.min_pairs} times were dropped, so "
                "neither a cut of them nor a sum with new text equals counting all text again"
            )
        return "; and ".join(limits) or None

    def counts(
        self,
        function: Callable[[np.ndarray], np.ndarray] = lambda x: x,
        dtype: DTypeLike = np.int64,
    ) -> CSR:
        """#(w, c): words by contexts, as integers over `unit`; or a function of these.

        They are on disk if the memory budget has no room for them.
        """
        keep = budget.current().left
        if self._on_workers and self.context == "bag":
            return distributed.mirrored(self._on_workers, function, dtype)
        with engine.phase("mirror", 2 * self.forward.nnz, "entries") as advance:
            if self.context == "bag":
                return mirrored(self.forward, function, dtype, advance, keep)
            if self.context == "next":
                F, data = self.forward, function(self.forward.data).astype(dtype, copy=False)
                return csr(data, F.indices, F.indptr, F.shape)
            if keep < 24 * self.forward.nnz:
                return listed(self.forward, self.window, function, dtype, advance, keep)
            n = self.forward.shape[0]
            ahead = [self.forward[:, d * n : (d + 1) * n] for d in range(self.window)]
            counts = sp.hstack([F.T for F in reversed(ahead)] + ahead, format="csr")
            counts.data = function(counts.data).astype(dtype, copy=False)
            return counts

    def totals(self) -> tuple[np.ndarray, np.ndarray]:
        """#(w) and #(c), the sums of rows and columns of the counts, as integers over `unit`."""
        if self.context == "bag":
            ahead, behind = self._on_workers.sums() if self._on_workers else sums(self.forward)
            return ahead + behind, ahead + behind
        F = self.forward
        ahead, behind = sums(F)
        if self.context == "next":
            return ahead, behind
        n = F.shape[0]
        places = [F[:, d * n : (d + 1) * n].sum(axis=1) for d in reversed(range(self.window))]
        return ahead + behind.reshape(self.window, n).sum(axis=0), np.concatenate([*places, behind])

    def restrict(
        self,
        vocabulary: Iterable[str] | None = None,
        *,
        min_count: int = 1,
        max_size: int | None = None,
    ) -> Self:
        """Keep only some words, given or by count. The others become `RARE`.

        The answer equals, bit for bit, counting the corpus with that vocabulary. A given vocabulary
        is fixed: the answer is cut even if the vocabulary has all words so far.
        """
        old, new = self.vocabulary, self._chosen(vocabulary, min_count, max_size)
        if new is None:
            return self
        places = np.append(new.ids_of(old.words), np.int32(-1))
        places[places < 0] = len(new)
        return self._with(
            vocabulary=new,
            rare_count=self.n_tokens - int(new.counts.sum()),
            forward=self._relabeled(places, len(new) + 1),
            whole=False,
        )

    def thresholded(self, min_pairs: int) -> Self:
        """Drop the pairs that were counted less than `min_pairs` times, to save space.

        What counts is #(w, c) over `unit`, for "bag" in both directions together. The other pairs
        keep their counts. The counts of words stay as they are, but #(w) and #(c), the sums of rows
        and columns, become smaller. A word whose pairs are all rare has none left.

        Dropped pairs are lost: a sum with such moments differs from counting all text. `limits` of
        the answer and of all its sums says so.

        Examples
        --------
        >>> from eigentext import CooccurrenceMoments
        >>> text = ["I ate ham", "You ate cheese", "You ate"]
        >>> CooccurrenceMoments.from_corpus(text, window=1).thresholded(2)
        CooccurrenceMoments(8 tokens, 5 words, 1 pairs, window=1, bag, distance, whole, min_pairs=2)
        """
        from eigentext.moments import _packing_loops

        min_pairs = argument("min_pairs", facts.COUNT, min_pairs)
        least = min(min_pairs * self.unit, 1 << 62)  # more than any count
        if least <= 1:  # no pair was counted less often
            return self
        F = self.forward
        # In a list and for "next", the same two words in the other order are another pair.
        back = transposed(F) if self.context == "bag" else sp.csr_array(F.shape, dtype=np.int64)

        def keep_rows(rows: tuple[int, int]):
            return _packing_loops.keep_frequent(*rows_of(F, *rows), *rows_of(back, *rows), least)

        forward = assembled(keep_rows, F.indptr.astype(np.int64), F.shape)
        if forward.nnz == F.nnz:  # nothing to drop; exact moments stay exact
            return self
        return self._with(forward=forward, min_pairs=max(min_pairs, self.min_pairs))

    def __add__(self, other: Self) -> Self:
        if not isinstance(other, CooccurrenceMoments):
            return NotImplemented
        self.check_adds_up(other)
        if self.whole != other.whole:
            cut, full = (other, self) if self.whole else (self, other)
            return cut + full.restrict(cut.vocabulary.words)
        vocabulary = self._joined(other)
        rare_count = argument("rare_count", _TOKENS, self.rare_count + other.rare_count)
        check_sums(vocabulary, rare_count, pair_weights(self.window, self.weighting))
        n = len(vocabulary) + (not self.whole)
        parts = [
            part._relabeled(np.append(vocabulary.ids_of(part.vocabulary.words), np.int32(n - 1)), n)
            for part in (self, other)
        ]
        return self._with(
            vocabulary=vocabulary,
            rare_count=rare_count,
            forward=merge(parts),
            sources=sorted(self.sources + other.sources),
            min_pairs=max(self.min_pairs, other.min_pairs),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CooccurrenceMoments):
            return NotImplemented
        return (
            self.vocabulary == other.vocabulary
            and all(
                getattr(self, name) == getattr(other, name) for name in _ABOUT if name != "sources"
            )
            and all(
                np.array_equal(getattr(self.forward, part), getattr(other.forward, part))
                for part in ("indptr", "indices", "data")
            )
        )

    def __repr__(self) -> str:
        kind = "whole" if self.whole else "cut"
        if self.min_pairs:
            kind += f", min_pairs={self.min_pairs}"
        return (
            f"CooccurrenceMoments({self.n_tokens} tokens, {len(self.vocabulary)} words, "
            f"{self.n_pairs} pairs, window={self.window}, {self.context}, "
            f"{self.weighting}, {kind})"
        )

    # Private steps.

    def _relabeled(self, places: np.ndarray, n: int) -> CSR:
        """F with row and column w moved to ``places[w]``; entries that meet are added."""
        F = self.forward
        if F.shape[0] == n and np.array_equal(places[:n], np.arange(n)):
            return F
        return relabeled(F, places, pair_shape(n, self.window, self.context))

    def _to_saved(self):
        check_total(self.forward.data)
        packed, blocks = pack(self.forward)
        counts = self.vocabulary.counts
        arrays = {
            "words": self.vocabulary.words,
            "word_counts": counts.astype(np.min_scalar_type(int(counts.max(initial=0)))),
            "packed": packed,
            "blocks": blocks,
        }
        return arrays, {name: getattr(self, name) for name in (*_ABOUT, "limits")}

    @classmethod
    def _schema(cls, about):
        return Schema(
            {
                "words": Strings("words", unique=True),
                "word_counts": Array("int", ("words",), least=0, below=2**53),
                "packed": Array("uint8", ("bytes",), lazy=True),  # checksums guard them
                "blocks": Array("int64", ("blocks", 5), least=0),
            },
            _ABOUT,
        )

    @classmethod
    def _from_saved(cls, arrays, about):
        vocabulary = Vocabulary(arrays["words"], np.asarray(arrays["word_counts"]))
        known = {name: kind.take(about[name]) for name, kind in _ABOUT.items()}
        check_window(known["window"], known["weighting"], known["context"])
        check_total(vocabulary.counts)
        n = len(vocabulary) + (not known["whole"])
        shape = pair_shape(n, known["window"], known["context"])
        saved = arrays["packed"], arrays["blocks"], shape
        try:
            check_packed(*saved)
        except ValueError as error:
            raise damage("packed", f"cannot be unpacked ({error})") from error
        return cls._made(vocabulary=vocabulary, forward=Later(unpacked_pairs, *saved), **known)
