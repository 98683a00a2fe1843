"""When to stop: how well what was learned so far does on trees that were held out."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from eigentext.grammars.chart.cascade import Cascade, Level, Reading
from eigentext.grammars.chart.forest import tree_forest
from eigentext.grammars.learning.learner import Learner, normalized
from eigentext.grammars.learning.training import Parameters
from eigentext.storage.checkpoints import fingerprint

MEASURES = ("likelihood", "f1")


class Score(NamedTuple):
    """How well levels do on held-out trees."""

    function: Callable[[Level], float]
    problem: str  # a fingerprint of the trees

    def __call__(self, level: Level) -> float:
        """The score of a level."""
        return self.function(level)


class Watch:
    """Keeps the best of the parameters that it is shown, and says when no better ones come.

    Parameters
    ----------
    score
        Of parameters: the higher, the better.
    every
        Look at each so-manieth step only.
    patience
        Looks without a better score before it says stop.
    problem
        What the score is of, for checkpoints.
    """

    def __init__(
        self,
        score: Callable[[Parameters], float],
        every: int = 1,
        patience: int = 2,
        problem: str = "",
    ):
        self._score, self._every, self._patience = score, every, patience
        self.problem = every, patience, problem
        self._steps = 0
        self.best: Parameters | None = None
        self.scores: list[float] = []

    def __call__(self, parameters: Parameters) -> bool:
        """Look at parameters; True when it is time to stop."""
        self._steps += 1
        if self._steps % self._every:
            return False
        score = self._score(parameters)
        if self.best is None or score > max(self.scores):
            self.best = parameters
        self.scores.append(score)
        return len(self.scores) - 1 - int(np.argmax(self.scores)) >= self._patience

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What it has seen, for a checkpoint."""
        best = {} if self.best is None else self.best.arrays("best.")
        return best | {"scores": np.array(self.scores)}, {"steps": self._steps}

    def go_on(self, like: Parameters, arrays: dict[str, Any], about: dict[str, Any]) -> None:
        """Take up a state; the best of the parameters has the labels and states of `like`."""
        self._steps, self.scores = about["steps"], arrays["scores"].tolist()
        self.best = like.replaced(arrays, "best.") if "best.tensor" in arrays else None


def held_out_likelihood(learner: Learner, trees: Iterable[Any]) -> Score:
    """The mean log p(tree, words) of the held-out trees that are possible by the PCFG.

    One that has next to none by its states counts as a millionth of what it has by the PCFG: else
    a single tree would decide, or, if it were left out, a grammar would gain by its zeros.
    """
    plain = learner.level(learner.pcfg)
    parts, least = [], []
    gold = normalized(trees)
    for tree in gold:
        encoded = learner.treebank.encode([tree])
        if encoded.label.min() >= 0 and (encoded.rule[encoded.left >= 0] >= 0).all():
            part = tree_forest(encoded), encoded.tokens
            log_probability = plain.log_probability(*part)
            if log_probability > -np.inf:
                parts.append(part)
                least.append(log_probability + np.log(1e-6))

    def score(level: Level) -> float:
        logs = [level.log_probability(*part) for part in parts]
        return float(np.maximum(logs, least).mean()) if parts else -np.inf

    return Score(score, fingerprint("likelihood", *gold))


def held_out_f1(
    learner: Learner,
    trees: Iterable[Any],
    middle: Level,
    thresholds: tuple[float, float],
    decode: Callable[[Reading, list[str]], Any],
) -> Score:
    """F1 of the brackets of parses of the held-out sentences, whose charts are pruned but once."""
    from eigentext.evaluate import brackets

    gold = normalized(trees)
    cascade = Cascade(learner.treebank.symbols, learner.coarse(), middle, [middle])
    charts = [cascade.pruned(tree.leaves(), *thresholds) for tree in gold]

    def score(level: Level) -> float:
        found = [decode(cascade.vote(chart, [level]), list(chart.tokens)) for chart in charts]
        return brackets(gold, found).f1

    return Score(score, fingerprint("f1", thresholds, *gold))
