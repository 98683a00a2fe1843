"""Which engine is in use: the threads of this process, and a cluster if there is one."""

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from eigentext.engine.threads import Engine, ThreadEngine

if TYPE_CHECKING:
    from eigentext.engine.dask import DaskEngine

_engine: ContextVar[Any] = ContextVar("eigentext_engine", default=None)
_default: dict[str, ThreadEngine] = {}


class use:  # noqa: N801 - reads as a verb: ``use(ThreadEngine(1))`` or ``with use(...):``
    """Run what follows on `engine`; as a ``with`` block, only what is inside it.

    Parameters
    ----------
    engine : ThreadEngine, DaskEngine or distributed.Client
        A client's cluster counts, reads and multiplies; the rest is done by this process.
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
    """The threads of this process: those last given to :func:`use`, else one for each core.

    Their tasks may share arrays and write to them.
    """
    engine = _engine.get()
    return getattr(engine, "threads", engine) or _all_cores()


def cluster() -> "DaskEngine | None":
    """The cluster in use, if there is one."""
    engine = _engine.get()
    return engine if hasattr(engine, "keep") else None


def workers() -> Engine:
    """For tasks that share nothing: the cluster if there is one, else the threads of this process.

    Their function must be importable, and their items, results and what is shared be pickled.
    """
    return cluster() or current()


def _all_cores() -> ThreadEngine:
    # One for the process, however many threads ask at once.
    return _default.get("engine") or _default.setdefault("engine", ThreadEngine())
