r"""Anchors (pivots): the corners of a cloud of points, and the decomposition of a matrix by them.

Cohen and Collins (2014), section 5, after Arora et al. (2013). Given

.. math:: Q_{fg} = \sum_{h=1}^m \pi(h)\,r(f|h)\,s(g|h)

where every state h has a *pivot* f, with :math:`r(f|h) > 0` only for this h:

1. CCA on Q gives a representation :math:`\phi(g) \in R^m`;
2. :math:`v_f = E[\phi(g)|f] = \sum_h p(h|f)\,w_h`: points in the convex hull of m corners;
3. the corners are the pivots' points (:func:`anchors`);
4. p(h|f) are the weights of :math:`v_f` on them (:func:`simplex_weights`).

So :math:`\pi(h) = \sum_f p(f)\,p(h|f)` and :math:`r(f|h) = p(f)\,p(h|f)/\pi(h)`. The same steps on
:math:`Q^\top` give s, with the states in another order, which the third step of figure 2 undoes.
"""

from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from eigentext import engine
from eigentext.errors import ParameterError
from eigentext.factor import arguments
from eigentext.factor.mixture import ConditionalMixture
from eigentext.factor.svd import svd
from eigentext.matrices.products import rows_times, sparse_times
from eigentext.parameters import Choice, argument

_METHOD = Choice("pivots", of=("pivots", "left"))
_ROWS = 256  # rows of a task
_EPS = float(np.finfo(np.float64).eps)


def anchors(
    V: np.ndarray,
    m: int,
    *,
    candidates: Any = None,
    weights: np.ndarray | None = None,
    fewer: bool = False,
    after: np.ndarray | None = None,
) -> np.ndarray:
    """FastAnchorWords: m rows of V that are corners of its convex hull.

    The first is the furthest from the mean. Each further one is the furthest from the affine span
    of those before it. If all rows are in the hull of m of them, these m are found.

    Parameters
    ----------
    V : array, shape (n, l)
        Points, at least m - 1 of them in independent directions from the first.
    m : int
        The number of corners.
    candidates : indices or mask, optional
        The rows that may be chosen. Rows of rare words are far out only because they are noisy.
    weights : array, shape (n,), optional
        Factors on the squared distances, also to avoid noise.
    fewer : bool
        Whether to return fewer corners, instead of an error, if no more directions are independent.
    after : array, shape (g, l), optional
        Corners that are known. The m further ones are sought after these, as if the search had
        found these first.

    Returns
    -------
    indices : array, shape (m,), in the order in which they were found

    Examples
    --------
    >>> import numpy as np
    >>> from eigentext.factor import anchors
    >>> anchors(np.array([[0, 0], [0.2, 0.3], [1, 0], [0.4, 0.4], [0, 1]]), 3)
    array([2, 4, 0])
    """
    V = _points(V)
    rows = _chosen(candidates, len(V))
    m = arguments.whole("m", m, most=len(rows))
    if weights is None:
        weights = np.ones(len(V))
    weights = arguments.numeric(weights, "weights").astype(np.float64)
    if weights.shape != (len(V),):
        raise ParameterError(
            f"weights of shape {weights.shape}; give one for each of {len(V)} rows"
        )
    weights = weights[rows]
    with engine.one_blas_thread():
        if after is None or len(after) == 0:
            return rows[_furthest(V[rows], m, weights, fewer)]
        return rows[_further(V[rows], _points(after), m, weights, fewer)]


def _furthest(X: np.ndarray, m: int, weights: np.ndarray, fewer: bool) -> list[int]:
    """The first corner is the furthest point from the mean."""
    centered = X - X.mean(axis=0)
    first = int((weights * (centered**2).sum(axis=1)).argmax())
    return [first, *_further(X, X[first : first + 1], m - 1, weights, fewer)]


