r"""`TwoViewTopics`: topics of documents that have two views, such as a title and a text.

The first view of a document is its words. The second view is other words (a title, a subject, an
abstract), or a row of numbers: an embedding of the text, or data about it. Each document has one
topic k, with the probability :math:`w_k`. Given the topic, both views are independent: the words
have the distribution :math:`\mu_k`, and the second view has a distribution of words, or a Gaussian
distribution of numbers.

Topics are learned in two steps: the moments of both views together
(:mod:`eigentext.topics.two_view_tensor`), and EM (:mod:`eigentext.topics.two_view_em`). Topics keep
their words, and documents gain what the second view knows.
"""

import os
from collections.abc import Iterator
from typing import Any, Literal, Self

import numpy as np

from eigentext.corpus import Vocabulary
from eigentext.errors import ParameterError
from eigentext.estimators import (
    Estimator,
    Finding,
    check_is_fitted,
    framed,
    learned_with,
    learning,
)
from eigentext.moments import document_counts
from eigentext.moments.limits import Limit
from eigentext.parameters import Count, Flag, Number, argument
from eigentext.storage import Saved
from eigentext.topics import _two_view_saved as saved
from eigentext.topics import inference, parameters
from eigentext.topics._findings import two_view_findings, two_view_size_findings
from eigentext.topics.answers import Answers
from eigentext.topics.forms import language_of
from eigentext.topics.parameters import Rank
from eigentext.topics.two_view_em import number_scores, posteriors, word_scores
from eigentext.topics.two_view_input import (
    Words,
    check_lengths,
    checked_numbers,
    in_order_of_content,
    read_second,
    read_words,
    scaled,
    standardized,
)
from eigentext.topics.two_view_learning import learn_views

_LIMITS = ("min_df", "max_df", "max_size", "stop_words")
_UNIFORM = 1e-6  # the share of the uniform distribution that makes every word possible


