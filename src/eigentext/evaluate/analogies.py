r"""Word analogies: a is to b as c is to what?

Levy and Goldberg (2014) compare two ways to answer with the cosines of a word x to the three:

.. math:: \text{3CosAdd: } \cos(x, b) - \cos(x, a) + \cos(x, c), \qquad
          \text{3CosMul: } \frac{\cos'(x, b)\,\cos'(x, c)}{\cos'(x, a) + \varepsilon}

where :math:`\cos' = (1 + \cos) / 2` and :math:`\varepsilon = 10^{-3}`. The answer is the x with the
highest score among all words but a, b and c (of equal ones, the first in the vocabulary). Accuracy
is over the questions whose four words all have vectors.

A question word's cosines are needed by many questions. They are computed once, for one block of the
vocabulary after another, and each question keeps its best answer so far: memory does not grow with
questions times words.
"""

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from eigentext import engine
from eigentext.errors import ParameterError
from eigentext.evaluate.readers import Question, read_questions
from eigentext.evaluate.vectors import Case, WordVectors

Method = Literal["mul", "add"]
METHODS: tuple[Method, ...] = ("mul", "add")
_EPSILON = np.float32(1e-3)
_CELLS = 1 << 21  # cosines of one block
_WIDTHS = 64, 4096  # fewest and most words of a block


@dataclass(frozen=True, repr=False)
class Accuracy:
    """How many questions were answered right, by method, of those covered, of all."""

    correct: dict[str, int]
    n_covered: int
    n_questions: int

    @property
    def accuracy(self) -> dict[str, float]:
        """The share of the covered questions that was right, by method; nan if there are none."""
        covered = self.n_covered or math.nan
        return {method: correct / covered for method, correct in self.correct.items()}

    def __str__(self) -> str:
        shares = ", ".join(f"{name} {share:.1%}" for name, share in self.accuracy.items())
        scores = shares if self.n_covered else "no accuracy"
        return f"{scores} over {self.n_covered:,} of {self.n_questions:,} questions"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, where nan is None."""
        shares = self.accuracy.items()
        return {
            "accuracy": {name: None if math.isnan(x) else x for name, x in shares},
            "correct": self.correct,
            "n_covered": self.n_covered,
            "n_questions": self.n_questions,
        }


@dataclass(frozen=True, repr=False)
class AnalogyResult(Accuracy):
    """The accuracy in total, by section, and of semantic and syntactic sections if they are so."""

    sections: dict[str, Accuracy]
    groups: dict[str, Accuracy]
    missing: list[str]
    folded: int  # words found in another case

    def __str__(self) -> str:
        missing = f"; missing words: {len(self.missing):,}" if self.missing else ""
        return super().__str__() + missing

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, where nan is None."""
        return {
            **super().to_dict(),
            "sections": {name: part.to_dict() for name, part in self.sections.items()},
            "groups": {name: part.to_dict() for name, part in self.groups.items()},
            "missing": self.missing,
            "folded": self.folded,
        }


