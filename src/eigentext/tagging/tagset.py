"""The tags that a tagger learns, and the tags that it shows."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from eigentext.corpus import schemes
from eigentext.errors import CorpusError
from eigentext.tagging.choices import Scheme, choose_scheme, lone_tags, repair_tags

_SHOWN = {"U": "B", "L": "I"}  # the first letters of BILOU tags in BIO


@dataclass(frozen=True)
class TagSet:
    """The learned tags, the scheme that taggings follow, and the tags as they are shown.

    Parameters
    ----------
    learned
        The different tags as they are learned, in order.
    scheme
        "bio", "bilou" or "iobes" if taggings must follow this scheme, else None.
    converts
        Whether the tags of the data are BIO and are learned as BILOU.
    """

    learned: list[str]
    scheme: str | None
    converts: bool

    @classmethod
    def of(cls, given: Scheme, tags: list[list[str]]) -> tuple["TagSet", list[list[str]], int]:
        """Return the tag set of the training sentences, under the scheme that was asked for.

        Also return the tags as they are shown, and how many of them had to be changed for that.
        """
        scheme, converts = choose_scheme(given, tags)
        tags, n_changed = repair_tags(tags, "bio" if converts else scheme)
        found = _converted(tags, converts)
        learned = sorted({*found, *lone_tags(found, scheme)})
        return cls(learned, scheme, converts), tags, n_changed

    def read(self, tags: list[list[str]]) -> list[list[str]]:
        """Return the tags of sentences in the scheme that is shown.

        Chunks stay the same, whatever scheme they have. Other tags stay as they are.
        """
        return schemes.in_scheme(tags, "bio" if self.converts else self.scheme)

    @cached_property
    def shown(self) -> list[str]:
        """Each learned tag as it is shown: with conversion, U-X is B-X, and L-X is I-X."""
        letters = _SHOWN if self.converts else {}
        return [letters.get(tag[0], tag[0]) + tag[1:] for tag in self.learned]

    @cached_property
    def names(self) -> list[str]:
        """The different tags that are shown, in order."""
        return sorted(set(self.shown))

    @cached_property
    def meaning(self) -> np.ndarray:
        """The place in `names` of each learned tag."""
        return np.array([self.names.index(tag) for tag in self.shown])

    def numbers(self, tags: list[list[str]]) -> np.ndarray:
        """Return the number of each token's tag among the learned ones, or -1 if it is unknown."""
        places = {tag: place for place, tag in enumerate(self.learned)}
        found = _converted(self.read(tags), self.converts)
        return np.array([places.get(tag, -1) for tag in found], np.int32)


def _converted(tags: Iterable[list[str]], converts: bool) -> list[str]:
    """Return the tags of all sentences as they are learned, one after the other."""
    if not converts:
        return list(chain.from_iterable(tags))
    found: list[str] = []
    for number, one in enumerate(tags, 1):
        try:
            found += schemes.to_bilou(one)
        except CorpusError as error:
            raise CorpusError(f"sentence {number}, {error}") from error
    return found
