"""One sweep of Jacobi rotations over the slices of a symmetric tensor."""

import numpy as np

from eigentext.engine.compiled import njit


@njit(cache=True, nogil=True)
def jacobi_sweep(D, V):
    """Rotate each pair of axes to where the slices ``D[:, :, k]`` are jointly most diagonal.

    Equivalent, for all pairs p < q, to ``V[[p, q]] = R @ V[[p, q]]`` and the same for rows and
    columns of every slice, R the rotation by the angle that maximises the sum of squares on the
    diagonals (Cardoso and Souloumiac 1996). Only ``D[i, j]`` for i <= j is read or written.
    Returns the largest sine; one of a rounding is not worth a rotation.
    """
    K, n = D.shape[0], D.shape[2]
    largest = 0.0
    for p in range(K):
        for q in range(p + 1, K):
            on = 0.0
            off = 0.0
            for k in range(n):
                difference = D[p, p, k] - D[q, q, k]
                double = 2.0 * D[p, q, k]
                on += difference * difference - double * double
                off += 2.0 * difference * double
            angle = 0.5 * np.arctan2(off, on + np.sqrt(on * on + off * off))
            c, s = np.cos(angle), np.sin(angle)
            largest = max(largest, abs(s))
            if abs(s) < 1e-16:
                continue
            for k in range(n):
                pp, pq, qq = D[p, p, k], D[p, q, k], D[q, q, k]
                D[p, p, k] = c * c * pp + 2.0 * c * s * pq + s * s * qq
                D[q, q, k] = s * s * pp - 2.0 * c * s * pq + c * c * qq
                D[p, q, k] = (c * c - s * s) * pq + c * s * (qq - pp)
            for i in range(K):
                if i != p and i != q:
                    a, b = min(i, p), max(i, p)
                    e, f = min(i, q), max(i, q)
                    for k in range(n):
                        one, two = D[a, b, k], D[e, f, k]
                        D[a, b, k] = c * one + s * two
                        D[e, f, k] = c * two - s * one
            for k in range(V.shape[1]):
                one, two = V[p, k], V[q, k]
                V[p, k] = c * one + s * two
                V[q, k] = c * two - s * one
    return largest
