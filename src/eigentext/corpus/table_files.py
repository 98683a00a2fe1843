"""Columns of table files: CSV and TSV, JSON lines, Parquet, and Arrow (Feather, IPC).

The ending of the name says the format, or else the first bytes do. Rows are read in batches, so
that a file may be larger than the memory. CSV and JSON lines may be packed (.gz, …) and have any
encoding. The other formats pack their content themselves.
"""

import contextlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pyarrow as pa

from eigentext.corpus.bad_items import BadItems
from eigentext.corpus.delimited import (
    Dialect,
    dialect_of,
    head_of,
    looks_like_table,
    read_delimited,
)
from eigentext.corpus.encodings import UTF8, not_utf8
from eigentext.corpus.readers import (
    BLOCK_BYTES,
    File,
    compression,
    named_errors,
    read_blocks,
)
from eigentext.errors import CorpusError

Batch = tuple[list[Any], np.ndarray]  # arrays (or lists) of values, and the numbers of the rows
FORMATS = {  # by the endings of names
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}
PACKED_THEMSELVES = ("parquet", "arrow")
_MOST_ROWS = 8192
_LIKELY = ("text", "content", "body", "review", "document", "sentence", "message", "abstract")
_KINDS = {dict: "an object", list: "a list", bool: "true or false"}


def format_by_name(file: File) -> str:
    """The format that the ending of the name says ("reviews.csv.gz": csv), or ""."""
    name = PurePosixPath(str(file))
    if compression(file):
        name = name.with_suffix("")
    return FORMATS.get(name.suffix.lower(), "")


def format_of(file: File, encoding: str = UTF8) -> str:
    """The format by the ending of the name, or else by the first bytes: CSV if it is no other."""
    found = format_by_name(file)
    if not found:
        head = head_of(file, encoding, 4096)
        found = next((name for mark, name in _MAGIC.items() if head.startswith(mark)), "")
        found = found or ("jsonl" if head.lstrip()[:1] == b"{" else "csv")
    if found in PACKED_THEMSELVES and compression(file):
        raise CorpusError(f"{file}: a packed {found} file cannot be read in parts; unpack it first")
    return found


def has_only_text(file: File, encoding: str = UTF8) -> bool:
    """Whether the format has no types, so that all values are text: CSV and TSV."""
    return format_of(file, encoding) in ("csv", "tsv")


def columns_if_table(file: File, encoding: str = UTF8) -> list[str]:
    """The names of the columns of a file that is a table by its ending and its first lines."""
    how = format_by_name(file)
    if not how:
        return []
    if how in ("csv", "tsv"):
        return looks_like_table(head_of(file, encoding))
    with contextlib.suppress(CorpusError):
        return column_names(file, encoding)
    return []


def check_no_tables(files: Sequence[File], encoding: str) -> None:
    """Raise CorpusError if a file is a table, whose commas or braces would become words."""
    for file in files:
        if format_by_name(file) and (names := columns_if_table(file, encoding)):
            is_binary = format_by_name(file) in PACKED_THEMSELVES
            other = "" if is_binary else ", or rename the file to .txt if it is text"
            raise CorpusError(
                f"{file}: is a table with the columns {listing(names)}; say which one has the text "
                f"with column={likely(names)!r} (--column {likely(names)}){other}"
            )


def column_names(file: File, encoding: str = UTF8) -> list[str]:
    """The names of all columns; for JSON lines, those of the first lines."""
    how = format_of(file, encoding)
    if how == "parquet":
        with _parquet(file) as opened:
            return list(opened.schema_arrow.names)
    if how == "arrow":
        with _ipc(file) as reader:
            return list(reader.schema.names)
    if how == "jsonl":
        return _keys(head_of(file, encoding))
    return _dialect(file, how, encoding).names


