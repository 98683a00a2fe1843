r"""Topics from anchor words: Arora et al. (2013), with the points of Cohen and Collins (2014).

Let A hold the topics, :math:`A_{wk} = p(w|k)`, and :math:`R_{kl} = p(k, l)` be the probability that
two words of a document are of the topics k and l. Pairs of words of one document then have

.. math:: Q = E[x_1 x_2^\top] = A R A^\top, \qquad
    \bar Q_w = Q_w / p(w) = \sum_k p(k|w)\, \bar Q_{s_k},

if every topic has an *anchor* :math:`s_k`, a word of no other topic. So the anchors' rows are the
corners of the cloud of all rows (:func:`eigentext.factor.anchors`), :math:`p(k|w)` are the weights
of a row on the corners, :math:`p(w|k) = p(k|w)\,p(w)/p(k)` by Bayes' rule, and
:math:`R = A^+ Q A^{+\top}`.

Q is d x d and never made. Rows are seen as points :math:`v_w = \bar Q_w F` in K dimensions, with
:math:`F = D^{-1/2} U` for the K largest eigenvectors U of :math:`D^{-1/2} Q D^{-1/2}`, D the
diagonal of p: CCA (section 5.2). Sampling noise is equally large in all of this matrix, so its
leading eigenvectors are what stands out; all other directions of a row are noise, which weights on
whole rows take for signal. Three further things help with samples, and nothing is lost by them when
these grow:

- rare words are not seen by U, nor may they be anchors: freak documents are made of them;
- the squared distances by which anchors are found count by f / (f + 400), for a word that is in f
  documents: rows of few documents are noisy, and far out for that alone;
- one word's row is a noisy corner, so corners are *refitted*: least squares for the corners given
  the weights of all words, then for the weights given the corners. That also moves corners to where
  no word is, for topics without anchors.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from eigentext import engine
from eigentext.corpus.documents import checked_matrix
from eigentext.errors import CorpusError, ParameterError
from eigentext.factor.anchors import anchors, separations, simplex_weights
from eigentext.factor.whiten import Whitening, whiten
from eigentext.matrices.products import Factorable, rows_times, transposed_times
from eigentext.moments.bags import BagMoments

Recovery = Literal["l2", "rows", "kl"]
Solver = Literal["exact", "gradient"]
_SHARE = 0.004  # of the documents must have a word that may be an anchor,
_CHOICE = 10  # unless fewer words than this times K were left to choose from
_DOUBT = 400  # documents of a word whose distance counts half
_ROUGH = 1e-2  # residual of eigenvectors, which are noisier than that
_PAIRS = 1 << 20  # products of a block of rows of Q
_ROWS = 256  # of a task


class AnchorTopics(NamedTuple):
    """Topics in the order in which their anchors were found."""

    weights: np.ndarray  # p(k), (K,)
    components: np.ndarray  # p(w|k), (K, d)
    anchors: np.ndarray  # words, (K,)
    topic_topic: np.ndarray  # R, (K, K); entries may be negative
    separations: np.ndarray  # of the anchors' points, (K,): see eigentext.factor.anchors
    diagnostics: dict[str, Any]

    @property
    def alpha0(self) -> float:
        r"""The :math:`\alpha_0` of LDA whose topics meet as often as in R.

        Under a Dirichlet prior :math:`\alpha_0 w`, two words are of different topics k and l with
        probability :math:`w_k w_l\,\alpha_0/(\alpha_0 + 1)`. NaN for one topic. Real text comes out
        near 0: words that occur once in a document tend to do so again, topics or not.
        """
        apart = self.topic_topic.sum() - np.trace(self.topic_topic)
        chance = 1 - (self.weights**2).sum()
        if len(self.weights) == 1:
            return float("nan")
        return float(max(apart, 0) / (chance - apart)) if apart < chance else float("inf")


class Pairs(NamedTuple):
    """Q, as far as it is needed."""

    times: Callable[[np.ndarray], np.ndarray]  # Q B, for a thin B
    rows: Callable[[int, int], Any]  # the rows from one to another, CSR
    work: np.ndarray  # that the rows before each take, (d + 1,)
    frequencies: np.ndarray  # in how many documents the words are, (d,)
    n_documents: float

    @classmethod
    def of_bags(cls, bags: BagMoments) -> "Pairs":
        """The pair moment of a sample; documents of less than two words have no part in it."""
        n = bags.lengths
        kept = np.where(n >= 2, bags.weights, 0.0)
        if not kept.any():
            raise CorpusError("no document has two words or more: nothing tells which go together")
        rho = kept / (np.where(n >= 2, n * (n - 1), 1) * kept.sum())
        diagonal = bags.transpose @ rho

        def rows(start: int, stop: int) -> Any:
            shape = (stop - start, len(diagonal))
            tied = sp.diags_array(diagonal[start:stop], offsets=start, shape=shape)
            left = bags.transpose[start:stop] @ sp.diags_array(rho)
            Q = sp.csr_array(left @ bags.counts - tied)
            Q.data = np.maximum(Q.data, 0)  # rounding; and counts below one
            return Q

        seen = sp.csr_array(
            (np.ones(bags.transpose.nnz), bags.transpose.indices, bags.transpose.indptr),
            bags.transpose.shape,
        )
        work = np.append(0, np.cumsum(seen @ np.diff(bags.counts.indptr)))
        return cls(bags.pairs_times, rows, work, seen @ kept, float(kept.sum()))

    @classmethod
    def of_matrix(cls, Q: Any) -> "Pairs":
        """A model's own moment, say; all words are as frequent as any."""
        Q = sp.csr_array(Q / Q.sum())
        return cls(Q.__matmul__, lambda i, j: Q[i:j], Q.indptr, np.ones(Q.shape[0]), 1.0)


