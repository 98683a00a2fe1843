"""The averaged perceptron of tag sequences (Collins 2002), in one thread: it is its order."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from eigentext import engine
from eigentext.storage.checkpoints import Iteration, State
from eigentext.tagging import _loops
from eigentext.tagging.features import EncodedSentences


class Weights(NamedTuple):
    """A linear model of tag sequences: see `_loops`."""

    W: np.ndarray  # float32 (n_features, m)
    D: np.ndarray  # float32 (n_dense, m)
    T: np.ndarray  # float32 (m + 1, m); the last row is the start's
    end: np.ndarray  # float32 (m,): 0, or -inf where no sentence may end


class Epoch(NamedTuple):
    """What a pass over the sentences found wrong."""

    n_wrong: int
    n_wrong_tags: int


class Watch:
    """Keeps the best of the weights that it is shown, by the score that they have."""

    def __init__(self, score: Callable[[Weights], float]):
        self._score = score
        self.best: Weights | None = None
        self.scores: list[float] = []

    def __call__(self, weights: Weights) -> None:
        """Look at weights."""
        score = self._score(weights)
        if self.best is None or score > max(self.scores):
            self.best = weights
        self.scores.append(score)

    def state(self) -> tuple[dict[str, Any], list[float]]:
        """What it has seen, for a checkpoint."""
        best = {} if self.best is None else self.best._asdict()
        return {f"best.{name}": part for name, part in best.items()}, self.scores

    def go_on(self, arrays: dict[str, Any], scores: list[float]) -> None:
        """Take up a state."""
        self.best = Weights(*(arrays[f"best.{name}"] for name in Weights._fields))
        self.scores = list(scores)


def train(
    data: EncodedSentences,
    places: np.ndarray,
    widths: np.ndarray,
    gold: np.ndarray,
    start: Weights,
    *,
    n_epochs: int,
    margin: float,
    rng: np.random.Generator,
    watch: Watch | None = None,
) -> tuple[Weights, list[Epoch]]:
    """The mean of the weights after each sentence, over all passes.

    After a pass, `watch` is shown the mean so far. Sentences come in another order in every pass;
    the last pass is the first without a mistake, at the latest.
    """
    W, D, T, end = (np.array(part) for part in start)
    sums = [np.zeros(part.shape) for part in (W, D, T)]
    n, epochs = len(data.borders) - 1, []
    given = *data, places, widths, gold, *start, n_epochs, margin, rng.bit_generator.state
    loop = Iteration("perceptron", *given, watch is not None)
    if kept := loop.kept():
        arrays, about = kept
        W, D, T = (arrays[name] for name in "WDT")
        sums = [arrays[f"sum.{name}"] for name in "WDT"]
        epochs = [Epoch(*found) for found in about["epochs"]]
        rng.bit_generator.state = about["rng"]
        if watch is not None:
            watch.go_on(arrays, about["scores"])

    def state() -> State:
        arrays, scores = ({}, []) if watch is None else watch.state()
        arrays |= dict(zip("WDT", (W, D, T))) | dict(zip(("sum.W", "sum.D", "sum.T"), sums))
        return arrays, {"epochs": epochs, "rng": rng.bit_generator.state, "scores": scores}

    def mean() -> Weights:
        is_done = epochs[-1].n_wrong == 0  # and would change nothing in the passes left
        steps = n * (n_epochs if is_done else len(epochs))
        parts = [s / -steps for s in sums]
        for part, w in zip(parts, (W, D, T)):
            part += w
        return Weights(*(part.astype(np.float32) for part in parts), end=end)

    with engine.phase("train", n_epochs * len(gold), "tokens") as advance:
        if epochs:
            advance(len(epochs) * len(gold))
        while len(epochs) < n_epochs and not (epochs and epochs[-1].n_wrong == 0):
            order, step = rng.permutation(n), n * len(epochs)
            known = (*data, places, widths, gold, np.float32(margin))
            epoch: Any = _loops.perceptron_epoch
            found = epoch(order, *known, W, D, T, end, *sums, step)
            epochs.append(Epoch(*found))
            advance(len(gold))
            if watch is not None:
                watch(mean())
            is_last = len(epochs) == n_epochs or epochs[-1].n_wrong == 0
            loop.keep(state, is_last=is_last)
    return mean(), epochs


def mean_of_runs(
    first: Weights,
    rngs: list[np.random.Generator],
    problem: tuple[Any, ...],
    *,
    n_epochs: int,
    margin: float,
) -> Weights:
    """The mean of one perceptron and of others, added up in order; these run at once, one a worker.

    `problem` is what :func:`train` takes, up to where it starts.
    """
    data, *others, start = problem
    orders = [rng.bit_generator.state for rng in rngs]
    loop = Iteration("perceptron-runs", *first, *data, *others, *start, n_epochs, margin, orders)
    total, n = [np.array(part, np.float64) for part in first[:3]], 1
    if kept := loop.kept():
        total, n = [kept[0][name] for name in "WDT"], kept[1]["n"]

    def state() -> State:
        return dict(zip("WDT", total)), {"n": n}

    with engine.phase("runs", len(rngs), "runs") as advance:
        if n > 1:
            advance(n - 1)
        for weights in engine.workers().map(_run, rngs[n - 1 :], (problem, n_epochs, margin)):
            for part, more in zip(total, weights):
                part += more
            n += 1
            advance(1)
            loop.keep(state, is_last=n > len(rngs))
    return Weights(*((part / n).astype(np.float32) for part in total), end=first.end)


def _run(rng: np.random.Generator, known: tuple[Any, int, float]) -> Weights:
    problem, n_epochs, margin = known
    return train(*problem, n_epochs=n_epochs, margin=margin, rng=rng)[0]
