r"""Calibration: of the answers that a model gives 80%, are 80% right?

An answer has a probability :math:`p_i` and is right (:math:`y_i = 1`) or wrong. Answers are sorted
into bins :math:`B_b` by their probability. In each bin the mean probability should be the share of
right answers. The expected calibration error is the mean distance (Naeini et al. 2015):

.. math:: \mathrm{ECE} = \frac{1}{n} \sum_b
          \left| \sum_{i \in B_b} p_i - \sum_{i \in B_b} y_i \right|.

The bins have equal widths, or they hold equally many answers. A model can be calibrated and know
nothing. So the Brier score, the mean of :math:`(p_i - y_i)^2`, is given too: it falls when answers
are calibrated, and when they tell more (Brier 1950).

:func:`span_pairs`, :func:`tag_pairs` and :func:`next_word_pairs` collect the answers of parsers,
taggers and language models.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from eigentext import notebook
from eigentext.corpus.trees import ROOTS, Tree, as_tree, normalize_tree
from eigentext.errors import CorpusError, ParameterError

_TITLES = "probability          answers    mean p    right"


class Pairs(NamedTuple):
    """Answers: the probability that each has by the model, and whether it is right."""

    probability: np.ndarray
    correct: np.ndarray


class Bin(NamedTuple):
    """Some answers of similar probability.

    Attributes
    ----------
    least, most
        The range of the bin. Bins of equal mass have the least and the largest probability in it.
    n
        The number of answers in it.
    probability, right
        Their mean probability, and the share of right ones; nan without answers.
    """

    least: float
    most: float
    n: int
    probability: float
    right: float


@dataclass(frozen=True, repr=False)
class Calibration:
    """How far probabilities are from the shares of right answers.

    Attributes
    ----------
    n
        The number of answers.
    probability, right
        Their mean probability, and the share of right ones.
    error, error_equal_mass
        The expected calibration error, with bins of equal width and of equal mass.
    brier
        The mean squared distance between probability and truth.
    bins, equal_mass
        The reliability tables of both kinds of bins.
    """

    n: int
    probability: float
    right: float
    error: float
    error_equal_mass: float
    brier: float
    bins: list[Bin]
    equal_mass: list[Bin]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; the bins without answers are left out."""
        names = ("n", "probability", "right", "error", "error_equal_mass", "brier")
        tables = {
            name: [one._asdict() for one in getattr(self, name) if one.n]
            for name in ("bins", "equal_mass")
        }
        return {name: getattr(self, name) for name in names} | tables

    def __str__(self) -> str:
        rows = [
            f"{one.least:5.3f} to {one.most:5.3f}  {one.n:>12,}  {one.probability:8.3f} "
            f"{one.right:8.3f}"
            for one in self.bins
            if one.n
        ]
        last = (
            f"{self.n:,} answers: calibration error {self.error:.4f} (bins of equal mass: "
            f"{self.error_equal_mass:.4f}), Brier score {self.brier:.4f}"
        )
        return "\n".join([_TITLES, *rows, last])

    def _repr_html_(self) -> str:
        rows = [
            (
                f"{one.least:.3f} to {one.most:.3f}",
                one.n,
                notebook.rounded(one.probability, 3),
                notebook.share(one.right),
            )
            for one in self.bins
            if one.n
        ]
        titles = ("probability", "answers", "mean probability", "share of right answers")
        title = f"Calibration error {self.error:.4f} of {self.n:,} answers"
        last = f"bins of equal mass: {self.error_equal_mass:.4f}; Brier score {self.brier:.4f}"
        return notebook.result(title, notebook.table(titles, rows, last=last))

    def __repr__(self) -> str:
        return f"Calibration(error={self.error:.4f}, n={self.n:,})"


def calibration(probability: ArrayLike, correct: ArrayLike, *, n_bins: int = 15) -> Calibration:
    """Measure how well probabilities are calibrated.

    Parameters
    ----------
    probability
        The probability of each answer, from 0 to 1.
    correct
        Whether each answer is right.
    n_bins
        The number of bins, for both kinds of bins.

    Examples
    --------
    >>> result = calibration([0.9, 0.9, 0.1, 0.1], [True, False, False, False], n_bins=2)
    >>> round(result.error, 3), round(result.brier, 3)
    (0.25, 0.21)
    """
    p, y = np.asarray(probability, np.float64), np.asarray(correct, np.float64)
    if p.ndim != 1 or p.shape != y.shape or not len(p):
        raise ParameterError(
            f"give a probability and a truth for each answer, not {p.shape} and {y.shape}"
        )
    if not ((p >= 0) & (p <= 1)).all():
        raise ParameterError("probabilities must be from 0 to 1; scores have no calibration")
    if not np.isin(y, (0, 1)).all():
        raise ParameterError("`correct` must be true or false for each answer")
    if isinstance(n_bins, bool) or not isinstance(n_bins, (int, np.integer)) or n_bins < 1:
        raise ParameterError(f"n_bins must be a whole number, 1 or more, not {n_bins!r}")
    edges = np.linspace(0, 1, n_bins + 1)
    place = np.clip(np.searchsorted(edges, p, "right") - 1, 0, n_bins - 1)
    bins = [_bin(p, y, place == b, edges[b], edges[b + 1]) for b in range(n_bins)]
    order = np.argsort(p, kind="stable")
    parts = [part for part in np.array_split(order, n_bins) if len(part)]
    equal = [_bin(p, y, part, float(p[part[0]]), float(p[part[-1]])) for part in parts]
    return Calibration(
        len(p),
        float(p.mean()),
        float(y.mean()),
        _error(bins, len(p)),
        _error(equal, len(p)),
        float(((p - y) ** 2).mean()),
        bins,
        equal,
    )


