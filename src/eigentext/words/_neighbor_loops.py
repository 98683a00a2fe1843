"""Nearest rows: a cheap score with a known error for every row, an exact score for a few.

The best rows so far are in a heap with the worst at the root. A row gets an exact score only if its
cheap score and its error can exceed the root. Exact scores are sums in float64 in a fixed order,
rounded once to float32. So they depend neither on the cheap score nor on the number of threads.
"""

import numpy as np

from eigentext.engine.compiled import njit


@njit(cache=True, nogil=True)
def scan_codes(codes, scale, error, p, t, slack, vectors, inverse, q, q_inverse, first, cos, rows):
    """Equivalent to the best ``len(cos)`` of ``cosine(vectors[first:], q)``, as a heap.

    ``scale[i] * codes[i]`` is within ``error[i]`` of row i, and ``t * p`` of q within `slack`.
    `codes`, `scale` and `error` begin at row `first`. p is int16, so that the compiler uses the
    instruction for sums of products of 16-bit integers.
    """
    for i in range(codes.shape[0]):
        total = np.int32(0)
        for j in range(codes.shape[1]):
            # Numba would make the sums 64 bits wide, which takes twice as long.
            total = np.int32(total + np.int32(codes[i, j]) * np.int32(p[j]))
        if scale[i] * t * total + error[i] + slack >= cos[0]:
            row = first + i
            _offer(cos, rows, _cosine(vectors, inverse, row, q, q_inverse), row)


@njit(cache=True, nogil=True)
def scan_scores(scores, slack, vectors, inverse, Q, q_inverse, first, cos, rows):
    """Equivalent to adding rows ``first, first + 1, …`` to the best of each query, as heaps.

    ``scores[k, i]`` is within `slack` of the cosine between ``Q[k]`` and row ``first + i``.
    """
    for k in range(scores.shape[0]):
        floor = cos[k, 0] - slack
        for i in range(scores.shape[1]):
            if scores[k, i] >= floor:
                row = first + i
                cosine = _cosine(vectors, inverse, row, Q[k], q_inverse[k])
                _offer(cos[k], rows[k], cosine, row)
                floor = cos[k, 0] - slack


@njit(cache=True, nogil=True)
def score_rows(vectors, inverse, Q, q_inverse, rows, cos):
    """Equivalent to ``cos[k, i] = cosine(vectors[rows[k, i]], Q[k])``; -inf for rows below 0."""
    for k in range(rows.shape[0]):
        for i in range(rows.shape[1]):
            cos[k, i] = -np.inf
            if rows[k, i] >= 0:
                cos[k, i] = _cosine(vectors, inverse, rows[k, i], Q[k], q_inverse[k])


@njit(cache=True, nogil=True)
def quantize_rows(vectors, codes, scale, error, start, stop):
    """Equivalent to ``codes = rint(vectors / scale)``, ``scale`` being each row's ``max|x| / 127``.

    ``error`` is the length of the rounding error.
    """
    for i in range(start, stop):
        largest = np.float32(0)
        for j in range(vectors.shape[1]):
            largest = max(largest, abs(vectors[i, j]))
        step = np.float64(largest) / 127
        scale[i] = step
        lost = 0.0
        for j in range(vectors.shape[1]):
            code = np.rint(vectors[i, j] / step) if step > 0 else 0.0
            codes[i, j] = np.int8(code)
            rest = vectors[i, j] - step * code
            lost += rest * rest
        error[i] = np.sqrt(lost)


@njit(cache=True, nogil=True)
def _cosine(vectors, inverse, row, q, q_inverse):
    # Four sums at a time, because additions of one sum would wait for each other.
    a = b = c = d = 0.0
    width = vectors.shape[1]
    whole = width - width % 4
    for j in range(0, whole, 4):
        a += np.float64(vectors[row, j]) * q[j]
        b += np.float64(vectors[row, j + 1]) * q[j + 1]
        c += np.float64(vectors[row, j + 2]) * q[j + 2]
        d += np.float64(vectors[row, j + 3]) * q[j + 3]
    for j in range(whole, width):
        a += np.float64(vectors[row, j]) * q[j]
    return np.float32(((a + b) + (c + d)) * inverse[row] * q_inverse + 0.0)  # no -0.0


@njit(cache=True, nogil=True)
def _offer(cos, rows, cosine, row):
    """Equivalent to ``if cosine > cos[0]: heapreplace(heap, (cosine, -row))``.

    Rows come in rising order, so one that only equals the worst kept row comes after it.
    """
    if cosine <= cos[0]:
        return
    size = len(cos)
    hole = 0
    while 2 * hole + 1 < size:
        child = 2 * hole + 1
        right = child + 1
        if right < size and (
            cos[right] < cos[child] or (cos[right] == cos[child] and rows[right] > rows[child])
        ):
            child = right
        if cos[child] > cosine or (cos[child] == cosine and rows[child] < row):
            break
        cos[hole] = cos[child]
        rows[hole] = rows[child]
        hole = child
    cos[hole] = cosine
    rows[hole] = row
