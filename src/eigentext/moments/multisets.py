"""Documents by words: rows of counts in the order of the text, and as a multiset without order.

All matrices are CSR with sorted columns and no zeros.
"""

import numpy as np
import scipy.sparse as sp

from eigentext.corpus import Vocabulary
from eigentext.corpus.encoded import END
from eigentext.matrices.runs import CSR, assembled, csr


def counted(ids: np.ndarray, n_words: int) -> CSR:
    """The counts of each document, given the ids of all documents with `END` after each."""
    borders = np.concatenate([[0], np.flatnonzero(ids == END)])

    def count(rows: tuple[int, int]):
        bounds = borders[rows[0] : rows[1] + 1]
        part = ids[bounds[0] : bounds[-1]]
        known = part >= 0
        indptr = np.concatenate([[0], np.cumsum(known)])[bounds - bounds[0]]
        ones = np.ones(indptr[-1], np.int32)
        X = sp.csr_array((ones, part[known], indptr), shape=(len(bounds) - 1, n_words))
        X.sum_duplicates()
        return X.indptr.astype(np.int64), X.indices, X.data

    return assembled(count, borders, (len(borders) - 1, n_words), dtype=np.int32)


def moved(X: CSR, old: Vocabulary, new: Vocabulary) -> CSR:
    """X with the columns of a new vocabulary; words outside it are left out."""
    places = new.ids_of(old.words)
    columns = places[X.indices]
    kept = columns >= 0
    indptr = np.concatenate([[0], np.cumsum(kept)])[X.indptr]
    Y = csr(X.data[kept], columns[kept], indptr, (X.shape[0], len(new)))
    if (np.diff(places[places >= 0]) < 0).any():
        Y.has_sorted_indices = False
        Y.sort_indices()
    return Y


def distinct(X: CSR, times: np.ndarray) -> tuple[CSR, np.ndarray]:
    """The distinct rows, in the order of their (column, count) pairs, and how often each occurs.

    Examples
    --------
    >>> X, times = distinct(sp.csr_array([[0, 2], [1, 1], [0, 2]]), np.array([1, 1, 3]))
    >>> X.toarray(), times
    (array([[1, 1],
           [0, 2]], dtype=int32), array([1, 4]))
    """
    X = narrowed(X)
    codes, order = _encoded(X)
    total = np.zeros(len(order), np.int64)
    np.add.at(total, codes, times)
    _, first = np.unique(codes, return_index=True)
    Y = X[first[order]]
    return csr(Y.data, Y.indices, Y.indptr, Y.shape), total[order]


def _encoded(X: CSR) -> tuple[np.ndarray, np.ndarray]:
    """A number for each row, the same for equal rows, and the numbers in the order of the rows.

    Arrow sorts the rows as strings of bytes. Their order is that of the numbers in them, because
    the most significant byte comes first, also in the bits of a positive float.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    pairs = np.empty((X.nnz, 2), ">i4" if X.data.itemsize == 4 else ">i8")
    pairs[:, 0] = X.indices
    pairs[:, 1] = X.data.view(np.int64) if X.dtype == np.float64 else X.data
    offsets = X.indptr.astype(np.int64) * pairs.itemsize * 2
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(pairs)]
    rows = pa.LargeBinaryArray.from_buffers(pa.large_binary(), X.shape[0], buffers)
    rows = rows.dictionary_encode()
    order = pc.array_sort_indices(rows.dictionary)
    return rows.indices.to_numpy(), order.to_numpy()


def narrowed(X: CSR) -> CSR:
    """The counts in the smallest type that holds their values."""
    data = X.data
    if data.dtype == np.float64 and not (np.trunc(data) == data).all():
        dtype = np.float64
    else:
        largest = data.max(initial=0)
        dtype = np.int32 if largest < 2**31 else np.int64 if largest < 2**53 else data.dtype
    return csr(data.astype(dtype, copy=False), X.indices, X.indptr, X.shape)
