r"""Tags that were found without labels: do they agree with the right ones?

A model without labels gives each token a tag with a name of its own, so tags cannot be compared by
name. Let :math:`n_{kc}` be the number of tokens with the found tag k and the right tag c. Then

.. math::
    \text{many-to-one} = \frac1n \sum_k \max_c n_{kc}, \qquad
    \text{one-to-one} = \frac1n \max_\sigma \sum_k n_{k\sigma(k)},

where :math:`\sigma` gives each found tag a right tag of its own. Many-to-one never falls if a found
tag is split, so only models with the same number of tags can be compared by it. The V-measure
(Rosenberg and Hirschberg 2007) is the harmonic mean of homogeneity :math:`1 - H(C|K)/H(C)` and
completeness :math:`1 - H(K|C)/H(K)`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from eigentext import notebook
from eigentext.corpus.table_output import as_pandas
from eigentext.errors import CorpusError, ParameterError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


@dataclass(frozen=True, repr=False, eq=False)
class InducedTags:
    """The agreement of found tags with the right ones.

    Attributes
    ----------
    gold, predicted : list of str
        The right tags and the found ones, sorted.
    counts : array, shape (found, right)
        The tokens with each pair of tags.
    """

    gold: list[str]
    predicted: list[str]
    counts: np.ndarray

    @property
    def n_tokens(self) -> int:
        """The number of tokens."""
        return int(self.counts.sum())

    @property
    def mapping(self) -> dict[str, str]:
        """The right tag that each found tag has most often."""
        best = self.counts.argmax(axis=1)
        return {name: self.gold[c] for name, c in zip(self.predicted, best.tolist())}

    @property
    def many_to_one(self) -> float:
        """The share of right tokens if each found tag stands for its most frequent right tag."""
        return float(self.counts.max(axis=1).sum() / self.counts.sum())

    @property
    def one_to_one(self) -> float:
        """The share of right tokens if no two found tags stand for the same right tag."""
        from scipy.optimize import linear_sum_assignment

        rows, columns = linear_sum_assignment(self.counts, maximize=True)
        return float(self.counts[rows, columns].sum() / self.counts.sum())

    @property
    def homogeneity(self) -> float:
        """How little is unknown about the right tag if the found one is known. 1 is best."""
        return self._explained(1)

    @property
    def completeness(self) -> float:
        """How little is unknown about the found tag if the right one is known. 1 is best."""
        return self._explained(0)

    @property
    def v_measure(self) -> float:
        """The harmonic mean of homogeneity and completeness."""
        h, c = self.homogeneity, self.completeness
        return 2 * h * c / (h + c) if h + c > 0 else 0.0

    def _explained(self, axis: int) -> float:
        whole = _entropy(self.counts.sum(axis=1 - axis))
        rest = _entropy(self.counts.ravel()) - _entropy(self.counts.sum(axis=axis))
        return 1 - rest / whole if whole > 0 else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        names = ("n_tokens", "many_to_one", "one_to_one", "homogeneity", "completeness")
        return {name: getattr(self, name) for name in (*names, "v_measure", "mapping")}

    def to_arrow(self) -> "pa.Table":
        """Return a table of Arrow with a row for each found tag."""
        import pyarrow as pa

        best = self.counts.argmax(axis=1)
        tokens = self.counts.sum(axis=1)
        return pa.table(
            {
                "tag": self.predicted,
                "n_tokens": tokens.tolist(),
                "gold": [self.gold[c] for c in best.tolist()],
                "share": (self.counts.max(axis=1) / np.maximum(tokens, 1)).tolist(),
            }
        )

    def to_pandas(self) -> "pd.DataFrame":
        """Return a data frame of pandas with a row for each found tag."""
        return as_pandas(self.to_arrow())

    def _rows(self) -> list[tuple[str, int, str, float]]:
        table = self.to_arrow().to_pydict()
        rows = list(zip(*(table[name] for name in ("tag", "n_tokens", "gold", "share"))))
        return sorted(rows, key=lambda row: (-row[1], row[0]))

    def __str__(self) -> str:
        width = max(10, *map(len, self.predicted))
        lines = [f"{'tag':<{width}}    tokens  right tag   share"]
        for tag, n, gold, share in self._rows():
            lines.append(f"{tag:<{width}}  {n:>8,}  {gold:<9}  {share:6.1%}")
        return "\n".join([*lines, self._summary()])

    def _summary(self) -> str:
        return (
            f"many-to-one {self.many_to_one:.2%}, one-to-one {self.one_to_one:.2%}, "
            f"V-measure {self.v_measure:.2%} of {self.n_tokens:,} tokens"
        )

    def _repr_html_(self) -> str:
        rows = [(tag, n, gold, notebook.percent(share)) for tag, n, gold, share in self._rows()]
        table = notebook.table(("tag", "tokens", "right tag", "share"), rows)
        return notebook.result(f"Tags without labels: {self._summary()}", table)

    def __repr__(self) -> str:
        return f"InducedTags({self._summary()})"


def induced_tags(gold: Iterable[Any], predicted: Iterable[Any]) -> InducedTags:
    """Compare tags that were found without labels with the right ones.

    Parameters
    ----------
    gold, predicted
        Lists of sentences, or one flat list of tags each. A sentence is a list of tags, or of
        tuples that end with the tag, such as (word, tag). Tags are strings or integers.

    Examples
    --------
    >>> from eigentext.evaluate import induced_tags
    >>> found = induced_tags([["D", "N", "V"], ["D", "N"]], [[0, 1, 1], [0, 1]])
    >>> found.many_to_one, found.mapping
    (0.8, {'0': 'D', '1': 'N'})
    """
    right, found = _paired(gold, predicted)
    names, rows = np.unique(np.array(found, dtype=str), return_inverse=True)
    tags, columns = np.unique(np.array(right, dtype=str), return_inverse=True)
    counts = np.zeros((len(names), len(tags)), np.int64)
    np.add.at(counts, (rows, columns), 1)
    return InducedTags(tags.tolist(), names.tolist(), counts)


def many_to_one(gold: Iterable[Any], predicted: Iterable[Any]) -> float:
    """Return the share of right tokens if each found tag stands for its most frequent right tag.

    The arguments are those of :func:`induced_tags`.

    Examples
    --------
    >>> from eigentext.evaluate import many_to_one
    >>> many_to_one(["D", "N", "V", "N"], ["a", "b", "b", "b"])
    0.75
    """
    return induced_tags(gold, predicted).many_to_one


def v_measure(gold: Iterable[Any], predicted: Iterable[Any]) -> float:
    """Return the V-measure of found tags, from 0 to 1.

    The arguments are those of :func:`induced_tags`.

    Examples
    --------
    >>> from eigentext.evaluate import v_measure
    >>> v_measure(["D", "N", "N"], [1, 0, 0]), v_measure(["D", "N"], [0, 0])
    (1.0, 0.0)
    """
    return induced_tags(gold, predicted).v_measure


def _paired(gold: Iterable[Any], predicted: Iterable[Any]) -> tuple[list[str], list[str]]:
    """The tags of all tokens. Raise ParameterError if the numbers of tags differ."""
    sides = [_listed(gold), _listed(predicted)]
    are_flat = [all(_is_tag(one) for one in side) for side in sides]
    if not sides[0] and not sides[1]:
        raise CorpusError("there are no tags to compare")
    if are_flat[0] != are_flat[1]:
        raise ParameterError(
            "one side is a flat list of tags and the other a list of sentences; "
            "give both in the same form"
        )
    if are_flat[0]:
        sides = [[side] for side in sides]
    if len(sides[0]) != len(sides[1]):
        raise ParameterError(
            f"there are {len(sides[0])} gold sentences and {len(sides[1])} predicted ones; "
            "give one predicted sentence for each gold sentence"
        )
    right: list[str] = []
    found: list[str] = []
    for number, (a, b) in enumerate(zip(*sides), start=1):
        a, b = _tags(a), _tags(b)
        if len(a) != len(b):
            where = "" if are_flat[0] else f"sentence {number}: "
            raise ParameterError(
                f"{where}{len(a)} gold tags and {len(b)} predicted ones; "
                "give one predicted tag for each token"
            )
        right += a
        found += b
    if not right:
        raise CorpusError("there are no tags to compare")
    return right, found


def _listed(side: Iterable[Any]) -> list[Any]:
    if isinstance(side, str) or not isinstance(side, Iterable):
        raise ParameterError("give lists of tags, or lists of sentences of tags")
    return list(side)


def _is_tag(one: Any) -> bool:
    return isinstance(one, (str, int, np.integer))


def _tags(sentence: Any) -> list[str]:
    if isinstance(sentence, str) or not isinstance(sentence, Iterable):
        raise ParameterError(f"a sentence is a list of tags, not {str(sentence)[:40]!r}")
    return [str(one if _is_tag(one) else _last(one)) for one in sentence]


def _last(token: Any) -> Any:
    if not isinstance(token, Sequence) or not token:
        raise ParameterError(f"a token is a tag or a tuple that ends with one, not {token!r}")
    return token[-1]


def _entropy(counts: np.ndarray) -> float:
    p = counts[counts > 0] / counts.sum()
    return float(-(p * np.log(p)).sum())
