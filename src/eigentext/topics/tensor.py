r"""Topics by tensor decomposition, after Anandkumar et al. (2014).

With :math:`w_i = \alpha_i / \alpha_0` (or the topics' probabilities, where :math:`\alpha_0 = 0`),

.. math::

    A &= E[x_1 x_2^\top] - \frac{\alpha_0}{\alpha_0 + 1} v v^\top
       = \frac{1}{\alpha_0 + 1} \sum_i w_i\, \mu_i \mu_i^\top, \qquad v = E[x_1], \\
    T &= E[x_1 \otimes x_2 \otimes x_3]
       - \frac{\alpha_0}{\alpha_0 + 2}\, \mathrm{sym}_3\, E[x_1 \otimes x_2 \otimes v]
       + \frac{2 \alpha_0^2}{(\alpha_0 + 2)(\alpha_0 + 1)}\, v \otimes v \otimes v
       = \frac{2}{(\alpha_0 + 2)(\alpha_0 + 1)} \sum_i w_i\, \mu_i \otimes \mu_i \otimes \mu_i.

W with :math:`W^\top A W = I` makes :math:`u_i = \sqrt{w_i / (\alpha_0 + 1)}\, W^\top \mu_i`
orthonormal, and

.. math:: T(W, W, W) = \sum_i \lambda_i\, u_i \otimes u_i \otimes u_i, \qquad
    \lambda_i = \frac{2}{\alpha_0 + 2} \sqrt{\frac{\alpha_0 + 1}{w_i}},

so :math:`w_i = 4 (\alpha_0 + 1) / ((\alpha_0 + 2) \lambda_i)^2` and :math:`\mu_i \propto A W u_i`.
As :math:`w_i \leq 1`, :math:`\lambda_i` cannot be small. If it is smaller, or negative, the triples
have no i-th topic: it is not *sound*.

Two things make the method work on real text. They change nothing if the moments are exact. Words
are *scaled* by :math:`1/\sqrt{v}`, as in CCA: then the K directions that are kept are those that
exceed the noise, and not those of frequent words. And documents are *weighted*: see
:func:`robust_weights`.
"""

from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from eigentext import engine
from eigentext.factor.descent import minimize_tensor
from eigentext.factor.tensor import simultaneous_diagonalization, tensor_power
from eigentext.factor.whiten import Whitening, whiten
from eigentext.matrices.products import Factorable
from eigentext.moments.bags import BagMoments

Solver = Literal["power", "diagonal"]
_one_blas_thread = engine.one_blas_thread()  # for equal bits: see matrices.products
_EPS = float(np.finfo(np.float64).tiny) ** 0.5
_PRECISE = 1e-3  # the residual of the whitening of a large matrix, which is noisier than that
_ROUGH = 0.1  # the residual in later rounds of weighting, which start from a precise whitening
_ROUNDS = 6  # rounds of weighting: some outliers show only after others have lost their weight
_POSSIBLE = 2.0  # a weight is at most 1; noise and a wrong alpha0 may double it, but not more
_SPARE = 12  # directions beyond K (or K / 2 of them) that are examined for outliers


class TopicMoments(Protocol):
    """The moments that topics are learned from: those of a sample, or those of a model."""

    mean: np.ndarray  # v = E[x1], (d,)

    def pairs_times(self, B: np.ndarray) -> np.ndarray:
        """Return E[x1 x2'] B."""
        ...

    def triples(self, W: np.ndarray) -> np.ndarray:
        """Return E[x1 x2 x3](W, W, W)."""
        ...


class TensorTopics(NamedTuple):
    """Topics in the order of the decomposition."""

    weights: np.ndarray  # w_i, (K,); their sum is 1 if the model is true
    components: np.ndarray  # mu_i, (K, d); rows have the sum 1, but entries may be negative
    is_sound: np.ndarray  # (K,); otherwise the triples have no such topic, and its weight is 0
    n_sound: int  # how many are sound, in the answer and before it was improved
    whitening: Whitening
    residual: float  # ||T - sum|| / ||T||, whitened


class Robust(NamedTuple):
    """The result of :func:`robust_weights`."""

    weights: np.ndarray  # the weights of the documents
    left: np.ndarray  # the share of its weight that each kept, beside what short ones lose
    n_reduced: int  # how many documents had too much leverage
    scale: np.ndarray  # the scale of the words, before documents lost weight
    directions: np.ndarray  # they roughly whiten the weighted pairs


