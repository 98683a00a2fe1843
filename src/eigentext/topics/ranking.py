r"""Which words are shown of a topic: rankings by probability, exclusivity and evidence.

The most probable words of a topic are seldom its best description, because some of them belong to
many topics. Let :math:`\phi_{kw}` be the probability of a word w in topic k, :math:`w_k` the
weight of the topic, :math:`p_w = \sum_k w_k \phi_{kw}`, and :math:`n_w` the count of the word. The
rankings are

- ``"probability"``: :math:`\phi_{kw}`;
- ``"relevance"`` (Sievert and Shirley 2014):
  :math:`\lambda \log \phi_{kw} + (1 - \lambda) \log (\phi_{kw} / p_w)`;
- ``"frex"`` (Bischof and Airoldi 2012): the harmonic mean of two ranks in the topic, that of
  :math:`\phi_{kw}` and that of :math:`\phi_{kw} / \sum_j \phi_{jw}`, with the weights
  :math:`\lambda` and :math:`1 - \lambda`;
- ``"score"`` (Blei and Lafferty 2009):
  :math:`\phi_{kw} \log (\phi_{kw} / \prod_j \phi_{jw}^{1/K})`;
- ``"divergence"``: :math:`\phi_{kw} \log (\phi_{kw} / p_w)`, what the word adds to the divergence
  of the topic from all text;
- ``"distinctive"``: :math:`\lambda \log \phi_{kw} + (1 - \lambda) \log e_{kw}` with

.. math::

    e_{kw} = \frac{\phi_{kw}}{\sqrt{\sum_j \phi_{jw}^2}} \cdot \frac{n_w}{n_w + s} .

The square of the first factor is the probability of the topic, given that the word was seen twice,
if all topics are equally probable before. The second factor keeps rare words down: their
exclusivity is mostly luck, and readers may not know them. s is one and a half times the count of a
word that is typical of a topic: the median over topics of the geometric mean of :math:`n_w`, where
w has the weight :math:`\phi_{kw} (\sum_j q_{jw}^2 - 1/K)` with
:math:`q_{jw} = \phi_{jw} / \sum_i \phi_{iw}`, so that words of all topics, such as stop words, do
not count.

The weight :math:`\lambda` is between 0 and 1. With 1, these three rankings are by probability.
A word that is impossible in a topic comes after all others.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from eigentext.errors import ParameterError
from eigentext.parameters import Number, argument
from eigentext.topics.parameters import RANK, Rank

# The default of the weight of probability.
WEIGHTS: dict[str, float] = {"distinctive": 1 / 3, "relevance": 0.6, "frex": 0.5}
_EVIDENCE = 1.5  # s, as a multiple of the count of a typical word
_WEIGHT = Number(None, least=0, most=1)


def order(
    components: np.ndarray,
    weights: np.ndarray,
    counts: np.ndarray,
    n: int,
    rank: Rank = RANK.default,
    weight: float | None = None,
) -> np.ndarray:
    """Return the numbers of the first n words of each topic, shape (K, n) or less.

    Words of the same score are in the order of their probability, and then of their numbers.

    Parameters
    ----------
    components, weights : arrays, shapes (K, d) and (K,)
        The topics and their probabilities.
    counts : array, shape (d,)
        How often each word occurs in all documents.
    n : int
        How many words.
    rank : str
        The ranking; see the module.
    weight : float, optional
        The weight of probability, from 0 to 1, for "distinctive", "relevance" and "frex".

    Examples
    --------
    >>> components = np.array([[0.4, 0.3, 0.3, 0.0], [0.4, 0.0, 0.1, 0.5]])
    >>> weights, counts = np.array([0.5, 0.5]), np.array([40, 15, 20, 25])
    >>> order(components, weights, counts, 2, "probability").tolist()
    [[0, 1], [3, 0]]
    >>> order(components, weights, counts, 2, "frex").tolist()
    [[1, 2], [3, 0]]
    """
    components = np.asarray(components, float)
    found = scores(components, weights, counts, rank, weight)
    by_probability = np.argsort(-components, axis=1, kind="stable")
    found = np.take_along_axis(found, by_probability, 1)
    best = np.argsort(-found, axis=1, kind="stable")[:, :n]
    return np.take_along_axis(by_probability, best, 1)


def scores(
    components: np.ndarray,
    weights: np.ndarray,
    counts: np.ndarray,
    rank: Rank = RANK.default,
    weight: float | None = None,
) -> np.ndarray:
    """Return the score of each word in each topic, shape (K, d); see :func:`order`.

    Only the order of scores in a topic means something.
    """
    rank = argument("rank", RANK, rank)
    weight = argument("weight", _WEIGHT, weight)
    if weight is not None and rank not in WEIGHTS:
        raise ParameterError(
            f"rank={rank!r} has no weight; leave weight out, or choose one of "
            f"{', '.join(map(repr, WEIGHTS))}"
        )
    share = WEIGHTS.get(rank, 1.0) if weight is None else weight
    phi = np.asarray(components, float)
    if rank == "probability":
        return phi
    if rank == "frex":
        found = _frex(phi, share)
    else:
        found = _SCORES[rank](phi, np.asarray(weights, float), np.asarray(counts, float), share)
    return np.where(phi > 0, found, -np.inf)


def of_groups(
    components: np.ndarray,
    weights: np.ndarray,
    counts: np.ndarray,
    groups: Sequence[Sequence[int]],
    n: int,
) -> list[list[int]]:
    """Return the numbers of the n most distinctive words of each group of topics.

    Equivalent to `order` for a group as one topic, the weighted mean of its topics, beside the
    topics outside. The evidence is that of the single topics.

    Examples
    --------
    >>> components = np.array([[0.4, 0.6, 0, 0], [0.4, 0, 0.6, 0], [0.3, 0, 0, 0.7]])
    >>> of_groups(components, np.full(3, 1 / 3), np.full(4, 25), [[0, 1], [2]], 1)
    [[1], [3]]
    """
    phi, share = np.asarray(components, float), WEIGHTS["distinctive"]
    evidence = _log(_evidence(phi, np.asarray(counts, float)))
    found = []
    for group in map(sorted, groups):
        p = weights[group] @ phi[group] / weights[group].sum()
        outside = np.delete(phi, group, axis=0)
        exclusive = _log(p) - _log(np.sqrt(p**2 + (outside**2).sum(axis=0)))
        score = np.where(p > 0, share * _log(p) + (1 - share) * (exclusive + evidence), -np.inf)
        by_probability = np.argsort(-p, kind="stable")
        best = by_probability[np.argsort(-score[by_probability], kind="stable")[:n]]
        found.append([int(word) for word in best if p[word] > 0])
    return found


def _relevance(phi: np.ndarray, weights: np.ndarray, counts: Any, share: float) -> np.ndarray:
    return _log(phi) - (1 - share) * _log(weights @ phi)


def _distinctive(phi: np.ndarray, weights: Any, counts: np.ndarray, share: float) -> np.ndarray:
    exclusive = _log(phi) - _log(np.sqrt((phi**2).sum(axis=0)))
    return share * _log(phi) + (1 - share) * (exclusive + _log(_evidence(phi, counts)))


def _frex(phi: np.ndarray, share: float) -> np.ndarray:
    return 1 / (share / _ranks(phi) + (1 - share) / _ranks(_shares(phi)))


def _score(phi: np.ndarray, weights: Any, counts: Any, share: float) -> np.ndarray:
    logs = _log(phi)
    return phi * (logs - logs.mean(axis=0))


def _divergence(phi: np.ndarray, weights: np.ndarray, counts: Any, share: float) -> np.ndarray:
    return phi * (_log(phi) - _log(weights @ phi))


_SCORES = {
    "relevance": _relevance,
    "distinctive": _distinctive,
    "score": _score,
    "divergence": _divergence,
}


def _evidence(phi: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The factor n / (n + s) of each word, or 1 for all words if none has a count."""
    is_seen = counts > 0
    if not is_seen.any():
        return np.ones_like(counts)
    return counts / (counts + _EVIDENCE * _typical(phi[:, is_seen], counts[is_seen]))


def _typical(phi: np.ndarray, counts: np.ndarray) -> float:
    """The count of a word that is typical of a topic."""
    weighted = phi * (_shares(phi) ** 2).sum(axis=0)
    weighted -= phi / len(phi)
    weighted = np.maximum(weighted, 0)
    total = weighted.sum(axis=1)
    if not (total > 1e-12).any():  # one topic, or equal ones
        weighted, total = phi, phi.sum(axis=1)
    means = weighted[total > 1e-12] @ np.log(counts) / total[total > 1e-12]
    return float(np.exp(np.median(means)))


def _shares(phi: np.ndarray) -> np.ndarray:
    """The probability of each topic for a word, if all topics were equally probable before."""
    total = phi.sum(axis=0)
    return np.divide(phi, total, out=np.zeros_like(phi), where=total > 0)


def _ranks(values: np.ndarray) -> np.ndarray:
    """The share of words in the topic with this value or less (the empirical distribution)."""
    found = np.empty_like(values)
    for row, ranked in zip(values, found):
        ranked[:] = np.searchsorted(np.sort(row), row, side="right") / len(row)
    return found


def _log(values: np.ndarray) -> np.ndarray:
    return np.log(np.maximum(values, 1e-300))
