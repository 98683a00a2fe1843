"""Conditional random fields by CRFsuite (Okazaki 2007), brought home as plain weights.

CRFsuite learns; what it learned is a weight for each feature with a tag and for each pair of tags,
which is read off its model and kept like a perceptron's. Tagging, k best and probabilities are
then ours, and a saved tagger needs no CRFsuite.
"""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from eigentext import engine
from eigentext.errors import EigentextError
from eigentext.tagging.features import EncodedSentences
from eigentext.tagging.perceptron import Weights


def train(
    data: EncodedSentences,
    places: np.ndarray,
    widths: np.ndarray,
    gold: np.ndarray,
    start: Weights,
    *,
    c1: float,
    c2: float,
    n_iter: int,
) -> tuple[Weights, list[float]]:
    """The weights that maximise the penalised likelihood, and the losses on the way."""
    trainer = _Trainer(n_iter, {"c1": c1, "c2": c2, "max_iterations": n_iter})
    names = [f"w{f}" for f in range(len(start.W))]
    with engine.phase("hand over", len(gold), "tokens") as advance:
        for s in range(len(data.borders) - 1):
            first, last = int(data.borders[s]), int(data.borders[s + 1])
            items = _items(data, places, widths, names, first, last)
            trainer.append(items, [str(y) for y in gold[first:last].tolist()])
            advance(last - first)
    with tempfile.TemporaryDirectory(prefix="eigentext-") as folder:
        model = Path(folder, "model")
        trainer.train(model)
        return _weights(model, start), trainer.losses


def _items(
    data: EncodedSentences,
    places: np.ndarray,
    widths: np.ndarray,
    names: list[str],
    first: int,
    last: int,
) -> list[Any]:
    """The features of a sentence's tokens, by name; with vectors, by name and value."""
    found: list[Any] = [
        [names[f] for f in row if f >= 0] for row in data.features[first:last].tolist()
    ]
    if not len(places):
        return found
    items = [dict.fromkeys(row, 1.0) for row in found]
    for source, offset, row in places.tolist():
        width = int(widths[source])
        columns = [f"d{row + j}" for j in range(width)]
        for t in range(first, last):
            if first <= t + offset < last and (begin := int(data.starts[t + offset, source])) >= 0:
                values = data.values[begin : begin + width].tolist()
                items[t - first].update(zip(columns, values))
    return items


class _Trainer:
    """CRFsuite's trainer, its iterations shown as a phase."""

    def __init__(self, n_iter: int, parameters: dict[str, Any]):
        try:
            import pycrfsuite
        except ImportError as error:
            raise EigentextError(
                "model='crf' needs CRFsuite: pip install 'eigentext[crf]' (or python-crfsuite)"
            ) from error
        self.losses: list[float] = []
        self._n_iter, self._advance = n_iter, lambda amount: None
        outer = self

        class Trainer(pycrfsuite.Trainer):
            def on_iteration(self, log: Any, info: dict[str, Any]) -> None:
                outer.losses.append(float(info["loss"]))
                outer._advance(1)

        self._trainer = Trainer(algorithm="lbfgs", params=parameters, verbose=True)
        for name in ("on_start", "on_featgen_progress", "on_featgen_end", "on_prepared"):
            setattr(self._trainer, name, lambda *_: None)
        for name in ("on_optimization_end", "on_end", "on_prepare_error"):
            setattr(self._trainer, name, lambda *_: None)
        self.append = self._trainer.append

    def train(self, path: Path) -> None:
        with engine.phase("train", self._n_iter, "iterations") as self._advance:
            self._trainer.train(str(path))


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
        T[int(before), int(tag)] += weight  # what is forbidden stays so
    return Weights(W, D, T, end)
