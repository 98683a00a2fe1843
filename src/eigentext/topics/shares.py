r"""Shares of topics over time, or by group, with intervals.

The share of a topic in a group of documents is a mean of their proportions,

.. math:: m = \frac{\sum_i u_i \theta_{ik}}{\sum_i u_i},

with equal weights u (``weights="documents"``), or with the number of known words
(``weights="words"``), so that it is the share of the text. Its standard error is from the variance
between documents,

.. math:: s^2 = \frac{n}{n - 1} \frac{\sum_i u_i^2 (\theta_{ik} - m)^2}{(\sum_i u_i)^2}.

The interval is that of Student's t on the scale of :math:`\log m / (1 - m)`, so that it stays
between 0 and 1. It says how well a mean over such documents is known. It takes the topics as
given, and it is too narrow for a topic that only very few documents of a group have. Documents
without known words have no say.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from eigentext.corpus.table_output import as_pandas
from eigentext.errors import CorpusError, ParameterError
from eigentext.estimators import check_is_fitted
from eigentext.parameters import Choice, Number, argument

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from matplotlib.axes import Axes

    from eigentext.topics.model import TopicModel

Period = Literal["year", "month", "week", "day", "auto"]
Weights = Literal["documents", "words"]
PERIODS = ("day", "week", "month", "year")
_MOST_PERIODS = 40  # "auto" takes the finest period with no more than so many
_FEW = 10  # documents of a group that is called small
_SHOWN = 8  # topics in a figure or a notebook
_TINY = 1e-12
_YEAR_OR_MONTH = re.compile(r"(\d{4})(?:-(\d{1,2}))?")


@dataclass(frozen=True, eq=False)
class GroupShares:
    """Shares of topics by group; see :func:`shares_by`.

    Attributes
    ----------
    groups : list of str
        The labels or the periods, sorted.
    starts : list of date, or None
        The first day of each period.
    shares, low, high : arrays, shape (groups, K)
        The mean shares, and the ends of their intervals: NaN for a group with a single document.
    errors : array, shape (groups, K)
        The standard errors of the shares.
    n_documents, n_words : int arrays, shape (groups,)
        Documents with known words, and these words.
    n_left_out : int
        Documents without known words.
    few : bool array, shape (groups,)
        Groups of fewer than ten documents. Do not make much of them.
    """

    groups: list[str]
    starts: list[date] | None
    shares: np.ndarray
    low: np.ndarray
    high: np.ndarray
    errors: np.ndarray
    n_documents: np.ndarray
    n_words: np.ndarray
    n_left_out: int
    few: np.ndarray
    level: float
    gists: list[str]

    def to_arrow(self) -> "pa.Table":
        """Return a table with a row for each group and topic.

        Columns: group, start (of periods), topic, share, low, high, documents, words, few.
        """
        import pyarrow as pa

        G, K = self.shares.shape
        rows = np.repeat(np.arange(G), K)
        columns: dict[str, Any] = {"group": pa.array(self.groups, pa.string()).take(pa.array(rows))}
        if self.starts is not None:
            columns["start"] = pa.array(self.starts, pa.date32()).take(pa.array(rows))
        columns["topic"] = pa.array(np.tile(np.arange(K), G))
        for name in ("share", "low", "high"):
            values = getattr(self, "shares" if name == "share" else name).ravel()
            columns[name] = pa.array(values, mask=np.isnan(values))
        columns["documents"] = pa.array(self.n_documents[rows])
        columns["words"] = pa.array(self.n_words[rows])
        columns["few"] = pa.array(self.few[rows])
        return pa.table(columns)

    def to_pandas(self) -> "pd.DataFrame":
        """Return the same table as a data frame of pandas."""
        return as_pandas(self.to_arrow())

    def difference(self, first: Any, second: Any) -> "ShareDifferences":
        """Compare two groups: the share of each topic in the first minus that in the second.

        The test is that of Welch, which does not take the variances to be equal.
        """
        from scipy.stats import t

        a, b = self._place(first), self._place(second)
        n = self.n_documents[[a, b]]
        if (n < 2).any():
            small = self.groups[(a, b)[int(n.argmin())]]
            raise CorpusError(
                f"group {small!r} has a single document, so that nothing is known about its "
                "variance; compare larger groups, or choose a longer period"
            )
        gain = self.shares[a] - self.shares[b]
        variances = self.errors[[a, b]] ** 2
        total = variances.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            df = total**2 / (variances**2 / (n - 1)[:, None]).sum(axis=0)
            p = 2 * t.sf(np.abs(gain) / np.sqrt(total), df)
        certain = total <= 0
        df[certain], p[certain] = n.sum() - 2, np.where(gain[certain] == 0, 1.0, 0.0)
        reach = t.ppf((1 + self.level) / 2, df) * np.sqrt(total)
        return ShareDifferences(gain, gain - reach, gain + reach, p, _adjusted(p), self.gists)

    def plot(self, topics: Sequence[int] | None = None, *, ax: "Axes | None" = None) -> "Axes":
        """Draw the shares with bands: those of `topics`, or of the largest eight.

        Periods are on an axis of time, and labels beside each other.
        """
        from eigentext import plots

        K = self.shares.shape[1]
        if topics is None:
            order = np.argsort(-np.nan_to_num(self.shares).max(axis=0), kind="stable")
            topics = sorted(order[:_SHOWN].tolist())
        if not all(0 <= k < K for k in topics):
            raise ParameterError(f"topics are numbers from 0 to {K - 1}, not {list(topics)}")
        series = {
            f"{k} {self.gists[k]}": (self.shares[:, k], self.low[:, k], self.high[:, k])
            for k in topics
        }
        return plots.bands(self.starts or self.groups, series, ylabel="share", ax=ax)

    def __repr__(self) -> str:
        return f"GroupShares({len(self.groups)} groups, {self.shares.shape[1]} topics)"

    def _repr_html_(self) -> str:
        from eigentext import notebook

        order = np.argsort(-self.shares.max(axis=0), kind="stable")[:_SHOWN].tolist()
        rows = [
            (group, int(n), *(notebook.percent(float(self.shares[g, k])) for k in order))
            for g, (group, n) in enumerate(zip(self.groups, self.n_documents))
        ]
        heads = ("group", "documents", *(f"{k} {self.gists[k]}" for k in order))
        return notebook.result("Shares of topics, in percent", notebook.table(heads, rows))

    def _place(self, group: Any) -> int:
        if (name := str(group)) not in self.groups:
            some = ", ".join(self.groups[:8]) + ", …" * (len(self.groups) > 8)
            raise ParameterError(f"no group {name!r}; there are {some}")
        return self.groups.index(name)


@dataclass(frozen=True, eq=False)
class ShareDifferences:
    """How two groups differ, for each topic; see :meth:`GroupShares.difference`.

    Attributes
    ----------
    difference, low, high : arrays, shape (K,)
        The difference of the shares, and its interval.
    p : array, shape (K,)
        The p-value of no difference, for each topic by itself.
    adjusted_p : array, shape (K,)
        The same for all topics together, by the method of Holm: with many topics, a few small
        p-values are expected.
    """

    difference: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p: np.ndarray
    adjusted_p: np.ndarray
    gists: list[str]

    def to_arrow(self) -> "pa.Table":
        """Return a table with a row for each topic, the largest difference first."""
        import pyarrow as pa

        order = np.argsort(-np.abs(self.difference), kind="stable")
        columns = {name: pa.array(getattr(self, name)[order]) for name in _OF_DIFFERENCES}
        words = pa.array([self.gists[k] for k in order.tolist()], pa.string())
        return pa.table({"topic": pa.array(order), **columns, "words": words})

    def to_pandas(self) -> "pd.DataFrame":
        """Return the same table as a data frame of pandas."""
        return as_pandas(self.to_arrow())

    def __repr__(self) -> str:
        clear = int((self.adjusted_p < 0.05).sum())
        return f"ShareDifferences({len(self.p)} topics, {clear} with an adjusted p below 0.05)"


_OF_DIFFERENCES = ("difference", "low", "high", "p", "adjusted_p")


def shares_by(
    model: "TopicModel",
    documents: Any,
    by: Any,
    *,
    period: Period | None = None,
    weights: Weights = "documents",
    level: float = 0.95,
) -> GroupShares:
    """Return the shares of topics by group or by period; see the module.

    Parameters
    ----------
    model : TopicModel
        A fitted model.
    documents : as in ``model.transform``
        The documents.
    by : list, array or column of a table; or str
        A label or a date for each document. If documents are a TextCorpus of a table, the name of a
        column. Dates are ISO strings (2024-01-31, 2024-01, 2024), or dates of Python, NumPy, pandas
        or Arrow.
    period : "year", "month", "week", "day" or "auto", optional
        Group dates. "auto" takes the finest period that gives 40 groups or fewer. Without it,
        strings and numbers are labels, and dates are grouped as with "auto".
    weights : "documents" or "words"
        Whether each document counts the same, or each known word.
    level : float
        The level of the intervals.

    Examples
    --------
    >>> from eigentext import TopicModel
    >>> texts = ["ham eggs ham cheese", "eggs cheese ham eggs", "goal team goal match"] * 20
    >>> model = TopicModel(2).fit(texts)
    >>> found = shares_by(model, texts, ["food", "food", "sports"] * 20)
    >>> found.groups, found.shares.round(1)
    (['food', 'sports'], array([[0.9, 0.1],
           [0.1, 0.9]]))
    """
    from eigentext.corpus.text import TextCorpus
    from eigentext.topics.tables import counts_by

    check_is_fitted(model)
    level = argument("level", Number(0.95, above=0, below=1), level)
    weights = argument("weights", Choice("documents", of=("documents", "words")), weights)
    if period is not None:
        period = argument("period", Choice("auto", of=(*PERIODS, "auto")), period)
    if isinstance(by, str):
        if not isinstance(documents, TextCorpus) or documents.column is None:
            raise ParameterError(
                f"by={by!r} names a column, but the documents are not a table; give a label or a "
                "date for each document, or TextCorpus(path, column=…)"
            )
        counts, values, places = counts_by(model, documents, by)
    else:
        counts, values, places = model._counts(documents), _listed(by), None
    if len(values) != counts.shape[0]:
        raise ParameterError(
            f"{len(values)} labels for {counts.shape[0]} documents; give one for each"
        )
    groups, starts, codes = grouped(values, period, places)
    n_words = np.asarray(counts.sum(axis=1), float)
    known = n_words > 0
    if not known.any():
        raise CorpusError("no document has a word that the model knows; give other documents")
    theta = np.asarray(model.transform(counts[np.flatnonzero(known)]))
    u = n_words[known] if weights == "words" else np.ones(int(known.sum()))
    means = _means(theta, u, codes[known], len(groups), level)
    n = np.bincount(codes[known], minlength=len(groups))
    kept = np.flatnonzero(n)  # a group without known words has no shares
    total = np.bincount(codes[known], n_words[known], minlength=len(groups))
    return GroupShares(
        [groups[g] for g in kept],
        None if starts is None else [starts[g] for g in kept],
        *(part[kept] for part in means),
        n_documents=n[kept],
        n_words=total[kept].astype(np.int64),
        n_left_out=int((~known).sum()),
        few=n[kept] < _FEW,
        level=level,
        gists=[" ".join(words) for words in model.top_words(3)],
    )


def grouped(
    values: Sequence[Any], period: str | None, places: Sequence[str] | None = None
) -> tuple[list[str], list[date] | None, np.ndarray]:
    """Return the names of groups, the first days of periods, and the group of each value.

    `places` say where the values are from, for errors.

    Examples
    --------
    >>> grouped(["2024-03-05", "2024-01-31", "2024-03-06"], "month")[0]
    ['2024-01', '2024-03']
    """
    for row, value in enumerate(values):
        if value is None or value != value or value == "":
            raise CorpusError(
                f"{_place(row, places)} has no label or date; leave such documents out, or label "
                "them"
            )
    if period is None and values and all(isinstance(value, date) for value in values):
        period = "auto"
    if period is None:
        names = sorted(set(values), key=_sorting)
        numbers = {name: g for g, name in enumerate(names)}
        return [str(name) for name in names], None, np.array([numbers[v] for v in values], np.int64)
    days = [_as_date(value, row, places) for row, value in enumerate(values)]
    if period == "auto":
        counts = {name: len({_start(day, name) for day in days}) for name in PERIODS}
        period = next((name for name in PERIODS if counts[name] <= _MOST_PERIODS), "year")
    firsts = [_start(day, period) for day in days]
    starts = sorted(set(firsts))
    order = {start: g for g, start in enumerate(starts)}
    names = [_named(start, period) for start in starts]
    return names, starts, np.array([order[first] for first in firsts], np.int64)


def _means(
    theta: np.ndarray, u: np.ndarray, codes: np.ndarray, G: int, level: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The means of the groups, the ends of their intervals, and their standard errors."""
    from scipy.stats import t

    K = theta.shape[1]
    mean, low, high, error = (np.full((G, K), np.nan) for _ in range(4))
    order = np.argsort(codes, kind="stable")
    borders = np.searchsorted(codes[order], np.arange(G + 1))
    for g, (start, stop) in enumerate(pairwise(borders.tolist())):
        rows, n = order[start:stop], stop - start
        if n == 0:
            continue
        share = u[rows] / u[rows].sum()
        mean[g] = np.minimum(share @ theta[rows], 1)  # rounding may exceed 1
        if n == 1:
            continue
        variance = np.square(share) @ np.square(theta[rows] - mean[g]) * n / (n - 1)
        error[g] = np.sqrt(variance)
        inside = np.clip(mean[g], _TINY, 1 - _TINY)
        logit = np.log(inside / (1 - inside))
        reach = t.ppf((1 + level) / 2, n - 1) * error[g] / (inside * (1 - inside))
        low[g] = np.minimum(_logistic(logit - reach), mean[g])
        high[g] = np.maximum(_logistic(logit + reach), mean[g])
    return mean, low, high, error


