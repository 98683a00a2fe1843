r"""Direct minimization: moments are matched by gradient descent instead of algebra.

.. math:: \min_{\theta, \phi}\;
   \Big\| T - \sum_t \theta_t\, \phi_t \otimes \phi_t \otimes \phi_t \Big\|_F^2 \,/\, \|T\|_F^2
   \;\Big[ + \Big\| M - \rho \sum_t \theta_t\, \phi_t \phi_t^\top \Big\|_F^2 \,/\, \|M\|_F^2 \Big]

(the term in brackets only if pairs M are given). The vectors need not be orthogonal. With
:math:`a_t = \theta_t^{1/3} \phi_t` and :math:`q_t = \theta_t^{1/3}` the models are polynomials,
:math:`\sum a_t \otimes a_t \otimes a_t` and :math:`\rho \sum q_t a_t a_t^\top`, and with the Gram
matrix :math:`G = A A^\top` of the rows :math:`a_t` the first term and its gradient are

.. math:: \|T\|^2 - 2 \sum_t T(a_t, a_t, a_t) + \sum_{st} G_{st}^3, \qquad
   -6\, T(I, a_t, a_t) + 6 \sum_s G_{st}^2\, a_s,

which costs as much as one power step of all vectors. T alone does not determine the length of
:math:`\phi_t`; M and T together do. For the moments of LDA, :math:`\rho = (\alpha_0 + 2) / 2`.
"""

from typing import Any

import numpy as np

from eigentext import engine
from eigentext.errors import ParameterError
from eigentext.factor import arguments
from eigentext.factor.tensor import SymmetricTensor, checked_tensor, falling

_NEAR = 1e-8  # a smaller objective is lost in the difference of large numbers


def minimize_tensor(
    T: Any,
    weights: Any,
    vectors: Any,
    *,
    pairs: Any = None,
    ratio: float = 1.0,
    n_iter: int = 500,
    tol: float = 1e-12,
    return_diagnostics: bool = False,
) -> Any:
    r"""Minimize the distance of :math:`\sum_t \theta_t\, \phi_t^{\otimes 3}` to T, by L-BFGS.

    Start from the answer of another solver. There are local minima, and a random start often ends
    in one.

    Parameters
    ----------
    T : array, shape (K, K, K)
        A symmetric tensor.
    weights, vectors : arrays, shapes (rank,) and (rank, K)
        The start. Vectors are rows of any length: only :math:`\theta_t\, \phi_t^{\otimes 3}`
        matters.
    pairs : array, shape (K, K), optional
        The pair moment M, to match too.
    ratio : float
        :math:`\rho`, the weights of the pairs as multiples of those of the triples.
    n_iter : int
        The largest number of steps.
    tol : float
        Stop when no entry of the gradient is larger.
    return_diagnostics : bool
        Whether to return a dictionary too: "before" and "after" (the objective), "n_iter",
        "gradient" (its largest entry) and "converged".

    Returns
    -------
    weights : array, shape (rank,)
        In falling order.
    vectors : array, shape (rank, K)
        Rows of length 1. If `pairs` are given, they determine the lengths; then a weight that is
        not positive belongs to a vector that is in T and not in M.

    Examples
    --------
    >>> import numpy as np
    >>> from eigentext.factor import minimize_tensor
    >>> v = np.array([[0.8, 0.6], [0.28, 0.96]])  # not orthogonal
    >>> T = np.einsum("r,ri,rj,rk->ijk", [2.0, 1.0], v, v, v)
    >>> weights, vectors = minimize_tensor(T, [1.0, 1.0], np.eye(2))
    >>> weights.round(6), vectors.round(6)
    (array([2., 1.]), array([[0.8 , 0.6 ],
           [0.28, 0.96]]))
    """
    from scipy.optimize import minimize

    T = SymmetricTensor(checked_tensor(T))
    M = None if pairs is None else _checked_pairs(pairs, T.size, ratio)
    A = _checked_start(weights, vectors, T.size)
    arguments.whole("n_iter", n_iter)
    tol = arguments.number("tol", tol, least=0)
    # One BLAS thread: see eigentext.matrices.products on equal bits.
    with engine.one_blas_thread():
        objective = _Objective(T, M, ratio)
        x = objective.start(A)
        before, taken = objective(x, True)[0], 0
        near = before < _NEAR
        while True:
            steps = {"maxiter": n_iter - taken, "maxfun": 2 * n_iter, "maxcor": 20}
            stop = {"gtol": tol, "ftol": 0.0 if near else np.finfo(np.float64).eps}
            found = minimize(
                objective, x, (near,), method="L-BFGS-B", jac=True, options=steps | stop
            )
            x, taken = found.x, taken + found.nit
            if near or found.fun >= _NEAR or taken >= n_iter:
                break
            near = True
        after, slope = objective(x, True)
        answer = objective.parameters(x)
    if not return_diagnostics:
        return answer
    return *answer, {
        "before": before,
        "after": after,
        "n_iter": taken,
        "gradient": float(np.abs(slope).max()),
        "converged": taken < n_iter,
    }


