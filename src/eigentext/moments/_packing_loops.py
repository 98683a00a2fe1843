"""Counts as streams of bytes and back; also a loop that drops small counts.

Numbers are written as LEB128: seven bits to a byte, the lowest first, and the eighth bit set on all
bytes but the last. A packed block of rows holds, in this order, the length of each row, how many
distinct counts there are, the distinct counts, the gaps between columns, and for each entry the
place of its count among the distinct ones.

The bytes may come from a damaged or hostile file, so every number is checked before it is used as a
place.
"""

import numpy as np

from eigentext.engine.compiled import njit

_DIRECT = 1 << 16  # codes of smaller counts are looked up, those of larger ones searched for


@njit(cache=True, nogil=True)
def pack_rows(indptr, indices, data, counts, codes, distinct):
    """Equivalent to LEB128 of lengths, ``len(distinct)``, `distinct`, gaps, and codes of `data`.

    `indptr` begins at 0. `counts` are the distinct counts in rising order and `codes` their places
    in `distinct`. The first gap of a row is its first column, the others the columns in between.
    """
    n_rows = len(indptr) - 1
    # Only the part that is written takes memory.
    out = np.empty(5 * n_rows + 10 * (len(distinct) + 1) + 10 * len(indices), np.uint8)
    at = 0
    for r in range(n_rows):
        at = _write(out, at, indptr[r + 1] - indptr[r])
    at = _write(out, at, len(distinct))
    for i in range(len(distinct)):
        at = _write(out, at, distinct[i])
    for r in range(n_rows):
        free = np.int64(0)
        for p in range(indptr[r], indptr[r + 1]):
            at = _write(out, at, indices[p] - free)
            free = np.int64(indices[p]) + 1
    direct = np.zeros(_DIRECT, np.int64)
    for i in range(len(counts)):
        if counts[i] < _DIRECT:
            direct[counts[i]] = codes[i]
    for p in range(len(data)):
        if data[p] < _DIRECT:
            at = _write(out, at, direct[data[p]])
            continue
        low, high = 0, len(counts) - 1
        while low < high:
            middle = (low + high) // 2
            if counts[middle] < data[p]:
                low = middle + 1
            else:
                high = middle
        at = _write(out, at, codes[low])
    return out[:at]


@njit(cache=True, nogil=True)
def unpack_rows(packed, n_rows, n_columns, n_entries):
    """Equivalent to the inverse of `pack_rows`: indptr, indices, data; or a ValueError."""
    indptr = np.zeros(n_rows + 1, np.int64)
    at = 0
    for r in range(n_rows):
        length, at = _read(packed, at)
        if length < 0 or length > n_columns or length > n_entries - indptr[r]:
            raise ValueError("lengths of rows")
        indptr[r + 1] = indptr[r] + length
    if indptr[n_rows] != n_entries:
        raise ValueError("lengths of rows")
    n_distinct, at = _read(packed, at)
    if n_distinct < 0 or n_distinct > n_entries:
        raise ValueError("distinct counts")
    distinct = np.empty(n_distinct, np.int64)
    for i in range(n_distinct):
        count, at = _read(packed, at)
        if count < 1:
            raise ValueError("distinct counts")
        distinct[i] = count
    indices = np.empty(n_entries, np.int32)
    for r in range(n_rows):
        free = np.int64(0)
        for p in range(indptr[r], indptr[r + 1]):
            gap, at = _read(packed, at)
            if gap < 0 or gap >= n_columns - free:
                raise ValueError("columns")
            indices[p] = free + gap
            free += gap + 1
    data = np.empty(n_entries, np.int64)
    for p in range(n_entries):
        code, at = _read(packed, at)
        if code < 0 or code >= n_distinct:
            raise ValueError("counts")
        data[p] = distinct[code]
    if at != len(packed):
        raise ValueError("bytes left over")
    return indptr, indices, data


@njit(cache=True, nogil=True)
def keep_frequent(indptr_a, indices_a, data_a, indptr_b, indices_b, data_b, least):
    """Equivalent to A where ``A + B >= least``, for CSR matrices with sorted columns."""
    n_rows = len(indptr_a) - 1
    indices = np.empty(len(indices_a), np.int32)
    data = np.empty(len(indices_a), np.int64)
    indptr = np.zeros(n_rows + 1, np.int64)
    n_entries = 0
    for r in range(n_rows):
        q, q_end = indptr_b[r], indptr_b[r + 1]
        for p in range(indptr_a[r], indptr_a[r + 1]):
            while q < q_end and indices_b[q] < indices_a[p]:
                q += 1
            total = data_a[p]
            if q < q_end and indices_b[q] == indices_a[p]:
                total += data_b[q]
            if total >= least:
                indices[n_entries] = indices_a[p]
                data[n_entries] = data_a[p]
                n_entries += 1
        indptr[r + 1] = n_entries
    return indptr, indices[:n_entries], data[:n_entries]


@njit(cache=True, nogil=True)
def _write(out, at, number):
    """Append a number; returns the place after it."""
    while number >= 128:
        out[at] = (number & 127) | 128
        number >>= 7
        at += 1
    out[at] = number
    return at + 1


@njit(cache=True, nogil=True)
def _read(packed, at):
    """The number at a place and the place after it; -1 if there is no whole number of 63 bits."""
    number = np.int64(0)
    shift = 0
    while at < len(packed) and shift < 63:
        byte = np.int64(packed[at])
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
        shift += 7
    return np.int64(-1), at
