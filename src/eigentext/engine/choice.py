"""Which engine is in use: the threads of this process, or a Dask cluster."""

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from eigentext.engine.threads import Engine, ThreadEngine

if TYPE_CHECKING:
    from eigentext.engine.dask import DaskEngine

_engine: ContextVar[Any] = ContextVar("eigentext_engine", default=None)
_default: dict[str, ThreadEngine] = {}


class use:  # noqa: N801 - reads as a verb: ``use(ThreadEngine(1))`` or ``with use(...):``
    """Run all following work on `engine`, or, in a ``with`` statement, the work in its block.

    Parameters
    ----------
    engine : ThreadEngine, DaskEngine or distributed.Client
        The Dask cluster of a client reads, counts and multiplies. This process does the rest.
    """

    def __init__(self, engine: Any):
        if type(engine).__module__.partition(".")[0] == "distributed":
            from eigentext.engine.dask import DaskEngine

            engine = DaskEngine(engine)
        self._token = _engine.set(engine)

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exception: object) -> None:
        _engine.reset(self._token)


def current() -> ThreadEngine:
    """The threads of this process: those given to :func:`use`, or one per core.

    Tasks may share arrays and write to them.
    """
    engine = _engine.get()
    return getattr(engine, "threads", engine) or _all_cores()


def distributed() -> "DaskEngine | None":
    """The Dask cluster in use, or None."""
    engine = _engine.get()
    return engine if hasattr(engine, "keep") else None


def workers() -> Engine:
    """The engine for tasks that share nothing: the Dask cluster, or the threads of this process.

    The function must be importable. Items, results and shared values must be picklable.
    """
    return distributed() or current()


def _all_cores() -> ThreadEngine:
    # One engine per process, even if many threads ask at the same time.
    return _default.get("engine") or _default.setdefault("engine", ThreadEngine())