def read_columns(
    file: File, columns: Sequence[str], bad: BadItems, *, encoding: str = UTF8, errors: str
) -> Iterator[Batch]:
    """Batches of the named columns, with the numbers of their rows, from 1.

    Raises CorpusError if a column does not exist; the message names those that do. `errors` is
    "strict", "replace" or "surrogateescape", for bytes that are not of the encoding.
    """
    how = format_of(file, encoding)
    if how == "parquet":
        yield from _read_parquet(file, columns)
    elif how == "arrow":
        yield from _read_ipc(file, columns)
    elif how == "jsonl":
        yield from _read_json(file, columns, bad, encoding, errors)
    else:
        dialect = _dialect(file, how, encoding, columns[0])
        check_columns(str(file), columns, dialect.names)
        yield from read_delimited(file, dialect, columns, bad, encoding=encoding, errors=errors)


def check_columns(where: str, columns: Sequence[str], names: Sequence[str]) -> None:
    """Raise CorpusError if one of the columns is not among the names, or among them twice."""
    for column in columns:
        if column not in names:
            raise CorpusError(f"{where}: no column {column!r}; its columns are {listing(names)}")
        if list(names).count(column) > 1:
            raise CorpusError(f"{where}: several columns are named {column!r}; rename the others")


def listing(names: Sequence[Any], most: int = 20) -> str:
    """Names for a message: 'id', 'text' and 3 more."""
    shown = ", ".join(f"{str(name)!r:.60}" for name in names[:most]) or "none"
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def likely(names: Sequence[Any]) -> str:
    """The name that most likely is that of a column of text, for a message."""
    return next((str(name) for name in names if str(name).lower() in _LIKELY), str(names[0]))


# CSV.


def _dialect(file: File, how: str, encoding: str, column: str | None = None) -> Dialect:
    head = head_of(file, encoding)
    if not head.strip():
        raise CorpusError(f"{file}: the table is empty; give one with names of columns and rows")
    if found := not_utf8(head.partition(b"\n")[0]):
        raise CorpusError(f"{file}, line 1: {found[1]}")
    return dialect_of(head, column, tabs=how == "tsv")


# JSON lines.


def _keys(head: bytes) -> list[str]:
    found: dict[str, None] = {}
    for line in head.split(b"\n")[:1000]:
        with contextlib.suppress(ValueError, RecursionError):
            row = json.loads(line)
            found |= dict.fromkeys(row) if isinstance(row, dict) else {}
    return list(found)


def _read_json(
    file: File, columns: Sequence[str], bad: BadItems, encoding: str, errors: str
) -> Iterator[Batch]:
    names = _keys(head_of(file, encoding))
    if names:
        check_columns(str(file), columns, names)
    number = 0
    for block in read_blocks(file, whole_lines=True, encoding=encoding, errors=errors):
        values: list[list[Any]] = [[] for _ in columns]
        numbers: list[int] = []
        for line in block.data.split(b"\n"):
            number += 1
            if not line.strip():
                continue
            try:
                row = _object(_decoded(line, replaces=errors == "replace"))
                found = [row.get(column) for column in columns]
                _check_text(found[0], columns[0])
            except ValueError as error:
                bad.skip(CorpusError(f"{file}, line {number}: {error}"))
                continue
            numbers.append(number)
            for some, value in zip(values, found):
                some.append(value)
        number -= not block.data or block.data.endswith(b"\n")
        if numbers:
            yield [*values], np.array(numbers, np.int64)


def _decoded(line: bytes, *, replaces: bool) -> str:
    if replaces:
        return line.decode(errors="replace").replace("\0", "\ufffd")
    if found := not_utf8(line):
        raise ValueError(found[1])
    return line.decode()


def _object(line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"not JSON ({error}): {line[:60]!r}; correct or delete it") from error
    if not isinstance(row, dict):
        raise ValueError(f"not a JSON object but {line[:60]!r}; write {{...}} on each line")
    return row


def _check_text(value: Any, column: str) -> None:
    if value is None:
        return
    if not isinstance(value, str):
        kind = _KINDS.get(type(value), "a number")
        raise ValueError(f"{column!r} is {kind}, {value!r:.40}, not text; name a column of text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{column!r} has half a character (a surrogate); repair it") from None


