r"""New topics: those that the old topics do not span.

Let Q be an orthonormal basis of the old topics :math:`\mu_1 \dots \mu_K`, with words scaled as in
:mod:`eigentext.topics.tensor`, and :math:`P = I - Q Q^\top`. If the documents have further topics,

.. math:: P A P = \frac{1}{\alpha_0 + 1} \sum_{i > K} w_i\, (P \mu_i) (P \mu_i)^\top,

because P removes the old ones. With W that whitens :math:`P A P`, in the space of P,
:math:`W^\top \mu_i = 0` for the old topics. So T(W, W, W) has the new topics alone. It gives their
vectors :math:`u_i` and weights, and the whole topics follow from

.. math:: A W u_i = \sum_j \frac{w_j}{\alpha_0 + 1} \mu_j \mu_j^\top W u_i \propto \mu_i.

Nothing is subtracted from the moments, so errors of the old weights do no harm.

How many new topics there are is a comparison: the old topics leave out something of the old
documents, too, which is noise, or detail below their number. Directions count as new if they are
stronger in all documents than the strongest one that was left out before, by more than 5 %.
"""

from typing import Any, NamedTuple

import numpy as np

from eigentext import engine
from eigentext.errors import ParameterError
from eigentext.factor.tensor import tensor_power
from eigentext.factor.whiten import Whitening, whiten
from eigentext.matrices.products import Factorable
from eigentext.moments.bags import BagMoments
from eigentext.topics.tensor import (
    _POSSIBLE,
    TopicMoments,
    _centered_pairs,
    _centered_triples,
    _summed_to_one,
    robust_weights,
    word_scale,
)

_one_blas_thread = engine.one_blas_thread()  # for equal bits: see matrices.products
MOST_NEW = 10  # the most topics that are found at once if the number is not given
_STRONGER = 1.05  # a direction is new if it exceeds those left out before by this factor
_ZERO = 1e-9  # the eigenvalues of scaled pairs are at most 1, so a smaller one is rounding


class NewTopics(NamedTuple):
    """Topics beyond the old ones; rows may have negative entries."""

    weights: np.ndarray  # (n,), shares of the whole
    components: np.ndarray  # (n, d)
    strengths: np.ndarray  # the eigenvalues of the pairs outside the old topics


@_one_blas_thread
def new_topics(
    moments: TopicMoments,
    topics: np.ndarray,
    n: int,
    *,
    alpha0: float,
    scale: np.ndarray | None = None,
    random_state: int = 0,
) -> NewTopics:
    """Return at most n topics of these moments that `topics`, shape (K, d), do not span."""
    scale = word_scale(moments.mean) if scale is None else scale
    found = left_out(moments, topics, n, alpha0=alpha0, scale=scale, random_state=random_state)
    if found is None:
        return NewTopics(np.zeros(0), np.zeros((0, len(scale))), np.zeros(0))
    T = _centered_triples(moments, alpha0, scale[:, None] * found.W)
    lambdas, U = tensor_power(T, found.rank, random_state=random_state)
    least = 2 * np.sqrt(alpha0 + 1) / (alpha0 + 2)  # the lambda of the weight 1
    is_sound = lambdas > least / np.sqrt(_POSSIBLE)
    lambdas, U = lambdas[is_sound], U[is_sound]
    A = _centered_pairs(moments, alpha0, scale)
    mu = (A.times(found.W) @ U.T).T * np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)
    weights = 4 * (alpha0 + 1) / ((alpha0 + 2) * lambdas) ** 2
    return NewTopics(weights, _summed_to_one(mu), found.eigenvalues)


@_one_blas_thread
def left_out(
    moments: TopicMoments,
    topics: np.ndarray,
    n: int,
    *,
    alpha0: float,
    scale: np.ndarray,
    random_state: int = 0,
) -> Whitening | None:
    """Return the n strongest directions of the pairs outside the span of topics, if there are."""
    A = _centered_pairs(moments, alpha0, scale)
    Q = np.linalg.qr((topics * scale).T)[0]

    def outside(B: np.ndarray) -> np.ndarray:
        return B - Q @ (Q.T @ B)

    def times(B: np.ndarray) -> np.ndarray:
        return outside(A.times(outside(B)))

    n = min(n, len(scale) - len(topics))
    if n < 1:
        return None
    try:
        found = whiten(
            Factorable(A.shape, A.dtype, times, times), n, tol=1e-3, random_state=random_state
        )
    except ParameterError:  # no positive eigenvalue
        return None
    kept = int((found.eigenvalues > _ZERO).sum())
    if not kept:
        return None
    W, B, values = outside(found.W[:, :kept]), found.B[:, :kept], found.eigenvalues[:kept]
    return found._replace(W=W, B=B, eigenvalues=values, rank=kept)


def found_in(
    bags: BagMoments,
    topics: np.ndarray,
    n: int | None,
    *,
    before: BagMoments | None,
    alpha0: float,
    robust: float,
    random_state: int = 0,
) -> NewTopics:
    """Return n new topics of documents, or fewer; if n is None, as many as stand out.

    `before` are the documents that `topics` were learned from, over the same words. Documents lose
    leverage as in :func:`eigentext.topics.tensor.robust_weights`, with the limit `robust`.
    """
    settings = {"alpha0": alpha0, "random_state": random_state}
    bags, scale = _robust(bags, len(topics), robust, settings)
    if n is None:
        n = 0
        if before is not None:
            old, old_scale = _robust(before, len(topics), robust, settings)
            n = _count(
                left_out(bags, topics, MOST_NEW, scale=scale, **settings),
                left_out(old, topics, 1, scale=old_scale, **settings),
            )
    return new_topics(bags, topics, n, scale=scale, **settings)


def _count(now: Whitening | None, before: Whitening | None) -> int:
    """The number of directions that are much stronger now than any was before."""
    if now is None:
        return 0
    most = 0.0 if before is None else float(before.eigenvalues[0])
    return int((now.eigenvalues > _STRONGER * most).sum())


def _robust(
    bags: BagMoments, n_topics: int, robust: float, settings: dict[str, Any]
) -> tuple[BagMoments, np.ndarray]:
    """The documents with the weights that they have in a fit, and the scale of their words."""
    if not robust:
        return bags, word_scale(bags.mean)
    weighted = robust_weights(bags, n_topics, most=robust, **settings)
    return bags.reweighted(weighted.weights), weighted.scale
