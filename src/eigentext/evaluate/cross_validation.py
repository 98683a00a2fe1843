r"""Cross-validation: a tree for every sentence of a treebank, from a parser that did not see it.

The treebank is cut into n parts (*folds*). For each fold, a new parser learns from all others and
parses the fold. So all sentences are test sentences, and two parsers can be compared on all of them
(:mod:`eigentext.evaluate.compare`). A few hundred sentences tell differences of a point of
:math:`F_1`; the thousands of a whole treebank tell differences of some tenths.

Sentences of one document share names, words and constructions. A parser that has learned from a
part of a document does better on the rest. So a document is never divided between folds, where the
documents are known (`groups`). Where they are not, a fold is a run of consecutive sentences, and
only the documents at its two ends are divided.
"""

import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from eigentext import engine, notebook
from eigentext.corpus.trees import Tree, normalize_tree
from eigentext.errors import CorpusError, EigentextError, ParameterError
from eigentext.evaluate.brackets import BracketResult, brackets
from eigentext.evaluate.compare import Comparison, compare_results

_TITLES = "fold  learned  parsed  without     F1  learning s  parsing s"


class Fold(NamedTuple):
    """What one fold took, and how good its trees are."""

    n_learned: int  # trees that the parser learned from
    n_parsed: int
    n_fallbacks: int  # sentences without a parse by the grammar
    f1: float
    learning: float  # CPU seconds of all threads of this process
    parsing: float


