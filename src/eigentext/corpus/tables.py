"""Text in a column of a table: a file (:mod:`eigentext.corpus.table_files`) or a table in memory.

A table in memory is a data frame of pandas or polars, a table of pyarrow (or anything that Arrow
can read), a data set of Hugging Face, a mapping of columns, or a list of mappings. They are
recognized by their shape, and none of these libraries is needed.

A row is one unit of a corpus, so line ends inside of a value are blanks. A value that is missing
(null, None, NaN) or empty is a unit without words. So the rows and their ids stay aligned. A
warning tells how many rows have no text.
"""

import hashlib
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eigentext.corpus import readers
from eigentext.corpus.bad_items import BadItems
from eigentext.corpus.encodings import UTF8
from eigentext.corpus.readers import Block
from eigentext.corpus.table_files import (
    check_columns,
    check_type,
    has_only_text,
    is_text,
    likely,
    listing,
    read_columns,
)
from eigentext.errors import CorpusError

_MANY = 1000  # rows of a data set that are read at a time
_IN_MEMORY = "the table"


@dataclass(frozen=True)
class RowBlock(Block):
    """A block whose lines are rows of a table, with their numbers."""

    numbers: np.ndarray


@dataclass(frozen=True)
class Rows:
    """Some rows: their texts as bytes, their numbers, and their ids (none, or one for each).

    An id is a whole number or a string, as in the table.
    """

    texts: pa.LargeBinaryArray
    numbers: np.ndarray
    ids: list[int | str]


class Pass:
    """What one pass over a corpus meets: rows, rows without text, and bad items."""

    def __init__(self, errors: str, what: str):
        self.bad = BadItems("skip" if errors == "skip" else "raise", what)
        self.errors = errors
        self.n_items = self.n_empty = 0

    def report(self, where: str, column: str | None, *, warn: bool = True) -> None:
        """Warn about rows without text and bad items; an error if there is nothing else."""
        if column is not None and self.n_items == self.n_empty and not self.bad.n_bad:
            if not self.n_items:
                raise CorpusError(f"{where}: the table has no rows; give one with rows")
            raise CorpusError(
                f"{where}: the column {column!r} is empty in all {self.n_items} rows; "
                "name another column"
            )
        with warnings.catch_warnings():
            if not warn:
                warnings.simplefilter("ignore")
            self.bad.report(self.n_items, stacklevel=4)
            if column is not None and self.n_empty:
                warnings.warn(
                    f"{where}: {self.n_empty} of {self.n_items} rows have no text in the column "
                    f"{column!r}; they are empty documents, so rows and ids stay aligned",
                    stacklevel=4,
                )


class Column:
    """The texts of one column of a file or of a table in memory.

    Parameters
    ----------
    source : path or table
        A table in memory is recognized by :func:`is_table`.
    column : str
        The name of the column with the text.
    id : str, optional
        The name of the column with the names of the rows.
    encoding : str
        For CSV and JSON lines.
    """

    def __init__(self, source: Any, column: str, id: str | None = None, *, encoding: str = UTF8):
        self.source = source
        self.column = column
        self.id = id
        self.encoding = encoding

    @property
    def name(self) -> str:
        """The name of the file, or "" for a table in memory."""
        return "" if is_table(self.source) else str(self.source)

    def rows(self, seen: Pass, *, ids: bool = False) -> Iterator[Rows]:
        """All rows, in parts of a few megabytes; `seen` counts them."""
        where = self.name or _IN_MEMORY
        names = [self.column, self.id] if ids and self.id is not None else [self.column]
        has_types = is_table(self.source) or not has_only_text(self.source, self.encoding)
        for values, numbers in self._batches(names, seen):
            texts = as_bytes(values[0], self.column, where)
            found = _as_ids(values[1], numbers, has_types) if len(values) > 1 else []
            rows = Rows(texts, numbers, found)
            if seen.n_items == 0:
                _check_no_numbers(rows, self.column, where)
            for part in _parts(rows):
                part = _sound(part, where, seen)
                seen.n_items += len(part.numbers)
                seen.n_empty += _n_empty(part.texts)
                yield part

    def blocks(self, seen: Pass) -> Iterator[RowBlock]:
        """The texts as blocks for a tokenizer, with a line for each row."""
        for rows in self.rows(seen):
            if len(rows.numbers):
                yield self.block(rows)

    def block(self, rows: Rows) -> RowBlock:
        """The texts of some rows as a block."""
        return RowBlock(_joined(rows.texts), self.name, 0, False, rows.numbers)

    def digest(self) -> bytes:
        """SHA-256 of the texts of a table in memory, however it is cut into batches."""
        lengths, content = hashlib.sha256(), hashlib.sha256()
        for values, _ in self._batches([self.column], Pass("strict", "rows")):
            texts = as_bytes(values[0], self.column, _IN_MEMORY)
            lengths.update(pc.binary_length(texts).to_numpy().astype("<i8").tobytes())
            content.update(_joined(texts, b""))
        return lengths.digest() + content.digest()

    def _batches(self, names: list[str], seen: Pass) -> Iterator[Any]:
        if is_table(self.source):
            return _memory_batches(self.source, names)
        errors = {"replace": "replace", "skip": "surrogateescape"}.get(seen.errors, "strict")
        return read_columns(self.source, names, seen.bad, encoding=self.encoding, errors=errors)


