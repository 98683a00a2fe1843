r"""Rectification: the nearest matrix of low rank that can be a joint distribution.

A matrix Q of joint probabilities that comes from m states is nonnegative, positive semidefinite, of
rank m, and its rows sum to p. An estimate from samples is not of rank m, and its part of rank m has
negative entries. Then the rows are not in the hull of m corners, and methods that look for corners
(:func:`eigentext.factor.anchors`) find outliers. Lee, Bindel and Mimno (2015) project Q on the
three sets in turn, until it is in all of them. That takes a dense matrix and all its eigenvectors.

Here the matrix is scaled, :math:`S = D^{-1/2} Q D^{-1/2}` with D the diagonal of p, and it is never
made: only its factor B (d x m) with :math:`S \approx B B^\top` is kept, as in the "ENN" method of
Lee, Cho, Dong, Mimno and Bindel (2021). The sums of the rows are a third condition,
:math:`S s = t` for :math:`s = \sqrt p`. A round makes

.. math:: M = B B^\top + N + \frac{r s^\top + s r^\top}{s^\top s}
    - \frac{s^\top r}{(s^\top s)^2}\, s s^\top,

where :math:`N = \max(-B B^\top, 0)` removes negative entries, and :math:`r = t - (B B^\top + N) s`.
The last two terms are the projection on the symmetric matrices with M s = t. (The papers correct
the sum of all entries only.) Then B becomes a factor of the Nyström approximation

.. math:: B B^\top \leftarrow (M B)\,(B^\top M B)^{-1}\,(M B)^\top,

which is one step of subspace iteration to the best approximation of rank m. It is positive
semidefinite, and a matrix in all three sets does not change. N is never stored either: blocks of
its rows are made, multiplied by B and forgotten. So memory grows with d m and not with
:math:`d^2`. A round takes time in proportion to :math:`d^2 m`.
"""

from typing import NamedTuple

import numpy as np

from eigentext import engine
from eigentext.factor import arguments
from eigentext.matrices.products import rows_times, transposed_times

_ROWS = 256  # the rows of N that one task makes
_EPS = np.float32(2e-6)  # a cosine that is above this, times -1, is a rounding error


class Rectified(NamedTuple):
    """What :func:`rectify` returns."""

    B: np.ndarray  # (d, m), with orthogonal columns, the longest first
    negative: list[float]  # ||N|| / ||B B'|| before each round


def rectify(
    B: np.ndarray, s: np.ndarray, t: np.ndarray, *, n_rounds: int = 15, tol: float = 1e-3
) -> Rectified:
    """Move B B' towards the nonnegative matrices M with M s = t.

    Parameters
    ----------
    B : array, shape (d, m)
        A factor of a positive semidefinite matrix of rank m.
    s, t : arrays, shape (d,)
        Vectors without negative entries, such as the square roots of the sums of rows.
    n_rounds : int
        The largest number of rounds.
    tol : float
        Rounds stop when the norm of the negative entries is at most this share of the norm of all,
        and M s is as near to t.

    Returns
    -------
    Rectified
        ``B, negative``

    Examples
    --------
    >>> import numpy as np
    >>> B = np.array([[0.9, 0.1], [0.6, -0.5], [0.1, 0.8]])
    >>> s = np.sqrt([0.5, 0.2, 0.3])
    >>> (B @ B.T).round(2)
    array([[ 0.82,  0.49,  0.17],
           [ 0.49,  0.61, -0.34],
           [ 0.17, -0.34,  0.65]])
    >>> found = rectify(B, s, s, n_rounds=300)
    >>> M = found.B @ found.B.T
    >>> bool(M.min() > -1e-3), bool(abs(M @ s - s).max() < 1e-3)
    (True, True)
    """
    B = arguments.matrix(B, "B").astype(np.float64)
    s, t = np.asarray(s, np.float64), np.asarray(t, np.float64)
    with engine.one_blas_thread():  # for equal bits: see matrices.products
        negative = list[float]()
        norm = float(s @ s)
        for _ in range(n_rounds):
            size = float(np.linalg.norm(transposed_times(B, B)))
            X = np.column_stack([B, s])
            N, below = negative_times(B, X)
            negative.append(below / (size or 1.0))
            M = rows_times(B, transposed_times(B, X)) + N
            r = t - M[:, -1]
            if negative[-1] <= tol and np.linalg.norm(r) <= tol * np.linalg.norm(t):
                break
            b, e = B.T @ s, B.T @ r
            sums = np.outer(r, b) + np.outer(s, e) - np.outer(s, (s @ r) / norm * b)
            B = _nystrom(B, M[:, :-1] + sums / norm)
        U, values, _ = np.linalg.svd(B, full_matrices=False)
    return Rectified(U * values, negative)


def _nystrom(B: np.ndarray, M: np.ndarray) -> np.ndarray:
    """A factor of M (B' M)^+ M' for M the product of a symmetric matrix and B."""
    H = transposed_times(B, M)
    values, U = np.linalg.eigh((H + H.T) / 2)
    kept = values > 1e-12 * values.max()
    return rows_times(M, np.ascontiguousarray(U[:, kept] / np.sqrt(values[kept])))


def negative_times(B: np.ndarray, X: np.ndarray) -> tuple[np.ndarray, float]:
    """Return ``N @ X`` and ``norm(N)`` for ``N = maximum(-B @ B.T, 0)``, without making N.

    It computes in single precision. Entries of N count only if they exceed the rounding errors.
    """
    norms = np.sqrt((B**2).sum(axis=1))
    unit = np.divide(B, norms[:, None], out=np.zeros_like(B), where=norms[:, None] > 0)
    unit = np.ascontiguousarray(unit, np.float32)
    across = np.ascontiguousarray(unit.T)
    scaled = np.ascontiguousarray(norms[:, None] * X, np.float32)
    squares = (norms**2).astype(np.float32)
    result = np.empty(X.shape)

    def work(start: int) -> float:
        rows = slice(start, start + _ROWS)
        N = unit[rows] @ across
        N += _EPS
        np.minimum(N, 0, out=N)
        result[rows] = -norms[rows, None] * (N @ scaled)
        N *= N
        return float(squares[rows] @ (N @ squares))

    size = sum(engine.current().map(work, range(0, len(B), _ROWS)))
    return result, float(np.sqrt(size))
