r"""Whitening a symmetric matrix: :math:`W^\top A W = I` on the space of its largest eigenvalues.

Where :math:`A = \sum_i w_i \mu_i \mu_i^\top` has rank K, the vectors
:math:`\sqrt{w_i}\,W^\top \mu_i` are orthonormal, so W turns a moment tensor
:math:`\sum_i w_i\,\mu_i \otimes \mu_i \otimes \mu_i` into an orthogonal one of size K x K x K
(Anandkumar et al. 2014, section 4.3). With :math:`A = U \Lambda U^\top`,

.. math:: W = U \Lambda^{-1/2}, \qquad B = A W = U \Lambda^{1/2}, \qquad W^\top B = I,

and B carries vectors back: :math:`B W^\top \mu_i = \mu_i`.

Of a large A, only products are used. Its eigenvectors come from a block Krylov space, the span of
:math:`A \Omega, A^2 \Omega, \dots` (Musco and Musco 2015). As A is symmetric, each power costs one
product, half of what an SVD needs. The space grows until the residuals
:math:`\|A u - \lambda u\|` of the wanted pairs are small. If A has rank K, the answer is exact as
soon as the space has K dimensions.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from eigentext import engine
from eigentext.errors import ParameterError
from eigentext.factor import arguments
from eigentext.factor.svd import largest_pairs, thin_qr
from eigentext.matrices.products import Factorable, factorable, rows_times, transposed_times

_BLOCK = 32  # columns of a product with A
_SMALL = 512  # up to this many rows, LAPACK is exact and fast
_NEXT = 8  # dropped eigenvalues to report
_NOT_FINITE = "the matrix to whiten has numbers that are not finite"
_ROUNDINGS = 100  # a number counts as zero up to this many roundings of the largest


class Whitening(NamedTuple):
    """What :func:`whiten` returns."""

    W: np.ndarray  # (d, r), W' A W = I
    B: np.ndarray  # (d, r), A W (up to the residual), which maps back: W' B = I
    eigenvalues: np.ndarray  # (r,), falling
    dropped: np.ndarray  # the next few, as far as they are known
    rank: int  # r, at most the rank that was asked for
    residual: float  # the largest ||A u - lambda u|| / lambda


def whiten(
    A: Any,
    rank: int,
    *,
    cutoff: float = 1e-10,
    tol: float = 1e-5,
    start: np.ndarray | None = None,
    random_state: int | np.random.Generator | None = 0,
) -> Whitening:
    """Whiten the space of the `rank` largest eigenvalues of a symmetric A.

    Parameters
    ----------
    A : array, scipy sparse matrix, LinearOperator or Factorable, shape (d, d)
        A symmetric matrix. If noise makes it indefinite, only positive eigenvalues count.
    rank : int
        At most d.
    cutoff : float
        Eigenvalues up to `cutoff` times the largest count as zero, and so do those that the
        precision of A cannot distinguish from zero. This removes rounding errors, not noise.
    tol : float
        For a large A: the residual to reach, as a part of the eigenvalue. The angle between the
        computed space and the true one is about as large.
    start : array, shape (d, any), optional
        Columns to begin with, such as the W of a similar matrix. Then fewer products are needed.
    random_state : int or Generator
        For a random start; the same seed gives the same bits on any number of threads.

    Returns
    -------
    Whitening
        ``W, B, eigenvalues, dropped, rank, residual``

    Examples
    --------
    >>> import numpy as np
    >>> from eigentext.factor import whiten
    >>> mu = np.array([[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]])
    >>> A = mu.T @ np.diag([0.4, 0.6]) @ mu
    >>> found = whiten(A, 3)
    >>> found.rank
    2
    >>> np.allclose(found.W.T @ A @ found.W, np.eye(2))
    True
    >>> np.allclose(found.B @ found.W.T @ mu.T, mu.T)
    True
    """
    A = _checked(A, rank)
    cutoff, tol = arguments.number("cutoff", cutoff, least=0), arguments.number("tol", tol, above=0)
    random_state = arguments.seed(random_state)
    cutoff = max(cutoff, _ROUNDINGS * float(np.finfo(A.dtype).eps))
    # One BLAS thread: see eigentext.matrices.products on equal bits.
    with engine.one_blas_thread():
        if A.shape[0] <= max(_SMALL, 2 * rank):
            values, U, residuals = _exact(A, rank)
        else:
            values, U, residuals = _krylov(A, rank, tol, start, random_state)
        usable = int((values[:rank] > cutoff * max(values[0], 0.0)).sum())
        if usable == 0:
            raise ParameterError("a matrix without a positive eigenvalue cannot be whitened")
        values, dropped = values[:usable], values[usable:]
        residual = float((residuals[:usable] / values).max())
        U, roots = U[:, :usable], np.sqrt(values)
        return Whitening(U / roots, U * roots, values, dropped, usable, residual)


def _exact(A: Factorable, rank: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    d = A.shape[0]
    full = _times(A, np.eye(d))
    values, U = largest_pairs((full + full.T) / 2, min(rank + _NEXT, d))
    return values[::-1], _signed(U[:, ::-1]), np.zeros(len(values))


def _krylov(
    A: Factorable, rank: int, tol: float, first: np.ndarray | None, random_state: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rayleigh-Ritz on the powers of A: eigenvalues, eigenvectors and their residuals.

    Q is the basis, H = Q' A Q. All of A Q is in the span of Q except the product Y of the last
    block, whose part outside has the triangular factor R. So ||A u - lambda u|| = ||R z|| for
    u = Q z, with z cut to that block.
    """
    d = A.shape[0]
    most = min(d, 10 * (rank + _BLOCK))
    eps = _ROUNDINGS * float(np.finfo(A.dtype).eps)
    tol = max(tol, eps)
    Q = np.empty((d, most), order="F")  # the unused part takes no memory
    H = np.zeros((most, most))
    if first is None:
        first = np.random.default_rng(random_state).standard_normal((d, min(_BLOCK, most)))
    block, _ = thin_qr(_times(A, first[:, :most]))
    size = 0
    with engine.phase("factor", most, "dimensions") as advance:
        while True:
            start, size = size, size + block.shape[1]
            Q[:, start:size] = block
            C, Y = _split(Q[:, :size], _times(A, block), start)
            H[:size, start:size], H[start:size, :size] = C, C.T
            advance(size - start)
            block, R = _basis(Q[:, :size], Y, eps * np.abs(H[:size, :size]).max())
            ended = block.shape[1] == 0 or size == most
            if ended or size >= rank:
                values, Z = largest_pairs(H[:size, :size], min(rank + _NEXT, size))
                values, Z = values[::-1], Z[:, ::-1]
                residuals = np.linalg.norm(R @ Z[start:], axis=0)
                allowed = tol * np.maximum(values, tol * values[0])
                if ended or (residuals <= allowed)[:rank].all():
                    U = rows_times(Q[:, :size], np.ascontiguousarray(Z[:, :rank]))
                    return values, _signed(U), residuals
            block = block[:, : most - size]