# Parquet and Arrow.


@contextlib.contextmanager
def _arrow_errors(file: File) -> Iterator[None]:
    try:
        yield
    except CorpusError:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        reason = " ".join(str(error).split())[:200]
        raise CorpusError(
            f"{file}: not a complete {file.suffix or 'table'} file ({reason}); is it cut short or "
            "of another format? write it again"
        ) from error


@contextlib.contextmanager
def _parquet(file: File) -> Iterator[Any]:
    from pyarrow import parquet

    with _arrow_errors(file), file.open("rb") as raw, parquet.ParquetFile(raw) as opened:
        yield opened


def _read_parquet(file: File, columns: Sequence[str]) -> Iterator[Batch]:
    with _parquet(file) as opened:
        check_columns(str(file), columns, opened.schema_arrow.names)
        check_type(str(file), columns[0], opened.schema_arrow.field(columns[0]).type)
        number = 0
        size = _rows_of_block(opened.metadata)
        for batch in opened.iter_batches(size, columns=list(dict.fromkeys(columns))):
            numbers = np.arange(number + 1, number + 1 + len(batch))
            number += len(batch)
            yield [batch.column(name) for name in columns], numbers


def _rows_of_block(metadata: Any) -> int:
    """How many rows have the bytes of a block."""
    n_bytes = sum(metadata.row_group(n).total_byte_size for n in range(metadata.num_row_groups))
    return int(min(_MOST_ROWS, max(1, BLOCK_BYTES * metadata.num_rows // max(1, n_bytes))))


@contextlib.contextmanager
def _ipc(file: File) -> Iterator[Any]:
    """A file of Arrow, in the format of files (Feather too) or of streams."""
    with _arrow_errors(file), named_errors(file), contextlib.ExitStack() as stack:
        if isinstance(file, Path) and file.stat().st_size:
            raw = stack.enter_context(pa.memory_map(str(file)))
        else:
            raw = stack.enter_context(pa.PythonFile(file.open("rb"), "r"))
        try:
            reader = pa.ipc.open_file(raw)
        except pa.ArrowInvalid:
            raw.seek(0)
            reader = pa.ipc.open_stream(raw)
        yield stack.enter_context(reader)


def _read_ipc(file: File, columns: Sequence[str]) -> Iterator[Batch]:
    with _ipc(file) as reader:
        check_columns(str(file), columns, reader.schema.names)
        check_type(str(file), columns[0], reader.schema.field(columns[0]).type)
        number = 0
        is_file = hasattr(reader, "num_record_batches")
        batches = (
            map(reader.get_batch, range(reader.num_record_batches)) if is_file else iter(reader)
        )
        for batch in batches:
            some = batch.select(list(dict.fromkeys(columns)))
            some.validate(full=True)  # a damaged file may point outside of its content
            numbers = np.arange(number + 1, number + 1 + len(some))
            number += len(some)
            yield [some.column(name) for name in columns], numbers


def check_type(where: str, column: str, kind: pa.DataType) -> None:
    """Raise CorpusError unless values of this type are text (or missing)."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if is_text(kind) or pa.types.is_null(kind):
        return
    problem = f"is of type {kind}"
    if pa.types.is_nested(kind):
        remedy = "unpack it into columns, or give lists of tokens in Python"
        raise CorpusError(f"{where}: the column {column!r} {problem}, not text; {remedy}")
    raise CorpusError(f"{where}: the column {column!r} {problem}, not text; name a column of text")


def is_text(kind: pa.DataType) -> bool:
    """Whether a type of Arrow has strings (or bytes, which are read as UTF-8)."""
    checks = ("is_string", "is_large_string", "is_binary", "is_large_binary")
    checks += ("is_string_view", "is_binary_view")  # not in all versions
    return any(check(kind) for name in checks if (check := getattr(pa.types, name, None)))
