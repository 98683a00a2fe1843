r"""Background knowledge: word vectors of plain text tell which words mean alike.

Few documents carry little co-occurrence, and rare words hardly any. Vectors that were learned from
other text (:class:`eigentext.Eigenwords`) know the neighbors of a word. They are used twice, each
time with a strength :math:`\tau`, in occurrences: a word that occurs :math:`n_w` times keeps
:math:`n_w / (n_w + \tau)` of what it says itself, and has the rest from its neighbors. So frequent
words, and large collections, are hardly changed.

**Moments.** Let N be the matrix whose row w has the weights of the neighbors of w, with the sum 1,
and S the matrix with the rows :math:`(n_w e_w + \tau_m N_w) / (n_w + \tau_m)`. If a word at a
position is replaced by one that is drawn from its row of S, the moments at distinct positions
become

.. math:: S^\top v, \qquad S^\top E[x_1 x_2^\top]\, S, \qquad T(SW, SW, SW).

They are those of the same model with the topics :math:`S^\top \mu_i`: the smoothing is exact, and
nothing dense is made. :math:`\tau_m = 10 \tau`, because pairs and triples are noisier than counts.

**EM.** After the E step, with expected counts :math:`E_{kw}`, the share of each topic in a word
moves towards its neighbors:

.. math:: E'_{kw} = (n_w + \tfrac{1}{2}) \frac{E_{kw} + \tau R_{kw}}{n_w + \tau}, \qquad
    R_{kw} = \sum_u N_{wu}\, p(k \,|\, u),

where :math:`p(k \,|\, u)` has half a pseudo-count, in proportion to the topics. EM with such a step
is EMS (Silverman et al. 1990). It does not maximize a likelihood. Words without
a vector have the pseudo-counts of `smoothing` instead, as all words have without vectors.

**The strength** is the value with the least perplexity of held-out documents. Topics are learned
without vectors from the others, their expected counts are smoothed by each value, and the held-out
documents are completed. If no value gains, it is 0, and the topics are those without vectors, bit
for bit.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from eigentext import engine
from eigentext.corpus import Vocabulary
from eigentext.errors import ParameterError
from eigentext.evaluate.vectors import WordVectors, words_and_vectors
from eigentext.factor.mixture import ConditionalMixture
from eigentext.matrices.products import sparse_times
from eigentext.matrices.runs import CSR
from eigentext.moments.bags import BagMoments
from eigentext.topics.inference import topic_proportions

GRID = (1.0, 3.0, 10.0, 30.0)  # the strengths that "auto" compares with 0
RARE = 2  # min_df="auto" with vectors: words in so many documents stay
FEW_KNOWN = 0.5  # if fewer of the words in the text have vectors, a finding says so
_NEIGHBORS = 20
_TEMPERATURE = 0.1  # of the cosines: nearer neighbors weigh more
_SOURCES = 5000  # neighbors are among so many words, the most frequent ones
_IN_MOMENTS = 10.0  # tau_m / tau
_HALF = 0.5  # a pseudo-count
_GAIN = 0.001  # the least gain in the logarithm of the perplexity that is worth any smoothing
_ROWS = 1024
_POSSIBLE = 1e-100  # the least probability of a word; EM divides by it
_one_blas_thread = engine.one_blas_thread()  # for equal bits: see matrices.products


@dataclass(frozen=True)
class KeptVectors:
    """Stands for the vectors in the parameters of a model from a file, which only names them."""

    words: str  # of which kind they were


def named_vectors(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters for a model file, with the kind of the vectors in place of them."""
    given = parameters["vectors"]
    if given is None:
        return dict(parameters)
    kind = given.words if isinstance(given, KeptVectors) else type(given).__name__
    return {**parameters, "vectors": kind}


