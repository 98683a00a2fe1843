r"""`TopicModel`: the topics of documents, from their pairs and triples of words.

A document of l words is drawn from topics :math:`\mu_1 \dots \mu_K`, distributions over d words
(Anandkumar et al. 2012):

- ``alpha0 = 0``, *bag of words*: one topic i, of probability :math:`w_i`, then every word from
  :math:`\mu_i`;
- ``alpha0 > 0``, *LDA*: proportions h from a Dirichlet distribution with
  :math:`\alpha_i = \alpha_0 w_i`, then every word from :math:`\sum_i h_i \mu_i`.

Learned in three steps: moments of pairs and triples of distinct positions
(:mod:`eigentext.moments.bags`), their decomposition (:mod:`eigentext.topics._tensor` or
:mod:`eigentext.topics._anchors`), and a few steps of EM (:mod:`eigentext.topics._refinement`).
"""

import math
import os
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, Literal, Self

import numpy as np

from eigentext.corpus import Vocabulary
from eigentext.errors import MomentsError, ParameterError
from eigentext.estimators import (
    Estimator,
    check_is_fitted,
    framed,
    learned_with,
    learning,
)
from eigentext.factor.mixture import posteriors, proportions
from eigentext.moments import DocumentMoments, document_counts
from eigentext.moments.limits import Limit, adapted
from eigentext.moments.sound_documents import is_of_matrix
from eigentext.parameters import Count, UnusedParameterWarning, argument
from eigentext.storage import Saved
from eigentext.topics import _saved, parameters
from eigentext.topics._learning import learn_topics
from eigentext.topics._tensor import Solver

Method = Literal["tensor", "gradient", "anchors"]
_LIMITS = ("min_df", "max_df", "max_size", "stop_words")


