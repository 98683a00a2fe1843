r"""Decomposing a symmetric tensor, :math:`T = \sum_i \lambda_i\, v_i \otimes v_i \otimes v_i`.

After Anandkumar et al. (2014). T is small and dense, K x K x K. The solvers need only
:math:`T(I, x, x) = \sum_{jk} T_{\cdot jk} x_j x_k`, which is one matrix product for many x.
If the :math:`v_i` are orthonormal (see :mod:`eigentext.factor.whiten`),

.. math:: x \leftarrow T(I, x, x) \,/\, \|T(I, x, x)\|

squares the ratio of any two :math:`\lambda_i \langle v_i, x\rangle` at every step, so that it
converges quadratically, to the :math:`v_i` where that product is largest.

:func:`tensor_power`
    power iteration from random starts; the component with the best
    :math:`f_T(v) = T(v, v, v) = \lambda` is subtracted from T, and so on.
:func:`simultaneous_diagonalization`
    the orthogonal V in which all slices :math:`T_{\cdot\cdot k}` are as diagonal as possible.

Both find the sign too: :math:`\lambda_i > 0`.
"""

from collections.abc import Callable
from copy import copy
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np

from eigentext import engine
from eigentext.errors import ParameterError
from eigentext.factor import arguments

Map = Callable[[np.ndarray], np.ndarray]
_SETTLED = 0.1  # a start with shorter steps no longer changes its goal
_NOTHING = 1e-8  # of the largest weight: only rounding errors


def tensor_power(
    T: Any,
    rank: int,
    *,
    n_restarts: int = 10,
    n_iter: int = 100,
    tol: float = 1e-10,
    polish: bool = True,
    random_state: int | np.random.Generator | None = 0,
    return_diagnostics: bool = False,
) -> Any:
    """The robust tensor power method: power iteration from many starts, with deflation.

    Parameters
    ----------
    T : array, shape (K, K, K)
        Symmetric, and nearly orthogonal: the whitened third moment.
    rank : int
        The number of components, at most K.
    n_restarts : int
        The number of random starts of each component, which are iterated together. (Starts at
        eigenvectors of a random contraction of T, or three times as many starts, did not find more
        under noise.)
    n_iter : int
        The largest number of steps of the starts, of the best of them, and of the polish.
    tol : float
        A vector has converged when a step moves it by less.
    polish : bool
        Whether to end with power steps of all vectors, each on T without all the others, so that
        the order of deflation does not matter. A fixed point of these steps is a stationary point
        of :func:`minimize_tensor`. If the polish does not come closer to T, it is undone.
    random_state : int or Generator
        For the starts.
    return_diagnostics : bool
        Whether to return a dictionary too: "residual" (the norm of the rest, as a part of the norm
        of T), "found" (the number of weights above rounding), "polish_steps" (0 if undone), and for
        each component "values" (f of all starts when the best was chosen), "steps" (how far each
        step moved the best) and "converged".

    Returns
    -------
    weights : array, shape (rank,)
        In falling order. A weight of nearly 0 means that nothing was found.
    vectors : array, shape (rank, K)
        Unit rows v_i.

    Examples
    --------
    >>> import numpy as np
    >>> from eigentext.factor import tensor_power
    >>> v = np.array([[0.6, 0.8], [0.8, -0.6]])
    >>> T = np.einsum("r,ri,rj,rk->ijk", [2.0, 1.0], v, v, v)
    >>> weights, vectors = tensor_power(T, 2)
    >>> weights.round(6), vectors.round(6)
    (array([2., 1.]), array([[ 0.6,  0.8],
           [ 0.8, -0.6]]))
    """
    T = SymmetricTensor(checked_tensor(T, rank))
    arguments.whole("n_restarts", n_restarts)
    arguments.whole("n_iter", n_iter)
    tol = arguments.number("tol", tol, least=0)
    rng = np.random.default_rng(arguments.seed(random_state))
    weights, vectors, stages = np.empty(0), np.empty((0, T.size)), []
    # One BLAS thread: see eigentext.matrices.products on equal bits.
    with (
        engine.one_blas_thread(),
        engine.phase("factor", rank, "components") as advance,
    ):
        for _ in range(rank):
            X = _unit(rng.standard_normal((n_restarts, T.size)))
            rest = partial(_deflated, T, weights, vectors)
            weight, vector, stage = _best_of(rest, X, n_iter, tol)
            weights, vectors = np.append(weights, weight), np.vstack([vectors, vector])
            stages.append(stage)
            advance(1)
        found = weights > _NOTHING * max(weights.max(), 0.0)
        polish_steps = 0
        if polish and found.any():
            steps = _polish(T, weights[found], vectors[found], n_iter, tol)
            weights[found], vectors[found], polish_steps = steps
        weights, vectors = falling(weights, vectors)
        diagnostics = {
            "residual": relative_residual(T, weights, vectors),
            "found": int(found.sum()),
            "polish_steps": polish_steps,
            "values": [values for values, _ in stages],
            "steps": [steps for _, steps in stages],
            "converged": [bool(steps[-1] < tol) for _, steps in stages],
        }
    return (weights, vectors, diagnostics) if return_diagnostics else (weights, vectors)


