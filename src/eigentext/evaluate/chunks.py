r"""Chunks: which of the right chunks does a tagger find?

A chunk is a span of tokens with a type. Tags describe it: B-X begins a chunk of type X, I-X
continues it, and O is outside of all chunks. Let G be the number of right chunks, P the number of
predicted chunks, and M the number of chunks that are in both. Then

.. math:: \text{precision} = M / P, \qquad \text{recall} = M / G, \qquad F_1 = \frac{2M}{G + P}.

The rules are those of conlleval, the program of the CoNLL tasks: I-X also begins a chunk if it
follows O or a chunk of another type. L-X or E-X ends a chunk, and U-X or S-X is a chunk of one
token (BILOU and IOBES; see :mod:`eigentext.corpus.schemes`).
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from eigentext import notebook
from eigentext.corpus.schemes import Span, spans
from eigentext.corpus.table_output import as_pandas
from eigentext.errors import CorpusError, ParameterError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Tagging = Iterable[str | Sequence[str]]  # tags, or tokens that end with their tag
TITLES = "  {:>8}  {:>9}  {:>9}  {:>6}  {:>6}".format(
    "right", "predicted", "precision", "recall", "F1"
)


@dataclass(frozen=True, repr=False)
class Chunks:
    """The scores of taggings: shares from 0 to 1, or nan if the divisor is 0."""

    n_gold: int
    n_predicted: int
    n_right: int  # chunks that are in both
    n_tokens: int = 0
    n_right_tags: int = 0
    by_type: dict[str, "Chunks"] = field(default_factory=dict)  # without tokens and tags

    @property
    def precision(self) -> float:
        """The share of predicted chunks that are right."""
        return self.n_right / (self.n_predicted or math.nan)

    @property
    def recall(self) -> float:
        """The share of right chunks that were predicted."""
        return self.n_right / (self.n_gold or math.nan)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.n_right / (self.n_gold + self.n_predicted or math.nan)

    @property
    def accuracy(self) -> float:
        """The share of tokens with the right tag."""
        return self.n_right_tags / (self.n_tokens or math.nan)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON. None stands for nan."""
        values = {name: getattr(self, name) for name in ("precision", "recall", "f1", "accuracy")}
        counts = ("n_gold", "n_predicted", "n_right", "n_tokens", "n_right_tags")
        numbers = {name: None if math.isnan(value) else value for name, value in values.items()}
        types = {name: part.to_dict() for name, part in self.by_type.items()}
        return numbers | {name: getattr(self, name) for name in counts} | {"by_type": types}

    def to_arrow(self) -> "pa.Table":
        """Return a table of Arrow with a row for each type of chunks."""
        return score_table("type", self.by_type, ("precision", "recall", "f1"))

    def to_pandas(self) -> "pd.DataFrame":
        """Return a data frame of pandas with a row for each type of chunks."""
        return as_pandas(self.to_arrow())

    def __str__(self) -> str:
        parts = {**self.by_type, "all": self}
        width = max(10, *map(len, parts))
        rows = [f"{name:<{width}}{part._row()}" for name, part in parts.items()]
        last = f"tags: {self.accuracy:.2%} of {self.n_tokens:,} right"
        return "\n".join([f"{'type':<{width}}{TITLES}", *rows, last])

    def __repr__(self) -> str:
        return f"Chunks(F1 {self.f1:.2%} over {self.n_gold:,} chunks)"

    def _repr_html_(self) -> str:
        rows = [
            (
                name,
                one.n_gold,
                one.n_predicted,
                *map(notebook.percent, (one.precision, one.recall, one.f1)),
            )
            for name, one in {**self.by_type, "all": self}.items()
        ]
        last = f"{self.accuracy:.2%} of {self.n_tokens:,} tags are right" if self.n_tokens else ""
        table = notebook.table(("type", *TITLES.split()), rows, last=last)
        return notebook.result("Chunks, in percent", table)

    def _row(self) -> str:
        return (
            f"  {self.n_gold:>8,}  {self.n_predicted:>9,}  {100 * self.precision:9.2f}  "
            f"{100 * self.recall:6.2f}  {100 * self.f1:6.2f}"
        )