def _further(
    X: np.ndarray, known: np.ndarray, m: int, weights: np.ndarray, fewer: bool
) -> list[int]:
    """The m corners that follow known ones."""
    scale = np.sqrt(max((X**2).sum(axis=1).max(), (known**2).sum(axis=1).max()))
    X = X - known[0]  # a span through the origin is now an affine span through the first
    distances = (X**2).sum(axis=1)
    directions = np.zeros((len(known) + m, X.shape[1]))
    found = list[int]()
    for k in range(1, len(known) + m):
        best = int((weights * distances).argmax())
        direction = known[k] - known[0] if k < len(known) else X[best]
        for _ in range(2):  # the second time removes rounding errors
            direction = direction - directions.T @ (directions @ direction)
        length = np.linalg.norm(direction)
        if length <= 1e4 * _EPS * scale:  # of rounding errors
            if k < len(known):
                continue
            if fewer:
                break
            raise ParameterError(
                f"m is {len(known) + m}, but the rows have only {k} corners in independent "
                f"directions; use {k} or less"
            )
        directions[k] = direction / length
        distances = np.maximum(distances - (X @ directions[k]) ** 2, 0)
        if k >= len(known):
            found.append(best)
    return found


def simplex_weights(
    V: np.ndarray, anchors: np.ndarray, *, tol: float = 1e-12, return_gaps: bool = False
) -> Any:
    r"""Rows on the simplex: :math:`\arg\min_\gamma \|\sum_h \gamma_h a_h - v\|^2` for every row v.

    This is Wolfe's finite algorithm (1976): a Frank-Wolfe step, and all weights are corrected after
    it. Unlike the plain Frank-Wolfe algorithm of Cohen and Collins (2014), it reaches the exact
    answer. It stops earlier at a duality gap of `tol`.

    Parameters
    ----------
    V : array, shape (n, l)
        The points.
    anchors : array of integers, shape (m,), or of floats, shape (m, l)
        The rows of V that are the corners, or the corners themselves.
    tol : float
        The duality gap, relative to the largest squared distance of a corner from the mean of the
        corners. The gap bounds how far half the squared distance is from its minimum.
    return_gaps : bool
        Whether to return the gaps (n,), in units of V squared, too.

    Examples
    --------
    >>> import numpy as np
    >>> from eigentext.factor import simplex_weights
    >>> corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> simplex_weights(np.array([[0.2, 0.3], [1.0, 1.0]]), corners)
    array([[0.5, 0.2, 0.3],
           [0. , 0.5, 0.5]])
    """
    from eigentext.factor._anchor_loops import nearest_in_simplex

    V = _points(V)
    anchors = arguments.numeric(anchors, "anchors")
    tol = arguments.number("tol", tol, least=0)
    A = _points(V[_chosen(anchors, len(V))] if anchors.ndim == 1 else anchors)
    if not len(A) or A.shape[1] != V.shape[1]:
        raise ParameterError(f"corners of shape {A.shape} for points of {V.shape[1]} coordinates")
    center = A.mean(axis=0)  # weights that sum to one do not depend on the origin
    with engine.one_blas_thread():
        A = A - center
        G = A @ A.T
        B = rows_times(V - center, np.ascontiguousarray(A.T))
    shift = max(float(np.diag(G).max()), np.finfo(np.float64).tiny)
    weights, gaps = np.empty((len(V), len(A))), np.empty(len(V))

    def work(start: int) -> None:
        stop = min(start + _ROWS, len(V))
        nearest_in_simplex(G, B, shift, tol * shift, 100 * len(A), weights, gaps, start, stop)

    for _ in engine.current().map(work, range(0, len(V), _ROWS)):
        pass
    return (weights, gaps) if return_gaps else weights


def separations(A: np.ndarray) -> np.ndarray:
    """The distance of each corner, a row of A, from the affine span of the others."""
    A = _points(A)
    if len(A) == 1:
        return np.array([np.inf])
    centered = A - A.mean(axis=0)
    with engine.one_blas_thread():
        if np.linalg.matrix_rank(centered) < len(A) - 1:
            return np.array([_distance(A[h], np.delete(A, h, axis=0)) for h in range(len(A))])
        # The gradient of the h-th barycentric coordinate: it is 1 at the corner, 0 on the others.
        gradients = np.linalg.pinv(centered)
    return 1 / np.linalg.norm(gradients, axis=0)


