"""Progress of the work: a bar for each phase on a terminal, a line for each phase elsewhere.

Some phases come again and again: topics factor several matrices, and for each alpha0 that they
try. Then the bar starts again, and the line has the sum. What comes again after its line was
printed is told in one line at the end.
"""

import resource
import sys
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from eigentext.cli._console import can_print, messages, plural
from eigentext.engine import Phase


class PhaseBars:
    """Listens to the phases of the work. It shows them, and remembers how long they took."""

    def __init__(self, *, show: bool):
        self.phases: list[Phase] = []
        self._lines = show and not messages.is_terminal
        self._tasks: dict[int, TaskID] = {}
        self._ended: dict[str, TaskID] = {}  # bars of finished phases, by name
        self._last: Phase | None = None  # the sum of the last phases of one name
        self._told: set[str] = set()
        self._again: dict[str, list[float]] = {}  # seconds after the line was printed
        plain = not can_print("✓⠋", sys.stderr)
        self.bars = Progress(
            SpinnerColumn("line" if plain else "dots", finished_text="*" if plain else "[green]✓"),
            TextColumn("{task.description}"),
            BarColumn(bar_width=28),
            _RateColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=messages,
            disable=not show or not messages.is_terminal,
        )

    def __enter__(self) -> Self:
        self.bars.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.bars.__exit__(kind, error, traceback)
        self._tell_last()
        if self._again and kind is None:
            parts = [
                f"{name} {sum(seconds):.2f} s ({plural(len(seconds), 'time')})"
                for name, seconds in self._again.items()
            ]
            messages.print(f"and again: {', '.join(parts)}")

    def started(self, phase: Phase) -> None:
        """Show a new bar, or start that of the same name again."""
        if self._last is not None and self._last.name != phase.name:
            self._tell_last()
        task = self._ended.pop(phase.name, None)
        if task is None:
            task = self.bars.add_task(phase.name, total=phase.total, phase=phase)
        else:
            self.bars.reset(task, total=phase.total, phase=phase)
        self._tasks[id(phase)] = task

    def advanced(self, phase: Phase) -> None:
        """Move the bar."""
        self.bars.update(self._tasks[id(phase)], completed=phase.done)

    def finished(self, phase: Phase) -> None:
        """Fill the bar and remember the time."""
        self.phases.append(phase)
        done = phase.done or 1
        task = self._ended[phase.name] = self._tasks.pop(id(phase))
        self.bars.update(task, total=done, completed=done)
        if not self._lines:
            return
        if phase.name in self._told:
            self._again.setdefault(phase.name, []).append(phase.seconds)
        elif self._last is not None and self._last.name == phase.name:
            self._last.done += phase.done if phase.unit == self._last.unit else 0
            self._last.seconds += phase.seconds
        else:
            self._tell_last()
            self._last = replace(phase)

    def _tell_last(self) -> None:
        """Print the line of the last phases of one name."""
        if self._last is not None:
            speed = rate(self._last)
            told = f"{self._last.name}: {self._last.seconds:.2f} s{speed and f' ({speed})'}"
            messages.print(told, markup=False)
            self._told.add(self._last.name)
            self._last = None

    def times(self) -> dict[str, float]:
        """Return the seconds of each phase, in the order of the work.

        The times of phases with the same name are added.
        """
        total: dict[str, float] = {}
        for phase in self.phases:
            total[phase.name] = round(total.get(phase.name, 0.0) + phase.seconds, 3)
        return total

    def speed(self, unit: str) -> dict[str, Any]:
        """Return how many units the last phase processed, in what time, and how many a second."""
        phase = self.phases[-1]
        return {
            f"n_{unit}s": phase.done,
            "seconds": round(phase.seconds, 3),
            f"{unit}s_per_second": phase.done / phase.seconds if phase.seconds else None,
        }

    def speed_in_words(self, unit: str, digits: int = 0) -> str:
        """Return the speed of the last phase for people: 20 tokens in 0.1 s (200/s)."""
        phase = self.phases[-1]
        told = f"{plural(phase.done, unit)} in {phase.seconds:.1f} s"
        if not (phase.done and phase.seconds):
            return told
        return f"{told} ({phase.done / phase.seconds:,.{digits}f}/s)"


class _RateColumn(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(rate(task.fields["phase"]), style="cyan")


def rate(phase: Phase) -> str:
    """Return the speed so far, as in 3.1 M tokens/s or 54.0 MB/s; "" if it is not known."""
    if not (phase.unit and phase.done and phase.seconds):
        return ""
    speed = phase.done / phase.seconds
    sizes = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
    size, letter = next(((s, f" {name}") for s, name in sizes if speed >= s), (1, ""))
    gap = "" if letter and phase.unit == "B" else " "
    return f"{speed / size:.1f}{letter}{gap}{phase.unit}/s"


def peak_memory() -> int:
    """Return the largest resident size of this process so far, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
