"""The averaged perceptron of tag sequences (Collins 2002), in one thread: it is its order."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from eigentext import engine
from eigentext.tagging import _kernels
from eigentext.tagging.features import Encoded


class Weights(NamedTuple):
    """A linear model of tag sequences: see `_kernels`."""

    W: np.ndarray  # float32 (n_features, m)
    D: np.ndarray  # float32 (n_dense, m)
    T: np.ndarray  # float32 (m + 1, m); the last row is the start's
    end: np.ndarray  # float32 (m,): 0, or -inf where no sentence may end


class Epoch(NamedTuple):
    """What a pass over the sentences found wrong."""

    n_wrong: int
    n_wrong_tags: int


def train(
    data: Encoded,
    places: np.ndarray,
    widths: np.ndarray,
    gold: np.ndarray,
    start: Weights,
    *,
    n_epochs: int,
    margin: float,
    rng: np.random.Generator,
    each: Callable[[Callable[[], Weights]], None] = lambda mean: None,
) -> tuple[Weights, list[Epoch]]:
    """The mean of the weights after each sentence, over all passes.

    After a pass, `each` gets a function that works out the mean so far. Sentences come in another
    order in every pass; the last pass is the first without a mistake, at the latest.
    """
    W, D, T, end = (np.array(part) for part in start)
    sums = [np.zeros(part.shape) for part in (W, D, T)]
    n, epochs = len(data.borders) - 1, []

    def mean() -> Weights:
        is_done = epochs[-1].n_wrong == 0  # and would change nothing in the passes left
        steps = n * (n_epochs if is_done else len(epochs))
        parts = [s / -steps for s in sums]
        for part, w in zip(parts, (W, D, T)):
            part += w
        return Weights(*(part.astype(np.float32) for part in parts), end=end)

    with engine.phase("train", n_epochs * len(gold), "tokens") as advance:
        for _ in range(n_epochs):
            order, step = rng.permutation(n), n * len(epochs)
            known = (*data, places, widths, gold, np.float32(margin))
            epoch: Any = _kernels.perceptron_epoch
            found = epoch(order, *known, W, D, T, end, *sums, step)
            epochs.append(Epoch(*found))
            advance(len(gold))
            each(mean)
            if epochs[-1].n_wrong == 0:
                break
    return mean(), epochs


def mean_weights(
    first: Weights, others: Iterable[Weights], advance: Callable[[int], None]
) -> Weights:
    """The mean of several runs, added up in order; `advance` hears of each of the others."""
    total, n = [np.array(part, np.float64) for part in first[:3]], 1
    for weights in others:
        for part, more in zip(total, weights):
            part += more
        n += 1
        advance(1)
    return Weights(*((part / n).astype(np.float32) for part in total), end=first.end)
