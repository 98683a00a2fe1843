"""The compiled loop of the proportions of documents: EM, and then Newton's method.

For one document with counts x, topics as the columns of B, pseudo-counts alpha and N = sum(x) +
sum(alpha), the maximum of ``x @ log(B @ theta) + alpha @ log(theta)`` on the simplex is also that
of ``F = x @ log(B @ theta) + alpha @ log(theta) - N * theta.sum()`` without a constraint: if all
derivatives are zero, ``theta @ (grad F) = 0`` says that the sum is 1. And because F is concave,
``max(grad F)`` bounds what is left to gain, for any theta with the sum 1. Iteration stops by this
bound, which needs no logarithm.

A few steps of EM find the topics that have more expected tokens than pseudo-counts. For these,
Newton's method solves a small linear system. Each other topic has hardly any tokens, and its own
equation gives ``theta = alpha / (N - g)``, where ``g = B.T @ (x / (B @ theta))``. If a step went
too far, which the slope at its end tells, it is cut back, and a step of EM follows.
"""

import numpy as np

from eigentext.engine.compiled import njit
from eigentext.engine.intrinsics import ROW_WIDTH as WIDTH
from eigentext.engine.intrinsics import add_multiple, add_products, dot

_FIRST = 24  # steps of EM, which are quick, before the first step of Newton
_TOKENS = 0.05  # expected tokens from which on a topic is in the linear system
_NEWTON = 40  # steps, after which only EM goes on: it always gains
_TOO_FAR = -0.5  # the slope at the end of a step, as a share of that at its start
_SHRINK = 0.1  # a step leaves a topic at least this share of its proportion
_SINGULAR = 1e-12  # a smaller pivot, as a share of the diagonal, is rounding
_FEW = 0.75  # the most of N that g may be, if the topic's own equation gives its proportion


def padded(matrix: np.ndarray) -> np.ndarray:
    """Return a copy in float64, with columns of zeros up to a multiple of `WIDTH`."""
    wide = np.zeros((len(matrix), matrix.shape[1] + -matrix.shape[1] % WIDTH))
    wide[:, : matrix.shape[1]] = matrix
    return wide


@njit(cache=True, nogil=True)
def fit_documents(indptr, indices, counts, s, alpha, theta, n_steps, tol, start, stop):
    """Equivalent, for each row f from start to stop, to maximizing
    ``C[f] @ log(s @ theta[f]) + alpha @ log(theta[f])`` on the simplex, from the given theta, until
    no more than ``tol * C[f].sum()`` is left to gain.

    `s` and `theta` have zeros up to a multiple of `WIDTH` columns; `alpha` has none. Words of
    probability zero are passed over. Returns the number of rows that needed more than `n_steps`.
    """
    K, wide = len(alpha), s.shape[1]
    longest = 0
    for f in range(start, stop):
        longest = max(longest, indptr[f + 1] - indptr[f])
    B = np.empty((longest, wide))
    x, p, g = np.empty(longest), np.empty(longest), np.empty(wide)
    A, move, active = np.empty(longest * wide), np.empty(wide), np.zeros(wide, np.int64)
    H, L, d = np.empty(wide * wide), np.empty((wide, wide)), np.empty(wide)
    n_unfinished = 0
    for f in range(start, stop):
        m = theta[f]
        n_words, n, N = indptr[f + 1] - indptr[f], 0.0, 0.0
        for e in range(n_words):
            row = s[indices[indptr[f] + e]]
            for k in range(wide):
                B[e, k] = row[k]
            x[e] = counts[indptr[f] + e]
        slope, n_newton, by_em, done = 0.0, 0, _FIRST, False
        for _ in range(n_steps):
            n = _gradient(B, x, p, g, m, n_words, wide)
            N = n
            for k in range(K):
                N += alpha[k]
            if n == 0 or _left(g, alpha, m, K) - N <= tol * n:
                done = True
                break
            end = _slope(g, alpha, m, move, N, K) if slope > 0 else 0.0
            if end < _TOO_FAR * slope:
                back = end / (end - slope)
                for k in range(K):
                    m[k] -= back * move[k]
                slope, by_em = 0.0, 1
                continue
            slope = 0.0
            if by_em == 0 and n_newton < _NEWTON:
                n_newton += 1
                slope = _newton(B, x, p, g, alpha, m, move, active, A, H, L, d, n_words, N, K)
            if slope <= 0:
                _em(g, alpha, m, K)
                by_em = max(by_em - 1, 0)
        if not done:
            n_unfinished += 1
    return n_unfinished


