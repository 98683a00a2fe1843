"""Co-occurrence counts in two windows at once: a wide bag of words, and a narrow list of places.

A wide window shows what a text is about. The one or two words on each side, with their places,
show how a word is used: its part of speech and its inflection. Both counts are of the same text and
the same vocabulary, and everything that can be done with one can be done with the pair.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

from eigentext import engine
from eigentext.corpus import Vocabulary, encode
from eigentext.corpus.shards import can_shard
from eigentext.errors import MomentsError
from eigentext.matrices import budget
from eigentext.moments.cooccurrence import CooccurrenceMoments
from eigentext.storage import Saved
from eigentext.storage.models import nested, restored

NARROW = {"window": 2, "context": "list", "weighting": "distance"}
_PARTS = ("wide", "narrow")


@dataclass(eq=False)
class TwoWindowMoments(Saved):
    """Counts of a wide and of a narrow window; see the module.

    Attributes
    ----------
    wide, narrow : CooccurrenceMoments
        They have the same words in the same order.

    Examples
    --------
    >>> from eigentext.moments import TwoWindowMoments
    >>> text = ["I ate ham", "You ate cheese", "You ate"]
    >>> moments = TwoWindowMoments.from_corpus(text, window=5)
    >>> moments.wide.window, moments.narrow.window, moments.narrow.context
    (5, 2, 'list')
    """

    wide: CooccurrenceMoments
    narrow: CooccurrenceMoments

    _format = "eigentext.two-windows.v1"

    def __post_init__(self) -> None:
        for name in _PARTS:
            if not isinstance(getattr(self, name), CooccurrenceMoments):
                raise MomentsError(f"{name} must be CooccurrenceMoments")
        if self.wide.vocabulary != self.narrow.vocabulary or self.wide.whole != self.narrow.whole:
            raise MomentsError(
                "the wide and the narrow counts have different words; count the same text for both"
            )

    @classmethod
    def from_corpus(
        cls,
        corpus: Any,
        *,
        memory: int | None = None,
        cache: str | os.PathLike[str] | bool | None = None,
        min_count: int = 1,
        max_size: int | None = None,
        **wide: Any,
    ) -> Self:
        """Count a corpus twice; it is read once unless Dask workers read it.

        `wide` are the settings of the wide window, as of :meth:`CooccurrenceMoments.from_corpus`.
        """
        limits = {"min_count": min_count, "max_size": max_size}
        with budget.within(memory):
            if not (engine.distributed() and can_shard(corpus)):
                corpus = encode(corpus, cache=cache, memory=budget.current().memory)
            parts = [
                CooccurrenceMoments.from_corpus(corpus, cache=cache, **limits, **how)
                for how in (wide, NARROW)
            ]
        return cls(*parts)

    @property
    def vocabulary(self) -> Vocabulary:
        """The words of rows and columns, with their counts."""
        return self.wide.vocabulary

    @property
    def whole(self) -> bool:
        """Whether every word of the corpus has its own row."""
        return self.wide.whole

    @property
    def rare_count(self) -> int:
        """The number of tokens outside the vocabulary."""
        return self.wide.rare_count

    @property
    def n_tokens(self) -> int:
        """The number of tokens of the corpus."""
        return self.wide.n_tokens

    @property
    def options(self) -> dict[str, Any]:
        """How the text was read."""
        return self.wide.options

    @property
    def sources(self) -> list[str]:
        """The fingerprints of the counted corpora."""
        return self.wide.sources

    @property
    def min_pairs(self) -> int:
        """The threshold of :meth:`thresholded`, or 0."""
        return max(self.wide.min_pairs, self.narrow.min_pairs)

    @property
    def limits(self) -> str | None:
        """What is no longer possible with these moments; None if they are whole and exact."""
        return self.wide.limits or self.narrow.limits

    def restrict(
        self,
        vocabulary: Iterable[str] | None = None,
        *,
        min_count: int = 1,
        max_size: int | None = None,
    ) -> Self:
        """Keep only some words, as :meth:`CooccurrenceMoments.restrict` does."""
        words = None if vocabulary is None else list(vocabulary)
        return self._each(lambda part: part.restrict(words, min_count=min_count, max_size=max_size))

    def thresholded(self, min_pairs: int) -> Self:
        """Drop rare pairs, as :meth:`CooccurrenceMoments.thresholded` does."""
        return self._each(lambda part: part.thresholded(min_pairs))

    def check_adds_up(self, other: Self) -> None:
        """Raise a MomentsError if these two cannot be added, and say why."""
        if not isinstance(other, TwoWindowMoments):
            raise MomentsError(
                "counts of two windows and of one window do not add up; fit both with the same "
                "number of narrow dimensions or the same purpose (--narrow, --purpose)"
            )
        self.wide.check_adds_up(other.wide)
        self.narrow.check_adds_up(other.narrow)

    def __add__(self, other: Self) -> Self:
        if not isinstance(other, TwoWindowMoments):
            return NotImplemented
        return type(self)(self.wide + other.wide, self.narrow + other.narrow)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TwoWindowMoments):
            return NotImplemented
        return self.wide == other.wide and self.narrow == other.narrow

    def __repr__(self) -> str:
        return f"TwoWindowMoments({self.wide!r}, {self.narrow!r})"

    def _each(self, step: Any) -> Self:
        return type(self)(step(self.wide), step(self.narrow))

    def _to_saved(self):
        arrays: dict[str, Any] = {}
        about: dict[str, Any] = {}
        for name in _PARTS:
            parts, about[name] = nested(getattr(self, name))
            arrays |= {f"{name}.{key}": part for key, part in parts.items()}
        return arrays, about

    @classmethod
    def _from_saved(cls, arrays, about):
        found = []
        for name in _PARTS:
            own = {
                key.removeprefix(f"{name}."): part
                for key, part in arrays.items()
                if key.startswith(f"{name}.")
            }
            found.append(restored(own, dict(about[name])))
        return cls(*found)
