"""`MappedVocabulary`: the words of a file, which are found in it and not read.

A vocabulary of half a million words takes half a second to read into a list and a dictionary, and
a hundred megabytes. This one looks words up in a table of hashes that is in the file, so it is
there at once. The list of words is made when somebody asks for it.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from eigentext.corpus.vocabulary import Vocabulary
from eigentext.errors import UnknownWordError
from eigentext.parameters import Count
from eigentext.storage.facts import facts
from eigentext.storage.schema import Array, damage

_MOST_PROBES = 1 << 12  # slots that a search may look at
_FEWEST_SLOTS = 16
ABOUT = facts(
    "how words are found",
    needs=("bits", "probes"),
    bits=Count(1, most=31),
    probes=Count(1, most=_MOST_PROBES),
)

# The arrays of a vocabulary in a file. Their values are checked when they are used.
ARRAYS = {
    "names.counts": Array("int64", ("words",), lazy=True),
    "names.bytes": Array("uint8", ("bytes of words",), lazy=True),
    "names.offsets": Array("int64", ("words+1",), lazy=True),
    "names.slots": Array("uint32", ("slots of words",), lazy=True),
}


class _Index(NamedTuple):
    """The words as bytes, and where they are."""

    utf8: np.ndarray
    offsets: np.ndarray
    slots: np.ndarray
    bits: int
    probes: int


class MappedVocabulary(Vocabulary):
    """Words in a map of a file, found by a table of hashes.

    Examples
    --------
    >>> from eigentext import Vocabulary
    >>> from eigentext.corpus.mapped_vocabulary import MappedVocabulary, vocabulary_to_saved
    >>> saved = vocabulary_to_saved(Vocabulary(["ate", "ham"], [2, 1]))
    >>> vocabulary = MappedVocabulary.of(*saved)
    >>> vocabulary["ham"], "eggs" in vocabulary, vocabulary.words
    (1, False, ['ate', 'ham'])
    """

    def __init__(self, index: _Index, counts: np.ndarray):
        self._index = index
        self.counts = counts

    @classmethod
    def of(cls, arrays: Mapping[str, Any], about: Mapping[str, Any]) -> "MappedVocabulary":
        """Return the vocabulary of arrays that fit `ARRAYS`."""
        utf8, offsets, slots, counts = (
            _plain(arrays[f"names.{part}"]) for part in ("bytes", "offsets", "slots", "counts")
        )
        if len(slots) == 0 or len(slots) & (len(slots) - 1):
            raise damage("names.slots", "has a length that is no power of two")
        return cls(_Index(utf8, offsets, slots, about["bits"], about["probes"]), counts)

    @cached_property
    def words(self) -> list[str]:  # type: ignore[override] - made when somebody asks
        """The words in the order of their ids."""
        import pyarrow as pa

        buffers = pa.py_buffer(self._index.offsets), pa.py_buffer(self._index.utf8)
        try:
            strings = pa.LargeStringArray.from_buffers(len(self), *buffers)
            strings.validate(full=True)
        except pa.ArrowInvalid as error:
            raise damage("names", "are no words in UTF-8") from error
        found = strings.to_pylist()
        if len(set(found)) < len(found):
            raise damage("names", "has a string twice")
        return found

    def __len__(self) -> int:
        return len(self._index.offsets) - 1

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self.ids_of([word])[0] >= 0

    def __getitem__(self, word: str) -> int:
        place = int(self.ids_of([str(word)])[0])
        if place < 0:
            raise UnknownWordError(self._unknown(str(word)))
        return place

    def ids_of(self, words: Sequence[str], unknown: int = -1) -> np.ndarray:
        """The id of each word; `unknown` for unknown words."""
        found = np.empty(len(words), np.int32)
        if len(found) == 0:
            return found
        text = "\0".join(words).encode("utf-8", "surrogatepass")
        if self._find(text, 0 if len(words) > 1 else -1, unknown, found) != len(found):
            for place, word in enumerate(words):  # some word contains a zero
                text = word.encode("utf-8", "surrogatepass")
                self._find(text, -1, unknown, found[place : place + 1])
        return found

    def _find(self, text: bytes, separator: int, unknown: int, found: np.ndarray) -> int:
        from eigentext.corpus import _word_loops as loops

        return loops.find_words(
            np.frombuffer(text, np.uint8), separator, *self._index, unknown, found
        )


def vocabulary_to_saved(vocabulary: Vocabulary) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the arrays of a vocabulary, and what the document says about them."""
    from eigentext.corpus import _word_loops as loops

    if isinstance(vocabulary, MappedVocabulary):
        index = vocabulary._index
    else:
        encoded = [word.encode("utf-8") for word in vocabulary.words]
        offsets = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum([len(word) for word in encoded], out=offsets[1:])
        utf8 = np.frombuffer(b"".join(encoded), np.uint8)
        size = _FEWEST_SLOTS
        while size < 2 * len(encoded):
            size *= 2
        slots, bits = np.zeros(size, np.uint32), max(1, len(encoded).bit_length())
        index = _Index(utf8, offsets, slots, bits, loops.index_words(utf8, offsets, slots, bits))
    arrays = {"bytes": index.utf8, "offsets": index.offsets, "slots": index.slots}
    arrays["counts"] = np.asarray(vocabulary.counts, np.int64)
    about = {"bits": index.bits, "probes": min(index.probes, _MOST_PROBES)}
    return {f"names.{name}": part for name, part in arrays.items()}, about


def _plain(array: np.ndarray) -> np.ndarray:
    found = np.asarray(array).view()
    found.flags.writeable = False
    return found
