"""Sparse times dense, for a panel of a few dozen columns.

Narrow panels keep the rows they touch in cache: for hundreds of columns, panel after panel is
several times faster than all at once. Every output is one sum in the order of the matrix's entries,
so how panels and rows are dealt out to threads never changes a bit. (The width is read from the
array: told a constant, the compiler unrolls the inner loop instead of vectorising it, which takes
3 times as long.)
"""

from numba import njit


@njit(cache=True, nogil=True)
def csr_times_panel(indptr, indices, data, X, out, start, stop):
    """Equivalent to ``out[start:stop] = A[start:stop] @ X`` for a CSR matrix A."""
    width = X.shape[1]
    for r in range(start, stop):
        for j in range(width):
            out[r, j] = 0
        for p in range(indptr[r], indptr[r + 1]):
            a = data[p]
            c = indices[p]
            for j in range(width):
                out[r, j] += a * X[c, j]


@njit(cache=True, nogil=True)
def transposed_csr_times_panel(indptr, indices, data, X, out):
    """Equivalent to ``out += A.T @ X`` for a CSR matrix A."""
    width = X.shape[1]
    for r in range(len(indptr) - 1):
        for p in range(indptr[r], indptr[r + 1]):
            a = data[p]
            c = indices[p]
            for j in range(width):
                out[c, j] += a * X[r, j]
