"""Topics judged as users judge them: all scores of a fitted model on documents, in one table.

- *Perplexity* (:mod:`eigentext.evaluate.completion`): how well one half of a document predicts the
  other. It judges probabilities, and nobody sees it.
- *NPMI, UMass* (:mod:`eigentext.evaluate.coherence`): are the top words of a topic in the same
  documents?
- *Diversity*: the share of distinct words among all top words.
- *Intrusion* (:mod:`eigentext.evaluate.intrusion`): can a word of another topic be told from the
  best words of a topic?
- *Purity, NMI, adjusted Rand index* (:mod:`eigentext.evaluate.agreement`): does the largest topic
  of a document agree with its label?
- *Stability* (:mod:`eigentext.evaluate.stability`): do the same parameters find the same topics
  with another seed, in another order, and on a resample of the documents?

No score is enough alone: equal topics have a high NPMI, rare words a high diversity, and one topic
for each document a high purity.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from eigentext import notebook
from eigentext.errors import ParameterError
from eigentext.estimators import check_is_fitted
from eigentext.evaluate.agreement import Agreement, label_agreement, listed_labels
from eigentext.evaluate.coherence import coherence, distinct_words
from eigentext.evaluate.intrusion import word_intrusion
from eigentext.evaluate.stability import Stability
from eigentext.evaluate.stability import stability as stability_of
from eigentext.moments import document_counts
from eigentext.parameters import Count, argument

if TYPE_CHECKING:
    import pandas as pd

_DEPTH = 50  # a word among so many of a topic cannot be its intruder, nor in a quarter of all
_DIGITS = {"perplexity": 1}


@dataclass(frozen=True, repr=False, eq=False)
class TopicScores:
    """All scores of topics. A score that is not defined, or was not asked for, is None.

    Attributes
    ----------
    perplexity, npmi, umass, diversity, intrusion : float
        See :mod:`eigentext.evaluate.topic_scores`.
    agreement : Agreement, optional
        The comparison with labels, if there are any; `purity`, `nmi` and `ari` are its figures.
    stability : Stability, optional
        The overlaps of further fits, if they were asked for.
    by_topic : dict of lists
        "words", "npmi", "umass" and "intrusion" of each topic. With labels also "documents", the
        number of labeled documents in which it is the largest topic, and their most frequent
        "label" with its "share".
    n_topics, n_documents, n_tokens, n_empty : int
        The topics, the documents, their known words, and the documents without a known word, whose
        topic nobody knows.
    """

    perplexity: float | None
    npmi: float | None
    umass: float | None
    diversity: float
    intrusion: float | None
    by_topic: dict[str, list[Any]]
    n_topics: int
    n_documents: int
    n_tokens: int
    n_empty: int
    agreement: Agreement | None = None
    stability: Stability | None = None

    @property
    def purity(self) -> float | None:
        """The share of documents with the most frequent label of their largest topic."""
        return self.agreement.purity if self.agreement else None

    @property
    def nmi(self) -> float | None:
        """The normalized mutual information of labels and largest topics."""
        return self.agreement.nmi if self.agreement else None

    @property
    def ari(self) -> float | None:
        """The adjusted Rand index of labels and largest topics."""
        return self.agreement.ari if self.agreement else None

    @property
    def scores(self) -> dict[str, float]:
        """The defined scores by their names, in the order of the table."""
        names = ("perplexity", "npmi", "umass", "diversity", "intrusion", "purity", "nmi", "ari")
        found = {name: getattr(self, name) for name in names}
        for kind, mean in (self.stability.means if self.stability else {}).items():
            found[f"stability, {kind}"] = mean
        return {name: value for name, value in found.items() if value is not None}

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        names = ("perplexity", "npmi", "umass", "diversity", "intrusion", "purity", "nmi", "ari")
        sizes = ("n_topics", "n_documents", "n_tokens", "n_empty")
        found = {name: getattr(self, name) for name in (*names, *sizes)}
        if self.agreement:
            left = ("n_unlabeled", "n_several")
            found["n_labeled"] = self.agreement.n_documents
            found |= {name: getattr(self.agreement, name) for name in left}
        found["stability"] = self.stability.to_dict() if self.stability else None
        return found | {"by_topic": self.by_topic}

    def to_pandas(self) -> "pd.DataFrame":
        """Return a data frame of pandas with a row for each topic."""
        import pandas as pd

        columns = {**self.by_topic, "words": [" ".join(x) for x in self.by_topic["words"]]}
        return pd.DataFrame(columns).rename_axis("topic")

    def __str__(self) -> str:
        lines = [f"{_TITLES.get(x, x):<18}{_written(x, y):>9}" for x, y in self.scores.items()]
        return "\n".join([*lines, self._about()])

    def _about(self) -> str:
        parts = [
            f"{self.n_topics:,} topics on {self.n_documents:,} documents, {self.n_tokens:,} known "
            "words"
        ]
        if self.n_empty:
            parts.append(f"without known words: {self.n_empty:,}")
        if self.agreement:
            parts.append(f"with one label: {self.agreement.n_documents:,}")
        return "; ".join(parts)

    def __repr__(self) -> str:
        told = ", ".join(f"{name} {_written(name, x)}" for name, x in self.scores.items())
        return f"{type(self).__name__}({told})"

    def _repr_html_(self) -> str:
        facts = [(_TITLES.get(name, name), _written(name, x)) for name, x in self.scores.items()]
        columns = {"topic": range(self.n_topics)} | self.by_topic
        columns["words"] = [notebook.words(words) for words in self.by_topic["words"]]
        if "label" in columns:  # None for topics that are first in no document
            columns["label"] = ["–" if one is None else one for one in columns["label"]]
        for name in ("npmi", "umass", "intrusion", "share"):
            values = columns.get(name, [])
            columns[name] = [notebook.rounded(math.nan if x is None else x, 3) for x in values]
        columns = {name: values for name, values in columns.items() if len(values)}
        table = notebook.table([_TITLES.get(x, x) for x in columns], zip(*columns.values()))
        return notebook.result(self._about(), notebook.pairs(facts), table)


_TITLES = {
    "npmi": "NPMI",
    "umass": "UMass",
    "intrusion": "intruders found",
    "nmi": "NMI",
    "ari": "adjusted Rand",
}


def topics(
    model: Any,
    texts: Any,
    labels: Iterable[Any] | None = None,
    *,
    n_words: int = 10,
    stability: int = 0,
    words: Iterable[str] | None = None,
) -> TopicScores:
    """Score fitted topics on documents that they were not learned from.

    Parameters
    ----------
    model : TopicModel
        A fitted model.
    texts : list of str, TextCorpus, or array or scipy sparse matrix of counts
        Held-out documents, in any form that the model takes. Words are also looked up in them.
    labels : list, optional
        A label for each document, or None for a document without; see
        :func:`eigentext.evaluate.label_agreement`. Documents without known words, with no label or
        with several are left out of the comparison.
    n_words : int
        The number of top words of a topic. Intrusion shows the best five of them.
    stability : int
        If this is above 0, the parameters of the model learn from `texts` again: once as they are,
        and so many times with each change of :func:`eigentext.evaluate.stability`. Call that
        function for the stability on the training documents.
    words : list of str, optional
        The names of the columns, if the model was learned from a matrix.

    Examples
    --------
    >>> import eigentext as et
    >>> texts = ["ham eggs ham cheese", "eggs cheese ham eggs", "goal team goal match"] * 20
    >>> model = et.TopicModel(2).fit(texts)
    >>> found = et.evaluate.topics(model, texts, ["food", "food", "sport"] * 20, n_words=3)
    >>> found.nmi, found.diversity
    (1.0, 1.0)
    """
    if not (hasattr(model, "top_words") and hasattr(model, "perplexity")):
        raise ParameterError(
            f"model must be a fitted TopicModel, not {type(model).__name__}; for lists of words, "
            "see coherence, diversity and word_intrusion"
        )
    check_is_fitted(model)
    n_words = argument("n_words", Count(10, least=2), n_words)
    n_fits = argument("stability", Count(0, least=0), stability)
    given = None if labels is None else listed_labels(labels)
    documents = list(texts) if isinstance(texts, Iterable) and not _is_sized(texts) else texts
    X: Any = sp.csr_array(
        document_counts(documents, model.vocabulary_, model.provenance_["options"])
    )
    if given is not None and len(given) != X.shape[0]:
        raise ParameterError(
            f"there are {len(given):,} labels and {X.shape[0]:,} documents; give one label for "
            "each document, and None for a document without one"
        )
    lengths = np.asarray(X.sum(axis=1)).ravel()
    perplexity = _finite(model.perplexity(X))  # an error, if no document has known words
    names = list(model.vocabulary_.words) if words is None else [str(word) for word in words]
    renamed = {} if words is None else {"words": names}
    depth = max(min(_DEPTH, len(names) // 4), n_words)
    deep = [list(topic) for topic in model.top_words(depth, **renamed)]
    found = _of_words(deep, X, names, n_words)
    agreement = None
    if given is not None:
        kept = np.flatnonzero(lengths)
        largest = np.asarray(model.transform(X[kept])).argmax(axis=1)
        agreement = label_agreement(largest, [given[i] for i in kept])
        found["by_topic"] |= _label_columns(agreement, len(deep))
    return TopicScores(
        perplexity=perplexity,
        **found,
        n_topics=len(deep),
        n_documents=X.shape[0],
        n_tokens=int(lengths.sum()),
        n_empty=int((lengths == 0).sum()),
        agreement=agreement,
        stability=stability_of(model, documents, n_fits=n_fits, n_words=n_words)
        if n_fits
        else None,
    )


def _of_words(deep: list[list[str]], X: Any, names: list[str], n_words: int) -> dict[str, Any]:
    """The scores of the words of topics."""
    top = [topic[:n_words] for topic in deep]
    npmi = coherence(top, X, words=names).to_dict()
    umass = coherence(top, X, words=names, measure="umass").to_dict()
    intrusion: dict[str, Any] = {"mean": None, "topics": [None] * len(top)}
    if len(deep) > 1:
        shown = min(5, n_words)
        intrusion = word_intrusion(deep, X, words=names, n_words=shown).to_dict()
    by_topic = {
        "words": top,
        "npmi": npmi["topics"],
        "umass": umass["topics"],
        "intrusion": intrusion["topics"],
    }
    return {
        "npmi": npmi["mean"],
        "umass": umass["mean"],
        "diversity": distinct_words(top),
        "intrusion": intrusion["mean"],
        "by_topic": by_topic,
    }


def _label_columns(agreement: Agreement, K: int) -> dict[str, list[Any]]:
    """The labeled documents of each topic, their most frequent label, and its share."""
    table = agreement.table.to_arrow().to_pydict()
    rows = {int(k): row for k, *row in zip(*(table[x] for x in table))}
    columns = zip(*(rows.get(k, [0, None, None]) for k in range(K)))
    return dict(zip(("documents", "label", "share"), map(list, columns)))


def _is_sized(texts: Any) -> bool:
    """Whether documents can be read more than once. A generator cannot."""
    return not hasattr(texts, "__next__")


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _written(name: str, value: float) -> str:
    return f"{value:,.{_DIGITS.get(name, 3)}f}"
