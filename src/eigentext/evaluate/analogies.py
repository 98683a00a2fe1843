r"""Word analogies: a is to b as c is to what?

Levy and Goldberg (2014) compare two scores of a word x, made of its cosines with a, b and c:

.. math:: \text{3CosAdd: } \cos(x, b) - \cos(x, a) + \cos(x, c), \qquad
          \text{3CosMul: } \frac{\cos'(x, b)\,\cos'(x, c)}{\cos'(x, a) + \varepsilon}

where :math:`\cos' = (1 + \cos) / 2` and :math:`\varepsilon = 10^{-3}`. The answer is the x with the
highest score among all words except a, b and c. Of equal scores, the first in the vocabulary wins.
The accuracy is over the covered questions: those whose four words all have vectors.

Many questions need the cosines of the same word. They are computed once, for one block of the
vocabulary after another, and each question keeps its best answer so far. So the memory does not
grow with the number of questions times the number of words.
"""

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from eigentext import engine, notebook
from eigentext.errors import ParameterError
from eigentext.evaluate.readers import Question, read_questions
from eigentext.evaluate.vectors import Case, VectorModel, WordVectors

Method = Literal["mul", "add"]
Best = dict[Method, tuple[np.ndarray, np.ndarray]]  # scores and answers of all questions
METHODS: tuple[Method, ...] = ("mul", "add")
_EPSILON = np.float32(1e-3)
_CELLS = 1 << 21  # the number of cosines of one block
_WIDTHS = 64, 4096  # the fewest and the most words of a block


@dataclass(frozen=True, repr=False)
class Accuracy:
    """The number of right answers by method, of covered questions and of all questions."""

    correct: dict[str, int]
    n_covered: int
    n_questions: int

    @property
    def accuracy(self) -> dict[str, float]:
        """The share of right answers by method, or nan if no question is covered."""
        covered = self.n_covered or math.nan
        return {method: correct / covered for method, correct in self.correct.items()}

    def __str__(self) -> str:
        shares = ", ".join(f"{name} {share:.1%}" for name, share in self.accuracy.items())
        scores = shares if self.n_covered else "no accuracy"
        return f"{scores} over {self.n_covered:,} of {self.n_questions:,} questions"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON. None stands for nan."""
        shares = self.accuracy.items()
        return {
            "accuracy": {name: None if math.isnan(x) else x for name, x in shares},
            "correct": self.correct,
            "n_covered": self.n_covered,
            "n_questions": self.n_questions,
        }


@dataclass(frozen=True, repr=False)
class AnalogyResult(Accuracy):
    """The accuracy in total, by section, and by group: semantic and syntactic sections."""

    sections: dict[str, Accuracy]
    groups: dict[str, Accuracy]
    missing: list[str]
    folded: int  # the number of words found in another case

    def _repr_html_(self) -> str:
        parts = {**self.sections, **self.groups, "all": self}
        rows = [
            (
                name,
                f"{one.n_covered:,} of {one.n_questions:,}",
                *map(notebook.percent, one.accuracy.values()),
            )
            for name, one in parts.items()
        ]
        titles = ("section", "questions with vectors", *self.accuracy)
        last = f"missing words: {len(self.missing):,}" if self.missing else ""
        table = notebook.table(titles, rows, last=last)
        return notebook.result("Analogies, right answers in percent", table)

    def __str__(self) -> str:
        missing = f"; missing words: {len(self.missing):,}" if self.missing else ""
        return super().__str__() + missing

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON. None stands for nan."""
        return {
            **super().to_dict(),
            "sections": {name: part.to_dict() for name, part in self.sections.items()},
            "groups": {name: part.to_dict() for name, part in self.groups.items()},
            "missing": self.missing,
            "folded": self.folded,
        }


