"""One BLAS thread for as long as it is needed. Only this module sets that limit.

With more threads BLAS may add in another order, which changes the last bits of its results. Our own
threads keep the cores busy anyway. The limit belongs to the whole process, so this module counts
its users: the first one sets the limit, and the last one restores the old value.
"""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Re-entrant: garbage collection may end a generator while this thread holds the lock.
_lock = threading.RLock()
_holders: dict[object, int] = {}  # each user of the limit, with its thread
_before: dict[str, tuple[Any, int]] = {}  # by file: the library, and its number of threads before
_known: tuple[int, list[Any]] = 0, []  # the number of loaded modules, and the libraries found then


@contextmanager
def one_blas_thread(*, openmp: bool = False) -> Iterator[None]:
    """Limit BLAS to one thread inside the block. Threads may enter together, and more than once.

    Parameters
    ----------
    openmp
        Whether to limit OpenMP too. That limit holds for the calling thread only.

    Examples
    --------
    >>> from threadpoolctl import threadpool_info
    >>> with one_blas_thread():
    ...     blas = [one for one in threadpool_info() if one["user_api"] == "blas"]
    >>> all(one["num_threads"] == 1 for one in blas)
    True
    """
    holder = object()
    own: list[tuple[Any, int]] = []  # limits of this thread only
    try:
        _enter(holder, own, openmp)
        yield
    finally:
        _leave(holder, own)


def _enter(holder: object, own: list[tuple[Any, int]], openmp: bool) -> None:
    with _lock:
        _holders[holder] = threading.get_ident()
        for library in _libraries():
            # Check every time: a library may be new, or other code may have changed its limit.
            threads = library.num_threads
            if threads in (1, None):
                continue
            if _is_of_thread(library):
                if library.user_api == "openmp" and not openmp:
                    continue
                own.append((library, threads))
            else:
                _before.setdefault(library.filepath, (library, threads))
            _set(library, 1)


def _leave(holder: object, own: list[tuple[Any, int]]) -> None:
    for library, threads in own:
        _set(library, threads)
    with _lock:
        _holders.pop(holder, None)
        if not _holders:
            _restore()


def _restore() -> None:
    while _before:
        library, threads = _before[file := next(iter(_before))]
        if library.num_threads == 1:  # else other code has changed it since; leave that
            _set(library, threads)
        _before.pop(file, None)  # last, so that after an interrupt the next call repeats it


def _libraries() -> list[Any]:
    """Controllers of the loaded libraries; searched for again only after an import."""
    global _known
    n_modules = len(sys.modules)
    if _known[0] != n_modules:
        from threadpoolctl import ThreadpoolController

        _known = n_modules, ThreadpoolController().lib_controllers
    return _known[1]


def _set(library: Any, threads: int) -> None:
    # From version 3.8 on, threadpoolctl lets only one thread at a time set the limit of OpenBLAS
    # and ignores the others. Here the count of users prevents such conflicts.
    getattr(library, "_real_set_num_threads", library.set_num_threads)(threads)


def _is_of_thread(library: Any) -> bool:
    """Whether each thread has its own limit, as in OpenMP and in libraries built on it."""
    layer = getattr(library, "threading_layer", None)
    return library.user_api == "openmp" or (
        library.internal_api == "openblas" and layer == "openmp"
    )


# A forked child has one thread, the one that forked, and keeps only the limits of that thread.


def _after_fork() -> None:
    here = threading.get_ident()
    for holder in [one for one, thread in _holders.items() if thread != here]:
        del _holders[holder]
    if not _holders:
        _restore()
    _lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_after_fork
    )
