"""The basis of a Krylov space, which grows by blocks of columns, and its state in a checkpoint.

In memory it is one array. On disk each block is a file, written once and read by blocks of rows.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from eigentext.matrices.disk import Growing
from eigentext.storage import Checkpoint, checkpoint
from eigentext.storage.maps import forget


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
    """

    def __init__(self, n_rows: int, most: int, dtype: Any, *, on_disk: bool):
        self.shape = (n_rows, 0)
        self.dtype = np.dtype(dtype)
        self._array = None if on_disk else np.empty((n_rows, most), dtype)
        self._blocks: list[np.ndarray] = []

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def on_disk(self) -> bool:
        """Whether the columns are in files."""
        return self._array is None

    def __getitem__(self, rows: slice) -> np.ndarray:
        if self._array is not None:
            return self._array[rows, : self.shape[1]]
        parts = [block[rows] for block in self._blocks]
        found = np.hstack(parts)
        forget(*parts)
        return found

    def append(self, block: np.ndarray) -> None:
        """Add columns. A basis on disk copies them to a file unless they are in one."""
        start, stop = self.shape[1], self.shape[1] + block.shape[1]
        if self._array is not None:
            self._array[:, start:stop] = block
        else:
            self._blocks.append(block if isinstance(block, np.memmap) else _on_disk(block))
        self.shape = (self.shape[0], stop)

    def panels(self) -> Iterator[np.ndarray]:
        """The blocks of a basis on disk, one after the other."""
        for block in self._blocks:
            yield block
            forget(block)

    def last(self, n_columns: int) -> Any:
        """The last columns, in whole blocks; all of them if there are not more."""
        n_columns = min(n_columns, self.shape[1])
        if self._array is not None:
            return self._array[:, self.shape[1] - n_columns : self.shape[1]]
        part = Basis(self.shape[0], 0, self.dtype, on_disk=True)
        while part.shape[1] < n_columns:
            block = self._blocks[-1 - len(part._blocks)]
            part._blocks.insert(0, block)
            part.shape = (self.shape[0], part.shape[1] + block.shape[1])
        return part

    def with_columns(self, block: np.ndarray) -> Any:
        """A matrix of these columns and more. The basis itself does not change."""
        if self._array is not None:
            return np.hstack([self[:], block])
        longer = self.last(self.shape[1])
        longer.append(block)
        return longer


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
