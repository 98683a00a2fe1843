"""How a command writes its results as a table: the options, and the file."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from eigentext.cli._bundles import StreamOption
from eigentext.cli._files import destination
from eigentext.cli._options import Bundle
from eigentext.errors import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

TableFormatOption = Annotated[
    Literal["csv", "tsv", "jsonl", "parquet", "arrow"] | None,
    typer.Option(
        "--format",
        help="Write a table with named columns: csv, tsv, jsonl (JSON lines), parquet or arrow.",
        show_default="by the ending of -o",
    ),
]
PLAIN = "plain text"  # what the command prints without a format


@dataclass(kw_only=True)
class TableOptions(Bundle):
    """Where a command writes its results, and as which kind of table."""

    output: StreamOption = Path("-")
    format: TableFormatOption = None

    def chosen(self, *, json: bool = False) -> str:
        """Return the format of the table, or `PLAIN` if no table is wanted.

        With `json`, the command writes JSON of its own. Then no other format can be asked for.
        """
        return table_format(self.output, self.format, json=json)


def table_format(output: Path, given: str | None, *, json: bool = False) -> str:
    """Return the format that the options ask for, or `PLAIN`; see `TableOptions.chosen`."""
    from eigentext.corpus.table_files import format_by_name
    from eigentext.corpus.table_output import format_for

    if not json:
        return format_for(output, given, default=PLAIN)
    if found := given or format_by_name(output):
        raise ParameterError(f"--json and a table ({found}) exclude each other; choose one")
    return PLAIN


def write_result(table: "pa.Table", output: Path, format: str) -> None:
    """Write a table, to standard output if the output is "-"."""
    with writing(table.schema, output, format) as write:
        write(table)


@contextmanager
def writing(schema: "pa.Schema", output: Path, format: Any) -> Iterator[Callable[..., Any]]:
    """Yield a function that writes rows of a table; see `write_result`."""
    from eigentext.corpus.table_output import table_writer

    with destination(output) as path, table_writer(path, schema, format) as write:
        yield write


def write_text(lines: Iterable[str], output: Path) -> None:
    """Write lines, each with its end, to a file or ("-") to standard output: all or nothing."""
    from eigentext.corpus.compressed import compressed
    from eigentext.storage.files import replacing

    with (
        destination(output) as path,
        replacing(path) as temporary,
        compressed(temporary, path) as file,
    ):
        file.writelines(line.encode(errors="backslashreplace") for line in lines)
