"""Products of large matrices with thin ones, on all cores and with the same bits on any number.

BLAS may add in another order when it has more threads. Here it has one; the cores are used by
dealing out row blocks and column panels whose borders depend on the shapes alone, and partial sums
are added in their order.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from eigentext import engine

CSR = Any  # scipy.sparse ships no types
_ROWS = 2048


class Factorable:
    """A matrix as the SVD sees it: a shape, a type, and its products with thin matrices."""

    def __init__(
        self,
        shape: tuple[int, int],
        dtype: np.dtype,
        times: Callable[[np.ndarray], np.ndarray],
        transposed_times: Callable[[np.ndarray], np.ndarray],
    ):
        self.shape = shape
        self.dtype = dtype
        self.times = times
        self.transposed_times = transposed_times

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
        transpose = A.T.tocsr()  # pays from the third product on: scattering is slow
        return Factorable(
            A.shape, A.dtype, lambda X: sparse_times(A, X), lambda X: sparse_times(transpose, X)
        )
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


def scaled_symmetric(left: np.ndarray, S: CSR, right: np.ndarray) -> Factorable:
    """``diag(left) S diag(right)`` for a symmetric sparse S, which is its own transpose."""
    left, right = left[:, None].astype(S.dtype), right[:, None].astype(S.dtype)

    def product(outer: np.ndarray, X: np.ndarray, inner: np.ndarray) -> np.ndarray:
        result = sparse_times(S, inner * X)
        result *= outer
        return result

    return Factorable(
        S.shape, S.dtype, lambda X: product(left, X, right), lambda X: product(right, X, left)
    )


def sparse_times(A: CSR, X: np.ndarray) -> np.ndarray:
    """``A @ X``: panels of columns and blocks of rows in parallel."""
    from eigentext.factor._kernels import PANEL, csr_times_panel

    def padded(panel: np.ndarray) -> np.ndarray:
        if panel.shape[1] < PANEL:
            panel = np.pad(panel, ((0, 0), (0, PANEL - panel.shape[1])))
        return np.ascontiguousarray(panel, A.dtype)

    columns = range(0, X.shape[1], PANEL)
    blocks = engine.even_blocks(A.indptr, 1 + A.nnz // 8)
    result = np.empty((A.shape[0], X.shape[1]), A.dtype)
    for first in columns:
        panel = padded(X[:, first : first + PANEL])
        whole = X.shape[1] == PANEL
        out = result if whole else np.empty((A.shape[0], PANEL), A.dtype)

        def work(block: tuple[int, int], panel=panel, out=out) -> None:
            csr_times_panel(A.indptr, A.indices, A.data, panel, out, *block)

        _run(work, blocks)
        if not whole:
            result[:, first : first + PANEL] = out[:, : X.shape[1] - first]
    return result


def rows_times(X: np.ndarray, M: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """``X @ M`` for a tall X; `out` may be X itself."""
    result = np.empty((len(X), M.shape[1]), np.result_type(X, M)) if out is None else out

    def work(rows: slice) -> None:
        result[rows] = X[rows] @ M

    _run(work, _row_blocks(len(X)))
    return result


def transposed_times(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """``X.T @ Y`` for tall X and Y: the products of row blocks, added in order."""
    total = np.zeros((X.shape[1], Y.shape[1]), np.result_type(X, Y))
    products = engine.current().map(lambda rows: X[rows].T @ Y[rows], _row_blocks(len(X)))
    for product in products:
        total += product
    return total


def _run(work: Callable[[Any], None], tasks: Any) -> None:
    for _ in engine.current().map(work, tasks):
        pass


def _row_blocks(n_rows: int) -> list[slice]:
    return [slice(start, min(start + _ROWS, n_rows)) for start in range(0, n_rows, _ROWS)]


def _float_type(dtype: np.dtype) -> np.dtype:
    return dtype if dtype in (np.float32, np.float64) else np.dtype(np.float64)
