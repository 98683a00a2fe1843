"""Tables of results: written to files, and given to pandas.

A result is a table of Arrow. It is written as CSV, TSV, JSON lines, Parquet or Arrow (Feather is
Arrow too), whole or part by part. A file gets all rows or does not appear. CSV, TSV and JSON lines
may be compressed, as the ending of the name says.

CSV and TSV have a first line with the names of the columns. They cannot hold lists, so a column of
vectors, ``vector``, becomes the columns ``vector0``, ``vector1``, … there. The items of lists of
different lengths are written with blanks between them. Numbers have the fewest
digits that give the same number back. JSON has no infinity and no NaN, so these are null in JSON
lines.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eigentext.corpus.compressed import compressed
from eigentext.corpus.readers import compression
from eigentext.corpus.table_files import FORMATS, PACKED_THEMSELVES
from eigentext.errors import EigentextError, ParameterError
from eigentext.storage.files import replacing
from eigentext.storage.valid_json import json_text

if TYPE_CHECKING:
    import pandas as pd

TableFormat = Literal["csv", "tsv", "jsonl", "parquet", "arrow"]
TABLE_FORMATS: tuple[TableFormat, ...] = get_args(TableFormat)
_DELIMITERS = {"csv": ",", "tsv": "\t"}
_ROWS = 4096  # rows that become text together
# Endings of formats that are not here. A file of another format under them would mislead.
_FOREIGN = {
    *(".npy", ".npz", ".json", ".xlsx", ".xls", ".ods", ".h5", ".hdf5", ".pkl", ".pickle", ".pt"),
    *(".safetensors", ".orc", ".avro", ".db", ".sqlite", ".duckdb", ".kv", ".mat", ".zip"),
}


def format_for(
    path: str | PathLike[str],
    given: str | None,
    *,
    default: str,
    endings: Mapping[str, tuple[str, ...]] | None = None,
) -> str:
    """The format of a file: the given one, or else that of the ending of its name.

    Parameters
    ----------
    path : path
        Where the file will be; "-" has no ending.
    given : str or None
        The format that the user asked for.
    default : str
        The format for a name without a known ending.
    endings : mapping, optional
        The endings of other formats than those of tables, each with the formats that it may have,
        the usual one first.

    Examples
    --------
    >>> format_for("shares.csv.gz", None, default="rows")
    'csv'
    >>> format_for("shares", "parquet", default="rows")
    'parquet'
    """
    path = Path(path)
    packed = compression(path)
    ending = Path(path.stem if packed else path).suffix.lower()
    known = {ending: (name,) for ending, name in FORMATS.items()} | dict(endings or {})
    if ending in _FOREIGN and ending not in known:
        raise ParameterError(
            f"{path}: no such format, {ending}; the endings are {', '.join(known)}, and other "
            f"endings mean {default}"
        )
    allowed = known.get(ending, ())
    if given is not None and allowed and given not in allowed:
        raise ParameterError(
            f"{path}: the name says {' or '.join(allowed)}, but the format (--format) is {given}; "
            "change one of them"
        )
    found = given or (allowed[0] if allowed else default)
    if packed and found in PACKED_THEMSELVES:
        raise ParameterError(
            f"{path}: {found} files are not compressed again; leave {path.suffix} out of the name"
        )
    return found


def write_table(path: str | PathLike[str], table: pa.Table, format: TableFormat) -> None:
    """Write a whole table; see the module."""
    with table_writer(path, table.schema, format) as write:
        write(table)


@contextmanager
def table_writer(
    path: str | PathLike[str], schema: pa.Schema, format: TableFormat
) -> Iterator[Callable[[pa.Table], Any]]:
    """Yield a function that writes some rows. The file appears when the work inside has ended."""
    if format not in TABLE_FORMATS:
        raise ParameterError(f"format must be {', '.join(TABLE_FORMATS)}, not {format!r}")
    path = Path(path)
    with replacing(path) as temporary, compressed(temporary, path) as file:
        if format == "parquet":
            from pyarrow import parquet

            with parquet.ParquetWriter(file, schema) as writer:
                yield writer.write_table
        elif format == "arrow":
            with pa.ipc.new_file(file, schema) as writer:
                yield writer.write_table
        else:
            delimiter = _DELIMITERS.get(format, "")
            if delimiter:
                names = pa.array(_flat(schema.empty_table()).column_names)
                file.write(delimiter.join(_quoted(names, delimiter).to_pylist()).encode() + b"\n")

            def write(table: pa.Table) -> None:
                for start in range(0, len(table), _ROWS):
                    some = table.slice(start, _ROWS).combine_chunks()
                    rows = _delimited(some, delimiter) if delimiter else _json_lines(some)
                    file.write("\n".join([*rows, ""]).encode())

            yield write


def as_pandas(table: pa.Table) -> "pd.DataFrame":
    """The table as a data frame of pandas."""
    import_pandas()
    return table.to_pandas()


def import_pandas() -> Any:
    """The module pandas. It need not be installed for anything else."""
    try:
        import pandas
    except ImportError as error:
        raise EigentextError(
            "to_pandas needs pandas; run pip install pandas, or use to_arrow"
        ) from error
    return pandas


def vectors_array(vectors: Any) -> pa.FixedSizeListArray:
    """The rows of a matrix as one column of vectors.

    Examples
    --------
    >>> vectors_array([[1.0, 2.0]]).to_pylist()
    [[1.0, 2.0]]
    """
    vectors = np.ascontiguousarray(vectors)
    return pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])


def names_array(names: Sequence[int | str]) -> pa.Array:
    """Names of rows as a column: whole numbers if all are, or else strings.

    Examples
    --------
    >>> names_array([7, 8]).to_pylist(), names_array([7, "row 2"]).to_pylist()
    ([7, 8], ['7', 'row 2'])
    """
    if all(type(name) is int and -(2**63) <= name < 2**63 for name in names):
        return pa.array(names, pa.int64())
    return pa.array([plain(str(name)) for name in names], pa.string())


def plain(text: str) -> str:
    """A string that Arrow and UTF-8 can hold. Names of files may have half characters in them."""
    return text.encode("utf-8", "backslashreplace").decode()


# Rows as text.


def _delimited(table: pa.Table, delimiter: str) -> list[str]:
    cells = [_cells(column.combine_chunks(), delimiter) for column in _flat(table).columns]
    return pc.binary_join_element_wise(*cells, pa.scalar(delimiter, pa.large_string())).to_pylist()


def _cells(column: pa.Array, delimiter: str) -> pa.Array:
    if pa.types.is_list(column.type):
        column = pc.binary_join(column.cast(pa.list_(pa.string())), " ")
    cells = column.cast(pa.large_string()).fill_null("")
    if pa.types.is_floating(column.type):  # readers guess the type by the first rows: not 1 but 1.0
        return pc.replace_substring_regex(cells, r"^(-?\d+)$", r"\1.0")
    return _quoted(cells, delimiter)


def _quoted(cells: pa.Array, delimiter: str) -> pa.Array:
    """Cells in double quotes, where they need them."""
    needs = pc.match_substring_regex(cells, f'["\r\n{delimiter}]')
    if not pc.any(needs).as_py():
        return cells
    quote = pa.scalar('"', cells.type)
    doubled = pc.replace_substring(cells, '"', '""')
    none = pa.scalar("", cells.type)
    return pc.if_else(needs, pc.binary_join_element_wise(quote, doubled, quote, none), cells)


def _flat(table: pa.Table) -> pa.Table:
    """The table with a column for each dimension of its vectors."""
    columns: dict[str, Any] = {}
    for name, column in zip(table.column_names, table.columns):
        if not pa.types.is_fixed_size_list(column.type):
            columns[name] = column
            continue
        width = column.type.list_size
        flat = column.combine_chunks().flatten().to_numpy(zero_copy_only=False)
        rows = flat.reshape(-1, width)
        columns |= {f"{name}{k}": np.ascontiguousarray(rows[:, k]) for k in range(width)}
    return pa.table(columns)


def _json_lines(table: pa.Table) -> Iterator[str]:
    columns = [_short(column.combine_chunks()) for column in table.columns]
    for row in pa.table(columns, table.column_names).to_pylist():
        yield json_text(row, ascii_only=False)


def _short(column: Any) -> Any:
    """The same numbers as float64, such that they print with the digits of float32: 0.1."""
    if pa.types.is_fixed_size_list(column.type):
        return pa.FixedSizeListArray.from_arrays(_short(column.flatten()), column.type.list_size)
    if pa.types.is_float32(column.type):
        return column.cast(pa.string()).cast(pa.float64())
    return column
