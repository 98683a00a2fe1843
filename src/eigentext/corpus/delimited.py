"""Files of delimited values (CSV, TSV): what separates their columns, and their rows.

The first line has the names of the columns. Commas, semicolons, tabs or bars separate them. Values
may be in double quotes, and then they may have line ends. Some files with tabs use quotes as plain
characters instead, which the first lines show. Arrow reads the rows. It accepts a quote that never
ends, as if all the rest were one value, so that this is checked here.
"""

import codecs
import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow

from eigentext.corpus.bad_items import BadItems
from eigentext.corpus.encodings import UTF8, not_utf8
from eigentext.corpus.readers import File, named_errors, open_bytes, read_lines
from eigentext.errors import CorpusError

_DELIMITERS = (",", "\t", ";", "|")
_HEAD = 1 << 20
_BOM = b"\xef\xbb\xbf"
_LONGEST_ROW = 8 << 20  # Arrow reads up to 32 pieces of this size ahead
codecs.register_error("eigentext-nul", lambda error: ("\0", error.end))
_ERRORS = {"surrogateescape": "eigentext-nul"}
_CUT = "straddles two block boundaries"  # Arrow's words for a row longer than a block


@dataclass(frozen=True)
class Dialect:
    """How a file separates values: the delimiter, whether quotes enclose values, and the names."""

    delimiter: str
    quotes: bool
    names: list[str]


class ByteStream(io.RawIOBase):
    """Something with ``read`` as a stream for Arrow, which needs the exact number of bytes.

    It counts quotes, and checks that the bytes are UTF-8: Arrow cannot name a bad row that is not.
    Bytes that are not UTF-8 are an error that names the line, or U+FFFD ("replace"), or NUL, which
    makes a row bad ("surrogateescape").
    """

    def __init__(self, raw: Any, name: str = "", errors: str = "strict"):
        super().__init__()
        self._raw, self._name = raw, name
        self._left = memoryview(b"")
        self._decoder = codecs.getincrementaldecoder("utf-8")(_ERRORS.get(errors, errors))
        self._n_lines = 0
        self.n_quotes = 0

    def readable(self) -> bool:
        """Whether it can be read: yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer; at the end of the file, not at all."""
        if not self._left:
            data = self._raw.read(len(buffer))
            self.n_quotes += data.count(b'"')
            self._left = memoryview(self._checked(data))
        n = min(len(buffer), len(self._left))
        buffer[:n], self._left = self._left[:n], self._left[n:]
        return n

    def _checked(self, data: bytes) -> bytes:
        waiting = self._decoder.getstate()[0]  # the beginning of a character
        if data.isascii() and not waiting:
            self._n_lines += data.count(b"\n")
            return data
        try:
            text = self._decoder.decode(data, final=not data)
        except UnicodeDecodeError:
            at, reason = not_utf8(waiting + data) or (0, "not UTF-8")
            line = self._n_lines + 1 + (waiting + data).count(b"\n", 0, at)
            raise CorpusError(
                f"{self._name}, line {line}: {reason}, or read it with errors='replace' "
                "(--errors replace)"
            ) from None
        self._n_lines += data.count(b"\n")
        return text.encode() or (self._checked(self._raw.read(1)) if data else b"")


def head_of(file: File, encoding: str = UTF8, size: int = _HEAD) -> bytes:
    """The first bytes of a file, unpacked and as UTF-8."""
    data = b""
    with named_errors(file), open_bytes(file, encoding=encoding, errors="replace") as opened:
        while len(data) < size and (piece := opened.read(size - len(data))):
            data += piece
    return data.removeprefix(_BOM)


def dialect_of(head: bytes, column: str | None = None, tabs: bool = False) -> Dialect:
    r"""The dialect of a file that begins like this, with the named column if possible.

    Examples
    --------
    >>> dialect_of(b'id;text\n1;"ham; eggs"\n').names
    ['id', 'text']
    >>> dialect_of(b'id\ttext\n1\t"ham" and eggs\n').quotes
    False
    """
    text = head.decode(errors="replace")
    first = text.partition("\n")[0]
    found = {d: _names(text[: len(first) + _HEAD], d) for d in _DELIMITERS}

    def rank(delimiter: str) -> tuple[bool, bool, int]:
        names = found[delimiter]
        return column in names, tabs and delimiter == "\t", len(names)

    best = max(_DELIMITERS, key=rank)
    return Dialect(best, not (best == "\t" and _has_plain_quotes(head)), found[best])


def looks_like_table(head: bytes) -> list[str]:
    """The names of the columns, if the first lines have equally many, two or more; else none."""
    dialect = dialect_of(head)
    if len(dialect.names) < 2:
        return []
    text = head.decode(errors="replace")
    rows = csv.reader(io.StringIO(text[: text.rfind("\n") + 1]), delimiter=dialect.delimiter)
    try:
        lengths = {len(row) for _, row in zip(range(20), rows) if row}
    except csv.Error:
        return []
    return dialect.names if lengths == {len(dialect.names)} else []


