r"""Counts of n-grams that somebody else made: files of ``n-gram TAB count``, one per line.

This is what ``ngram-count -write`` of SRILM and count tools around KenLM write, and the format of
the Google Web 1T corpus. The words of an n-gram are separated by blanks. N-grams of several lengths
may be in one file or in several, and equal n-grams add up. Google Books has more columns, which are
found by looking: ``n-gram TAB year TAB matches TAB volumes``, and
``n-gram TAB year,matches,volumes TAB …``. The years add up.

``<s>``, ``<S>`` and ``_START_`` are the start of a unit, and ``</s>``, ``</S>`` and ``_END_`` its
end. ``<unk>`` and ``<UNK>`` are rare words.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eigentext import engine
from eigentext.corpus.bad_items import BadItems
from eigentext.corpus.encodings import UTF8, checked_encoding, not_utf8
from eigentext.corpus.readers import File, expand_paths, read_blocks
from eigentext.errors import CorpusError

STARTS = ("<s>", "<S>", "_START_")
ENDS = ("</s>", "</S>", "_END_")
UNKNOWNS = ("<unk>", "<UNK>")
_COUNT = "^[0-9]{1,18}$"
_BOOKS = "^[0-9]+,[0-9]{1,18},[0-9]+$"
_MOST = 1 << 53  # the largest sum of counts: doubles have it exactly
_PENDING = 1 << 24  # n-grams that wait to be added up
_FORM = "write n-gram TAB count, with blanks between the words"


@dataclass
class NgramCounts:
    """Counted n-grams by their length: rows of word numbers, in order, and their counts."""

    words: list[str]
    tables: dict[int, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)


def read_ngram_counts(
    given: Any,
    *,
    order: int | None = None,
    lowercase: bool = False,
    encoding: str = UTF8,
    errors: str = "raise",
) -> NgramCounts:
    """The n-grams of files, of a mapping, or of pairs.

    Parameters
    ----------
    given : path, glob, list of paths, mapping, or list of (n-gram, count)
        In a mapping or a list, an n-gram is a string with blanks or a tuple of words.
    order : int, optional
        Leave out longer n-grams.
    lowercase : bool
        Whether to change all words to lower case, so that the counts of their forms add up.
    encoding, errors
        The encoding of files, and whether bad lines raise an error or are skipped.

    Examples
    --------
    >>> counts = read_ngram_counts({"a rose": 2, ("rose", "is"): 1})
    >>> counts.words, counts.tables[2][1].tolist()
    (['a', 'rose', 'is'], [2, 1])
    """
    bad = BadItems(errors, "lines of counts")
    total = _Sum(order)
    n_good = 0
    with engine.phase("read", None, "n-grams") as advance:
        for ngrams, counts in _pieces(given, checked_encoding(encoding), bad):
            total.add(pc.utf8_lower(ngrams) if lowercase else ngrams, counts)
            n_good += len(ngrams)
            advance(len(ngrams))
    bad.report(n_good)
    found = total.finish()
    if not found.tables:
        raise CorpusError(f"there are no counts of n-grams; {_FORM}")
    return found


def added_up(
    ids: np.ndarray, counts: np.ndarray, how: np.ufunc = np.add
) -> tuple[np.ndarray, np.ndarray]:
    """Distinct rows in lexicographic order, with the sums (or maxima) of their counts."""
    if not len(ids):
        return ids, counts
    places = np.lexsort(ids.T[::-1])
    ids, counts = ids[places], counts[places]
    is_new = np.append(True, (ids[1:] != ids[:-1]).any(axis=1))
    return ids[is_new], how.reduceat(counts, np.flatnonzero(is_new))


class _Sum:
    """N-grams that are added up as they are read."""

    def __init__(self, order: int | None):
        self._order = order
        self._ids: dict[str, int] = {}
        self._parts: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}
        self._pending = 0

    def add(self, ngrams: pa.Array, counts: np.ndarray) -> None:
        split = pc.ascii_split_whitespace(pc.ascii_trim_whitespace(ngrams))
        lengths = pc.list_value_length(split).to_numpy()
        words = pc.list_flatten(split).dictionary_encode()
        known = [self._ids.setdefault(w, len(self._ids)) for w in words.dictionary.to_pylist()]
        ids = np.array(known, np.int32)[words.indices.to_numpy()]
        begins = np.cumsum(lengths) - lengths
        for k in np.unique(lengths).tolist():
            if self._order is None or k <= self._order:
                rows = np.flatnonzero(lengths == k)
                table = ids[begins[rows, None] + np.arange(k)]
                self._parts.setdefault(k, []).append((table, counts[rows]))
                self._pending += len(rows)
        if self._pending > _PENDING:
            self._add_up()

    def _add_up(self) -> None:
        for k, parts in self._parts.items():
            ids, counts = (np.concatenate(arrays) for arrays in zip(*parts))
            if counts.sum(dtype=np.float64) >= _MOST:
                raise CorpusError(
                    f"the counts of {k}-grams add up to more than {_MOST:.0e}; is the second "
                    "column really a count?"
                )
            self._parts[k] = [added_up(ids, counts)]
        self._pending = 0

    def finish(self) -> NgramCounts:
        self._add_up()
        tables = {k: parts[0] for k, parts in sorted(self._parts.items())}
        return NgramCounts(list(self._ids), tables)


Piece = tuple[pa.Array, np.ndarray]


def _pieces(given: Any, encoding: str, bad: BadItems) -> Iterator[Piece]:
    if isinstance(given, Mapping):
        yield from _given_pairs(given.items(), bad)
        return
    if isinstance(given, (str, os.PathLike)):
        given = [given]
    items = list(given) if isinstance(given, Iterable) else []
    if not items:
        raise CorpusError("give files of n-gram counts, a mapping, or a list of (n-gram, count)")
    if not all(isinstance(item, (str, os.PathLike)) for item in items):
        yield from _given_pairs(items, bad)
        return
    for path in expand_paths(items):
        yield from _pieces_of_file(path, encoding, bad)


def _given_pairs(pairs: Iterable[Any], bad: BadItems) -> Iterator[Piece]:
    ngrams: list[str] = []
    counts: list[int] = []
    for number, pair in enumerate(pairs, start=1):
        try:
            words, count = pair
            ngram = words if isinstance(words, str) else " ".join(words)
            n_words = len(ngram.split()) if isinstance(words, str) else len(words)
            value = int(count)
            if value != count or value < 0 or not n_words or n_words != len(ngram.split()):
                raise ValueError
            ngram.encode()
        except (TypeError, ValueError):
            bad.skip(CorpusError(f"item {number}: {pair!r:.60} is no n-gram with its count"))
            continue
        if value:
            ngrams.append(ngram)
            counts.append(value)
    if ngrams:
        yield pa.array(ngrams, pa.large_string()), np.array(counts, np.int64)


def _pieces_of_file(path: File, encoding: str, bad: BadItems) -> Iterator[Piece]:
    n_lines = 0
    for block in read_blocks(path, whole_lines=True, encoding=encoding):
        if wrong := not_utf8(block.data):
            line = n_lines + 1 + block.data.count(b"\n", 0, wrong[0])
            raise CorpusError(f"{path}, line {line}: {wrong[1]}")
        lines = block.data.removesuffix(b"\n").split(b"\n") if block.data else []
        if lines:
            column = pc.utf8_rtrim(pa.array(lines, pa.large_string()), "\r")
            yield _parsed(column, str(path), n_lines, bad)
        n_lines += len(lines)


def _parsed(lines: pa.Array, path: str, before: int, bad: BadItems) -> Piece:
    """The n-grams and counts of lines; bad ones are reported with their numbers."""
    split = pc.split_pattern(lines, "\t")
    columns = pc.list_value_length(split).to_numpy()
    flat = pc.list_flatten(split)
    begins = np.cumsum(columns) - columns
    counts = np.full(len(lines), -1, np.int64)

    def fill(rows: np.ndarray, column: int, pattern: str) -> None:
        """Take the number of a column where the text before and after it fits."""
        texts = flat.take(pa.array(begins[rows] + column))
        fits = pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False)
        counts[rows[fits]] = texts.filter(pa.array(fits)).cast(pa.int64()).to_numpy()

    fill(np.flatnonzero(columns == 2), 1, _COUNT)
    fill(np.flatnonzero(columns == 4), 2, _COUNT)  # year, matches, volumes
    for row in np.flatnonzero((columns >= 2) & (counts < 0)).tolist():
        years = flat[begins[row] + 1 : begins[row] + columns[row]]
        if pc.all(pc.match_substring_regex(years, _BOOKS)).as_py():
            counts[row] = sum(int(year.split(",")[1]) for year in years.to_pylist())
    ngrams = flat.take(pa.array(begins))
    is_empty = pc.equal(pc.ascii_trim_whitespace(ngrams), "").to_numpy(zero_copy_only=False)
    is_blank = is_empty & (columns == 1)
    for row in np.flatnonzero(((counts < 0) | is_empty) & ~is_blank).tolist():
        bad.skip(_bad_line(lines[row].as_py(), f"{path}, line {before + row + 1}"))
    kept = (counts > 0) & ~is_empty
    return ngrams.filter(pa.array(kept)), counts[kept]


def _bad_line(line: str, place: str) -> CorpusError:
    if line.startswith(("\\data\\", "ngram 1=")):
        return CorpusError(f"{place}: this is an ARPA file, a model without counts; give its text")
    return CorpusError(f"{place}: {line[:60]!r} is no n-gram with its count; {_FORM}")