def simultaneous_diagonalization(
    T: Any,
    rank: int,
    *,
    n_iter: int = 100,
    tol: float = 1e-8,
    random_state: int | np.random.Generator | None = 0,
    return_diagnostics: bool = False,
) -> Any:
    r"""The orthogonal V in which all slices of T are diagonal, by Jacobi rotations.

    A slice, or any contraction, is :math:`T(I, I, g) = \sum_i \lambda_i \langle v_i, g\rangle\,
    v_i v_i^\top`: the eigenvectors of one with a random g are the start. If two of its eigenvalues
    are close, noise mixes their vectors, but the K slices together separate them. The method is
    faster than :func:`tensor_power`, and closer to the truth if T is orthogonal up to noise. If the
    model itself is only roughly true, as for real text, some of the orthogonal vectors may have
    weights of nearly 0.

    Parameters
    ----------
    T : array, shape (K, K, K)
        Symmetric, and nearly orthogonal.
    rank : int
        The number of components, at most K. If it is less, T is first cut to the `rank` dimensions
        that have most of it.
    n_iter : int
        The largest number of sweeps over all pairs of axes.
    tol : float
        The sweeps end when all rotations of one have a smaller sine. If T is orthogonal, they
        converge quadratically, and the error is about the square of `tol`.
    random_state : int or Generator
        For g.
    return_diagnostics : bool
        Whether to return a dictionary too: "residual" as in :func:`tensor_power`, "sweeps",
        "converged".

    Returns
    -------
    weights : array, shape (rank,)
        Falling.
    vectors : array, shape (rank, K)
        Orthonormal rows v_i.

    Examples
    --------
    >>> import numpy as np
    >>> from eigentext.factor import simultaneous_diagonalization
    >>> v = np.array([[0.6, 0.8], [0.8, -0.6]])
    >>> T = np.einsum("r,ri,rj,rk->ijk", [2.0, 1.0], v, v, v)
    >>> weights, vectors = simultaneous_diagonalization(T, 2)
    >>> weights.round(6), vectors.round(6)
    (array([2., 1.]), array([[ 0.6,  0.8],
           [ 0.8, -0.6]]))
    """
    from eigentext.factor._tensor_loops import jacobi_sweep

    T = checked_tensor(T, rank)
    arguments.whole("n_iter", n_iter, least=0)
    tol = arguments.number("tol", tol, least=0)
    rng = np.random.default_rng(arguments.seed(random_state))
    K = len(T)
    with engine.one_blas_thread():
        if rank < K:
            slices = T.reshape(K, K * K)
            U = np.linalg.eigh(slices @ slices.T)[1][:, K - rank :].T
        else:
            U = np.eye(K)
        _, V = np.linalg.eigh(_rotated(T, U) @ rng.standard_normal(rank))
        V = V.T @ U
        D, sweeps, sine = _rotated(T, V), 0, np.inf
        while sine > tol and sweeps < n_iter:
            sine = jacobi_sweep(D, V)
            sweeps += 1
        tensor = SymmetricTensor(T)
        weights = (tensor(V) * V).sum(axis=1)
        V *= np.where(weights < 0, -1.0, 1.0)[:, None]
        weights, vectors = falling(np.abs(weights), V)
        diagnostics = {
            "residual": relative_residual(tensor, weights, vectors),
            "sweeps": sweeps,
            "converged": bool(sine <= tol),
        }
    return (weights, vectors, diagnostics) if return_diagnostics else (weights, vectors)


