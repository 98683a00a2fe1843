"""How a tagger learns its weights: perceptrons or a CRF, and the temperature of a perceptron."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from eigentext import engine
from eigentext.monitor import HeldOut
from eigentext.tagging.decoding import best_temperature
from eigentext.tagging.features import FeatureExtractor
from eigentext.tagging.perceptron import mean_of_runs, train
from eigentext.tagging.weights import TrainingProblem, Weights

# Sentences to choose a temperature on, and to learn from before that.
_HELD, _TWIN = 500, 2000


class PerceptronSettings(NamedTuple):
    """The parameters of a tagger that its perceptrons use."""

    n_epochs: int
    n_runs: int
    margin: float
    random_state: int


class Trained(NamedTuple):
    """The weights, and what training says about itself."""

    weights: Weights
    diagnostics: dict[str, Any]


def train_perceptrons(
    problem: TrainingProblem,
    settings: PerceptronSettings,
    score: Callable[[Weights], float] | None,
) -> Trained:
    """Train one perceptron or several.

    If `score` is given, it chooses the number of passes of the first perceptron, and the others
    make the same number of passes.
    """
    held_out = None
    if score is not None:
        held_out = HeldOut(score, pack=Weights._asdict, unpack=lambda parts: Weights(**parts))
    rng = np.random.default_rng(settings.random_state)
    rngs = [rng, *rng.spawn(settings.n_runs - 1)]
    n_epochs, margin = settings.n_epochs, settings.margin
    weights, epochs = train(
        problem, n_epochs=n_epochs, margin=margin, rng=rngs[0], held_out=held_out
    )
    diagnostics: dict[str, Any] = {}
    if held_out is not None and held_out.best is not None:
        weights = held_out.best
        diagnostics["validation"] = held_out.scores
        n_epochs = int(np.argmax(held_out.scores)) + 1
    if settings.n_runs > 1:
        weights = mean_of_runs(weights, rngs[1:], problem, n_epochs=n_epochs, margin=margin)
    diagnostics["wrong_sentences"] = [epoch.n_wrong for epoch in epochs]
    diagnostics["wrong_tags"] = [epoch.n_wrong_tags for epoch in epochs]
    return Trained(weights, diagnostics)


def train_crf(problem: TrainingProblem, *, c1: float, c2: float, n_iter: int) -> Trained:
    """Train a conditional random field."""
    from eigentext.tagging import crf

    weights, losses = crf.train(problem, c1=c1, c2=c2, n_iter=n_iter)
    return Trained(weights, {"loss": losses})


def temperature_by_twin(
    problem: TrainingProblem, features: FeatureExtractor, settings: PerceptronSettings
) -> float:
    """Return the temperature of a perceptron that learned from some sentences, on other sentences.

    On its own training sentences, a perceptron is too sure, and the temperature would be far too
    low. The temperature of a few sentences is a little lower than that of many: it is 7.5 for 2,000
    sentences of CoNLL-2000, and 8.8 for 8,000. Return 1 if there are fewer than five sentences.
    """
    data, gold = problem.data, problem.gold
    n_held = min((len(data.borders) - 1) // 5, _HELD)
    if n_held == 0:
        return 1.0
    few = data._replace(borders=data.borders[n_held : n_held + _TWIN + 1])
    others = data._replace(borders=data.borders[: n_held + 1])
    rng = np.random.default_rng(settings.random_state)
    with engine.report_to(None):
        twin, _ = train(
            problem._replace(data=few),
            n_epochs=settings.n_epochs,
            margin=settings.margin,
            rng=rng,
        )
    return best_temperature(others, features, twin, gold)
