"""Questions to fitted topics: the proportions of documents, top words, and perplexity."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from eigentext import notebook
from eigentext.factor.mixture import posteriors, proportions
from eigentext.matrices.runs import CSR, csr
from eigentext.topics import forms, ranking
from eigentext.topics.parameters import MERGED, RANK, Rank

_ROWS = 1 << 15  # documents whose proportions are in memory as a dense matrix
_UNIFORM = 1e-6  # the share of the uniform distribution that makes every word possible


def topic_proportions(
    counts: CSR | np.ndarray,
    components: np.ndarray,
    weights: np.ndarray,
    alpha0: float,
    *,
    n_words: int | None = None,
) -> np.ndarray:
    """Return the topic proportions of documents, shape (n, K).

    With ``alpha0 = 0`` they are the posterior of the topic of a document. Otherwise, they are the
    mode of the posterior in the softmax basis (see :func:`eigentext.factor.mixture.proportions`). A
    document without words has the mean of the prior.

    Parameters
    ----------
    counts : array, shape (n, d)
        The counts of words in documents.
    components, weights : arrays, shapes (K, d) and (K,)
        The topics and their probabilities.
    alpha0 : float
        The sum of the parameters of the Dirichlet prior.
    n_words : int, optional
        The size of the vocabulary, if the columns are only a part of it.
    """
    phi = lifted(components, n_words)
    if alpha0 == 0:
        return posteriors(counts, phi, weights)[0]
    return proportions(counts, phi, alpha0 * weights)


def lifted(components: np.ndarray, n_words: int | None = None) -> np.ndarray:
    """Return topics in which every word is possible, as documents are judged by them."""
    d: int = n_words or components.shape[1]
    return (1 - _UNIFORM) * np.asarray(components) + _UNIFORM / d


def sparse_proportions(
    counts: CSR, components: np.ndarray, weights: np.ndarray, alpha0: float, least: float
) -> CSR:
    """Return the same proportions in CSR, without those below `least`.

    The largest one of a document is always kept. The others do not change, so the sum of a row is 1
    less what was left out. Documents are worked on in blocks, so that the dense matrix never
    exists.
    """
    columns, data, sizes = [np.zeros(0, np.int32)], [np.zeros(0)], [np.zeros(1, np.int64)]
    for start in range(0, counts.shape[0], _ROWS):
        block = counts[start : start + _ROWS]
        theta = topic_proportions(block, components, weights, alpha0)
        kept = theta >= least
        kept[np.arange(len(theta)), theta.argmax(axis=1)] = True
        columns.append(np.nonzero(kept)[1].astype(np.int32))
        data.append(theta[kept])
        sizes.append(kept.sum(axis=1))
    shape = (counts.shape[0], len(components))
    return csr(
        np.concatenate(data), np.concatenate(columns), np.cumsum(np.concatenate(sizes)), shape
    )


class TopWords(list[list[str]]):
    """A list with the words of each topic. A notebook shows it as a table.

    Attributes
    ----------
    probabilities : list of lists of float
        The probability of each word in its topic. That of several forms is their sum.
    forms : dict
        For each shown word that stands for several: all its forms, the most frequent first.
    """

    def __init__(
        self,
        words: Iterable[list[str]] = (),
        probabilities: Iterable[list[float]] = (),
        forms: Mapping[str, list[str]] | None = None,
    ):
        super().__init__(words)
        self.probabilities = list(probabilities)
        self.forms = dict(forms or {})

    def _repr_html_(self) -> str:
        rows = [(number, notebook.words(words)) for number, words in enumerate(self)]
        last = "; ".join(", ".join(forms) for forms in self.forms.values())
        last = f"shown as one: {last}" if last else ""
        return notebook.result("", notebook.table(("topic", "top words"), rows, last=last))


def top_words(
    components: np.ndarray,
    weights: np.ndarray,
    counts: np.ndarray,
    names: Sequence[str],
    n: int,
    *,
    rank: Rank | None = None,
    weight: float | None = None,
    merge: bool | None = None,
    language: str | None = None,
) -> TopWords:
    """Return the names of the first n words of each topic.

    Parameters
    ----------
    components, weights : arrays, shapes (K, d) and (K,)
        The topics and their probabilities.
    counts : array, shape (d,)
        How often each word occurs.
    names : list of str
        The words.
    n : int
        How many words of each topic.
    rank, weight : optional
        The ranking, and the weight of probability in it; see :mod:`eigentext.topics.ranking`.
    merge : bool, optional
        Whether forms of a word are shown as one (:mod:`eigentext.topics.forms`). By default they
        are, if `rank` is not given.
    language : str, optional
        The language of the words, for their forms.
    """
    merge = (MERGED and rank is None) if merge is None else merge
    groups = forms.groups(components, weights, counts, names, language) if merge else []
    left = np.arange(len(names))
    if groups:
        components, counts, left = forms.merged(components, counts, groups)
    chosen: Rank = RANK.default if rank is None else rank
    order = ranking.order(components, weights, counts, n, chosen, weight)
    several = {group[0]: [names[word] for word in group] for group in groups}
    places: list[list[int]] = left[order].tolist()
    shown = {word for topic in places for word in topic}
    return TopWords(
        [[names[word] for word in topic] for topic in places],
        np.take_along_axis(np.asarray(components), order, 1).tolist(),
        {names[word]: several[word] for word in sorted(shown & several.keys())},
    )


def perplexity(counts: CSR, components: np.ndarray, weights: np.ndarray, alpha0: float) -> float:
    """Return the perplexity of documents by completion, with this prior.

    See :func:`eigentext.evaluate.completion_perplexity`.
    """
    from eigentext.evaluate import completion_perplexity

    found = completion_perplexity(components, counts, alpha=alpha0 * weights, weights=weights)
    return found.perplexity