def jointly_diagonal(
    slices: np.ndarray, *, n_iter: int = 100, tol: float = 1e-8, random_state: int = 0
) -> tuple[np.ndarray, float]:
    r"""The orthogonal U in which many symmetric slices are as diagonal as possible.

    They are as in the whitened moments of several views:
    :math:`\sum_i u_i u_i^\top g_{ik}`. Unlike :func:`simultaneous_diagonalization`, the third side
    of D may have any length. The rotations are the same.

    Parameters
    ----------
    slices : array, shape (K, K, any)
        The slices D[:, :, k].
    n_iter : int
        The largest number of sweeps over all pairs of axes.
    tol : float
        The sweeps end when all rotations of one have a smaller sine.
    random_state : int
        For the combination of slices whose eigenvectors are the start.

    Returns
    -------
    U : array, shape (K, K)
        Orthonormal rows u_i.
    residual : float
        The norm of all entries off the diagonals, as a part of the norm of the slices.

    Examples
    --------
    >>> import numpy as np
    >>> v = np.array([[0.6, 0.8], [0.8, -0.6]])
    >>> D = np.einsum("ri,rj,rk->ijk", v, v, [[3.0, 1.0, 2.0], [1.0, 2.0, 1.0]])
    >>> U, residual = jointly_diagonal(D)
    >>> np.abs(v @ U.T).max(axis=1).round(6), round(residual, 6)
    (array([1., 1.]), 0.0)
    """
    from eigentext.factor._tensor_loops import jacobi_sweep

    D = (slices + slices.transpose(1, 0, 2)) / 2
    with engine.one_blas_thread():
        start = D @ np.random.default_rng(random_state).standard_normal(D.shape[2])
        V = np.ascontiguousarray(np.linalg.eigh(start)[1].T)
        for _ in range(2):  # the second axis is multiplied and becomes the first
            D = np.moveaxis(V @ D, 1, 0)
        D, V = np.ascontiguousarray(D), V.copy()
        for _ in range(n_iter):
            if jacobi_sweep(D, V) <= tol:
                break
    off = np.triu(np.ones(D.shape[:2], bool), 1)
    whole = float(np.linalg.norm(slices)) or 1.0
    return V, float(np.sqrt(2) * np.linalg.norm(D[off]) / whole)


class SymmetricTensor:
    """T as the map from rows x to rows T(I, x, x); each pair j <= k is multiplied once."""

    def __init__(self, T: np.ndarray):
        self.size = len(T)
        self._j, self._k = np.triu_indices(self.size)
        self._times = np.where(self._j == self._k, 1.0, 2.0)[:, None]  # how often T has the pair
        self._matrix = T[:, self._j, self._k].T

    def __call__(self, X: np.ndarray) -> np.ndarray:  # noqa: D102 - the class says it
        return (self._pairs(X) * self._times[:, 0]) @ self._matrix

    @property
    def norm(self) -> float:
        """The Frobenius norm of all K x K x K numbers."""
        return float(np.sqrt((self._matrix**2 * self._times).sum()))

    def less(self, weights: np.ndarray, vectors: np.ndarray) -> "SymmetricTensor":
        """T - sum_i weights_i v_i x v_i x v_i, number by number."""
        rest = copy(self)
        rest._matrix = self._matrix - self._pairs(vectors).T @ (weights[:, None] * vectors)
        return rest

    def _pairs(self, X: np.ndarray) -> np.ndarray:
        return X.take(self._j, axis=1) * X.take(self._k, axis=1)