class _Objective:
    """The objective and its gradient in x: the a_t and, if there are pairs, the q_t."""

    def __init__(self, T: SymmetricTensor, M: np.ndarray | None, ratio: float):
        self.T, self.M, self.ratio = T, M, ratio
        self.square = T.norm**2 or 1.0
        self.pair_square = 1.0 if M is None else float((M**2).sum()) or 1.0

    def start(self, A: np.ndarray) -> np.ndarray:
        """X for the rows a_t, with the q_t that fit M best."""
        if self.M is None:
            return A.ravel()
        overlaps = self.ratio * (A @ A.T) ** 2
        q, *_ = np.linalg.lstsq(overlaps, ((A @ self.M) * A).sum(axis=1))
        return np.append(A, q)

    def __call__(self, x: np.ndarray, near: bool) -> tuple[float, np.ndarray]:
        """Value and gradient, by the Gram matrix or, `near` the end, by the difference itself."""
        A, q = self.split(x)
        if near:
            rest = self.T.less(np.ones(len(A)), A)
            value, slope = rest.norm**2, -6 * rest(A)
        else:
            G, Y = A @ A.T, self.T(A)
            value = self.square - 2 * (Y * A).sum() + (G**3).sum()
            slope = 6 * (G**2 @ A - Y)
        value, slope = value / self.square, slope / self.square
        if self.M is None:
            return float(value), slope.ravel()
        rest = self.M - self.ratio * (A.T * q) @ A
        Y = A @ rest
        scale = 2 * self.ratio / self.pair_square
        value += (rest**2).sum() / self.pair_square
        slope -= 2 * scale * q[:, None] * Y
        return float(value), np.append(slope, -scale * (Y * A).sum(axis=1))

    def split(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A, with rows a_t, and q."""
        K = self.T.size
        rank = len(x) // (K if self.M is None else K + 1)
        return x[: rank * K].reshape(rank, K), x[rank * K :]

    def parameters(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights theta_t and vectors phi_t."""
        A, q = self.split(x)
        if self.M is None:
            q = np.linalg.norm(A, axis=1)
        phi = np.divide(A, q[:, None], out=A.copy(), where=q[:, None] != 0)
        return falling(q**3, phi)


def _checked_start(weights: Any, vectors: Any, size: int) -> np.ndarray:
    """The a_t."""
    weights = arguments.numeric(weights, "weights").astype(np.float64)
    vectors = arguments.numeric(vectors, "vectors").astype(np.float64)
    if weights.ndim != 1 or vectors.shape != (len(weights), size):
        raise ParameterError(
            f"a start of weights {weights.shape} and vectors {vectors.shape} for a tensor of "
            f"size {size}: vectors are rows, one for each weight"
        )
    A = np.cbrt(weights)[:, None] * vectors
    if not np.isfinite(A).all():
        raise ParameterError("the start has numbers that are not finite")
    return A


def _checked_pairs(pairs: Any, size: int, ratio: float) -> np.ndarray:
    M = arguments.numeric(pairs, "pairs").astype(np.float64)
    if M.shape != (size, size) or not np.isfinite(M).all():
        raise ParameterError(f"pairs must be finite, of shape ({size}, {size}), not {M.shape}")
    if np.abs(M - M.T).max() > 1e-6 * np.abs(M).max():
        raise ParameterError("pairs are not symmetric: average them with their transpose")
    arguments.number("ratio", ratio, above=0)
    return (M + M.T) / 2