# -- answers of models -----------------------------------------------------------------------------


def gold_brackets(tree: Tree) -> set[tuple[str, int, int]]:
    """Label, start and end of each bracket of a normalized tree, without tags and roots.

    Examples
    --------
    >>> from eigentext import Tree
    >>> sorted(gold_brackets(Tree.parse("(S (NP (N dogs)) (VP (V bark)))")))
    [('NP', 0, 1), ('S', 0, 2), ('VP', 1, 2)]
    """
    found: set[tuple[str, int, int]] = set()
    stack: list[Any] = [tree]
    n = 0
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):  # the end of a constituent
            found.add((*node, n))
        elif isinstance(node, str):
            n += 1
        else:
            if not node.is_preterminal and node.label not in ROOTS:
                stack.append((node.label, n))
            stack.extend(reversed(node.children))
    return found


def span_pairs(parser: Any, trees: Iterable[Any], *, least: float = 0.01) -> Pairs:
    """The labeled spans of a parser, against the brackets of trees that it was not learned from.

    Parameters
    ----------
    parser
        A parser with ``marginals(words)``, such as :class:`~eigentext.LatentPCFG`.
    trees
        The right trees. They are normalized first.
    least
        Less probable spans are left out. There are very many of them, almost all wrong, and they
        would hide the others. So are tags of words.
    """
    p: list[float] = []
    correct: list[bool] = []
    names = _phrases(parser)
    for tree in trees:
        tree = normalize_tree(as_tree(tree))
        right = gold_brackets(tree)
        # A tag is no bracket, but may have the name of one.
        tags = {(tag, i, i + 1) for i, (_, tag) in enumerate(tree.tags())} - right
        for label, start, end, probability in parser.marginals(tree.leaves()):
            key = label, start, end
            if probability >= least and label in names and label not in ROOTS and key not in tags:
                p.append(probability)
                correct.append(key in right)
    return _pairs(p, correct, "no brackets to measure: give trees with constituents")


def tag_pairs(tagger: Any, tagged: Iterable[Sequence[Sequence[str]]]) -> Pairs:
    """The tags of a tagger with their confidences, against the right tags of other sentences.

    Parameters
    ----------
    tagger
        A tagger with ``tag(sentences)`` and ``confidences(sentences)``.
    tagged
        Sentences of tuples that end with the right tag, as the tagger learned them.
    """
    given = [[tuple(token) for token in sentence] for sentence in tagged]
    plain = [[token[:-1] for token in sentence] for sentence in given]
    sentences = [[w[0] if len(w) == 1 else w for w in one] for one in plain]
    found, sure = tagger.tag(sentences), tagger.confidences(sentences)
    p = np.concatenate([np.zeros(0), *sure])
    correct = [
        a[-1] == b[-1] for right, one in zip(given, found) for a, b in zip(right, one, strict=True)
    ]
    return _pairs(p, correct, "no tokens to measure: give sentences that have some")


def next_word_pairs(
    model: Any, sequences: Iterable[Sequence[str]], *, least: float | None = None
) -> Pairs:
    """The next words that a language model predicts, against those that come.

    Parameters
    ----------
    model
        A model with ``predict_next(prefix)`` and ``symbols_``, such as :class:`~eigentext.HMM`.
    sequences
        Sentences that it was not learned from.
    least
        None takes the most probable next word at each place only. With a number, all words that
        are as probable as that are answers.
    """
    numbers = {word: n for n, word in enumerate(model.symbols_)}
    rare = next((numbers[x] for x in ("<<rare>>", "<rare>") if x in numbers), -1)
    p, correct = [], []
    for sequence in sequences:
        for t, word in enumerate(sequence):
            chances = np.clip(model.predict_next(list(sequence[:t])), 0.0, 1.0)
            chosen = [int(chances.argmax())] if least is None else np.flatnonzero(chances >= least)
            p.append(chances[chosen])
            correct.append(np.asarray(chosen) == numbers.get(word, rare))
    if not p:
        raise CorpusError("no words to measure: give sentences that have some")
    return Pairs(np.concatenate(p), np.concatenate(correct))


def _phrases(parser: Any) -> frozenset[str]:
    """The labels that a parser gives constituents; its other labels are tags."""
    return frozenset(
        label
        for symbol in parser.symbols_
        for label in (symbol.chain[:-1] if symbol.preterminal else symbol.chain)
    )


def _pairs(p: Any, correct: Any, problem: str) -> Pairs:
    if not len(correct):
        raise CorpusError(problem)
    return Pairs(np.asarray(p, np.float64), np.asarray(correct, bool))


def _bin(p: np.ndarray, y: np.ndarray, of: np.ndarray, least: float, most: float) -> Bin:
    p, y = p[of], y[of]
    means = (float(p.mean()), float(y.mean())) if len(p) else (float("nan"), float("nan"))
    return Bin(float(least), float(most), len(p), *means)


def _error(bins: list[Bin], n: int) -> float:
    return sum(one.n / n * abs(one.probability - one.right) for one in bins if one.n)