def _distance(point: np.ndarray, others: np.ndarray) -> float:
    """The distance of a point from the affine span of others, which may be dependent."""
    origin = others[0]
    _, s, Vt = np.linalg.svd(others - origin, full_matrices=False)
    basis = Vt[s > s.max(initial=0) * max(others.shape) * np.finfo(np.float64).eps]
    rest = point - origin
    return float(np.linalg.norm(rest - rest @ basis.T @ basis))


class PivotStates(NamedTuple):
    """One side of the decomposition (Cohen and Collins 2014, section 5.2)."""

    prior: np.ndarray  # pi(h), (m,)
    posteriors: np.ndarray  # p(h|f), (d, m); the prior for an f of no weight
    anchors: np.ndarray  # the pivots f, (m,)
    points: np.ndarray  # v_f, (d, m)
    features: np.ndarray  # phi(g), (d', m)
    singular_values: np.ndarray  # of the scaled Q, (m,)
    separations: np.ndarray  # of the pivots, (m,)


def pivot_states(
    Q: Any,
    m: int,
    *,
    candidates: Any = None,
    weights: np.ndarray | None = None,
    ridge: float = 0.0,
    tol: float = 1e-12,
    random_state: int = 0,
) -> PivotStates:
    """Steps 1 to 4 for the rows f of Q, counts or probabilities.

    `candidates` and `weights` are those of :func:`anchors`, `tol` is that of
    :func:`simplex_weights`. CCA uses only the rows of the candidates: a direction that none of them
    has cannot distinguish them. `ridge`, in the units of Q, is added to the sums of rows and
    columns that scale Q. Without it, pairs that occur only with each other have correlation 1,
    however rare they are.
    """
    Q = _checked(Q, m)
    rows, columns = Q.sum(axis=1), Q.sum(axis=0)
    total = rows.sum()
    chosen = _chosen(rows > 0 if candidates is None else candidates, len(rows))
    left, right = (_inverse(np.sqrt(side + ridge), side > 0) for side in (rows[chosen], columns))
    scaled = sp.diags_array(left) @ Q[chosen] @ sp.diags_array(right)
    _, s, Vt = svd(scaled, min(m, len(chosen)), random_state=random_state)
    rank = int((s > 1e3 * _EPS * s[0]).sum())
    if rank < m:
        raise ParameterError(f"m is {m}, but Q has rank {rank}; use {rank} or less")
    features = np.ascontiguousarray(Vt.T) * (np.sqrt(total) * right)[:, None]
    points = sparse_times(Q, features) * _inverse(rows, rows > 0)[:, None]
    found = anchors(points, m, candidates=chosen, weights=weights)
    posteriors = simplex_weights(points, found, tol=tol)
    prior = (rows[:, None] * posteriors).sum(axis=0) / total
    posteriors[rows == 0] = prior
    return PivotStates(prior, posteriors, found, points, features, s, separations(points[found]))


