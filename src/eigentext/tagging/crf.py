"""Conditional random fields, learned by CRFsuite (Okazaki 2007).

CRFsuite learns a weight for each feature with a tag and for each pair of tags. These weights are
read from its model and kept like those of a perceptron. So tagging, the k best taggings and
probabilities do not need CRFsuite, and a saved tagger does not need it either.
"""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from eigentext import engine
from eigentext.errors import EigentextError
from eigentext.monitor import Monitor
from eigentext.tagging.weights import TrainingProblem, Weights


def train(
    problem: TrainingProblem, *, c1: float, c2: float, n_iter: int
) -> tuple[Weights, list[float]]:
    """Return the weights that maximize the penalized likelihood, and the loss of each iteration."""
    monitor = Monitor("crf", n_iter, unit="iterations", title="train")
    trainer = _trainer(monitor, {"c1": c1, "c2": c2, "max_iterations": n_iter})
    borders, gold = problem.data.borders, problem.gold
    names = [f"w{f}" for f in range(len(problem.start.W))]
    with engine.phase("hand over", len(gold), "tokens") as advance:
        for s in range(len(borders) - 1):
            first, last = int(borders[s]), int(borders[s + 1])
            items = _items(problem, names, first, last)
            trainer.append(items, [str(y) for y in gold[first:last].tolist()])
            advance(last - first)
    with tempfile.TemporaryDirectory(prefix="eigentext-") as folder:
        model = Path(folder, "model")
        with monitor:
            trainer.train(str(model))
        return _weights(model, problem.start), monitor.history


def _items(problem: TrainingProblem, names: list[str], first: int, last: int) -> list[Any]:
    """Return the features of a sentence's tokens: names, or, with vectors, names and values."""
    data, widths = problem.data, problem.widths
    found: list[Any] = [
        [names[f] for f in row if f >= 0] for row in data.features[first:last].tolist()
    ]
    if not len(problem.places):
        return found
    items = [dict.fromkeys(row, 1.0) for row in found]
    for source, offset, row in problem.places.tolist():
        width = int(widths[source])
        columns = [f"d{row + j}" for j in range(width)]
        for t in range(first, last):
            if first <= t + offset < last and (begin := int(data.starts[t + offset, source])) >= 0:
                values = data.values[begin : begin + width].tolist()
                items[t - first].update(zip(columns, values))
    return items


def _trainer(monitor: Monitor, parameters: dict[str, float]) -> Any:
    """Return a trainer of CRFsuite that prints nothing and reports its losses to a monitor."""
    try:
        import pycrfsuite
    except ImportError as error:
        raise EigentextError(
            "model='crf' needs CRFsuite: pip install 'eigentext[crf]' (or python-crfsuite)"
        ) from error

    class Trainer(pycrfsuite.Trainer):
        def on_iteration(self, log: Any, info: dict[str, Any]) -> None:
            monitor.record(float(info["loss"]))

    trainer = Trainer(algorithm="lbfgs", params=parameters, verbose=True)
    for name in ("on_start", "on_featgen_progress", "on_featgen_end", "on_prepared"):
        setattr(trainer, name, lambda *_: None)
    for name in ("on_optimization_end", "on_end", "on_prepare_error"):
        setattr(trainer, name, lambda *_: None)
    return trainer


def _weights(path: Path, start: Weights) -> Weights:
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    info = tagger.info()
    W, D, T, end = (np.array(part) for part in start)
    for (name, tag), weight in info.state_features.items():
        rows = W if name[0] == "w" else D
        rows[int(name[1:]), int(tag)] = weight
    for (before, tag), weight in info.transitions.items():
        T[int(before), int(tag)] += weight  # a forbidden transition stays at -inf
    return Weights(W, D, T, end)
