"""Questions to fitted topics: the proportions of documents, top words, and perplexity."""

import numpy as np

from eigentext import notebook
from eigentext.factor.mixture import posteriors, proportions
from eigentext.matrices.runs import CSR

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
    phi = (1 - _UNIFORM) * np.asarray(components) + _UNIFORM / (n_words or components.shape[1])
    if alpha0 == 0:
        return posteriors(counts, phi, weights)[0]
    return proportions(counts, phi, alpha0 * weights)


class TopWords(list[list[str]]):
    """A list with the words of each topic. A notebook shows it as a table."""

    def _repr_html_(self) -> str:
        rows = [(number, notebook.words(words)) for number, words in enumerate(self)]
        return notebook.result("", notebook.table(("topic", "most probable words"), rows))


def top_words(components: np.ndarray, names: list[str], n: int) -> TopWords:
    """Return the names of the n most probable words of each topic."""
    order = np.argsort(-components, axis=1, kind="stable")[:, :n]
    return TopWords([names[word] for word in topic] for topic in order.tolist())


def perplexity(counts: CSR, components: np.ndarray, weights: np.ndarray, alpha0: float) -> float:
    """Return the perplexity of documents by completion, with this prior.

    See :func:`eigentext.evaluate.completion_perplexity`.
    """
    from eigentext.evaluate import completion_perplexity

    found = completion_perplexity(components, counts, alpha=alpha0 * weights, weights=weights)
    return found.perplexity
