r"""Coherence: do the top words of a topic occur in the same documents?

Let :math:`D(a)` be the number of documents with the word a, :math:`D(a, b)` the number of documents
with both words, n the number of all documents, and :math:`p = D / n`. The coherence of a pair of
top words is

.. math:: \mathrm{NPMI}(a, b) = \log \frac{p(a, b)}{p(a)\,p(b)} \Bigm/ -\log p(a, b)

(Bouma 2009; for topics Lau et al. 2014). It is -1 if the two words are never in one document, 0 if
they are independent, and 1 if they are always together. The other measure is, for a word b after a
word a in the list,

.. math:: \mathrm{UMass}(a, b) = \log \frac{D(a, b) + 1}{D(a)}

(Mimno et al. 2011). The coherence of a topic is the mean over its pairs; Mimno et al. take the sum.
High coherence alone does not make topics good. One odd document that was posted ten times makes a
perfect topic, and so do the same words in every topic. See also :func:`distinct_words` and
:func:`completion_perplexity`.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from eigentext import notebook
from eigentext.corpus import Vocabulary
from eigentext.corpus.documents import checked_matrix
from eigentext.errors import ParameterError

if TYPE_CHECKING:
    from eigentext.moments import DocumentMoments

Measure = Literal["npmi", "umass"]


@dataclass(frozen=True, repr=False)
class CoherenceResult:
    """The coherence of each topic, or nan if it has no pair of known words, and the mean."""

    measure: Measure
    mean: float
    topics: list[float]
    n_pairs: int
    n_documents: int
    missing: list[str]  # top words that are in no document

    def __str__(self) -> str:
        name = {"npmi": "NPMI", "umass": "UMass"}[self.measure]
        missing = f"; missing words: {len(self.missing):,}" if self.missing else ""
        return (
            f"{name} {self.mean:.3f} over {len(self.topics):,} topics "
            f"({self.n_pairs:,} pairs, {self.n_documents:,} documents){missing}"
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    def _repr_html_(self) -> str:
        rows = [(topic, notebook.rounded(value, 3)) for topic, value in enumerate(self.topics)]
        return notebook.result(str(self), notebook.table(("topic", self.measure), rows))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON. None stands for nan."""
        topics = [None if math.isnan(x) else x for x in self.topics]
        return asdict(self) | {
            "mean": None if math.isnan(self.mean) else self.mean,
            "topics": topics,
        }


def coherence(
    top_words: Sequence[Sequence[str]],
    documents: "DocumentMoments | ArrayLike | sp.sparray | sp.spmatrix",
    *,
    measure: Measure = "npmi",
    words: Sequence[str] | None = None,
) -> CoherenceResult:
    """Measure how often the top words of each topic are in the same documents.

    Parameters
    ----------
    top_words : list of lists of str
        The top words of each topic, the most probable word first. All of them are used.
    documents : DocumentMoments, or array or scipy sparse matrix of shape (n, d)
        The documents in which words are looked up, or counts of words in them. It only matters
        whether a word is in a document, not how often.
    measure : "npmi" or "umass"
        The measure of a pair. NPMI does not depend on the order of the words.
    words : list of str
        The names of the columns, if `documents` is a matrix.

    Examples
    --------
    >>> from eigentext.evaluate import coherence
    >>> counts = [[3, 1, 0], [1, 2, 0], [0, 0, 1], [0, 1, 1]]
    >>> result = coherence([["tea", "cup"], ["tea", "ox"]], counts, words=["tea", "cup", "ox"])
    >>> print(result)
    NPMI -0.292 over 2 topics (2 pairs, 4 documents)
    >>> [round(topic, 3) for topic in result.topics]
    [0.415, -1.0]
    """
    if measure not in ("npmi", "umass"):
        raise ParameterError(f"measure must be 'npmi' or 'umass', not {measure!r}")
    asked = [_topic(topic, number) for number, topic in enumerate(top_words)]
    every = sorted({word for topic in asked for word in topic})
    has, times, n_documents, place = _looked_up(every, documents, words)
    topics, n_pairs = [], 0
    for topic in asked:
        columns = [place[word] for word in topic if word in place]
        scores = _pair_scores(has[:, columns], times, n_documents, measure)
        n_pairs += len(scores)
        topics.append(float(scores.mean()) if len(scores) else math.nan)
    missing = [word for word in every if word not in place]
    defined = [x for x in topics if not math.isnan(x)]
    mean = float(np.mean(defined)) if defined else math.nan
    return CoherenceResult(measure, mean, topics, n_pairs, n_documents, missing)