@njit(cache=True, nogil=True)
def _gradient(B, x, p, g, m, n_words, wide):
    """Equivalent to ``p = B @ m; g = B.T @ (x / p)``. Returns the sum of x where p is positive."""
    n = 0.0
    for k in range(wide):
        g[k] = 0.0
    for e in range(n_words):
        p[e] = dot(m, B[e], wide)
        if p[e] > 0:
            n += x[e]
            add_multiple(x[e] / p[e], B[e], g, wide)
    return n


@njit(cache=True, nogil=True)
def _left(g, alpha, m, K):
    """Equivalent to ``max(g + alpha / m)``, where alpha is positive, and else g."""
    most = 0.0
    for k in range(K):
        most = max(most, g[k] + alpha[k] / m[k] if alpha[k] > 0 else g[k])
    return most


@njit(cache=True, nogil=True)
def _slope(g, alpha, m, move, N, K):
    """Equivalent to ``move @ (g + alpha / m - N)``."""
    total = 0.0
    for k in range(K):
        if move[k] != 0:
            total += move[k] * ((g[k] + alpha[k] / m[k] if alpha[k] > 0 else g[k]) - N)
    return total


@njit(cache=True, nogil=True)
def _em(g, alpha, m, K):
    """Equivalent to ``m = (alpha + m * g) / (alpha + m * g).sum()``."""
    total = 0.0
    for k in range(K):
        m[k] = alpha[k] + m[k] * g[k]
        total += m[k]
    for k in range(K):
        m[k] /= total


@njit(cache=True, nogil=True)
def _newton(B, x, p, g, alpha, m, move, active, A, H, L, d, n_words, N, K):
    """Move m by a step of Newton for topics that have tokens, and by its own equation for others.

    Returns the slope of F along the move. If it is not positive, m did not change.
    """
    n = 0
    for k in range(K):
        move[k] = 0.0
        if m[k] * g[k] > max(alpha[k], _TOKENS):
            active[n] = k
            n += 1
        elif g[k] < _FEW * N:
            move[k] = alpha[k] / (N - g[k]) - m[k]
        else:
            move[k] = (alpha[k] + m[k] * g[k]) / N - m[k]
    wide = n + -n % WIDTH
    for e in range(n_words):
        root = np.sqrt(x[e]) / p[e] if p[e] > 0 else 0.0
        for i in range(wide):
            A[e * wide + i] = root * B[e, active[i]] if i < n else 0.0
    for i in range(wide * wide):
        H[i] = 0.0
    add_products(A, A, H, 0, n_words, wide, wide)
    for i in range(n):
        k = active[i]
        H[i * wide + i] += alpha[k] / (m[k] * m[k])
        d[i] = g[k] + alpha[k] / m[k] - N
    if not _solve(H, L, d, n, wide):
        return 0.0
    total = 0.0
    for i in range(n):
        k = active[i]
        move[k] = max(d[i], (_SHRINK - 1) * m[k])
    for k in range(K):
        total += m[k] + move[k]
    for k in range(K):
        move[k] = (m[k] + move[k]) / total - m[k]
    slope = _slope(g, alpha, m, move, N, K)
    if slope > 0:
        for k in range(K):
            m[k] += move[k]
    return slope


@njit(cache=True, nogil=True)
def _solve(H, L, d, n, wide):
    """Equivalent to ``d[:n] = solve(H, d[:n])`` by Cholesky: H is ``L @ L.T``.

    Only the lower triangle of H is read. Returns False if H is not positive definite.
    """
    for i in range(n):
        row = L[i]
        for j in range(wide):
            row[j] = 0.0
        for j in range(i + 1):
            # The rest of the row is still zero, so the product may be longer.
            total = H[i * wide + j] - dot(row, L[j], j + -j % WIDTH)
            if j < i:
                row[j] = total / L[j, j]
            elif total > _SINGULAR * H[i * wide + i]:
                row[i] = np.sqrt(total)
            else:
                return False
    for i in range(n):
        for k in range(i):
            d[i] -= L[i, k] * d[k]
        d[i] /= L[i, i]
    for i in range(n - 1, -1, -1):
        d[i] /= L[i, i]
        for k in range(i):
            d[k] -= d[i] * L[i, k]
    return True
