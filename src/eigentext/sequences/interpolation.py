r"""Linear interpolation of language models, with weights learned from validation text.

.. math:: p(w \mid h) = \sum_i \lambda_i(h)\, p_i(w \mid h), \qquad
   \lambda(h) = \arg\max_\lambda \sum_n \log \sum_i \lambda_i\, p_i(w_n \mid h_n)

(Jelinek and Mercer 1980). The weights may depend on how often the previous word occurred: n-grams
predict well after frequent words, and latent states after rare ones. The likelihood is concave in
:math:`\lambda`, so EM, :math:`\lambda_i \leftarrow \lambda_i g_i` with
:math:`g_i = \frac1N \sum_n p_i / \sum_j \lambda_j p_j`, finds the best weights. No other weights
can be better by more than the *gap* :math:`\max_i g_i - 1`, so EM stops when the gap is small.
"""

import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from eigentext.corpus import EncodedCorpus, Vocabulary, encode_sequences
from eigentext.corpus.symbols import are_events, sequence_ids
from eigentext.errors import CorpusError, ParameterError
from eigentext.estimators import Estimator, Finding, check_is_fitted, learning
from eigentext.monitor import Monitor
from eigentext.parameters import takes_old_names
from eigentext.sequences import parameters
from eigentext.sequences._given import Text, Word
from eigentext.sequences._language_model import LanguageModel

_PRIOR = 50.0  # events with the weights of all contexts that are added to each row of weights
_LITTLE = 0.01  # a model with a smaller weight contributes next to nothing


