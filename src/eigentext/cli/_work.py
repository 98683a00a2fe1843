"""Where the work of a command runs: threads or Dask workers, with progress and checkpoints."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import Any

import typer

from eigentext import engine
from eigentext.cli._bundles import FitOptions, RunOptions, WorkerOptions
from eigentext.cli._console import notes
from eigentext.cli._progress import PhaseBars
from eigentext.storage import checkpointing

# Options that do not change the answer.
_WITHOUT_EFFECT = {
    "output", "threads", "memory", "workers", "checkpoint", "cache", "no_cache", "json", "quiet",
    "report",
}  # fmt: skip


@contextmanager
def work(
    run: RunOptions, *, bars: bool | None = None, show_notes: bool | None = None
) -> Iterator[PhaseBars]:
    """Run the work inside as the options say, and time its phases.

    Parameters
    ----------
    run : RunOptions
        With ``workers``, the work runs there. With a ``checkpoint``, it continues from where a
        killed run with the same options stopped.
    bars : bool, optional
        Whether to show the phases; by default unless ``--quiet`` or ``--json``.
    show_notes : bool, optional
        Whether to print the notes of the library, such as that it compiles its loops. By default
        they are printed where phases are shown.
    """
    show = not (run.quiet or run.json) if bars is None else bars
    checkpoint = run.checkpoint if isinstance(run, FitOptions) else None
    phases = PhaseBars(show=show)
    with (
        safe_interrupts(),
        _engine(run) as chosen,
        engine.use(chosen),
        engine.report_to(phases),
        phases,
        notes(show=show if show_notes is None else show_notes),
        checkpointing(checkpoint, _about() if checkpoint else None),
    ):
        yield phases


@contextmanager
def _engine(run: RunOptions) -> Iterator[engine.Engine]:
    address = run.workers if isinstance(run, WorkerOptions) else None
    if address is None:
        yield engine.ThreadEngine(run.threads)
        return
    from eigentext.engine.dask import connected

    with connected(address, run.threads) as workers:
        yield workers


def _about() -> dict[str, Any]:
    """Return what a checkpoint belongs to: the command, and its options that change the answer."""
    # Typer has its own copy of click, or uses click itself.
    click = typer.Context.__mro__[1].__module__.rpartition(".")[0]
    context = import_module(f"{click}.globals").get_current_context()
    options = {n: value for n, value in context.params.items() if n not in _WITHOUT_EFFECT}
    return {"command": context.command_path.partition(" ")[2], **options}


@contextmanager
def safe_interrupts() -> Iterator[None]:
    """Delay Ctrl-C while Numba calls back into Python, where an exception does harm.

    If KeyboardInterrupt is raised while a compiled loop hands over its result, it becomes a
    SystemError or a crash (Numba issue 2324). If it is raised while compiled code is loaded, it is
    lost.
    """

    def interrupt(signal_number: int, frame: FrameType | None) -> None:
        while frame:
            if frame.f_code.co_name in ("_numba_unpickle", "_raw_object_cache_notify"):
                threading.Timer(0.01, signal.raise_signal, [signal_number]).start()
                return
            frame = frame.f_back
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # otherwise it is ignored, as under nohup
        signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
