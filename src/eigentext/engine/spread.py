"""Blocks of data that stay on their workers, and small items in batches.

Both run on a Dask cluster or on the threads of this process, with the same results. On a Dask
cluster functions must be importable and their arguments picklable.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, TypeVar

from eigentext.engine.choice import current, distributed
from eigentext.engine.threads import Engine, combined

Result = TypeVar("Result")


class Spread:
    """Blocks of data that an iterative algorithm uses again and again.

    On a Dask cluster the workers keep the blocks. Each step sends only what has changed, and gets
    the results back. If a worker dies, its blocks are made again from their items.

    Parameters
    ----------
    make, shared
        ``make(item, *shared)`` is a block.
    items
        One item per block, or another `Spread`, whose blocks stay where they are. Their number must
        depend on the data alone, because the bits of sums depend on it. A single block stays in
        this process, and so do all blocks unless `worth` is True.
    threaded
        Whether functions of a block can use all threads themselves. Then, if there are fewer
        blocks than threads, blocks are processed one after the other on all threads.
    """

    def __init__(
        self,
        make: Callable[..., Any],
        items: "Sequence[Any] | Spread",
        *shared: Any,
        threaded: bool = False,
        worth: bool = True,
    ):
        self._known, self._items, self._threaded = (make, shared), items, threaded
        self._travels = worth and len(items) > 1
        self._here: list[Any] = []
        self._there: tuple[Any, list[Any]] = None, []

    def __len__(self) -> int:
        return len(self._items)

    def map(
        self, function: Callable[..., Result], *shared: Any, each: Sequence[Any] | None = None
    ) -> Iterator[Result]:
        """``function(block, *shared)`` for every block, in order.

        With `each`, every block has one more value: ``function((block, value), *shared)``.
        """
        workers = self._workers()
        if workers is not None:
            blocks = self._kept(workers)
            yield from workers.map(
                _applied, blocks if each is None else list(zip(blocks, each)), (function, shared)
            )
            return
        blocks = self._blocks()
        items = blocks if each is None else zip(blocks, each)
        if self._threaded and len(blocks) < current().n_workers:
            yield from (function(item, *shared) for item in items)
        else:
            yield from current().map(function, items, *shared)

    def reduce(
        self,
        function: Callable[..., Result],
        combine: Callable[[Result, Result], Result],
        *shared: Any,
    ) -> Result:
        """The sum of the results of `map`, in a tree. `combine` must not change its inputs."""
        workers = self._workers()
        if workers is None:
            return combined(combine, self.map(function, *shared))
        return workers.reduce(_applied, combine, self._kept(workers), (function, shared))

    def _workers(self) -> Any:
        return distributed() if self._travels else None

    def made(self) -> Iterator[None]:
        """Make the blocks now instead of at the first use; yields after each one."""
        workers = self._workers()
        if workers is not None:
            for _ in workers.finished(self._kept(workers)):
                yield
        elif not self._here:
            items = self._items._blocks() if isinstance(self._items, Spread) else self._items
            make, shared = self._known
            blocks = []
            for block in current().map(make, items, *shared):
                blocks.append(block)
                yield
            self._here = blocks

    def _blocks(self) -> list[Any]:
        for _ in self.made():
            pass
        return self._here

    def _kept(self, workers: Any) -> list[Any]:
        if self._there[0] is not workers:
            items = self._items._kept(workers) if isinstance(self._items, Spread) else self._items
            self._there = workers, workers.keep(_applied, items, workers.share(self._known))
        return self._there[1]


def in_batches(
    workers: Engine,
    function: Callable[..., Result],
    items: Iterable[Any],
    *shared: Any,
    weigh: Callable[[Any], int],
    size: int,
) -> Iterator[Result]:
    """``function(item, *shared)`` for every item, in order.

    A Dask cluster gets batches of about `size` (the sum of `weigh(item)`), because each message has
    a cost. Threads take single items. They also take the items if all fit in one batch.
    """
    if not hasattr(workers, "keep"):
        yield from workers.map(function, items, *shared)
        return
    batches = _batches(items, weigh, size)
    first = list(islice(batches, 2))
    if len(first) < 2:
        yield from current().map(function, *first, *shared) if first else ()
        return
    for results in workers.map(_batch, chain(first, batches), (function, shared)):
        yield from results


def _batches(items: Iterable[Any], weigh: Callable[[Any], int], size: int) -> Iterator[list[Any]]:
    batch, weight = [], 0
    for item in items:
        batch.append(item)
        weight += weigh(item)
        if weight >= size:
            yield batch
            batch, weight = [], 0
    if batch:
        yield batch


# Functions that run on the workers of a Dask cluster.


def _applied(block: Any, known: tuple[Callable[..., Any], tuple[Any, ...]]) -> Any:
    function, shared = known
    return function(block, *shared)


def _batch(batch: list[Any], known: tuple[Callable[..., Any], tuple[Any, ...]]) -> list[Any]:
    return [_applied(item, known) for item in batch]
