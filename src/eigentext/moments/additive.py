"""What statistics over a vocabulary share: how they are cut to fewer words, and when they add up.

Moments over all words are *whole*: text can be added to them exactly, and any vocabulary cut from
them. In cut ones, the words outside share one row or symbol.
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
    """What is known of a corpus before its counts, and these."""

    vocabulary: Vocabulary
    whole: bool
    n_tokens: int
    options: dict[str, Any]
    fingerprint: str
    counts: Any = None

    @classmethod
    def of(cls, text: EncodedCorpus, vocabulary: Vocabulary) -> "Counted":
        """Of text in this process."""
        whole = len(vocabulary) == len(text.words)
        return cls(vocabulary, whole, text.n_tokens, dict(text.options), text.fingerprint)


class VocabularyMoments(Saved):
    """Base of additive statistics of the words of a corpus."""

    vocabulary: Vocabulary
    whole: bool
    options: dict[str, Any]
    rare_count: Any

    _settings: ClassVar[tuple[str, ...]]  # in which two must agree to be added
    _shared: ClassVar[str]  # what the words outside the vocabulary share

    @property
    def limits(self) -> str | None:
        """What cut moments can no longer do; None if they are whole."""
        if self.whole:
            return None
        return (
            f"cut to {len(self.vocabulary)} words: the {self.rare_count} other tokens share "
            f"one {self._shared}, so no word can join the vocabulary any more, and a sum with new "
            "text keeps these words and differs from counting all text again"
        )

    def check_adds_up(self, other: Self) -> None:
        """Raise a MomentsError that says why, if these two cannot be added."""
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
        """The first setting in which the counting differed, as in "window 5 and 2"; or nothing."""
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
        """The words to keep, given or by count; None if there is nothing to cut."""
        old = self.vocabulary
        if vocabulary is None:
            new = limited(old.words, old.counts, self.options, min_count, max_size)
            return new if len(new) < len(old) else None  # whole moments stay whole
        # Kept in the order given, so that it agrees with the moments it comes from; words that
        # never occurred here have empty rows.
        names = list(vocabulary)
        places = old.ids_of(names)
        if not self.whole and (places < 0).any():
            unknown = names[int(np.argmin(places))]
            raise MomentsError(f"{unknown!r} is not in these moments, which are {self.limits}")
        return Vocabulary(names, np.where(places < 0, 0, old.counts[places]))

    def _joined(self, other: Self) -> Vocabulary:
        """The words of both, with the sums of their counts."""
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
    """The vocabulary of words that are frequent enough, or of all integers."""
    if options.get("tokenizer") != INTEGERS:
        return Vocabulary.from_counts(words, counts, min_count=min_count, max_size=max_size)
    if min_count > 1 or (max_size is not None and max_size < len(words)):
        raise ParameterError(
            "symbols given as integers keep their numbers and are never cut; "
            "use min_count=1 and no max_size, or give them as strings"
        )
    return Vocabulary(words, counts)


def read_counts(packed: np.ndarray, blocks: np.ndarray, shape: tuple[int, int]) -> CSR:
    """A matrix that `pack` made bytes of; an error that names their file if they are damaged."""
    try:
        return unpack(packed, blocks, shape)
    except ValueError as error:
        file = getattr(packed, "filename", "saved moments")
        raise ModelFileError(
            f"{file}: damaged: {error!r} while reading its counts; "
            "copy it again or fit the model again"
        ) from error
