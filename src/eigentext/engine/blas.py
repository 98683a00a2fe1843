"""One BLAS thread, for as long as anybody needs it: the only owner of that limit in the library.

BLAS may add in another order when it has more threads, and then gives other bits; and our own
threads keep the cores busy already. The limit belongs to the whole process. So it is counted: who
comes first sets it, who leaves last restores what was there, whatever order threads come and go in.
"""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Re-entrant: the end of a generator may be collected while this thread has the lock.
_lock = threading.RLock()
_holders: dict[object, int] = {}  # who needs one thread, and the thread in which it entered
_before: dict[str, tuple[Any, int]] = {}  # by file of the library: itself, and its threads before
_known: tuple[int, list[Any]] = 0, []  # libraries that were loaded with so many modules


@contextmanager
def one_blas_thread(*, openmp: bool = False) -> Iterator[None]:
    """Let BLAS work on one thread inside; threads may enter at the same time, and again.

    Parameters
    ----------
    openmp
        Whether to give OpenMP one thread too; that limit is of the calling thread only.

    Examples
    --------
    >>> from threadpoolctl import threadpool_info
    >>> with one_blas_thread():
    ...     blas = [one for one in threadpool_info() if one["user_api"] == "blas"]
    >>> all(one["num_threads"] == 1 for one in blas)
    True
    """
    holder = object()
    own: list[tuple[Any, int]] = []  # limits of this thread alone
    try:
        _enter(holder, own, openmp)
        yield
    finally:
        _leave(holder, own)


def _enter(holder: object, own: list[tuple[Any, int]], openmp: bool) -> None:
    with _lock:
        _holders[holder] = threading.get_ident()
        for library in _libraries():
            # Every time: a library may have been loaded, or somebody else have changed the limit.
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
        if library.num_threads == 1:  # else somebody has set another since, which is theirs
            _set(library, threads)
        _before.pop(file, None)  # last: an interrupt before leaves it to the next


def _libraries() -> list[Any]:
    """Controllers of the libraries that are loaded; looked for again only after an import."""
    global _known
    n_modules = len(sys.modules)
    if _known[0] != n_modules:
        from threadpoolctl import ThreadpoolController

        _known = n_modules, ThreadpoolController().lib_controllers
    return _known[1]


def _set(library: Any, threads: int) -> None:
    # From version 3.8 on, threadpoolctl lets one thread at a time set the limits of OpenBLAS and
    # ignores the others, lest they fight over them. Here the count keeps them from that.
    getattr(library, "_real_set_num_threads", library.set_num_threads)(threads)


def _is_of_thread(library: Any) -> bool:
    """Whether each thread has a limit of its own, as OpenMP has it, and what is built upon it."""
    layer = getattr(library, "threading_layer", None)
    return library.user_api == "openmp" or (
        library.internal_api == "openblas" and layer == "openmp"
    )


# A forked child has one thread, the one that forked: it holds what that one held.


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
