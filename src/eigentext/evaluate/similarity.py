r"""Word similarity: do cosines rank pairs of words as people do?

Spearman's :math:`\rho` is the correlation of the ranks of :math:`\cos(v_a, v_b)` with the ranks of
the scores that people gave. Ties get their average rank. Only pairs whose two words have vectors
are covered. The result says how many these are, because a model may do well on the few words that
it knows.
"""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigentext import notebook
from eigentext.errors import ParameterError
from eigentext.evaluate.readers import read_pairs
from eigentext.evaluate.vectors import Case, VectorModel, WordVectors


@dataclass(frozen=True, repr=False)
class SimilarityResult:
    """Spearman's rho over the covered pairs. It is nan if it is not defined; `reason` says why."""

    rho: float
    n_covered: int
    n_pairs: int
    missing: list[str]
    folded: int  # the number of words found in another case
    reason: str

    def __str__(self) -> str:
        rho = f"rho {self.rho:.3f}" if not self.reason else f"no rho ({self.reason})"
        missing = f"; missing words: {len(self.missing):,}" if self.missing else ""
        return f"{rho} over {self.n_covered:,} of {self.n_pairs:,} pairs{missing}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    def _repr_html_(self) -> str:
        rho = self.reason or notebook.rounded(self.rho, 3)
        facts = [
            ("Spearman's rho", rho),
            ("pairs with vectors", f"{self.n_covered:,} of {self.n_pairs:,}"),
            *([("missing words", self.missing)] if self.missing else []),
        ]
        return notebook.result("Similarity of words", notebook.pairs(facts))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON. None stands for nan."""
        return {
            "rho": None if math.isnan(self.rho) else self.rho,
            "n_covered": self.n_covered,
            "n_pairs": self.n_pairs,
            "missing": self.missing,
            "folded": self.folded,
            "reason": self.reason,
        }


def similarity(
    model: VectorModel,
    pairs: str | os.PathLike[str] | Sequence[tuple[str, str, float]],
    *,
    case: Case = "fold",
) -> SimilarityResult:
    """Compute Spearman's correlation of cosines with people's scores.

    Parameters
    ----------
    model : fitted estimator, KeyedVectors, or (words, vectors)
        A model with `vocabulary_` and `vectors_`, an object with gensim's `index_to_key` and
        `vectors`, or the words and the vectors themselves. Vectors may have any length. A word
        whose vector is zero counts as missing.
    pairs : file, or list of (word, word, score)
        See :func:`read_pairs`.
    case : "fold" or "exact"
        "fold" looks up a word as it is written, then in lower case, then with a capital first
        letter. "exact" looks it up only as it is written.

    Examples
    --------
    >>> from eigentext.evaluate import similarity
    >>> words, vectors = ["cat", "dog", "tea"], [[1, 0], [2, 1], [0, 1]]
    >>> pairs = [("cat", "dog", 8), ("Dog", "tea", 3), ("cat", "tea", 1), ("cat", "ox", 5)]
    >>> print(similarity((words, vectors), pairs))
    rho 1.000 over 3 of 4 pairs; missing words: 1
    """
    if isinstance(pairs, (str, os.PathLike)):
        pairs = read_pairs(pairs)
    vectors = WordVectors(model, case)
    place, missing, folded = vectors.find({word for pair in pairs for word in pair[:2]})
    covered = [(place[a], place[b], y) for a, b, y in pairs if place[a] >= 0 and place[b] >= 0]
    left = vectors.unit_rows(np.array([a for a, _, _ in covered], np.int64))
    right = vectors.unit_rows(np.array([b for _, b, _ in covered], np.int64))
    scores = np.array([y for _, _, y in covered], np.float64)
    if not np.isfinite(scores).all():
        raise ParameterError("a score is not finite; leave out pairs with such scores")
    rho, reason = _spearman(np.einsum("ij,ij->i", left, right), scores)
    return SimilarityResult(rho, len(covered), len(pairs), missing, folded, reason)


def _spearman(x: np.ndarray, y: np.ndarray) -> tuple[float, str]:
    """Return the correlation of ranks and "", or nan and the reason."""
    if len(x) < 2:
        return math.nan, "only one pair is covered" if len(x) else "no pair is covered"
    x, y = _ranks(x), _ranks(y)
    x, y = x - x.mean(), y - y.mean()
    for deviations, name in ((x, "cosine"), (y, "score")):
        if not deviations.any():
            return math.nan, f"all covered pairs have the same {name}"
    return float(x @ y) / math.sqrt(float(x @ x) * float(y @ y)), ""


def _ranks(x: np.ndarray) -> np.ndarray:
    """Return ranks from 1; ties get their mean. (scipy.stats has this, but is slow to import.)"""
    _, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    return (counts.cumsum() - (counts - 1) / 2)[inverse]
