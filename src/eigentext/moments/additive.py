"""The base of statistics over a vocabulary: how to cut them to fewer words, and how to add them.

Moments over all words are *whole*: text can be added to them exactly, and they can be cut to any
vocabulary. In moments that are *cut*, the words outside the vocabulary share one row or symbol.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from eigentext.corpus import EncodedCorpus, Vocabulary
from eigentext.corpus.symbols import INTEGERS
from eigentext.errors import ModelFileError, MomentsError, ParameterError
from eigentext.matrices.runs import CSR
from eigentext.moments.packing import unpack
from eigentext.storage import Saved


@dataclass
class Counted:
    """The counts of a corpus, and what is known about it."""

    vocabulary: Vocabulary
    whole: bool
    n_tokens: int
    options: dict[str, Any]
    fingerprint: str
    counts: Any = None

    @property
    def rare_count(self) -> int:
        """The number of tokens outside the vocabulary."""
        return self.n_tokens - int(self.vocabulary.counts.sum())

    @classmethod
    def of(cls, text: EncodedCorpus, vocabulary: Vocabulary) -> "Counted":
        """What is known about encoded text in this process, before it is counted."""
        whole = len(vocabulary) == len(text.words)
        return cls(vocabulary, whole, text.n_tokens, dict(text.options), text.fingerprint)


class VocabularyMoments(Saved):
    """Base of additive statistics of the words of a corpus."""

    vocabulary: Vocabulary
    whole: bool
    options: dict[str, Any]
    rare_count: Any

    _settings: ClassVar[tuple[str, ...]]  # two moments must agree on these to be added
    _shared: ClassVar[str]  # "row" or "symbol": what the words outside the vocabulary share

    @property
    def limits(self) -> str | None:
        """What is no longer possible with cut moments; None if they are whole."""
        if self.whole:
            return None
        return (
            f"cut to {len(self.vocabulary)} words: the {self.rare_count} other tokens share "
            f"one {self._shared}, so no word can join the vocabulary any more, and a sum with new "
            "text keeps these words and differs from counting all text again"
        )

    def check_adds_up(self, other: Self) -> None:
        """Raise a MomentsError if these two cannot be added, and say why."""
        if not isinstance(other, VocabularyMoments):
            raise MomentsError(
                f"{type(self).__name__} and {type(other).__name__} do not add up; count both "
                "texts with the same settings (for word vectors, the same narrow and purpose)"
            )
        if difference := self._difference(other):
            raise MomentsError(
                f"moments with {difference} do not add up; count both texts with the same settings"
            )
        if self.whole or other.whole:
            return
        if set(self.vocabulary.words) != set(other.vocabulary.words):
            raise MomentsError(
                "moments cut to different vocabularies do not add up; "
                "count both with all words (whole moments), or cut both to the same words"
            )

    def _difference(self, other: Self) -> str:
        """The first setting that differs, as in "window 5 and 2"; empty if none does."""
        for name in self._settings:
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                return f"{name} {mine!r} and {theirs!r}"
        for name in [*self.options, *other.options]:
            mine, theirs = self.options.get(name), other.options.get(name)
            if mine != theirs:
                return f"text read with {name} {mine!r} and {theirs!r}"
        return ""

    def _chosen(
        self, vocabulary: Iterable[str] | None, min_count: int, max_size: int | None
    ) -> Vocabulary | None:
        """The words to keep: those given, or by count. None if there is nothing to cut."""
        old = self.vocabulary
        if vocabulary is None:
            new = limited(old.words, old.counts, self.options, min_count, max_size)
            return new if len(new) < len(old) else None  # whole moments stay whole
        # They keep the given order, so that they agree with the moments they come from. Words that
        # never occurred here have empty rows.
        names = list(vocabulary)
        places = old.ids_of(names)
        if not self.whole and (places < 0).any():
            unknown = names[int(np.argmin(places))]
            raise MomentsError(f"{unknown!r} is not in these moments, which are {self.limits}")
        return Vocabulary(names, np.where(places < 0, 0, old.counts[places]))

    def _joined(self, other: Self) -> Vocabulary:
        """The words of both, with their summed counts."""
        a, b = self.vocabulary, other.vocabulary
        if self.options.get("tokenizer") == INTEGERS:
            longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
            counts = longer.counts.copy()
            counts[: len(shorter)] += shorter.counts
            return Vocabulary(longer.words, counts)
        total = dict(zip(a.words, a.counts.tolist()))
        for word, count in zip(b.words, b.counts.tolist()):
            total[word] = total.get(word, 0) + count
        return Vocabulary.from_counts(list(total), list(total.values()), min_count=0)


def limited(
    words: list[str],
    counts: np.ndarray,
    options: dict[str, Any],
    min_count: int,
    max_size: int | None,
) -> Vocabulary:
    """The vocabulary of words that are frequent enough; symbols given as integers all stay."""
    if options.get("tokenizer") != INTEGERS:
        return Vocabulary.from_counts(words, counts, min_count=min_count, max_size=max_size)
    if min_count > 1 or (max_size is not None and max_size < len(words)):
        raise ParameterError(
            "symbols given as integers keep their numbers and are never cut; "
            "use min_count=1 and no max_size, or give them as strings"
        )
    return Vocabulary(words, counts)


def read_counts(packed: np.ndarray, blocks: np.ndarray, shape: tuple[int, int]) -> CSR:
    """The matrix that was packed. Raises a ModelFileError that names the file if it is damaged."""
    try:
        return unpack(packed, blocks, shape)
    except ValueError as error:
        file = getattr(packed, "filename", "saved moments")
        raise ModelFileError(
            f"{file}: damaged: {error!r} while reading its counts; "
            "copy it again or fit the model again"
        ) from error
