r"""The documents that are most typical of each topic.

They are the documents with the largest proportion :math:`\theta_{ik}` of the topic. If proportions
are equal, to a hundredth, the words decide: the document with the largest mean of
:math:`\log \phi_{kw} / p(w)` over its words comes first. (If each document has one topic, most
proportions are 1.) Copies of a document are left out.
"""

from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from eigentext.corpus.documents import as_documents, in_batches, is_matrix
from eigentext.corpus.text import TextCorpus
from eigentext.errors import ParameterError
from eigentext.matrices.runs import CSR
from eigentext.moments import document_counts

if TYPE_CHECKING:
    from eigentext.topics.model import TopicModel

_ROWS = 10_000  # the rows of a matrix that are read at a time
_FEW_WORDS = 10  # a document with fewer known words is not typical, if other documents are longer
_LEAST_SHARE = 0.1  # the least share of a topic in its typical documents
_SNIPPET = 220  # the characters by which copies are recognized


class TypicalDocument(NamedTuple):
    """A document that is typical of a topic."""

    share: float  # the proportion of the topic in it
    score: float  # the mean of log phi_kw / p(w) over its words
    name: str  # its title, file, line or number
    text: str  # empty if it is a row of a matrix


def typical_documents(
    model: "TopicModel",
    documents: Any,
    n_documents: int,
    titles: Sequence[str] | None = None,
) -> list[list[TypicalDocument]]:
    """Return the most typical documents of each topic, at most `n_documents` for each.

    `documents` have any form that ``model.transform`` takes. They are read in batches. `titles`, if
    given, are the names of all documents.
    """
    phi = np.maximum(model.components_, 1e-12)
    scores_of_words = np.ascontiguousarray(np.log(phi / (model.weights_ @ phi)).T)
    best: list[list[TypicalDocument]] = [[] for _ in phi]
    n_read = 0
    for X, named in _batches(model, documents):
        if titles is not None:
            titled = titles[n_read : n_read + len(named)]
            named = [(title, text) for title, (_, text) in zip(titled, named)]
        n_read += X.shape[0]
        n = X.sum(axis=1)
        rows = np.flatnonzero(n >= _enough(n))[: len(named)]
        if not len(rows):
            continue
        shares = model.transform(X[rows])
        scores = X[rows] @ scores_of_words / n[rows, None]
        for k, before in enumerate(best):
            order = np.lexsort((-scores[:, k], -np.round(shares[:, k], 2)))
            found = (
                TypicalDocument(float(shares[i, k]), float(scores[i, k]), *named[rows[i]])
                for i in order.tolist()
            )
            best[k] = _first(before, found, n_documents)
    if titles is not None and len(titles) != n_read:
        raise ParameterError(f"{len(titles)} titles for {n_read} documents; give one for each")
    return best


def snippet(text: str, length: int = _SNIPPET) -> str:
    """Return the beginning of a text in one line, cut at a blank if possible."""
    text = " ".join(text[: 20 * length].split())
    if len(text) > length:
        text = (text[:length].rpartition(" ")[0] or text[:length]) + " …"
    return text


def _first(
    before: list[TypicalDocument], found: Iterable[TypicalDocument], n_documents: int
) -> list[TypicalDocument]:
    """The best of two sorted series, without copies."""
    kept: dict[str, TypicalDocument] = {}
    for one in merge(before, found, key=lambda one: (-round(one.share, 2), -one.score)):
        if len(kept) == n_documents or one.share < _LEAST_SHARE:
            break
        kept.setdefault(snippet(one.text) or one.name, one)
    return list(kept.values())


def _enough(n: np.ndarray) -> float:
    """The number of known words that a typical document needs: few, if documents are short."""
    return min(_FEW_WORDS, np.median(n[n > 0])) if n.any() else 1


def _batches(model: "TopicModel", documents: Any) -> Iterator[tuple[CSR, list[tuple[str, str]]]]:
    """Batches of documents: their counts, and the name and the text of each."""
    vocabulary, options = model.vocabulary_, model.provenance_["options"]
    corpus = documents if is_matrix(documents) else as_documents(documents, options)
    if not isinstance(corpus, TextCorpus):
        X = document_counts(corpus, vocabulary, options)
        for start in range(0, X.shape[0], _ROWS):
            part = X[start : start + _ROWS]
            yield part, [(f"document {start + row}", "") for row in range(part.shape[0])]
        return
    for places, part in in_batches(corpus):
        texts = part.texts or [" ".join(tokens) for tokens in part.token_lists]
        names = [_name(*place, len(corpus.files)) for place in places]
        yield document_counts(part, vocabulary, options), list(zip(names, texts))


def _name(file: str, number: int, n_files: int) -> str:
    if not file:
        return f"document {number}"
    if not number:
        return file
    return f"line {number}" if n_files == 1 else f"{file}, line {number}"
