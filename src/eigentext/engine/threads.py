"""The engine of one machine: threads over shards, which call code that releases the GIL."""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import islice
from numbers import Integral
from typing import Any, Protocol, TypeVar

from eigentext.errors import ParameterError

Item = TypeVar("Item")
Result = TypeVar("Result")
_thread = threading.local()
_process = [object()]  # a forked child gets a new one


class Engine(Protocol):
    """The interface of all engines."""

    n_workers: int

    def map(
        self, function: Callable[..., Result], items: Iterable[Item], *shared: Any
    ) -> Iterator[Result]:
        """``function(item, *shared)`` for every item: computed in parallel, returned in order."""
        ...

    def reduce(
        self,
        function: Callable[..., Result],
        combine: Callable[[Result, Result], Result],
        items: Iterable[Item],
        *shared: Any,
    ) -> Result:
        """The sum of the results of `map`, taken in a tree: see :func:`combined`."""
        ...


class ThreadEngine:
    """Run on `n_threads` threads of this process. The default is one per usable core.

    Examples
    --------
    >>> list(ThreadEngine(2).map(abs, [-1, -2, 3]))
    [1, 2, 3]
    """

    def __init__(self, n_threads: int | None = None):
        self.n_workers = usable_cores() if n_threads is None else _checked(n_threads)
        self._pools: dict[object, ThreadPoolExecutor] = {}

    def __reduce__(self) -> tuple[type["ThreadEngine"], tuple[int]]:
        return type(self), (self.n_workers,)  # another process makes its own threads

    @property
    def _pool(self) -> ThreadPoolExecutor:
        # The pool serves all maps (an SVD makes hundreds of short ones), but threads do not survive
        # a fork. If many threads ask at the same time, one pool wins and the others never start a
        # thread. There is no lock, because a fork could leave it locked.
        process = _process[0]
        found = self._pools.get(process)
        if found is None:
            made = ThreadPoolExecutor(self.n_workers, "eigentext", _mark_worker)
            found = self._pools.setdefault(process, made)
        return found

    def map(
        self, function: Callable[..., Result], items: Iterable[Item], *shared: Any
    ) -> Iterator[Result]:
        """See :meth:`Engine.map`; at most two results per worker wait, so memory is bounded."""
        if shared:
            function = partial(_with, function, shared)
        # A map inside a worker runs on that worker alone. Waiting for the others could deadlock.
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
    """The results of futures in the order of their items; at most `most` run or wait."""
    queue = iter(items)
    waiting: deque[Any] = deque()
    process = _process[0]
    try:
        for item in islice(queue, most):
            waiting.append(submit(item))
        while waiting:
            if _process[0] is not process:  # the threads that work on it are in the parent
                raise RuntimeError("a map must end in the process that started it")
            result = fetch(waiting.popleft())
            waiting.extend(map(submit, islice(queue, 1)))
            yield result
    finally:
        # After an error or Ctrl-C, do not wait for work that is no longer needed. A forked child
        # has no threads for it, and its locks may be locked.
        if _process[0] is process:
            for future in waiting:
                future.cancel()


def combined(combine: Callable[[Result, Result], Result], parts: Iterable[Result]) -> Result:
    """The sum of parts in a tree of neighbors: ((a+b)+(c+d))+e.

    The shape of the tree depends on the number of parts alone, so sums of floats have the same bits
    everywhere. Parts are added as they come, and at most log(n) partial sums are kept.

    Examples
    --------
    >>> combined(lambda a, b: f"({a}{b})", "abcde")
    '(((ab)(cd))e)'
    """
    waiting: list[tuple[int, Result]] = []  # sums of 2^height parts
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
    """Use one thread inside the block, because the other threads are busy."""
    before = getattr(_thread, "is_worker", False)
    _thread.is_worker = True
    try:
        yield
    finally:
        _thread.is_worker = before


def _mark_worker() -> None:
    _thread.is_worker = True


def _checked(n_threads: Any) -> int:
    is_whole = isinstance(n_threads, Integral) and not isinstance(n_threads, bool)
    if not is_whole or n_threads < 1:
        raise ParameterError(f"n_threads must be a whole number, 1 or more, not {n_threads!r}")
    return int(n_threads)


def _after_fork() -> None:
    _process[0] = object()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def usable_cores() -> int:
    """The number of cores that this process may use (its affinity mask, if there is one)."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
