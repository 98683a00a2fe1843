r"""EM for topics of documents with two views, from the topics that the moments give.

The posterior of a document's topic is

.. math::

    r_k \propto w_k\, \exp\Bigl(\frac{1}{\sqrt{n}} \sum_w c_w \log \phi_{kw}
    + \beta\, \log p(z \mid k)\Bigr)

with c the counts of the n words. The words are *tempered*: words of a document repeat and follow
each other, so n of them say as much as about :math:`\sqrt{n}` independent ones. Without that, a
long document would have no use for its second view. A second view of words is tempered in the same
way. Numbers are standardized, and have a Gaussian distribution with the mean :math:`\nu_k` and one
covariance S for all topics, as in linear discriminant analysis. S is shrunk halfway to a multiple
of the identity. As S is learned, the array has the weight that it deserves, and :math:`\beta`
(`balance`) is 1. A view that a document lacks does not count.

The M step uses all counts of words as they are. So the steps do not maximize one function, and EM
stops when the posteriors hardly change.

Moments give a good region, but noise may let two topics share one subject while another topic has
two. So learning begins with half as many topics more (:func:`with_spares`). A few steps run at a
high *temperature* T, with :math:`r_k^{1/T}`, which falls to 1. Then the two topics whose union
loses least likelihood become one, until K are left, and EM goes on with these.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from eigentext import engine
from eigentext.matrices.products import rows_times, sparse_times, transposed_times
from eigentext.matrices.runs import CSR
from eigentext.monitor import Monitor

_HOT = 10.0  # the first temperature
_COOLING = 20  # steps until the temperature is 1
_SETTLING = 5  # steps at the temperature 1 before topics are joined
_SHRUNK = 0.5  # the part of the identity in the covariance
_SETTLED = 1e-3  # EM ends when the mean change of posteriors (in L1) is less
_TINY = 1e-300  # stands for a probability of zero


class WordView:
    """A view of words: a distribution over words for each topic."""

    def __init__(self, counts: CSR, smoothing: float):
        self.counts = counts.astype(np.float64)
        self._transpose = self.counts.T.tocsr()
        self._smoothing = smoothing
        n = self.counts.sum(axis=1)
        self.present = n > 0
        self.exponents = tempered(n)

    def maximized(self, R: np.ndarray) -> dict[str, np.ndarray]:
        """The M step, from posteriors."""
        expected = sparse_times(self._transpose, R).T + self._smoothing
        sums = expected.sum(axis=1, keepdims=True)
        even = np.full_like(expected, 1 / expected.shape[1])
        return {"components": np.divide(expected, sums, out=even, where=sums > 0)}

    def scores(self, known: dict[str, np.ndarray]) -> np.ndarray:
        """The tempered log-likelihoods, shape (n, K)."""
        return word_scores(self.counts, known["components"])

    def sums(self, R: np.ndarray, known: dict[str, np.ndarray]) -> np.ndarray:
        """What topics add up when they are joined: expected words, tempered."""
        return sparse_times(self._transpose, R * self.exponents[:, None]).T

    def losses(self, sums: np.ndarray, k: int) -> np.ndarray:
        """The log-likelihood that is lost if topic k is joined with each other one."""
        joined = sums + sums[k]
        return _entropy(joined) - _entropy(sums) - _entropy(sums[k : k + 1])


class NumberView:
    """A view of numbers: a mean for each topic, and one covariance.

    `rows` have columns with the mean 0 and the variance 1 over the documents with this view.
    """

    def __init__(self, rows: np.ndarray):
        self.rows = rows
        self.present = np.ones(len(rows), bool)
        with engine.one_blas_thread():
            self._squares = transposed_times(rows, rows)

    def maximized(self, R: np.ndarray) -> dict[str, np.ndarray]:
        """The M step, from posteriors."""
        n = R.sum(axis=0)
        means = transposed_times(R, self.rows) / np.maximum(n, np.finfo(float).tiny)[:, None]
        within = (self._squares - (means.T * n) @ means) / max(n.sum(), 1.0)
        return {"means": means, "covariance": shrunk(within)}

    def scores(self, known: dict[str, np.ndarray]) -> np.ndarray:
        """The log-likelihoods up to what all topics share, shape (n, K)."""
        return number_scores(self.rows, known)

    def sums(self, R: np.ndarray, known: dict[str, np.ndarray]) -> np.ndarray:
        """What topics add up when they are joined: documents, and whitened rows."""
        values, E = np.linalg.eigh(known["covariance"])
        return np.column_stack([R.sum(axis=0), transposed_times(R, self.rows) @ E / values**0.5])

    def losses(self, sums: np.ndarray, k: int) -> np.ndarray:
        """The log-likelihood that is lost if topic k is joined with each other one."""
        n = np.maximum(sums[:, 0], np.finfo(float).tiny)
        means = sums[:, 1:] / n[:, None]
        return n * n[k] / (n + n[k]) / 2 * ((means - means[k]) ** 2).sum(axis=1)


View = WordView | NumberView


class TwoViewState(NamedTuple):
    """Topics of both views."""

    weights: np.ndarray  # (K,)
    first: dict[str, np.ndarray]
    second: dict[str, np.ndarray]


def tempered(n: np.ndarray) -> np.ndarray:
    """The exponents of documents of n words: 1 / sqrt(n)."""
    return np.where(n > 0, 1 / np.sqrt(np.maximum(n, 1)), 0.0)


def word_scores(counts: CSR, components: np.ndarray) -> np.ndarray:
    """The tempered log-likelihoods of counts, shape (n, K); zeros for empty rows."""
    logs = np.ascontiguousarray(np.log(np.maximum(components, _TINY)).T)
    counts = counts.astype(np.float64)
    return tempered(counts.sum(axis=1))[:, None] * sparse_times(counts, logs)


def number_scores(rows: np.ndarray, known: dict[str, np.ndarray]) -> np.ndarray:
    """The Gaussian log-likelihoods up to what all topics share, shape (n, K)."""
    with engine.one_blas_thread():
        means = known["means"]
        direction = np.linalg.solve(known["covariance"], means.T)
        return rows_times(rows, direction) - (means.T * direction).sum(axis=0) / 2


def shrunk(covariance: np.ndarray) -> np.ndarray:
    """A covariance with half of it replaced by its mean variance, and positive in any case."""
    p = len(covariance)
    size = max(float(np.trace(covariance)) / p, 1e-6)
    values, E = np.linalg.eigh((covariance + covariance.T) / 2)
    values = (1 - _SHRUNK) * np.maximum(values, 0) + _SHRUNK * size
    return (E * values) @ E.T


def posteriors(
    weights: np.ndarray, scores: list[np.ndarray], *, temperature: float = 1.0
) -> np.ndarray:
    """The posteriors of the topics, given the weighted log-likelihoods of the views."""
    with np.errstate(divide="ignore"):
        total = np.log(np.maximum(weights, _TINY)) + sum(scores)
    return softmax(total / temperature, axis=1)


def with_spares(n_topics: int) -> int:
    """How many topics learning begins with."""
    return n_topics + (n_topics + 1) // 2 if n_topics > 1 else 1


class TwoViewEM:
    """The documents, and the steps of EM on them."""

    def __init__(self, first: WordView, second: View, balance: float):
        self.views: tuple[View, View] = (first, second)
        self._balance = balance
        self.known = first.present | second.present

    def expect(self, state: TwoViewState, temperature: float = 1.0) -> np.ndarray:
        """Posteriors of the topics of all documents; documents without any view have zeros."""
        first, second = self.views
        scores = [first.scores(state.first), self._balance * second.scores(state.second)]
        R = posteriors(state.weights, scores, temperature=temperature)
        return R * self.known[:, None]

    def maximize(self, R: np.ndarray) -> TwoViewState:
        """The topics that posteriors give."""
        first, second = self.views
        weights = R.sum(axis=0)
        return TwoViewState(weights / weights.sum(), first.maximized(R), second.maximized(R))

    def join(self, R: np.ndarray, n_topics: int) -> np.ndarray:
        """Posteriors in which the most similar topics are one, until `n_topics` are left."""
        state = self.maximize(R)
        views = list(zip(self.views, (state.first, state.second), (1.0, self._balance)))
        sums = [view.sums(R, known) for view, known, _ in views]

        def losses(k: int) -> np.ndarray:
            one, other = (share * view.losses(s, k) for (view, _, share), s in zip(views, sums))
            return one + other

        table = np.array([losses(k) for k in range(R.shape[1])])
        while len(table) > n_topics:
            above = np.where(np.triu(np.ones(table.shape, bool), 1), table, np.inf)
            i, j = np.unravel_index(int(above.argmin()), table.shape)
            R[:, i] += R[:, j]
            R = np.delete(R, j, axis=1)
            for s in sums:
                s[i] += s[j]
            sums = [np.delete(s, j, axis=0) for s in sums]
            table = np.delete(np.delete(table, j, axis=0), j, axis=1)
            table[i] = table[:, i] = losses(int(i))
        return R


@engine.one_blas_thread()
def refine_views(
    em: TwoViewEM, start: TwoViewState, n_topics: int, *, n_steps: int
) -> tuple[TwoViewState, np.ndarray, list[float]]:
    """Cool down, join topics until `n_topics` are left, and run at most `n_steps` steps of EM.

    Return the topics, the posteriors, and how much each step changed the posteriors.
    """
    R = em.expect(start, _HOT)
    for temperature in [*np.geomspace(_HOT, 1, _COOLING), *[1.0] * _SETTLING]:
        R = em.expect(em.maximize(R), float(temperature))
    R = em.join(R, n_topics)
    problem = (R, n_topics, n_steps)
    monitor = Monitor("two-view-em", n_steps, problem=problem, title="refine")
    if kept := monitor.resume():
        R = kept.arrays["R"]
    state = em.maximize(R)
    with monitor:
        while not monitor.is_done:
            before, R = R, em.expect(state)
            change = float(np.abs(R - before).sum() / max(R.sum(), 1.0))
            monitor.record(change)
            state = em.maximize(R)
            if change < _SETTLED:
                monitor.stop()
            monitor.keep(partial(dict, R=R))
    return state, R, monitor.history


def _entropy(sums: np.ndarray) -> np.ndarray:
    """Minus the log-likelihood of expected words under their own distributions."""
    total = sums.sum(axis=1)
    logs = np.log(np.where(sums > 0, sums, 1.0))
    return total * np.log(np.where(total > 0, total, 1.0)) - (sums * logs).sum(axis=1)
