r"""Topics from anchor words: Arora et al. (2013), with the points of Cohen and Collins (2014).

Let A hold the topics, :math:`A_{wk} = p(w|k)`, and let :math:`R_{kl} = p(k, l)` be the probability
that two words of a document have the topics k and l. Then pairs of words of one document have

.. math:: Q = E[x_1 x_2^\top] = A R A^\top, \qquad
    \bar Q_w = Q_w / p(w) = \sum_k p(k|w)\, \bar Q_{s_k},

if every topic has an *anchor* :math:`s_k`, a word that no other topic has. So the rows of the
anchors are the corners of the set of all rows (:func:`eigentext.factor.anchors`), :math:`p(k|w)`
are the weights of a row on the corners, :math:`p(w|k) = p(k|w)\,p(w)/p(k)` by Bayes' rule, and
:math:`R = A^+ Q A^{+\top}`.

The matrix Q is d x d and is never computed. Rows are points :math:`v_w = \bar Q_w F` in K
dimensions, with :math:`F = D^{-1/2} U` for the K largest eigenvectors U of
:math:`D^{-1/2} Q D^{-1/2}`, where D is the diagonal of p. This is CCA (Cohen and Collins 2014,
section 5.2). Sampling noise has the same size in all parts of this matrix, so its leading
eigenvectors exceed the noise. All other directions of a row are noise, and weights that are fitted
to whole rows would fit this noise. Three further things help with samples, and do no harm as
samples grow:

- Rare words do not count for U and cannot be anchors, because outlier documents consist of them.
- The part of rank K of the scaled matrix has negative entries, which no probabilities have. It is
  *rectified* (Lee, Bindel and Mimno 2015; :mod:`eigentext.factor.rectify`) before corners are
  sought. Rows of words on the corners are those of the sample, and not the rectified ones.
- The squared distances that select anchors are multiplied by f / (f + 400) for a word in f
  documents. Rows from few documents are noisy, and are far from the others for that reason alone.
- The row of one word is a noisy corner, so corners are *refitted*: least squares for the corners
  given the weights of all words, and then for the weights given the corners. This also moves
  corners to places without a word, for topics without anchors.

Anchors can be *given* for some topics. Several words make one corner, the row that is proportional
to the harmonic means of their rows (Lund, Cook, Seppi and Boyd-Graber 2017): it has what occurs
with all of them. The search goes on as if it had found the given corners first.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from eigentext import engine
from eigentext.corpus.documents import checked_matrix
from eigentext.errors import ParameterError
from eigentext.factor.anchors import separations, simplex_weights
from eigentext.matrices.products import rows_times, transposed_times
from eigentext.moments.bags import BagMoments
from eigentext.topics.corners import (
    PairMoment,
    anchor_rows,
    candidates_of,
    corners_of,
    in_span,
    inverse,
    represent,
)

Recovery = Literal["l2", "rows", "kl"]
Solver = Literal["exact", "gradient"]
_PAIRS = 1 << 20  # products in a block of rows of Q
_ROWS = 256  # the rows of one task


class AnchorTopics(NamedTuple):
    """Topics, in the order in which their anchors were found, after those that were given."""

    weights: np.ndarray  # p(k), (K,)
    components: np.ndarray  # p(w|k), (K, d)
    anchors: np.ndarray  # the ids of the anchor words, (K,); of given ones, the first of a topic
    topic_topic: np.ndarray  # R, (K, K); entries may be negative
    separations: np.ndarray  # how far anchors are from the others, (K,): see factor.anchors
    diagnostics: dict[str, Any]

    @property
    def alpha0(self) -> float:
        r"""The :math:`\alpha_0` of LDA for which topics occur together as often as in R.

        Under a Dirichlet prior :math:`\alpha_0 w`, two words have the different topics k and l with
        probability :math:`w_k w_l\,\alpha_0/(\alpha_0 + 1)`. The value is NaN for one topic. For
        real text it is near 0, because a word that occurs in a document tends to occur there again,
        whatever the topic.
        """
        apart = self.topic_topic.sum() - np.trace(self.topic_topic)
        chance = 1 - (self.weights**2).sum()
        if len(self.weights) == 1:
            return float("nan")
        return float(max(apart, 0) / (chance - apart)) if apart < chance else float("inf")


def anchor_topics(
    X: Any,
    n_topics: int,
    *,
    times: np.ndarray | None = None,
    min_df: float | None = None,
    rectify: bool = False,
    given: Sequence[Sequence[int]] = (),
    excluded: Sequence[int] = (),
    recovery: Recovery = "l2",
    solver: Solver = "exact",
    n_refits: int = 3,
    n_iter: int = 100,
    tol: float = 1e-4,
    random_state: int = 0,
) -> AnchorTopics:
    """Learn topics from pairs of words of one document.

    Parameters
    ----------
    X : scipy sparse matrix or array, shape (n, d), or BagMoments
        Counts of documents by words.
    n_topics : int
        The number K of topics. If the pair moment has a lower rank, there are fewer topics.
    times : array, shape (n,), optional
        How often each document occurred, or another weight.
    min_df : int or float, optional
        The least number of documents with an anchor word, or their share if it is a float up to 1.
        The default is 0.4 %, or less if fewer than 10 K words occur in so many documents. With a
        larger value, anchors are general words, which topics share. With a smaller value, they are
        names and typing errors, and a few outlier documents may make a topic.
    rectify : bool
        Whether negative entries are removed from the part of rank K of the scaled Q before anchors
        are sought.
    given : sequence of sequences of int
        The ids of the anchor words of the first topics, one or more for each topic.
    excluded : sequence of int
        The ids of words that may not be anchors.
    recovery : "l2", "rows" or "kl"
        What p(k|w) minimizes. "l2": the squared distance of the points v. "rows": the squared
        distance of the whole rows of Q (the paper's "RecoverL2", with the Gram matrix of the
        anchors). "kl": the divergence of the whole rows (the paper's "RecoverKL", after "l2"). It
        takes far longer, because each row of Q is computed and read up to `n_iter` times.
    solver : "exact" or "gradient"
        How the squared distance is minimized. "exact" is Wolfe's finite algorithm. It ends at the
        exact answer, in less time than the paper's exponentiated gradient ("gradient") needs to
        come near it.
    n_refits : int
        How often corners are refitted. 0 is the paper's algorithm. A few refits are best if topics
        have anchors. Topics without anchors need 20 or more. With refits, "kl" uses the rows of the
        model as corners.
    n_iter, tol
        Exponentiated gradient stops when the duality gap is at most `tol`, or after `n_iter` steps.
        The gap is in nats, or relative to the largest squared distance of a corner from the mean of
        the corners.
    random_state : int
        The seed of the eigenvectors.

    Returns
    -------
    AnchorTopics
        ``weights, components, anchors, topic_topic, separations, diagnostics``

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[2, 2, 0, 0], [2, 2, 0, 0], [0, 2, 2, 2], [0, 0, 3, 3]])
    >>> topics = anchor_topics(X, 2)
    >>> topics.weights.round(2)
    array([0.52, 0.48])
    >>> topics.components.round(2)
    array([[0.48, 0.52, 0.  , 0.  ],
           [0.  , 0.13, 0.44, 0.44]])
    """
    if not isinstance(X, BagMoments):
        X = BagMoments(checked_matrix(X), times)
    elif times is not None:
        raise ParameterError("BagMoments have weights of their own; leave `times` out")
    return topics_of_pairs(
        PairMoment.of_bags(X),
        n_topics,
        min_df=min_df,
        rectify=rectify,
        given=given,
        excluded=excluded,
        recovery=recovery,
        solver=solver,
        n_refits=n_refits,
        n_iter=n_iter,
        tol=tol,
        random_state=random_state,
    )


def topics_of_pairs(
    pairs: PairMoment,
    n_topics: int,
    *,
    min_df: float | None = None,
    rectify: bool = False,
    given: Sequence[Sequence[int]] = (),
    excluded: Sequence[int] = (),
    recovery: Recovery = "l2",
    solver: Solver = "exact",
    n_refits: int = 3,
    n_iter: int = 100,
    tol: float = 1e-4,
    random_state: int = 0,
) -> AnchorTopics:
    """Learn topics from any pair moment, with the parameters of :func:`anchor_topics`."""
    if recovery not in ("l2", "rows", "kl"):
        raise ParameterError(f"recovery must be 'l2', 'rows' or 'kl', not {recovery!r}")
    if solver not in ("exact", "gradient"):
        raise ParameterError(f"solver must be 'exact' or 'gradient', not {solver!r}")
    steps = {"n_iter": n_iter, "tol": tol}
    with engine.one_blas_thread():  # for equal bits: see matrices.products
        p = pairs.times(np.ones((len(pairs.frequencies), 1)))[:, 0]
        least, chosen = candidates_of(pairs, n_topics, min_df)
        K = min(n_topics, len(chosen))
        space = represent(pairs, p, chosen, K, rectify, random_state)
        found, corners = corners_of(pairs, p, space, given, excluded)
        separated = separations(corners)
        V = points = space.points
        if recovery == "rows":
            points, corners = in_span(pairs, p, anchor_rows(pairs, p, found))
        C, gap = _nearest(points, corners, solver, p, **steps)
        for _ in range(n_refits):
            moved, gap = _nearest(points, _refitted(points, C, p), solver, p, **steps)
            if not (p @ moved).all():  # a topic has no words left, so the corners before are kept
                break
            C = moved
        if (empty := ~(p @ C).astype(bool)).any():  # a corner inside the others has its words
            for k in np.flatnonzero(empty):
                C[found[k]] = np.eye(len(found))[k]
        weights, components = _bayes(p, C)
        R = _topic_topic(pairs, p, components)
        about: dict[str, Any] = {"negative": space.negative} if rectify else {}
        if recovery == "kl":
            rows = components.T @ R / weights if n_refits else anchor_rows(pairs, p, found)
            C, gap, about["divergence"] = _recover_kl(pairs, p, np.maximum(rows, 0), C, **steps)
            weights, components = _bayes(p, C)
            R = _topic_topic(pairs, p, components)
        residual = _residual(V, C, p)
    return AnchorTopics(
        weights,
        components,
        np.array([words[0] for words in found]),
        R,
        separated,
        {
            "anchors": [int(words[0]) for words in found],
            "min_df": float(least),
            "n_candidates": len(chosen),
            "eigenvalues": space.whitening.eigenvalues.tolist(),
            "dropped": space.whitening.dropped.tolist(),
            "residual": residual,
            "negative_topic_topic": float(-R[R < 0].sum()),
            "gap": float(gap),
            **about,
        },
    )


def _nearest(
    V: np.ndarray, corners: np.ndarray, solver: str, p: np.ndarray, *, n_iter: int, tol: float
) -> tuple[np.ndarray, float]:
    """The weights p(k|w) by least squares, and the mean duality gap, relative to the distances."""
    center = corners.mean(axis=0)
    scale = max(float(((corners - center) ** 2).sum(axis=1).max()), np.finfo(np.float64).tiny)
    if solver == "exact":
        C, gaps = simplex_weights(V, corners, return_gaps=True)
        return C, float(p @ gaps) / scale
    from eigentext.topics._anchor_loops import descend_squares

    A = (corners - center) / np.sqrt(scale)
    G = A @ A.T
    B = rows_times((V - center) / np.sqrt(scale), np.ascontiguousarray(A.T))
    C, gaps = np.full(B.shape, 1 / len(A)), np.empty(len(B))

    def work(start: int) -> None:
        descend_squares(G, B, C, gaps, n_iter, tol, start, min(start + _ROWS, len(B)))

    for _ in engine.current().map(work, range(0, len(B), _ROWS)):
        pass
    return C, float(p @ gaps)


def _refitted(V: np.ndarray, C: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The corners by least squares, given these weights.

    The noise of a row is proportional to 1/p(w), and its importance for the topics to p(w). So each
    row counts in proportion to the square of p(w).
    """
    return _corners(V, C, p**2)


