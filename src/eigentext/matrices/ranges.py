"""A sparse matrix that stays on the workers of a Dask cluster, as ranges of its rows.

In a product, every worker gets the thin matrix and returns its rows of the answer. So only n x k
panels travel, whatever the size of the sparse matrix. Each row is summed by the same loop and in
the same order as on one machine, so the bits are the same too.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from eigentext import engine

CSR = Any  # scipy.sparse ships no types
_INDEX = 4  # bytes


@dataclass(eq=False)
class RowRanges:
    """A CSR matrix in ranges of rows.

    Attributes
    ----------
    ranges : list of CSR matrices on workers
        The rows of each range.
    borders : list of int
        The first row of each range, and the number of rows.
    shape, dtype
        Those of the whole matrix.
    """

    ranges: list[Any]
    borders: list[int]
    shape: tuple[int, int]
    dtype: np.dtype

    @cached_property
    def nnz(self) -> int:
        """The number of entries of all ranges."""
        return sum(self._results(_nnz))

    @property
    def nbytes(self) -> int:
        """The bytes that the entries would take in this process."""
        return self.nnz * (_INDEX + self.dtype.itemsize)

    def sums(self) -> tuple[np.ndarray, np.ndarray]:
        """The sums of rows and of columns."""
        cluster = _cluster()
        rows = np.concatenate(self._results(_row_sums))
        columns = cluster.combine(np.add, cluster.keep(_column_sums, self.ranges))
        return rows, cluster.fetch(columns)

    def times(self, X: np.ndarray) -> np.ndarray:
        """``A @ X`` for a thin X."""
        cluster = _cluster()
        panel = cluster.share(np.ascontiguousarray(X, self.dtype))
        parts = cluster.keep(_times, self.ranges, panel)
        result = np.empty((self.shape[0], X.shape[1]), self.dtype)
        for (start, stop), part in zip(pairwise(self.borders), parts):
            result[start:stop] = cluster.fetch(part)
        return result

    def gathered(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Bring the indptr, indices and data of the whole matrix into this process."""
        cluster = _cluster()
        indptr = np.zeros(self.shape[0] + 1, np.int64)
        indices, data = np.empty(self.nnz, np.int32), np.empty(self.nnz, self.dtype)
        with engine.phase("gather", self.nbytes, "B") as advance:
            parts = cluster.keep(_narrow, self.ranges)
            filled = 0
            for (start, stop), kept in zip(pairwise(self.borders), parts):
                part = cluster.fetch(kept)
                entries = slice(filled, filled + len(part[1]))
                indptr[start + 1 : stop + 1] = part[0][1:] + np.int64(filled)
                indices[entries], data[entries] = part[1:]
                filled = entries.stop
                advance(len(part[1]) * (_INDEX + self.dtype.itemsize))
        return indptr, indices, data

    def _results(self, function: Any) -> list[Any]:
        cluster = _cluster()
        return [cluster.fetch(kept) for kept in cluster.keep(function, self.ranges)]


def _cluster() -> Any:
    cluster = engine.distributed()
    assert cluster is not None, "the cluster that holds the matrix is no longer in use"
    return cluster


# These functions run on the workers.


def _nnz(part: CSR) -> int:
    return int(part.nnz)


def _row_sums(part: CSR) -> np.ndarray:
    return part.sum(axis=1)


def _column_sums(part: CSR) -> np.ndarray:
    return part.sum(axis=0)


def _times(part: CSR, X: np.ndarray) -> np.ndarray:
    from eigentext.matrices.products import sparse_times

    return sparse_times(part, X)


def _narrow(part: CSR) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The parts of a matrix in the smallest integers that hold them, to send less."""
    if part.dtype.kind != "i":
        return part.indptr, part.indices, part.data
    most = np.min_scalar_type(int(part.data.max(initial=0)))
    return part.indptr, part.indices, part.data.astype(most)
