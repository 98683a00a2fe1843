"""The basis of a Krylov space, which grows by blocks of columns, and its state in a checkpoint.

In memory it is one array. On disk each block is a file, written once and read by blocks of rows.
A *compact* basis has 16 bits of each entry. The process goes on with the rounded columns, which are
as orthonormal as those of single precision: rounding errors are random, and two random directions
among thousands of rows are at right angles (see docs/scaling.md).
"""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from eigentext import engine
from eigentext.matrices.disk import Growing
from eigentext.matrices.products import row_blocks
from eigentext.storage import Checkpoint, checkpoint
from eigentext.storage.maps import forget, is_mapped


class Basis:
    """A tall matrix that grows by blocks of columns; ``basis[rows]`` is an array.

    Parameters
    ----------
    n_rows, most : int
        The number of rows, and the largest number of columns.
    dtype
        The type of the entries.
    on_disk : bool
        Whether the columns are in files.
    compact : bool
        Whether to keep 16 bits of each entry: see ``_half_loops``. Entries are float32, from -1 to
        1, and rounding changes them by 2e-4 of themselves.
    """

    def __init__(self, n_rows: int, most: int, dtype: Any, *, on_disk: bool, compact: bool = False):
        self.shape = (n_rows, 0)
        self.dtype = np.dtype(dtype)
        self.compact = compact
        kept = np.uint16 if compact else dtype
        self._array = None if on_disk else np.empty((n_rows, most), kept)
        self._blocks: list[np.ndarray] = []

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def on_disk(self) -> bool:
        """Whether the columns are in files."""
        return self._array is None

    def __getitem__(self, rows: slice) -> np.ndarray:
        return self._columns(rows, 0)

    def _columns(self, rows: slice, first: int) -> np.ndarray:
        """Some rows of the columns from the first on."""
        if self._array is not None:
            if not self.compact:
                return self._array[rows, first : self.shape[1]]
            start, stop, _ = rows.indices(len(self))
            return _widened(self._array, start, first, (stop - start, self.shape[1] - first))
        parts = [block[rows] for block in self._blocks]
        found = np.hstack(parts)
        forget(*parts)
        return _widened(found, 0, 0, found.shape) if self.compact else found

    def append(self, block: np.ndarray) -> np.ndarray:
        """Add columns; returns them as they are kept.

        A compact basis rounds them, in place if it can. A basis on disk copies them to a file
        unless they are in one.
        """
        start, stop = self.shape[1], self.shape[1] + block.shape[1]
        self.shape = (self.shape[0], stop)
        if not self.compact:
            if self._array is not None:
                self._array[:, start:stop] = block
            else:
                self._blocks.append(block if isinstance(block, np.memmap) else _on_disk(block))
            return block
        half = _narrowed(block)
        if self._array is not None:
            self._array[:, start:stop] = half
        else:
            self._blocks.append(_on_disk(half))
        # In the memory of the block, if that is ours.
        is_ours = block.flags.c_contiguous and block.flags.writeable and not is_mapped(block)
        return _widened(half, 0, 0, half.shape, block if is_ours else None)

    def panels(self) -> Iterator[np.ndarray]:
        """The blocks of a basis on disk, one after the other."""
        for block in self._blocks:
            yield _widened(block, 0, 0, block.shape) if self.compact else block
            forget(block)

    def last(self, n_columns: int) -> Any:
        """The last columns, in whole blocks; all of them if there are not more."""
        n_columns = min(n_columns, self.shape[1])
        if self._array is not None:
            return _LastColumns(self, self.shape[1] - n_columns)
        part = Basis(self.shape[0], 0, self.dtype, on_disk=True, compact=self.compact)
        while part.shape[1] < n_columns:
            block = self._blocks[-1 - len(part._blocks)]
            part._blocks.insert(0, block)
            part.shape = (self.shape[0], part.shape[1] + block.shape[1])
        return part

    def times_in_place(self, M: np.ndarray) -> np.ndarray | None:
        """``basis[:] @ M`` in the memory of a compact basis, which is lost; None if it has no room.

        The rows of the answer are not next to each other.
        """
        if self._array is None or not self.compact or 2 * M.shape[1] > self._array.shape[1]:
            return None
        out = self._array.view(np.float32)[:, : M.shape[1]]

        def work(rows: slice) -> None:
            out[rows] = self[rows] @ M

        for _ in engine.current().map(work, row_blocks(len(self))):
            pass
        return out

    def with_columns(self, block: np.ndarray) -> Any:
        """A matrix of these columns and more. The basis itself does not change."""
        if self._array is not None:
            return np.hstack([self[:], block])
        longer = self.last(self.shape[1])
        longer.append(block)
        return longer


class _LastColumns:
    """The columns of a basis in memory from the `first` on; ``part[rows]`` is an array."""

    def __init__(self, basis: Basis, first: int):
        self._basis, self._first = basis, first
        self.shape = (basis.shape[0], basis.shape[1] - first)
        self.dtype = basis.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> np.ndarray:
        return self._basis._columns(rows, self._first)


def _narrowed(block: np.ndarray) -> np.ndarray:
    """The 16 bits that are kept of each entry."""
    from eigentext.factor import _half_loops

    half = np.empty(block.shape, np.uint16)
    row = np.empty(block.shape[1], np.float32)
    _half_loops.narrow(np.ascontiguousarray(block), (row, row.view(np.uint32)), half)
    return half


def _widened(
    half: np.ndarray, row: int, column: int, shape: tuple[int, int], out: np.ndarray | None = None
) -> np.ndarray:
    """The float32 entries of a part of a C-contiguous array that starts at a row and a column."""
    from eigentext.factor import _half_loops

    out = np.empty(shape, np.float32) if out is None else out
    _half_loops.widen(half, row, column, out, out.view(np.uint32))
    return out


def _on_disk(block: np.ndarray) -> np.ndarray:
    file = Growing(block.dtype, -1, block.shape[1:])
    file.append(block)
    return file.finish()


class KeptBlocks:
    """The state of one decomposition in the current checkpoint; without one, nothing is saved."""

    def __init__(self) -> None:
        self._point: Checkpoint | None = checkpoint()
        self._step = self._point.name("svd") if self._point else ""
        self._start = ""

    @property
    def in_use(self) -> bool:
        """Whether there is a checkpoint."""
        return self._point is not None

    def begin(self, block: np.ndarray) -> None:
        """Identify the matrix by the block that the process starts with."""
        if self._point:
            digest = hashlib.sha256(repr((block.shape, block.dtype.str)).encode())
            digest.update(np.ascontiguousarray(block).data)
            self._start = digest.hexdigest()

    def read(self, number: int) -> dict[str, Any] | None:
        """The arrays of a saved state, as maps, if it belongs to the same matrix."""
        found = self._point.read(self._name(number)) if self._point else None
        return found[0] if found and found[1].get("start") == self._start else None

    def last(self, most: int) -> tuple[int, dict[str, Any] | None]:
        """The number of the last saved state up to `most`, or 0, and its arrays."""
        for number in range(most if self._point else 0, 0, -1):
            if state := self.read(number):
                return number, state
        return 0, None

    def write(self, number: int, **arrays: np.ndarray) -> None:
        """Save a state."""
        if self._point:
            self._point.write(self._name(number), dict(arrays), {"start": self._start})

    def drop(self, number: int) -> None:
        """Delete a state that a later one replaces."""
        if self._point:
            self._point.drop(self._name(number))

    def _name(self, number: int) -> str:
        return f"{self._step}.block-{number:03}"
