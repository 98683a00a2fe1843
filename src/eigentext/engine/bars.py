"""A live bar for long work: by itself in notebooks, and where a user asks for it.

In a notebook, work that takes longer than a second shows its phases below the cell: how far they
are, how fast, and how long they will take. This uses IPython's own display, so no widget needs to
be installed. Scripts show nothing, unless ``et.progress(True)`` asks for it; then the bar is a line
on standard error. ``et.progress(False)`` switches it off. The bar is drawn by a thread of its own,
five times a second, so it costs the work nothing.
"""

import contextvars
import sys
import threading
import time
from collections.abc import Callable
from html import escape
from typing import Any

from eigentext.engine._progress import Phase, set_automatic

_PATIENCE = 1.0  # seconds before anything is shown
_PAUSE = 0.2  # seconds between two drawings
_IDLE = 1.0  # seconds without a phase after which the thread ends
_BAR = (
    '<span style="display:inline-block;vertical-align:middle;width:200px;height:8px;'
    'background:rgba(128,128,128,0.25);border-radius:3px"><span style="display:block;width:{px}px;'
    'height:8px;background:#4c8ed9;border-radius:3px"></span></span>'
)
_wanted: dict[str, bool | None] = {"show": None}  # of the process: a cell has its own context


class progress:  # noqa: N801 - reads as a verb: ``progress(False)`` or ``with progress(True):``
    """Show the progress of all following work or, in a ``with`` statement, of its block.

    Parameters
    ----------
    show : bool or None
        True shows it everywhere, False nowhere, and None, the default, in notebooks only.
    """

    def __init__(self, show: bool | None = True):
        self._before = _wanted["show"]
        _wanted["show"] = show
        self._show = show

    def __repr__(self) -> str:
        return f"progress({self._show})"

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exception: object) -> None:
        _wanted["show"] = self._before


def notebook_shell() -> Any:
    """IPython's shell if this process is the kernel of a notebook, or None.

    IPython is not imported for this: in a kernel it is there already.
    """
    get_shell = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = get_shell and get_shell()
    return shell if hasattr(shell, "kernel") else None


class LiveBars:
    """Listens to phases, and draws those that take long.

    Parameters
    ----------
    draw : function
        Called with HTML, plain text, and whether the work has ended.
    """

    def __init__(self, draw: Callable[[str, str, bool], None]):
        self._draw = draw
        self._lock = threading.Lock()
        self._active: list[tuple[Phase, float]] = []  # with the time of its start
        self._ended: dict[str, float] = {}
        self._began = self._idle_since = time.perf_counter()
        self._is_shown = False
        self._thread: threading.Thread | None = None

    @property
    def has_rested(self) -> bool:
        """Whether the last phase ended long ago: the next one belongs to other work."""
        return not self._active and time.perf_counter() - self._idle_since > _IDLE

    def started(self, phase: Phase) -> None:
        """Remember the phase, and see to it that somebody draws."""
        with self._lock:
            self._active.append((phase, time.perf_counter()))
            if self._thread is None:
                run = contextvars.copy_context().run  # so that drawings reach the right cell
                self._thread = threading.Thread(target=run, args=(self._watch,), daemon=True)
                self._thread.start()

    def advanced(self, phase: Phase) -> None:
        """Do nothing: the thread looks at the phase when it draws."""

    def finished(self, phase: Phase) -> None:
        """Add the time of the phase to those of its name."""
        self._ended[phase.name] = self._ended.get(phase.name, 0.0) + phase.seconds
        self.stopped(phase)

    def stopped(self, phase: Phase) -> None:
        """Forget a phase that is over, or that failed."""
        with self._lock:
            self._active = [one for one in self._active if one[0] is not phase]
            if not self._active:
                self._idle_since = time.perf_counter()
                if self._is_shown:
                    self._show(has_ended=True)

    def _watch(self) -> None:
        while True:
            time.sleep(_PAUSE)
            with self._lock:
                now = time.perf_counter()
                if self.has_rested:
                    self._thread = None
                    return
                if self._active and (self._is_shown or now - self._began > _PATIENCE):
                    self._show(has_ended=False)

    def _show(self, *, has_ended: bool) -> None:
        now = time.perf_counter()
        self._is_shown = True
        lines = [_line(phase, now - start) for phase, start in self._active]
        done = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in self._ended.items())
        told = f"{now - self._began:.1f} s in all: {done}" if has_ended else done
        plain = "; ".join([*(text for _, text in lines), told] if told else [t for _, t in lines])
        rows = [html for html, _ in lines]
        if told:
            rows.append(f'<span style="opacity:0.7">{escape(told)}</span>')
        html = f'<div style="font-size:12px;line-height:1.5">{"<br>".join(rows)}</div>'
        self._draw(html, plain, has_ended)


def _line(phase: Phase, seconds: float) -> tuple[str, str]:
    """A phase as HTML and as text: its name, its share, its speed and the time that is left."""
    parts = []
    part = phase.done / phase.total if phase.total else None
    if part is not None:
        parts.append(f"{min(part, 1.0):.0%}")
    if phase.unit and phase.done and seconds:
        parts.append(_speed(phase.done / seconds, phase.unit))
    parts.append(f"{seconds:.0f} s")
    if part and part < 1 and seconds > _PATIENCE:
        parts.append(f"{_time(seconds * (1 - part) / part)} left")
    told = ", ".join(parts)
    bar = "" if part is None else _BAR.format(px=round(200 * min(part, 1.0)))
    return f"<b>{escape(phase.name)}</b> {bar} {escape(told)}", f"{phase.name} {told}"


def _speed(each_second: float, unit: str) -> str:
    sizes = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
    size, letter = next(((s, f" {name}") for s, name in sizes if each_second >= s), (1, ""))
    return f"{each_second / size:.1f}{letter}{'' if letter and unit == 'B' else ' '}{unit}/s"


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


# -- where it is shown -----------------------------------------------------------------------------


class _Cell:
    """An output of a notebook cell that changes."""

    def __init__(self) -> None:
        self._handle: Any = None

    def __call__(self, html: str, plain: str, has_ended: bool) -> None:
        data = {"text/html": html, "text/plain": plain}
        if self._handle is None:
            from IPython.display import display  # type: ignore[import-not-found]

            self._handle = display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)


def _on_terminal(html: str, plain: str, has_ended: bool) -> None:
    """Write over the last line of a terminal; elsewhere write the end only."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{plain[:100]}", end="\n" if has_ended else "", file=sys.stderr, flush=True)
    elif has_ended:
        print(plain, file=sys.stderr, flush=True)


_current: dict[str, Any] = {"cell": None, "bars": None}


def automatic() -> LiveBars | None:
    """Who listens if nobody was named: the bars of this cell, those that were asked for, or None.

    Threads that work for a fit have no bars of their own.
    """
    show = _wanted["show"]
    if show is False or threading.current_thread() is not threading.main_thread():
        return None
    shell = notebook_shell()
    if shell is None and not show:
        return None
    cell = getattr(shell, "execution_count", None)
    bars = _current["bars"]
    if bars is None or bars.has_rested or cell != _current["cell"]:
        bars = LiveBars(_on_terminal if shell is None else _Cell())
        _current.update(cell=cell, bars=bars)
    return bars


set_automatic(automatic)
