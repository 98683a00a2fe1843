r"""Phrases of topics: "hard drive", "new york".

Topics are of bags of words, so phrases are found afterwards, in texts (Blei and Lafferty 2009 do
so too, for longer phrases and by permutation tests). A phrase of a topic is a pair of adjacent
words, both among the first 100 words of the topic. It is adjacent in several documents, and more
often than by chance: with :math:`c_{ab}` documents that have it, :math:`n_a` and :math:`n_b`
occurrences of its words, N tokens and :math:`E = n_a n_b / N`,

.. math::

    \log \frac{c_{ab}}{E} \Bigm/ \log \frac{N}{c_{ab}} > 0.3 .

Documents are counted and not occurrences, so that one long list makes no phrase. The phrases of a
topic are ordered by :math:`p(k \mid a, b)\, G_{ab}`, with
:math:`p(k \mid a, b) \propto w_k \phi_{ka} \phi_{kb}` and the likelihood ratio
:math:`G_{ab} = 2 (c_{ab} \log (c_{ab} / E) - c_{ab} + E)` (Dunning 1993). A phrase is shown in one
topic only, that of the largest :math:`p(k \mid a, b)`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from eigentext.corpus.documents import as_documents, document_ids, is_matrix
from eigentext.corpus.encoded import END
from eigentext.errors import CorpusError
from eigentext.moments.document_checks import is_of_matrix
from eigentext.topics import forms, ranking
from eigentext.topics.forms import language_of

if TYPE_CHECKING:
    from eigentext.topics.model import TopicModel

_FROM = 100  # the words of a topic of which its phrases are made
_CLOSE = 0.3  # phrases have a larger NPMI
_AT_A_TIME = 1 << 23  # tokens


class Pairs(NamedTuple):
    """Pairs of adjacent words in documents."""

    first: np.ndarray  # the number of the first word of each pair
    second: np.ndarray
    n_documents: np.ndarray  # that have the pair
    words: np.ndarray  # how often each word of the vocabulary occurs
    n_tokens: int


def phrases_of(model: "TopicModel", documents: Any, n: int, min_df: int) -> list[list[str]]:
    """Return at most n phrases of each topic; see :meth:`eigentext.TopicModel.top_phrases`."""
    options, vocabulary = model.provenance_["options"], model.vocabulary_
    if is_matrix(documents) or is_of_matrix(options):
        raise CorpusError(
            "phrases need the order of words, which counts do not have; give texts or lists of "
            "tokens, to a model that was learned from such"
        )
    if isinstance(documents, (list, tuple)) and not documents:
        return [[] for _ in range(model.n_topics_)]
    pairs = adjacent_pairs(
        document_ids(as_documents(documents, options), vocabulary), len(vocabulary)
    )
    topics = model.components_, model.weights_, vocabulary.counts
    names = vocabulary.words
    same = np.arange(len(names))
    for first, *others in forms.groups(*topics, names, language_of(model.diagnostics_)):
        same[others] = first
    found = best_pairs(*topics, pairs, n, min_df, same)
    return [[f"{names[a]} {names[b]}" for a, b in topic] for topic in found]


def adjacent_pairs(ids: np.ndarray, n_words: int) -> Pairs:
    """Count the pairs of adjacent words.

    `ids` are the words of documents, with END after each document, and other negative numbers for
    unknown words.

    Examples
    --------
    >>> found = adjacent_pairs(np.array([0, 1, 0, 1, -1, 1, 2, -2, 0, 1, -1]), 3)
    >>> np.column_stack(found[:3]).tolist()
    [[0, 1, 2], [1, 0, 1], [1, 2, 1]]
    >>> found.words.tolist(), found.n_tokens
    ([3, 4, 1], 9)
    """
    keys, totals = np.zeros(0, np.int64), np.zeros(0, np.int64)
    words, n_tokens = np.zeros(n_words, np.int64), 0
    for part in _parts(ids):
        part = np.asarray(part, np.int64)
        words += np.bincount(part[part >= 0], minlength=n_words)
        n_tokens += int((part != END).sum())
        document = np.cumsum(part == END)[:-1]
        n_documents = int(document[-1]) + 1 if len(document) else 1
        a, b = part[:-1], part[1:]
        is_pair = (a >= 0) & (b >= 0) & (a != b)
        new, place = np.unique(a[is_pair] * n_words + b[is_pair], return_inverse=True)
        once = np.unique(place * n_documents + document[is_pair])
        times = np.bincount(once // n_documents, minlength=len(new))
        every, place = np.unique(np.concatenate([keys, new]), return_inverse=True)
        sums = np.zeros(len(every), np.int64)
        np.add.at(sums, place, np.concatenate([totals, times]))
        keys, totals = every, sums
    return Pairs(keys // n_words, keys % n_words, totals, words, n_tokens)


def best_pairs(
    components: np.ndarray,
    weights: np.ndarray,
    counts: np.ndarray,
    pairs: Pairs,
    n: int,
    min_df: int,
    same: np.ndarray,
) -> list[list[tuple[int, int]]]:
    """Return the best pairs of each topic, at most n.

    Parameters
    ----------
    components, weights : arrays, shapes (K, d) and (K,)
        The topics and their probabilities.
    counts : array, shape (d,)
        How often each word occurred when topics were learned.
    pairs : Pairs
        What :func:`adjacent_pairs` found.
    n, min_df : int
        How many pairs of a topic, and the least number of documents that have a pair.
    same : array, shape (d,)
        One word for all forms of a word. Of pairs of the same words, only the best is taken.
    """
    first = ranking.order(components, weights, counts, _FROM)
    by_chance = pairs.words[pairs.first] / max(pairs.n_tokens, 1) * pairs.words[pairs.second]
    kept = (pairs.n_documents >= min_df) & (pairs.n_documents > by_chance)
    a, b = pairs.first[kept], pairs.second[kept]
    c, E = pairs.n_documents[kept].astype(float), by_chance[kept]
    likely = np.asarray(weights)[:, None] * components[:, a] * components[:, b]
    total = likely.sum(axis=0)
    close = np.log(c / E) > _CLOSE * np.log(pairs.n_tokens / c)
    ratio = 2 * (c * np.log(c / E) - c + E)
    best = likely.argmax(axis=0) if len(a) else np.zeros(0, int)
    answer: list[list[tuple[int, int]]] = []
    for k, words in enumerate(first):
        of_topic = np.zeros(components.shape[1], bool)
        of_topic[words] = True
        there = np.flatnonzero((best == k) & close & (total > 0) & of_topic[a] & of_topic[b])
        score = ratio[there] * likely[k, there] / total[there]
        order = there[np.argsort(-score, kind="stable")]
        taken: dict[tuple[int, int], tuple[int, int]] = {}
        for one, other in zip(a[order].tolist(), b[order].tolist()):
            if len(taken) == n:
                break
            taken.setdefault((int(same[one]), int(same[other])), (one, other))
        answer.append([*taken.values()])
    return answer


def _parts(ids: np.ndarray) -> Sequence[np.ndarray]:
    """Ids of whole documents, some millions of tokens at a time."""
    ends = np.flatnonzero(ids == END) + 1
    places = np.searchsorted(ends, np.arange(_AT_A_TIME, len(ids), _AT_A_TIME))
    return np.split(ids, np.unique(ends[np.minimum(places, len(ends) - 1)]) if len(places) else [])
