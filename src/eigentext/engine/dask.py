"""The engine of many machines: tasks run on the workers of a dask.distributed cluster.

Functions must be importable and share nothing. Their arguments and results are sent, or stay on the
workers from one step to the next (`keep`). If a worker dies, Dask computes its results again. Sums
are taken in a tree whose shape depends on the number of summands alone. So the result equals that
of one machine, bit for bit.
"""

import asyncio
import platform
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from importlib.metadata import version
from typing import Any, TypeVar

from dask.sizeof import sizeof
from scipy.sparse import sparray

import eigentext
from eigentext.engine.blas import one_blas_thread
from eigentext.engine.threads import ThreadEngine, alone, combined, streamed
from eigentext.errors import ClusterError, ParameterError

Item = TypeVar("Item")
Result = TypeVar("Result")
Kept = Any  # a distributed.Future: a result that stays on the workers

_FAN_IN = 8  # summands per task: a power of two, so that groups are complete subtrees
_PACKAGES = ("numpy", "scipy", "numba", "pyarrow")  # their versions decide the bits
_LOCAL = re.compile(r"local(?::(\d+))?")
_PATIENCE = "10s"  # the time to wait for the scheduler and a first worker
_GONE = (OSError, CancelledError, asyncio.CancelledError)


class DaskEngine:
    """Run on the workers of a Dask cluster. All must have the package versions of this process.

    Parameters
    ----------
    client : distributed.Client
        A connected client. It stays open.

    Attributes
    ----------
    n_workers : int
        The number of threads of all workers at the start.
    threads : ThreadEngine
        The engine for work that this process does itself.
    """

    def __init__(self, client: Any, n_threads: int | None = None):
        self.client = client
        self.threads = ThreadEngine(n_threads)
        with self._reachable():
            try:
                client.wait_for_workers(1, timeout=_PATIENCE)
            except TimeoutError as error:
                raise ClusterError(
                    f"{self.address}: a scheduler, but no workers; start some with "
                    f"`dask worker {self.address}`"
                ) from error
            self._check_versions(client.run(_versions, on_error="return"))
            self.n_workers = sum(client.nthreads().values())

    @property
    def address(self) -> str:
        """The address of the scheduler."""
        scheduler = self.client.scheduler
        return scheduler.address if scheduler else str(self.client._start_arg)

    # The interface of all engines.

    def map(
        self, function: Callable[..., Result], items: Iterable[Item], *shared: Any
    ) -> Iterator[Result]:
        """See :meth:`Engine.map`; at most two results per worker wait."""
        kept = [self.share(value) for value in shared]
        yield from streamed(
            lambda item: self._submit(function, item, *kept), self.fetch, items, 2 * self.n_workers
        )

    def reduce(
        self,
        function: Callable[..., Result],
        combine: Callable[[Result, Result], Result],
        items: Iterable[Item],
        *shared: Any,
    ) -> Result:
        """See :meth:`Engine.reduce`; only the sum leaves the workers."""
        kept = self.keep(function, items, *map(self.share, shared))
        return self.fetch(self.combine(combine, kept))

    # Only on a Dask cluster: results that stay on the workers.

    def keep(self, function: Callable[..., Any], items: Iterable[Any], *shared: Any) -> list[Kept]:
        """``function(item, *shared)`` for every item, kept on the workers.

        Items and shared values may be kept results, or lists of them.
        """
        return [self._submit(function, item, *shared) for item in items]

    def share(self, value: Any) -> Kept:
        """Send a value to the workers once. It survives the death of any worker."""
        import warnings

        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sending large graph")
            return self._submit(_same, value)

    def combine(self, combine: Callable[[Any, Any], Any], kept: Sequence[Kept]) -> Kept:
        """The sum of kept results in order, taken in a tree. It stays on a worker."""
        level = list(kept)
        while len(level) > 1:
            groups = [level[start : start + _FAN_IN] for start in range(0, len(level), _FAN_IN)]
            level = [
                group[0] if len(group) == 1 else self._submit(_combine, group, combine)
                for group in groups
            ]
        return level[0]

    def fetch(self, kept: Kept) -> Any:
        """Bring a kept result to this process; raise the error of its task if it failed."""
        from distributed import KilledWorker

        with self._reachable():
            try:
                return kept.result()
            except KilledWorker as error:
                raise ClusterError(
                    f"{self.address}: every worker that tried one task died, perhaps for lack of "
                    "memory; give them more (dask worker --memory-limit) or start more workers"
                ) from error

    def finished(self, kept: Sequence[Kept]) -> Iterator[Kept]:
        """Yield kept results as they become ready, in any order; for progress bars."""
        from distributed import as_completed

        with self._reachable():
            for future in as_completed(kept, loop=self.client.loop):
                if future.status != "finished":
                    self.fetch(future)  # raises the error
                yield future

    def each(self, function: Callable[..., Result], *arguments: Any) -> dict[str, Result]:
        """The results of the function on every worker, by the address of the worker."""
        with self._reachable():
            return self.client.run(function, *arguments)

    # Private steps.

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Kept:
        with self._reachable():
            return self.client.submit(_task, function, *arguments, pure=False)

    @contextmanager
    def _reachable(self) -> Iterator[None]:
        try:
            yield
        except _GONE as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # the error of a task, such as a full disk
            raise ClusterError(
                f"{self.address}: lost the scheduler ({_reason(error)}); "
                "start the scheduler and the fit again; with a checkpoint (--checkpoint DIR) the "
                "fit continues from its last state"
            ) from error

    def _check_versions(self, found: dict[str, Any]) -> None:
        here = _versions()
        for worker, there in found.items():
            if isinstance(there, BaseException):
                raise ClusterError(
                    f"{worker}: this worker cannot run eigentext ({there}); install eigentext "
                    f"{eigentext.__version__} there (pip install 'eigentext[dask]')"
                )
            for name, mine in here.items():
                if there.get(name) != mine:
                    raise ClusterError(
                        f"{worker}: this worker has {name} {there.get(name)}, but here it is "
                        f"{mine}; other versions give other bits; install the same version on both"
                    )


