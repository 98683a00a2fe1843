"""The nearest point of a simplex, by Wolfe's (1976) finite version of Frank-Wolfe."""

import numpy as np

from eigentext.engine.compiled import njit


@njit(cache=True, nogil=True)
def nearest_in_simplex(G, B, shift, tolerance, max_iter, weights, gaps, start, stop):
    """Equivalent, for rows from start to stop, to
    ``weights[i] = argmin(y @ G @ y / 2 - B[i] @ y for y >= 0 if sum(y) == 1)``.

    G is the Gram matrix of the vertices; adding `shift` to all of it, which changes nothing where
    the sum is one, makes the part of any affinely independent vertices positive definite.
    gaps[i] is the duality gap ``y @ g - min(g)`` of the gradient g at the answer.

    The point is a mixture of a "corral" of vertices. In each step the vertex of least gradient
    (that of Frank and Wolfe) joins the corral. Then the point moves to the best point of the
    corral's affine hull, and the corral loses a vertex if the point would leave the simplex. L is
    the Cholesky factor of the corral's Gram matrix.
    """
    m = G.shape[0]
    y, z, u, one, g = np.empty(m), np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    corral = np.empty(m, np.int64)
    L = np.empty((m, m))
    for row in range(start, stop):
        best = 0
        for h in range(1, m):
            if G[h, h] / 2 - B[row, h] < G[best, best] / 2 - B[row, best]:
                best = h
        corral[0], y[0], size = best, 1.0, 1
        L[0, 0] = np.sqrt(G[best, best] + shift)
        gap = 0.0
        for _ in range(max_iter):
            for h in range(m):
                g[h] = -B[row, h]
            for a in range(size):
                for h in range(m):
                    g[h] += y[a] * G[corral[a], h]
            least = 0
            for h in range(1, m):
                if g[h] < g[least]:
                    least = h
            gap = -g[least]
            for a in range(size):
                gap += y[a] * g[corral[a]]
            if gap <= tolerance or size == m:
                break
            known = False
            for a in range(size):
                known = known or corral[a] == least
            if known:  # only rounding errors are left
                break
            corral[size], y[size] = least, 0.0
            if not extend_cholesky(G, shift, corral, L, size):
                break
            size += 1
            while True:
                minimize_affine(L, B, row, corral, size, z, u, one)
                step, leaves = 1.0, -1
                for a in range(size):
                    if z[a] <= 0.0 and y[a] - z[a] > 0.0 and y[a] <= step * (y[a] - z[a]):
                        step, leaves = y[a] / (y[a] - z[a]), a
                for a in range(size):
                    y[a] += step * (z[a] - y[a])
                if leaves < 0:
                    break
                size -= 1
                for a in range(leaves, size):
                    corral[a], y[a] = corral[a + 1], y[a + 1]
                for a in range(leaves, size):
                    extend_cholesky(G, shift, corral, L, a)
        for h in range(m):
            weights[row, h] = 0.0
        for a in range(size):
            weights[row, corral[a]] = max(y[a], 0.0)
        gaps[row] = gap


@njit(cache=True, nogil=True)
def extend_cholesky(G, shift, corral, L, k):
    """One more row of L; False if the new vertex lies in the affine hull of those before."""
    for a in range(k):
        total = G[corral[k], corral[a]] + shift
        for b in range(a):
            total -= L[k, b] * L[a, b]
        L[k, a] = total / L[a, a]
    square = G[corral[k], corral[k]] + shift
    rest = square
    for a in range(k):
        rest -= L[k, a] * L[k, a]
    L[k, k] = np.sqrt(max(rest, 1e-15 * square))
    return rest > 1e-14 * square


@njit(cache=True, nogil=True)
def minimize_affine(L, B, row, corral, size, z, u, one):
    """The best weights z of sum one, of any sign: u + t * one, L L' u = B and L L' one = 1."""
    for a in range(size):
        p, q = B[row, corral[a]], 1.0
        for b in range(a):
            p -= L[a, b] * u[b]
            q -= L[a, b] * one[b]
        u[a], one[a] = p / L[a, a], q / L[a, a]
    for a in range(size - 1, -1, -1):
        p, q = u[a], one[a]
        for b in range(a + 1, size):
            p -= L[b, a] * u[b]
            q -= L[b, a] * one[b]
        u[a], one[a] = p / L[a, a], q / L[a, a]
    total, ones = 0.0, 0.0
    for a in range(size):
        total += u[a]
        ones += one[a]
    for a in range(size):
        z[a] = u[a] + (1.0 - total) / ones * one[a]
