"""Topics and documents as tables: the words of topics, the topics, the shares of documents."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from eigentext.corpus import TextCorpus
from eigentext.corpus.documents import Name, named_batches
from eigentext.corpus.table_output import names_array
from eigentext.errors import ParameterError
from eigentext.moments import document_counts
from eigentext.topics.inference import TopWords
from eigentext.topics.parameters import Rank

if TYPE_CHECKING:
    from eigentext.topics.model import TopicModel

Kind = Literal["words", "topics", "documents"]


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
    if kind not in ("words", "topics"):
        raise ParameterError(f"kind must be 'words', 'topics' or 'documents', not {kind!r}")
    if documents is not None:
        raise ParameterError(f"kind {kind!r} uses no documents; give kind='documents'")
    top = model.top_words(n_words, rank=rank, words=words)
    return word_table(model, top) if kind == "words" else topic_table(model, top)


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
    model: "TopicModel", corpus: TextCorpus, shown: Mapping[str, str] | None = None
) -> tuple[list[Name], np.ndarray]:
    """The names of the documents of a corpus, and the shares of the topics in each.

    See :func:`eigentext.corpus.documents.named_batches`.
    """
    names: list[Name] = []
    shares = [np.zeros((0, model.n_topics_))]
    for some, part in named_batches(corpus, shown):
        names += some
        counts = document_counts(part, model.vocabulary_, model.provenance_["options"])
        shares.append(np.asarray(model.transform(counts)))
    return names, np.concatenate(shares)


def share_table(names: Sequence[Name], shares: np.ndarray, title: str = "document") -> pa.Table:
    """A column of names, and one for each topic; `title` is the name of the first."""
    columns = {f"topic{k}": pa.array(column) for k, column in enumerate(shares.T)}
    title = "document" if title in columns else title
    return pa.table({title: names_array(names), **columns})


def top_table(names: Sequence[Name], shares: np.ndarray, title: str = "document") -> pa.Table:
    """A row for each document: its name, its largest topic, and the share of that."""
    title = "document" if title in ("topic", "share") else title
    best = {"topic": pa.array(shares.argmax(axis=1)), "share": pa.array(shares.max(axis=1))}
    return pa.table({title: names_array(names), **best})