def _logistic(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(np.clip(-x, -700, 700)))


def _adjusted(p: np.ndarray) -> np.ndarray:
    """The p-values of Holm: the least times their number, the next times one less, and so on."""
    order = np.argsort(p, kind="stable")
    found = np.empty_like(p)
    found[order] = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.minimum(found, 1.0)


def _listed(values: Any) -> list[Any]:
    """Labels or dates as a list of Python's own values."""
    if hasattr(values, "to_pylist"):  # Arrow
        return values.to_pylist()
    if not isinstance(values, Iterable):
        raise ParameterError(
            f"by must be a label or a date for each document, not {type(values).__name__}"
        )
    array = np.asarray(values) if hasattr(values, "__array__") else None
    if array is None:
        values = list(values)
        return [v.astype("M8[us]").item() if isinstance(v, np.datetime64) else v for v in values]
    if array.ndim != 1:
        raise ParameterError(f"by has the shape {array.shape}; give one label for each document")
    return array.astype("M8[us]").tolist() if array.dtype.kind == "M" else array.tolist()


def _place(row: int, places: Sequence[str] | None) -> str:
    return f"document {row}" if places is None else places[row]


def _as_date(value: Any, row: int, places: Sequence[str] | None) -> date:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    text = str(value).strip()
    try:
        if found := _YEAR_OR_MONTH.fullmatch(text):
            return date(int(found[1]), int(found[2] or 1), 1)
        return datetime.fromisoformat(text).date()
    except ValueError:
        raise CorpusError(
            f"{_place(row, places)}: {value!r} is not a date; write dates as 2024-01-31, "
            "2024-01 or 2024, or give dates of Python or pandas. Without a period, values are "
            "labels"
        ) from None


def _start(day: date, period: str) -> date:
    if period == "year":
        return date(day.year, 1, 1)
    if period == "month":
        return date(day.year, day.month, 1)
    if period == "week":
        return date.fromordinal(max(day.toordinal() - day.weekday(), 1))
    return day


def _named(start: date, period: str) -> str:
    if period == "year":
        return f"{start.year:04}"
    if period == "month":
        return f"{start.year:04}-{start.month:02}"
    if period == "week":
        year, week, _ = start.isocalendar()
        return f"{year:04}-W{week:02}"
    return start.isoformat()


def _sorting(value: Any) -> tuple[int, float, str]:
    """Numbers first and by size, and then other labels by their letters."""
    is_number = isinstance(value, (int, float))
    return (0, float(value), "") if is_number else (1, 0.0, str(value))
