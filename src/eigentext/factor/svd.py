r"""Truncated singular value decomposition, :math:`A \approx U \Sigma V^\top`.

There are three methods:

``exact``
    LAPACK on a dense matrix.
``randomized``
    Halko, Martinsson and Tropp (2011): a random matrix :math:`\Omega` with `n_oversamples` spare
    columns, :math:`Q = \mathrm{orth}(A \Omega)`, `n_iter` power iterations
    :math:`Q \leftarrow \mathrm{orth}(A\,\mathrm{orth}(A^\top Q))`, and the SVD of the small
    :math:`Q^\top A`.
``krylov``
    Musco and Musco (2015): Q spans *all* the powers :math:`(A A^\top)^i A \Omega` of a narrow
    :math:`\Omega`, not only the last. It needs fewer products with A and comes closer to the exact
    subspace. It is a block Lanczos process: the coefficients that make a block orthogonal to those
    before it are :math:`H = Q^\top A A^\top Q`, whose eigenvectors W give :math:`U = Q W`.

Signs are fixed by U: the entry of largest magnitude in each of its columns is positive.

If the memory budget has no room for Q and U, they are on disk. They are worked through by the same
blocks of rows, so the answer has the same bits. With a checkpoint, each block is saved as soon as
it is there, and a process that was killed continues after the last one.
"""

import math
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh, solve_triangular
from scipy.linalg import svd as dense_svd

from eigentext import engine
from eigentext.errors import ParameterError
from eigentext.factor import arguments
from eigentext.factor.basis import Basis, KeptBlocks
from eigentext.matrices import budget
from eigentext.matrices.disk import Growing
from eigentext.matrices.products import (
    Factorable,
    Tall,
    factorable,
    row_blocks,
    rows_times,
    subtract_rows_times,
    transposed_times,
)
from eigentext.parameters import Choice, Count, argument
from eigentext.storage.maps import forget, is_mapped

Method = Literal["auto", "exact", "randomized", "krylov"]
Factors = tuple[np.ndarray, np.ndarray, np.ndarray]
_METHOD = Choice("auto", of=("auto", "exact", "randomized", "krylov"))
_OPTIONAL = Count(None, least=0)
_BLOCK = 32  # columns of a Krylov block
_SPARE = 1.5  # the default of spare dimensions, as a multiple of the rank: see docs/results.md
_FEWEST_BLOCKS = 10  # a small rank needs as many powers of A as a large one
_TRUSTED = 100  # an eigenvalue is reliable if it is this many roundings of the largest
_PANELS = 6  # thin matrices that are in memory at the same time
_EXACT_CELLS = 1 << 20  # up to 1024 x 1024 the exact method is also the fastest


