r"""Topics by tensor decomposition, after Anandkumar et al. (2012).

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

Two things make it work on real text, and change nothing about exact moments. Words are *scaled* by
:math:`1/\sqrt{v}`, as in CCA, so that the K directions kept are those that stand out of the noise
and not those of frequent words. And documents are *weighted*: see :func:`robust_weights`.
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
_one_blas_thread = engine.one_blas_thread()  # equal bits: factor.products
_EPS = float(np.finfo(np.float64).tiny) ** 0.5
_PRECISE = 1e-3  # residual of the whitening of a large matrix: samples are noisier than that
_ROUGH = 0.1  # where documents are only weighed
_ROUNDS = 6  # of weighing: some freaks show only when those before them are gone
_SPARE = 12  # directions beyond K that are looked at, or K / 2: the next freaks may wait there


class Moments(Protocol):
    """What tensor topics are made of: samples' moments, or a model's own."""

    mean: np.ndarray  # v = E[x1], (d,)

    def pairs_times(self, B: np.ndarray) -> np.ndarray: ...  # E[x1 x2'] B

    def triples(self, W: np.ndarray) -> np.ndarray: ...  # E[x1 x2 x3](W, W, W)


class TensorTopics(NamedTuple):
    """Topics as they come out, rows in the order of the decomposition."""

    weights: np.ndarray  # w_i, (K,); their sum is 1 where the model is true
    components: np.ndarray  # mu_i, (K, d); rows have the sum 1, entries may be negative
    whitening: Whitening
    residual: float  # ||T - sum|| / ||T||, whitened


class Robust(NamedTuple):
    """What :func:`robust_weights` returns."""

    weights: np.ndarray  # of the documents
    n_reduced: int  # documents whose leverage was too large
    scale: np.ndarray  # of the words, before these were reduced
    directions: np.ndarray  # that whiten the weighted pairs, roughly


@_one_blas_thread
def tensor_topics(
    moments: Moments,
    n_topics: int,
    *,
    alpha0: float = 0.0,
    solver: Solver = "power",
    descend: bool = False,
    scale: np.ndarray | None = None,
    start: np.ndarray | None = None,
    random_state: int = 0,
) -> TensorTopics:
    """Decompose the moments; `descend` ends with direct minimisation.

    `scale` is that of the words; weighted documents need that of all documents, or the words of
    those that hardly count any more would be scaled up again. `start` is that of the whitening.
    """
    scale = word_scale(moments.mean) if scale is None else scale
    whitening = whiten(
        _centred_pairs(moments, alpha0, scale),
        n_topics,
        tol=_PRECISE,
        start=start,
        random_state=random_state,
    )
    K = whitening.rank
    T = _centred_triples(moments, alpha0, scale[:, None] * whitening.W)
    solve = tensor_power if solver == "power" else simultaneous_diagonalization
    lambdas, U = solve(T, K, random_state=random_state)
    weights = 4 * (alpha0 + 1) / ((alpha0 + 2) * np.maximum(lambdas, _EPS)) ** 2
    if descend:
        # Pairs and triples at once: W'A W = I = ratio * sum theta phi phi', T = sum theta phi^3.
        ratio = (alpha0 + 2) / 2
        lambdas, U = minimize_tensor(T, lambdas, U, pairs=np.eye(K), ratio=ratio)
        weights = np.maximum(lambdas * ratio * (alpha0 + 1), 0)
    mu = U @ whitening.B.T * np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)
    rest = T - np.einsum("r,ri,rj,rk->ijk", lambdas, U, U, U, optimize=True)
    residual = float(np.linalg.norm(rest) / np.linalg.norm(T))
    return TensorTopics(weights, _summed_to_one(mu), whitening, residual)


@_one_blas_thread
def robust_weights(
    bags: BagMoments, n_topics: int, *, alpha0: float, most: float, random_state: int = 0
) -> Robust:
    r"""Weights of documents such that none has a topic to itself.

    Documents count by their length, up to the average: the pairs of a short one are few, and noisy.

    Then, with W' A W = I, the trace of :math:`W^\top A W` is a sum over documents: of their
    *leverages*, as in regression. Where the model is true, a document of the topic i alone has
    about :math:`1/(N w_i)`. One that has much more makes a direction of its own: a block of
    uuencoded bytes, a list of names, a text that was posted a hundred times. Its weight is reduced
    until its leverage is at most `most` times K/N: at least N / (K `most`) documents are to carry a
    topic. The third moment weighs a document by its leverage times :math:`\|W^\top c\| / n`, which
    grows as the root of the leverage: hence the power of 3/2.
    """
    N = bags.weights.sum()
    weights = bags.weights * np.minimum(bags.lengths, (bags.weights * bags.lengths).sum() / N)
    bags = bags.reweighted(weights * (N / weights.sum()))
    scale = word_scale(bags.mean)
    limit = most * n_topics / N
    rank = min(n_topics + max(_SPARE, n_topics // 2), bags.n_words)
    reduced = np.zeros(len(weights), bool)
    W: Any = None
    for _ in range(_ROUNDS):
        A = _centred_pairs(bags, alpha0, scale)
        whitening = whiten(A, rank, tol=_ROUGH, start=W, random_state=random_state)
        W, values = whitening.W, whitening.eigenvalues
        # The spare directions by the measure of the K-th, which they would have to pass.
        measure = np.minimum(np.sqrt(values / values[:n_topics][-1]), 1)
        excess = bags.pair_shares(scale[:, None] * W * measure) / limit
        over = excess > 1
        if not over.any():
            break
        reduced |= over
        bags = bags.reweighted(bags.weights / np.where(over, excess, 1) ** 1.5)
    return Robust(bags.weights, int(reduced.sum()), scale, W)


def word_scale(v: np.ndarray) -> np.ndarray:
    """1 / sqrt(v), and 0 for words that never occur."""
    return np.divide(1.0, np.sqrt(v), out=np.zeros_like(v), where=v > 0)


def _centred_pairs(moments: Moments, alpha0: float, scale: np.ndarray) -> Factorable:
    """A, between the scales."""
    v = scale * moments.mean
    c = alpha0 / (alpha0 + 1)

    def times(B: np.ndarray) -> np.ndarray:
        pairs = scale[:, None] * moments.pairs_times(scale[:, None] * B)
        return pairs - np.outer(c * v, v @ B)

    d = len(v)
    return Factorable((d, d), np.dtype(np.float64), times, times)


def _centred_triples(moments: Moments, alpha0: float, W: np.ndarray) -> np.ndarray:
    """T(W, W, W)."""
    m = W.T @ moments.mean
    E = W.T @ moments.pairs_times(W)
    tied = E[:, :, None] * m
    tied = tied + tied.transpose(0, 2, 1) + tied.transpose(2, 1, 0)
    cube = m[:, None, None] * m[:, None] * m
    c = alpha0 / (alpha0 + 2)
    return moments.triples(W) - c * tied + 2 * c * alpha0 / (alpha0 + 1) * cube


def _summed_to_one(mu: np.ndarray) -> np.ndarray:
    """Rows divided by their sums; where noise has left next to none, by their positive parts'."""
    sums = mu.sum(axis=1, keepdims=True)
    sound = sums > 1e-3 * np.abs(mu).sum(axis=1, keepdims=True)
    mu = np.where(sound, mu, np.maximum(mu, 0))
    return mu / np.maximum(mu.sum(axis=1, keepdims=True), _EPS)
