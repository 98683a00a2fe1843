r"""Chunks: which of the right ones does a tagger find?

A chunk is a type over a span of tokens, written as tags: B-X begins a chunk of type X, I-X goes on
with one, O is outside of all. With M chunks that both have, of G right and P predicted ones,

.. math:: \text{precision} = M / P, \qquad \text{recall} = M / G, \qquad F_1 = \frac{2M}{G + P}

The rules are those of conlleval, the program of the CoNLL tasks: I-X after O, or after a chunk of
another type, begins a chunk. L-X or E-X ends a chunk, and U-X or S-X is a whole one (BILOU, IOBES;
see :mod:`eigentext.corpus.schemes`).
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from eigentext.corpus.schemes import Span, spans
from eigentext.errors import CorpusError, ParameterError

TITLES = "  {:>8}  {:>9}  {:>9}  {:>6}  {:>6}".format(
    "right", "predicted", "precision", "recall", "F1"
)


@dataclass(frozen=True, repr=False)
class Chunks:
    """The scores of taggings: shares from 0 to 1, nan where there is nothing to divide by."""

    n_gold: int
    n_predicted: int
    n_right: int  # chunks that both have
    n_tokens: int = 0
    n_right_tags: int = 0
    by_type: dict[str, "Chunks"] = field(default_factory=dict)  # of chunks alone, not of tags

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
        """Plain data for JSON, where nan is None."""
        values = {name: getattr(self, name) for name in ("precision", "recall", "f1", "accuracy")}
        counts = ("n_gold", "n_predicted", "n_right", "n_tokens", "n_right_tags")
        numbers = {name: None if math.isnan(value) else value for name, value in values.items()}
        types = {name: part.to_dict() for name, part in self.by_type.items()}
        return numbers | {name: getattr(self, name) for name in counts} | {"by_type": types}

    def __str__(self) -> str:
        parts = {**self.by_type, "all": self}
        width = max(10, *map(len, parts))
        rows = [f"{name:<{width}}{part._row()}" for name, part in parts.items()]
        last = f"tags: {self.accuracy:.2%} of {self.n_tokens:,} right"
        return "\n".join([f"{'type':<{width}}{TITLES}", *rows, last])

    def __repr__(self) -> str:
        return f"Chunks(F1 {self.f1:.2%} over {self.n_gold:,} chunks)"

    def _row(self) -> str:
        return (
            f"  {self.n_gold:>8,}  {self.n_predicted:>9,}  {100 * self.precision:9.2f}  "
            f"{100 * self.recall:6.2f}  {100 * self.f1:6.2f}"
        )


def chunks(gold: Iterable[Any], predicted: Iterable[Any], *, scheme: str = "bio") -> Chunks:
    """Score predicted taggings against the right ones, by conlleval's rules (see above).

    Parameters
    ----------
    gold, predicted
        Lists of sentences; a sentence is a list of tags, or of tuples that end in one, such as
        (word, tag).
    scheme : "bio"
        B-, I- and O, also with L- and U-, or E- and S-.

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


def chunk_spans(tags: Sequence[Any]) -> list[Span]:
    """The chunks of a sentence, as (type, start, end): tokens ``start`` to ``end - 1``.

    Examples
    --------
    >>> chunk_spans(["B-NP", "I-NP", "B-NP", "O", "I-VP"])
    [('NP', 0, 2), ('NP', 2, 3), ('VP', 4, 5)]
    """
    return spans(_tags(tags))


def paired_tags(
    gold: Iterable[Any], predicted: Iterable[Any]
) -> Iterator[tuple[list[Any], list[Any]]]:
    """The right and the predicted tags of each sentence, if there are as many."""
    gold, predicted = _listed(gold), _listed(predicted)
    if len(gold) != len(predicted):
        raise ParameterError(
            f"{len(gold)} gold sentences and {len(predicted)} predicted ones; give one for each"
        )
    for number, (right, found) in enumerate(zip(map(_tags, gold), map(_tags, predicted)), start=1):
        if len(right) != len(found):
            raise ParameterError(
                f"sentence {number}: {len(right)} gold tags and {len(found)} predicted ones"
            )
        yield right, found


def _listed(sentences: Any) -> list[Any]:
    if isinstance(sentences, str) or not isinstance(sentences, Iterable):
        raise ParameterError("give lists of sentences, each a list of tags")
    return list(sentences)


def _tags(sentence: Any) -> list[str]:
    """The tags of a sentence, whose tokens may be tuples that end in them."""
    if isinstance(sentence, str):
        raise ParameterError(f"a sentence is a list of tags, not a string: {sentence[:40]!r}")
    return [token if isinstance(token, str) else token[-1] for token in sentence]