def svd(
    A: Any,
    rank: int,
    *,
    method: Method = "auto",
    n_oversamples: int | None = None,
    n_iter: int | None = None,
    random_state: int | np.random.Generator | None = 0,
    right: bool = True,
    memory: int | None = None,
    compact: bool = False,
) -> Factors:
    """The `rank` largest singular triples of A.

    Parameters
    ----------
    A : array or lists, scipy sparse matrix, LinearOperator or Factorable, shape (n, d)
        float32 stays float32; every other type becomes float64.
    rank : int
        At most ``min(n, d)``. Singular values beyond the rank of A are (nearly) zero.
    method : "auto", "exact", "randomized" or "krylov"
        "auto" is exact for small or nearly square problems (where `rank` is a large part of
        ``min(n, d)``) and for dense arrays of moderate size, else Krylov.
    n_oversamples : int, optional
        Spare dimensions of the subspace. The default is 20 for "randomized" and one and a half
        times `rank` for "krylov".
    n_iter : int, optional
        Power iterations ("randomized": 4) or number of blocks of the Krylov space.
    random_state : int or Generator
        For the random start; the same seed gives the same bits on any number of threads.
    right : bool
        Whether Vt is needed. If not, "krylov" may save work.
    memory : int, optional
        The bytes that the whole process may take; by default the budget of
        :mod:`eigentext.matrices.budget`. "krylov" keeps on disk what would exceed it, and U and Vt
        are then maps of files without a name.
    compact : bool
        Whether "krylov" keeps its basis in 16 bits if A is float32: half the memory. The subspace
        is as close to the exact one, but singular vectors of nearly equal singular values may turn
        among themselves.

    Returns
    -------
    U : array, shape (n, rank)
    s : array, shape (rank,), falling
    Vt : array, shape (rank, d); without `right`, (0, d)

    Examples
    --------
    >>> import numpy as np
    >>> from eigentext.factor import svd
    >>> U, s, Vt = svd(np.array([[1, 1, 2], [1, 2, 2], [1, 1, 2]]), 2)
    >>> s.round(2)
    array([4.53, 0.7 ])
    """
    A = arguments.matrix(A)
    rank = arguments.whole("rank", rank, most=min(A.shape))
    method = argument("method", _METHOD, method)
    n_oversamples = argument("n_oversamples", _OPTIONAL, n_oversamples)
    n_iter = argument("n_iter", _OPTIONAL, n_iter)
    random_state = arguments.seed(random_state)
    if method == "auto":
        method = _best_method(A, rank)
    # One BLAS thread: see eigentext.matrices.products on equal bits.
    with engine.one_blas_thread(), budget.within(memory):
        match method:
            case "exact":
                U, s, Vt = _exact(A, rank)
            case "randomized":
                spare = 20 if n_oversamples is None else n_oversamples
                steps = 4 if n_iter is None else n_iter
                kept = KeptBlocks()
                U, s, Vt = _randomized(factorable(A), rank, spare, steps, random_state, kept)
            case _:
                spare = _SPARE * rank if n_oversamples is None else n_oversamples
                enough = max(_FEWEST_BLOCKS, int(-(-(rank + spare) // _BLOCK)) + 1)
                steps = min(enough, min(A.shape) // _BLOCK) if n_iter is None else n_iter
                kept = KeptBlocks()
                A = factorable(A)
                compact = compact and A.dtype == np.float32
                U, s, Vt = _krylov(A, rank, steps, random_state, right, kept, compact)
    return _fix_signs(U, s, Vt if right else Vt[:0])


def _best_method(A: Any, rank: int) -> Method:
    n, d = A.shape
    fits = (1 + _SPARE) * rank + 2 * _BLOCK < min(
        n, d
    )  # else a Krylov space is most of the whole space
    if n * d <= _EXACT_CELLS or (not fits and n * d <= 32 * _EXACT_CELLS):
        return "exact"
    return "krylov" if fits else "randomized"


def _exact(A: Any, rank: int) -> Factors:
    if sp.issparse(A):
        A = A.toarray()
    elif not hasattr(A, "__array__"):
        A = factorable(A).times(np.eye(A.shape[1], dtype=A.dtype))
    A = np.asarray(A)
    A = A.astype(A.dtype if A.dtype == np.float32 else np.float64, copy=False)
    try:
        U, s, Vt = np.linalg.svd(A, full_matrices=False)
    except np.linalg.LinAlgError:
        # The fast routine fails on some matrices with many equal rows; the older one does not.
        U, s, Vt = dense_svd(A, full_matrices=False, lapack_driver="gesvd")
    return U[:, :rank], s[:rank], Vt[:rank]


def _randomized(
    A: Factorable, rank: int, spare: int, n_iter: int, random_state: Any, kept: KeptBlocks
) -> Factors:
    width = min(rank + spare, *A.shape)
    with engine.phase("factor", n_iter + 2, "passes") as advance:
        Omega = _gaussian(A.shape[1], width, A.dtype, random_state)
        Q, _ = thin_qr(A.times(Omega))
        kept.begin(Q)
        advance(1)
        done, state = kept.last(n_iter)
        if state:
            Q = np.array(state["Q"])
            advance(done)
        for number in range(done + 1, n_iter + 1):
            Z, _ = thin_qr(A.transposed_times(Q))
            Q, _ = thin_qr(A.times(Z))
            kept.write(number, Q=Q)
            kept.drop(number - 1)
            advance(1)
        factors = _rayleigh_ritz(Q, A.transposed_times(Q), rank)
        advance(1)
    return factors


def _krylov(
    A: Factorable,
    rank: int,
    n_iter: int,
    random_state: Any,
    right: bool,
    kept: KeptBlocks,
    compact: bool = False,
) -> Factors:
    n, d = A.shape
    if d < n:  # the basis belongs to the shorter side
        V, s, Ut = _krylov(A.T, rank, n_iter, random_state, True, kept, compact)
        return Ut.T, s, V.T
    n_blocks = max(n_iter, -(-rank // _BLOCK))
    size = n_blocks * _BLOCK
    if size > n:
        raise ParameterError(
            f"a Krylov space of {n_blocks} blocks of {_BLOCK} does not fit in a {n} x {d} matrix; "
            "use method='randomized' or 'exact'"
        )
    wide = n * size // (1 + compact) + (n + d * right) * rank  # entries of Q, U and V
    on_disk = A.dtype.itemsize * (wide + _PANELS * d * _BLOCK) > budget.current().left
    Q = Basis(n, size, A.dtype, on_disk=on_disk, compact=compact)
    H = np.empty((size, size), A.dtype)
    block, _ = thin_qr(A.times(_gaussian(d, _BLOCK, A.dtype, random_state)))
    kept.begin(block)
    budget.give_back()
    with engine.phase("factor", n_blocks, "blocks") as advance:
        for number in range(n_blocks):
            start, stop = number * _BLOCK, (number + 1) * _BLOCK
            block = Q.append(block)
            state = kept.read(number + 1) if stop < size else None
            if state:
                C, block = state["C"], state["block"]
            else:
                Y = A.gram_times(block)  # the basis has a copy of the block
                if stop < size:
                    C, block = _orthonormalize_against(Q, Y)
                    kept.write(number + 1, C=C, block=block)
                    if on_disk and kept.in_use:  # the saved block is on disk already
                        block = (kept.read(number + 1) or {"block": block})["block"]
                else:
                    C = transposed_times(Q, Y)
                del Y
            H[:stop, start:stop], H[start:stop, :stop] = C, C.T
            budget.give_back()
            advance(1)
        del block
        budget.give_back()
        squares, W = largest_pairs(H.astype(np.float64), rank)
        keep = 0 if on_disk else math.inf
        if squares[0] < _TRUSTED * np.finfo(A.dtype).eps * squares[-1]:
            # The smallest is lost beside the square of the largest: once more, without squares.
            return _rayleigh_ritz(Q, _transposed_products(A, Q, keep), rank, keep)
        W = np.ascontiguousarray(W[:, ::-1], A.dtype)
        U = Q.times_in_place(W)
        if U is None:
            U = rows_times(Q, W, keep=keep)
        if right:
            return _rayleigh_ritz(U, _transposed_products(A, U, keep), rank, keep)
        return U, np.sqrt(squares[::-1]).astype(A.dtype), np.empty((0, d), A.dtype)


def _transposed_products(A: Factorable, X: Tall, keep: float) -> Tall:
    """A' X; on disk if `keep` is 0, and X is then on disk too."""
    if keep:
        return A.transposed_times(X[:])
    P = Basis(A.shape[1], X.shape[1], A.dtype, on_disk=True)
    for panel in X.panels() if isinstance(X, Basis) else _panels(X):
        P.append(A.transposed_times(panel))
    return P


def _panels(X: np.ndarray) -> Iterator[np.ndarray]:
    for start in range(0, X.shape[1], _BLOCK):
        panel = np.empty((len(X), min(_BLOCK, X.shape[1] - start)), X.dtype)
        for rows in row_blocks(len(X)):
            panel[rows] = X[rows, start : start + _BLOCK]
            forget(X[rows])
        yield panel


def _rayleigh_ritz(Q: Tall, P: Tall, rank: int, keep: float = math.inf) -> Factors:
    """The SVD of the projection Q Q' A, given orthonormal Q and P = A' Q (which is overwritten)."""
    Z, R = thin_qr(P)  # Q' A = P' = R' Z'
    U, s, Vt = np.linalg.svd(R.T)
    U, s, Vt = (factor.astype(Q.dtype) for factor in (U[:, :rank], s[:rank], Vt[:rank]))
    V = rows_times(Z, np.ascontiguousarray(Vt.T), keep=keep)
    return rows_times(Q, U, keep=keep), s, V.T


def largest_pairs(H: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the n largest eigenvalues of a symmetric matrix, rising, and their eigenvectors.

    LAPACK's routine for a part of the eigenvalues is fast, but fails on some matrices whose
    eigenvalues are equal. All of them are computed then.
    """
    first = len(H) - n
    try:
        return eigh(H, subset_by_index=[first, len(H) - 1])
    except np.linalg.LinAlgError:
        values, U = np.linalg.eigh(H)
        return values[first:], U[:, first:]


def thin_qr(Y: Tall) -> tuple[np.ndarray, np.ndarray]:
    """Y = Q R with orthonormal columns in Q, which may overwrite a tall Y; R is in float64.

    This is Cholesky QR, done twice, because it consists mostly of matrix products. If Y is too
    ill-conditioned for that, it is Householder QR. If Y is on disk, so is Q.
    """
    R = np.eye(Y.shape[1])
    for tolerance in (np.inf, 0.1):  # after one round, Y is nearly orthonormal or never will be
        gram = transposed_times(Y, Y).astype(np.float64)
        if not np.abs(gram - np.eye(len(gram))).max() < tolerance:
            break
        try:
            step = np.linalg.cholesky(gram).T
        except np.linalg.LinAlgError:
            break
        inverse = solve_triangular(step, np.eye(len(step))).astype(Y.dtype)
        Y = rows_times(Y, inverse, keep=0) if _on_disk(Y) else rows_times(Y, inverse, out=Y)
        R = step @ R
    else:
        return Y, R
    Y, step = _householder_qr(Y)
    return Y, step @ R


def _on_disk(Y: Tall) -> bool:
    return is_mapped(Y) if isinstance(Y, np.ndarray) else Y.on_disk


def _householder_qr(Y: Tall, first: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Y = Q R for a Y of any condition; returns Q without its `first` columns, and R.

    Each block of rows has its own QR, and the stacked factors R have one again (Demmel, Grigori,
    Hoemmen and Langou 2012).
    """
    n, k = Y.shape
    blocks = row_blocks(n, 16 * k)
    if len(blocks) == 1:
        Q, R = np.linalg.qr(Y[:])
        return Q[:, first:], R
    triangles = list(engine.current().map(lambda rows: np.linalg.qr(Y[rows], mode="r"), blocks))
    ends = np.cumsum([0, *map(len, triangles)])
    inner, R = np.linalg.qr(np.vstack(triangles))
    del triangles

    def make(number: int) -> np.ndarray:
        part = Y[blocks[number]]
        Q = np.linalg.qr(part)[0] @ inner[ends[number] : ends[number + 1], first:]
        forget(part)
        return Q

    grown = Growing(Y.dtype, 0 if _on_disk(Y) and not first else math.inf, (k - first,))
    for part in engine.current().map(make, range(len(blocks))):
        grown.append(part)
    return grown.finish(), R


def _orthonormalize_against(Q: Basis, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """C = Q' Y, and orthonormal columns for the part of Y outside the span of Q.

    If Q is a Krylov basis, Y has parts in its last two blocks, and elsewhere only rounding errors.
    So these two blocks are subtracted first. One pass over all of Q is then the second pass, which
    "is enough" (Parlett 1998).
    """
    near = Q.last(2 * _BLOCK)
    C = np.zeros((Q.shape[1], Y.shape[1]), Y.dtype)
    C[-near.shape[1] :] = transposed_times(near, Y)
    subtract_rows_times(Y, near, C[-near.shape[1] :])
    c = transposed_times(Q, Y)
    C += c
    for _ in range(3):
        subtract_rows_times(Y, Q, c)
        before = np.hypot(np.linalg.norm(c), np.linalg.norm(Y))
        Y, R = thin_qr(Y)
        if np.linalg.norm(R, -2) > 1e-2 * before:
            return C, Y
        # The rest may be rounding errors (if the Krylov space is exhausted): check again.
        c = transposed_times(Q, Y)
    return C, _householder_qr(Q.with_columns(Y), Q.shape[1])[0]


def _gaussian(n_rows: int, n_columns: int, dtype: np.dtype, random_state: Any) -> np.ndarray:
    draws = np.random.default_rng(random_state).standard_normal((n_rows, n_columns), np.float32)
    return draws.astype(dtype, copy=False)


def _fix_signs(U: np.ndarray, s: np.ndarray, Vt: np.ndarray) -> Factors:
    if not is_mapped(U):
        signs = np.where(U.max(axis=0) >= -U.min(axis=0), 1, -1).astype(U.dtype)
        if U.strides[1] != U.itemsize or U.strides[0] > 2 * U.shape[1] * U.itemsize:
            U = np.ascontiguousarray(U)  # else it would keep a much larger array in memory
        Vt = np.ascontiguousarray(Vt)
        U *= signs
        Vt *= signs[: len(Vt), None]
        return U, s, Vt
    most, least = np.full((2, U.shape[1]), 0, U.dtype)  # a column has both signs or one: 0 is safe
    for rows in row_blocks(len(U)):
        np.maximum(most, U[rows].max(axis=0), out=most)
        np.minimum(least, U[rows].min(axis=0), out=least)
        forget(U[rows])
    signs = np.where(most >= -least, 1, -1).astype(U.dtype)
    if len(Vt):
        Vt = _times_columns(Vt.T, signs).T
    return _times_columns(U, signs), s, Vt


def _times_columns(X: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """``X * factors`` of a map, as another one."""
    grown = Growing(X.dtype, 0, (X.shape[1],))
    for rows in row_blocks(len(X)):
        grown.append(X[rows] * factors)
        forget(X[rows])
    return grown.finish()
