"""The engine of one machine: threads over shards, calling code that lets go of the GIL."""

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
_process = [object()]  # another in a forked child


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
        self.n_workers = usable_cores() if n_threads is None else _checked(n_threads)
        self._pools: dict[object, ThreadPoolExecutor] = {}

    def __reduce__(self) -> tuple[type["ThreadEngine"], tuple[int]]:
        return type(self), (self.n_workers,)  # in another process, with threads of that one

    @property
    def _pool(self) -> ThreadPoolExecutor:
        # Kept from one map to the next (the SVD makes hundreds of short ones), but not over a fork,
        # which threads do not survive. Many threads may ask at once: one of them sets it, without a
        # lock, which a fork might leave locked. The pools of the others never start a thread.
        process = _process[0]
        found = self._pools.get(process)
        if found is None:
            made = ThreadPoolExecutor(self.n_workers, "eigentext", _mark_worker)
            found = self._pools.setdefault(process, made)
        return found

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
    process = _process[0]
    try:
        for item in islice(queue, most):
            waiting.append(submit(item))
        while waiting:
            if _process[0] is not process:  # who worked on it is not here
                raise RuntimeError("a map ends in the process that began it, not in a forked child")
            result = fetch(waiting.popleft())
            waiting.extend(map(submit, islice(queue, 1)))
            yield result
    finally:
        # An error or Ctrl-C must not wait for work that nobody wants any more. In a forked child
        # nobody works on it, and its locks may be locked.
        if _process[0] is process:
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
    """Cores this process may use: its affinity mask, where the system has one."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
