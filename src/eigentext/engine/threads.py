"""The engine of one machine: threads over shards, calling code that lets go of the GIL."""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from functools import cache, reduce
from itertools import islice
from typing import Protocol, TypeVar

from eigentext.errors import ParameterError

Item = TypeVar("Item")
Result = TypeVar("Result")
_thread = threading.local()


class Engine(Protocol):
    """What a place to run must offer; a cluster is one more class with these two methods."""

    n_workers: int

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """``function(item)`` for every item: worked on in parallel, returned in order."""
        ...

    def reduce(
        self,
        function: Callable[[Item], Result],
        combine: Callable[[Result, Result], Result],
        items: Iterable[Item],
    ) -> Result:
        """The results of `map`, combined from first to last."""
        ...


class ThreadEngine:
    """Run on `n_threads` threads of this process (by default, one for each usable core).

    Examples
    --------
    >>> list(ThreadEngine(2).map(abs, [-1, -2, 3]))
    [1, 2, 3]
    """

    def __init__(self, n_threads: int | None = None):
        if n_threads is not None and n_threads < 1:
            raise ParameterError(f"threads must be 1 or more, not {n_threads}")
        self.n_workers = n_threads or usable_cores()
        self._owner = -1

    @property
    def _pool(self) -> ThreadPoolExecutor:
        # Kept from one map to the next (the SVD makes hundreds of short ones), but not over a fork,
        # which threads do not survive.
        if self._owner != os.getpid():
            self._threads = ThreadPoolExecutor(self.n_workers, "eigentext", _mark_worker)
            self._owner = os.getpid()  # last: another thread may be asking too
        return self._threads

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """See :meth:`Engine.map`; at most two results a worker wait, so memory stays bounded."""
        # A worker that maps in turn works alone: were it to wait for the others, all might wait.
        if self.n_workers == 1 or getattr(_thread, "is_worker", False):
            yield from map(function, items)
            return
        queue = iter(items)
        waiting: deque[Future[Result]] = deque()
        try:
            for item in islice(queue, 2 * self.n_workers):
                waiting.append(self._pool.submit(function, item))
            while waiting:
                result = waiting.popleft().result()
                waiting.extend(self._pool.submit(function, item) for item in islice(queue, 1))
                yield result
        finally:
            # An error or Ctrl-C must not wait for work that nobody wants any more.
            for future in waiting:
                future.cancel()

    def reduce(
        self,
        function: Callable[[Item], Result],
        combine: Callable[[Result, Result], Result],
        items: Iterable[Item],
    ) -> Result:
        """See :meth:`Engine.reduce`."""
        return reduce(combine, self.map(function, items))


def _mark_worker() -> None:
    _thread.is_worker = True


_engine: ContextVar[Engine | None] = ContextVar("eigentext_engine", default=None)


def current() -> Engine:
    """The engine in use: the one last given to :func:`use`, else all cores of this machine."""
    return _engine.get() or _all_cores()


@cache
def _all_cores() -> ThreadEngine:
    return ThreadEngine()


class use:  # noqa: N801 - reads as a verb: ``use(ThreadEngine(1))`` or ``with use(...):``
    """Run what follows on `engine`; as a ``with`` block, only what is inside it."""

    def __init__(self, engine: Engine):
        self._token = _engine.set(engine)

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exception: object) -> None:
        _engine.reset(self._token)


def usable_cores() -> int:
    """Cores this process may use: its affinity mask, where the system has one."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
