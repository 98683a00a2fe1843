r"""Linear interpolation of language models, with weights learned from held-out text.

.. math:: p(w \mid h) = \sum_i \lambda_i(h)\, p_i(w \mid h), \qquad
   \lambda(h) = \arg\max_\lambda \sum_n \log \sum_i \lambda_i\, p_i(w_n \mid h_n)

(Jelinek and Mercer 1980). The weights may depend on the context by how often its last word was
seen: n-grams know frequent contexts well, and latent states the rare ones. The likelihood is
concave in :math:`\lambda`, so EM, :math:`\lambda_i \leftarrow \lambda_i g_i` with
:math:`g_i = \frac1N \sum_n p_i / \sum_j \lambda_j p_j`, finds the best weights; and since
:math:`\max_i g_i - 1` bounds how much better any others can be, it knows when to stop.
"""

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from eigentext.corpus import EncodedCorpus, encode_sequences
from eigentext.corpus.symbols import are_events, sequence_ids
from eigentext.errors import CorpusError, ParameterError
from eigentext.estimators import Estimator, check_is_fitted, learning
from eigentext.sequences import parameters
from eigentext.sequences._language_model import LanguageModel

_PRIOR = 50.0  # events that speak for the weights of all contexts, in those of one count


class Interpolation(LanguageModel, Estimator):
    """A mixture of language models that share a vocabulary.

    Parameters
    ----------
    models : list of fitted language models
        With ``log_probabilities(tokens)``: :class:`KneserNey`, :class:`BigramModel`, … They must
        predict the same events: learned with the same vocabulary, all from streams or all not.
        The mixture keeps them as they are when it is fitted; text comes to them as an
        :class:`EncodedCorpus`, read once for all.
    by_count : bool
        Whether weights depend on how often the previous word was seen by the first model, in steps
        of powers of two. Counts that few held-out tokens follow keep near the weights of all.
    tol : float
        EM stops when no other weights are better by so much in log-likelihood a token.
    n_iter : int
        The most EM steps.

    Attributes
    ----------
    weights_ : array, shape (n_models,), or (n_bins, n_models) if `by_count`
        Row b is for previous words seen 2^(b-1) to 2^b - 1 times; row 0 for none or an unknown one.
    diagnostics_ : dict
        Perplexity of each model and of the mixture on the held-out text, steps taken.

    Examples
    --------
    >>> from eigentext import KneserNey
    >>> from eigentext.sequences import Interpolation
    >>> text = "a rose is a rose is a rose said she and he said a rose by any name is a rose"
    >>> models = [KneserNey(1).fit(text.split()), KneserNey(2).fit(text.split())]
    >>> mixture = Interpolation(models).fit("she said a rose is a name".split())
    >>> mixture.weights_.round(2)
    array([0.02, 0.98])
    """

    _table = parameters.Interpolation

    def __init__(
        self,
        models: Sequence[Any],
        *,
        by_count: bool = False,
        tol: float = 1e-5,
        n_iter: int = 1000,
    ):
        self.models = models
        self.by_count = by_count
        self.tol = tol
        self.n_iter = n_iter

    @learning
    def fit(self, heldout: Any, y: None = None) -> Self:
        """Learn the weights from text that no model has seen."""
        text = encode_sequences(heldout)
        scores = _scores(self.models, text)
        known = np.isfinite(scores).any(axis=1)
        if not known.any():
            raise CorpusError(
                "no word of the held-out text is known to the models; give other text"
            )
        P = _scaled(scores[known])
        even = np.full(P.shape[1], 1 / P.shape[1])
        weights, steps, gap = _em(P, even, even, 0.0, self.tol, self.n_iter)
        bins = None
        if self.by_count:
            bins = _bins(self.models, text)
            parts = [
                _em(P[bins[known] == b], weights, weights, _PRIOR, self.tol, self.n_iter)
                for b in range(bins[known].max() + 1)
            ]
            weights = np.array([part[0] for part in parts])
            steps, gap = max(p[1] for p in parts), max(p[2] for p in parts)
        if gap > self.tol:
            warnings.warn(
                f"weights may still gain {gap:.1g} in log-likelihood a token after {steps} steps; "
                "raise n_iter or tol",
                stacklevel=3,
            )
        self.weights_ = weights
        self.diagnostics_ = {
            "heldout_events": int(known.sum()),
            "model_perplexities": np.exp(-np.nanmean(scores, axis=0)).tolist(),
            "perplexity": float(np.exp(-np.nanmean(_mixed(scores, weights, bins)))),
            "n_iter": steps,
            "gap": gap,
        }
        return self

    def log_probabilities(self, tokens: Any) -> np.ndarray:
        """The natural logarithm of the probability of each event, as its models have them."""
        check_is_fitted(self)
        text, models = encode_sequences(tokens), self.parameters_.models
        bins = _bins(models, text) if self.weights_.ndim > 1 else None
        return _mixed(_scores(models, text), self.weights_, bins)

    def __sklearn_clone__(self) -> Self:
        # The models are fitted, and what is learned here is how to mix them as they are.
        return type(self)(**self.get_params(deep=False))


