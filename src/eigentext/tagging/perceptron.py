"""The averaged perceptron of tag sequences [Collins 2002].

A perceptron depends on the order of the sentences, so that it learns in one thread. Several
perceptrons, each with another order, run on the workers of the engine.
"""

from typing import Any, NamedTuple

import numpy as np

from eigentext import engine
from eigentext.monitor import HeldOut, Monitor
from eigentext.tagging import _loops
from eigentext.tagging.weights import TrainingProblem, Weights


class Epoch(NamedTuple):
    """The wrong sentences and the wrong tags in one pass over the sentences."""

    n_wrong: int
    n_wrong_tags: int


def train(
    problem: TrainingProblem,
    *,
    n_epochs: int,
    margin: float,
    rng: np.random.Generator,
    held_out: HeldOut[Weights] | None = None,
) -> tuple[Weights, list[Epoch]]:
    """Return the mean of the weights after each sentence, over all passes.

    Each pass takes the sentences in another order. Training ends after `n_epochs` passes, or after
    the first pass without a mistake. After each pass, `held_out` scores the mean so far.
    """
    data, places, widths, gold, start = problem
    W, D, T, end = (np.array(part) for part in start)
    sums = [np.zeros(part.shape) for part in (W, D, T)]
    n, epochs = len(data.borders) - 1, []
    monitor = Monitor(
        "perceptron",
        n_epochs,
        problem=(*data, places, widths, gold, *start, margin, rng.bit_generator.state),
        amount=len(gold),
        unit="tokens",
        held_out=held_out,
        title="train",
    )
    if kept := monitor.resume():
        W, D, T = (kept.arrays[name] for name in "WDT")
        sums = [kept.arrays[f"sum.{name}"] for name in "WDT"]
        epochs = [Epoch(*found) for found in kept.about["epochs"]]
        rng.bit_generator.state = kept.about["rng"]

    def state() -> dict[str, np.ndarray]:
        return dict(zip("WDT", (W, D, T))) | dict(zip(("sum.W", "sum.D", "sum.T"), sums))

    def mean() -> Weights:
        is_done = epochs[-1].n_wrong == 0  # further passes would not change the weights
        steps = n * (n_epochs if is_done else len(epochs))
        parts = [s / -steps for s in sums]
        for part, w in zip(parts, (W, D, T)):
            part += w
        return Weights(*(part.astype(np.float32) for part in parts), end=end)

    with monitor:
        while not monitor.is_done:
            order, step = rng.permutation(n), n * len(epochs)
            known = (*data, places, widths, gold, np.float32(margin))
            epoch: Any = _loops.perceptron_epoch
            epochs.append(Epoch(*epoch(order, *known, W, D, T, end, *sums, step)))
            monitor.record(epochs[-1].n_wrong_tags)
            if held_out is not None:
                monitor.show(mean())
            if epochs[-1].n_wrong == 0:
                monitor.stop()
            monitor.keep(state, {"epochs": epochs, "rng": rng.bit_generator.state})
    return mean(), epochs


def mean_of_runs(
    first: Weights,
    rngs: list[np.random.Generator],
    problem: TrainingProblem,
    *,
    n_epochs: int,
    margin: float,
) -> Weights:
    """Return the mean of the weights `first` and of one perceptron for each generator.

    The perceptrons run in parallel, one on each worker. Their weights are added in a fixed order.
    """
    data, places, widths, gold, start = problem
    orders = [rng.bit_generator.state for rng in rngs]
    monitor = Monitor(
        "perceptron-runs",
        len(rngs),
        problem=(*first, *data, places, widths, gold, *start, n_epochs, margin, orders),
        unit="runs",
        title="runs",
    )
    total = [np.array(part, np.float64) for part in first[:3]]
    if kept := monitor.resume():
        total = [kept.arrays[name] for name in "WDT"]
    with monitor:
        rest = rngs[len(monitor.history) :]
        for weights in engine.workers().map(_run, rest, (problem, n_epochs, margin)):
            for part, more in zip(total, weights):
                part += more
            monitor.record(len(monitor.history) + 1)
            monitor.keep(lambda: dict(zip("WDT", total)))
    n = 1 + len(rngs)
    return Weights(*((part / n).astype(np.float32) for part in total), end=first.end)


def _run(rng: np.random.Generator, known: tuple[TrainingProblem, int, float]) -> Weights:
    problem, n_epochs, margin = known
    return train(problem, n_epochs=n_epochs, margin=margin, rng=rng)[0]