def pivot_decomposition(
    Q: Any,
    m: int,
    *,
    method: Literal["pivots", "left"] = "pivots",
    min_weight: float = 0.0,
    ridge: float = 0.0,
    tol: float = 1e-9,
    n_iter: int = 1000,
    random_state: int = 0,
    return_diagnostics: bool = False,
) -> Any:
    r""":math:`Q = \sum_h \pi(h)\,r(\cdot|h)\,s(\cdot|h)^\top`, exactly if there are pivots.

    Parameters
    ----------
    Q : array or scipy sparse matrix, shape (d, d')
        Probabilities or counts of pairs (f, g).
    m : int
        The number of states.
    method : "pivots" or "left"
        "pivots" is figure 2: pivots on both sides, then ``t(h'|h)`` from one order of the states to
        the other. "left" is its closing remark: pivots among the rows only, then the s of greatest
        likelihood; columns need no pivots.
    min_weight : float
        Rows (and columns) with a smaller sum cannot be pivots, because rare rows are noisy.
    ridge : float
        See :func:`pivot_states`; 0 for exact Q.
    tol, n_iter
        The convex EM of the last step stops at a duality gap of `tol`, or after `n_iter` steps. The
        gap bounds how far the log-likelihood per pair is from its maximum.
    random_state : int
        The seed of the SVD.
    return_diagnostics : bool
        Whether to return a dictionary too: the anchors, their separations, the singular values, the
        duality gap and the number of EM steps.

    Returns
    -------
    prior : array, shape (m,)
    left : array, shape (m, d)
        r(f|h)
    right : array, shape (m, d')
        s(g|h), under the same permutation

    Examples
    --------
    >>> import numpy as np
    >>> from eigentext.factor import pivot_decomposition
    >>> r = np.array([[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]])
    >>> Q = r.T @ np.diag([0.25, 0.75]) @ r
    >>> prior, left, right = pivot_decomposition(Q, 2)
    >>> order = np.argsort(prior)
    >>> prior[order].round(6), left[order].round(6)
    (array([0.25, 0.75]), array([[0.5, 0. , 0.5],
           [0. , 0.5, 0.5]]))
    """
    argument("method", _METHOD, method)
    Q = _checked(Q, m)
    n_iter = arguments.whole("n_iter", n_iter, least=0)
    for name, value in (("min_weight", min_weight), ("ridge", ridge), ("tol", tol)):
        arguments.number(name, value, least=0)
    Q = Q / Q.sum() if min_weight == ridge == 0 else Q
    steps = {"ridge": ridge, "random_state": random_state}
    rows, columns = Q.sum(axis=1), Q.sum(axis=0)
    one = pivot_states(Q, m, candidates=_heavy(rows, min_weight, m, "rows"), **steps)
    mixture = ConditionalMixture(Q / Q.sum())
    found: dict[str, Any] = {
        "anchors": one.anchors.tolist(),
        "separations": one.separations.tolist(),
        "singular_values": one.singular_values.tolist(),
    }
    if method == "left":
        with engine.one_blas_thread():
            s, gap, taken = _likeliest_right(mixture, one, tol, n_iter)
    else:
        two = pivot_states(Q.T, m, candidates=_heavy(columns, min_weight, m, "columns"), **steps)
        found["right_anchors"] = two.anchors.tolist()
        found["right_separations"] = two.separations.tolist()
        s = _conditionals(columns, two)
        with engine.one_blas_thread():
            t, gap, taken = _likeliest_order(mixture, one, s, tol, n_iter)
            s = s @ t.T
    answer = one.prior, _conditionals(rows, one).T, s.T
    return (*answer, found | {"gap": gap, "n_iter": taken}) if return_diagnostics else answer


def _likeliest_order(
    mixture: ConditionalMixture, one: PivotStates, s: np.ndarray, tol: float, n_iter: int
) -> tuple[np.ndarray, float, int]:
    """Figure 2, step 3: the t(h'|h) that maximize sum Q log sum r(h|f) t(h'|h) s(g|h').

    If Q is exact, t is a permutation, and EM would approach it only like 1/steps: all ratios are 1
    there, so nothing drives the other entries to zero. But the corner
    w_h = sum_h' t(h'|h) E[phi(g)|h'] is a point among corners as in step 4. So least squares finds
    t, and EM only has to correct for noise.
    """
    corners = s.T @ one.features
    t = simplex_weights(one.points[one.anchors], corners)

    def gradient(t: np.ndarray) -> tuple[np.ndarray, float]:
        r = one.posteriors @ t
        ratios, _, total = mixture.ratios(r, s)
        X = sp.csr_array(
            (ratios, mixture.counts.indices, mixture.counts.indptr), mixture.counts.shape
        )
        return one.posteriors.T @ sparse_times(X, s), total

    return _convex_em(t, gradient, 1, tol, n_iter)


