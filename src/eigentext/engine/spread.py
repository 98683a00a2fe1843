"""Work in pieces of the right size: data that stays where it is worked on, and small items.

Both run on a cluster or on the threads of this process, with the same answers; on a cluster
functions must be importable, and what they are given is pickled.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, TypeVar

from eigentext.engine.choice import cluster, current
from eigentext.engine.threads import Engine, combined

Result = TypeVar("Result")


class Spread:
    """Blocks of data, which are worked on again and again.

    On a cluster the workers keep them: only what changes from step to step goes out, and the
    results come back. A worker that dies takes nothing with it, as a block is made again from its
    item.

    Parameters
    ----------
    make, shared
        ``make(item, *shared)`` is a block.
    items
        What blocks are made of; perhaps other blocks, which stay where they are. Their number must
        depend on the data alone: sums do on it. A single one stays here, as do those that are not
        `worth` the way.
    threaded
        Whether the functions that work on a block know how to use all threads. Then those of this
        process share each block in turn where there are fewer blocks than threads.
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
        """``function(block, *shared)`` of every block, in order.

        With `each`, one more thing for every block: ``function((block, thing), *shared)``.
        """
        workers = self._cluster()
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
        """The results of `map` added up in a tree, as engines do; `combine` changes neither."""
        workers = self._cluster()
        if workers is None:
            return combined(combine, self.map(function, *shared))
        return workers.reduce(_applied, combine, self._kept(workers), (function, shared))

    def _cluster(self) -> Any:
        return cluster() if self._travels else None

    def made(self) -> Iterator[None]:
        """Make the blocks now, which is else done when they are needed; tells of each."""
        workers = self._cluster()
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
    """``function(item, *shared)`` of every item, in order.

    To a cluster items go in batches of about `size`, as `weigh` weighs them: one costs the way
    there and back. Threads take them one by one, and also what is one batch in all.
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


# What runs on workers of a cluster.


def _applied(block: Any, known: tuple[Callable[..., Any], tuple[Any, ...]]) -> Any:
    function, shared = known
    return function(block, *shared)


def _batch(batch: list[Any], known: tuple[Callable[..., Any], tuple[Any, ...]]) -> list[Any]:
    return [_applied(item, known) for item in batch]
