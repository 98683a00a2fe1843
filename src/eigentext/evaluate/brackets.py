r"""Labeled brackets: which constituents of the right trees does a parser find?

A bracket is the label and the span of words of a constituent. Let G be the number of brackets of
the right trees, P the number of brackets of the predicted trees, and M the number of brackets that
are in both. Then

.. math:: \text{precision} = M / P, \qquad \text{recall} = M / G, \qquad
          F_1 = \frac{2M}{G + P}

(PARSEVAL; Black et al. 1991). The rules are those of the program EVALB (Sekine and Collins 1997)
with its parameter file COLLINS.prm:

- parts of speech and roots do not count as brackets (EVALB's root is TOP; here ROOT, S1 and an
  empty label are roots too);
- traces are removed, and function tags and indices are cut off: NP-SBJ-1 becomes NP;
- punctuation is removed (words whose tag is a comma, a colon, a full stop or quotation marks), and
  then all brackets without words;
- ADVP and PRT are the same label;
- equal brackets of one tree (NP over NP) count separately.

Two rules differ from EVALB:

- EVALB removes the punctuation of each tree by the tags of that tree. It leaves a sentence out if
  the remaining words of its two trees differ. Here the tags of the right tree decide which words
  are removed from both trees.
- Here a failed sentence counts. A sentence failed if it has no predicted tree, or one over other
  words. It has no predicted brackets, its right brackets lower the recall, and its words lower the
  accuracy of tags. It is not exact, and it is not free of crossing brackets.

Collins (1999) also reports "CBs" (crossing brackets per sentence), "0 CBs" and "2 CBs" (the shares
of sentences with none, and with at most two). Here these are `crossing`, `no_crossing` and
`two_crossing`.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

from eigentext import notebook
from eigentext.corpus.trees import (
    ROOTS,
    TRACE,
    Tree,
    as_tree,
    without_brackets,
    without_functions,
)
from eigentext.errors import CorpusError, EigentextError, ParameterError

PUNCTUATION = frozenset((",", ":", "``", "''", "."))
_SAME = {"PRT": "ADVP"}
_WIDTH, _LONG = 10, 40  # bins of 10 words; all longer sentences are in the last bin
_TITLES = "words  sentences  precision  recall     F1   exact  crossing   0 CBs   2 CBs    tags"
_MEASURES = (
    *("precision", "recall", "f1", "exact"),
    *("crossing", "no_crossing", "two_crossing", "tagging"),
)


class SentenceScore(NamedTuple):
    """The counts of one sentence."""

    length: int  # words, with punctuation
    gold: int
    predicted: int
    matched: int
    crossing: int  # predicted brackets that cross a right one
    words: int  # without punctuation
    tagged: int  # words with the right tag
    failed: bool


@dataclass(frozen=True, repr=False)
class BracketResult:
    """The scores of sentences: shares from 0 to 1, or nan if the divisor is 0."""

    sentences: tuple[SentenceScore, ...]

    @property
    def n_sentences(self) -> int:
        """The number of sentences, including those that failed."""
        return len(self.sentences)

    @property
    def n_failed(self) -> int:
        """The number of sentences without a tree, or with a tree over other words."""
        return self._total("failed")

    @property
    def gold(self) -> int:
        """The number of brackets of the right trees."""
        return self._total("gold")

    @property
    def predicted(self) -> int:
        """The number of brackets of the predicted trees."""
        return self._total("predicted")

    @property
    def matched(self) -> int:
        """The number of brackets that are in both."""
        return self._total("matched")

    @property
    def precision(self) -> float:
        """The share of predicted brackets that are right."""
        return self.matched / (self.predicted or math.nan)

    @property
    def recall(self) -> float:
        """The share of right brackets that were predicted."""
        return self.matched / (self.gold or math.nan)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.matched / (self.gold + self.predicted or math.nan)

    @property
    def exact(self) -> float:
        """The share of sentences whose brackets are all right."""
        right = sum(s.gold == s.predicted == s.matched and not s.failed for s in self.sentences)
        return right / (self.n_sentences or math.nan)

    @property
    def crossing(self) -> float:
        """The predicted brackets that cross a right one, per sentence that did not fail."""
        return self._total("crossing") / (self.n_sentences - self.n_failed or math.nan)

    @property
    def no_crossing(self) -> float:
        """The share of sentences in which no predicted bracket crosses a right one."""
        return self._crossing_at_most(0)

    @property
    def two_crossing(self) -> float:
        """The share of sentences in which at most two predicted brackets cross a right one."""
        return self._crossing_at_most(2)

    @property
    def tagging(self) -> float:
        """The share of words with the right tag, without punctuation."""
        return self._total("tagged") / (self._total("words") or math.nan)

    @property
    def by_length(self) -> dict[str, "BracketResult"]:
        """The same scores by sentence length: "1-10", "11-20", ... "41+", without empty groups."""
        bins: dict[int, list[SentenceScore]] = {}
        for sentence in sorted(self.sentences, key=lambda sentence: sentence.length):
            first = min((sentence.length - 1) // _WIDTH * _WIDTH, _LONG) + 1
            bins.setdefault(first, []).append(sentence)
        return {
            f"{first}+" if first > _LONG else f"{first}-{first + _WIDTH - 1}": BracketResult(
                tuple(part)
            )
            for first, part in bins.items()
        }

    def up_to(self, length: int) -> "BracketResult":
        """Return the scores of sentences of at most this many words. Papers often use 40."""
        return BracketResult(tuple(s for s in self.sentences if s.length <= length))

    def __str__(self) -> str:
        parts = self.by_length if self.n_sentences else {}
        rows = [result._row(name) for name, result in (*parts.items(), ("all", self))]
        failed = [f"failed: {self.n_failed:,}"] if self.n_failed else []
        return "\n".join([_TITLES, *rows, *failed])

    def __repr__(self) -> str:
        return f"BracketResult(F1 {self.f1:.2%} over {self.n_sentences:,} sentences)"

    def _repr_html_(self) -> str:
        parts = self.by_length if self.n_sentences else {}
        rows = [
            (
                name,
                one.n_sentences,
                *map(notebook.percent, (one.precision, one.recall, one.f1, one.exact)),
                notebook.rounded(one.crossing),
                *map(notebook.percent, (one.no_crossing, one.two_crossing, one.tagging)),
            )
            for name, one in (*parts.items(), ("all", self))
        ]
        last = f"{self.n_failed:,} sentences failed" if self.n_failed else ""
        return notebook.result(
            "Brackets, in percent", notebook.table(re.split("  +", _TITLES), rows, last=last)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON. None stands for nan."""
        return self._numbers() | {
            "by_length": {name: part._numbers() for name, part in self.by_length.items()}
        }

    def _total(self, field: str) -> int:
        return sum(getattr(sentence, field) for sentence in self.sentences)

    def _crossing_at_most(self, n: int) -> float:
        few = sum(s.crossing <= n and not s.failed for s in self.sentences)
        return few / (self.n_sentences or math.nan)

    def _numbers(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in _MEASURES}
        counts = ("matched", "gold", "predicted", "n_sentences", "n_failed")
        return {name: None if math.isnan(value) else value for name, value in values.items()} | {
            name: getattr(self, name) for name in counts
        }

    def _row(self, name: str) -> str:
        return (
            f"{name:<5}  {self.n_sentences:>9,}  {100 * self.precision:9.2f}  "
            f"{100 * self.recall:6.2f} {100 * self.f1:6.2f}  {100 * self.exact:6.2f}  "
            f"{self.crossing:8.2f}  {100 * self.no_crossing:6.2f}  "
            f"{100 * self.two_crossing:6.2f}  {100 * self.tagging:6.2f}"
        )


