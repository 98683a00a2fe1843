r"""How mixed documents are, and how many topics they have: alpha0 and K from the data.

**alpha0 by moments.** With the wrong :math:`\alpha_0`, the centered third moment T of
:mod:`eigentext.topics.tensor` is no sum of K orthogonal components. Whether it is one shows without
decomposing it. The slices :math:`T_a = T(I, I, e_a)` of an orthogonal tensor have the same
eigenvectors, so they commute. :func:`alpha0_of_moments` returns the :math:`\alpha_0` with the least

.. math:: \sum_{a < b} \|T_a T_b - T_b T_a\|^2 \Big/ \Bigl(\sum_a \|T_a\|^2\Bigr)^2 .

It is 0 for the moments of a model with three topics or more, at its :math:`\alpha_0`. Everything
happens in the space of K directions, in which moments without centering are whitened once.

**alpha by the topics of tokens.** Text repeats its words more than the model does, and the moments
see that as unmixed documents. So EM goes on from there: with the drawn topics of tokens,
:math:`n_{dk}` of the topic k in document d, the likelihood rises with each step (Minka 2000)

.. math:: \alpha_k \leftarrow \alpha_k
    \frac{\sum_d \psi(n_{dk} + \alpha_k) - \psi(\alpha_k)}
    {\sum_d \psi(n_d + \alpha_0) - \psi(\alpha_0)} .

**K by noise and by held-out documents.** The documents are divided into two halves. A direction u
that whitens the pairs :math:`E_1` of one half is noise if :math:`u^\top E_2 u`, with the pairs of
the other, is not above zero by 3.5 standard errors. The number of those that are above is K if
documents are from the model. Text has many more directions than topics that help. So that number,
its half, its quarter … are tried, the least first, as long as held-out documents gain enough.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize_scalar
from scipy.special import digamma

from eigentext import engine
from eigentext.errors import CorpusError
from eigentext.factor.mixture import proportions
from eigentext.factor.whiten import whiten
from eigentext.matrices.products import Factorable
from eigentext.matrices.runs import CSR
from eigentext.moments.bags import BagMoments
from eigentext.topics.tensor import TopicMoments, word_scale

UNKNOWN = 1.0  # alpha0, where the moments do not say it
_one_blas_thread = engine.one_blas_thread()
_SLICES = 16  # that must commute
_GRID = np.linspace(0, 0.97, 41)  # alpha0 / (alpha0 + 1)
_PRECISE = 1e-3  # the residual of a whitening, as for topics
_ROUGH = 0.05  # the residual of a whitening that is only judged
_ERRORS = 3.5  # standard errors above zero
_MOST_TOPICS = 100  # that are looked for
_LEAST_DOCUMENTS = 50  # to choose n_topics by
_GAIN = 0.05  # the share of the perplexity that twice as many topics must save


@_one_blas_thread
def alpha0_of_moments(moments: TopicMoments, n_topics: int) -> float:
    """Return the alpha0 whose centered triples are nearest to a sum of orthogonal components.

    With fewer than three topics, it is not determined well, and the answer is 1.
    """
    scale = word_scale(moments.mean)
    pairs = _scaled_pairs(moments, scale)
    found = whiten(pairs, min(n_topics, len(scale)), tol=_PRECISE)
    if found.rank < 3:
        return UNKNOWN
    W = scale[:, None] * found.W
    m = W.T @ moments.mean
    E = W.T @ moments.pairs_times(W)
    E, T = (E + E.T) / 2, moments.triples(W)

    def unlike(c: float) -> float:
        return _unlike(c, m, E, T)

    tried = [unlike(c) for c in _GRID]
    best = int(np.argmin(tried))
    low, high = _GRID[max(best - 1, 0)], _GRID[min(best + 1, len(_GRID) - 1)]
    c = minimize_scalar(unlike, bounds=(low, high), method="bounded", options={"xatol": 1e-10}).x
    c = min([0.0, float(c)], key=unlike) if best <= 1 else float(c)
    return c / (1 - c)


def _unlike(c: float, m: Any, E: Any, T: Any) -> float:
    """How far the slices of the centered triples are from commuting. c is alpha0 / (alpha0 + 1)."""
    values, U = np.linalg.eigh(E - c * np.outer(m, m))
    if values[0] <= 1e-12 * values[-1]:  # the pairs do not allow so large an alpha0
        return np.inf
    W = U / np.sqrt(values)
    m, E = W.T @ m, W.T @ E @ W
    c3 = c / (2 - c)  # alpha0 / (alpha0 + 2)
    tied = E[:, :, None] * m
    tied = tied + tied.transpose(0, 2, 1) + tied.transpose(2, 1, 0)
    for _ in range(3):
        T = np.moveaxis(T @ W, -1, 0)
    T = np.asarray(T) - c3 * tied + 2 * c3 * c * m[:, None, None] * m[:, None] * m
    slices = T[-_SLICES:]  # those of the largest eigenvalues
    products = np.einsum("aij,bjk->abik", slices, slices, optimize=True)
    different = products - products.transpose(1, 0, 2, 3)
    return float((different**2).sum() / (slices**2).sum() ** 2)


def improved_alpha(alpha: np.ndarray, n: np.ndarray, times: np.ndarray, n_steps: int) -> np.ndarray:
    """Return alpha after some of Minka's steps, given topic counts of documents, shape (N, K).

    Examples
    --------
    >>> n = np.array([[9, 0], [0, 9], [8, 1]])
    >>> improved_alpha(np.ones(2), n, np.ones(3), 50).round(2)
    array([0.17, 0.14])
    """
    n = n.astype(np.float64)
    lengths = n.sum(axis=1)
    for _ in range(n_steps):
        gained = (times[:, None] * (digamma(n + alpha) - digamma(alpha))).sum(axis=0)
        total = (times * (digamma(lengths + alpha.sum()) - digamma(alpha.sum()))).sum()
        if not total > 0:
            break
        alpha = np.maximum(alpha * gained / total, 1e-6)
    return alpha


class NoiseLevel(NamedTuple):
    """The directions of the pairs of one half of the documents, judged by the other half."""

    eigenvalues: np.ndarray  # falling, in the first half
    values: np.ndarray  # of the same directions, in the second half
    errors: np.ndarray  # standard errors of `values`
    n_above: int  # directions that are no noise, in both halves


@_one_blas_thread
def noise_level(counts: CSR, times: np.ndarray, is_first: np.ndarray) -> NoiseLevel:
    """Judge the pairs of words of one half by those of the other, and the other way round."""
    most = min(_MOST_TOPICS, counts.shape[1])
    scale = word_scale(_by_length(counts, times).mean)
    judged, n_above = [], []
    for one in (is_first, ~is_first):
        mine, other = (_by_length(counts[half], times[half]) for half in (one, ~one))
        found = whiten(_scaled_pairs(mine, scale), most, tol=_ROUGH)
        U = found.W * np.sqrt(found.eigenvalues)
        values, errors = other.pair_values(scale[:, None] * U)
        judged.append((found.eigenvalues, values, errors))
        n_above.append(int((values > _ERRORS * errors).sum()))
    eigenvalues, values, errors = judged[0]
    return NoiseLevel(eigenvalues, values, errors, max(min(n_above), 1))


def _by_length(counts: CSR, times: np.ndarray) -> BagMoments:
    """The moments in which a document counts by its length, up to the average."""
    bags = BagMoments(counts, times)
    average = (times * bags.lengths).sum() / times.sum()
    return bags.reweighted(times * np.minimum(bags.lengths, average))


def _scaled_pairs(moments: TopicMoments, scale: np.ndarray) -> Factorable:
    def times(B: np.ndarray) -> np.ndarray:
        return scale[:, None] * moments.pairs_times(scale[:, None] * B)

    d = len(scale)
    return Factorable((d, d), np.dtype(np.float64), times, times)


def candidates(n_above: int) -> list[int]:
    """Return the numbers of topics to try, up to those above the noise.

    Examples
    --------
    >>> candidates(20), candidates(1)
    ([2, 5, 10, 20], [1])
    """
    numbers = [n_above]
    while numbers[-1] > 3:
        numbers.append(numbers[-1] // 2)
    return numbers[::-1]


def check_enough(n_documents: int, is_first: np.ndarray) -> None:
    """Raise CorpusError if there are too few documents to choose the number of topics.

    `is_first` says which of the distinct documents are in the first half.
    """
    remedy = "give a number (n_topics=5, --topics 5)"
    if n_documents < _LEAST_DOCUMENTS:
        documents = "1 document is" if n_documents == 1 else f"{n_documents} documents are"
        raise CorpusError(
            f"{documents} too few to choose n_topics by, which takes {_LEAST_DOCUMENTS}; {remedy}"
        )
    if is_first.all() or not is_first.any():
        raise CorpusError(
            f"all but {len(is_first)} of {n_documents} documents are copies of others, so there "
            f"is too little to choose n_topics by; {remedy}"
        )


def surprises(
    counts: CSR, components: np.ndarray, alpha: np.ndarray, weights: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return minus the log-likelihood of one half of each document by the other, and its length.

    The halves depend on the counts and the seed alone, so that answers can be compared in pairs.
    """
    whole = np.maximum(np.rint(counts.data), 1).astype(np.int64)
    first = np.random.default_rng(seed).binomial(whole, 0.5)
    parts = [
        sp.csr_array((part.astype(np.float64), counts.indices, counts.indptr), shape=counts.shape)
        for part in (first, whole - first)
    ]
    phi = 0.99 * components + 0.01 / components.shape[1]
    prior = alpha if alpha.sum() > 0 else 1e-3 * weights
    theta = proportions(parts[0], phi, np.maximum(prior, 1e-6))
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    chances = np.einsum("ek,ek->e", theta[rows], phi.T[counts.indices])
    missed: np.ndarray = np.log(chances) * np.asarray(parts[1].data)
    lost = -np.bincount(rows, missed, minlength=counts.shape[0])
    return lost, parts[1].sum(axis=1)


def perplexity_of(lost: Any, times: np.ndarray) -> float:
    """Return the perplexity, given the answer of :func:`surprises`."""
    n = float((times * lost[1]).sum())
    return float(np.exp((times * lost[0]).sum() / n)) if n else float("inf")


def gain(before: Any, after: Any, times: np.ndarray, doublings: float) -> tuple[float, float]:
    """Return the share of the perplexity that a doubling of topics saves, and its standard error.

    Differences are paired by documents.
    """
    saved, n = before[0] - after[0], float((times * after[1]).sum()) or 1.0
    mean = float((times * saved).sum()) / n
    rest = saved - mean * after[1]
    error = float(np.sqrt((times * rest**2).sum())) / n
    return mean / doublings, error / doublings


def is_worthwhile(saved: float, error: float) -> bool:
    """Whether a gain is as large as asked for, and no accident."""
    return saved >= _GAIN and saved > 2 * error
