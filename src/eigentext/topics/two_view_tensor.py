r"""Topics of documents with two views, by the moments of both (Anandkumar et al. 2014).

A document has one topic i, with the probability :math:`w_i`. Given the topic, the words x have the
distribution :math:`\mu_i`, the second view z has the mean :math:`\nu_i`, and all are independent:

.. math::

    A = E[x_1 x_2^\top] = \sum_i w_i\, \mu_i \mu_i^\top, \qquad
    C = E[x_1 z^\top] = \sum_i w_i\, \mu_i \nu_i^\top, \qquad
    E[x_1 \otimes x_2 \otimes z] = \sum_i w_i\, \mu_i \otimes \mu_i \otimes \nu_i.

With W as in :mod:`eigentext.factor.whiten`, :math:`u_i = \sqrt{w_i}\, W^\top \mu_i` are
orthonormal. So all slices of

.. math::

    E[x_1 \otimes x_2 \otimes z](W, W, P) = \sum_i u_i \otimes u_i \otimes P^\top \nu_i, \qquad
    E[x_1 \otimes x_2 \otimes x_3](W, W, W) = \sum_i u_i \otimes u_i \otimes W^\top \mu_i

are diagonal in the same basis, which Jacobi rotations find
(:mod:`eigentext.factor._tensor_loops`). Then :math:`w_i` is the square of the sum of
:math:`B u_i`, and :math:`\mu_i = B u_i / \sqrt{w_i}`, :math:`\nu_i = C^\top W u_i / \sqrt{w_i}`.

The space of the :math:`\mu_i` is that of the largest eigenvalues of :math:`A + C C^\top`, with
words scaled by :math:`1/\sqrt{v}`, and z scaled by its user. So a topic that few pairs of words
show is found if the second view shows it. P has the K directions of z that words tell most about.

The same holds for documents that mix topics as in LDA, if A and the triples are corrected as in
:mod:`eigentext.topics.tensor`. EM for two views is only for one topic per document, so this module
does not correct them.
"""

from typing import NamedTuple, Protocol

import numpy as np

from eigentext import engine
from eigentext.factor.tensor import jointly_diagonal
from eigentext.factor.whiten import whiten
from eigentext.matrices.products import Factorable, rows_times
from eigentext.topics.tensor import TopicMoments, word_scale

_one_blas_thread = engine.one_blas_thread()  # for equal bits: see matrices.products
_PRECISE = 1e-3  # the residual of the whitening of a large matrix, which is noisier than that
_LEAST = 1e-3  # of the largest eigenvalue of A: noise may make an eigenvalue 0 or negative
_POSSIBLE = 2.0  # a weight is at most 1, and noise may double it


class ViewMoments(Protocol):
    """The moments of words with the second view: those of a sample, or those of a model."""

    def cross(self, B: np.ndarray) -> np.ndarray:
        """Return E[x z'] B."""
        ...

    def cross_back(self, B: np.ndarray) -> np.ndarray:
        """Return E[z x'] B."""
        ...

    def triples(self, W: np.ndarray, P: np.ndarray) -> np.ndarray:
        """Return E[x1 x2 z](W, W, P)."""
        ...


class TwoViewTopics(NamedTuple):
    """Topics in the order of the decomposition."""

    weights: np.ndarray  # w_i, (K,); their sum is 1 if the model is true
    components: np.ndarray  # mu_i, (K, d); rows have the sum 1, but entries may be negative
    second: np.ndarray  # nu_i, (K, q)
    is_sound: np.ndarray  # (K,); otherwise the moments have no such topic
    eigenvalues: np.ndarray  # of A + C C', falling
    dropped: np.ndarray  # the next ones
    residual: float  # the part of the whitened triples that is off the diagonals


@_one_blas_thread
def two_view_tensor(
    words: TopicMoments,
    view: ViewMoments,
    n_topics: int,
    *,
    scale: np.ndarray | None = None,
    random_state: int = 0,
) -> TwoViewTopics:
    """Decompose the moments of two views. `scale` is the scale of the words."""
    scale = word_scale(words.mean) if scale is None else scale
    column = scale[:, None]

    def pairs(B: np.ndarray) -> np.ndarray:
        return column * words.pairs_times(column * B)

    def both(B: np.ndarray) -> np.ndarray:
        return pairs(B) + column * view.cross(view.cross_back(column * B))

    d = len(scale)
    found = whiten(
        Factorable((d, d), np.dtype(np.float64), both, both),
        n_topics,
        tol=_PRECISE,
        random_state=random_state,
    )
    Q = np.ascontiguousarray(found.W * np.sqrt(found.eigenvalues))
    AQ = pairs(Q)
    AQ = Q.T @ AQ
    values, E = np.linalg.eigh((AQ + AQ.T) / 2)
    values = np.maximum(values, _LEAST * max(values[-1], np.finfo(float).tiny))
    W = column * rows_times(Q, E / np.sqrt(values))
    B = rows_times(Q, E * np.sqrt(values))
    B *= np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)[:, None]
    P = np.linalg.svd(view.cross_back(column * Q), full_matrices=False)[0]
    slices = np.concatenate([view.triples(W, P), words.triples(W)], axis=2)
    U, residual = jointly_diagonal(slices, random_state=random_state)
    roots = (B @ U.T).sum(axis=0)
    U *= np.where(roots < 0, -1.0, 1.0)[:, None]
    roots = np.abs(roots)
    is_sound = (roots > 1e-3) & (roots**2 < _POSSIBLE)
    safe = np.where(is_sound, roots, 1.0)[:, None]
    return TwoViewTopics(
        np.where(is_sound, roots**2, 0.0),
        U @ B.T / safe,
        view.cross_back(W @ U.T).T / safe,
        is_sound,
        found.eigenvalues,
        found.dropped,
        residual,
    )