def read_delimited(
    file: File,
    dialect: Dialect,
    columns: Sequence[str],
    bad: BadItems,
    *,
    encoding: str = UTF8,
    errors: str = "strict",
) -> Iterator[tuple[list[pa.Array], np.ndarray]]:
    """The named columns as arrays of bytes, with the numbers of their rows.

    Row 1 is the first one after the names. Blank lines are not rows. For `encoding` and `errors`
    see :func:`eigentext.corpus.readers.open_bytes`.
    """
    skipped: list[int] = []

    def wrong(row: Any) -> str:
        number = row.number - 1
        bad.skip(
            CorpusError(
                f"{file}, row {number}: {row.actual_columns} values for {row.expected_columns} "
                f"columns: {row.text[:60]!r}; is a quote not closed, or a value not quoted?"
            )
        )
        skipped.append(number)
        return "skip"

    n_read = 0
    with named_errors(file), open_bytes(file, encoding=encoding, errors=errors) as opened:
        stream = ByteStream(opened, str(file), errors)
        for batch in _batches(file, stream, dialect, columns, wrong):
            places = np.arange(n_read + 1, n_read + 1 + len(batch))
            n_read += len(batch)
            yield batch.columns, _with_skipped(places, skipped)
        quotes_differ = dialect.quotes and stream.n_quotes % 2
    if quotes_differ:
        _check_closed(file, dialect.delimiter, encoding)


def _batches(
    file: File,
    stream: ByteStream,
    dialect: Dialect,
    columns: Sequence[str],
    wrong: Callable[[Any], str],
) -> Iterator[pa.RecordBatch]:
    failed: list[CorpusError] = []

    def handle(row: Any) -> str:
        try:
            return wrong(row)
        except CorpusError as error:  # Arrow would print it and go on
            failed.append(error)
            return "error"

    parsing = arrow.ParseOptions(
        delimiter=dialect.delimiter,
        quote_char='"' if dialect.quotes else False,
        newlines_in_values=dialect.quotes,
        invalid_row_handler=handle,
    )
    # Without types Arrow would read "007" as a number.
    converting = arrow.ConvertOptions(
        include_columns=list(dict.fromkeys(columns)),
        column_types=dict.fromkeys(columns, pa.binary()),
        strings_can_be_null=False,
        check_utf8=False,
    )
    reading = arrow.ReadOptions(use_threads=False, block_size=_LONGEST_ROW)
    try:
        with arrow.open_csv(stream, reading, parsing, converting) as reader:
            for batch in reader:
                yield batch.select(columns)
    except pa.ArrowException as error:
        if failed:
            raise failed[0] from None
        reason = str(error)
        if _CUT in reason:
            reason = f"a row has more than {_LONGEST_ROW >> 20} MiB; is a quote not closed?"
        raise CorpusError(f"{file}: cannot be read as a table ({reason})") from error


def _with_skipped(places: np.ndarray, skipped: list[int]) -> np.ndarray:
    """The numbers of rows in the file, from their places among those that were read.

    Examples
    --------
    >>> _with_skipped(np.array([1, 2, 3]), [2, 3])
    array([1, 4, 5])
    """
    before = np.array(skipped, np.int64) - np.arange(len(skipped))
    return places + np.searchsorted(before, places, side="right")


def _names(text: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(text), delimiter=delimiter), [])
    except csv.Error:  # a name of more than 128 KiB
        return []


def _has_plain_quotes(head: bytes) -> bool:
    """Whether every line is a row, but quotes do not enclose values: they are plain characters."""
    lines = head.split(b"\n")[:-1]
    if len({line.count(b"\t") for line in lines if line.strip()}) != 1:
        return False
    text = b"\n".join(lines).decode(errors="replace")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter="\t", strict=True)
    try:
        return len({len(row) for row in rows if row}) > 1
    except csv.Error:  # something follows a closed quote, or a quote is not closed
        return len(head) < _HEAD or rows.line_num < len(lines)


def _check_closed(file: File, delimiter: str, encoding: str) -> None:
    """Raise CorpusError if the file ends inside a quoted value."""
    opened, mark = 0, delimiter.encode()  # the line in which the value began, or 0
    for number, line in read_lines(file, encoding):
        at = 0
        while True:
            if opened:
                at = line.find(b'"', at) + 1
                if not at:
                    break
                if line[at : at + 1] == b'"':  # two quotes are one character
                    at += 1
                    continue
                opened = 0
            elif line[at : at + 1] == b'"':
                opened, at = number, at + 1
                continue
            if (at := line.find(mark, at) + 1) == 0:
                break
    if opened:
        raise CorpusError(
            f"{file}, line {opened}: a quote begins here and never ends; close it, or double it if "
            "it is a part of the text"
        )