def anchor_topics(
    X: Any,
    n_topics: int,
    *,
    times: np.ndarray | None = None,
    min_df: float | None = None,
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
        K. Where the pair moment has a lower rank, there are as many topics as that.
    times : array, shape (n,), optional
        How often each document occurred, or another weight.
    min_df : int or float, optional
        In how many documents, or in what share of them if it is a float up to 1, a word must be to
        become an anchor. By default .4 %, or less if not even 10 K words are in so many. With more,
        anchors are general words, which topics share; with less, they are names and typing errors,
        and a few strange documents may make a topic.
    recovery : "l2", "rows" or "kl"
        What p(k|w) minimises: the squared distance of the points v; that of the whole rows of Q
        (the paper's "RecoverL2", through the anchors' Gram matrix); or the divergence of the whole
        rows (its "RecoverKL", after "l2"), which takes far longer: each row of Q is made, and gone
        through up to `n_iter` times.
    solver : "exact" or "gradient"
        For the squared distance: Wolfe's finite algorithm, which ends at the exact answer, and
        sooner than the paper's exponentiated gradient comes near it; or that.
    n_refits : int
        How often corners are refitted; 0 is the paper's algorithm. Few are best with anchors;
        topics without any take 20 or more. For "kl", the corners' rows are then those of the model.
    n_iter, tol
        Exponentiated gradient ends when the duality gap is `tol` (in nats, or relative to the
        largest squared distance of a corner from the corners' mean), or after so many steps.
    random_state : int
        For the eigenvectors.

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
        Pairs.of_bags(X),
        n_topics,
        min_df=min_df,
        recovery=recovery,
        solver=solver,
        n_refits=n_refits,
        n_iter=n_iter,
        tol=tol,
        random_state=random_state,
    )


def topics_of_pairs(
    pairs: Pairs,
    n_topics: int,
    *,
    min_df: float | None = None,
    recovery: Recovery = "l2",
    solver: Solver = "exact",
    n_refits: int = 3,
    n_iter: int = 100,
    tol: float = 1e-4,
    random_state: int = 0,
) -> AnchorTopics:
    """:func:`anchor_topics` of any pair moment."""
    if recovery not in ("l2", "rows", "kl"):
        raise ParameterError(f"recovery must be 'l2', 'rows' or 'kl', not {recovery!r}")
    if solver not in ("exact", "gradient"):
        raise ParameterError(f"solver must be 'exact' or 'gradient', not {solver!r}")
    steps = {"n_iter": n_iter, "tol": tol}
    with engine.one_blas_thread():  # equal bits: see factor.products
        p = pairs.times(np.ones((len(pairs.frequencies), 1)))[:, 0]
        least, chosen = _candidates(pairs, n_topics, min_df)
        K = min(n_topics, len(chosen))
        V, whitening = _represent(pairs, p, chosen, K, random_state)
        f = pairs.frequencies
        found = anchors(V, V.shape[1], candidates=chosen, weights=f / (f + _DOUBT))
        points = _in_span(pairs, p, found) if recovery == "rows" else V
        C, gap = _nearest(points, points[found], solver, p, **steps)
        for _ in range(n_refits):
            moved, gap = _nearest(points, _refitted(points, C, p), solver, p, **steps)
            if not (p @ moved).all():  # a topic without words: the corners before were better
                break
            C = moved
        weights, components = _bayes(p, C)
        R = _topic_topic(pairs, p, components)
        about: dict[str, Any] = {}
        if recovery == "kl":
            rows = components.T @ R / weights if n_refits else _anchor_rows(pairs, p, found)
            C, gap, about["divergence"] = _recover_kl(pairs, p, np.maximum(rows, 0), C, **steps)
            weights, components = _bayes(p, C)
            R = _topic_topic(pairs, p, components)
        residual = _residual(V, C, p)
    return AnchorTopics(
        weights,
        components,
        found,
        R,
        separations(V[found]),
        {
            "anchors": found.tolist(),
            "min_df": float(least),
            "n_candidates": len(chosen),
            "eigenvalues": whitening.eigenvalues.tolist(),
            "dropped": whitening.dropped.tolist(),
            "residual": residual,
            "negative_topic_topic": float(-R[R < 0].sum()),
            "gap": gap,
            **about,
        },
    )


def _candidates(pairs: Pairs, K: int, min_df: float | None) -> tuple[float, np.ndarray]:
    """The least document frequency of an anchor, and the words that have it."""
    f, n = pairs.frequencies, pairs.n_documents
    if K < 1:
        raise ParameterError(f"n_topics must be 1 or more, not {K}")
    seen = np.sort(f[f > 0])[::-1]
    if min_df is None:
        least = min(_SHARE * n, seen[min(_CHOICE * K, len(seen)) - 1])
    else:
        least = min_df * n if isinstance(min_df, float) and min_df <= 1 else min_df
    least = max(float(least), seen[-1])
    chosen = np.flatnonzero(f >= least)
    if len(chosen) < K and min_df is not None:
        raise ParameterError(
            f"{K} topics, but only {len(chosen)} words are in {least:g} documents or more and may "
            "be anchors; lower min_df or n_topics"
        )
    return least, chosen


def _represent(
    pairs: Pairs, p: np.ndarray, chosen: np.ndarray, K: int, random_state: int
) -> tuple[np.ndarray, Whitening]:
    """The points v, and the eigenvectors that they come from."""
    scale = np.zeros((len(p), 1))
    scale[chosen, 0] = 1 / np.sqrt(p[chosen])

    def product(B: np.ndarray) -> np.ndarray:
        return scale * pairs.times(scale * B)

    A = Factorable((len(p), len(p)), np.dtype(np.float64), product, product)
    found = whiten(A, K, tol=_ROUGH, random_state=random_state)
    U = found.W * np.sqrt(found.eigenvalues)
    return pairs.times(scale * U) * _inverse(p)[:, None], found


def _in_span(pairs: Pairs, p: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Whole rows of Q, as points of the same distances from all the anchors' mixtures but for a
    constant: they are projected on the span of the anchors' rows, of which G is the Gram matrix.
    """
    rows = _anchor_rows(pairs, p, found)
    B = pairs.times(rows) * _inverse(p)[:, None]
    values, U = np.linalg.eigh((B[found] + B[found].T) / 2)
    roots = np.sqrt(np.maximum(values, np.finfo(np.float64).eps * values.max()))
    return rows_times(B, U / roots)


def _anchor_rows(pairs: Pairs, p: np.ndarray, found: np.ndarray) -> np.ndarray:
    """The anchors' rows of Q, each of sum one, as columns (d, K)."""
    chosen = np.zeros((len(p), len(found)))
    chosen[found, np.arange(len(found))] = 1 / p[found]
    return pairs.times(chosen)


def _nearest(
    V: np.ndarray, corners: np.ndarray, solver: str, p: np.ndarray, *, n_iter: int, tol: float
) -> tuple[np.ndarray, float]:
    """p(k|w) by least squares, and the mean duality gap, relative to the corners' distances."""
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
    """The corners of least squares for these weights.

    The noise of a row is as 1/p(w), and rows count by p(w) in the topics: together, by its square.
    """
    return _corners(V, C, p**2)


def _corners(V: np.ndarray, C: np.ndarray, importance: np.ndarray) -> np.ndarray:
    weighted = importance[:, None] * C
    return np.linalg.lstsq(transposed_times(weighted, C), transposed_times(weighted, V))[0]


def _recover_kl(
    pairs: Pairs, p: np.ndarray, rows: np.ndarray, C: np.ndarray, *, n_iter: int, tol: float
) -> tuple[np.ndarray, float, float]:
    """p(k|w) of least divergence from mixtures of `rows` (d, K), beginning at C.

    With the mean duality gap and the mean divergence.
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
    """p(k) and p(w|k)."""
    weights = p @ C
    return weights / weights.sum(), np.ascontiguousarray((p[:, None] * C / weights).T)


def _topic_topic(pairs: Pairs, p: np.ndarray, components: np.ndarray) -> np.ndarray:
    """R of least ||D^-1/2 (Q - A R A') D^-1/2||: in this metric, its rows sum to p(k)."""
    A = np.ascontiguousarray(components.T)
    scaled = A * _inverse(p)[:, None]
    inverse = np.linalg.pinv(transposed_times(A, scaled), hermitian=True)
    R = inverse @ transposed_times(scaled, pairs.times(scaled)) @ inverse
    return (R + R.T) / 2


def _residual(V: np.ndarray, C: np.ndarray, p: np.ndarray) -> float:
    """The share of the points' variance that no corners with these weights explain."""
    energy = p @ (V**2).sum(axis=1)
    rest = p @ ((V - C @ _corners(V, C, p)) ** 2).sum(axis=1)
    variance = p @ ((V - p @ V / p.sum()) ** 2).sum(axis=1)
    return float(rest / max(variance, np.finfo(np.float64).eps * energy))


def _inverse(p: np.ndarray) -> np.ndarray:
    return np.divide(1.0, p, out=np.zeros(len(p)), where=p > 0)
