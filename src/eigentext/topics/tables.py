"""Topics and documents as tables: the words of topics, the topics, the shares of documents."""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from eigentext.corpus import TextCorpus
from eigentext.corpus.documents import Name, in_batches, named_batches
from eigentext.corpus.table_output import names_array
from eigentext.errors import ParameterError
from eigentext.moments import document_counts
from eigentext.topics.inference import TopWords
from eigentext.topics.parameters import Rank

if TYPE_CHECKING:
    from eigentext.topics.model import TopicModel

Kind = Literal["words", "topics", "documents", "matrix", "tree"]


def table_of(
    model: "TopicModel",
    kind: Kind,
    documents: Any = None,
    *,
    n_words: int = 10,
    rank: Rank | None = None,
    words: Any = None,
) -> pa.Table:
    """One of the tables of :meth:`TopicModel.to_arrow`."""
    if kind == "documents":
        if documents is None:
            raise ParameterError("kind 'documents' needs documents; give them after the kind")
        return document_table(model, documents)
    if kind not in get_args(Kind):
        raise ParameterError(f"kind must be {', '.join(map(repr, get_args(Kind)))}, not {kind!r}")
    if documents is not None:
        raise ParameterError(f"kind {kind!r} uses no documents; give kind='documents'")
    if kind == "matrix":
        columns = {f"topic{k}": pa.array(row) for k, row in enumerate(model.components_)}
        return pa.table({"word": pa.array(column_names(model, words), pa.string()), **columns})
    if kind == "tree":
        from eigentext.topics.hierarchy import hierarchy

        return hierarchy(model, n_words=n_words, words=words).to_arrow()
    top = model.top_words(n_words, rank=rank, words=words)
    return word_table(model, top) if kind == "words" else topic_table(model, top)


def column_names(model: "TopicModel", words: Any = None) -> list[str]:
    """The names of the words: those of the model, or given ones, one for each."""
    names = model.vocabulary_.words if words is None else [str(word) for word in words]
    if len(names) != model.components_.shape[1]:
        raise ParameterError(
            f"{len(names)} names for {model.components_.shape[1]} words; give one for each"
        )
    return names


def topic_names(model: "TopicModel") -> list[str | None]:
    """The names that a user gave to topics; None for a topic without one."""
    return getattr(model, "topic_names_", None) or [None] * model.n_topics_


def word_table(model: "TopicModel", top: TopWords) -> pa.Table:
    """A row for each of the top words of each topic."""
    sizes = [len(words) for words in top]
    return pa.table(
        {
            "topic": pa.array(np.repeat(np.arange(len(top)), sizes)),
            "weight": pa.array(np.repeat(model.weights_, sizes)),
            "rank": pa.array(np.concatenate([np.arange(1, size + 1) for size in sizes])),
            "word": pa.array([word for words in top for word in words], pa.string()),
            "probability": pa.array([p for ps in top.probabilities for p in ps], pa.float64()),
            "forms": pa.array(
                [" ".join(top.forms.get(word, [word])) for words in top for word in words],
                pa.string(),
            ),
        }
    )


def topic_table(model: "TopicModel", top: list[list[str]]) -> pa.Table:
    """A row for each topic."""
    return pa.table(
        {
            "topic": pa.array(np.arange(len(top))),
            "weight": pa.array(np.asarray(model.weights_)),
            "alpha": pa.array(np.asarray(model.alpha_)),
            "words": pa.array([" ".join(words) for words in top], pa.string()),
        }
    )


def document_table(model: "TopicModel", documents: Any) -> pa.Table:
    """A row for each document: its name and the shares of the topics."""
    if isinstance(documents, TextCorpus):
        names, shares = named_shares(model, documents)
        return share_table(names, shares, documents.id or "document")
    shares = np.asarray(model.transform(documents))
    index = getattr(documents, "index", None)  # that of pandas; lists have a method of this name
    names = range(len(shares)) if index is None or callable(index) else index.tolist()
    return share_table([*names], shares)


def named_shares(
    model: "TopicModel",
    corpus: TextCorpus,
    shown: Mapping[str, str] | None = None,
    *,
    least: float | None = None,
) -> tuple[list[Name], Any]:
    """The names of the documents of a corpus, and the shares of the topics in each.

    With `least`, the shares are sparse, as in :meth:`eigentext.TopicModel.transform`. For names see
    :func:`eigentext.corpus.documents.named_batches`.
    """
    names: list[Name] = []
    parts: list[Any] = [np.zeros((0, model.n_topics_))]
    for some, part in named_batches(corpus, shown):
        names += some
        counts = document_counts(part, model.vocabulary_, model.provenance_["options"])
        if least is None:
            parts.append(np.asarray(model.transform(counts)))
        else:
            parts.append(model.transform(counts, sparse=True, least=least))
    if least is None:
        return names, np.concatenate(parts)
    return names, sp.vstack([sp.csr_array(part) for part in parts], format="csr")


def counts_by(model: "TopicModel", corpus: TextCorpus, by: str) -> tuple[Any, list[Any], list[str]]:
    """The counts of the documents of a table, the values of another column, and their places."""
    corpus = copy(corpus)
    corpus.id = by
    values: list[Any] = []
    places: list[str] = []
    counts: list[Any] = [sp.csr_array((0, len(model.vocabulary_)), dtype=np.int32)]
    for some, part in in_batches(corpus):
        for value, (file, number) in zip(part.ids, some):
            # A row without an id is called by its number.
            values.append(None if value == f"row {number}" else value)
            places.append(f"{file or 'the table'}, row {number}, column {by!r}")
        counts.append(model._counts(part))
    return sp.vstack(counts, format="csr"), values, places


def share_table(names: Sequence[Name], shares: np.ndarray, title: str = "document") -> pa.Table:
    """A column of names, and one for each topic; `title` is the name of the first."""
    columns = {f"topic{k}": pa.array(column) for k, column in enumerate(shares.T)}
    title = "document" if title in columns else title
    return pa.table({title: names_array(names), **columns})


def sparse_table(names: Sequence[Name], shares: Any, title: str = "document") -> pa.Table:
    """A row for each share that a sparse matrix has: the document, the topic, the share."""
    title = "document" if title in ("topic", "share") else title
    rows = np.repeat(np.arange(len(names)), np.diff(shares.indptr))
    found = {"topic": pa.array(shares.indices), "share": pa.array(shares.data)}
    return pa.table({title: names_array(names).take(pa.array(rows)), **found})


def top_table(names: Sequence[Name], shares: np.ndarray, title: str = "document") -> pa.Table:
    """A row for each document: its name, its largest topic, and the share of that."""
    title = "document" if title in ("topic", "share") else title
    best = {"topic": pa.array(shares.argmax(axis=1)), "share": pa.array(shares.max(axis=1))}
    return pa.table({title: names_array(names), **best})
