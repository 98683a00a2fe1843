r"""Held-out perplexity by document completion: topics from one half of a document tell the other.

The tokens of each document are dealt at random into two halves, the odd one to the first. With the
topics :math:`\phi_k` held fixed, the first half :math:`n_w` gives the document's proportions
:math:`\theta`, by EM for the maximum of a concave objective,

.. math:: \sum_w n_w \log \sum_k \theta_k \phi_{kw} + \sum_k \alpha_k \log \theta_k,

which is the mode of the posterior under a Dirichlet(:math:`\alpha`) prior in the softmax basis
(MacKay, *Choice of basis for Laplace approximation*, 1998): the one that exists for
:math:`\alpha_k < 1` too. An EM step is :math:`\theta_k \propto E[n_k] + \alpha_k`. Where a document
has one topic (:math:`\alpha = 0`, a mixture of multinomials), :math:`\theta` is the posterior of
that topic, :math:`\theta_k \propto w_k \prod_w \phi_{kw}^{n_w}`. The perplexity is that of the
tokens of all second halves,

.. math:: \exp\Bigl(-\frac1N \sum_{\text{tokens } w} \log \sum_k \theta_k \phi_{kw}\Bigr).

No token is seen by the proportions that score it, so, unlike bounds on the likelihood, the figure
means the same for every way to learn topics. It is the estimator of Rosen-Zvi et al. (*The
author-topic model*, 2004) and of Wallach et al. (*Evaluation methods for topic models*, 2009,
section 5), with a point for :math:`\theta` in place of samples.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigentext import engine
from eigentext.corpus.documents import checked_matrix
from eigentext.errors import CorpusError, ParameterError
from eigentext.factor.mixture import ConditionalMixture, posteriors, proportions

_LONGEST = 1 << 20  # tokens that are shuffled together


@dataclass(frozen=True, repr=False)
class CompletionResult:
    """The perplexity of so many tokens, the second halves of so many documents."""

    perplexity: float
    n_tokens: int
    n_documents: int
    n_short: int  # documents of fewer than two known tokens, left out

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

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, where infinity is None."""
        found = asdict(self)
        return found | ({} if math.isfinite(self.perplexity) else {"perplexity": None})


def completion_perplexity(
    components: Any,
    X: Any,
    *,
    alpha: Any = None,
    weights: Any = None,
    smoothing: float = 0.01,
    n_iter: int = 200,
    random_state: int = 0,
) -> CompletionResult:
    """The perplexity of one half of each document, given the other.

    Parameters
    ----------
    components : array, shape (K, d)
        A topic's word probabilities in each row, or anything that is proportional to them.
    X : array or scipy sparse matrix, shape (n, d)
        Counts of words in held-out documents. Words outside the vocabulary are not in it and do not
        count, so compare systems that share their vocabulary.
    alpha : float or array of length K
        Of the Dirichlet prior of a document's proportions; 1 / K each by default.
    weights : array of length K
        The prior of the one topic of a document, where `alpha` is 0. Without, proportions are then
        those of maximum likelihood.
    smoothing : float
        The share of the uniform distribution in each topic: a topic without it may give a word
        probability zero, and one such token makes the perplexity infinite.
    n_iter : int
        The most EM steps for proportions; they stop when a step gains 1e-6 for each token.
    random_state : int
        Of the dealing into halves: with the same `X` and seed, all systems get the same halves.

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
    X = _whole_counts(X, d)
    long_enough = X.sum(axis=1) >= 2
    n_documents = int(long_enough.sum())
    if not n_documents:
        raise CorpusError("no document has two known words or more; nothing can be held out")
    first, second = _halves(X[long_enough], np.random.default_rng(random_state))
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
    return CompletionResult(perplexity, n_tokens, n_documents, X.shape[0] - n_documents)


def _halves(X: Any, rng: np.random.Generator) -> list[Any]:
    """Each row's tokens, shuffled and cut in the middle; the first half is the longer one.

    Some rows at a time, as every token takes memory. Of a row that is longer than any text, a coin
    is tossed for each token instead.
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
    """How many tokens of each entry are in the first half of its document."""
    documents = np.repeat(np.arange(len(lengths)), lengths)
    places = np.arange(len(documents)) - (lengths.cumsum() - lengths)[documents]
    shuffled = np.lexsort((rng.random(len(documents)), documents))  # documents stay where they are
    entries = np.repeat(np.arange(len(counts)), counts)[shuffled]
    return np.bincount(entries[2 * places < lengths[documents]], minlength=len(counts))


def _smoothed(components: Any, smoothing: float) -> np.ndarray:
    phi = np.asarray(components, np.float64)
    if phi.ndim != 2 or not phi.size or not np.isfinite(phi).all() or (phi < 0).any():
        raise ParameterError(
            "components must be a matrix of word probabilities: finite, none below 0"
        )
    sums = phi.sum(axis=1, keepdims=True)
    if not sums.all():
        raise ParameterError(f"topic {int(np.argmin(sums))} is all zero; leave it out")
    if not 0 <= smoothing <= 1:
        raise ParameterError(f"smoothing must be from 0 to 1, not {smoothing}")
    return (1 - smoothing) * phi / sums + smoothing / phi.shape[1]


def _per_topic(values: Any, name: str, K: int) -> np.ndarray:
    values = np.asarray(values, np.float64)
    if values.shape not in ((), (K,)):
        raise ParameterError(f"{name} has shape {values.shape}; give one number or {K}")
    if not np.isfinite(values).all() or (values < 0).any():
        raise ParameterError(f"{name} must be finite and not below 0")
    return np.broadcast_to(values, (K,))


def _whole_counts(X: Any, d: int) -> Any:
    X = checked_matrix(X)
    if X.shape[1] != d:
        raise ParameterError(
            f"X has {X.shape[1]} words, but topics are over {d}; "
            "count its words by the vocabulary of the topics"
        )
    if (X.data % 1).any():
        raise ParameterError("X has fractions, and half a token cannot be held out; give counts")
    return X.astype(np.int64)
