"""What every command shares: printing, progress bars, timing, and options spelled alike."""

import json as json_module
import logging
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, Literal, NoReturn, TextIO

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from eigentext import engine
from eigentext.corpus.remote import is_url
from eigentext.engine import Phase
from eigentext.errors import EigentextError, ParameterError
from eigentext.storage import checkpointing

# Options that change no answer.
_NO_MATTER = {
    "output", "threads", "memory", "cluster", "checkpoint", "cache", "no_cache", "json", "quiet",
    "report",
}  # fmt: skip


class Printer(Console):
    """Prints words as they are: they may look like Rich's emoji codes, or not suit the terminal."""

    def __init__(self, *, stderr: bool = False):
        super().__init__(stderr=stderr, highlight=False, soft_wrap=True, emoji=False)

    def on_broken_pipe(self) -> NoReturn:
        """`eigentext ... | head` is no mistake."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit


printer = Printer()
messages = Printer(stderr=True)

JsonFlag = Annotated[bool, typer.Option("--json", help="Print machine-readable results.")]
QuietFlag = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary.")]
ThreadsOption = Annotated[
    int | None,
    typer.Option("--threads", min=1, help="Threads to use; all usable cores by default."),
]
ClusterOption = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Run on a Dask cluster: tcp://HOST:PORT of its scheduler, or local:N for N processes.",
    ),
]
CheckpointOption = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint",
        metavar="DIR",
        help="Folder that keeps what is done so far: a killed fit goes on from there.",
    ),
]
FilesArgument = Annotated[
    list[str],
    typer.Argument(help="Text files or globs (plain, .gz, .bz2, .xz, .zst); - is standard input."),
]
CacheOption = Annotated[
    Path | None, typer.Option("--cache", help="Folder for encoded text; a cache folder by default.")
]
NoCacheFlag = Annotated[bool, typer.Option("--no-cache", help="Keep no encoded text.")]
ErrorsOption = Annotated[
    Literal["strict", "replace"], typer.Option(help="What to do about bytes that are not UTF-8.")
]
TokenizerOption = Annotated[
    Literal["whitespace", "simple", "words"],
    typer.Option(help="simple: parts words from signs; words: drops all but words of letters."),
]
OutputOption = Annotated[Path, typer.Option("--output", "-o", help="Where to write.")]


def parse_memory(size: str | int) -> int:
    """A number of bytes as people write it: 2GB, 500MB, 1.5GiB."""
    match = re.fullmatch(r"(\d+\.?\d*) ?([KMGT]?)(i?)B?", str(size), re.ASCII | re.IGNORECASE)
    if not match:
        raise typer.BadParameter(f"{size!r} is no size; write it as in 2GB or 500MB")
    number, letter, binary = match.groups()
    n_bytes = float(number) * (1024 if binary else 1000) ** " KMGT".index(letter.upper() or " ")
    if not _LEAST_MEMORY <= n_bytes < 2**63:
        raise typer.BadParameter(f"{size!r} is out of range; the least is 10MB")
    return int(n_bytes)


_LEAST_MEMORY = 10_000_000  # with less, more time goes into shuffling pieces than into counting
MemoryOption = Annotated[
    int,
    typer.Option(
        "--memory",
        parser=parse_memory,
        metavar="SIZE",
        show_default="2GB",
        help="For counting; what does not fit waits on disk.",
    ),
]

BudgetOption = Annotated[
    int | None,
    typer.Option(
        "--memory",
        parser=parse_memory,
        metavar="SIZE",
        help="Of the whole process, about: what does not fit waits on disk (TMPDIR). "
        "None is stated by default: 2GB for counting, and what it takes for the rest.",
    ),
]


def print_warning(message: str) -> None:
    """One line on standard error, whatever else is printed."""
    messages.print(f"eigentext: warning: {' '.join(message.split())}", markup=False)


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    text = json_module.dumps(value, ensure_ascii=False)
    printer.out(text if can_print(text) else json_module.dumps(value), highlight=False)


def print_rows(rows: Iterable[Iterable[str]]) -> None:
    """Lines of values parted by tabs, which Rich would turn into blanks, on standard output."""
    try:
        sys.stdout.writelines("\t".join(row) + "\n" for row in rows)
        sys.stdout.flush()
    except BrokenPipeError:
        printer.on_broken_pipe()


@contextmanager
def work(
    *,
    quiet: bool,
    threads: int | None = None,
    cluster: str | None = None,
    checkpoint: Path | None = None,
    tell: bool | None = None,
) -> Iterator["Watch"]:
    """Run the work inside on `threads`, show its phases unless `quiet`, and time them.

    With a `cluster` it runs there; with a `checkpoint`, a folder, it goes on from where a killed
    run with the same options came to.

    People see the notes of the library, such as that it compiles kernels, if they are to be told
    anything (`tell`, else unless `quiet`).
    """
    watch = Watch(show=not quiet)
    with (
        _safe_interrupts(),
        _engine(threads, cluster) as chosen,
        engine.use(chosen),
        engine.report_to(watch),
        watch.bars,
        notes(show=not quiet if tell is None else tell),
        checkpointing(checkpoint, _about() if checkpoint else None),
    ):
        yield watch


class _Notes(logging.Handler):
    """Prints what the library says to its logger."""

    def emit(self, record: logging.LogRecord) -> None:
        messages.print(record.getMessage(), style="dim", markup=False)


@contextmanager
def notes(*, show: bool = True) -> Iterator[None]:
    """Print the notes of the library that come from the work inside."""
    logger, handler = logging.getLogger("eigentext"), _Notes(logging.INFO)
    before = logger.level
    if show:
        logger.addHandler(handler)
        logger.setLevel(min(logger.getEffectiveLevel(), logging.INFO))
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


@contextmanager
def _engine(threads: int | None, cluster: str | None) -> Iterator[Any]:
    if cluster is None:
        yield engine.ThreadEngine(threads)
        return
    from eigentext.engine.dask import connected

    with connected(cluster, threads) as workers:
        yield workers


def _about() -> dict[str, Any]:
    """What a checkpoint is of: the command and those of its options that change the answer."""
    # Typer has its own copy of click, or had click itself.
    click = typer.Context.__mro__[1].__module__.rpartition(".")[0]
    context = import_module(f"{click}.globals").get_current_context()
    options = {name: value for name, value in context.params.items() if name not in _NO_MATTER}
    return {"command": context.command_path.partition(" ")[2], **options}


@contextmanager
def _safe_interrupts() -> Iterator[None]:
    """Let Ctrl-C wait where Numba calls back into Python and takes no exception for an answer.

    Raised as a kernel hands over its result, KeyboardInterrupt turns into a SystemError or a crash
    (numba issue 2324); raised as compiled code is loaded, it is lost.
    """

    def interrupt(signal_number: int, frame: FrameType | None) -> None:
        while frame:
            if frame.f_code.co_name in ("_numba_unpickle", "_raw_object_cache_notify"):
                threading.Timer(0.01, signal.raise_signal, [signal_number]).start()
                return
            frame = frame.f_back
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # else it is ignored, as under nohup
        signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class Watch:
    """Listens to the phases of a fit: a bar for each on a terminal, a line for each elsewhere."""

    def __init__(self, *, show: bool):
        self.phases: list[Phase] = []
        self._lines = show and not messages.is_terminal
        self._tasks: dict[int, TaskID] = {}
        plain = not can_print("✓⠋", sys.stderr)
        self.bars = Progress(
            SpinnerColumn("line" if plain else "dots", finished_text="*" if plain else "[green]✓"),
            TextColumn("{task.description}"),
            BarColumn(bar_width=28),
            _Rate(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=messages,
            disable=not show or not messages.is_terminal,
        )

    def started(self, phase: Phase) -> None:
        """Show a new bar."""
        self._tasks[id(phase)] = self.bars.add_task(phase.name, total=phase.total, phase=phase)

    def advanced(self, phase: Phase) -> None:
        """Move the bar."""
        self.bars.update(self._tasks[id(phase)], completed=phase.done)

    def finished(self, phase: Phase) -> None:
        """Fill the bar and remember the time."""
        self.phases.append(phase)
        done = phase.done or 1
        self.bars.update(self._tasks.pop(id(phase)), total=done, completed=done)
        if self._lines:
            rate = _rate(phase)
            messages.print(f"{phase.name}: {phase.seconds:.2f} s{rate and f' ({rate})'}")

    def times(self) -> dict[str, float]:
        """Seconds by phase, in the order of the work; phases of one name are added up."""
        total: dict[str, float] = {}
        for phase in self.phases:
            total[phase.name] = round(total.get(phase.name, 0.0) + phase.seconds, 3)
        return total


class _Rate(ProgressColumn):
    def render(self, task: Any) -> Text:
        return Text(_rate(task.fields["phase"]), style="cyan")


def _rate(phase: Phase) -> str:
    """The speed so far, as in 3.1 M tokens/s or 54.0 MB/s; nothing if it is not known."""
    if not (phase.unit and phase.done and phase.seconds):
        return ""
    speed = phase.done / phase.seconds
    sizes = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
    size, letter = next(((s, f" {name}") for s, name in sizes if speed >= s), (1, ""))
    gap = "" if letter and phase.unit == "B" else " "
    return f"{speed / size:.1f}{letter}{gap}{phase.unit}/s"


def can_print(text: str, stream: TextIO | None = None) -> bool:
    """Whether the stream (standard output by default) has all these characters."""
    try:
        text.encode((stream or sys.stdout).encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def peak_memory() -> int:
    """The largest resident size of this process so far, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