@dataclass(frozen=True, repr=False)
class CrossValidation:
    """The trees of a parser for all sentences of a treebank, each from a fit without that sentence.

    Attributes
    ----------
    gold : list of Tree
        The right trees, normalized.
    trees : list of Tree or None
        The trees of the parser, in the same order.
    folds : tuple of Fold
        For each fold its sizes, F1, and CPU seconds of learning and of parsing.
    result : BracketResult
        The scores of all trees together.
    """

    gold: list[Tree]
    trees: list[Tree | None]
    folds: tuple[Fold, ...]
    result: BracketResult

    @property
    def f1(self) -> float:
        """F1 of all sentences together, from 0 to 1. It is not the mean of the folds."""
        return self.result.f1

    @property
    def learning(self) -> float:
        """CPU seconds of learning, of all folds together."""
        return sum(fold.learning for fold in self.folds)

    @property
    def parsing(self) -> float:
        """CPU seconds of parsing, of all folds together."""
        return sum(fold.parsing for fold in self.folds)

    def compare(self, other: "CrossValidation", **options: Any) -> Comparison:
        """Compare with another parser on the same trees: a is this one, and b the other.

        The options are those of :func:`~eigentext.evaluate.compare`.
        """
        if self.gold != other.gold:
            raise ParameterError("the other parser has other trees; give the same to both")
        return compare_results(self.result, other.result, **options)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON: the scores, and a list of the folds."""
        folds = [fold._asdict() for fold in self.folds]
        return self.result.to_dict() | {
            "learning": self.learning,
            "parsing": self.parsing,
            "folds": [fold | {"f1": _finite(fold["f1"])} for fold in folds],
        }

    def __repr__(self) -> str:
        return (
            f"CrossValidation(F1 {self.f1:.2%} over {self.result.n_sentences:,} sentences, "
            f"{len(self.folds)} folds)"
        )

    def __str__(self) -> str:
        lines = [
            f"{name:<4}  {fold.n_learned:7,}  {fold.n_parsed:6,}  {fold.n_fallbacks:7,} "
            f"{100 * fold.f1:6.2f}  {fold.learning:10.1f}  {fold.parsing:9.1f}"
            for name, fold in self._named()
        ]
        return "\n".join([_TITLES, *lines])

    def _repr_html_(self) -> str:
        rows = [
            (
                *(name, fold.n_learned, fold.n_parsed, fold.n_fallbacks, notebook.percent(fold.f1)),
                *map(notebook.rounded, (fold.learning, fold.parsing)),
            )
            for name, fold in self._named()
        ]
        titles = ["fold", "learned", "parsed", "without", "F1", "learning s", "parsing s"]
        return notebook.result("Cross-validation", notebook.table(titles, rows))

    def _named(self) -> Iterator[tuple[str, Fold]]:
        """Yield the folds with their numbers, and then all together."""
        yield from ((str(number), fold) for number, fold in enumerate(self.folds, start=1))
        parsed, without = (sum(getattr(x, n) for x in self.folds) for n in Fold._fields[1:3])
        n_learned = sum(fold.n_learned for fold in self.folds) // max(len(self.folds), 1)
        yield "all", Fold(n_learned, parsed, without, self.f1, self.learning, self.parsing)


def cross_validate(
    parser: Any,
    trees: Iterable[Any],
    n_folds: int = 10,
    *,
    groups: Sequence[Hashable] | None = None,
) -> CrossValidation:
    """Parse every sentence of a treebank with a parser that learned from the other folds.

    The folds depend only on `trees`, `n_folds` and `groups`. So parsers that are given the same
    ones can be compared (:meth:`CrossValidation.compare`).

    Parameters
    ----------
    parser
        A parser that is not fitted, such as ``PCFG()``; each fold fits a copy with the same
        parameters. Or a function without arguments that returns a new parser: anything with
        ``fit(trees)`` and ``parse_many(sentences)``.
    trees : list of Tree, nltk.Tree or str
        The treebank. The trees are normalized.
    n_folds : int
        The number of folds.
    groups : sequence, optional
        The document of each tree, by any name or number. A fold has whole documents, in their
        order, if there are at least `n_folds`. Otherwise, and by default, a fold is a run of
        consecutive trees. All folds have about the same number of trees.

    Examples
    --------
    >>> from eigentext import PCFG
    >>> from eigentext.evaluate import cross_validate
    >>> trees = ["(S (NP (NNP Ann)) (VP (VBZ sleeps)))", "(S (NP (NNP Bob)) (VP (VBZ sleeps)))",
    ...          "(S (NP (NNP Bob)) (VP (VBZ runs)))"] * 4
    >>> plain = cross_validate(PCFG(), trees, n_folds=3)
    >>> plain
    CrossValidation(F1 100.00% over 12 sentences, 3 folds)
    >>> plain.compare(cross_validate(PCFG(vertical=1), trees, n_folds=3)).p
    1.0
    """
    gold = [_normalized(tree, number) for number, tree in enumerate(trees, start=1)]
    fold_of = folds(len(gold), n_folds, groups)
    make = _maker(parser)
    found: list[Tree | None] = [None] * len(gold)
    done: list[Fold] = []
    with engine.phase("cross-validation", n_folds, "folds") as advance:
        for fold in range(n_folds):
            rest = [tree for tree, its in zip(gold, fold_of) if its != fold]
            places = np.flatnonzero(fold_of == fold)
            right = [gold[place] for place in places]
            start = time.process_time()
            model = make()
            model.fit(rest)
            middle = time.process_time()
            parsed, n_fallbacks = _parsed(model, [tree.leaves() for tree in right])
            end = time.process_time()
            for place, tree in zip(places, parsed, strict=True):
                found[place] = tree
            f1 = brackets(right, parsed).f1
            done.append(Fold(len(rest), len(right), n_fallbacks, f1, middle - start, end - middle))
            advance(1)
    return CrossValidation(gold, found, tuple(done), brackets(gold, found))


def folds(n_trees: int, n_folds: int = 10, groups: Sequence[Hashable] | None = None) -> np.ndarray:
    """Return the number of the fold of each tree, from 0; see :func:`cross_validate`.

    Examples
    --------
    >>> from eigentext.evaluate import folds
    >>> folds(5, 2)
    array([0, 0, 1, 1, 1])
    >>> folds(5, 2, groups=["a", "a", "a", "b", "b"])
    array([0, 0, 0, 1, 1])
    """
    if isinstance(n_folds, bool) or not isinstance(n_folds, (int, np.integer)) or n_folds < 2:
        raise ParameterError(f"n_folds must be a whole number, 2 or more, not {n_folds!r}")
    if n_folds > n_trees:
        raise ParameterError(f"{n_trees} trees cannot make {n_folds} folds; lower n_folds")
    if groups is not None and len(groups) != n_trees:
        raise ParameterError(
            f"there are {n_trees} trees and {len(groups)} groups; give the group of each tree"
        )
    numbers: dict[Hashable, int] = {}
    of = [numbers.setdefault(group, len(numbers)) for group in groups or ()]
    if len(numbers) < n_folds:
        of = list(range(n_trees))
    before = np.concatenate([[0], np.cumsum(np.bincount(of))])  # trees before each group
    borders = [0]
    for fold in range(1, n_folds):
        # The nearest border between two groups that leaves a group for every fold.
        least, most = borders[-1] + 1, len(before) - 1 - (n_folds - fold)
        distance = np.abs(before[least : most + 1] * n_folds - fold * n_trees)
        borders.append(least + int(distance.argmin()))
    return np.searchsorted(borders, of, side="right") - 1


def _normalized(tree: Any, number: int) -> Tree:
    try:
        return normalize_tree(tree)
    except EigentextError as error:
        raise type(error)(f"tree {number}: {error}") from error


def _maker(parser: Any) -> Callable[[], Any]:
    """Return a function that makes a new parser like this one."""
    if hasattr(parser, "get_params") and not isinstance(parser, type):
        return lambda: type(parser)(**parser.get_params(deep=False))
    if callable(parser):
        return parser
    raise ParameterError(
        f"{parser!r} is no parser; give an estimator such as PCFG(), or a function that returns one"
    )


def _parsed(model: Any, sentences: list[list[str]]) -> tuple[list[Tree | None], int]:
    """Return the trees of sentences, and for how many the grammar itself has none."""
    if hasattr(model, "parses"):
        parses = list(model.parses(sentences))
        return [one.tree for one in parses], sum(bool(one.fallback) for one in parses)
    found = list(model.parse_many(sentences))
    if len(found) != len(sentences):
        raise CorpusError(
            f"{type(model).__name__}.parse_many returned {len(found)} trees for {len(sentences)} "
            "sentences; it must return one for each, None if there is no parse"
        )
    return found, sum(tree is None for tree in found)


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