# Tables and columns in memory, by their shape.


def is_table(given: Any) -> bool:
    """Whether this is a table in memory, not a single column."""
    if isinstance(given, pa.RecordBatchReader):
        raise CorpusError("this reader can be read only once; give the table, reader.read_all()")
    if isinstance(given, (list, tuple)):
        return bool(given) and isinstance(given[0], Mapping)
    return isinstance(given, Mapping) or has_columns(given)


def has_columns(given: Any) -> bool:
    """Whether this is a data frame, an Arrow table or a data set."""
    return bool(_frame_names(given))


def is_column(given: Any) -> bool:
    """Whether this is a column of a table in memory: a Series, or an array of Arrow."""
    if isinstance(given, (list, tuple, str, np.ndarray)):
        return False
    # The last ones are those of pandas and of Hugging Face.
    shapes = ("__arrow_c_array__", "__arrow_c_stream__", "isna", "column_name")
    return any(hasattr(given, name) for name in shapes) and not has_columns(given)


def texts_of(given: Any) -> list[Any]:
    """The values of a column in memory. Missing texts become "", and a warning counts them."""
    try:
        values = _one_array(given)
    except (pa.ArrowException, TypeError, ValueError):  # mixed types: the caller names the item
        return list(given.tolist() if hasattr(given, "tolist") else given)
    if not (is_text(values.type) or pa.types.is_null(values.type)):
        return values.to_pylist()
    texts = values.cast(pa.large_string()).fill_null("").to_pylist()
    if texts and values.null_count == len(texts):
        raise CorpusError(f"the column is empty in all {len(texts)} rows; give another column")
    if values.null_count:
        warnings.warn(
            f"{values.null_count} of {len(texts)} texts are missing; they are empty documents, so "
            "rows stay aligned",
            stacklevel=4,
        )
    return texts


def column_needed(given: Any) -> CorpusError:
    """The error for a table that is given where a column is expected."""
    names = _names(given)
    return CorpusError(
        f"this is a table with the columns {listing(names)}; give only the column with the text, "
        f"such as {likely(names)!r}, or TextCorpus(table, column={likely(names)!r})"
    )


def _names(table: Any) -> list[Any]:
    """The names of the columns of a table."""
    if isinstance(table, (list, tuple)):
        return list(dict.fromkeys(key for row in table for key in row))
    if not isinstance(table, Mapping):
        return _frame_names(table)
    if any(map(has_columns, table.values())):  # the parts of a data set of Hugging Face
        raise CorpusError(f"these are several tables, {listing(list(table))}; give one of them")
    return list(table)


def _frame_names(given: Any) -> list[Any]:
    """The names of the columns of a data frame, an Arrow table or a data set; else none."""
    if isinstance(given, type):
        return []
    if hasattr(given, "collect_schema"):  # polars; its lazy frames warn if asked for `columns`
        return list(given.collect_schema())
    for attribute in ("column_names", "columns"):
        names = getattr(given, attribute, None)
        if isinstance(names, Iterable) and not isinstance(names, (str, Mapping)):
            return list(names)
    return []


def _memory_batches(table: Any, names: list[str]) -> Iterator[tuple[list[Any], np.ndarray]]:
    """Batches of columns, with the numbers of their rows, from 0 as in a list."""
    number = 0
    for batch in _dictionaries(table, names):
        n_rows = len(batch[names[0]])
        yield [batch[name] for name in names], np.arange(number, number + n_rows)
        number += n_rows


def _dictionaries(table: Any, names: list[str]) -> Iterator[Any]:
    check_columns(_IN_MEMORY, names, _names(table))
    if isinstance(table, (list, tuple)):
        for start in range(0, len(table), _MANY):
            some = table[start : start + _MANY]
            yield {name: [row.get(name) for row in some] for name in names}
    elif hasattr(table, "iter") and hasattr(table, "column_names"):  # a data set of Hugging Face
        yield from table.iter(batch_size=_MANY)
    elif isinstance(table, pa.Table):
        for batch in table.select(list(dict.fromkeys(names))).to_batches():
            yield {name: batch.column(name) for name in names}
    else:  # a lazy frame of polars is computed here
        yield table.select(names).collect() if hasattr(table, "collect") else table


# Values become bytes.


def as_bytes(values: Any, column: str, where: str) -> pa.LargeBinaryArray:
    """The texts of a column as one array of bytes; b"" for missing ones."""
    try:
        array = _one_array(values)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise _mixed(values, column, where) from error
    if len(array):
        check_type(where, column, array.type)
    if not len(array) or pa.types.is_null(array.type):
        return pa.array([b""] * len(array), pa.large_binary())
    return array.cast(pa.large_binary()).fill_null(b"")


