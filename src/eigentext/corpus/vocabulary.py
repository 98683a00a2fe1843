"""`Vocabulary`: words in the order of their counts. The place of a word is its id."""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice, repeat
from typing import Any

import numpy as np

from eigentext.errors import CorpusError, ParameterError, UnknownWordError


class Vocabulary:
    """Words in the order of falling counts (equal counts by code point). The place is the id.

    The order depends on words and counts alone, not on the order of reading. So the statistics of
    two halves of a corpus can be added to those of the whole.

    Examples
    --------
    >>> from eigentext import TextCorpus, Vocabulary
    >>> vocabulary = Vocabulary.from_corpus(TextCorpus(["I ate ham", "You ate"]))
    >>> vocabulary.words, vocabulary["ate"], "cheese" in vocabulary
    (['ate', 'I', 'You', 'ham'], 0, False)
    """

    def __init__(self, words: Sequence[str], counts: Iterable[int]):
        self.words = list(words)
        known = counts if isinstance(counts, np.ndarray) else list(counts)
        self.counts = np.asarray(known, np.int64)
        if len(self.words) != len(self.counts):
            raise CorpusError(f"{len(self.words)} words but {len(self.counts)} counts")

    @classmethod
    def from_counts(
        cls,
        words: Sequence[str],
        counts: Iterable[int],
        *,
        min_count: int = 1,
        max_size: int | None = None,
    ) -> "Vocabulary":
        """Sort the words; drop those below `min_count` and all beyond `max_size`."""
        import pyarrow as pa

        from eigentext.corpus.buffers import integer_array, integers_of, string_array

        whole = cls(words, counts)
        columns = [string_array(whole.words), integer_array(whole.counts)]
        table = ranked(pa.Table.from_arrays(columns, ["word", "count"]), min_count, max_size)
        return cls(table["word"].to_pylist(), integers_of(table["count"], np.int64))

    @classmethod
    def from_corpus(
        cls, corpus: Any, *, min_count: int = 1, max_size: int | None = None
    ) -> "Vocabulary":
        """Count the words of a corpus, given as for :func:`eigentext.corpus.encode`."""
        from eigentext.corpus.encoded import encode

        encoded = encode(corpus)
        return cls.from_counts(
            encoded.words, encoded.counts, min_count=min_count, max_size=max_size
        )

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._ids

    def __getitem__(self, word: str) -> int:
        try:
            return self._ids[word]
        except KeyError:
            raise UnknownWordError(self._unknown(str(word))) from None

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Vocabulary)
            and self.words == other.words
            and np.array_equal(self.counts, other.counts)
        )

    __hash__ = None  # type: ignore[assignment] - holds an array

    def __repr__(self) -> str:
        head = ", ".join(map(repr, self.words[:3]))
        return f"Vocabulary({len(self)} words: {head}, …)"

    def ids_of(self, words: Sequence[str], unknown: int = -1) -> np.ndarray:
        """The id of each word; -1, or `unknown`, for unknown words."""
        return np.fromiter(map(self._ids.get, words, repeat(unknown)), np.int32, len(words))

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {word: place for place, word in enumerate(self.words)}

    def _unknown(self, word: str) -> str:
        # Comparing spellings is slow, so compare only frequent words of about the same length.
        near = (w for w in self.words if abs(len(w) - len(word)) <= 2)
        close = difflib.get_close_matches(word, islice(near, 50_000), n=3, cutoff=0.7)
        others = (word.lower(), word[:1].upper() + word[1:], word.upper())
        other = [one for one in dict.fromkeys(others) if one != word and one in self]
        close = [*other, *(near for near in close if near not in other)][:3]
        hint = f"did you mean {', '.join(close)}?" if close else "it may be rarer than min_count"
        return f"{word!r} is not in the vocabulary of {len(self)} words; {hint}"


def as_asked(words: Iterable[str], options: Mapping[str, Any]) -> list[str]:
    """Words that a model is asked about, in lower case if the text of its fit was changed to it.

    `options` say how that text was read. All models follow this rule, and change nothing else. A
    model of text with capitals does not know "paris", and its error suggests "Paris".

    Examples
    --------
    >>> as_asked(["Paris"], {"lowercase": True}), as_asked(["Paris"], {"lowercase": False})
    (['paris'], ['Paris'])
    """
    asked = list(words)
    if not options.get("lowercase") or not asked:
        return asked
    if all(map(str.isascii, asked)):
        return list(map(str.lower, asked))
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.utf8_lower(pa.array(asked, pa.large_string())).to_pylist()  # letter by letter


def ranked(table: Any, min_count: int = 1, max_size: int | None = None) -> Any:
    """An Arrow table of words and counts in the order of a vocabulary, within its limits."""
    import pyarrow.compute as pc

    from eigentext.corpus.buffers import integer_array

    if max_size is not None and max_size < 1:
        raise ParameterError(f"max_size must be 1 or more, not {max_size}")
    # No count needs more than 62 bits, and Arrow refuses numbers of more than 63.
    least = integer_array(np.array([min(min_count, 1 << 62)]))[0]
    kept = table.filter(pc.greater_equal(table["count"], least))
    if len(kept) == 0:
        most = pc.max(table["count"]).as_py() or 0
        raise CorpusError(
            f"no word occurs {min_count} times or more (the most frequent one: {most} times); "
            "lower min_count or give more text"
            if most
            else "the corpus has no words: is the file empty?"
        )
    keys = [("count", "descending"), ("word", "ascending")]
    return kept.take(pc.sort_indices(kept, sort_keys=keys)[:max_size])