class TopicModel(Saved, Estimator):
    r"""Topics of documents; see the module.

    Parameters
    ----------
    n_topics : int
        The number K of topics.
    method : "tensor", "gradient" or "anchors"
        How moments are decomposed. "tensor": the K x K x K whitened third moment, by `solver`.
        "gradient": the same, then direct minimisation of the distance of both moments.
        "anchors": pairs alone, by words that only one topic has (Arora et al. 2013).
    alpha0 : float, "auto" or list of floats
        0 if a document has one topic. Else the sum of LDA's :math:`\alpha_i`: the larger, the more
        topics a document has; 1 suits most text. Of several, or of "auto"'s 0.1 to 10, that which
        gives one document in ten, held out, the least perplexity.
    refine : int
        The most steps of EM after the decomposition; 0 leaves the decomposition's answer. They stop
        when they gain little.
    robust : float
        No document may have more than so many times the average leverage on the moments, or a few
        strange ones would own the topics; and short documents count less. 0 leaves the moments as
        they are. ("anchors" has no need of it.)
    smoothing : float
        Pseudo-counts of every word in every topic, in EM.
    solver : "power" or "diagonal"
        Tensor power iteration with deflation, or simultaneous diagonalisation, which forces topics
        to be orthogonal once they are whitened.
    recovery : "l2", "rows" or "kl"
        For "anchors": what the weights of words on anchors minimise, the squared distance in K
        dimensions or of whole rows, or the divergence of whole rows (slow).
    min_df, max_df : "auto", int or float
        Leave out words in fewer documents, or in more: a number of them (int) or their share
        (float). "auto" is 5 documents, and half of them; or, of fewer than 500 documents, a
        hundredth of them, and all.
    max_size : int, optional
        Keep only so many words, the most frequent ones.
    stop_words : "english", collection of str, or None
        Words to leave out; "english" are scikit-learn's 318 and their contractions.

        These limits are for text. The columns of a matrix all stay, unless min_df or max_df is a
        number, max_size is given, or stop words are.
    random_state : int or None
        Of random starts, of sampling, and of what is held out.

    Attributes
    ----------
    components_ : array, shape (K, d)
        :math:`\mu_i`: a topic's word probabilities in each row, largest topic first.
    weights_ : array, shape (K,)
        :math:`w_i`, of sum 1.
    alpha0_ : float
        As given or chosen.
    alpha_ : array, shape (K,)
        :math:`\alpha_i = \alpha_0 w_i`.
    n_topics_ : int
        K, or what the rank of the pair moment allows.
    topic_topic_ : array, shape (K, K)
        For "anchors": how often two words of a document are of these topics, by the pairs alone.
    vocabulary_ : Vocabulary
        The words of the columns.
    diagnostics_ : dict
        Eigenvalues kept and the next ones, what decomposition left over, how far topics had to be
        moved to become distributions, documents without triples, documents reduced, perplexities of
        the steps of EM (leave-one-out, on the training documents), and the limits that words had to
        keep.
    provenance_ : dict
        What it was learned from.

    Examples
    --------
    >>> from eigentext import TopicModel
    >>> texts = ["ham eggs ham cheese", "eggs cheese ham eggs", "goal team goal match"] * 20
    >>> model = TopicModel(2).fit(texts)
    >>> [sorted(words) for words in model.top_words(3)]
    [['cheese', 'eggs', 'ham'], ['goal', 'match', 'team']]
    >>> model.weights_.round(2)
    array([0.67, 0.33])
    >>> model.transform(["a match of the team", "ham"]).round(1)
    array([[0.2, 0.8],
           [0.8, 0.2]])
    """

    _format = "eigentext.topics.v1"
    _table = parameters.TopicModel

    def __init__(
        self,
        n_topics: int = 20,
        *,
        method: Method = "tensor",
        alpha0: Any = 1.0,
        refine: int = 30,
        robust: float = 7.0,
        smoothing: float = 0.1,
        solver: Solver = "power",
        recovery: Literal["l2", "rows", "kl"] = "l2",
        min_df: Limit = "auto",
        max_df: Limit = "auto",
        max_size: int | None = None,
        stop_words: str | Iterable[str] | None = "english",
        random_state: Any = 0,
    ):
        self.n_topics = n_topics
        self.method: Method = method
        self.alpha0 = alpha0
        self.refine = refine
        self.robust = robust
        self.smoothing = smoothing
        self.solver: Solver = solver
        self.recovery: Literal["l2", "rows", "kl"] = recovery
        self.min_df: Limit = min_df
        self.max_df: Limit = max_df
        self.max_size = max_size
        self.stop_words = stop_words
        self.random_state = random_state

    # Learning.

    @learning
    def fit(
        self, X: Any, y: None = None, *, cache: str | os.PathLike[str] | bool | None = None
    ) -> Self:
        """Learn from documents: strings, lists of tokens, a TextCorpus, or a matrix of counts.

        Same as collect + fit_moments; see :meth:`eigentext.DocumentMoments.from_corpus`.
        """
        if isinstance(X, DocumentMoments):
            return self.fit_moments(X)
        return self._learn(self.collect(X, cache=cache), limited=True)

    def collect(
        self, X: Any, *, cache: str | os.PathLike[str] | bool | None = None
    ) -> DocumentMoments:
        """The statistics that `fit` needs of documents, and no more."""
        for name, value in self.get_params(deep=False).items():
            if isinstance(value, Iterator):  # which can be read only once
                setattr(self, name, list(value))
        limits = self._table.taken(self.get_params(deep=False))
        if isinstance(X, DocumentMoments):
            return X
        return DocumentMoments.from_corpus(
            X, **{name: limits[name] for name in _LIMITS}, cache=cache
        )

    @learning
    def fit_moments(self, moments: DocumentMoments) -> Self:
        """Learn from statistics alone; if they are of all words, the limits are kept here."""
        if not isinstance(moments, DocumentMoments):
            raise MomentsError(
                f"topics are learned from DocumentMoments, not from {type(moments).__name__}; "
                "fit takes documents"
            )
        moments.check()
        if not moments.whole:
            return self._learn(moments, limited=False)
        limits = {name: getattr(self, name) for name in _LIMITS}
        if is_of_matrix(moments.options) and limits["stop_words"] == "english":
            limits["stop_words"] = None
        return self._learn(moments.restrict(**limits), limited=True)

    def _learn(self, moments: DocumentMoments, *, limited: bool) -> Self:
        """Topics of moments, whose words keep this model's limits if they are `limited`."""
        found = learn_topics(moments, self)
        self.weights_, self.components_ = found.weights, found.components
        self.alpha0_ = found.alpha0
        self.alpha_ = found.alpha0 * found.weights
        self.n_topics_ = len(found.weights)
        if found.topic_topic is not None:
            self.topic_topic_ = found.topic_topic
        self.vocabulary_ = moments.vocabulary
        self.n_features_in_ = moments.options.get("columns", len(moments.vocabulary))
        self.diagnostics_ = {
            **_finite(found.diagnostics),
            "n_documents": moments.n_documents,
            "n_empty": moments.n_empty,
            "n_short": moments.n_short,
        }
        if limited:
            columns = is_of_matrix(moments.options)
            limits = adapted(self.min_df, self.max_df, moments.n_documents, columns=columns)
            self.diagnostics_["limits"] = dict(zip(("min_df", "max_df"), limits))
        self.provenance_ = {
            "n_documents": moments.n_documents,
            "n_tokens": moments.n_tokens,
            "options": moments.options,
            "sources": moments.sources,
        }
        return self

    def _check_together(self) -> None:
        default = self._table["smoothing"].default
        if self.refine == 0 and self.smoothing != default:
            warnings.warn(
                f"TopicModel with refine=0 does not use smoothing: {self.smoothing!r} has no "
                "effect; it is for steps of EM",
                UnusedParameterWarning,
                stacklevel=4,
            )

    # Using.

    def fit_transform(self, X: Any, y: None = None) -> np.ndarray:
        """Learn from documents, and return their topic proportions."""
        X = list(X) if isinstance(X, Iterator) else X
        return self.fit(X).transform(X)

    @framed
    def transform(self, X: Any) -> np.ndarray:
        """The topic proportions of documents, shape (n, K): one row for each, in order.

        With ``alpha0 = 0`` they are the posterior of the document's topic. Else they are the mode
        of the posterior in the softmax basis (see :func:`eigentext.factor.mixture.proportions`). A
        document without known words gets the prior's mean.
        """
        counts = self._counts(X)
        phi = self._positive_components()
        if self.alpha0_ == 0:
            return posteriors(counts, phi, self.weights_)[0]
        return proportions(counts, phi, self.alpha_)

    def top_words(self, n: int = 10, *, words: Any = None) -> list[list[str]]:
        """The n most probable words of each topic; `words` are the names of a matrix's columns."""
        check_is_fitted(self)
        n = argument("n", Count(10, least=0), n)
        names = self.vocabulary_.words if words is None else [str(word) for word in words]
        if len(names) != self.components_.shape[1]:
            raise ParameterError(
                f"{len(names)} names for {self.components_.shape[1]} words; give one for each"
            )
        order = np.argsort(-self.components_, axis=1, kind="stable")[:, :n]
        return [[names[word] for word in topic] for topic in order.tolist()]

    def perplexity(self, X: Any) -> float:
        """Held-out perplexity of documents, by completion: lower is better.

        A document's proportions are learned from one half of its tokens, and the other half is
        scored: :func:`eigentext.evaluate.completion_perplexity`, with this model's prior.
        """
        from eigentext.evaluate import completion_perplexity

        counts = self._counts(X)
        return completion_perplexity(
            self.components_, counts, alpha=self.alpha_, weights=self.weights_
        ).perplexity

    def score(self, X: Any, y: None = None) -> float:
        """Minus the logarithm of the perplexity: higher is better, as scikit-learn has it."""
        return -float(np.log(self.perplexity(X)))

    def report(
        self, documents: Any = None, path: str | os.PathLike[str] | None = None, **options: Any
    ) -> str:
        """One HTML page of the topics: words, sizes, most typical documents.

        Returned, and written to `path`; see :func:`eigentext.topics.report.report`.
        """
        from eigentext.topics.report import report

        check_is_fitted(self)
        return report(self, documents, path, **options)

    def plot(
        self,
        kind: Literal["topics", "spectrum", "curve"] = "topics",
        *,
        n_words: int = 8,
        words: Any = None,
        ax: Any = None,
    ) -> Any:
        """Draw with matplotlib: each topic's words, eigenvalues of the pairs, or how EM went.

        Returns the Axes; for "topics", which has a figure of its own, an array of them. `words` are
        the names of a matrix's columns.
        """
        from eigentext import plots

        check_is_fitted(self)

        def draw_topics() -> Any:
            best = -np.sort(-self.components_, axis=1)[:, :n_words]
            titles = [f"topic {k} ({w:.0%})" for k, w in enumerate(self.weights_)]
            return plots.topics(best.tolist(), self.top_words(n_words, words=words), titles)

        def draw_spectrum() -> Any:
            told = self.diagnostics_
            values, dropped = told["eigenvalues"], told["dropped"]
            return plots.spectrum(values, dropped, ylabel="eigenvalue of the pairs", ax=ax)

        def draw_curve() -> Any:
            steps = self.diagnostics_.get("perplexities", [])
            return plots.curves({"perplexity": steps}, xlabel="step of EM", ax=ax)

        kinds = {"topics": draw_topics, "spectrum": draw_spectrum, "curve": draw_curve}
        return plots.drawn(kind, kinds)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the topics, for scikit-learn."""
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

    # Private steps.

    def _counts(self, X: Any) -> Any:
        check_is_fitted(self)
        return document_counts(X, self.vocabulary_, self.provenance_["options"])

    def _positive_components(self) -> np.ndarray:
        """With so little of the uniform distribution that no word makes a document impossible."""
        return (1 - 1e-6) * self.components_ + 1e-6 / self.components_.shape[1]

    # The file format.

    def _to_saved(self):
        check_is_fitted(self)
        arrays = {
            "components": self.components_,
            "weights": self.weights_,
            "words": self.vocabulary_.words,
            "word_counts": self.vocabulary_.counts,
        }
        if hasattr(self, "topic_topic_"):
            arrays["topic_topic"] = self.topic_topic_
        about = {
            "parameters": dict(self.parameters_),
            "alpha0": self.alpha0_,
            "n_features_in": self.n_features_in_,
            "provenance": self.provenance_,
            "diagnostics": self.diagnostics_,
        }
        return arrays, about

    @classmethod
    def _schema(cls, about):
        return _saved.SCHEMA

    @classmethod
    def _from_saved(cls, arrays, about):
        self = learned_with(cls, about["parameters"])
        _saved.check(arrays, about)
        self.components_, self.weights_ = arrays["components"], np.asarray(arrays["weights"])
        self.vocabulary_ = Vocabulary(arrays["words"], np.asarray(arrays["word_counts"]))
        self.n_topics_ = len(self.weights_)
        if "topic_topic" in arrays:
            self.topic_topic_ = np.asarray(arrays["topic_topic"])
        self.alpha0_ = about["alpha0"]
        self.alpha_ = self.alpha0_ * self.weights_
        self.n_features_in_ = about["n_features_in"]
        self.provenance_, self.diagnostics_ = about["provenance"], about["diagnostics"]
        return self


def _finite(diagnostics: dict[str, Any]) -> dict[str, Any]:
    """With None in place of what is no number, as JSON has it: a topic alone is infinitely far."""

    def told(value: Any) -> Any:
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if isinstance(value, dict):
            return {name: told(one) for name, one in value.items()}
        return [told(one) for one in value] if isinstance(value, list) else value

    return told(diagnostics)
