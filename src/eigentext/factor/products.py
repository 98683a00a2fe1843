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
_ROWS = 4096
_PANEL = 64


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


def factorable(A: Any) -> Factorable:
    """Wrap a dense array, a scipy sparse matrix or a LinearOperator."""
    if sp.issparse(A):
        A = A.tocsr()
        A = A.astype(_float_type(A.dtype), copy=False)
        return Factorable(
            A.shape, A.dtype, lambda X: sparse_times(A, X), lambda X: sparse_transposed_times(A, X)
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


def sparse_times(A: CSR, X: np.ndarray) -> np.ndarray:
    """``A @ X``: panels of columns and blocks of rows in parallel."""
    from eigentext.factor._kernels import csr_times_panel

    panels = _panels(X, _PANEL)
    results = [np.empty((A.shape[0], panel.shape[1]), X.dtype) for panel in panels]
    blocks = engine.even_blocks(A.indptr, 1 + A.nnz // 8)

    def work(task: tuple[int, tuple[int, int]]) -> None:
        place, (start, stop) = task
        csr_times_panel(A.indptr, A.indices, A.data, panels[place], results[place], start, stop)

    _run(work, [(place, block) for place in range(len(panels)) for block in blocks])
    return results[0] if len(results) == 1 else np.hstack(results)


def sparse_transposed_times(A: CSR, X: np.ndarray) -> np.ndarray:
    """``A.T @ X`` without transposing A: each panel is one thread's own."""
    from eigentext.factor._kernels import transposed_csr_times_panel

    # Columns are independent, so panels as narrow as it takes to give every worker one.
    width = min(_PANEL, max(8, -(-X.shape[1] // engine.current().n_workers)))

    def work(panel: np.ndarray) -> np.ndarray:
        result = np.zeros((A.shape[1], panel.shape[1]), X.dtype)
        transposed_csr_times_panel(A.indptr, A.indices, A.data, panel, result)
        return result

    return np.hstack(list(engine.current().map(work, _panels(X, width))))


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


def _panels(X: np.ndarray, width: int) -> list[np.ndarray]:
    columns = range(0, X.shape[1], width)
    return [np.ascontiguousarray(X[:, first : first + width]) for first in columns]


def _float_type(dtype: np.dtype) -> np.dtype:
    return dtype if dtype in (np.float32, np.float64) else np.dtype(np.float64)