def _likeliest_right(
    mixture: ConditionalMixture, one: PivotStates, tol: float, n_iter: int
) -> tuple[np.ndarray, float, int]:
    """The remark on figure 2: the s(g|h) that maximize sum Q log sum r(h|f) s(g|h).

    It starts with p(g|f) of the pivots f, which is s(g|h) if Q is exact.
    """
    Q = mixture.counts
    s = Q[one.anchors].toarray().T
    s /= s.sum(axis=0)

    def gradient(s: np.ndarray) -> tuple[np.ndarray, float]:
        ratios, _, total = mixture.ratios(one.posteriors, s)
        X = sp.csr_array((ratios, Q.indices, Q.indptr), Q.shape)
        return sparse_times(X.T.tocsr(), one.posteriors), total

    return _convex_em(s, gradient, 0, tol, n_iter)


def _convex_em(
    x: np.ndarray, gradient: Any, axis: int, tol: float, n_iter: int
) -> tuple[np.ndarray, float, int]:
    """EM for distributions x along `axis`: each times its gradient, normalized.

    For a concave log-likelihood of a Q of sum one, whose gradient times x sums to one, the duality
    gap is ``gradient.max(axis).sum() - 1``. If the start is not the answer, EM begins halfway
    between it and the uniform distribution, because EM never changes a zero.
    """
    taken = 0
    slope, total = gradient(x)
    gap = np.inf if total == -np.inf else float(slope.max(axis=axis).sum()) - 1
    if gap > tol:
        x = (x + 1 / x.shape[axis]) / 2
        slope, _ = gradient(x)
    while gap > tol and taken < n_iter:
        x = x * slope
        x /= np.maximum(x.sum(axis=axis, keepdims=True), np.finfo(np.float64).tiny)
        slope, _ = gradient(x)
        gap = float(slope.max(axis=axis).sum()) - 1
        taken += 1
    return x, max(gap, 0.0), taken


def _conditionals(weights: np.ndarray, states: PivotStates) -> np.ndarray:
    """r(f|h) by Bayes' rule, (d, m)."""
    joint = weights[:, None] * states.posteriors
    return joint / joint.sum(axis=0)


def _checked(Q: Any, m: int) -> Any:
    """A CSR matrix of finite numbers, none negative and not all zero, with room for m states."""
    Q = sp.csr_array(Q if sp.issparse(Q) else arguments.matrix(Q, "Q")).astype(np.float64)
    if Q.ndim != 2 or not np.isfinite(Q.data).all() or (Q.data < 0).any() or not Q.data.any():
        raise ParameterError("Q must be a matrix of counts or probabilities: finite, none below 0")
    arguments.whole("m", m, most=min(Q.shape))
    Q.sum_duplicates()
    Q.eliminate_zeros()
    return Q


def _heavy(weights: np.ndarray, least: float, m: int, what: str) -> np.ndarray:
    found = np.flatnonzero((weights >= least) & (weights > 0))
    if len(found) < m:
        raise ParameterError(
            f"only {len(found)} {what} have a weight of {least:g} (min_weight) or more, "
            f"and {m} pivots are asked for; lower min_weight or m"
        )
    return found


def _points(V: Any) -> np.ndarray:
    V = arguments.numeric(V, "points").astype(np.float64, copy=False)
    if V.ndim != 2 or not np.isfinite(V).all():
        raise ParameterError("points must be rows of a matrix of finite numbers")
    arguments.check_scale(V, "the points")
    return V


def _chosen(candidates: Any, n: int) -> np.ndarray:
    if candidates is None:
        return np.arange(n)
    rows = np.asarray(candidates)
    if rows.dtype == bool and rows.shape == (n,):
        return np.flatnonzero(rows)
    is_places = rows.ndim == 1 and rows.dtype.kind in "iu"
    if not is_places or rows.min(initial=0) < 0 or rows.max(initial=0) >= n:
        raise ParameterError(f"candidates must be some of {n} rows: their places, or a mask")
    return rows


def _inverse(x: np.ndarray, where: np.ndarray) -> np.ndarray:
    return np.divide(1.0, x, out=np.zeros(len(x)), where=where)