def analogies(
    model: Any,
    questions: str | os.PathLike[str] | Sequence[tuple[str, ...]],
    *,
    method: Method | Sequence[Method] = METHODS,
    case: Case = "fold",
) -> AnalogyResult:
    """The share of analogies answered right.

    Parameters
    ----------
    model : fitted estimator, KeyedVectors, or (words, vectors)
        Anything with `vocabulary_` and `vectors_` (of any length), or with gensim's `index_to_key`
        and `vectors`, or the two themselves. Words whose vector is zero count as missing.
    questions : file, or list of (a, b, c, d) or (a, b, c, d, section)
        See :func:`read_questions`. Where the names of some sections but not of all begin with
        "gram", as Google's do, these are the syntactic ones and the others the semantic ones.
    method : "mul", "add" or both
        3CosMul, 3CosAdd.
    case : "fold" or "exact"
        Whether a word that is not there as it is may be found in lower case, or else with a first
        capital letter.

    Examples
    --------
    >>> from eigentext.evaluate import analogies
    >>> words = ["man", "woman", "king", "queen", "tea"]
    >>> vectors = [[2, 0, 0], [2, 1, 0], [2, 0, 1], [2, 1, 1], [0, -1, -1]]
    >>> print(analogies((words, vectors), [("Man", "woman", "king", "queen")]))
    mul 100.0%, add 100.0% over 1 of 1 questions
    """
    methods: tuple[Method, ...] = (method,) if isinstance(method, str) else tuple(method)
    if not methods or not set(methods) <= set(METHODS):
        raise ParameterError(f"method must be 'mul', 'add' or both, not {method!r}")
    if isinstance(questions, (str, os.PathLike)):
        questions = read_questions(questions)
    asked = [Question(*question) for question in questions]
    vectors = WordVectors(model, case)
    place, missing, folded = vectors.find({word for question in asked for word in question[:4]})
    places = np.array([[place[word] for word in question[:4]] for question in asked], np.int64)
    places = places.reshape(-1, 4)  # there may be none
    covered: np.ndarray = np.all(places >= 0, axis=1)
    right = {name: np.zeros(len(asked), bool) for name in methods}
    if covered.any():
        for name, answers in answer(vectors, places[covered, :3], methods).items():
            right[name][covered] = answers == places[covered, 3]

    def accuracy(rows: Any) -> Accuracy:
        correct = {name: int(right[name][rows].sum()) for name in methods}
        return Accuracy(correct, int(covered[rows].sum()), len(covered[rows]))

    rows = _by_section(asked)
    groups = _google_groups(rows)
    total = accuracy(slice(None))
    return AnalogyResult(
        total.correct,
        total.n_covered,
        total.n_questions,
        {name: accuracy(part) for name, part in rows.items()},
        {name: accuracy(part) for name, part in groups.items()},
        missing,
        folded,
    )


def answer(
    vectors: WordVectors, questions: np.ndarray, methods: Iterable[Method]
) -> dict[Method, np.ndarray]:
    """The place of the best word for each question, given the places of its a, b and c."""
    from eigentext.evaluate._loops import best_by_add, best_by_mul

    places, rows = np.unique(questions, return_inverse=True)
    rows = rows.reshape(questions.shape).astype(np.int32)
    asked = vectors.unit_rows(places).astype(np.float32)
    width = max(_WIDTHS[0], min(_WIDTHS[1], _CELLS // len(places)))

    def work(start: int) -> dict[Method, tuple[np.ndarray, np.ndarray]]:
        block = vectors.unit_rows(slice(start, start + width)).astype(np.float32)
        C = asked @ block.T
        best = {}
        for method in methods:
            scores = np.full(len(rows), -np.inf, np.float32)
            answers = np.full(len(rows), -1, np.int64)
            if method == "add":
                best_by_add(C, rows, places, start, scores, answers)
            else:
                P = (1 + C) / 2
                best_by_mul(P, 1 / (P + _EPSILON), rows, places, start, scores, answers)
            best[method] = scores, answers
        return best

    total: dict[Method, tuple[np.ndarray, np.ndarray]] = {}
    n_words = len(vectors)
    starts = range(0, n_words, width)
    # One BLAS thread, as in eigentext.matrices.products: the blocks are dealt out to threads.
    with (
        engine.one_blas_thread(),
        engine.phase("analogies", n_words, "words") as advance,
    ):
        for start, best in zip(starts, engine.current().map(work, starts)):
            for method, (scores, answers) in best.items():
                if method not in total:
                    total[method] = scores, answers
                    continue
                better = scores > total[method][0]  # blocks come in order: ties stay with the first
                total[method][0][better] = scores[better]
                total[method][1][better] = answers[better]
            advance(min(width, n_words - start))
    return {method: answers for method, (_, answers) in total.items()}


def _by_section(questions: list[Question]) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    for row, question in enumerate(questions):
        rows.setdefault(question.section, []).append(row)
    return rows


def _google_groups(sections: dict[str, list[int]]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {"semantic": [], "syntactic": []}
    for name, rows in sections.items():
        groups["syntactic" if name.startswith("gram") else "semantic"] += rows
    return groups if all(groups.values()) else {}
