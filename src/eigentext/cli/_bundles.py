"""Options that several commands share, each written once, and the bundles they come in."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from eigentext.cli._options import Bundle

_LEAST_MEMORY = 10_000_000  # with less, shuffling pieces takes longer than counting


def parse_memory(size: str | int) -> int:
    """Return a number of bytes from what people write: 2GB, 500MB, 1.5GiB."""
    match = re.fullmatch(r"(\d+\.?\d*) ?([KMGT]?)(i?)B?", str(size), re.ASCII | re.IGNORECASE)
    if not match:
        raise typer.BadParameter(f"{size!r} is not a size; write it as in 2GB or 500MB")
    number, letter, binary = match.groups()
    n_bytes = float(number) * (1024 if binary else 1000) ** " KMGT".index(letter.upper() or " ")
    if not _LEAST_MEMORY <= n_bytes < 2**63:
        raise typer.BadParameter(f"{size!r} is out of range; the least is 10MB")
    return int(n_bytes)


# Options.

JsonFlag = Annotated[bool, typer.Option("--json", help="Print the results as JSON.")]
QuietFlag = Annotated[
    bool, typer.Option("--quiet", "-q", help="Show no progress and no summary.")
]  # fmt: skip
ThreadsOption = Annotated[
    int | None,
    typer.Option("--threads", min=1, help="Number of threads. By default, all usable cores."),
]
WorkersOption = Annotated[
    str | None,
    typer.Option(
        "--workers",
        metavar="ADDRESS",
        help="Run on a Dask cluster: tcp://HOST:PORT of its scheduler, or local:N for N processes "
        "on this machine.",
    ),
]
CheckpointOption = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint",
        metavar="DIR",
        help="Folder for intermediate results. If the fit is killed, the same command continues "
        "from there.",
    ),
]
MemoryOption = Annotated[
    int | None,
    typer.Option(
        "--memory",
        parser=parse_memory,
        metavar="SIZE",
        help="Memory budget of the fit. What does not fit into it waits on disk, in TMPDIR.",
        show_default="2GB for counting, no limit for the rest",
    ),
]
CacheOption = Annotated[
    Path | None,
    typer.Option("--cache", help="Folder for encoded text. By default, the user's cache folder."),
]
NoCacheFlag = Annotated[bool, typer.Option("--no-cache", help="Do not keep the encoded text.")]
OutputOption = Annotated[Path, typer.Option("--output", "-o", help="Where to write the model.")]
StreamOption = Annotated[
    Path, typer.Option("--output", "-o", help="Where to write; - is standard output.")
]
FilesArgument = Annotated[
    list[str],
    typer.Argument(help="Text files or globs (plain, .gz, .bz2, .xz, .zst); - is standard input."),
]
ErrorsOption = Annotated[
    Literal["strict", "replace"],
    typer.Option(help="Bytes that are not UTF-8: stop with an error, or replace them."),
]
EncodingOption = Annotated[
    str,
    typer.Option("--encoding", help="Encoding of the files: utf-8, utf-16, latin-1, cp1251, …"),
]
ColumnOption = Annotated[
    str | None,
    typer.Option(
        "--column",
        help="Column with the text, if the files are tables (CSV, TSV, JSON lines, Parquet, Arrow, "
        "Feather). Each row is one text.",
    ),
]
IdOption = Annotated[
    str | None,
    typer.Option("--id", help="Column with the names of the rows, for answers about single rows."),
]
SkipBadFlag = Annotated[
    bool,
    typer.Option(
        "--skip-bad",
        help="Skip items that cannot be read, and count them. More than a tenth is an error.",
    ),
]
CountsFlag = Annotated[
    bool,
    typer.Option(
        "--counts",
        help="The files hold counts of n-grams, not text: n-gram TAB count on each line.",
    ),
]
TokenizerOption = Annotated[
    Literal["whitespace", "simple", "words"],
    typer.Option(
        help="whitespace: split at blanks; simple: also split off punctuation; words: keep only "
        "words of letters."
    ),
]
LowercaseFlag = Annotated[
    bool, typer.Option("--lowercase", help="Change all words to lower case.")
]  # fmt: skip
UnitOption = Annotated[
    Literal["line", "document", "stream"],
    typer.Option(
        help="What one text is: a line, a file (document), or all files together (stream). "
        "Contexts do not cross its borders."
    ),
]


# Bundles.


@dataclass(kw_only=True)
class RunOptions(Bundle):
    """How a command runs, and what it prints."""

    threads: ThreadsOption = None
    json: JsonFlag = False
    quiet: QuietFlag = False


@dataclass(kw_only=True)
class WorkerOptions(RunOptions):
    """The same, for a command that can run on Dask workers."""

    workers: WorkersOption = None


@dataclass(kw_only=True)
class FitOptions(WorkerOptions):
    """The same, for a fit that can be continued."""

    checkpoint: CheckpointOption = None


@dataclass(kw_only=True)
class CacheOptions(Bundle):
    """Where a fit keeps encoded text."""

    cache: CacheOption = None
    no_cache: NoCacheFlag = False

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `fit`."""
        return {"cache": False if self.no_cache else self.cache or True}


@dataclass(kw_only=True)
class StorageOptions(CacheOptions):
    """The same, and how much memory the fit may use."""

    memory: MemoryOption = None

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `fit`. If no memory is given, the estimator's default applies."""
        return super().arguments() | ({} if self.memory is None else {"memory": self.memory})
