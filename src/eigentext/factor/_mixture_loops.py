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
def fit_rows(indptr, indices, counts, s, alpha, r, n_iter, tol, start, stop):
    """Equivalent, for each row f from start to stop by itself, to EM for ``r[f]`` alone:
    ``E = alpha + C[f] / (r[f] @ s.T) @ (r[f] * s)``, ``r[f] = E / E.sum()``, at most n_iter times,
    as long as ``C[f] @ log(r[f] @ s.T) + alpha @ log(r[f])`` gains more than ``tol * C[f].sum()``.

    Pairs of probability zero are passed over.
    """
    m = r.shape[1]
    expected = np.empty(m)
    for f in range(start, stop):
        n = 0.0
        for e in range(indptr[f], indptr[f + 1]):
            n += counts[e]
        before = -np.inf
        for _ in range(n_iter):
            total, mass = 0.0, 0.0
            for h in range(m):
                expected[h] = 0.0
                if alpha[h] > 0:
                    total += alpha[h] * np.log(r[f, h])
            for e in range(indptr[f], indptr[f + 1]):
                p = probability(r, f, s, indices[e])
                if p > 0:
                    total += counts[e] * np.log(p)
                    ratio = counts[e] / p
                    for h in range(m):
                        expected[h] += ratio * s[indices[e], h]
            if not total - before > tol * n:
                break
            before = total
            for h in range(m):
                expected[h] = alpha[h] + expected[h] * r[f, h]
                mass += expected[h]
            if mass > 0:
                for h in range(m):
                    r[f, h] = expected[h] / mass


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
