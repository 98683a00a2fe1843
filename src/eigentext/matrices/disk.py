"""Arrays on disk, for what the memory budget has no room for.

Each array is a map of a file without a name. The system deletes the file with the last map of it,
however the process ends, so nothing is left behind. A map takes no memory until it is read. What
was read of it counts as memory of the process. So code that works through a map block by block
calls :func:`eigentext.storage.maps.forget` after each block.
"""

import math
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from eigentext.errors import EigentextError

_SMALL = 1 << 20  # bytes
_ROOM = 40 << 20  # bytes: from 32 MB on, glibc asks the system for each array


class Growing:
    """An array that grows row by row: in memory up to a limit, beyond it in a file.

    Parameters
    ----------
    dtype
        The type of the array.
    keep : float
        The most bytes to keep in memory. A longer array goes to a file in the temporary folder
        (``TMPDIR``).
    row : tuple of int
        The shape of one row.

    Examples
    --------
    >>> import numpy as np
    >>> from eigentext.matrices.disk import Growing
    >>> numbers = Growing(np.int64, keep=0)
    >>> numbers.append(np.arange(3)), numbers.append(np.arange(2))
    (None, None)
    >>> numbers.finish().tolist()
    [0, 1, 2, 0, 1]
    """

    def __init__(self, dtype: Any, keep: float = math.inf, row: tuple[int, ...] = ()):
        self._array = np.empty(0, dtype)
        self._keep = keep
        self._row = row
        self._size = 0
        self._file: Any = None

    def append(self, part: np.ndarray) -> None:
        """Add rows at the end."""
        filled, self._size = self._size, self._size + part.size
        if self._file is None and self._size * self._array.itemsize > self._keep:
            self._file = scratch_file()
            write_at(self._file, self._array[:filled], 0)
            self._array = self._array[:0].copy()
        if self._file is None:
            if self._size > self._array.size:
                self._grow(filled)
            self._array[filled : self._size] = part.ravel()
        else:
            part = part.astype(self._array.dtype, copy=False)
            write_at(self._file, part, filled * self._array.itemsize)

    def _grow(self, filled: int) -> None:
        room = _ROOM // self._array.itemsize
        if self._size * self._array.itemsize < _SMALL or self._size > room:
            # It grows in place (the system moves pages, not bytes): there are never two copies.
            self._array.resize(self._size, refcheck=False)
        elif self._array.size < room:
            # Such a piece comes from the system itself. What is not used of it takes no memory, and
            # it leaves no gaps between smaller pieces when it grows.
            old, self._array = self._array, np.empty(room, self._array.dtype)
            self._array[:filled] = old[:filled]

    def finish(self) -> np.ndarray:
        """Return the array; a map if it is in a file."""
        if self._file is None:
            self._array.resize(self._size, refcheck=False)
        array = self._array
        if self._file is not None and self._size:
            with self._file as file, room_on_disk():
                # Nobody writes to it. But compiled loops would need another form for read-only.
                array = np.memmap(file, array.dtype, "r+", shape=(self._size,))
        return array.reshape(-1, *self._row) if self._row else array

    def __del__(self) -> None:
        if self._file is not None:  # there was an error before the end
            self._file.close()


def scratch_file() -> Any:
    """A new file without a name in the temporary folder, open for writing and reading."""
    with room_on_disk():
        return tempfile.TemporaryFile(prefix="eigentext-", buffering=0)


@contextmanager
def room_on_disk() -> Iterator[None]:
    """Add the folder and a remedy to errors of the system about the temporary folder."""
    try:
        yield
    except OSError as error:
        raise EigentextError(
            f"{tempfile.gettempdir()}: cannot keep there what does not fit in memory "
            f"({error.strerror or error}); free some space, or set TMPDIR to another folder"
        ) from error


def rows_of(matrix: Any, start: int, stop: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rows `start` to `stop` of a CSR matrix: indptr (from 0), indices and data, as views."""
    p = matrix.indptr[start : stop + 1].astype(np.int64)
    entries = slice(p[0], p[-1])
    return p - p[0], np.asarray(matrix.indices[entries]), np.asarray(matrix.data[entries])


def write_at(file: Any, part: np.ndarray, place: int) -> None:
    """Write an array to a file, `place` bytes from its start."""
    left = np.ascontiguousarray(part).data.cast("B") if part.size else memoryview(b"")
    with room_on_disk():
        while left:
            done = os.pwrite(file.fileno(), left, place)
            left, place = left[done:], place + done
