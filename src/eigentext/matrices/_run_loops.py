"""Compiled loops over rows of sparse integer matrices: sums, mirrors, new numbers, transposes."""

import numpy as np

from eigentext.engine.compiled import njit
from eigentext.matrices.row_loops import SHIFT, write_row


@njit(cache=True, nogil=True)
def add_rows(indptr_a, indices_a, data_a, indptr_b, indices_b, data_b):
    """Equivalent to the sum of two CSR matrices of one shape, both with sorted columns."""
    n_rows = len(indptr_a) - 1
    bound = len(indices_a) + len(indices_b)
    indices = np.empty(bound, np.int32)
    data = np.empty(bound, np.int64)
    indptr = np.zeros(n_rows + 1, np.int64)
    n_entries = 0
    for r in range(n_rows):
        p, p_end = indptr_a[r], indptr_a[r + 1]
        q, q_end = indptr_b[r], indptr_b[r + 1]
        while p < p_end or q < q_end:
            if q == q_end or (p < p_end and indices_a[p] < indices_b[q]):
                indices[n_entries] = indices_a[p]
                data[n_entries] = data_a[p]
                p += 1
            elif p == p_end or indices_b[q] < indices_a[p]:
                indices[n_entries] = indices_b[q]
                data[n_entries] = data_b[q]
                q += 1
            else:
                indices[n_entries] = indices_a[p]
                data[n_entries] = data_a[p] + data_b[q]
                p += 1
                q += 1
            n_entries += 1
        indptr[r + 1] = n_entries
    return indptr, indices[:n_entries], data[:n_entries]


@njit(cache=True, nogil=True)
def mirror_rows(indptr, indices, data, first, last):
    """Equivalent to the rows `first` to `last` of ``A + A.T``, for a square CSR matrix A.

    Columns are sorted, so the entries of these rows of the transpose are one run in each row of A.
    """
    runs = np.empty((len(indptr) - 1, 2), np.int64)
    back_indptr = np.zeros(last - first + 1, np.int64)
    for r in range(len(indptr) - 1):
        row = indices[indptr[r] : indptr[r + 1]]
        runs[r, 0] = indptr[r] + np.searchsorted(row, first)
        runs[r, 1] = indptr[r] + np.searchsorted(row, last)
        for p in range(runs[r, 0], runs[r, 1]):
            back_indptr[indices[p] - first + 1] += 1
    for w in range(last - first):
        back_indptr[w + 1] += back_indptr[w]
    free = back_indptr[:-1].copy()
    back_indices = np.empty(back_indptr[-1], np.int32)
    back_data = np.empty(back_indptr[-1], np.int64)
    for r in range(len(indptr) - 1):
        for p in range(runs[r, 0], runs[r, 1]):
            q = free[indices[p] - first]
            free[indices[p] - first] = q + 1
            back_indices[q] = r
            back_data[q] = data[p]
    start, stop = indptr[first], indptr[last]
    own = indptr[first : last + 1] - start
    return add_rows(
        own, indices[start:stop], data[start:stop], back_indptr, back_indices, back_data
    )


@njit(cache=True, nogil=True)
def relabel_rows(indptr, indices, data, starts, sources, places, n_new, n_columns, first, last):
    """Equivalent to ``B[places[r], d * n_new + places[c]] += A[r, d * n_old + c]`` for all of A.

    ``sources[starts[w]:starts[w + 1]]`` are the rows r with ``places[r] == w``. Returns the rows
    `first` to `last` of B as CSR with sorted columns: indptr, indices, data.
    """
    n_old = len(indptr) - 1
    buffer = np.zeros(n_columns, np.int64)
    touched = np.empty(n_columns, np.int32)
    flags = np.zeros((n_columns >> SHIFT) + 1, np.uint8)
    bound = 0
    for q in range(starts[first], starts[last]):
        bound += indptr[sources[q] + 1] - indptr[sources[q]]
    out_indices = np.empty(bound, np.int32)
    out_data = np.empty(bound, np.int64)
    out_indptr = np.zeros(last - first + 1, np.int64)
    n_entries = 0
    for w in range(first, last):
        n_touched = 0
        for q in range(starts[w], starts[w + 1]):
            r = sources[q]
            for p in range(indptr[r], indptr[r + 1]):
                d = indices[p] // n_old
                column = d * n_new + places[indices[p] - d * n_old]
                if buffer[column] == 0:
                    touched[n_touched] = column
                    n_touched += 1
                buffer[column] += data[p]
        n_entries = write_row(buffer, touched, n_touched, flags, out_indices, out_data, n_entries)
        out_indptr[w - first + 1] = n_entries
    return out_indptr, out_indices[:n_entries], out_data[:n_entries]


@njit(cache=True, nogil=True)
def transpose(indptr, indices, data, n_columns):
    """Equivalent to ``A.T`` of a CSR matrix, as CSR with sorted columns."""
    out_indptr = np.zeros(n_columns + 1, np.int64)
    for p in range(len(indices)):
        out_indptr[indices[p] + 1] += 1
    for c in range(n_columns):
        out_indptr[c + 1] += out_indptr[c]
    free = out_indptr.copy()
    out_indices = np.empty(len(indices), np.int32)
    out_data = np.empty(len(indices), np.int64)
    for r in range(len(indptr) - 1):
        for p in range(indptr[r], indptr[r + 1]):
            c = indices[p]
            q = free[c]
            out_indices[q] = r
            out_data[q] = data[p]
            free[c] = q + 1
    return out_indptr, out_indices, out_data


@njit(cache=True, nogil=True)
def add_sums(indptr, indices, data, rows, columns):
    """Equivalent to ``rows += A.sum(axis=1); columns += A.sum(axis=0)`` of a CSR matrix A."""
    for r in range(len(indptr) - 1):
        for p in range(indptr[r], indptr[r + 1]):
            rows[r] += data[p]
            columns[indices[p]] += data[p]


@njit(cache=True, nogil=True)
def deal_out(indptr, indices, data, first_row, parts, n_parts):
    """Equivalent to a stable sort of a CSR matrix's entries by ``parts[column]``.

    Returns where each part starts, (column, row) of each entry, with rows counted from `first_row`,
    and the entries.
    """
    starts = np.zeros(n_parts + 1, np.int64)
    for p in range(len(indices)):
        starts[parts[indices[p]] + 1] += 1
    for part in range(n_parts):
        starts[part + 1] += starts[part]
    free = starts.copy()
    places = np.empty((len(indices), 2), np.int32)
    values = np.empty(len(data), data.dtype)
    for r in range(len(indptr) - 1):
        for p in range(indptr[r], indptr[r + 1]):
            part = parts[indices[p]]
            q = free[part]
            free[part] = q + 1
            places[q, 0] = indices[p]
            places[q, 1] = first_row + r
            values[q] = data[p]
    return starts, places, values


@njit(cache=True, nogil=True)
def sort_part(places, values, first, last):
    """Equivalent to a stable sort of (column, row) pairs by their columns, `first` to `last`.

    Returns the columns as the rows of a CSR matrix: indptr, indices, data.
    """
    indptr = np.zeros(last - first + 1, np.int64)
    for p in range(len(values)):
        indptr[places[p, 0] - first + 1] += 1
    for c in range(last - first):
        indptr[c + 1] += indptr[c]
    free = indptr.copy()
    indices = np.empty(len(values), np.int32)
    data = np.empty(len(values), values.dtype)
    for p in range(len(values)):
        c = places[p, 0] - first
        q = free[c]
        free[c] = q + 1
        indices[q] = places[p, 1]
        data[q] = values[p]
    return indptr, indices, data