@_one_blas_thread
def tensor_topics(
    moments: TopicMoments,
    n_topics: int,
    *,
    alpha0: float = 0.0,
    solver: Solver = "power",
    descend: bool = False,
    scale: np.ndarray | None = None,
    start: np.ndarray | None = None,
    random_state: int = 0,
) -> TensorTopics:
    """Decompose the moments. With `descend`, minimize the distance of both moments afterwards.

    `scale` is the scale of the words. Give that of the unweighted documents if documents are
    weighted. Otherwise, the words of documents with little weight would be scaled up again. `start`
    is the start of the whitening.
    """
    scale = word_scale(moments.mean) if scale is None else scale
    whitening = whiten(
        _centered_pairs(moments, alpha0, scale),
        n_topics,
        tol=_PRECISE,
        start=start,
        random_state=random_state,
    )
    K = whitening.rank
    T = _centered_triples(moments, alpha0, scale[:, None] * whitening.W)
    solve = tensor_power if solver == "power" else simultaneous_diagonalization
    lambdas, U = solve(T, K, random_state=random_state)
    least = 2 * np.sqrt(alpha0 + 1) / (alpha0 + 2)  # the lambda of the weight 1
    is_sound = lambdas > least / np.sqrt(_POSSIBLE)
    weights, n_sound = np.zeros(K), int(is_sound.sum())
    weights[is_sound] = 4 * (alpha0 + 1) / ((alpha0 + 2) * lambdas[is_sound]) ** 2
    if descend:
        # Pairs and triples together: W'A W = I = ratio * sum theta phi phi', T = sum theta phi^3.
        ratio = (alpha0 + 2) / 2
        lambdas, U = minimize_tensor(T, lambdas, U, pairs=np.eye(K), ratio=ratio)
        weights = np.maximum(lambdas * ratio * (alpha0 + 1), 0)
        is_sound = (weights > 0) & (weights < _POSSIBLE)
        weights = np.where(is_sound, weights, 0.0)
        n_sound = min(n_sound, int(is_sound.sum()))
    mu = U @ whitening.B.T * np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)
    rest = T - np.einsum("r,ri,rj,rk->ijk", lambdas, U, U, U, optimize=True)
    residual = float(np.linalg.norm(rest) / (np.linalg.norm(T) or 1.0))
    return TensorTopics(weights, _summed_to_one(mu), is_sound, n_sound, whitening, residual)


@_one_blas_thread
def robust_weights(
    bags: BagMoments, n_topics: int, *, alpha0: float, most: float, random_state: int = 0
) -> Robust:
    r"""Find weights of documents with which no single document makes a topic.

    A document that is shorter than the average has a weight in proportion to its length, because it
    has few pairs, which are noisy.

    With W' A W = I, the trace of :math:`W^\top A W` is a sum of one term for each document: its
    *leverage*, as in regression. If the model is true, a document that has only the topic i has a
    leverage of about :math:`1/(N w_i)`. A document with much more leverage makes a direction that
    is no topic. Examples are a block of encoded bytes, a list of names, or a text that was posted a
    hundred times. Its weight is reduced until its leverage is at most `most` times K/N, so that at
    least N / (K `most`) documents support each topic. In the third moment, the influence of a
    document is its leverage times :math:`\|W^\top c\| / n`, which grows like the square root of the
    leverage. Therefore the excess is reduced with the power 3/2.
    """
    N = bags.weights.sum()
    weights = bags.weights * np.minimum(bags.lengths, (bags.weights * bags.lengths).sum() / N)
    bags = bags.reweighted(weights * (N / weights.sum()))
    scale = word_scale(bags.mean)
    limit = most * n_topics / N
    rank = min(n_topics + max(_SPARE, n_topics // 2), bags.n_words)
    left = np.ones(len(weights))
    W: Any = None
    for _ in range(_ROUNDS):
        A = _centered_pairs(bags, alpha0, scale)
        tol = _PRECISE if W is None else _ROUGH
        whitening = whiten(A, rank, tol=tol, start=W, random_state=random_state)
        W, values = whitening.W, whitening.eigenvalues
        # Spare directions are compared with the K-th, which they would have to exceed.
        measure = np.minimum(np.sqrt(values / values[:n_topics][-1]), 1)
        excess = bags.pair_shares(scale[:, None] * W * measure) / limit
        over = excess > 1
        if not over.any():
            break
        loss = np.where(over, excess, 1) ** 1.5
        left /= loss
        bags = bags.reweighted(bags.weights / loss)
    return Robust(bags.weights, left, int((left < 1).sum()), scale, W)


def word_scale(v: np.ndarray) -> np.ndarray:
    """Return 1 / sqrt(v), and 0 for words that never occur."""
    return np.divide(1.0, np.sqrt(v), out=np.zeros_like(v), where=v > 0)


def _centered_pairs(moments: TopicMoments, alpha0: float, scale: np.ndarray) -> Factorable:
    """The matrix A, with its rows and columns scaled."""
    v = scale * moments.mean
    c = alpha0 / (alpha0 + 1)

    def times(B: np.ndarray) -> np.ndarray:
        pairs = scale[:, None] * moments.pairs_times(scale[:, None] * B)
        return pairs - np.outer(c * v, v @ B)

    d = len(v)
    return Factorable((d, d), np.dtype(np.float64), times, times)


def _centered_triples(moments: TopicMoments, alpha0: float, W: np.ndarray) -> np.ndarray:
    """The tensor T(W, W, W)."""
    m = W.T @ moments.mean
    E = W.T @ moments.pairs_times(W)
    tied = E[:, :, None] * m
    tied = tied + tied.transpose(0, 2, 1) + tied.transpose(2, 1, 0)
    cube = m[:, None, None] * m[:, None] * m
    c = alpha0 / (alpha0 + 2)
    return moments.triples(W) - c * tied + 2 * c * alpha0 / (alpha0 + 1) * cube


def _summed_to_one(mu: np.ndarray) -> np.ndarray:
    """Rows divided by their sums. If noise makes a sum too small, only positive entries remain."""
    sums = mu.sum(axis=1, keepdims=True)
    sound = sums > 1e-3 * np.abs(mu).sum(axis=1, keepdims=True)
    mu = np.where(sound, mu, np.maximum(mu, 0))
    return mu / np.maximum(mu.sum(axis=1, keepdims=True), _EPS)
