"""The engine of one machine: threads over shards, calling code that lets go of the GIL."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from functools import reduce
from itertools import islice
from typing import Protocol, TypeVar

from eigentext.errors import ParameterError

Item = TypeVar("Item")
Result = TypeVar("Result")


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

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """See :meth:`Engine.map`; at most two results a worker wait, so memory stays bounded."""
        if self.n_workers == 1:
            yield from map(function, items)
            return
        queue = iter(items)
        with ThreadPoolExecutor(self.n_workers) as pool:
            try:
                waiting: deque[Future[Result]] = deque(
                    pool.submit(function, item) for item in islice(queue, 2 * self.n_workers)
                )
                while waiting:
                    result = waiting.popleft().result()
                    waiting.extend(pool.submit(function, item) for item in islice(queue, 1))
                    yield result
            finally:
                # An error or Ctrl-C must not wait for work that nobody wants any more.
                pool.shutdown(wait=False, cancel_futures=True)

    def reduce(
        self,
        function: Callable[[Item], Result],
        combine: Callable[[Result, Result], Result],
        items: Iterable[Item],
    ) -> Result:
        """See :meth:`Engine.reduce`."""
        return reduce(combine, self.map(function, items))


_engine: ContextVar[Engine | None] = ContextVar("eigentext_engine", default=None)


def current() -> Engine:
    """The engine in use: the one last given to :func:`use`, else all cores of this machine."""
    return _engine.get() or ThreadEngine()


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