def _one_array(values: Any) -> pa.Array:
    """A column in memory as one array of Arrow, without dictionaries."""
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        array: Any = values
    elif hasattr(values, "__arrow_c_stream__"):
        array = pa.chunked_array(values)
    else:
        values = values if hasattr(values, "__array__") else list(values)
        array = pa.array(values, from_pandas=True)
    if pa.types.is_dictionary(array.type):
        kind = array.type.value_type
        array = pa.nulls(len(array)) if array.null_count == len(array) else array.cast(kind)
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _mixed(values: Any, column: str, where: str) -> CorpusError:
    for number, value in enumerate(values):
        # NaN, the missing value of pandas, differs from itself.
        if not (value is None or isinstance(value, str) or value != value):
            return CorpusError(
                f"{where}: the column {column!r} has mixed types: row {number} is {value!r:.40}, "
                "not text; convert it with astype(str), or leave the row out"
            )
    return CorpusError(f"{where}: the column {column!r} is not text; name a column of text")


def _as_ids(values: Any, numbers: np.ndarray, has_types: bool) -> list[int | str]:
    """The names of rows. A row without one gets its number.

    If the table has only text, what is written like a whole number is one.
    """
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if isinstance(values, pa.Array) and is_text(values.type):
        found = [
            None if name is None else name.decode(errors="replace")
            for name in values.cast(pa.large_binary()).to_pylist()
        ]
    else:
        found = values.tolist() if hasattr(values, "tolist") else list(values)
    ids = [_as_id(name, number) for name, number in zip(found, numbers.tolist())]
    return ids if has_types else [_number(name) for name in ids]


def _as_id(name: Any, number: int) -> int | str:
    # NaN, the missing value of pandas, differs from itself.
    if name is None or name == "" or name != name:
        return f"row {number}"
    if isinstance(name, float) and name.is_integer():  # pandas, if some others are missing
        return int(name)
    return name if type(name) is int else str(name)


def _number(name: int | str) -> int | str:
    """A whole number, if the text can be made of it again: not for 007."""
    is_number = isinstance(name, str) and re.fullmatch(r"0|-?[1-9][0-9]{0,17}", name)
    return int(name) if is_number else name


def _check_no_numbers(rows: Rows, column: str, where: str) -> None:
    """Raise CorpusError if all texts of the first rows are numbers, as they may be in CSV."""
    texts = rows.texts.filter(pc.greater(pc.binary_length(rows.texts), 0))
    if not len(texts):
        return
    try:
        texts.slice(0, _MANY).cast(pa.string()).cast(pa.float64())
    except pa.ArrowException:
        return
    raise CorpusError(f"{where}: the column {column!r} has numbers, not text; name another column")


def _parts(rows: Rows) -> Iterator[Rows]:
    """The rows in parts of about the size of a block."""
    n = len(rows.numbers)
    n_parts = min(n, -(-rows.texts.nbytes // readers.BLOCK_BYTES))
    edges = np.linspace(0, n, max(1, n_parts) + 1).astype(int).tolist()
    for a, b in pairwise(edges):
        yield Rows(rows.texts.slice(a, b - a), rows.numbers[a:b], rows.ids[a:b])


def _sound(rows: Rows, where: str, seen: Pass) -> Rows:
    """The rows that are valid text, if bad ones are to be skipped."""
    if seen.errors != "skip" or is_valid(_joined(rows.texts)):
        return rows
    keep = np.ones(len(rows.numbers), bool)
    for place, text in enumerate(rows.texts.to_pylist()):
        if not is_valid(text):
            keep[place] = False
            seen.bad.skip(CorpusError(f"{where}, row {rows.numbers[place]}: not UTF-8, or has NUL"))
    ids = [name for name, good in zip(rows.ids, keep) if good]
    return Rows(rows.texts.filter(pa.array(keep)), rows.numbers[keep], ids)


def is_valid(data: bytes) -> bool:
    """Whether bytes are UTF-8 without NUL."""
    try:
        return b"\0" not in data and (data.isascii() or bool(data.decode()))
    except UnicodeDecodeError:
        return False


def _n_empty(texts: pa.LargeBinaryArray) -> int:
    return len(texts) - int(np.count_nonzero(pc.binary_length(texts).to_numpy()))


def _joined(texts: pa.LargeBinaryArray, end: bytes = b"\n") -> bytes:
    """All texts, each as one line."""
    if not len(texts):
        return b""
    if end:
        texts = pc.replace_substring(texts, b"\n", b" ")
    offsets = np.array([0, len(texts)], np.int64)
    rows = pa.LargeListArray.from_arrays(offsets, texts)
    return pc.binary_join(rows, pa.scalar(end, pa.large_binary()))[0].as_py() + end
