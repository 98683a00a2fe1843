"""Sparse times dense, for a panel of 32 columns.

A narrow panel keeps the rows that a product touches in the cache: for hundreds of columns, one
panel after the other is several times faster than all columns together. Every number of the answer
is one sum in the order of the matrix's entries, so it does not depend on the number of threads.
"""

import numpy as np

from eigentext.engine.compiled import njit
from eigentext.engine.intrinsics import sum_rows


@njit(cache=True, nogil=True)
def csr_times_panel(indptr, indices, data, X, out, start, stop):
    """Equivalent to ``out[start:stop] = A[start:stop] @ X`` for a CSR matrix A; X has 32 columns.

    All arrays are C-contiguous. X and out have the type of `data`.
    """
    for r in range(start, stop):
        sum_rows(indices, data, X, out, np.int64(indptr[r]), np.int64(indptr[r + 1]), r)