def _corners(V: np.ndarray, C: np.ndarray, importance: np.ndarray) -> np.ndarray:
    weighted = importance[:, None] * C
    return np.linalg.lstsq(transposed_times(weighted, C), transposed_times(weighted, V))[0]


def _recover_kl(
    pairs: PairMoment, p: np.ndarray, rows: np.ndarray, C: np.ndarray, *, n_iter: int, tol: float
) -> tuple[np.ndarray, float, float]:
    """The weights p(k|w) with the least divergence from mixtures of `rows` (d, K).

    The start is C. The mean duality gap and the mean divergence are returned, too.
    """
    from eigentext.topics._anchor_loops import descend_divergences

    rows = np.ascontiguousarray(rows)
    C, gaps, divergences = C.copy(), np.empty(len(C)), np.empty(len(C))

    def work(block: tuple[int, int]) -> None:
        Q, part = pairs.rows(*block), slice(*block)
        descend_divergences(
            Q.indptr, Q.indices, Q.data, rows, C[part], gaps[part], divergences[part], n_iter, tol
        )

    for _ in engine.current().map(work, engine.even_blocks(pairs.work, _PAIRS)):
        pass
    return C, float(p @ gaps), float(p @ divergences)


def _bayes(p: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The probabilities p(k) and p(w|k)."""
    weights = p @ C
    return weights / weights.sum(), np.ascontiguousarray((p[:, None] * C / weights).T)


def _topic_topic(pairs: PairMoment, p: np.ndarray, components: np.ndarray) -> np.ndarray:
    """The R that minimizes ||D^-1/2 (Q - A R A') D^-1/2||. Its rows sum to p(k)."""
    A = np.ascontiguousarray(components.T)
    scaled = A * inverse(p)[:, None]
    G = np.linalg.pinv(transposed_times(A, scaled), hermitian=True)
    R = G @ transposed_times(scaled, pairs.times(scaled)) @ G
    return (R + R.T) / 2


def _residual(V: np.ndarray, C: np.ndarray, p: np.ndarray) -> float:
    """The share of the variance of the points that no corners with these weights explain."""
    energy = p @ (V**2).sum(axis=1)
    rest = p @ ((V - C @ _corners(V, C, p)) ** 2).sum(axis=1)
    variance = p @ ((V - p @ V / p.sum()) ** 2).sum(axis=1)
    return float(rest / max(variance, np.finfo(np.float64).eps * energy))
