"""The two passes of an EM step for p(g|f) = sum_h r(h|f) s(g|h) over sparse counts.

Each number of the output is one sum in the order of the matrix's entries, so it does not depend on
the number of threads.
"""

import numpy as np

from eigentext.engine.compiled import njit


@njit(cache=True, nogil=True)
def probability(r, f, s, g):
    """Equivalent to ``r[f] @ s[g]``; in eight sums that one instruction can add."""
    a = b = c = d = i = j = k = n = r.dtype.type(0)
    m = r.shape[1]
    whole = m - m % 8
    for h in range(0, whole, 8):
        a += r[f, h] * s[g, h]
        b += r[f, h + 1] * s[g, h + 1]
        c += r[f, h + 2] * s[g, h + 2]
        d += r[f, h + 3] * s[g, h + 3]
        i += r[f, h + 4] * s[g, h + 4]
        j += r[f, h + 5] * s[g, h + 5]
        k += r[f, h + 6] * s[g, h + 6]
        n += r[f, h + 7] * s[g, h + 7]
    total = ((a + i) + (b + j)) + ((c + k) + (d + n))
    for h in range(whole, m):
        total += r[f, h] * s[g, h]
    return total


@njit(cache=True, nogil=True)
def pair_probabilities(fs, gs, r, s, out, start, stop):
    """Equivalent to ``out[start:stop] = (r[fs] * s[gs]).sum(axis=1)[start:stop]``."""
    for e in range(start, stop):
        out[e] = probability(r, fs[e], s, gs[e])


@njit(cache=True, nogil=True)
def expect_rows(indptr, indices, counts, r, s, ratios, left, start, stop):
    """Equivalent, for rows f from start to stop, to ``ratios = C / (r @ s.T)`` where C has counts,
    ``left = r * (ratios @ s)``; returns ``(C * log(r @ s.T)).sum()``.

    A pair of probability zero has the ratio zero, and makes the sum -inf.
    """
    m = r.shape[1]
    zero = r.dtype.type(0)
    total = 0.0
    for f in range(start, stop):
        for h in range(m):
            left[f, h] = zero
        for e in range(indptr[f], indptr[f + 1]):
            g = indices[e]
            p = probability(r, f, s, g)
            ratios[e] = zero
            if p > zero:
                total += counts[e] * np.log(np.float64(p))
                ratio = counts[e] / p
                ratios[e] = ratio
                for h in range(m):
                    left[f, h] += ratio * s[g, h]
            elif counts[e] > zero:
                total = -np.inf
        for h in range(m):
            left[f, h] *= r[f, h]
    return total


@njit(cache=True, nogil=True)
def expect_columns(indptr, indices, places, ratios, r, s, right, start, stop):
    """Equivalent to ``right[start:stop] = (s * (ratios.T @ r))[start:stop]``.

    `indptr` and `indices` are those of the transpose; its entry e is ``ratios[places[e]]``.
    """
    m = r.shape[1]
    zero = r.dtype.type(0)
    for g in range(start, stop):
        for h in range(m):
            right[g, h] = zero
        for e in range(indptr[g], indptr[g + 1]):
            ratio = ratios[places[e]]
            f = indices[e]
            for h in range(m):
                right[g, h] += ratio * r[f, h]
        for h in range(m):
            right[g, h] *= s[g, h]
