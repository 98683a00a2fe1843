r"""How close a structure is to the gold structure, in counts that can be added over a corpus.

The gold structure has :math:`G` parts, the other has :math:`P`, and :math:`M` parts are in both:

.. math:: F_1 = \frac{2M}{G + P}

Parts of trees are labeled brackets (:mod:`eigentext.evaluate.brackets`). Parts of sequences are
chunks if the tags begin and continue chunks (B-NP, I-NP, O). Otherwise they are single tags, and
:math:`F_1` is the share of right tags. The score of a corpus is computed from its summed counts.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from operator import eq
from typing import Any

import numpy as np

from eigentext.corpus.schemes import is_chunk_tags
from eigentext.errors import ParameterError
from eigentext.kernels.candidate import is_tree, structure_of


class Measure(ABC):
    """Counts of parts, and the F1 of these counts."""

    name: str

    @abstractmethod
    def counts(self, gold: Any, structure: Any) -> np.ndarray:
        """Return the number of right parts, of gold parts, and of parts of the structure.

        A structure with other words than the gold structure counts as one without parts.
        """

    def value(self, counts: Any) -> Any:
        """Return the F1 of counts, one for each row. It is 1 if there are no parts at all."""
        right, gold, predicted = np.moveaxis(np.asarray(counts), -1, 0)
        total = gold + predicted
        f1 = np.where(total > 0, 2 * right / np.maximum(total, 1), 1.0)
        return f1 if f1.ndim else float(f1)

    def __call__(self, gold: Any, structure: Any) -> float:
        """Return the F1 of one structure."""
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
    """Return the measure for the gold structures of a corpus.

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
        raise ParameterError("trees and tagged sequences are mixed; make a reranker for each kind")
    tags = {tag for tagging in gold for tag in _parted(tagging)[1]}
    return chunk_f1 if is_chunk_tags(tags) else tag_accuracy


def tagging_f1(gold: Any, tagging: Any) -> float:
    """Return the F1 of chunks if the gold tags are tags of chunks, else the accuracy of tags.

    Examples
    --------
    >>> tagging_f1([("the", "B-NP"), ("cat", "I-NP")], [("the", "B-NP"), ("cat", "O")])
    0.0
    >>> tagging_f1([("the", "DT"), ("cat", "NN")], [("the", "DT"), ("cat", "VB")])
    0.5
    """
    return measure_of([gold])(gold, tagging)


def closest(candidates: Sequence[Any], gold: Any, score: Callable[[Any, Any], float]) -> int:
    """Return the place of the candidate that is closest to the gold structure.

    ``score(gold, structure)`` is a measure or any other function. Of equal scores, the first wins.

    Examples
    --------
    >>> candidates = [("(S (NP (NN a) (NN b)))", -1.0), ("(S (VP (NN a) (NN b)))", -2.0)]
    >>> closest(candidates, "(S (VP (NN a)) (NP (NN b)))", tree_f1)
    0
    """
    if not len(candidates):
        raise ParameterError("no candidates, so that none is closest; leave this input out")
    return int(np.argmax([score(gold, structure_of(one)) for one in candidates]))


def _parted(tagging: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words and the tags."""
    try:
        words, tags = zip(*tagging, strict=True) if len(tagging) else ((), ())
    except (TypeError, ValueError):
        raise ParameterError(
            f"{str(tagging)[:60]} is not a tagged sequence; give a list of (word, tag)"
        ) from None
    return words, tags
