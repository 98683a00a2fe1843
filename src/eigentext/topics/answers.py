"""What a fitted topic model answers: proportions, words, tables, pages and figures."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, Self, cast, overload

import numpy as np

from eigentext.corpus import Vocabulary
from eigentext.corpus.table_output import as_pandas
from eigentext.errors import ParameterError
from eigentext.estimators import check_is_fitted, framed
from eigentext.matrices.runs import CSR
from eigentext.moments import document_counts
from eigentext.parameters import Count, argument
from eigentext.topics import inference
from eigentext.topics.tables import Kind, table_of

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from matplotlib.axes import Axes

    from eigentext.topics.apart import ApartGroups
    from eigentext.topics.model import TopicModel


class Answers:
    """The questions to a fitted :class:`eigentext.TopicModel`, which inherits them."""

    weights_: np.ndarray
    components_: np.ndarray
    alpha0_: float
    n_topics_: int
    vocabulary_: Vocabulary
    provenance_: dict[str, Any]

    def fit(self, X: Any) -> Self:
        """Learn from documents."""
        raise NotImplementedError

    def fit_transform(self, X: Any, y: None = None) -> np.ndarray:
        """Learn from documents, and return their topic proportions."""
        X = list(X) if isinstance(X, Iterator) else X
        return self.fit(X).transform(X)

    @framed
    def transform(self, X: Any) -> np.ndarray:
        """Return the topic proportions of documents, shape (n, K), with a row for each document.

        See :func:`eigentext.topics.inference.topic_proportions`. A document without known words has
        the mean of the prior.
        """
        counts = self._counts(X)
        return inference.topic_proportions(counts, self.components_, self.weights_, self.alpha0_)

    def top_words(self, n: int = 10, *, words: Any = None) -> list[list[str]]:
        """Return the n most probable words of each topic.

        `words` are the names of the columns, if the model was learned from a matrix.
        """
        check_is_fitted(self)
        n = argument("n", Count(10, least=0), n)
        names = self.vocabulary_.words if words is None else [str(word) for word in words]
        if len(names) != self.components_.shape[1]:
            raise ParameterError(
                f"{len(names)} names for {self.components_.shape[1]} words; give one for each"
            )
        return inference.top_words(self.components_, names, n)

    def to_arrow(
        self, kind: Kind = "words", documents: Any = None, *, n_words: int = 10, words: Any = None
    ) -> "pa.Table":
        """Return a table of Arrow.

        Parameters
        ----------
        kind : "words", "topics" or "documents"
            What a row is. "words": one of the `n_words` most probable words of a topic (topic,
            weight, rank, word, probability). "topics": a topic (topic, weight, alpha, words).
            "documents": one of the `documents`, with the shares of the topics as in `transform`.
        documents : as in `transform`
            The first column has their names: the ids or else the places of a TextCorpus, the index
            of pandas, or numbers from 0.
        n_words : int
            How many words of each topic.
        words : list of str, optional
            The names of the columns, if the model was learned from a matrix.
        """
        check_is_fitted(self)
        return table_of(cast("TopicModel", self), kind, documents, n_words=n_words, words=words)

    def to_pandas(
        self, kind: Kind = "words", documents: Any = None, *, n_words: int = 10, words: Any = None
    ) -> "pd.DataFrame":
        """Return a data frame of pandas; see :meth:`to_arrow`. Names of documents are its index."""
        table = as_pandas(self.to_arrow(kind, documents, n_words=n_words, words=words))
        return table.set_index(table.columns[0]) if kind == "documents" else table

    def perplexity(self, X: Any) -> float:
        """Return the perplexity of documents by completion. Lower is better.

        The proportions of a document are learned from one half of its tokens, and the other half is
        scored. See :func:`eigentext.evaluate.completion_perplexity`. The prior is that of this
        model.
        """
        counts = self._counts(X)
        return inference.perplexity(counts, self.components_, self.weights_, self.alpha0_)

    def score(self, X: Any, y: None = None) -> float:
        """Return minus the logarithm of the perplexity. Higher is better."""
        return -float(np.log(self.perplexity(X)))

    def report(
        self, documents: Any = None, path: str | os.PathLike[str] | None = None, **options: Any
    ) -> str:
        """Return an HTML page about the topics: words, sizes, and most typical documents.

        It is also written to `path`. See :func:`eigentext.topics.report.report`.
        """
        from eigentext.topics.report import report

        check_is_fitted(self)
        return report(cast("TopicModel", self), documents, path, **options)

    def apart(self, documents: Any) -> "ApartGroups":
        """Return the groups of documents that are not like the others, with their names.

        Copies, documents with the same signature or template, and documents that own a direction:
        see :mod:`eigentext.topics.apart`. ``set_apart=True`` leaves them out of learning.
        """
        from eigentext.topics.apart import apart_documents

        check_is_fitted(self)
        return apart_documents(cast("TopicModel", self), documents)

    @overload
    def plot(
        self,
        kind: Literal["topics"] = "topics",
        *,
        n_words: int = 8,
        words: Any = None,
        ax: "Axes | None" = None,
    ) -> np.ndarray: ...
    @overload
    def plot(
        self,
        kind: Literal["spectrum", "curve"],
        *,
        n_words: int = 8,
        words: Any = None,
        ax: "Axes | None" = None,
    ) -> "Axes": ...
    def plot(
        self,
        kind: Literal["topics", "spectrum", "curve"] = "topics",
        *,
        n_words: int = 8,
        words: Any = None,
        ax: "Axes | None" = None,
    ) -> "Axes | np.ndarray":
        """Draw with matplotlib, and return the Axes.

        "topics" shows the words of each topic in its own figure, and returns an array of Axes.
        "spectrum" shows the eigenvalues of the pairs, and "curve" the perplexity at each step of
        EM. `words` are the names of the columns, if the model was learned from a matrix.
        """
        from eigentext.topics._plot import draw

        check_is_fitted(self)
        return draw(cast("TopicModel", self), kind, n_words, words, ax)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the topics, for scikit-learn."""
        check_is_fitted(self)
        return np.array([f"topic{k}" for k in range(self.n_topics_)], object)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type="transformer",
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(),
            input_tags=InputTags(sparse=True, positive_only=True, string=True),
        )

    def _counts(self, X: Any) -> CSR:
        check_is_fitted(self)
        return document_counts(X, self.vocabulary_, self.provenance_["options"])
