r"""The documents that are most typical of each topic, and those on the border to another topic.

They are the documents with the largest proportion :math:`\theta_{ik}` of the topic. If proportions
are equal, to a hundredth, the words decide: the document with the largest mean of
:math:`\log \phi_{kw} / p(w)` over its words comes first. (If each document has one topic, most
proportions are 1.) Copies of a document are left out.

A document is on the border of its two largest topics. The most borderline documents of a topic are
those with the largest second share, up to 1/2: two topics tie in them, and no third one has much.
If second shares are equal, to a hundredth, the longer document comes first.
"""

from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from eigentext import notebook
from eigentext.corpus.documents import as_documents, in_batches, is_matrix
from eigentext.corpus.table_output import as_pandas, plain
from eigentext.corpus.text import TextCorpus
from eigentext.errors import ParameterError
from eigentext.matrices.runs import CSR
from eigentext.moments import document_counts

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from eigentext.topics.model import TopicModel

_ROWS = 10_000  # the rows of a matrix that are read at a time
_FEW_WORDS = 10  # a document with fewer known words is not typical, if other documents are longer
_LEAST_SHARE = 0.1  # the least share of a topic in its typical documents
_SNIPPET = 220  # the characters by which copies are recognized


class BorderlineDocument(NamedTuple):
    """A document in which two topics tie."""

    share: float  # the proportion of the topic in it
    other: int  # the topic that ties with it
    other_share: float
    n_words: int  # known words
    name: str  # its title, file, line or number
    text: str  # empty if it is a row of a matrix


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
        named = _titled(named, titles, n_read)
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
    _check_titles(titles, n_read)
    return best


def borderline_documents(
    model: "TopicModel",
    documents: Any,
    n_documents: int,
    titles: Sequence[str] | None = None,
) -> list[list[BorderlineDocument]]:
    """Return the documents in which each topic ties with another, at most `n_documents` for each.

    A document is in the lists of both of its two largest topics. See :func:`typical_documents`.
    """
    best: list[list[BorderlineDocument]] = [[] for _ in range(model.n_topics_)]
    n_read = 0
    for X, named in _batches(model, documents):
        named = _titled(named, titles, n_read)
        n_read += X.shape[0]
        n = X.sum(axis=1)
        rows = np.flatnonzero(n >= _enough(n))[: len(named)]
        if not len(rows) or model.n_topics_ < 2:
            continue
        shares = model.transform(X[rows])
        order = np.argsort(-shares, axis=1, kind="stable")[:, :2]
        second = shares[np.arange(len(rows)), order[:, 1]]
        by_second = np.lexsort((-n[rows], -np.round(second, 2)))
        for k, before in enumerate(best):
            found = (
                BorderlineDocument(
                    float(shares[i, k]), other, float(shares[i, other]), int(n[rows[i]]),
                    *named[rows[i]],
                )
                for i in by_second.tolist()
                if k in order[i]
                for other in (int(order[i, 1] if order[i, 0] == k else order[i, 0]),)
            )  # fmt: skip
            best[k] = _most_borderline(before, found, n_documents)
    _check_titles(titles, n_read)
    return best


class DocumentLists(list[list[Any]]):
    """Documents of each topic. They can be made a table, which notebooks show."""

    def to_arrow(self) -> "pa.Table":
        """Return a table with a row for each document: its topic, its rank and its facts."""
        import pyarrow as pa

        rows = [(k, rank, one) for k, some in enumerate(self) for rank, one in enumerate(some, 1)]
        columns: dict[str, Any] = {
            "topic": pa.array([k for k, _, _ in rows], pa.int64()),
            "rank": pa.array([rank for _, rank, _ in rows], pa.int64()),
        }
        for name, kind in (rows[0][2] if rows else self.kind).__annotations__.items():
            type_of = {float: pa.float64(), int: pa.int64(), str: pa.string()}[kind]
            values = [getattr(one, name) for _, _, one in rows]
            values = [plain(value) for value in values] if kind is str else values
            columns[name] = pa.array(values, type_of)
        return pa.table(columns)

    def to_pandas(self) -> "pd.DataFrame":
        """Return the same table as a data frame of pandas."""
        return as_pandas(self.to_arrow())

    def __init__(self, lists: Iterable[list[Any]], kind: type):
        super().__init__(lists)
        self.kind = kind

    def _repr_html_(self) -> str:
        names = [name for name in self.kind.__annotations__ if name != "text"]
        rows = [
            (k, *(_cell(getattr(one, name)) for name in names), snippet(one.text))
            for k, some in enumerate(self)
            for one in some
        ]
        return notebook.result("", notebook.table(("topic", *names, "text"), rows))


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


def _most_borderline(
    before: list[BorderlineDocument], found: Iterable[BorderlineDocument], n_documents: int
) -> list[BorderlineDocument]:
    kept: dict[str, BorderlineDocument] = {}
    for one in merge(
        before,
        found,
        key=lambda one: (-round(min(one.share, one.other_share), 2), -one.n_words),
    ):
        if len(kept) == n_documents or min(one.share, one.other_share) < _LEAST_SHARE:
            break
        kept.setdefault(snippet(one.text) or one.name, one)
    return list(kept.values())


def _titled(
    named: list[tuple[str, str]], titles: Sequence[str] | None, n_read: int
) -> list[tuple[str, str]]:
    """The same documents, by their titles if there are any."""
    if titles is None:
        return named
    some = titles[n_read : n_read + len(named)]
    return [(title, text) for title, (_, text) in zip(some, named)]


def _check_titles(titles: Sequence[str] | None, n_read: int) -> None:
    if titles is not None and len(titles) != n_read:
        raise ParameterError(f"{len(titles)} titles for {n_read} documents; give one for each")


def _cell(value: Any) -> Any:
    return notebook.percent(value) if isinstance(value, float) else value


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
