"""What weights say of sentences: scores, the best tags, probabilities, and their temperature."""

from typing import Any

import numpy as np

from eigentext.errors import ParameterError
from eigentext.tagging import _loops
from eigentext.tagging.features import EncodedSentences, FeatureExtractor
from eigentext.tagging.perceptron import Weights

_CALIBRATED = 5000  # tokens are enough to choose one number
_LOG_TEMPERATURES = (-5.0, 5.0)


def local_scores(
    data: EncodedSentences, features: FeatureExtractor, weights: Weights
) -> np.ndarray:
    """Scores of all tags at all tokens, without those of transitions."""
    scores = np.empty((int(data.borders[-1]), weights.W.shape[1]), np.float32)
    _loops.all_scores(*data, features.places, features.widths, weights.W, weights.D, scores)
    return scores


def best_tags(data: EncodedSentences, features: FeatureExtractor, weights: Weights) -> np.ndarray:
    """The best tagging of each sentence, one after the other."""
    scores = local_scores(data, features, weights)
    tags = np.empty(len(scores), np.int32)
    _loops.best_tags(scores, data.borders, weights.T, weights.end, tags)
    return tags


def posteriors(
    data: EncodedSentences, scores: np.ndarray, weights: Weights, temperature: float
) -> tuple[np.ndarray, np.ndarray]:
    """p(tag) at each token by local scores, and the logarithm of each sentence's sum."""
    scores = scores.astype(np.float64) / temperature
    out, totals = np.empty_like(scores), np.empty(len(data.borders) - 1)
    T = weights.T.astype(np.float64) / temperature
    _loops.posteriors(scores, data.borders, T, weights.end, out, totals)
    return out, totals


def best_temperature(
    data: EncodedSentences, features: FeatureExtractor, weights: Weights, gold: np.ndarray
) -> float:
    """By maximum likelihood of the right tags (-1: not learned), on the first sentences."""
    from scipy.optimize import minimize_scalar

    n = max(1, int(np.searchsorted(data.borders, _CALIBRATED)))
    some = data._replace(borders=data.borders[: n + 1])
    known = np.flatnonzero(gold[: some.borders[-1]] >= 0)
    if len(known) == 0:
        raise ParameterError(
            "none of these sentences' tags was learned; calibrate on tags like those of fit"
        )
    scores = local_scores(some, features, weights)

    def loss(log_temperature: float) -> float:
        p, _ = posteriors(some, scores, weights, float(np.exp(log_temperature)))
        return -float(np.log(np.maximum(p[known, gold[known]], 1e-300)).sum())

    best: Any = minimize_scalar(
        loss, bounds=_LOG_TEMPERATURES, method="bounded", options={"xatol": 0.02}
    )
    return float(np.exp(best.x))