def analogies(
    model: VectorModel,
    questions: str | os.PathLike[str] | Sequence[tuple[str, ...]],
    *,
    method: Method | Sequence[Method] = METHODS,
    case: Case = "fold",
) -> AnalogyResult:
    """Compute the share of analogies that a model answers right.

    Parameters
    ----------
    model : fitted estimator, KeyedVectors, or (words, vectors)
        A model with `vocabulary_` and `vectors_`, an object with gensim's `index_to_key` and
        `vectors`, or the words and the vectors themselves. Vectors may have any length. A word
        whose vector is zero counts as missing.
    questions : file, or list of (a, b, c, d) or (a, b, c, d, section)
        See :func:`read_questions`. As in Google's file, sections whose names begin with "gram" are
        the syntactic group and the others are the semantic group. If either group is empty, the
        result has no groups.
    method : "mul", "add" or both
        3CosMul, 3CosAdd.
    case : "fold" or "exact"
        "fold" looks up a word as it is written, then in lower case, then with a capital first
        letter. "exact" looks it up only as it is written.

    Examples
    --------
    >>> from eigentext.evaluate import analogies
    >>> words = ["man", "woman", "king", "queen", "tea"]
    >>> vectors = [[2, 0, 0], [2, 1, 0], [2, 0, 1], [2, 1, 1], [0, -1, -1]]
    >>> print(analogies((words, vectors), [("Man", "woman", "king", "queen")]))
    mul 100.0%, add 100.0% over 1 of 1 questions
    """
    methods = _checked(method)
    if isinstance(questions, (str, os.PathLike)):
        questions = read_questions(questions)
    asked = [Question(*question) for question in questions]
    vectors = WordVectors(model, case)
    place, missing, folded = vectors.find({word for question in asked for word in question[:4]})
    places = np.array([[place[word] for word in question[:4]] for question in asked], np.int64)
    places = places.reshape(-1, 4)  # also if there are no questions
    covered: np.ndarray = np.all(places >= 0, axis=1)
    right: dict[Method, np.ndarray] = {name: np.zeros(len(asked), bool) for name in methods}
    if covered.any():
        for name, answers in answer(vectors, places[covered, :3], methods).items():
            right[name][covered] = answers == places[covered, 3]
    sections = _by_section(asked)
    total = _accuracy(right, covered, slice(None))
    return AnalogyResult(
        total.correct,
        total.n_covered,
        total.n_questions,
        {name: _accuracy(right, covered, rows) for name, rows in sections.items()},
        {name: _accuracy(right, covered, rows) for name, rows in _google_groups(sections).items()},
        missing,
        folded,
    )


def answer(
    vectors: WordVectors, questions: np.ndarray, methods: Iterable[Method]
) -> dict[Method, np.ndarray]:
    """Return the place of the best word for each question, given the places of a, b and c."""
    places, rows = np.unique(questions, return_inverse=True)
    rows = rows.reshape(questions.shape).astype(np.int32)
    asked = vectors.unit_rows(places).astype(np.float32)
    width = max(_WIDTHS[0], min(_WIDTHS[1], _CELLS // len(places)))

    def work(start: int) -> Best:
        block = vectors.unit_rows(slice(start, start + width)).astype(np.float32)
        return _best_of_block(asked @ block.T, rows, places, start, methods)

    total: Best = {}
    n_words = len(vectors)
    starts = range(0, n_words, width)
    # The engine gives each block to one of its threads, so BLAS has one thread for each block.
    with (
        engine.one_blas_thread(),
        engine.phase("analogies", n_words, "words") as advance,
    ):
        for start, best in zip(starts, engine.current().map(work, starts)):
            for method, (scores, answers) in best.items():
                if method not in total:
                    total[method] = scores, answers
                    continue
                # The blocks come in order, so of equal scores the first stays.
                better = scores > total[method][0]
                total[method][0][better] = scores[better]
                total[method][1][better] = answers[better]
            advance(min(width, n_words - start))
    return {method: answers for method, (_, answers) in total.items()}


def _best_of_block(
    C: np.ndarray, rows: np.ndarray, places: np.ndarray, start: int, methods: Iterable[Method]
) -> Best:
    """Return the best scores and answers among the words of a block that begins at `start`."""
    from eigentext.evaluate._loops import best_by_add, best_by_mul

    best: Best = {}
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


def _checked(method: Method | Sequence[Method]) -> tuple[Method, ...]:
    methods: tuple[Method, ...] = (method,) if isinstance(method, str) else tuple(method)
    if not methods or not set(methods) <= set(METHODS):
        raise ParameterError(f"method must be 'mul', 'add' or both, not {method!r}")
    return methods


def _accuracy(
    right: dict[Method, np.ndarray], covered: np.ndarray, rows: list[int] | slice
) -> Accuracy:
    """Return the accuracy over some of the questions."""
    correct: dict[str, int] = {name: int(marks[rows].sum()) for name, marks in right.items()}
    return Accuracy(correct, int(covered[rows].sum()), len(covered[rows]))


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