def brackets(gold_trees: Iterable[Any], predicted_trees: Iterable[Any]) -> BracketResult:
    """Score predicted trees against the right ones, by EVALB's rules.

    Parameters
    ----------
    gold_trees : list of Tree, nltk.Tree or str
        The right trees, as they are in the treebank, or normalized. EVALB counts X over X as two
        brackets. A parser that learns from trees of :func:`normalize_tree` cannot predict them.
        Normalize the right trees too if this should not count against the parser.
    predicted_trees : list of Tree, nltk.Tree, str or None
        One tree for each right tree, or None if the parser found no tree. The words must be the
        same. Round brackets in words may be written as -LRB- and -RRB-.

    Examples
    --------
    >>> from eigentext.evaluate import brackets
    >>> gold = "(S (NP (PRP she)) (VP (VBD saw) (NP (NNS stars)) (PP (IN at) (NP (NN night)))))"
    >>> predicted = "(S (NP (PRP she)) (VP (VBD saw) (NP (NNS stars) (PP (IN at) (NN night)))))"
    >>> result = brackets([gold], [predicted])
    >>> result.matched, result.gold, result.predicted
    (4, 6, 5)
    >>> print(f"{result.precision:.2f} {result.recall:.2f} {result.f1:.2f}")
    0.80 0.67 0.73
    """
    gold_trees, predicted_trees = _listed(gold_trees), _listed(predicted_trees)
    if len(gold_trees) != len(predicted_trees):
        raise ParameterError(
            f"there are {len(gold_trees)} gold trees and {len(predicted_trees)} predicted ones; "
            "give one for each sentence, or None for a sentence without a parse"
        )
    return BracketResult(
        tuple(
            _score(_analysis(gold, "gold", number), _analysis(predicted, "predicted", number))
            for number, (gold, predicted) in enumerate(zip(gold_trees, predicted_trees), start=1)
        )
    )


