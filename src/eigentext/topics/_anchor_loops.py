r"""Exponentiated gradient on the simplex (Kivinen and Warmuth 1997), as Arora et al. (2013) use it.

A step multiplies the weights by :math:`e^{-\eta g_k}`, for the gradient g, and normalizes them. It
minimizes the bound :math:`f + g^\top (y - x) + KL(y\,\|\,x)/\eta`. If the objective at the new
weights is below this bound, the step is accepted and the rate :math:`\eta` grows by a half.
Otherwise, the rate falls to a quarter. The loop ends when the duality gap
:math:`x^\top g - \min_k g_k` is small enough. The gap bounds the distance of a convex objective
from its minimum.
"""

import numpy as np

from eigentext.engine.compiled import njit


@njit(cache=True, nogil=True)
def descend_squares(G, B, weights, gaps, n_iter, tolerance, start, stop):
    """Equivalent, for rows from start to stop and to the gap `tolerance`, to
    ``weights[i] = argmin(y @ G @ y / 2 - B[i] @ y for y >= 0 if sum(y) == 1)``.

    It starts from the given weights, which must all be above zero.
    """
    m = G.shape[0]
    y, g, h = np.empty(m), np.empty(m), np.empty(m)
    for row in range(start, stop):
        rate = 1.0
        f = square(G, B, row, weights, row, g)
        for _ in range(n_iter):
            gaps[row] = duality_gap(weights, row, g)
            if gaps[row] <= tolerance or rate < 1e-300:
                break
            bound = f + tilt(weights, row, g, rate, y)
            lower = square(G, B, row, y.reshape((1, m)), 0, h)
            if lower <= bound:
                f, rate = lower, 1.5 * rate
                for k in range(m):
                    weights[row, k], g[k] = y[k], h[k]
            else:
                rate /= 4
        gaps[row] = duality_gap(weights, row, g)


@njit(cache=True, nogil=True)
def descend_divergences(
    indptr, indices, data, corners, weights, gaps, divergences, n_iter, tolerance
):
    """Equivalent, to the gap `tolerance`, to ``weights[i] = argmin(KL(q, corners @ y))`` over
    y >= 0 of sum one, where q is the row i of the CSR matrix, divided by its sum.

    It starts from the given weights. If they are not good enough, it starts from nine tenths of
    them and one tenth of uniform weights, because it cannot leave a zero. Columns that are zero in
    all corners are skipped: their divergence is infinite for all weights. ``divergences[i]`` is the
    divergence of the answer.
    """
    m = corners.shape[1]
    y, g, h = np.empty(m), np.empty(m), np.empty(m)
    for row in range(len(indptr) - 1):
        first, last = indptr[row], indptr[row + 1]
        total = 0.0
        for e in range(first, last):
            total += data[e]
        gaps[row] = divergences[row] = 0.0
        if total <= 0.0:
            continue
        rate = 1.0
        f = divergence(first, last, indices, data, total, corners, weights, row, g)
        if f == np.inf or duality_gap(weights, row, g) > tolerance:
            for k in range(m):
                weights[row, k] = 0.9 * weights[row, k] + 0.1 / m
            f = divergence(first, last, indices, data, total, corners, weights, row, g)
        for _ in range(n_iter):
            gaps[row] = duality_gap(weights, row, g)
            if gaps[row] <= tolerance or rate < 1e-300:
                break
            bound = f + tilt(weights, row, g, rate, y)
            lower = divergence(first, last, indices, data, total, corners, y.reshape((1, m)), 0, h)
            if lower <= bound:
                f, rate = lower, 1.5 * rate
                for k in range(m):
                    weights[row, k], g[k] = y[k], h[k]
            else:
                rate /= 4
        gaps[row] = duality_gap(weights, row, g)
        divergences[row] = f


@njit(cache=True, nogil=True)
def square(G, B, row, X, i, g):
    """Return ``x @ G @ x / 2 - B[row] @ x`` for x = X[i], and its gradient in g."""
    m = G.shape[0]
    for k in range(m):
        g[k] = 0.0
    for a in range(m):
        for k in range(m):
            g[k] += X[i, a] * G[a, k]
    f = 0.0
    for k in range(m):
        f += X[i, k] * (g[k] / 2 - B[row, k])
        g[k] -= B[row, k]
    return f


@njit(cache=True, nogil=True)
def divergence(first, last, indices, data, total, corners, X, i, g):
    """Return KL(data[first:last] / total, corners @ X[i]), and its gradient in g.

    It is inf if a column that some corner has gets no probability.
    """
    m = corners.shape[1]
    for k in range(m):
        g[k] = 0.0
    f = 0.0
    for e in range(first, last):
        q, j = data[e] / total, indices[e]
        p = 0.0
        for k in range(m):
            p += X[i, k] * corners[j, k]
        if q > 0.0 and p > 0.0:
            ratio = q / p
            f += q * np.log(ratio)
            for k in range(m):
                g[k] -= ratio * corners[j, k]
        elif q > 0.0:
            for k in range(m):
                if corners[j, k] > 0.0:
                    return np.inf
    return f


@njit(cache=True, nogil=True)
def tilt(X, i, g, rate, y):
    """Set ``y = x * exp(-rate * g)``, with the sum 1, for x = X[i].

    Return ``g @ (y - x) + KL(y, x) / rate``.
    """
    m = len(g)
    least = g[0]
    for k in range(1, m):
        least = min(least, g[k])
    total, mean = 0.0, 0.0
    for k in range(m):
        y[k] = X[i, k] * np.exp(-rate * (g[k] - least))
        total += y[k]
        mean += X[i, k] * g[k]
    for k in range(m):
        y[k] /= total
    return least - mean - np.log(total) / rate


@njit(cache=True, nogil=True)
def duality_gap(X, i, g):
    """Return ``x @ g - min(g)`` for x = X[i]."""
    mean, least = 0.0, g[0]
    for k in range(len(g)):
        mean += X[i, k] * g[k]
        least = min(least, g[k])
    return mean - least
