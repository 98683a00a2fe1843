"""What a fitted topic model answers: proportions, words, tables, pages and figures."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self, cast, overload

import numpy as np

from eigentext.corpus import Vocabulary
from eigentext.corpus.table_output import as_pandas
from eigentext.estimators import check_is_fitted, framed
from eigentext.matrices.runs import CSR
from eigentext.moments import document_counts
from eigentext.parameters import Count, Flag, Number, argument
from eigentext.topics import inference
from eigentext.topics.forms import language_of
from eigentext.topics.parameters import Rank
from eigentext.topics.tables import Kind, column_names, table_of

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from matplotlib.axes import Axes

    from eigentext.topics.apart import ApartGroups
    from eigentext.topics.hierarchy import TopicTree
    from eigentext.topics.highlight import Highlight
    from eigentext.topics.model import TopicModel
    from eigentext.topics.shares import GroupShares, Period, Weights
    from eigentext.topics.typical import DocumentLists


class Answers:
    """The questions to a fitted :class:`eigentext.TopicModel`, which inherits them."""

    weights_: np.ndarray
    components_: np.ndarray
    alpha0_: float
    n_topics_: int
    vocabulary_: Vocabulary
    diagnostics_: dict[str, Any]
    provenance_: dict[str, Any]

    def fit(self, X: Any) -> Self:
        """Learn from documents."""
        raise NotImplementedError

    def fit_transform(self, X: Any, y: None = None) -> np.ndarray:
        """Learn from documents, and return their topic proportions."""
        X = list(X) if isinstance(X, Iterator) else X
        return self.fit(X).transform(X)

    @overload
    def transform(
        self, X: Any, *, sparse: Literal[False] = False, least: float = 0.01
    ) -> np.ndarray: ...
    @overload
    def transform(self, X: Any, *, sparse: Literal[True], least: float = 0.01) -> CSR: ...
    @framed
    def transform(self, X: Any, *, sparse: bool = False, least: float = 0.01) -> Any:
        """Return the topic proportions of documents, shape (n, K), with a row for each document.

        See :func:`eigentext.topics.inference.topic_proportions`. A document without known words has
        the mean of the prior.

        Parameters
        ----------
        X : documents
            In any form that `fit` takes.
        sparse : bool
            Return a sparse matrix (CSR) instead of an array. Shares below `least` are left out, and
            the others do not change. So the sum of a row is 1 less what was left out.
        least : float
            The least share that a sparse matrix keeps. The largest share of a document is always
            kept.
        """
        least = argument("least", Number(0.01, least=0, most=1), least)
        counts = self._counts(X)
        fitted = self.components_, self.weights_, self.alpha0_
        if sparse:
            return inference.sparse_proportions(counts, *fitted, least)
        return inference.topic_proportions(counts, *fitted)

    def top_words(
        self,
        n: int = 10,
        *,
        rank: Rank | None = None,
        weight: float | None = None,
        merge: bool | None = None,
        words: Any = None,
    ) -> inference.TopWords:
        """Return the n words of each topic that describe it best.

        Parameters
        ----------
        n : int
            How many words of each topic.
        rank : str, optional
            The ranking of words (:mod:`eigentext.topics.ranking`): "distinctive", which is the
            default, "probability", "relevance", "frex", "score" or "divergence".
        weight : float, optional
            The weight of probability, from 0 to 1, for "distinctive" (1/3), "relevance" (0.6) and
            "frex" (0.5).
        merge : bool, optional
            Whether plurals and other forms of a word are shown as one word
            (:mod:`eigentext.topics.forms`). By default they are, if `rank` is not given.
        words : list of str, optional
            The names of the columns, if the model was learned from a matrix.

        Returns
        -------
        TopWords
            A list with a list of words for each topic. It has two attributes: `probabilities`, and
            `forms`, which words stand for several.

        Examples
        --------
        >>> from eigentext import TopicModel
        >>> texts = ["old ham eggs", "eggs ham cheese", "old goal team", "ham eggs rye"] * 20
        >>> model = TopicModel(2).fit(texts)
        >>> model.top_words(2)
        [['eggs', 'ham'], ['old', 'goal']]
        >>> top = model.top_words(3, rank="probability")
        >>> [round(probability, 2) for probability in top.probabilities[0]]
        [0.34, 0.34, 0.11]
        """
        check_is_fitted(self)
        n = argument("n", Count(10, least=0), n)
        merge = argument("merge", Flag(True, none=True), merge)
        names = column_names(cast("TopicModel", self), words)
        return inference.top_words(
            self.components_,
            self.weights_,
            self.vocabulary_.counts,
            names,
            n,
            rank=rank,
            weight=weight,
            merge=merge,
            language=language_of(self.diagnostics_),
        )

    def top_phrases(self, documents: Any, n: int = 5, *, min_df: int = 5) -> list[list[str]]:
        """Return the phrases of each topic in documents, such as "hard drive", at most n.

        See :mod:`eigentext.topics.phrases`. `documents` are texts, lists of tokens, files or a
        corpus, as in `transform`, but not counts. A phrase is in `min_df` documents or more.

        Examples
        --------
        >>> from eigentext import TopicModel
        >>> texts = ["the hard drive failed again", "a failed drive", "hard ice at the south pole"]
        >>> texts += ["ice at the pole", "again the south pole", "a new hard drive"]
        >>> TopicModel(2).fit(texts * 9).top_phrases(texts * 9, 1)
        [['hard drive'], ['south pole']]
        """
        from eigentext.topics.phrases import phrases_of

        check_is_fitted(self)
        n, min_df = argument("n", Count(5, least=0), n), argument("min_df", Count(5), min_df)
        return phrases_of(cast("TopicModel", self), documents, n, min_df)

    def to_arrow(
        self,
        kind: Kind = "words",
        documents: Any = None,
        *,
        n_words: int = 10,
        rank: Rank | None = None,
        words: Any = None,
    ) -> "pa.Table":
        """Return a table of Arrow.

        Parameters
        ----------
        kind : "words", "topics", "documents", "matrix" or "tree"
            What a row is. "words": one of the `n_words` words of a topic, as in `top_words` (topic,
            weight, rank, word, probability, and the forms that the word stands for). "topics": a
            topic (topic, weight, alpha, words). "documents": one of the `documents`, with the
            shares of the topics as in `transform`. "matrix": a word, with its probability in each
            topic. "tree": a node of the tree over topics (:meth:`hierarchy`).
        documents : as in `transform`
            The first column has their names: the ids or else the places of a TextCorpus, the index
            of pandas, or numbers from 0.
        n_words, rank : optional
            How many words of each topic, and their ranking, as in `top_words`.
        words : list of str, optional
            The names of the columns, if the model was learned from a matrix.
        """
        check_is_fitted(self)
        return table_of(
            cast("TopicModel", self), kind, documents, n_words=n_words, rank=rank, words=words
        )

    def to_pandas(
        self,
        kind: Kind = "words",
        documents: Any = None,
        *,
        n_words: int = 10,
        rank: Rank | None = None,
        words: Any = None,
    ) -> "pd.DataFrame":
        """Return a data frame of pandas; see :meth:`to_arrow`. Names of documents are its index."""
        table = as_pandas(self.to_arrow(kind, documents, n_words=n_words, rank=rank, words=words))
        return table.set_index(table.columns[0]) if kind == "documents" else table

    def to_pyldavis(
        self,
        documents: Any,
        path: str | os.PathLike[str] | None = None,
        *,
        n_words: int = 30,
        step: float = 0.01,
        words: Any = None,
    ) -> dict[str, Any]:
        """Return what the page of pyLDAvis reads, and write it as JSON to `path`.

        See :func:`eigentext.topics.pyldavis.to_pyldavis`.
        """
        from eigentext.topics.pyldavis import to_pyldavis

        model = cast("TopicModel", self)
        return to_pyldavis(model, documents, path, n_words=n_words, step=step, words=words)

    def hierarchy(self, *, n_words: int = 5, words: Any = None) -> "TopicTree":
        """Return a tree over the topics: those that are near each other are merged first.

        See :func:`eigentext.topics.hierarchy.hierarchy`.
        """
        from eigentext.topics.hierarchy import hierarchy

        return hierarchy(cast("TopicModel", self), n_words=n_words, words=words)

    def highlight(self, text: str) -> "Highlight":
        """Return a document with its words marked by topic.

        See :func:`eigentext.topics.highlight.highlight`.
        """
        from eigentext.topics.highlight import highlight

        return highlight(cast("TopicModel", self), text)

    def shares_by(
        self,
        documents: Any,
        by: Any,
        *,
        period: "Period | None" = None,
        weights: "Weights" = "documents",
        level: float = 0.95,
    ) -> "GroupShares":
        """Return the shares of topics over time, or by group, with intervals.

        See :func:`eigentext.topics.shares.shares_by`.
        """
        from eigentext.topics.shares import shares_by

        model = cast("TopicModel", self)
        return shares_by(model, documents, by, period=period, weights=weights, level=level)

    def typical_documents(
        self, documents: Any, n_documents: int = 3, *, titles: Sequence[str] | None = None
    ) -> "DocumentLists":
        """Return the documents with the largest share of each topic, a list for each topic.

        See :mod:`eigentext.topics.typical`. ``to_arrow()`` and ``to_pandas()`` make it a table.
        """
        from eigentext.topics.typical import DocumentLists, TypicalDocument, typical_documents

        found = self._listed(typical_documents, documents, n_documents, titles)
        return DocumentLists(found, TypicalDocument)

    def borderline_documents(
        self, documents: Any, n_documents: int = 3, *, titles: Sequence[str] | None = None
    ) -> "DocumentLists":
        """Return the documents in which each topic ties with another, a list for each topic.

        See :mod:`eigentext.topics.typical`. ``to_arrow()`` and ``to_pandas()`` make it a table.
        """
        from eigentext.topics.typical import (
            BorderlineDocument,
            DocumentLists,
            borderline_documents,
        )

        found = self._listed(borderline_documents, documents, n_documents, titles)
        return DocumentLists(found, BorderlineDocument)

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
        EM, or how much the step changed the topics of documents (for two views). `words` are the
        names of the columns, if the model was learned from a matrix.
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

    def _listed(
        self,
        choose: Callable[..., list[list[Any]]],
        documents: Any,
        n_documents: int,
        titles: Sequence[str] | None,
    ) -> list[list[Any]]:
        check_is_fitted(self)
        n_documents = argument("n_documents", Count(3), n_documents)
        return choose(cast("TopicModel", self), documents, n_documents, titles)

    def _counts(self, X: Any) -> CSR:
        check_is_fitted(self)
        return document_counts(X, self.vocabulary_, self.provenance_["options"])