class TwoViewTopics(Answers, Saved, Estimator):
    r"""Topics of documents with two views: words, and words or numbers beside them.

    Parameters
    ----------
    n_topics : int
        The number K of topics.
    balance : float
        The weight of the second view, in units of what its likelihood says. With 0, topics are
        those of the words of the first view.
    refine : int
        The largest number of EM steps after the decomposition. They stop when posteriors hardly
        change. With 0, the topics are those of the moments.
    robust : float
        The most leverage that a document may have on the moments; see
        :class:`eigentext.TopicModel`. With 0, there is no limit.
    smoothing : float
        The pseudo-counts of every word in every topic, in EM.
    min_df, max_df : "auto", int or float
        Words in fewer documents, or in more, are left out, in each view of words. "auto" is 5
        documents for `min_df`, and half of them for `max_df`. For fewer than 500 documents, it is a
        hundredth of them, and all of them.
    max_size : int, optional
        Keep only this many words of each view, the most frequent ones.
    stop_words : "auto", "none", a language, collection of str, or None
        Words to leave out; see :class:`eigentext.TopicModel`.
    random_state : int or None
        The seed of the random starts of the linear algebra.

    Attributes
    ----------
    components_ : array, shape (K, d)
        The word probabilities of a topic in each row, the largest topic first.
    weights_ : array, shape (K,)
        :math:`w_k`, with the sum 1.
    second_kind_ : "words" or "numbers"
        What the second view is.
    second_components_ : array, shape (K, d2)
        The probabilities of the words of the second view, if it has words.
    second_means_ : array, shape (K, p)
        The mean of each topic, in the units of the array, if the second view has numbers.
    center_, spread_ : arrays, shape (p,)
        The means and standard deviations of the numbers.
    covariance_ : array, shape (p, p)
        The covariance inside topics of the standardized numbers, shrunk.
    vocabulary_, second_vocabulary_ : Vocabulary
        The words of the columns.
    n_topics_ : int
        K, or the rank of the moments if that is less.
    topic_names_ : list
        None for each topic: topics of two views have no names.
    diagnostics_ : dict
        Eigenvalues, the residual of the decomposition, documents that lost weight, how much each
        step of EM changed the posteriors, and how many documents lack a view.
    provenance_ : dict
        What the model was learned from.

    Examples
    --------
    Titles and texts:

    >>> from eigentext import TwoViewTopics
    >>> texts = ["ham eggs ham cheese", "eggs cheese ham eggs", "goal team goal match"] * 20
    >>> titles = ["breakfast", "a breakfast", "sports"] * 20
    >>> model = TwoViewTopics(2).fit(texts, titles)
    >>> [sorted(words) for words in model.top_words(3)]
    [['cheese', 'eggs', 'ham'], ['goal', 'match', 'team']]
    >>> model.top_words(1, view="second")
    [['breakfast'], ['sports']]
    >>> model.transform(["match"]).argmax(), model.transform(None, ["breakfast"]).argmax()
    (np.int64(1), np.int64(0))

    Texts and numbers:

    >>> import numpy as np
    >>> prices = np.array([[3.0], [3.5], [20.0]] * 20)
    >>> model = TwoViewTopics(2).fit(texts, prices)
    >>> model.second_means_.round(1)
    array([[ 3.2],
           [20. ]])
    """

    _format = "eigentext.two-view-topics.v1"
    _table = parameters.TwoViewTopics

    def __init__(
        self,
        n_topics: int = 20,
        *,
        balance: float = 1.0,
        refine: int = 30,
        robust: float = 7.0,
        smoothing: float = 0.1,
        min_df: Limit = "auto",
        max_df: Limit = "auto",
        max_size: int | None = None,
        stop_words: Any = "auto",
        random_state: Any = 0,
    ):
        self.n_topics = n_topics
        self.balance = balance
        self.refine = refine
        self.robust = robust
        self.smoothing = smoothing
        self.min_df: Limit = min_df
        self.max_df: Limit = max_df
        self.max_size = max_size
        self.stop_words = stop_words
        self.random_state = random_state

    @learning
    def fit(
        self,
        X: Any,
        second: Any = None,
        *,
        cache: str | os.PathLike[str] | bool | None = None,
    ) -> Self:
        """Learn from documents and their second view.

        Parameters
        ----------
        X : strings, lists of tokens, a TextCorpus, or a matrix of counts
            The words of the documents; see :meth:`eigentext.DocumentMoments.from_corpus`.
        second : the same, or an array of numbers, shape (n, p)
            Other words of the same documents, or a row of numbers for each of them. A dense array
            is numbers, and a sparse matrix is counts of words.
        cache
            See :func:`eigentext.corpus.encode`.
        """
        limits = {name: getattr(self, name) for name in _LIMITS}
        first = read_words(X, limits, cache)
        other = read_second(second, limits)
        check_lengths(
            first.counts.shape[0],
            other.counts.shape[0] if isinstance(other, Words) else len(other),
        )
        order = in_order_of_content(first, other)
        first = first.ordered(order)
        other = other.ordered(order) if isinstance(other, Words) else standardized(other[order])
        found = learn_views(first, other, self)
        self.weights_, self.components_ = found.weights, found.first["components"]
        self.n_topics_ = len(found.weights)
        self.alpha0_, self.alpha_ = 0.0, np.zeros(self.n_topics_)
        self.topic_names_ = [None] * self.n_topics_
        self.vocabulary_, self.n_features_in_ = first.vocabulary, first.n_columns
        self.second_kind_: Literal["words", "numbers"] = other.kind
        empty = first.counts.sum(axis=1) == 0
        if isinstance(other, Words):
            self.second_vocabulary_ = other.vocabulary
            self.second_components_ = found.second["components"]
            self.second_options_ = other.options
            second_empty = other.counts.sum(axis=1) == 0
        else:
            self.center_, self.spread_ = other.center, other.spread
            self.second_means_ = other.center + found.second["means"] * other.spread
            self.covariance_ = found.second["covariance"]
            second_empty = np.zeros(len(empty), bool)
        self.diagnostics_ = {
            **found.diagnostics,
            "n_documents": len(empty),
            "n_empty": int((empty & second_empty).sum()),
            "n_without_first": int((empty & ~second_empty).sum()),
            "n_without_second": int((~empty & second_empty).sum()),
        }
        if first.left_out:
            self.diagnostics_["left_out"] = first.left_out
        self.provenance_ = {
            "n_documents": len(empty),
            "n_tokens": first.n_tokens,
            "options": first.options,
            "sources": first.sources,
        }
        return self

    def fit_transform(self, X: Any, second: Any = None) -> np.ndarray:  # type: ignore[override]
        """Learn from both views, and return the topic proportions of the documents."""
        X = list(X) if isinstance(X, Iterator) else X
        second = list(second) if isinstance(second, Iterator) else second
        return self.fit(X, second).transform(X, second)

    def transform(  # type: ignore[override]
        self, X: Any = None, second: Any = None, *, sparse: bool = False, least: float = 0.01
    ) -> Any:
        """Return the posteriors of the topics, shape (n, K), with a row for each document.

        Give both views, or one of them: ``transform(texts)``, ``transform(None, arrays)``. Words
        are tempered as in EM (:mod:`eigentext.topics.two_view_em`), so these are not the posteriors
        of the model without tempering, which are close to 0 and 1 for any longer document. A
        document that has no known word and no second view has the topics' weights. `sparse` and
        `least` are as in :meth:`eigentext.TopicModel.transform`.
        """
        least = argument("least", Number(0.01, least=0, most=1), least)
        theta = self._shares(X, second)
        return inference.largest_shares([theta], self.n_topics_, least) if sparse else theta

    @framed
    def _shares(self, X: Any, second: Any) -> np.ndarray:
        check_is_fitted(self)
        if X is None and second is None:
            raise ParameterError("nothing to transform: give X, second or both")
        scores = []
        if X is not None:
            scores.append(word_scores(self._counts(X), _possible(self.components_)))
        if second is not None:
            scores.append(self.parameters_.balance * self._second_scores(second))
        if len(scores) == 2:
            check_lengths(len(scores[0]), len(scores[1]))
        return posteriors(self.weights_, scores)

    def _second_scores(self, second: Any) -> np.ndarray:
        if self.second_kind_ == "words":
            counts = document_counts(second, self.second_vocabulary_, self.second_options_)
            return word_scores(counts, _possible(self.second_components_))
        rows = checked_numbers(second, len(self.center_))
        rows, means = (
            scaled(part - self.center_, np.asarray(self.spread_))
            for part in (rows, self.second_means_)
        )
        return number_scores(rows, {"means": means, "covariance": self.covariance_})

    def top_words(
        self,
        n: int = 10,
        *,
        view: str = "first",
        rank: Rank | None = None,
        weight: float | None = None,
        merge: bool | None = None,
        words: Any = None,
    ) -> inference.TopWords:
        """Return the n words of each topic that describe it best, in one view.

        `view` is "first" or "second". All else is as in :meth:`eigentext.TopicModel.top_words`.
        """
        if view == "first":
            return super().top_words(n, rank=rank, weight=weight, merge=merge, words=words)
        check_is_fitted(self)
        if view != "second":
            raise ParameterError(f"view must be 'first' or 'second', not {view!r}")
        if self.second_kind_ != "words":
            raise ParameterError("the second view has numbers, no words; see second_means_")
        n = argument("n", Count(10, least=0), n)
        names = self.second_vocabulary_.words if words is None else [str(one) for one in words]
        if len(names) != self.second_components_.shape[1]:
            raise ParameterError(
                f"{len(names)} names for {self.second_components_.shape[1]} words; "
                "give one for each"
            )
        return inference.top_words(
            self.second_components_,
            self.weights_,
            self.second_vocabulary_.counts,
            names,
            n,
            rank=rank,
            weight=weight,
            merge=argument("merge", Flag(True, none=True), merge),
            language=language_of(self.diagnostics_),
        )

    def _findings(self) -> Iterator[Finding]:
        return two_view_findings(self.diagnostics_, self.n_topics_, self.parameters_.n_topics)

    def _size_findings(self) -> Iterator[Finding]:
        return two_view_size_findings(self.diagnostics_)

    # The file format.

    def _to_saved(self):
        check_is_fitted(self)
        return saved.to_saved(self)

    @classmethod
    def _schema(cls, about):
        return saved.schema(about)

    @classmethod
    def _from_saved(cls, arrays, about):
        self = learned_with(cls, about["parameters"])
        saved.check(arrays, about)
        self.components_, self.weights_ = arrays["components"], np.asarray(arrays["weights"])
        self.n_topics_ = len(self.weights_)
        self.alpha0_, self.alpha_ = 0.0, np.zeros(self.n_topics_)
        self.topic_names_ = [None] * self.n_topics_
        self.vocabulary_ = Vocabulary(arrays["words"], np.asarray(arrays["word_counts"]))
        self.n_features_in_ = about["n_features_in"]
        self.second_kind_ = about["second_kind"]
        if self.second_kind_ == "words":
            counts = np.asarray(arrays["second_word_counts"])
            self.second_vocabulary_ = Vocabulary(arrays["second_words"], counts)
            self.second_components_ = arrays["second_components"]
            self.second_options_ = about["second_options"]
        else:
            self.second_means_, self.covariance_ = arrays["second_means"], arrays["covariance"]
            self.center_, self.spread_ = arrays["center"], arrays["spread"]
        self.provenance_, self.diagnostics_ = about["provenance"], about["diagnostics"]
        return self


def _possible(components: np.ndarray) -> np.ndarray:
    """Distributions in which every word is possible."""
    return (1 - _UNIFORM) * np.asarray(components) + _UNIFORM / components.shape[1]