def _scores(models: Sequence[Any], text: EncodedCorpus) -> np.ndarray:
    """Log-probabilities, events by models, once it is sure that these are the same events."""
    scores = [np.asarray(model.log_probabilities(text)) for model in models]
    for number, column in enumerate(scores[1:], start=2):
        if len(column) != len(scores[0]):
            raise ParameterError(
                f"model 1 predicts {len(scores[0])} events here and model {number} "
                f"{len(column)}; learn all from streams or all from separate units"
            )
        if not np.array_equal(np.isnan(column), np.isnan(scores[0])):
            raise ParameterError(
                f"model 1 and model {number} know different words; "
                "learn them from the same text with the same min_count"
            )
    return np.column_stack(scores)


def _mixed(scores: np.ndarray, weights: np.ndarray, bins: np.ndarray | None) -> np.ndarray:
    """The logarithm of the mixture; with bins, each event has the weights of its own."""
    if bins is not None:  # more frequent words than before have the weights of the last row
        weights = weights[np.minimum(bins, len(weights) - 1)]
    top = scores.max(axis=1)
    with np.errstate(divide="ignore"):
        return np.log((_scaled(scores) * weights).sum(axis=1)) + np.where(top > -np.inf, top, 0)


def _bins(models: Sequence[Any], text: EncodedCorpus) -> np.ndarray:
    """For each event, how many binary digits the count of the previous word has."""
    first = models[0]
    if not (hasattr(first, "vocabulary_") and hasattr(first, "provenance_")):
        raise ParameterError(
            f"by_count=True takes the counts of the first model, and {type(first).__name__} has "
            "none; put another first"
        )
    vocabulary, options = first.vocabulary_, first.provenance_["options"]
    ids = sequence_ids(text, vocabulary, options)
    counts = np.append(vocabulary.counts, [0, 0])  # UNKNOWN is -2 and END is -1
    digits = np.frexp(counts.astype(np.float64))[1]
    return np.concatenate([[0], digits[ids[:-1]]])[are_events(ids, options)]


def _scaled(scores: np.ndarray) -> np.ndarray:
    """Probabilities, each row up to a factor: the largest one is 1."""
    top = scores.max(axis=1, keepdims=True)
    return np.exp(scores - np.where(top > -np.inf, top, 0))


def _em(
    P: np.ndarray, start: np.ndarray, prior: np.ndarray, strength: float, tol: float, n_iter: int
) -> tuple[np.ndarray, int, float]:
    """Weights, steps and gap; the prior counts like `strength` further events."""
    weights, total = start, max(len(P) + strength, 1)
    step = 0
    while True:
        own = np.divide(prior, weights, out=np.ones_like(weights), where=weights > 0)
        gains = ((P / (P @ weights)[:, None]).sum(axis=0) + strength * own) / total
        gap = float(gains.max() - 1)
        if gap <= tol or step == n_iter:
            return weights, step, gap
        weights = weights * gains
        weights = weights / weights.sum()
        step += 1