def kept_vectors(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a model file, where vectors are :class:`KeptVectors`."""
    if parameters.get("vectors") is None:
        return dict(parameters)
    return {**parameters, "vectors": KeptVectors(str(parameters["vectors"]))}


class Neighbors(NamedTuple):
    """The words that mean alike, by vectors."""

    kernel: CSR  # N, (d, d); a row has the sum 1, or no entries if the word has no vector
    is_known: np.ndarray  # (d,)
    words: float  # the share of the words that have a vector
    tokens: float  # the share of their occurrences


@dataclass(frozen=True)
class Background:
    """Neighbors, and with how many occurrences they count."""

    neighbors: Neighbors
    strength: float  # tau
    counts: np.ndarray  # n_w

    def moved(self) -> CSR:
        """The matrix S."""
        tau = np.where(self.neighbors.is_known, _IN_MOMENTS * self.strength, 0.0)
        total = self.counts + tau
        own = np.divide(self.counts, total, out=np.ones(len(total)), where=total > 0)
        others = sp.diags_array(1 - own) @ self.neighbors.kernel
        return sp.csr_array(sp.diags_array(own) + others)

    def smoothed(self, expected: np.ndarray, smoothing: float | np.ndarray) -> np.ndarray:
        """Smoothed expected counts E', (K, d). Words without a vector get pseudo-counts.

        The pseudo-counts of seeds of topics, which exceed the others, stay.
        """
        known, tau = self.neighbors.is_known, self.strength
        E = np.ascontiguousarray(expected.T)
        n, shares = E.sum(axis=1, keepdims=True), E.sum(axis=0)
        P = (E + _HALF * shares / (shares.sum() or 1.0)) / (n + _HALF)
        R = sparse_times(self.neighbors.kernel, P)
        smoothed = (n + _HALF) * (E + tau * R) / (n + tau)
        extra = smoothing - np.min(smoothing)
        return np.where(known, smoothed.T + extra, E.T + smoothing)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What determines the smoothing, for the identity of a checkpoint."""
        N = self.neighbors.kernel
        return N.indptr, N.indices, N.data, self.strength


class SmoothedBags(BagMoments):
    """The moments of documents whose words were moved by S."""

    def __init__(self, bags: BagMoments, S: CSR):
        vars(self).update(vars(bags))
        self._bags, self._S, self._St = bags, S, sp.csr_array(S.T)
        self.mean = sparse_times(self._St, bags.mean[:, None])[:, 0]

    def reweighted(self, weights: np.ndarray) -> "SmoothedBags":
        """The moments of the same documents with other weights."""
        return SmoothedBags(self._bags.reweighted(weights), self._S)

    def pairs_times(self, B: np.ndarray) -> np.ndarray:
        """The smoothed pair moment times a thin matrix."""
        return sparse_times(self._St, self._bags.pairs_times(sparse_times(self._S, B)))

    def pair_shares(self, W: np.ndarray) -> np.ndarray:
        """The part of each document in the trace of W' (smoothed pair moment) W."""
        return self._bags.pair_shares(sparse_times(self._S, W))

    def projections(self, rows: np.ndarray, W: np.ndarray) -> np.ndarray:
        """The smoothed counts of some documents times a thin matrix."""
        return self._bags.projections(rows, sparse_times(self._S, W))

    def triples(self, W: np.ndarray) -> np.ndarray:
        """The smoothed triple moment contracted with W on all sides."""
        return self._bags.triples(sparse_times(self._S, W))


def neighbors_of(vocabulary: Vocabulary, counts: np.ndarray, vectors: Any) -> Neighbors:
    """Find the neighbors of each word among the most frequent words, by the cosine of vectors.

    `counts` are the occurrences of the words in the documents.
    """
    if isinstance(vectors, KeptVectors):
        raise ParameterError(
            "a model from a file does not hold the vectors it was learned with; give them again: "
            "set_params(vectors=et.load(…))"
        )
    words, matrix = words_and_vectors(vectors)
    if matrix.shape[1] < 2:
        raise ParameterError(
            "vectors of one dimension do not tell which words mean alike; learn longer vectors "
            "(n_components=300, --dim 300)"
        )
    try:
        with np.errstate(over="ignore"):  # an infinite number is an error, below
            found = WordVectors((words, np.asarray(matrix, np.float32)))
    except (TypeError, ValueError) as error:
        raise ParameterError(f"vectors must be numbers: {error}") from error
    places = np.array([found.place(word) for word in vocabulary.words])
    is_known = places >= 0
    if not is_known.any():
        raise ParameterError(
            f"none of the {len(places):,} words of these documents has a vector; give vectors of "
            "text in the same language and with the same case, and documents as texts, or as a "
            "data frame whose columns are words"
        )
    kernel = _kernel(found.unit_rows(places[is_known]), np.flatnonzero(is_known), counts)
    is_known &= np.diff(kernel.indptr) > 0
    tokens = counts[is_known].sum() / (counts.sum() or 1)
    return Neighbors(kernel, is_known, float(is_known.mean()), float(tokens))


@_one_blas_thread
def _kernel(units: np.ndarray, known: np.ndarray, counts: np.ndarray) -> CSR:
    """The matrix N, from the vectors of the words `known`."""
    d, V = len(counts), units.astype(np.float32)
    order = np.argsort(-counts[known], kind="stable")[:_SOURCES]
    sources = np.sort(order[counts[known][order] > 0])
    k = min(_NEIGHBORS, len(sources) - 1)
    if k < 1:
        return sp.csr_array((d, d))
    place = np.full(len(known), -1)
    place[sources] = np.arange(len(sources))
    others = np.ascontiguousarray(V[sources].T)

    def work(start: int) -> tuple[np.ndarray, np.ndarray]:
        cosines = V[start : start + _ROWS] @ others
        own = place[start : start + _ROWS]
        rows = np.flatnonzero(own >= 0)
        cosines[rows, own[rows]] = -2  # a word is not its own neighbor
        best = np.sort(np.argpartition(-cosines, k - 1, axis=1)[:, :k], axis=1)
        near = np.take_along_axis(cosines, best, axis=1).astype(np.float64)
        weights = np.exp((near - near.max(axis=1, keepdims=True)) / _TEMPERATURE)
        return best, weights / weights.sum(axis=1, keepdims=True)

    parts = list(engine.current().map(work, range(0, len(known), _ROWS)))
    best, weights = (np.concatenate(part) for part in zip(*parts))
    places = np.repeat(known, k), known[sources[best]].ravel()
    return sp.csr_array((weights.ravel(), places), (d, d))


def strength_by_text(
    neighbors: Neighbors,
    counts: CSR,
    times: np.ndarray,
    held_out: CSR,
    topics: tuple[np.ndarray, np.ndarray],
    *,
    alpha0: float,
    smoothing: float,
) -> tuple[float, dict[str, float]]:
    """Return the best strength, and the perplexities of held-out documents by strength.

    `topics` are the weights and components that were learned from the counts without vectors.
    """
    from eigentext.evaluate import completion_perplexity

    weights, components = topics
    X = sp.csr_array(sp.diags_array(np.asarray(times, np.float64)) @ counts)
    theta = topic_proportions(counts, components, weights, alpha0)
    phi = np.maximum(components, _POSSIBLE)
    expected = ConditionalMixture(X).expect(theta, np.ascontiguousarray(phi.T))[1].T
    n = np.asarray(X.sum(axis=0)).ravel()
    tried = {}
    for tau in (0.0, *GRID):
        known = Background(neighbors, tau, n)
        smooth = known.smoothed(expected, smoothing) if tau else expected + smoothing
        smooth /= np.maximum(smooth.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        prior = alpha0 * weights
        found = completion_perplexity(smooth, held_out, alpha=prior, weights=weights)
        tried[f"{tau:g}"] = found.perplexity
    best = min(GRID, key=lambda tau: tried[f"{tau:g}"])
    gains = np.log(tried["0"]) - np.log(tried[f"{best:g}"])
    return (best if gains > _GAIN else 0.0), tried
