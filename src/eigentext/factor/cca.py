r"""Canonical correlation analysis: the directions in which two views of a sample agree most.

Hotelling's (1936), in three steps, for rows x of X and y of Y:

1. C_XX, C_XY, C_YY: the covariances, sums over the n samples divided by n;
2. Omega = C_XX^{-1/2} C_XY C_YY^{-1/2} = U Sigma V^T (Stratos, Collins and Hsu 2015, Lemma 3.1);
3. A = C_XX^{-1/2} U and B = C_YY^{-1/2} V, and a sample becomes (A^T x, B^T y).

Any W with W^T C W = I can replace C^{-1/2}: it rotates U, and A = W U does not change. So W is
dense for a dense view. For a one-hot view it is a diagonal and a rank-one term (Observation 2
there), because C = D - mu mu^T with D = E[diag(x^2)]. Write u = D^{-1/2} mu; then

    C = D^{1/2} (I - u u^T) D^{1/2}   and   |u|^2 <= 1, by Cauchy-Schwarz,

with equality if every row has one nonzero and a column has one value. Then u = sqrt(p) is the
trivial singular vector of D_X^{-1/2} E[x y^T] D_Y^{-1/2} with sigma = 1, and centering removes
exactly that triple. So their Observation 1, that centering can be ignored, holds except for it.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh, qr
from scipy.sparse import csr_array, issparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from eigentext.errors import ParameterError
from eigentext.estimators import Finding, Findings, check_table, learning
from eigentext.factor import arguments, parameters
from eigentext.factor.svd import svd
from eigentext.matrices.products import sparse_times

__all__ = ["CCA"]

_EPS = float(np.finfo(np.float64).eps)
_MAX_DENSE_COLUMNS = 20_000
_N_DROPPED = 5
_CONVERGED = 1e-4
_ILL_CONDITIONED = 1e8
# Products have other bits if a matrix is stored by columns.
_CHECKS: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64, "order": "C"}


class CCA(Findings, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # pyright: ignore[reportIncompatibleVariableOverride]
    r"""Canonical correlation analysis of two views by one SVD.

    For j = 1 … m the columns of A and B solve

    .. math::
        a_j, b_j = \arg\max_{a, b} \operatorname{Corr}(a^\top x, b^\top y)
        \quad\text{s.t.}\quad
        \operatorname{Corr}(a^\top x, a_k^\top x) = \operatorname{Corr}(b^\top y, b_k^\top y) = 0
        \quad (k < j),

    scaled to :math:`A^\top C_{XX} A = B^\top C_{YY} B = I`. They are
    :math:`A = C_{XX}^{-1/2} U` and :math:`B = C_{YY}^{-1/2} V`, where
    :math:`C_{XX}^{-1/2} C_{XY} C_{YY}^{-1/2} \approx U \Sigma V^\top` is cut at rank m
    (Hotelling 1936; Stratos, Collins and Hsu 2015, section 3). The inverse root is that of the
    pseudo-inverse: directions in which a view does not vary, up to rounding, are cut. Among weights
    that give the same projections, those of least norm are chosen. Signs are such that the largest
    weight in each column of A (the first of equals) is positive.

    For a sparse view with at most one nonzero in a row, such as a one-hot word, no covariance is
    made: its inverse root is exactly a diagonal and a rank-one term, and it may have millions of
    columns. Any other view needs its dense covariance, for up to 20,000 columns that vary. A sparse
    view itself is never made dense.

    Parameters
    ----------
    n_components : int, default=2
        The number m of pairs of directions; at most the rank of either view.
    regularization : float, default=0.0
        r is added to the diagonals: :math:`C_{XX} + r I` and :math:`C_{YY} + r I` replace
        :math:`C_{XX}` and :math:`C_{YY}`, and :math:`C_{XY}` stays. It is in units of variance, so
        the scale of the columns matters. ``correlations_`` are then the
        :math:`a_j^\top C_{XY} b_j`, smaller than the correlations without it.
    center : bool, default=True
        Whether to subtract the means. If not, covariances are plain second moments.
    random_state : int, Generator or None, default=0
        The seed of the random start of :func:`eigentext.factor.svd`, which large views use.

    Attributes
    ----------
    correlations_ : ndarray of shape (m,)
        The singular values of Omega, in falling order, at most 1.
    x_weights_, y_weights_ : ndarray of shape (d, m) and (d', m)
        A and B. A column without variance has weight 0.
    x_mean_, y_mean_ : ndarray of shape (d,) and (d',)
        The means, which are subtracted from a row before it is projected; 0 if ``center=False``.
    diagnostics_ : dict
        ``correlations`` kept and the ``next_correlations`` dropped, ``residual`` (the largest
        :math:`|\Omega v - \sigma u|` of those kept; a warning if over 1e-4), ``regularization``,
        ``n_samples`` and, under ``x`` and ``y``, for each view: ``form`` ("dense" or "diagonal"),
        ``columns``, ``constant_columns`` (no variance), ``null_directions`` (cut besides those),
        ``rank`` (what remains) and ``condition_number`` (of the covariance scaled to a unit
        diagonal, within that rank).
    n_features_in_ : int
        The number d of columns of X.

    Examples
    --------
    Two noisy thermometers in different units, each beside a dial that means nothing:

    >>> import numpy as np
    >>> from eigentext.factor.cca import CCA
    >>> rng = np.random.default_rng(0)
    >>> heat = rng.normal(size=1000)
    >>> X = np.c_[heat + rng.normal(scale=0.1, size=1000), rng.normal(size=1000)]
    >>> Y = np.c_[rng.normal(size=1000), 32 + 1.8 * heat + rng.normal(scale=0.1, size=1000)]
    >>> cca = CCA(n_components=1).fit(X, Y)
    >>> print(cca.correlations_.round(2), abs(cca.y_weights_).round(1).ravel())
    [0.99] [0.  0.6]
    >>> a, b = cca.transform(X, Y)
    >>> print(np.corrcoef(a[:, 0], b[:, 0])[0, 1].round(2))
    0.99
    """

    _table = parameters.CCA
    x_weights_: np.ndarray
    y_weights_: np.ndarray

    def __init__(self, n_components=2, *, regularization=0.0, center=True, random_state=0):
        self.n_components = n_components
        self.regularization = regularization
        self.center = center
        self.random_state = random_state

    @learning
    def fit(self, X, Y):
        """Find the directions from n paired rows of X (n x d) and Y (n x d', or n numbers)."""
        m, r = self.n_components, float(self.regularization)
        if Y is None:
            raise ParameterError(
                "CCA requires y to be passed, but the target y is None: call fit(X, Y) with a "
                "second view of the same samples"
            )
        X = validate_data(self, X, ensure_min_samples=2, **_CHECKS)
        Y = _as_matrix(Y, ensure_min_samples=2)
        check_consistent_length(X, Y)
        n = X.shape[0]
        center = self.center
        x, y = _whiten(X, r, center, "X"), _whiten(Y, r, center, "Y")
        _check_ranks(m, r, x.rank, y.rank, n - center)

        U, sigma, Vt, residual = _leading_triples(
            _omega(x, y, n), m, min(m + _N_DROPPED, x.rank, y.rank), self.random_state
        )
        sigma = np.minimum(sigma, 1.0)
        A, B = x.weights(U[:, :m]), y.weights(Vt[:m].T)
        signs = _signs(A)
        self.x_weights_, self.y_weights_ = A * signs, B * signs
        self.x_mean_, self.y_mean_ = x.mean, y.mean
        self.correlations_ = sigma[:m]
        self.diagnostics_ = {
            "correlations": sigma[:m].tolist(),
            "next_correlations": sigma[m:].tolist(),
            "residual": residual,
            "regularization": r,
            "n_samples": n,
            "x": x.report,
            "y": y.report,
        }
        return self

    def transform(self, X, Y=None):
        """Project rows: ``(X - x_mean_) A``, and with Y the pair of it and ``(Y - y_mean_) B``."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **_CHECKS)
        Xc = _project(X, self.x_mean_, self.x_weights_)
        if Y is None:
            return Xc
        Y = _as_matrix(Y)
        if Y.shape[1] != len(self.y_weights_):
            raise ParameterError(
                f"Y has {Y.shape[1]} columns, but CCA was fitted with {len(self.y_weights_)}: "
                "give Y the columns it had in fit"
            )
        return Xc, _project(Y, self.y_mean_, self.y_weights_)

    def score(self, X, Y=None, *, y=None):
        """The correlations of the pairs of coordinates in these rows, added up.

        The score is at most ``n_components``. Coordinates that do not vary count as 0. In new rows,
        a pair of directions that fits only noise adds nothing on average. ``y`` is scikit-learn's
        name of Y.
        """
        Y = y if Y is None else Y
        if Y is None:
            raise ParameterError("score needs both views: call score(X, Y)")
        a, b = (np.asarray(side) for side in self.transform(X, Y))
        a, b = a - a.mean(axis=0), b - b.mean(axis=0)
        lengths = np.linalg.norm(a, axis=0) * np.linalg.norm(b, axis=0)
        products = np.einsum("ij,ij->j", a, b)
        return float(np.divide(products, lengths, out=0 * products, where=lengths > 0).sum())

    def fit_transform(self, X, Y=None, *, y=None):  # pyright: ignore[reportIncompatibleMethodOverride]
        """``fit(X, Y).transform(X, Y)``: both projections; ``y`` is scikit-learn's name of Y."""
        Y = y if Y is None else Y
        return self.fit(X, Y).transform(X, Y)

    def _findings(self) -> Iterator[Finding]:
        found, m = self.diagnostics_, len(self.correlations_)
        n, r = found["n_samples"], found["regularization"]
        yield Finding(
            "note",
            f"The {m} pairs of directions correlate with {self.correlations_[0]:.3f} down to "
            f"{self.correlations_[-1]:.3f}.",
        )
        if found["residual"] > _CONVERGED:
            yield Finding(
                "warning",
                f"The singular vectors have converged only to {found['residual']:.1g}: many "
                "directions correlate almost equally.",
                "Drop rare columns, set regularization > 0, or ask for another n_components.",
            )
        ranks = found["x"]["rank"] + found["y"]["rank"]
        if not r and ranks > n - self.parameters_.center:
            yield Finding(
                "problem",
                f"The two views have {ranks} directions for {n} samples, so some pairs correlate "
                "perfectly whatever the data.",
                "Set regularization > 0, give more samples, or use fewer columns.",
            )
        for view in ("x", "y"):
            report = found[view]
            if lost := report["constant_columns"] + report["null_directions"]:
                yield Finding(
                    "note",
                    f"{lost} of {report['columns']} directions of {view.upper()} do not vary and "
                    "are left out.",
                )
            if report["condition_number"] > _ILL_CONDITIONED:
                yield Finding(
                    "warning",
                    f"The columns of {view.upper()} nearly depend on each other (condition number "
                    f"{report['condition_number']:.1g}), so single weights mean little.",
                    "Set regularization > 0, or drop columns that say the same.",
                )

    @property
    def _n_features_out(self):
        return self.x_weights_.shape[1]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


check_table(CCA)


@dataclass
class _View:
    """One view on the columns that vary, with its W: ``W.T @ (C + r I) @ W = I`` (rank x rank)."""

    rows: Any  # n x k; centered if dense, not centered if sparse
    shift: np.ndarray  # k, the mean that ``rows`` still has
    W: Any  # k x rank, array or LinearOperator
    kept: np.ndarray  # k, the places of the columns among all d
    mean: np.ndarray  # d
    report: dict

    @property
    def rank(self) -> int:
        return self.W.shape[1]

    def weights(self, U) -> np.ndarray:
        """W U, with 0 for columns that do not vary."""
        A = np.zeros((len(self.mean), U.shape[1]))
        A[self.kept] = self.W @ U
        return A


def _as_matrix(Y, **checks):
    Y = check_array(Y, ensure_2d=False, input_name="Y", **_CHECKS, **checks)
    return Y.reshape(-1, 1) if Y.ndim == 1 else Y


def _whiten(X, r: float, center: bool, name: str) -> _View:
    """Drop the columns that do not vary and find W."""
    n, d = X.shape
    arguments.check_scale(X.data if issparse(X) else X, name)
    cut = 10 * _EPS * max(d, n**0.5)
    if issparse(X):
        X = csr_array(X, copy=True)  # the next two lines work in place
        X.sum_duplicates()
        X.eliminate_zeros()
        mean = shift = np.bincount(X.indices, X.data, d) / n * center
        square = np.bincount(X.indices, X.data**2, d) / n
        absent = n - np.bincount(X.indices, minlength=d)
        deviation = X.data - mean[X.indices]
        variance = (np.bincount(X.indices, deviation**2, d) + absent * mean**2) / n
        kept = np.flatnonzero(variance > cut * square)
    else:
        mean = X.mean(axis=0) * center
        X = X - mean
        rest = X.mean(axis=0) * center  # the rounding of the mean, all that a constant column has
        X -= rest
        mean, shift = mean + rest, np.zeros(d)
        variance = np.einsum("ij,ij->j", X, X) / n
        square = variance + mean**2
        kept = np.flatnonzero(variance > cut**2 * square)
    if not kept.size:
        raise ParameterError(f"no column of {name} varies: give CCA at least one that does")
    rows, shift, square, variance = X[:, kept], shift[kept], square[kept], variance[kept]
    one_hot = issparse(X) and np.diff(X.indptr).max() <= 1
    if one_hot:
        W = _DiagonalRoot(rows, square, shift, r, cut)
        condition = W.condition
    else:
        # E[x x'] - E[x] E[x]' of a sparse view has rounding errors, which are not directions of it.
        loss = (square / variance).max() if issparse(X) else 1.0
        W, condition = _dense_root(rows, shift, r, cut * loss, name)
    report = {
        "form": "diagonal" if one_hot else "dense",
        "columns": d,
        "constant_columns": d - len(kept),
        "null_directions": len(kept) - W.shape[1],
        "rank": W.shape[1],
        "condition_number": condition,
    }
    return _View(rows, shift, W, kept, mean, report)


def _dense_root(rows, shift, r, cut, name):
    """W from the eigenvectors of C + r I, scaled to a unit diagonal so that units do not matter."""
    n, k = rows.shape
    if k > _MAX_DENSE_COLUMNS:
        raise ParameterError(
            f"the covariance of the {k:,} columns of {name} and its eigenvectors would take about "
            f"{4 * 8 * k**2 / 1e9:,.0f} GB; at most {_MAX_DENSE_COLUMNS:,} columns are supported: "
            "keep the most frequent ones, project them first (eigentext.factor.svd), or make each "
            "row one-hot and sparse, which needs no covariance"
        )
    C = rows.T @ rows
    C = (C.toarray() if issparse(C) else C) / n - np.outer(shift, shift)
    C.flat[:: k + 1] += r
    s = 1 / np.sqrt(C.diagonal())
    eigenvalues, E = eigh(C * s * s[:, None])
    null = int(np.sum(eigenvalues <= cut * eigenvalues[-1]))
    W = s[:, None] * E[:, null:] / np.sqrt(eigenvalues[null:])
    Z = qr(s[:, None] * E[:, :null], mode="economic")[0]  # null space of C, in its own units
    return W - Z @ (Z.T @ W), float(eigenvalues[-1] / eigenvalues[null])


class _DiagonalRoot(LinearOperator):
    """W = (I - z z^T) D^{-1/2} (I + c q q^T), the last factor being (I - u u^T)^{-1/2}.

    If |u| = 1, that factor is the reflection I - 2 q q^T without its first column, which is u up
    to sign: a basis of what the projection I - u u^T leaves. C z = 0 then, otherwise z = 0.
    """

    def __init__(self, rows, square, mean, r, cut):
        self.s = 1 / np.sqrt(square + r)[:, None]
        u = self.s * mean[:, None]
        gap = _gap(rows, square, r) if u.any() else 1.0
        self.null = int(gap <= cut)
        if self.null:
            u /= np.linalg.norm(u)
            e = np.zeros_like(u)
            e[0] = np.copysign(1.0, u[0])
            self.c, self.q, self.z = -2.0, u + e, self.s * u
            self.q /= np.linalg.norm(self.q)
            self.z /= np.linalg.norm(self.z)
        else:
            self.c, self.q, self.z = 1 / (gap**0.5 * (1 + gap**0.5)), u, np.zeros_like(u)
        self.condition = 1.0 if self.null else 1 / gap
        super().__init__(np.float64, (len(u), len(u) - self.null))

    def _matmat(self, X):
        X = np.pad(X, ((self.null, 0), (0, 0)))
        X = self.s * (X + self.c * self.q * (self.q.T @ X))
        return X - self.z * (self.z.T @ X)

    def _rmatmat(self, X):
        X = self.s * (X - self.z * (self.z.T @ X))
        return (X + self.c * self.q * (self.q.T @ X))[self.null :]

    def _rmatvec(self, x):
        return self._rmatmat(x.reshape(-1, 1))


class _Sparse(LinearOperator):
    """A sparse matrix, multiplied on all cores."""

    def __init__(self, C):
        self.C, self.transpose = C, C.T.tocsr()
        super().__init__(C.dtype, C.shape)

    def _matmat(self, X):
        return sparse_times(self.C, X)

    def _rmatmat(self, X):
        return sparse_times(self.transpose, X)

    def _rmatvec(self, x):
        return self._rmatmat(x.reshape(-1, 1))


def _gap(rows, square, r) -> float:
    """1 - |u|^2 = P(empty row) + sum_j p_j (p_j Var[x_j | x_j != 0] + r) / D_j: no cancellation."""
    n, k = rows.shape
    counts = np.bincount(rows.indices, minlength=k)
    typical = np.bincount(rows.indices, rows.data, k) / counts
    spread = np.bincount(rows.indices, (rows.data - typical[rows.indices]) ** 2, k) / n
    return float((n - rows.nnz) / n + counts / n @ ((spread + r) / (square + r)))


def _check_ranks(m, r, x_rank, y_rank, n_free) -> None:
    largest = min(x_rank, y_rank)
    if m > largest:
        raise ParameterError(
            f"n_components={m}, but the largest possible value is {largest}: the rank of X is "
            f"{x_rank} and that of Y {y_rank}; lower n_components"
        )
    # Two subspaces of dimensions a and b meet in a + b - n dimensions at least.
    forced = min(x_rank + y_rank - n_free, largest)
    if r == 0 and forced > 0:
        warnings.warn(
            f"{forced} correlations are 1 whatever the data, because the ranks of X and Y "
            f"({x_rank} + {y_rank}) exceed the {n_free} free dimensions of the samples; give more "
            "samples or fewer columns, or set regularization > 0",
            stacklevel=3,
        )


def _omega(x: _View, y: _View, n: int):
    """C_XX^{-1/2} C_XY C_YY^{-1/2}: an array, or an operator if either W is one."""
    if isinstance(x.W, np.ndarray) and isinstance(y.W, np.ndarray):
        C = x.rows.T @ y.rows
        C = (C.toarray() if issparse(C) else C) / n - np.outer(x.shift, y.shift)
        return x.W.T @ C @ y.W
    # One row of the one-hot view meets one row of the other: no more nonzeros than that one has.
    C = _Sparse(csr_array(csr_array(x.rows).T @ csr_array(y.rows) / n))
    means = aslinearoperator(x.shift[:, None]) @ aslinearoperator(y.shift[None, :])
    return aslinearoperator(x.W).H @ (C - means) @ aslinearoperator(y.W)


def _leading_triples(Omega, m, rank, random_state):
    """The SVD to `rank`, iterated until |Omega v - sigma u| is small for the first m triples."""
    for n_iter in (None, 4, 16, 64):  # the first is svd's own choice, exact for small views
        method = "randomized" if n_iter else "auto"
        U, sigma, Vt = svd(Omega, rank, method=method, n_iter=n_iter, random_state=random_state)
        errors = np.linalg.norm(Omega @ Vt[:m].T - U[:, :m] * sigma[:m], axis=0)
        residual = float(errors.max())
        if residual <= _CONVERGED:
            break
    else:
        warnings.warn(
            f"the singular vectors of Omega have converged only to {residual:.1g}: many directions "
            "correlate almost equally, like columns that occur once or twice; drop rare columns, "
            "set regularization > 0 or ask for another n_components",
            stacklevel=3,
        )
    return U, sigma, Vt, residual


def _signs(A) -> np.ndarray:
    """The signs that make the first of each column's largest entries positive, up to rounding."""
    size = np.abs(A)
    first = np.argmax(size >= (1 - 1e-9) * size.max(axis=0), axis=0)
    return np.where(np.take_along_axis(A, first[None], axis=0)[0] < 0, -1.0, 1.0)


def _project(X, mean, weights) -> np.ndarray:
    # A sparse X stays sparse. A dense one is centered first, which rounds less.
    return X @ weights - mean @ weights if issparse(X) else (X - mean) @ weights