# Files and standard streams.


@contextmanager
def inputs(files: list[str]) -> Iterator[list[Path]]:
    """The files to read; "-" is standard input, kept in a temporary file while it is needed."""
    if "-" not in files:
        yield [_path(name) for name in files]
        return
    with tempfile.TemporaryDirectory(prefix="eigentext-") as folder:
        kept = Path(folder, "standard-input")
        with kept.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        try:
            yield [kept if name == "-" else _path(name) for name in files]
        except EigentextError as error:
            if str(kept) not in str(error):
                raise
            raise type(error)(str(error).replace(str(kept), "standard input")) from error


def _path(name: str) -> Any:
    return name if is_url(name) else Path(name)  # two slashes are one to a path


@contextmanager
def destination(output: Path) -> Iterator[Path]:
    """Where to write; "-" is standard output, which gets all or nothing."""
    if str(output) != "-":
        yield output
        return
    with tempfile.TemporaryDirectory(prefix="eigentext-") as folder:
        kept = Path(folder, "standard-output")
        yield kept
        try:
            with kept.open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.flush()
        except BrokenPipeError:
            printer.on_broken_pipe()


def check_model_path(output: Path) -> None:
    """Refuse a path that no model can be written to, before hours of work and not after them."""
    from eigentext.storage import check_writable

    if str(output) == "-":
        raise ParameterError("a model is a file, not a stream; name one with -o")
    check_writable(output)


def save_model(model: Any, output: Path) -> None:
    """Write a model, as the last phase of the work."""
    with engine.phase("save"):
        model.save(output)


def check_no_input(output: Path, files: Iterable[Any]) -> None:
    """Refuse to write over what is read."""
    here = [file for file in files if isinstance(file, Path)]  # others are addresses
    if output.exists() and any(output.samefile(file) for file in here):
        raise ParameterError(f"{output}: would be written over what is read; choose another -o")