def _times(A: Factorable, X: np.ndarray) -> np.ndarray:
    Y = A.times(np.ascontiguousarray(X, A.dtype)).astype(np.float64)
    if not np.isfinite(Y).all():
        raise ParameterError(_NOT_FINITE)
    return Y


def _split(Q: np.ndarray, Y: np.ndarray, start: int) -> tuple[np.ndarray, np.ndarray]:
    """C = Q' Y, and Y - Q C, the part outside of Q.

    In a Krylov space Y has parts in the last two blocks, and elsewhere only rounding errors. So
    these two blocks are subtracted first, and one pass over all of Q is the second pass, which
    "is enough" (Parlett 1998).
    """
    C = np.zeros((Q.shape[1], Y.shape[1]))
    for part in (slice(max(2 * start - Q.shape[1], 0), None), slice(None)):
        c = transposed_times(Q[:, part], Y)
        Y -= rows_times(Q[:, part], c)
        C[part] += c
    return C, Y


def _basis(Q: np.ndarray, Y: np.ndarray, zero: float) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal columns, orthogonal to Q, that span Y except lengths below `zero`; R of Y."""
    block, R = thin_qr(Y)
    directions, lengths, _ = np.linalg.svd(R)
    kept = lengths > zero
    if not kept.any():
        return block[:, :0], R
    if not kept.all() or lengths[-1] < 1e-6 * lengths[0]:  # short ones may point back into Q
        block = rows_times(block, np.ascontiguousarray(directions[:, kept]))
        block -= rows_times(Q, transposed_times(Q, block))
        block, _ = thin_qr(block)
    return block, R


def _signed(U: np.ndarray) -> np.ndarray:
    """Each column with its largest entry positive."""
    return U * np.where(U.max(axis=0) >= -U.min(axis=0), 1.0, -1.0)


def _checked(A: Any, rank: int) -> Factorable:
    A = A if hasattr(A, "shape") else arguments.numeric(A, "A")
    if len(A.shape) != 2 or A.shape[0] != A.shape[1]:
        raise ParameterError(f"only a square matrix can be whitened, not one of shape {A.shape}")
    arguments.whole("rank", rank, most=A.shape[0])
    if sp.issparse(A) or hasattr(A, "__array__"):
        largest = abs(A).max()
        if not np.isfinite(largest):
            raise ParameterError(_NOT_FINITE)
        if abs(A - A.T).max() > 1e-6 * largest:
            raise ParameterError(
                "only a symmetric matrix can be whitened: average it with its transpose"
            )
    return factorable(A)