class _Analysis(NamedTuple):
    """A tree without traces. A bracket is (label, start, end), where `end` is exclusive."""

    words: list[str]
    tags: list[str]
    brackets: list[tuple[str, int, int]]


def _listed(trees: Any) -> list[Any]:
    if isinstance(trees, (str, Tree)):
        raise ParameterError(
            "this is a single tree; give lists of trees, such as read_trees returns"
        )
    return list(trees)


def _analysis(tree: Any, which: str, number: int) -> _Analysis:
    words: list[str] = []
    tags: list[str] = []
    found: list[tuple[str, int, int]] = []
    if tree is None and which == "predicted":
        return _Analysis(words, tags, found)
    try:
        stack: list[Any] = [as_tree(tree)]
    except EigentextError as error:
        raise type(error)(f"{which} tree {number}: {error}") from error
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):  # the end of a constituent
            label, start = node
            if start < len(words):
                found.append((label, start, len(words)))
        elif isinstance(node, str):
            words.append(node)
            tags.append("")
        elif not node.is_preterminal:
            if label := _scored_label(node.label):
                stack.append((label, len(words)))
            stack.extend(reversed(node.children))
        elif node.label != TRACE:
            words.append(node.children[0])
            tags.append(without_functions(node.label))
    if not words and which == "gold":
        raise CorpusError(f"gold tree {number} has no words; leave it out of both lists")
    return _Analysis(words, tags, found)


@lru_cache(maxsize=1 << 12)
def _scored_label(label: str) -> str:
    """Return the label that a constituent counts as, or "" if it is a root."""
    label = without_functions(label)
    return "" if label in ROOTS else _SAME.get(label, label)


def _score(gold: _Analysis, predicted: _Analysis) -> SentenceScore:
    is_kept = [tag not in PUNCTUATION for tag in gold.tags]
    border = list(accumulate(is_kept, initial=0))  # the place of each word without punctuation
    right = _counted(gold.brackets, border)
    length, n_words = len(gold.words), border[-1]
    if not _are_same(gold.words, predicted.words):
        return SentenceScore(length, right.total(), 0, 0, 0, n_words, 0, failed=True)
    found = _counted(predicted.brackets, border)
    spans = {(start, end) for _, start, end in right}
    crossing = sum(
        times
        for (_, start, end), times in found.items()
        if (start, end) not in spans
        and any(a < start < b < end or start < a < end < b for a, b in spans)
    )
    tagged = sum(
        kept and a == b for kept, a, b in zip(is_kept, gold.tags, predicted.tags, strict=True)
    )
    matched = (right & found).total()
    counts = right.total(), found.total(), matched, crossing
    return SentenceScore(length, *counts, n_words, tagged, failed=False)


def _counted(found: Sequence[tuple[str, int, int]], border: Sequence[int]) -> Counter:
    moved = ((label, border[start], border[end]) for label, start, end in found)
    return Counter(bracket for bracket in moved if bracket[1] < bracket[2])


def _are_same(a: list[str], b: list[str]) -> bool:
    return a == b or list(map(without_brackets, a)) == list(map(without_brackets, b))