def chunks(gold: Iterable[Tagging], predicted: Iterable[Tagging], *, scheme: str = "bio") -> Chunks:
    """Score predicted taggings against the right ones, by conlleval's rules.

    Parameters
    ----------
    gold, predicted
        Lists of sentences. A sentence is a list of tags, or of tuples that end with the tag, such
        as (word, tag).
    scheme : "bio"
        Tags that begin with B- or I-, and O. L- and U-, or E- and S-, are allowed too.

    Examples
    --------
    >>> from eigentext.evaluate import chunks
    >>> result = chunks([["B-NP", "I-NP", "O", "B-NP"]], [["B-NP", "I-NP", "B-VP", "I-NP"]])
    >>> result.n_right, result.n_predicted, result.accuracy
    (2, 3, 0.5)
    >>> print(f"{result.f1:.2f}")
    0.80
    """
    if scheme != "bio":
        raise ParameterError(f"scheme must be 'bio', not {scheme!r}")
    n_gold, n_predicted, n_right = Counter(), Counter(), Counter()
    n_tokens = n_right_tags = 0
    for number, (right, found) in enumerate(paired_tags(gold, predicted), start=1):
        n_tokens += len(right)
        n_right_tags += sum(a == b for a, b in zip(right, found))
        try:
            a, b = spans(right), spans(found)
        except CorpusError as error:
            raise CorpusError(f"sentence {number}, {error}") from error
        n_gold.update(kind for kind, _, _ in a)
        n_predicted.update(kind for kind, _, _ in b)
        n_right.update(kind for kind, _, _ in set(a) & set(b))
    by_type = {
        kind: Chunks(n_gold[kind], n_predicted[kind], n_right[kind])
        for kind in sorted(n_gold | n_predicted)
    }
    return Chunks(
        *(n_gold.total(), n_predicted.total(), n_right.total()), n_tokens, n_right_tags, by_type
    )


def score_table(title: str, parts: Mapping[str, Any], shares: Sequence[str]) -> "pa.Table":
    """Return a table of Arrow with a row for each part: its name, counts and shares."""
    import pyarrow as pa

    columns: dict[str, Any] = {title: pa.array(list(parts), pa.string())}
    for name in ("n_gold", "n_predicted", "n_right"):
        columns[name] = pa.array([getattr(one, name) for one in parts.values()], pa.int64())
    for name in shares:
        columns[name] = pa.array([getattr(one, name) for one in parts.values()], pa.float64())
    return pa.table(columns)


def chunk_spans(tags: Tagging) -> list[Span]:
    """Return the chunks of a sentence as (type, start, end): tokens ``start`` to ``end - 1``.

    Examples
    --------
    >>> chunk_spans(["B-NP", "I-NP", "B-NP", "O", "I-VP"])
    [('NP', 0, 2), ('NP', 2, 3), ('VP', 4, 5)]
    """
    return spans(_tags(tags))


def paired_tags(
    gold: Iterable[Tagging], predicted: Iterable[Tagging]
) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the right and the predicted tags of each sentence.

    Raise ParameterError if the numbers of sentences or of tags differ.
    """
    gold, predicted = _listed(gold), _listed(predicted)
    if len(gold) != len(predicted):
        raise ParameterError(
            f"there are {len(gold)} gold sentences and {len(predicted)} predicted ones; "
            "give one predicted sentence for each gold sentence"
        )
    for number, (right, found) in enumerate(zip(map(_tags, gold), map(_tags, predicted)), start=1):
        if len(right) != len(found):
            raise ParameterError(
                f"sentence {number}: {len(right)} gold tags and {len(found)} predicted ones; "
                "give one predicted tag for each token"
            )
        yield right, found


def _listed(sentences: Iterable[Tagging]) -> list[Tagging]:
    if isinstance(sentences, str) or not isinstance(sentences, Iterable):
        raise ParameterError("give lists of sentences; each sentence is a list of tags")
    return list(sentences)


def _tags(sentence: Tagging) -> list[str]:
    """Return the tags of a sentence, whose tokens may be tuples that end with the tag."""
    if isinstance(sentence, str):
        raise ParameterError(f"a sentence is a list of tags, not a string: {sentence[:40]!r}")
    return [token if isinstance(token, str) else token[-1] for token in sentence]