class Interpolation(LanguageModel, Estimator):
    """A mixture of language models that share a vocabulary.

    Parameters
    ----------
    models : list of fitted language models
        Models with ``log_probabilities(tokens)``: :class:`KneserNey`, :class:`BigramModel`, … They
        must predict the same events: they have the same vocabulary, and either all or none were
        learned from streams. The mixture keeps the models as they are at the time of `fit`. They
        receive text as an :class:`EncodedCorpus`, which is read once for all.
    by_count : bool
        Whether weights depend on how often the previous word occurred in the text of the first
        model, in powers of two. If few validation tokens follow such words, their weights stay near
        those of all words.
    tol : float
        EM stops when no other weights can gain this much log-likelihood per token.
    n_iter : int
        The largest number of EM steps.

    Attributes
    ----------
    weights_ : array, shape (n_models,), or (n_bins, n_models) if `by_count`
        Row b is for previous words that occurred 2^(b-1) to 2^b - 1 times. Row 0 is for unknown
        words, and for events without a previous word.
    diagnostics_ : dict
        The perplexity of each model and of the mixture on the validation text, and the EM steps.

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

    @takes_old_names(heldout="validation")
    @learning
    def fit(self, validation: Text, y: None = None) -> Self:
        """Learn the weights from validation text, from which no model has learned."""
        text = encode_sequences(validation)
        scores = _scores(self.models, text)
        known = np.isfinite(scores).any(axis=1)
        if not known.any():
            raise CorpusError(
                "no word of the held-out text is known to the models; give other text"
            )
        P = _scaled(scores[known])
        even = np.full(P.shape[1], 1 / P.shape[1])
        weights, steps, gap = _em(P, even, 0.0, self.tol, self.n_iter)
        bins = None
        if self.by_count:
            bins = _bins(self.models, text)
            parts = [
                _em(P[bins[known] == b], weights, _PRIOR, self.tol, self.n_iter)
                for b in range(bins[known].max() + 1)
            ]
            weights = np.array([part.weights for part in parts])
            steps, gap = max(p.n_steps for p in parts), max(p.gap for p in parts)
        if gap > self.tol:
            warnings.warn(
                f"weights may still gain {gap:.1g} in log-likelihood per token after {steps} "
                "steps; raise n_iter or tol",
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

    def log_probabilities(self, tokens: Text, *, rare: bool = False) -> np.ndarray:
        """Return the natural logarithm of the probability of each event of the models.

        Unknown words have nan or, with `rare`, the log-probability of the rare word.
        """
        check_is_fitted(self)
        text, models = encode_sequences(tokens), self.parameters_.models
        bins = _bins(models, text) if self.weights_.ndim > 1 else None
        return _mixed(_scores(models, text, rare=rare), self.weights_, bins)

    def _findings(self) -> Iterator[Finding]:
        found = self.diagnostics_
        best = min(found["model_perplexities"])
        gain = 1 - found["perplexity"] / best
        yield Finding(
            "note",
            f"The perplexity of the mixture on validation text is {found['perplexity']:,.1f}. The "
            f"best of its models has {best:,.1f}, so mixing gains {gain:.1%}.",
        )
        for number, weight in enumerate(np.atleast_2d(self.weights_).max(axis=0), 1):
            if weight < _LITTLE:
                yield Finding(
                    "note",
                    f"Model {number} has less than {_LITTLE:.0%} of the weight.",
                    "Leave it out: the mixture will be as good and faster.",
                )
        if found["gap"] > self.parameters_.tol:
            yield Finding(
                "warning",
                f"EM stopped before it converged. The weights may still gain {found['gap']:.1g} in "
                "log-likelihood per token.",
                "Raise n_iter or tol.",
            )

    @property
    def vocabulary_(self) -> Vocabulary:  # type: ignore[override]
        """The vocabulary of the models."""
        check_is_fitted(self)
        return self.parameters_.models[0].vocabulary_

    def _next(self, context: list[Word]) -> np.ndarray:
        check_is_fitted(self)
        names, weights = self._names(), self.weights_
        if weights.ndim > 1:
            vocabulary = self.vocabulary_
            word = str(context[-1]) if context else ""
            count = int(vocabulary.counts[vocabulary[word]]) if word in vocabulary else 0
            weights = weights[min(count.bit_length(), len(weights) - 1)]
        answer = np.zeros(len(names))
        for number, (weight, model) in enumerate(zip(weights, self.parameters_.models), 1):
            own, p = model._names(), model._next(context)
            if own == names[: len(own)]:
                answer[: len(own)] += weight * p
                continue
            places = {name: place for place, name in enumerate(names)}
            if any(name not in places for name in own):
                raise ParameterError(
                    f"model {number} has words that other models lack; "
                    "learn them from the same text with the same min_count"
                )
            answer[[places[name] for name in own]] += weight * p
        return answer

    def _names(self) -> list[Word]:
        # A hidden Markov model has no ends of units, and perhaps no rare word.
        return max((model._names() for model in self.parameters_.models), key=len)

    def __sklearn_clone__(self) -> Self:
        # A clone mixes the same fitted models. Only the weights are learned again.
        return type(self)(**self.get_params(deep=False))


def _scores(models: Sequence[Any], text: EncodedCorpus, *, rare: bool = False) -> np.ndarray:
    """The log-probabilities, events by models. Raise ParameterError if the events differ."""
    settings = {"rare": True} if rare else {}
    scores = [np.asarray(model.log_probabilities(text, **settings)) for model in models]
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
    """The logarithm of the mixture. With bins, each event has the weights of its bin."""
    if bins is not None:  # words that are more frequent than in `fit` use the last row
        weights = weights[np.minimum(bins, len(weights) - 1)]
    top = scores.max(axis=1)
    with np.errstate(divide="ignore"):
        return np.log((_scaled(scores) * weights).sum(axis=1)) + np.where(top > -np.inf, top, 0)


def _bins(models: Sequence[Any], text: EncodedCorpus) -> np.ndarray:
    """For each event, the number of binary digits in the count of the previous word."""
    first = models[0]
    if not (
        hasattr(first, "vocabulary_")
        and hasattr(first, "provenance_")
        and first.vocabulary_.counts.any()  # an ARPA file has no counts
    ):
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
    """Probabilities, with each row divided by its largest one."""
    top = scores.max(axis=1, keepdims=True)
    return np.exp(scores - np.where(top > -np.inf, top, 0))


class _Weights(NamedTuple):
    weights: np.ndarray
    n_steps: int
    gap: float


def _em(P: np.ndarray, prior: np.ndarray, strength: float, tol: float, n_iter: int) -> _Weights:
    """The best weights. EM starts at the prior, which counts like `strength` further events."""
    weights, total = prior, max(len(P) + strength, 1)
    monitor = Monitor(
        "interpolation-em",
        n_iter + 1,  # the weights before the first step are measured, too
        problem=(P, prior, strength, tol),
        progress=lambda amount: None,  # it takes less than a second
    )
    if kept := monitor.resume():
        weights = kept.arrays["weights"]
    with monitor:
        while not monitor.is_done:
            own = np.divide(prior, weights, out=np.ones_like(weights), where=weights > 0)
            gains = ((P / (P @ weights)[:, None]).sum(axis=0) + strength * own) / total
            monitor.record(float(gains.max() - 1))
            if monitor.history[-1] <= tol:
                monitor.stop()
            if not monitor.is_done:
                weights = weights * gains
                weights = weights / weights.sum()
            monitor.keep(partial(dict, weights=weights))
    return _Weights(weights, len(monitor.history) - 1, monitor.history[-1])
