"""Arrays in files without a name: what a fit has no room for within a stated memory.

Such a file is gone with the last map of it, however the process ends, so nothing is ever left
behind. A map takes no memory until it is read, but whatever was read of it counts as memory of the
process: whoever works through one block by block forgets each block when it is done.
"""

import math
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from eigentext.errors import EigentextError


class Growing:
    """An array that is made from its first row to its last: in memory, past a limit in a file.

    Parameters
    ----------
    dtype
        Of the array.
    keep : bytes
        To keep in memory; what is longer goes to a file in the temporary folder (``TMPDIR``).
    row : tuple of int
        The shape of what is appended, but for its length.

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
            # Grown in place (the system moves pages, not bytes): two copies never exist at once.
            self._array.resize(self._size, refcheck=False)
            self._array[filled:] = part.ravel()
        else:
            part = part.astype(self._array.dtype, copy=False)
            write_at(self._file, part, filled * self._array.itemsize)

    def finish(self) -> np.ndarray:
        """The array; if it went to a file, as a map."""
        array = self._array
        if self._file is not None and self._size:
            with self._file as file, room_on_disk():
                # Mapped to be written, though nobody does: kernels have no second form for that.
                array = np.memmap(file, array.dtype, "r+", shape=(self._size,))
        return array.reshape(-1, *self._row) if self._row else array

    def __del__(self) -> None:
        if self._file is not None:  # an error came before the end
            self._file.close()


def scratch_file() -> Any:
    """A new file without a name in the temporary folder, open to be written and read."""
    with room_on_disk():
        return tempfile.TemporaryFile(prefix="eigentext-", buffering=0)


@contextmanager
def room_on_disk() -> Iterator[None]:
    """What the system says about the temporary folder, with a remedy."""
    try:
        yield
    except OSError as error:
        raise EigentextError(
            f"{tempfile.gettempdir()}: cannot keep there what does not fit in memory "
            f"({error.strerror or error}); free some room, or set TMPDIR to another folder"
        ) from error


def rows_of(matrix: Any, start: int, stop: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rows of a CSR matrix from `start` to `stop`: indptr (from 0), indices and data, views."""
    p = matrix.indptr[start : stop + 1].astype(np.int64)
    entries = slice(p[0], p[-1])
    return p - p[0], np.asarray(matrix.indices[entries]), np.asarray(matrix.data[entries])


def write_at(file: Any, part: np.ndarray, place: int) -> None:
    """Write an array into a file, `place` bytes from its start."""
    left = np.ascontiguousarray(part).data.cast("B") if part.size else memoryview(b"")
    with room_on_disk():
        while left:
            done = os.pwrite(file.fileno(), left, place)
            left, place = left[done:], place + done