@contextmanager
def connected(cluster: str, n_threads: int | None = None) -> Iterator[DaskEngine]:
    """The engine of a Dask cluster given by its address; closed at the end of the block.

    "local:4" starts four processes on this machine, which no other machine can reach. Anything else
    is the address of a scheduler, such as "tcp://10.0.0.1:8786".
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise ClusterError(
            "a Dask cluster needs dask.distributed; install it with pip install 'eigentext[dask]'"
        ) from error
    local = _LOCAL.fullmatch(cluster)
    if not local and "://" not in cluster:
        raise ParameterError(
            f"{cluster!r} is not the address of a Dask cluster; write tcp://HOST:PORT for a "
            "scheduler, or local:N for N processes on this machine"
        )
    if local:
        n_processes = int(local[1] or ThreadEngine().n_workers)
        if n_processes < 1:
            raise ParameterError("local:0 has no workers; write local:1 or more")
        with (
            LocalCluster(
                n_workers=n_processes,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                silence_logs=50,
            ) as made,
            Client(made, set_as_default=False) as client,
        ):
            yield DaskEngine(client, n_threads)
        return
    try:
        client = Client(cluster, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise ClusterError(
            f"{cluster}: no scheduler answers there ({error}); check the address, and that "
            "`dask scheduler` is running"
        ) from error
    try:
        yield DaskEngine(client, n_threads)
    finally:
        with suppress(Exception):  # it may be gone
            client.close(timeout=2)


def _reason(error: BaseException) -> str:
    """The first line of an error."""
    return str(error).strip().partition("\n")[0] or type(error).__name__


# Functions that run on workers.


def _task(function: Callable[..., Result], *arguments: Any) -> Result:
    # The worker already runs several threads, so a task uses only its own.
    import scipy.linalg  # noqa: F401 - its BLAS is not NumPy's: loaded now, so that it is limited

    with one_blas_thread(), alone():
        return function(*arguments)


def _same(value: Any) -> Any:
    return value


@sizeof.register(sparray)
def _bytes_of(matrix: Any) -> int:
    # Without a size the scheduler would move matrices instead of waiting.
    return sum(getattr(matrix, part).nbytes for part in ("data", "indices", "indptr"))


def _combine(parts: list[Any], combine: Callable[[Any, Any], Any]) -> Any:
    return combined(combine, parts)


def _versions() -> dict[str, str]:
    python = ".".join(platform.python_version_tuple()[:2])
    found = {name: version(name) for name in _PACKAGES}
    return {"eigentext": eigentext.__version__, "Python": python, **found}