def relative_residual(T: SymmetricTensor, weights: np.ndarray, vectors: np.ndarray) -> float:
    """The norm of T - sum_i weights_i v_i x v_i x v_i, as a part of T's; 0 if T is 0."""
    return T.less(weights, vectors).norm / (T.norm or 1.0)


def _deflated(
    T: SymmetricTensor, weights: np.ndarray, vectors: np.ndarray, X: np.ndarray
) -> np.ndarray:
    """(T - sum_i weights_i v_i x v_i x v_i)(I, x, x) for each row x of X."""
    return T(X) - ((X @ vectors.T) ** 2 * weights) @ vectors


def _best_of(
    T: Map, X: np.ndarray, n_iter: int, tol: float
) -> tuple[float, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Power iteration from the rows of X until most have settled, then only of the best."""
    history = []
    for _ in range(n_iter):
        X, moved = _step(T, X)
        history.append(moved)
        if np.median(moved) < _SETTLED:
            break
    values = (T(X) * X).sum(axis=1)
    best = int(values.argmax())
    x, steps = X[[best]], [moved[best] for moved in history]
    for _ in range(n_iter):
        if steps[-1] < tol:
            break
        x, moved = _step(T, x)
        steps.append(moved[0])
    return float(T(x)[0] @ x[0]), x[0], (values, np.array(steps))


def _step(T: Map, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """T(I, x, x), normalized, for each x; and how far it moved."""
    Y = _unit(T(X), instead=X)
    return Y, np.linalg.norm(Y - X, axis=1)


def _polish(
    T: SymmetricTensor, weights: np.ndarray, vectors: np.ndarray, n_iter: int, tol: float
) -> tuple[np.ndarray, np.ndarray, int]:
    """Power steps of all v_i together, each on T without all *other* components."""
    w, V, taken, moved = weights, vectors, 0, np.inf
    while moved >= tol and taken < n_iter and w.max() < 2 * weights.max():
        overlaps = (V @ V.T) ** 2
        np.fill_diagonal(overlaps, 0.0)
        Y = T(V) - (overlaps * w) @ V
        w = np.linalg.norm(Y, axis=1)
        Y = _unit(Y, instead=V)
        moved = float(np.linalg.norm(Y - V, axis=1).max())
        V, taken = Y, taken + 1
    # If T is far from orthogonal, this may make it worse.
    if relative_residual(T, w, V) <= relative_residual(T, weights, vectors) + 1e-14:
        return w, V, taken
    return weights, vectors, 0


def _unit(X: np.ndarray, instead: np.ndarray | None = None) -> np.ndarray:
    """Rows of length 1; `instead` replaces a row of zeros."""
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = X / lengths
    return unit if instead is None else np.where(lengths > 0, unit, instead)


def falling(weights: np.ndarray, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The largest weight first."""
    order = np.argsort(-weights, kind="stable")
    return weights[order], vectors[order]


def _rotated(T: np.ndarray, V: np.ndarray) -> np.ndarray:
    """T(V', V', V') for rows V."""
    for _ in range(3):  # the last axis is multiplied and becomes the first
        T = np.moveaxis(T @ V.T, -1, 0)
    return np.ascontiguousarray(T)


def checked_tensor(T: Any, rank: int = 1) -> np.ndarray:
    """T in float64, averaged over the orders of its axes; raises if it is not symmetric."""
    T = arguments.numeric(T, "T").astype(np.float64, copy=False)
    if T.ndim != 3 or len(set(T.shape)) != 1:
        raise ParameterError(f"a symmetric tensor has shape (K, K, K), not {T.shape}")
    if not np.isfinite(T).all():
        raise ParameterError("the tensor has numbers that are not finite")
    arguments.check_scale(T, "the tensor")
    arguments.whole("rank", rank, most=len(T))
    mean = np.zeros_like(T)
    for axes in permutations(range(3)):
        mean += T.transpose(axes)
    mean /= 6
    if np.abs(T - mean).max() > 1e-6 * np.abs(T).max():
        raise ParameterError("the tensor is not symmetric: average it over all orders of its axes")
    return mean