def npmi_matrix(
    top_words: Sequence[Sequence[str]],
    documents: "DocumentMoments | ArrayLike | sp.sparray | sp.spmatrix",
    *,
    words: Sequence[str] | None = None,
) -> tuple[np.ndarray, dict[str, int]]:
    """Return the NPMI of all pairs of the words of topics, and the column of each known word.

    The arguments are those of :func:`coherence`. A word that is in no document has no column. The
    diagonal is 1.
    """
    asked = [_topic(topic, number) for number, topic in enumerate(top_words)]
    every = sorted({word for topic in asked for word in topic})
    has, times, n_documents, place = _looked_up(every, documents, words)
    known = list(place)
    scores = _pair_scores(has[:, list(place.values())], times, n_documents, "npmi")
    matrix = np.eye(len(known))
    a, b = np.triu_indices(len(known), 1)
    matrix[a, b] = matrix[b, a] = scores
    return matrix, {word: column for column, word in enumerate(known)}


def diversity(top_words: Sequence[Sequence[str]]) -> float:
    """Return the diversity of topics: the share of distinct words among all their top words.

    It is 1 if no two topics share a word. (Its old name, :func:`distinct_words`, works too.)

    Examples
    --------
    >>> diversity([["tea", "cup"], ["tea", "ox"]])
    0.75
    """
    return distinct_words(top_words)


def distinct_words(top_words: Sequence[Sequence[str]]) -> float:
    """Return the share of distinct words among the top words of all topics.

    It is 1 if no two topics share a word.

    Examples
    --------
    >>> distinct_words([["tea", "cup"], ["tea", "ox"]])
    0.75
    """
    every = [word for number, topic in enumerate(top_words) for word in _topic(topic, number)]
    if not every:
        raise ParameterError("there are no top words; give a list of words for each topic")
    return len(set(every)) / len(every)


def _looked_up(
    every: Sequence[str], documents: Any, words: Sequence[str] | None
) -> tuple[Any, np.ndarray, int, dict[str, int]]:
    """Look words up in documents.

    Return which distinct document has which known word, the times of each, the number of documents,
    and the column of each word that is in some document.
    """
    vocabulary, counts, times, n_documents = _reference(documents, words)
    known = [word for word in every if word in vocabulary]
    has = (counts[:, vocabulary.ids_of(known)] > 0).astype(np.int64).tocsc()
    there = has.T @ times  # D(a)
    place = {word: column for column, word in enumerate(known) if there[column]}
    return has, times, n_documents, place


def _reference(
    documents: Any, words: Sequence[str] | None
) -> tuple[Vocabulary, Any, np.ndarray, int]:
    """Return the words, the distinct documents, the times of each, and the number of documents."""
    if hasattr(documents, "vocabulary"):
        return documents.vocabulary, documents.counts, documents.times, documents.n_documents
    counts = checked_matrix(documents)
    n, d = counts.shape
    if words is None or len(words) != d:
        named = "no names" if words is None else f"{len(words)} names"
        raise ParameterError(
            f"documents is a matrix of {d} columns with {named}; give the names as words"
        )
    return Vocabulary(words, np.zeros(d)), counts, np.ones(n, np.int64), n


def _pair_scores(has: Any, times: np.ndarray, n: int, measure: Measure) -> np.ndarray:
    """Return the coherence of each pair of columns a < b."""
    D = (has.T @ has.multiply(times[:, None])).toarray()
    a, b = np.triu_indices(len(D), 1)
    both, one, other = D[a, b].astype(float), D[a, a], D[b, b]
    if measure == "umass":
        return np.log((both + 1) / one)
    scores = np.full(len(both), -1.0)  # never together
    scores[both == n] = 1.0  # in all documents: 0 / 0. For p(a, b) = p(a) = p(b) < 1 it is 1.
    usual = (both > 0) & (both < n)
    both, one, other = both[usual], one[usual], other[usual]
    scores[usual] = np.log(both * n / (one * other)) / -np.log(both / n)
    return scores


def _topic(topic: Sequence[str], number: int) -> list[str]:
    if isinstance(topic, str):
        raise ParameterError(f"topic {number} is a string; give a list of words for each topic")
    topic = list(topic)
    if repeated := {word for word in topic if topic.count(word) > 1}:
        raise ParameterError(f"topic {number} has {min(repeated)!r} twice; give distinct words")
    return topic
