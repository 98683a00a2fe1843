"""The engine of one machine: threads over shards, calling code that lets go of the GIL."""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import Any, Protocol, TypeVar

from eigentext.errors import ParameterError

Item = TypeVar("Item")
Result = TypeVar("Result")
_thread = threading.local()


class Engine(Protocol):
    """What a place to run must offer."""

    n_workers: int

    def map(
        self, function: Callable[..., Result], items: Iterable[Item], *shared: Any
    ) -> Iterator[Result]:
        """``function(item, *shared)`` for every item: worked on in parallel, returned in order."""
        ...

    def reduce(
        self,
        function: Callable[..., Result],
        combine: Callable[[Result, Result], Result],
        items: Iterable[Item],
        *shared: Any,
    ) -> Result:
        """The results of `map`, added up in a tree: see :func:`combined`."""
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

    def map(
        self, function: Callable[..., Result], items: Iterable[Item], *shared: Any
    ) -> Iterator[Result]:
        """See :meth:`Engine.map`; at most two results a worker wait, so memory stays bounded."""
        if shared:
            function = partial(_with, function, shared)
        # A worker that maps in turn works alone: were it to wait for the others, all might wait.
        if self.n_workers == 1 or getattr(_thread, "is_worker", False):
            yield from map(function, items)
            return
        yield from streamed(
            lambda item: self._pool.submit(function, item), Future.result, items, 2 * self.n_workers
        )

    def reduce(
        self,
        function: Callable[..., Result],
        combine: Callable[[Result, Result], Result],
        items: Iterable[Item],
        *shared: Any,
    ) -> Result:
        """See :meth:`Engine.reduce`."""
        return combined(combine, self.map(function, items, *shared))


def streamed(
    submit: Callable[[Item], Any],
    fetch: Callable[[Any], Result],
    items: Iterable[Item],
    most: int,
) -> Iterator[Result]:
    """The results of futures, in the order of their items, of which `most` are under way."""
    queue = iter(items)
    waiting: deque[Any] = deque()
    try:
        for item in islice(queue, most):
            waiting.append(submit(item))
        while waiting:
            result = fetch(waiting.popleft())
            waiting.extend(map(submit, islice(queue, 1)))
            yield result
    finally:
        # An error or Ctrl-C must not wait for work that nobody wants any more.
        for future in waiting:
            future.cancel()


def combined(combine: Callable[[Result, Result], Result], parts: Iterable[Result]) -> Result:
    """Neighbours added up, then neighbouring sums, and so on: ((a+b)+(c+d))+e.

    The shape depends on the number of parts alone, so sums of floats have the same bits wherever
    they are taken; parts are used up as they come, and no more than log(n) sums wait.

    Examples
    --------
    >>> combined(lambda a, b: f"({a}{b})", "abcde")
    '(((ab)(cd))e)'
    """
    waiting: list[tuple[int, Result]] = []  # sums of 2^height parts, as in a binary number
    for part in parts:
        height = 0
        while waiting and waiting[-1][0] == height:
            part, height = combine(waiting.pop()[1], part), height + 1
        waiting.append((height, part))
    _, total = waiting.pop()
    while waiting:
        total = combine(waiting.pop()[1], total)
    return total


def _with(function: Callable[..., Result], shared: tuple[Any, ...], item: Any) -> Result:
    return function(item, *shared)


@contextmanager
def alone() -> Iterator[None]:
    """Work on one thread inside: the others have work of their own."""
    before = getattr(_thread, "is_worker", False)
    _thread.is_worker = True
    try:
        yield
    finally:
        _thread.is_worker = before


def _mark_worker() -> None:
    _thread.is_worker = True


def usable_cores() -> int:
    """Cores this process may use: its affinity mask, where the system has one."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
