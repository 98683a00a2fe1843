r"""How near a structure is to the right one, in counts that add up over a corpus.

With :math:`M` parts that both have, of :math:`G` in the right one and :math:`P` in the other,

.. math:: F_1 = \frac{2M}{G + P}

Parts are labelled brackets of trees (:mod:`eigentext.evaluate.brackets`), chunks of sequences whose
tags begin and continue them (B-NP, I-NP, O), or else single tags, of which :math:`F_1` is the share
that is right. The score of a corpus is that of its summed counts.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from operator import eq
from typing import Any

import numpy as np

from eigentext.corpus.schemes import is_chunk_tags
from eigentext.errors import ParameterError
from eigentext.kernels.candidate import is_tree, structure_of


class Measure(ABC):
    """Counts of parts, and the F1 that they come to."""

    name: str

    @abstractmethod
    def counts(self, gold: Any, structure: Any) -> np.ndarray:
        """How many parts are right, how many there should be, how many there are.

        A structure over other words than the right one has no parts, and none of them right.
        """

    def value(self, counts: Any) -> Any:
        """The F1 of counts, summed or not: one for each row; 1 where there is nothing to find."""
        right, gold, predicted = np.moveaxis(np.asarray(counts), -1, 0)
        total = gold + predicted
        f1 = np.where(total > 0, 2 * right / np.maximum(total, 1), 1.0)
        return f1 if f1.ndim else float(f1)

    def __call__(self, gold: Any, structure: Any) -> float:
        """The F1 of one structure."""
        return self.value(self.counts(gold, structure))

    def __repr__(self) -> str:
        return self.name


class _TreeF1(Measure):
    name = "F1 of labelled brackets"

    def counts(self, gold: Any, structure: Any) -> np.ndarray:
        from eigentext.evaluate import brackets

        (score,) = brackets([gold], [structure_of(structure)]).sentences
        return np.array([score.matched, score.gold, score.predicted])


class _ChunkF1(Measure):
    name = "F1 of chunks"

    def counts(self, gold: Any, structure: Any) -> np.ndarray:
        from eigentext.evaluate.chunks import chunk_spans

        right, found = _parted(gold), _parted(structure_of(structure))
        chunks = set(chunk_spans(right[1]))
        if right[0] != found[0]:
            return np.array([0, len(chunks), 0])
        others = set(chunk_spans(found[1]))
        return np.array([len(chunks & others), len(chunks), len(others)])


class _TagAccuracy(Measure):
    name = "accuracy of tags"

    def counts(self, gold: Any, structure: Any) -> np.ndarray:
        right, found = _parted(gold), _parted(structure_of(structure))
        n_right = sum(map(eq, right[1], found[1])) if right[0] == found[0] else 0
        return np.array([n_right, len(right[1]), len(right[1])])


tree_f1 = _TreeF1()
chunk_f1 = _ChunkF1()
tag_accuracy = _TagAccuracy()
MEASURES = {measure.name: measure for measure in (tree_f1, chunk_f1, tag_accuracy)}


def measure_of(gold: Iterable[Any]) -> Measure:
    """The measure that suits the right structures of a corpus.

    Examples
    --------
    >>> measure_of(["(NP (DT the) (NN cat))"])
    F1 of labelled brackets
    >>> measure_of([[("the", "B-NP"), ("cat", "I-NP"), ("sleeps", "O")]])
    F1 of chunks
    >>> measure_of([[("the", "DT"), ("cat", "NN")]])
    accuracy of tags
    """
    gold = list(gold)
    trees = sum(map(is_tree, gold))
    if trees == len(gold):
        return tree_f1
    if trees:
        raise ParameterError("trees and tagged sequences are mixed; rerank each kind by itself")
    tags = {tag for tagging in gold for tag in _parted(tagging)[1]}
    return chunk_f1 if is_chunk_tags(tags) else tag_accuracy


def tagging_f1(gold: Any, tagging: Any) -> float:
    """F1 of chunks, if the right tags are of such, else the accuracy of tags.

    Examples
    --------
    >>> tagging_f1([("the", "B-NP"), ("cat", "I-NP")], [("the", "B-NP"), ("cat", "O")])
    0.0
    >>> tagging_f1([("the", "DT"), ("cat", "NN")], [("the", "DT"), ("cat", "VB")])
    0.5
    """
    return measure_of([gold])(gold, tagging)


def closest(candidates: Sequence[Any], gold: Any, score: Any) -> int:
    """Which candidate is nearest to the right structure by ``score(gold, structure)``.

    The first of equals. `score` is a measure, or any function.

    Examples
    --------
    >>> candidates = [("(S (NP (NN a) (NN b)))", -1.0), ("(S (VP (NN a) (NN b)))", -2.0)]
    >>> closest(candidates, "(S (VP (NN a)) (NP (NN b)))", tree_f1)
    0
    """
    if not len(candidates):
        raise ParameterError("no candidates, so none is the closest; leave such inputs out")
    return int(np.argmax([score(gold, structure_of(one)) for one in candidates]))


def _parted(tagging: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Words and tags."""
    try:
        words, tags = zip(*tagging, strict=True) if len(tagging) else ((), ())
    except (TypeError, ValueError):
        raise ParameterError(
            f"{str(tagging)[:60]} is no tagged sequence; give a list of (word, tag)"
        ) from None
    return words, tags
