"""What every command shares: printing, progress bars, timing, and options spelled alike."""

import json as json_module
import re
import resource
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

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
from eigentext.engine import Phase
from eigentext.errors import ParameterError

printer = Console(highlight=False, soft_wrap=True)
messages = Console(stderr=True, highlight=False, soft_wrap=True)

JsonFlag = Annotated[bool, typer.Option("--json", help="Print machine-readable results.")]
QuietFlag = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary.")]
ThreadsOption = Annotated[
    int | None, typer.Option("--threads", help="Threads to use; all usable cores by default.")
]


class Memory(str):
    """A number of bytes as people write it: 2GB, 500MB, 1.5GiB."""

    @property
    def bytes(self) -> int:
        """The number."""
        match = re.fullmatch(r"([\d.]+)\s*([KMGT]?)(i?)B?", self, re.IGNORECASE)
        try:
            number = float(match[1]) if match else 0.0
        except ValueError:
            number = 0.0
        if not match or number <= 0:
            raise ParameterError(f"--memory {self}: write it as in 2GB or 500MB")
        return int(number * (1024 if match[3] else 1000) ** " KMGT".index(match[2].upper() or " "))


DEFAULT_MEMORY = Memory("2GB")
MemoryOption = Annotated[
    Memory, typer.Option("--memory", parser=Memory, metavar="SIZE", help="For counting, as 2GB.")
]


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    print(json_module.dumps(value, ensure_ascii=False))


@contextmanager
def work(*, quiet: bool, threads: int | None = None) -> Iterator["Watch"]:
    """Run the work inside on `threads`, show its phases unless `quiet`, and time them."""
    watch = Watch(show=not quiet)
    with (
        engine.use(engine.ThreadEngine(threads)),
        engine.report_to(watch),
        watch.bars,
    ):
        if not quiet:
            _note_compilation()
        try:
            yield watch
        except KeyboardInterrupt:
            messages.print("eigentext: interrupted; nothing was written")
            raise typer.Exit(130) from None


class Watch:
    """Listens to the phases of a fit: a bar for each on a terminal, a line for each elsewhere."""

    def __init__(self, *, show: bool):
        self.phases: list[Phase] = []
        self._lines = show and not messages.is_terminal
        self._tasks: dict[int, TaskID] = {}
        self.bars = Progress(
            SpinnerColumn(finished_text="[green]✓[/]" if can_print("✓") else "*"),
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
        self._tasks[id(phase)] = self.bars.add_task(phase.name, total=phase.total, unit=phase.unit)

    def advanced(self, phase: Phase) -> None:
        """Move the bar."""
        self.bars.update(self._tasks[id(phase)], completed=phase.done)

    def finished(self, phase: Phase) -> None:
        """Fill the bar and remember the time."""
        self.phases.append(phase)
        done = phase.done or 1
        self.bars.update(self._tasks.pop(id(phase)), total=done, completed=done)
        if self._lines:
            messages.print(f"{phase.name}: {phase.seconds:.2f} s{_rate(phase.done, phase)}")

    def times(self) -> dict[str, float]:
        """Seconds by phase, in the order of the work; phases of one name are added up."""
        total: dict[str, float] = {}
        for phase in self.phases:
            total[phase.name] = round(total.get(phase.name, 0.0) + phase.seconds, 3)
        return total


class _Rate(ProgressColumn):
    def render(self, task: Any) -> Text:
        unit = task.fields.get("unit", "")
        speed = task.finished_speed or task.speed
        return Text(f"{_short_number(speed)} {unit}/s" if unit and speed else "", style="cyan")


def _rate(done: int, phase: Phase) -> str:
    if not (phase.unit and phase.seconds and done):
        return ""
    return f" ({_short_number(done / phase.seconds)} {phase.unit}/s)"


def _short_number(number: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.1f} {letter}"
    return f"{number:.1f}"


def can_print(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def _note_compilation() -> None:
    """Say once why the first run is slow: Numba keeps what it compiled beside the source."""
    from eigentext.moments._kernels import count_pairs

    folder = Path(count_pairs.stats.cache_path or ".")
    if not any(folder.glob("_kernels.count_pairs-*.nbi")):
        messages.print("[dim]compiling kernels for this machine: only this once, a few seconds[/]")


def peak_memory() -> int:
    """The largest resident size of this process so far, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


@contextmanager
def inputs(files: list[str]) -> Iterator[list[Path]]:
    """The files to read; "-" is standard input, kept in a temporary file while it is needed."""
    with tempfile.TemporaryDirectory(prefix="eigentext-") as folder:
        paths = []
        for name in files:
            if name == "-":
                path = Path(folder, "standard-input")
                with path.open("wb") as file:
                    shutil.copyfileobj(sys.stdin.buffer, file)
                paths.append(path)
            else:
                paths.append(Path(name))
        yield paths
