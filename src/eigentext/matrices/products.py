"""Products of large matrices with thin ones, with the same bits on any number of cores.

BLAS may add in another order when it has more threads. So it has one thread here. The cores share
blocks of rows and panels of columns, whose borders depend only on the shapes, and partial sums are
added in a fixed order.

Tall matrices may be on disk, as maps or as a :class:`~eigentext.factor.basis.Basis`. They are read
by the same blocks of rows and give the same bits.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from eigentext import engine
from eigentext.matrices.disk import Growing, rows_of
from eigentext.matrices.ranges import RowRanges
from eigentext.matrices.tiles import SymmetricTiles
from eigentext.storage.maps import forget, is_mapped

CSR = Any  # scipy.sparse ships no types
Tall = Any  # an array or a Basis
_ROWS = 2048
_ENTRIES = 1 << 20  # of a sparse matrix on disk that one task reads


class Factorable:
    """A matrix as the SVD uses it: a shape, a type, and products with thin matrices."""

    def __init__(
        self,
        shape: tuple[int, int],
        dtype: np.dtype,
        times: Callable[[np.ndarray], np.ndarray],
        transposed_times: Callable[[np.ndarray], np.ndarray],
        gram_times: Callable[[np.ndarray], np.ndarray] | None = None,
    ):
        self.shape = shape
        self.dtype = dtype
        self.times = times
        self.transposed_times = transposed_times
        self._gram_times = gram_times

    def gram_times(self, X: np.ndarray) -> np.ndarray:
        """``A @ A.T @ X``; may overwrite X."""
        if self._gram_times is not None:
            return self._gram_times(X)
        return self.times(self.transposed_times(X))

    @property
    def T(self) -> "Factorable":  # noqa: N802 - as numpy has it
        """The transpose."""
        n, d = self.shape
        return Factorable((d, n), self.dtype, self.transposed_times, self.times)


def factorable(A: Any) -> Factorable:
    """Wrap a dense array, a scipy sparse matrix or a LinearOperator; leave a Factorable alone."""
    if isinstance(A, Factorable):
        return A
    if sp.issparse(A):
        A = A.tocsr()
        A = A.astype(_float_type(A.dtype), copy=False)
        return with_transpose(A, A.T.tocsr())  # pays off with the third product
    if isinstance(A, LinearOperator) or not hasattr(A, "__array__"):
        A = aslinearoperator(A)
        dtype = _float_type(np.dtype(A.dtype or np.float64))
        return Factorable(
            A.shape,
            dtype,
            lambda X: np.ascontiguousarray(A.matmat(X), dtype),
            lambda X: np.ascontiguousarray(A.rmatmat(X), dtype),
        )
    A = np.asarray(A, _float_type(np.asarray(A).dtype))
    return Factorable(
        A.shape, A.dtype, lambda X: rows_times(A, X), lambda X: transposed_times(A, X)
    )


def with_transpose(A: CSR, transpose: CSR) -> Factorable:
    """A sparse matrix and its transpose, in memory or on disk."""
    return Factorable(
        A.shape, A.dtype, lambda X: sparse_times(A, X), lambda X: sparse_times(transpose, X)
    )


def scaled_symmetric(left: np.ndarray, S: CSR, right: np.ndarray) -> Factorable:
    """``diag(left) S diag(right)`` for a symmetric sparse S, which is its own transpose."""
    left, right = left[:, None].astype(S.dtype), right[:, None].astype(S.dtype)

    def product(outer: np.ndarray, X: np.ndarray, inner: np.ndarray) -> np.ndarray:
        result = sparse_times(S, inner * X)
        result *= outer
        return result

    def gram(X: np.ndarray) -> np.ndarray:
        # In place, so that two panels are in memory and not four.
        is_ours = X.flags.writeable and not is_mapped(X)
        X = np.multiply(left, X, out=X if is_ours else None)
        product = sparse_times(S, X)
        product *= right
        product *= right
        product = sparse_times(S, product, X)
        product *= left
        return product

    return Factorable(
        S.shape, S.dtype, lambda X: product(left, X, right), lambda X: product(right, X, left), gram
    )


def sparse_times(A: CSR, X: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """``A @ X`` by panels of columns and blocks of rows in parallel.

    The answer may be in the memory of `out`, which has its shape. A may be on disk, in tiles, or on
    the workers of a Dask cluster, which then multiply.
    """
    if isinstance(A, RowRanges):
        return A.times(X)
    if isinstance(A, SymmetricTiles):
        return A.times(X, out)
    from eigentext.engine.intrinsics import PANEL
    from eigentext.matrices._panel_loops import csr_times_panel

    def padded(panel: np.ndarray) -> np.ndarray:
        if panel.shape[1] < PANEL:
            panel = np.pad(panel, ((0, 0), (0, PANEL - panel.shape[1])))
        return np.ascontiguousarray(panel, A.dtype)

    columns = range(0, X.shape[1], PANEL)
    size = 1 + A.nnz // 8
    blocks = engine.even_blocks(A.indptr, min(size, _ENTRIES) if is_mapped(A.data) else size)
    result = np.empty((A.shape[0], X.shape[1]), A.dtype) if out is None else out
    for first in columns:
        panel = padded(X[:, first : first + PANEL])
        whole = X.shape[1] == PANEL
        product = result if whole else np.empty((A.shape[0], PANEL), A.dtype)

        def work(block: tuple[int, int], panel=panel, product=product) -> None:
            start, stop = block
            starts, indices, data = rows_of(A, start, stop)
            csr_times_panel(starts, indices, data, panel, product[start:stop], 0, stop - start)
            forget(indices, data)

        _run(work, blocks)
        if not whole:
            result[:, first : first + PANEL] = product[:, : X.shape[1] - first]
    return result


def rows_times(
    X: Tall, M: np.ndarray, out: np.ndarray | None = None, keep: float = math.inf
) -> np.ndarray:
    """``X @ M`` for a tall X; `out` may be X. A product of more than `keep` bytes is on disk."""
    dtype = np.result_type(X.dtype, M)
    if out is None and len(X) * M.shape[1] * dtype.itemsize > keep:
        grown = Growing(dtype, 0, (M.shape[1],))
        for product in engine.current().map(
            lambda rows: _used(X[rows], lambda part: part @ M), row_blocks(len(X))
        ):
            grown.append(product)
        return grown.finish()
    result = np.empty((len(X), M.shape[1]), dtype) if out is None else out

    def work(rows: slice) -> None:
        result[rows] = _used(X[rows], lambda part: part @ M)

    _run(work, row_blocks(len(X)))
    return result


def subtract_rows_times(Y: np.ndarray, X: Tall, M: np.ndarray) -> None:
    """``Y -= X @ M`` for tall Y and X."""

    def work(rows: slice) -> None:
        Y[rows] -= _used(X[rows], lambda part: part @ M)

    _run(work, row_blocks(len(X)))


def transposed_times(X: Tall, Y: Tall) -> np.ndarray:
    """``X.T @ Y`` for tall X and Y: the products of blocks of rows, added in order."""
    total = np.zeros((X.shape[1], Y.shape[1]), np.result_type(X.dtype, Y.dtype))

    def product(rows: slice) -> np.ndarray:
        other = None if Y is X else Y[rows]
        found = _used(X[rows], lambda part: part.T @ (part if other is None else other))
        if other is not None:
            forget(other)
        return found

    for part in engine.current().map(product, row_blocks(len(X))):
        total += part
    return total


def _used(part: np.ndarray, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """A function of some rows; then frees their memory if they were read from disk."""
    result = function(part)
    forget(part)
    return result


def _run(work: Callable[[Any], None], tasks: Any) -> None:
    for _ in engine.current().map(work, tasks):
        pass


def row_blocks(n_rows: int, least: int = 0) -> list[slice]:
    """The blocks of rows by which tall matrices are worked on, each of `least` rows or more."""
    size = max(_ROWS, least)
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]


def _float_type(dtype: np.dtype) -> np.dtype:
    return dtype if dtype in (np.float32, np.float64) else np.dtype(np.float64)
