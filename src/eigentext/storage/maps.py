"""Arrays that are maps of files, and how to release the memory that they take."""

import mmap
from typing import Any

import numpy as np


def is_mapped(array: Any) -> bool:
    """Whether an array is a map of a file."""
    return _map_of(array) is not None


def forget(*arrays: np.ndarray) -> None:
    """Release the memory that maps (or parts of them) have taken since they were read.

    The values stay valid: the system reads them again from the file when they are needed. Nothing
    happens to arrays in memory, or to maps whose changes are private.
    """
    for array in arrays:
        found = _map_of(array)
        if found is None or array.nbytes == 0 or not hasattr(mmap, "MADV_DONTNEED"):
            continue
        start = array.ctypes.data - np.frombuffer(found, np.uint8).ctypes.data
        first = start // mmap.PAGESIZE * mmap.PAGESIZE
        last = sum((n - 1) * step for n, step in zip(array.shape, array.strides))
        found.madvise(mmap.MADV_DONTNEED, first, start + last + array.itemsize - first)


def _map_of(array: Any) -> Any:
    while isinstance(array, np.ndarray):
        found = getattr(array, "_mmap", None)
        if found is not None:
            return found if array.mode in ("r", "r+", "w+") else None  # type: ignore[attr-defined]
        array = array.base
    return None
