r"""Compare the topics of two models: which are the same, which were split or merged, which are new.

The models may have other seeds, other numbers of topics, other documents or other words. Words are
compared by their names. Topics are compared as distributions over the words that both models know.

**Likeness** of two topics is the Hellinger affinity :math:`\sum_w \sqrt{p_w q_w}`. It is 1 if they
are equal, and 0 if they have no word in common. The pairs of topics with the largest sum of
likeness are found by an optimal assignment.

**How much is enough?** Topics that have nothing to do with each other still share common words. How
much is seen in the models themselves: the topics of one model are different topics. For each of
them, take the likeness of its nearest neighbor in its own model. The *threshold* is the quantile
0.95 of these numbers, from both models, but between 0.5 and 0.9: two topics match if they are more
alike than nearly all neighbors within a model are.

**Mixtures.** A topic q of one model that combines several topics :math:`p_i` of the other is
:math:`q = \sum_i \pi_i p_i`. Non-negative least squares gives the :math:`\pi_i`, with words divided
by the square root of their probability, as in :mod:`eigentext.topics.tensor`. It is a mixture if at
least two have a share of 0.2 or more, if the mixture of these is more like q than the threshold,
and if it removes at least a third of what the best single topic leaves (of one minus the likeness).
Then several old topics were *merged* into q. If a topic of the old model is such a mixture of new
ones, it was *split*.

What remains of the new model is *new*, and what remains of the old one is *gone*. A topic with less
than half of its mass on common words cannot be compared by them, so it is new or gone.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linear_sum_assignment, nnls

from eigentext import notebook
from eigentext.corpus.table_output import as_pandas
from eigentext.errors import EigentextError, ParameterError
from eigentext.estimators import check_is_fitted
from eigentext.parameters import Count, Number, argument

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from eigentext.topics.model import TopicModel

_QUANTILE = 0.95  # of the likeness of nearest neighbors within a model
_LEAST, _MOST = 0.5, 0.9  # the limits of the threshold
_SHARE = 0.2  # the least share of a part of a mixture
_BETTER = 2 / 3  # what a mixture may leave, of what the best single topic leaves
_COMMON = 0.5  # the least mass on common words
_CHANGED = 1e-3  # the least change of a word, of the squared Hellinger distance (at most 2)
_N_WORDS = Count(8, least=0)
_THRESHOLD = Number(None, least=0, most=1)


@dataclass(frozen=True)
class Match:
    """A topic that both models have."""

    a: int
    b: int
    likeness: float
    weight_a: float
    weight_b: float
    words: list[str]  # the top words in b
    gained: list[str]  # words that became more probable, those that changed most first
    lost: list[str]  # words that became less probable


@dataclass(frozen=True)
class Mixture:
    """A topic of one model that is a mixture of topics of the other."""

    topic: int
    parts: list[int]
    shares: list[float]  # of the parts, with the sum 1
    likeness: float  # of the topic and the mixture
    words: list[str]  # the top words of the topic


@dataclass(frozen=True)
class Alone:
    """A topic that the other model does not have."""

    topic: int
    weight: float
    nearest: int | None  # the most similar topic of the other model
    likeness: float
    common: float  # the share of its mass on words that both models know
    words: list[str]


@dataclass(frozen=True, repr=False)
class TopicComparison:
    """The result of :func:`compare`. Topics have their numbers in `a` and in `b`.

    Attributes
    ----------
    matched : list of Match
        Topics of both models: ``a``, ``b``, ``likeness``, ``weight_a``, ``weight_b``, ``words``,
        and the words that it ``gained`` and ``lost``.
    split : list of Mixture
        Topics of a that are several topics (``parts``) of b.
    merged : list of Mixture
        Topics of b that are several topics (``parts``) of a.
    new, gone : list of Alone
        Topics of b that a does not have, and topics of a that b does not have.
    likeness : array, shape (K of a, K of b)
        The Hellinger affinity of each pair, over common words.
    threshold : float
        The likeness that a match needs.
    n_common : int
        How many words both models know.
    common_a, common_b : float
        The share of the mass of each model on these words.
    documents : array, shape (K of a, K of b), or None
        If documents were given: the share of them with these largest topics.
    """

    matched: list[Match]
    split: list[Mixture]
    merged: list[Mixture]
    new: list[Alone]
    gone: list[Alone]
    likeness: np.ndarray
    threshold: float
    n_common: int
    common_a: float
    common_b: float
    documents: np.ndarray | None = field(default=None)

    def __str__(self) -> str:
        return "\n".join([self._title(), *(f"  {kind:7} {line}" for kind, line in self._lines())])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._title()})"

    def _repr_html_(self) -> str:
        rows = [(kind, *line.split("  ", 1)) for kind, line in self._lines()]
        return notebook.result(self._title(), notebook.table(("", "topics", "words"), rows))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        plain = {
            name: [asdict(one) for one in getattr(self, name)]
            for name in ("matched", "split", "merged", "new", "gone")
        }
        return plain | {
            "threshold": self.threshold,
            "n_common": self.n_common,
            "common_a": self.common_a,
            "common_b": self.common_b,
            "likeness": self.likeness.tolist(),
            "documents": None if self.documents is None else self.documents.tolist(),
        }

    def to_arrow(self) -> "pa.Table":
        """Return a table of Arrow with a row for each finding.

        The columns are kind ("matched", "split", "merged", "new" or "gone"), a and b (lists of
        topics), shares (of the parts), likeness and words.
        """
        import pyarrow as pa

        rows = [
            *(("matched", [m.a], [m.b], [1.0], m.likeness, m.words) for m in self.matched),
            *(("split", [m.topic], m.parts, m.shares, m.likeness, m.words) for m in self.split),
            *(("merged", m.parts, [m.topic], m.shares, m.likeness, m.words) for m in self.merged),
            *(("new", [], [m.topic], [1.0], m.likeness, m.words) for m in self.new),
            *(("gone", [m.topic], [], [1.0], m.likeness, m.words) for m in self.gone),
        ]
        numbers, shares = pa.list_(pa.int64()), pa.list_(pa.float64())
        kinds = (pa.string(), numbers, numbers, shares, pa.float64(), pa.list_(pa.string()))
        names = ("kind", "a", "b", "shares", "likeness", "words")
        columns = list(zip(*rows)) or [()] * len(names)
        return pa.table({n: pa.array(c, k) for n, c, k in zip(names, columns, kinds)})

    def to_pandas(self) -> "pd.DataFrame":
        """Return the same table as a data frame of pandas."""
        return as_pandas(self.to_arrow())

    def _title(self) -> str:
        parts = (
            f"{len(getattr(self, name)):,} {name}"
            for name in ("matched", "split", "merged", "new", "gone")
        )
        return (
            f"topics: {', '.join(parts)}; {self.n_common:,} common words with {self.common_a:.0%} "
            f"and {self.common_b:.0%} of the mass, threshold {self.threshold:.2f}"
        )

    def _lines(self) -> list[tuple[str, str]]:
        """A kind, and what was found: topics, two blanks, and words."""

        def parts(one: Mixture) -> str:
            return " + ".join(f"{k} ({share:.0%})" for k, share in zip(one.parts, one.shares))

        def changes(one: Match) -> str:
            gained, lost = (f" +{w}" for w in one.gained), (f" -{w}" for w in one.lost)
            told = "".join((*gained, *lost))
            return f"; changed:{told}" if told else ""

        return [
            *(
                ("same", f"{m.a} = {m.b} ({m.likeness:.2f})  {' '.join(m.words)}{changes(m)}")
                for m in self.matched
            ),
            *(("split", f"{m.topic} = {parts(m)}  {' '.join(m.words)}") for m in self.split),
            *(("merged", f"{parts(m)} = {m.topic}  {' '.join(m.words)}") for m in self.merged),
            *(("new", f"{m.topic} ({m.weight:.1%})  {' '.join(m.words)}") for m in self.new),
            *(("gone", f"{m.topic} ({m.weight:.1%})  {' '.join(m.words)}") for m in self.gone),
        ]


def compare(
    a: "TopicModel",
    b: "TopicModel",
    documents: Any = None,
    *,
    n_words: int = 8,
    threshold: float | None = None,
) -> TopicComparison:
    """Compare the topics of two models: matched, split, merged, new and gone ones.

    See :mod:`eigentext.topics.comparison` for how. Numbers of topics are those of their models.

    Parameters
    ----------
    a, b : TopicModel
        The old and the new model, or any two.
    documents : as in `transform`, optional
        Documents that both models can read. The result then says how often each pair of topics is
        the largest one of a document.
    n_words : int
        How many words of a topic, and how many changed words, to name.
    threshold : float, optional
        The likeness that a match needs, from 0 to 1. By default, the two models give it.

    Examples
    --------
    >>> from eigentext import TopicModel
    >>> from eigentext.topics import compare
    >>> meals, games = ["ham eggs ham cheese"] * 20, ["goal team goal match"] * 20
    >>> trials = ["court judge court trial"] * 20
    >>> a, b = TopicModel(2).fit(meals + games), TopicModel(3).fit(meals + games + trials)
    >>> found = compare(a, b, n_words=1)
    >>> sorted((m.words, round(m.likeness, 2)) for m in found.matched)
    [(['goal'], 1.0), (['ham'], 1.0)]
    >>> [topic.words for topic in found.new]
    [['court']]
    """
    n_words = argument("n_words", _N_WORDS, n_words)
    threshold = argument("threshold", _THRESHOLD, threshold) if threshold is not None else None
    sides = _Side.of(a, "a"), _Side.of(b, "b")
    common = [word for word in sides[0].words if word in b.vocabulary_]
    if not common:
        raise EigentextError(
            "the two models have no word in common, so their topics cannot be compared; were their "
            "documents split into words in the same way?"
        )
    P, Q = (side.over(common) for side in sides)
    roots = [np.sqrt(one.p) for one in (P, Q)]
    likeness = np.clip(roots[0] @ roots[1].T, 0, 1)
    if threshold is None:
        threshold = _threshold(*roots)
    found = _Finding(P, Q, likeness, threshold)
    return _result(
        sides, P, Q, found, n_words, None if documents is None else _joint(a, b, documents)
    )


def _result(
    sides: tuple["_Side", "_Side"],
    P: "_Topics",
    Q: "_Topics",
    found: "_Finding",
    n_words: int,
    documents: np.ndarray | None,
) -> TopicComparison:
    """Name all that was found."""
    merged, split = found.mixtures(P, Q), found.mixtures(Q, P)
    matched = found.matched(merged, split)
    likeness = found.likeness
    in_a = {i for i, _ in matched}.union(split, *(parts for parts, _, _ in merged.values()))
    in_b = {j for _, j in matched}.union(merged, *(parts for parts, _, _ in split.values()))
    tops_a, tops_b = (side.model.top_words(n_words) for side in sides)
    weights_a, weights_b = P.weights.tolist(), Q.weights.tolist()

    def match(i: int, j: int) -> Match:
        changes = _changes(*sides, i, j, n_words)
        alike = float(likeness[i, j])
        return Match(i, j, alike, weights_a[i], weights_b[j], tops_b[j], *changes)

    return TopicComparison(
        [match(i, j) for i, j in matched],
        [Mixture(i, *split[i], tops_a[i]) for i in sorted(split)],
        [Mixture(j, *merged[j], tops_b[j]) for j in sorted(merged)],
        _alone(set(range(len(Q.p))) - in_b, likeness.T, weights_b, Q, tops_b),
        _alone(set(range(len(P.p))) - in_a, likeness, weights_a, P, tops_a),
        likeness,
        found.threshold,
        P.p.shape[1],
        float(P.weights @ P.mass),
        float(Q.weights @ Q.mass),
        documents,
    )


@dataclass
class _Topics:
    """The topics of a model over common words, as distributions."""

    p: np.ndarray  # (K, words)
    mass: np.ndarray  # (K,): the share of common words, before
    weights: np.ndarray


@dataclass
class _Side:
    model: "TopicModel"
    words: Sequence[str]

    @classmethod
    def of(cls, model: Any, name: str) -> "_Side":
        from eigentext.topics.model import TopicModel

        if not isinstance(model, TopicModel):
            raise ParameterError(f"{name} must be a TopicModel, not {type(model).__name__}")
        check_is_fitted(model)
        return cls(model, model.vocabulary_.words)

    def over(self, words: Sequence[str]) -> _Topics:
        part = np.asarray(self.model.components_)[:, self.model.vocabulary_.ids_of(words)]
        mass = part.sum(axis=1)
        p = np.divide(part, mass[:, None], out=np.zeros_like(part), where=mass[:, None] > 0)
        return _Topics(p, np.minimum(mass, 1.0), self.model.weights_)


_Parts = tuple[list[int], list[float], float]  # topics, their shares, the likeness of the mixture


@dataclass
class _Finding:
    P: _Topics
    Q: _Topics
    likeness: np.ndarray
    threshold: float

    def mixtures(self, parts: _Topics, wholes: _Topics) -> dict[int, _Parts]:
        """The topics of `wholes` that are mixtures of several of `parts`."""
        likeness = self.likeness if parts is self.P else self.likeness.T
        usable = np.flatnonzero(parts.mass >= _COMMON)
        mean = parts.weights @ parts.p + wholes.weights @ wholes.p
        scale = np.divide(1, np.sqrt(mean), out=np.zeros_like(mean), where=mean > 0)
        found = {}
        for j in np.flatnonzero(wholes.mass >= _COMMON) if len(usable) > 1 else ():
            pi, _ = nnls((parts.p[usable] * scale).T, wholes.p[j] * scale)
            pi = pi / (pi.sum() or 1.0)
            large = pi >= _SHARE
            if large.sum() < 2:
                continue
            chosen, shares = usable[large], pi[large] / pi[large].sum()
            alike = float(np.sqrt(shares @ parts.p[chosen]) @ np.sqrt(wholes.p[j]))
            rest = 1 - likeness[usable, j].max()
            if alike >= self.threshold and 1 - alike <= _BETTER * rest and rest > 1e-9:
                found[int(j)] = (chosen.tolist(), shares.tolist(), min(alike, 1.0))
        return found

    def matched(self, merged: dict[int, _Parts], split: dict[int, _Parts]) -> list[tuple[int, int]]:
        """The pairs of the best assignment that are alike enough, without mixtures."""
        usable = np.outer(self.P.mass >= _COMMON, self.Q.mass >= _COMMON)
        rows, columns = linear_sum_assignment(-np.where(usable, self.likeness, 0))
        return [
            (i, j)
            for i, j in zip(rows.tolist(), columns.tolist())
            if usable[i, j]
            and self.likeness[i, j] >= self.threshold
            and i not in split
            and j not in merged
        ]


def _threshold(*roots: np.ndarray) -> float:
    """A likeness that topics of one model rarely have."""
    nearest = []
    for root in roots:
        within = root @ root.T
        np.fill_diagonal(within, -1)
        nearest += within.max(axis=1).tolist() if len(root) > 1 else []
    found = np.quantile(nearest, _QUANTILE) if nearest else _LEAST
    return float(np.clip(found, _LEAST, _MOST))


def _changes(a: _Side, b: _Side, i: int, j: int, n_words: int) -> tuple[list[str], list[str]]:
    """The words that gained and lost most in a topic, by their part of the Hellinger distance."""
    p = dict(zip(a.words, np.sqrt(a.model.components_[i]).tolist()))
    q = dict(zip(b.words, np.sqrt(b.model.components_[j]).tolist()))
    change = {word: q.get(word, 0.0) - p.get(word, 0.0) for word in p | q}
    changed = sorted(
        (word for word, x in change.items() if x * x > _CHANGED),
        key=lambda word: (-abs(change[word]), word),
    )
    gained = [word for word in changed if change[word] > 0]
    lost = [word for word in changed if change[word] < 0]
    return gained[:n_words], lost[:n_words]


def _alone(
    topics: set[int],
    likeness: np.ndarray,
    weights: list[float],
    side: _Topics,
    tops: list[list[str]],
) -> list[Alone]:
    """What is known of the topics that the other model does not have."""
    nearest = likeness.argmax(axis=1).tolist()
    return [
        Alone(
            k, weights[k], nearest[k], float(likeness[k, nearest[k]]), float(side.mass[k]), tops[k]
        )
        for k in sorted(topics)
    ]


def _joint(a: "TopicModel", b: "TopicModel", documents: Any) -> np.ndarray:
    """The share of documents with each pair of largest topics."""
    X = list(documents) if not hasattr(documents, "__len__") else documents
    largest = [np.asarray(model.transform(X)).argmax(axis=1) for model in (a, b)]
    table = np.zeros((a.n_topics_, b.n_topics_))
    np.add.at(table, tuple(largest), 1.0)
    return table / max(len(largest[0]), 1)
