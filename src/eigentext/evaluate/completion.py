r"""Held-out perplexity by document completion: one half of a document predicts the other.

The tokens of each document are split at random into two halves. If their number is odd, the first
half gets one more. The topics :math:`\phi_k` stay fixed. The first half, with the counts
:math:`n_w`, gives the proportions :math:`\theta` of the topics in the document. EM finds them as
the maximum of a concave objective,

.. math:: \sum_w n_w \log \sum_k \theta_k \phi_{kw} + \sum_k \alpha_k \log \theta_k,

This is the mode of the posterior under a Dirichlet(:math:`\alpha`) prior in the softmax basis
(MacKay 1998). In this basis the mode also exists for :math:`\alpha_k < 1`. An EM step is
:math:`\theta_k \propto E[n_k] + \alpha_k`. If each document has one topic (:math:`\alpha = 0`, a
mixture of multinomials), :math:`\theta` is the posterior of that topic,
:math:`\theta_k \propto w_k \prod_w \phi_{kw}^{n_w}`. The perplexity of the tokens of all second
halves is

.. math:: \exp\Bigl(-\frac1N \sum_{\text{tokens } w} \log \sum_k \theta_k \phi_{kw}\Bigr).

The proportions never see the tokens that they score. So, unlike a bound on the likelihood, the
perplexity means the same for every way to learn topics. It is the estimator of Rosen-Zvi et al.
(2004) and of Wallach et al. (2009, section 5), with one estimate of :math:`\theta` in place of
samples.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from eigentext import engine, notebook
from eigentext.corpus.documents import checked_matrix
from eigentext.errors import CorpusError, ParameterError
from eigentext.factor.mixture import ConditionalMixture, posteriors, proportions

_LONGEST = 1 << 20  # the most tokens that are shuffled together


@dataclass(frozen=True, repr=False)
class CompletionResult:
    """The perplexity of the second halves, and the numbers of their tokens and documents."""

    perplexity: float
    n_tokens: int
    n_documents: int
    n_short: int  # documents of fewer than two known tokens, which are left out

    def __float__(self) -> float:
        return self.perplexity

    def __str__(self) -> str:
        short = f"; too short: {self.n_short:,}" if self.n_short else ""
        return (
            f"perplexity {self.perplexity:,.1f} over {self.n_tokens:,} tokens "
            f"of {self.n_documents:,} documents{short}"
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    def _repr_html_(self) -> str:
        facts = [
            ("perplexity", f"{self.perplexity:,.1f}"),
            ("tokens", self.n_tokens),
            ("documents", self.n_documents),
            ("documents that are too short", self.n_short),
        ]
        return notebook.result("Perplexity of held-out halves", notebook.pairs(facts))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON. None stands for infinity."""
        found = asdict(self)
        return found | ({} if math.isfinite(self.perplexity) else {"perplexity": None})


def completion_perplexity(
    components: ArrayLike,
    X: ArrayLike | sp.sparray | sp.spmatrix,
    *,
    alpha: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    smoothing: float = 0.01,
    n_iter: int = 200,
    random_state: int = 0,
) -> CompletionResult:
    """Compute the perplexity of one half of each document, given the other half.

    Parameters
    ----------
    components : array, shape (K, d)
        Each row has the word probabilities of a topic, or numbers proportional to them.
    X : array or scipy sparse matrix, shape (n, d)
        Counts of words in held-out documents. Words outside the vocabulary do not count, so compare
        only systems with the same vocabulary.
    alpha : float or array of length K
        The parameters of the Dirichlet prior of the proportions. The default is 1 / K for each.
    weights : array of length K
        The prior probabilities of the topics, if each document has one topic (`alpha` is 0). If
        `alpha` is 0 without weights, the proportions are those of maximum likelihood.
    smoothing : float
        The share of the uniform distribution in each topic. With 0, a word may have probability
        zero in all topics, and one token of such a word makes the perplexity infinite.
    n_iter : int
        The most EM steps. EM stops earlier if a step gains less than 1e-6 per token.
    random_state : int
        The random seed of the halves. With the same `X` and seed, all systems get the same halves.

    Examples
    --------
    >>> from eigentext.evaluate import completion_perplexity
    >>> topics = [[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]]
    >>> print(completion_perplexity(topics, [[40, 40, 0, 0], [0, 0, 20, 20], [1, 0, 0, 0]]))
    perplexity 2.0 over 60 tokens of 2 documents; too short: 1
    """
    phi = _smoothed(components, smoothing)
    K, d = phi.shape
    prior = _per_topic(1 / K if alpha is None else alpha, "alpha", K)
    counts = _whole_counts(X, d)
    long_enough = counts.sum(axis=1) >= 2
    n_documents = int(long_enough.sum())
    if not n_documents:
        raise CorpusError(
            "no document has two known words or more; "
            "give longer documents, or count words by the vocabulary of the topics"
        )
    first, second = _halves(counts[long_enough], np.random.default_rng(random_state))
    if weights is not None and not prior.any():
        shares = _per_topic(weights, "weights", K)
        if not shares.any():
            raise ParameterError("weights are all zero; give the topics' probabilities")
        theta, _ = posteriors(first, phi, shares / shares.sum())
    else:
        theta = proportions(first, phi, prior, n_iter=n_iter)
    n_tokens = int(second.sum())
    total = ConditionalMixture(second).expect(theta, np.ascontiguousarray(phi.T), right=False)[2]
    perplexity = math.inf if total == -math.inf else math.exp(-total / n_tokens)
    return CompletionResult(perplexity, n_tokens, n_documents, counts.shape[0] - n_documents)


