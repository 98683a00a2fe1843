"""Compiled loops of MinHash (Broder 1997): short signatures of sets, and the sizes of overlaps."""

import numpy as np
from numba import config

from eigentext.engine.compiled import njit


@njit(cache=True, nogil=True)
def signatures(indptr, indices, seeds, out, start, stop):
    """Equivalent to ``out[row, j] = min(hash(column, seeds[j]) for column in row)``.

    The hash is the finalizer of splitmix64 on the sum of the two. An empty row keeps the largest
    number. Rows are `start` to `stop`.
    """
    for row in range(start, stop):
        for j in range(len(seeds)):
            out[row, j] = np.uint64(0xFFFFFFFFFFFFFFFF)
        for e in range(indptr[row], indptr[row + 1]):
            column = np.uint64(indices[e]) * np.uint64(0x9E3779B97F4A7C15)
            for j in range(len(seeds)):
                value = _mixed(column + seeds[j])
                if value < out[row, j]:
                    out[row, j] = value


@njit(cache=True, nogil=True)
def overlaps(indptr, indices, data, first, second, out, start, stop):
    """The share that two multisets have in common, for the pairs `start` to `stop` of rows.

    Equivalent to ``out[i] = minimum(a, b).sum() / maximum(a, b).sum()`` for the rows
    ``a = X[first[i]]`` and ``b = X[second[i]]``. Columns of a row rise.
    """
    for i in range(start, stop):
        a, a_end = indptr[first[i]], indptr[first[i] + 1]
        b, b_end = indptr[second[i]], indptr[second[i] + 1]
        both, either = 0.0, 0.0
        while a < a_end and b < b_end:
            if indices[a] == indices[b]:
                both += min(data[a], data[b])
                either += max(data[a], data[b])
                a += 1
                b += 1
            elif indices[a] < indices[b]:
                either += data[a]
                a += 1
            else:
                either += data[b]
                b += 1
        for e in range(a, a_end):
            either += data[e]
        for e in range(b, b_end):
            either += data[e]
        out[i] = both / either if either > 0 else 0.0


@njit(cache=True, nogil=True)
def _mixed(state):
    """The finalizer of splitmix64."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


if config.DISABLE_JIT:  # NumPy warns of an overflow that is intended
    _mixed = np.errstate(over="ignore")(_mixed)
    signatures = np.errstate(over="ignore")(signatures)
