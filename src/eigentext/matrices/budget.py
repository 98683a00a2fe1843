"""The memory budget of a fit: how many bytes the process may take, and how many are left.

A fit states its budget once, and everything that it calls asks the current one::

    with budget.within(memory):          # bytes of the whole process; None changes nothing
        ...
        keep = budget.current().left     # what is larger than this goes to disk

Without a budget everything stays in memory, except partial counts: these wait on disk when they
exceed `DEFAULT_MEMORY`. No answer depends on the budget.
"""

import ctypes
import math
import mmap
import os
import resource
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from eigentext.errors import ParameterError
from eigentext.parameters import Count, argument

DEFAULT_MEMORY = 2_000_000_000  # bytes for partial counts where nobody states a budget
_MEMORY = Count(None)
_COMPILER = "libllvmlite"


@dataclass(frozen=True)
class Budget:
    """A number of bytes for the whole process, or None for no limit.

    Examples
    --------
    >>> from eigentext.matrices import budget
    >>> budget.current().left
    inf
    >>> with budget.within(1):
    ...     budget.current().left
    0.0
    """

    memory: int | None = None
    reserved: int = 0  # bytes that the next steps need
    parts: int = 1  # how many arrays of the same size share what is left

    @property
    def is_stated(self) -> bool:
        """Whether there is a limit."""
        return self.memory is not None

    @property
    def left(self) -> float:
        """The bytes that an array may still take in memory."""
        if self.memory is None:
            return math.inf
        return max(0, self.memory - resident() - self.reserved) / self.parts


_UNLIMITED = Budget()
_current: ContextVar[Budget] = ContextVar("eigentext_budget", default=_UNLIMITED)


def current() -> Budget:
    """The budget of the innermost :func:`within`; without one, no limit."""
    return _current.get()


@contextmanager
def _using(budget: Budget) -> Iterator[None]:
    token = _current.set(budget)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def within(memory: int | None) -> Iterator[None]:
    """Keep to `memory` bytes inside the ``with`` block; None keeps to the budget outside."""
    memory = argument("memory", _MEMORY, memory)
    with _using(current() if memory is None else Budget(memory)):
        yield


@contextmanager
def reserving(n_bytes: int, what: str, remedy: str) -> Iterator[None]:
    """Leave `n_bytes` free inside the ``with`` block, because a later step needs them.

    Warns if even these are more than what is left.
    """
    budget = replace(current(), reserved=current().reserved + n_bytes)
    if budget.memory is not None and budget.memory < resident() + budget.reserved:
        warnings.warn(
            f"memory={budget.memory:,}, but {what} take about {resident() + budget.reserved:,} "
            f"bytes even with everything else on disk; the fit uses that much: {remedy}",
            stacklevel=7,  # whoever called fit
        )
    with _using(budget):
        yield


@contextmanager
def shared_by(parts: int) -> Iterator[None]:
    """Divide what is left among `parts` arrays of about the same size."""
    with _using(replace(current(), parts=current().parts * parts)):
        yield


def resident() -> int:
    """The memory that this process takes now, in bytes.

    Where the system does not report it, the most that the process has taken so far.
    """
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE
    except (OSError, IndexError):
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024


def give_back() -> None:
    """Return to the system the memory that Arrow, malloc and the compiler keep for later."""
    import pyarrow as pa

    for pool in (pa.default_memory_pool(), pa.system_memory_pool()):
        pool.release_unused()
    library = _c_library()
    if library is not None:
        library.malloc_trim(0)
        for start, size in _compiler_code():
            library.madvise(start, size, mmap.MADV_DONTNEED)


@cache
def _c_library() -> Any:
    """The C library, if it is glibc, which has a function that gives free memory back."""
    try:
        library = ctypes.CDLL(None)
        library.malloc_trim.argtypes = [ctypes.c_size_t]
        library.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    except (OSError, AttributeError, TypeError):
        return None
    return library


def _compiler_code() -> list[tuple[int, int]]:
    """Where the machine code of LLVM is in memory: start and size of each part.

    Loading a compiled loop touches 50 MB of it. Nobody ever changes this code, so it may be
    dropped: the system reads it again from its file when it is needed.
    """
    try:
        with Path("/proc/self/maps").open() as lines:
            places = [line.split()[0] for line in lines if " r-xp " in line and _COMPILER in line]
    except OSError:
        return []
    borders = [[int(border, 16) for border in place.split("-")] for place in places]
    return [(start, stop - start) for start, stop in borders]


def check_room(n_bytes: float, what: str, remedy: str) -> None:
    """Raise a ParameterError if `what` takes more memory than this machine has.

    Examples
    --------
    >>> check_room(1e18, "a table of all pairs", "take fewer states")
    Traceback (most recent call last):
    eigentext.errors.ParameterError: a table of all pairs needs about 1e+09 GB of memory, ...
    """
    total = machine_memory()
    if n_bytes > total:
        raise ParameterError(
            f"{what} needs about {n_bytes / 1e9:,.3g} GB of memory, and this machine has "
            f"{total / 1e9:,.3g} GB; {remedy}"
        )


def machine_memory() -> float:
    """The memory of this machine, in bytes; infinite where the system does not report it."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return math.inf