def _halves(X: Any, rng: np.random.Generator) -> list[Any]:
    """Shuffle the tokens of each row and cut them in the middle. The first half may be one longer.

    Every token takes memory, so the rows are shuffled in blocks. In a row of more than `_LONGEST`
    tokens, each token goes to either half with probability 1/2 instead.
    """
    lengths = X.sum(axis=1)
    first = np.zeros(X.nnz, np.int64)
    long = np.repeat(lengths > _LONGEST, np.diff(X.indptr))
    shuffled = np.where(lengths > _LONGEST, 0, lengths)
    for begin, end in engine.even_blocks(np.append(0, np.cumsum(shuffled)), _LONGEST):
        entries = slice(X.indptr[begin], X.indptr[end])
        counts = np.where(long[entries], 0, X.data[entries])
        first[entries] = _first_halves(counts, shuffled[begin:end], rng)
    first[long] = rng.binomial(X.data[long], 0.5)
    halves = [
        sp.csr_array((half, X.indices, X.indptr), X.shape, copy=True)
        for half in (first, X.data - first)
    ]
    for half in halves:
        half.eliminate_zeros()
    return halves


def _first_halves(counts: np.ndarray, lengths: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the number of tokens of each entry that are in the first half of its document."""
    documents = np.repeat(np.arange(len(lengths)), lengths)
    places = np.arange(len(documents)) - (lengths.cumsum() - lengths)[documents]
    shuffled = np.lexsort((rng.random(len(documents)), documents))  # the documents keep their order
    entries = np.repeat(np.arange(len(counts)), counts)[shuffled]
    return np.bincount(entries[2 * places < lengths[documents]], minlength=len(counts))


def _smoothed(components: ArrayLike, smoothing: float) -> np.ndarray:
    phi = np.asarray(components, np.float64)
    if phi.ndim != 2 or not phi.size or not np.isfinite(phi).all() or (phi < 0).any():
        raise ParameterError(
            "components must be a matrix of word probabilities: finite and not below 0"
        )
    sums = phi.sum(axis=1, keepdims=True)
    if not sums.all():
        raise ParameterError(f"topic {int(np.argmin(sums))} is all zero; leave it out")
    if not 0 <= smoothing <= 1:
        raise ParameterError(f"smoothing must be from 0 to 1, not {smoothing}")
    return (1 - smoothing) * phi / sums + smoothing / phi.shape[1]


def _per_topic(values: ArrayLike, name: str, K: int) -> np.ndarray:
    values = np.asarray(values, np.float64)
    if values.shape not in ((), (K,)):
        raise ParameterError(f"{name} has shape {values.shape}; give one number, or {K} numbers")
    if not np.isfinite(values).all() or (values < 0).any():
        raise ParameterError(f"{name} must be finite and not below 0")
    return np.broadcast_to(values, (K,))


def _whole_counts(X: Any, d: int) -> Any:
    X = checked_matrix(X)
    if X.shape[1] != d:
        raise ParameterError(
            f"X has {X.shape[1]} columns, but the topics have {d} words; "
            "count the words of X by the vocabulary of the topics"
        )
    if (X.data % 1).any():
        raise ParameterError("X has fractions, but only whole tokens can be held out; give counts")
    return X.astype(np.int64)
