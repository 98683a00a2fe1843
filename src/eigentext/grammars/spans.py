"""Labels over spans of a sentence: their scores, their probabilities, and how these are calibrated.

A symbol of a binarized grammar may stand for several labels (a unary chain) or for none (an
intermediate node). So the items of a forest are added up by the labels that they stand for.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from eigentext.corpus.trees import Tree
from eigentext.errors import CorpusError, ParameterError
from eigentext.grammars.answers import ScoredSpan, Span
from eigentext.grammars.chart.cascade import Reading
from eigentext.grammars.chart.decoding import Decoder
from eigentext.grammars.chart.posteriors import (
    LEAST_TEMPERATURE,
    MOST_TEMPERATURE,
    best_temperature,
    item_posteriors,
)
from eigentext.parameters import is_number


class LabeledSpans(NamedTuple):
    """The labels over spans that the items of a forest stand for.

    Attributes
    ----------
    keys
        Label, start and end of each.
    is_tag
        Whether it is only a tag of a word.
    item, place
        The item ``item[k]`` stands for ``keys[place[k]]``.
    """

    keys: list[tuple[str, int, int]]
    is_tag: np.ndarray
    item: np.ndarray
    place: np.ndarray

    @classmethod
    def of(cls, reading: Reading) -> "LabeledSpans":
        """Those of the forest of a reading. Intermediate nodes stand for none."""
        number: dict[tuple[str, int, int], int] = {}
        item, place, phrases = [], [], set()
        forest = reading.forest
        for n, (a, i, j) in enumerate(
            zip(forest.label.tolist(), forest.start.tolist(), forest.end.tolist())
        ):
            symbol = reading.symbols[a]
            if symbol.siblings is not None:
                continue
            for label in dict.fromkeys(symbol.chain):
                item.append(n)
                place.append(number.setdefault((label, i, j), len(number)))
            phrases.update(
                (label, i, j) for label in symbol.chain[: -1 if symbol.preterminal else None]
            )
        is_tag = np.array([key not in phrases for key in number], bool)
        return cls(list(number), is_tag, np.array(item, np.int64), np.array(place, np.int64))

    def sums(self, items: np.ndarray) -> np.ndarray:
        """The sum over the items of each labeled span."""
        return np.bincount(self.place, items[self.item], len(self.keys))


def posteriors(reading: Reading, decoder: Decoder, temperature: float) -> np.ndarray:
    """The probability of each item of a reading (``chart/posteriors.py``).

    Without a parse by the grammar, they are those of the coarse grammar, whatever the temperature.
    """
    if reading.problem is not None:
        return np.clip(reading.items, 0.0, 1.0)
    forest, sign = reading.forest, reading.sign
    edges, roots = (
        np.maximum(decoder.signed(part, sign), 0.0)
        for part in (reading.edges, reading.items[forest.roots])
    )
    return item_posteriors(forest, edges, roots, temperature)


def probable_spans(reading: Reading, decoder: Decoder, temperature: float) -> list[Span]:
    """The probability of each label over each span of a reading, most probable first."""
    spans = LabeledSpans.of(reading)
    sums = spans.sums(posteriors(reading, decoder, temperature))
    found = zip(spans.keys, np.clip(sums, 0.0, 1.0).tolist())  # outside only by rounding
    return sorted((Span(*key, p) for key, p in found), key=_order)


def scored_spans(reading: Reading) -> list[ScoredSpan]:
    """The score of each label over each span of a reading, as the grammar gives it."""
    spans = LabeledSpans.of(reading)
    found = zip(spans.keys, spans.sums(reading.sign * reading.items).tolist())
    return sorted((ScoredSpan(*key, mu) for key, mu in found), key=_order)


def check_temperature(value: Any) -> float:
    """The temperature that a user gives; raise ParameterError if it is none."""
    if not is_number(value) or not LEAST_TEMPERATURE <= value <= MOST_TEMPERATURE:
        raise ParameterError(
            f"temperature must be from {LEAST_TEMPERATURE:g} to {MOST_TEMPERATURE:g}, or None, not "
            f"{value!r}"
        )
    return float(value)


def calibrated(readings: Iterable[Reading], gold: Sequence[Tree], decoder: Decoder) -> float:
    """The temperature that brings the brackets of trees nearest to 1, and other brackets to 0.

    Parameters
    ----------
    readings
        The readings of the words of the trees.
    gold
        The right trees, normalized.
    decoder
        That of the parser.
    """
    from eigentext.evaluate.calibration import gold_brackets

    known, rights = [], []
    for reading, tree in zip(readings, gold, strict=True):
        spans = LabeledSpans.of(reading)
        if reading.problem is None and not spans.is_tag.all():
            brackets = gold_brackets(tree)
            known.append((reading, spans))
            rights.append(
                [key in brackets for key, tag in zip(spans.keys, spans.is_tag) if not tag]
            )
    if not known:
        raise CorpusError(
            "none of these trees has brackets that the grammar can parse: give trees like those "
            "that it was learned from"
        )
    right = np.concatenate(rights).astype(bool)

    def pairs(temperature: float) -> tuple[np.ndarray, np.ndarray]:
        found = [
            spans.sums(posteriors(reading, decoder, temperature))[~spans.is_tag]
            for reading, spans in known
        ]
        return np.minimum(np.concatenate(found), 1.0), right

    return best_temperature(pairs)


def _order(span: Span | ScoredSpan) -> tuple[float, int, int, str]:
    return -span[3], span.start, span.end, span.label
