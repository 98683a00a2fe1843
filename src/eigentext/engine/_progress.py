"""Progress: the library announces phases, and a listener decides how to show them.

``with phase("count", total=n, unit="tokens") as advance: ... advance(1000)``. Without a listener
this costs nothing. The command line shows Rich bars, the benchmarks measure times, and notebooks
show bars by themselves (`bars`). The logger "eigentext" gets the start and the end of each phase at
level DEBUG.
"""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal, Protocol

from eigentext.engine._log import logger


@dataclass
class Phase:
    """One step of the work: its name, how much of it is done, and how long it took."""

    name: str
    total: int | None = None
    unit: str = ""
    done: int = 0
    seconds: float = 0.0


class Reporter(Protocol):
    """A listener. The thread that runs the fit calls its three methods."""

    def started(self, phase: Phase) -> None: ...
    def advanced(self, phase: Phase) -> None: ...
    def finished(self, phase: Phase) -> None: ...


_NOT_NAMED: Literal["not named"] = "not named"  # so that the automatic listener is asked for
_listener: ContextVar[Reporter | Literal["not named"] | None] = ContextVar(
    "eigentext_reporter", default=_NOT_NAMED
)
_automatic: list[Callable[[], Reporter | None]] = []


def set_automatic(found: Callable[[], Reporter | None]) -> None:
    """Let a function find the listener of phases for which `report_to` named none."""
    _automatic[:] = [found]


@contextmanager
def report_to(reporter: Reporter | None) -> Iterator[None]:
    """Send the phases of everything inside the ``with`` block to `reporter`, or to nobody."""
    token = _listener.set(reporter)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def phase(name: str, total: int | None = None, unit: str = "") -> Iterator[Callable[[int], None]]:
    """Announce a phase and yield the function that advances it."""
    listener, is_logged = _listener.get(), logger.isEnabledFor(logging.DEBUG)
    if listener == _NOT_NAMED:
        listener = _automatic[0]() if _automatic else None
    if listener is None and not is_logged:
        yield lambda amount: None
        return
    state = Phase(name, total, unit)
    start = time.perf_counter()

    def advance(amount: int) -> None:
        state.done += int(amount)
        state.seconds = time.perf_counter() - start
        if listener is not None:
            listener.advanced(state)

    if is_logged:
        logger.debug("%s: started", name)
    if listener is not None:
        listener.started(state)
    try:
        yield advance
    except BaseException:  # it ends the phase without finishing it
        if hasattr(listener, "stopped"):
            listener.stopped(state)  # type: ignore[union-attr]
        raise
    state.seconds = time.perf_counter() - start
    if is_logged:
        amount = f", {state.done} {unit}" if unit and state.done else ""
        logger.debug("%s: finished in %.3f s%s", name, state.seconds, amount)
    if listener is not None:
        listener.finished(state)
