"""Tags: how many tokens get the right tag from a tagger?"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from eigentext import notebook
from eigentext.corpus.table_output import as_pandas
from eigentext.evaluate.chunks import TITLES, Tagging, paired_tags, score_table

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


@dataclass(frozen=True, repr=False)
class Tags:
    """The scores of taggings, or of one tag: shares from 0 to 1, or nan if the divisor is 0."""

    n_gold: int
    n_predicted: int
    n_right: int
    by_tag: dict[str, "Tags"] = field(default_factory=dict)

    @property
    def accuracy(self) -> float:
        """The share of tokens with the right tag. For one tag, this is its recall."""
        return self.n_right / (self.n_gold or math.nan)

    @property
    def precision(self) -> float:
        """The share of predicted tags that are right."""
        return self.n_right / (self.n_predicted or math.nan)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall. For all tags, this is the accuracy."""
        return 2 * self.n_right / (self.n_gold + self.n_predicted or math.nan)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON. None stands for nan."""
        shares = {name: getattr(self, name) for name in ("accuracy", "precision", "f1")}
        shares = {name: None if math.isnan(value) else value for name, value in shares.items()}
        counts = {name: getattr(self, name) for name in ("n_gold", "n_predicted", "n_right")}
        return (
            shares | counts | {"by_tag": {tag: one.to_dict() for tag, one in self.by_tag.items()}}
        )

    def to_arrow(self) -> "pa.Table":
        """Return a table of Arrow with a row for each tag. Its recall is its accuracy."""
        return score_table("tag", self.by_tag, ("precision", "accuracy", "f1"))

    def to_pandas(self) -> "pd.DataFrame":
        """Return a data frame of pandas with a row for each tag."""
        return as_pandas(self.to_arrow())

    def __str__(self) -> str:
        width = max(10, *map(len, self.by_tag or [""]))
        rows = [
            f"{tag:<{width}}  {one.n_gold:>8,}  {one.n_predicted:>9,}  {100 * one.precision:9.2f}  "
            f"{100 * one.accuracy:6.2f}  {100 * one.f1:6.2f}"
            for tag, one in self.by_tag.items()
        ]
        last = f"tags: {self.accuracy:.2%} of {self.n_gold:,} right"
        return "\n".join([f"{'tag':<{width}}{TITLES}", *rows, last])

    def _repr_html_(self) -> str:
        rows = [
            (
                tag,
                one.n_gold,
                one.n_predicted,
                *map(notebook.percent, (one.precision, one.accuracy, one.f1)),
            )
            for tag, one in self.by_tag.items()
        ]
        table = notebook.table(("tag", *TITLES.split()), rows) if rows else ""
        title = f"Tags: {self.accuracy:.2%} of {self.n_gold:,} are right"
        return notebook.result(title, table)

    def __repr__(self) -> str:
        return f"Tags({self.accuracy:.2%} of {self.n_gold:,} right)"


def tags(gold: Iterable[Tagging], predicted: Iterable[Tagging]) -> Tags:
    """Score predicted taggings against the right ones, token by token.

    Parameters
    ----------
    gold, predicted
        Lists of sentences. A sentence is a list of tags, or of tuples that end with the tag, such
        as (word, tag).

    Examples
    --------
    >>> from eigentext.evaluate import tags
    >>> result = tags([["D", "N", "V"]], [["D", "N", "N"]])
    >>> round(result.accuracy, 3), result.by_tag["N"].precision
    (0.667, 0.5)
    """
    n_gold, n_predicted, n_right = Counter(), Counter(), Counter()
    for right, found in paired_tags(gold, predicted):
        n_gold.update(right)
        n_predicted.update(found)
        n_right.update(a for a, b in zip(right, found) if a == b)
    by_tag = {
        tag: Tags(n_gold[tag], n_predicted[tag], n_right[tag])
        for tag in sorted(n_gold | n_predicted)
    }
    return Tags(n_gold.total(), n_predicted.total(), n_right.total(), by_tag)
