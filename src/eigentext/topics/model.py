r"""`TopicModel`: the topics of documents, from their pairs and triples of words.

The words of a document are drawn from topics :math:`\mu_1 \dots \mu_K`, which are distributions
over d words (Anandkumar et al. 2014):

- ``alpha0 = 0``, *bag of words*: one topic i is drawn with the probability :math:`w_i`, and then
  every word from :math:`\mu_i`;
- ``alpha0 > 0``, *LDA*: proportions h are drawn from a Dirichlet distribution with
  :math:`\alpha_i = \alpha_0 w_i`, and then every word from :math:`\sum_i h_i \mu_i`.

Topics are learned in three steps (:mod:`eigentext.topics.steps`): moments of pairs and triples
of words at distinct positions (:mod:`eigentext.moments.bags`), their decomposition
(:mod:`eigentext.topics.tensor` or :mod:`eigentext.topics.anchors`), and a few steps of EM
(:mod:`eigentext.topics.em`). :mod:`eigentext.topics.inference` answers questions to fitted topics.
"""

import math
import os
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, Literal, Self

import numpy as np

from eigentext.corpus import Vocabulary
from eigentext.corpus.documents import is_matrix
from eigentext.errors import MomentsError
from eigentext.estimators import (
    Estimator,
    Finding,
    check_is_fitted,
    learned_with,
    learning,
    users_level,
)
from eigentext.moments import DocumentMoments
from eigentext.moments.document_checks import is_of_matrix
from eigentext.moments.limits import Limit, adapted
from eigentext.parameters import UnusedParameterWarning
from eigentext.storage import Saved
from eigentext.topics import _saved, parameters
from eigentext.topics._findings import (
    findings_of,
    of_stop_words,
    size_findings,
    topics_of_stop_words,
)
from eigentext.topics.anchors import Recovery
from eigentext.topics.answers import Answers
from eigentext.topics.background import RARE, kept_vectors, named_vectors
from eigentext.topics.growing import Growing
from eigentext.topics.learning import LearnedTopics, learn_topics
from eigentext.topics.steps import Method
from eigentext.topics.tensor import Solver

_LIMITS = ("min_df", "max_df", "max_size", "stop_words")


class TopicModel(Answers, Growing, Saved, Estimator):
    r"""Topics of documents; see the module.

    Parameters
    ----------
    n_topics : int or "auto"
        The number K of topics. "auto" chooses it by noise and by held-out documents
        (:mod:`eigentext.topics.choosing`).
    method : "tensor", "gradient" or "anchors"
        How the moments are decomposed. "tensor": the K x K x K whitened third moment, by `solver`.
        "gradient": the same, and then the distance of both moments is minimized directly.
        "anchors": pairs alone, by words that only one topic has (Arora et al. 2013).
    alpha0 : float, "auto", "moments" or list of floats
        0 if each document has one topic. Otherwise, the sum of LDA's :math:`\alpha_i`: the larger,
        the more topics a document has. 1 suits most text. If several values are given, or "auto"
        (0.1 to 10), the value with the least perplexity of held-out documents is chosen. One
        document in ten is held out for that. "moments" estimates it from pairs and triples, and
        EM improves the estimate, in the time of one fit.
    refine : int
        The largest number of EM steps after the decomposition. They stop when they gain little.
        With 0, the topics are those of the decomposition.
    robust : float
        The most leverage that a document may have on the moments, in units of the average leverage.
        Without a limit, a few outlier documents would make topics. Short documents count less, too.
        With 0, the moments do not change. For "anchors" the limit is half of it, because a single
        outlier can be an anchor.
    set_apart : bool
        Leave documents out of learning that are copies of others (one of each stays), that share
        words which hardly occur elsewhere (signatures, templates), or that own a direction (encoded
        files). See :mod:`eigentext.topics.apart`, and the method `apart`, which names them.
    smoothing : float
        The pseudo-counts of every word in every topic, in EM.
    solver : "power" or "diagonal"
        "power": tensor power iteration with deflation. "diagonal": simultaneous diagonalization,
        which makes whitened topics orthogonal.
    recovery : "l2", "rows" or "kl"
        For "anchors": what the weights of words on anchors minimize. "l2": the squared distance in
        K dimensions. "rows": the squared distance of whole rows. "kl": the divergence of whole
        rows, which is slow.
    vectors : Eigenwords, gensim's KeyedVectors, or (words, matrix), optional
        Word vectors of other, plain text. Words that mean alike share what is known about them,
        which helps with few or short documents and with rare words. The words are looked up as
        they are written, in lower case and capitalized. A model file only names them. See
        :mod:`eigentext.topics.background`.
    background : "auto" or float
        How much a word is told by its neighbors in the vectors: as much as so many occurrences
        would. "auto" is the best of 0, 1, 3, 10 and 30 on documents that are held out, one in ten.
        With 0, the topics are those without vectors.
    rectify : bool
        For "anchors": whether negative entries are removed from the part of rank K of the pair
        moment before anchors are sought (:mod:`eigentext.factor.rectify`). With ``rectify=False,
        robust=0, refine=0``, the answer is that of Arora et al. (2013).
    anchors : dict or list, optional
        Words that belong to topics: ``{"space": ["nasa", "orbit"], "faith": ["god"]}``, or lists of
        words without names. For "anchors" they are the anchors of these topics, and further ones
        are found. For the other methods they are seeds of EM. See :mod:`eigentext.topics.seeds`.
    not_anchors : list of str, optional
        For "anchors": words that may not be anchors.
    min_df, max_df : "auto", int or float
        Words in fewer documents, or in more, are left out. An int is a number of documents, and a
        float is a share of them. "auto" is 5 documents for `min_df`, and half of them for `max_df`.
        For fewer than 500 documents, it is a hundredth of them, and all of them. With `vectors`,
        `min_df` is 2 documents instead, because vectors tell what rare words are about.
    max_size : int, optional
        Keep only this many words, the most frequent ones.
    stop_words : "auto", "none", a language, collection of str, or None
        Words to leave out: those of a language ("english", "german", "es" …), whatever their case,
        and with them all tokens without letters and digits; or those of a list, as they are.
        "auto" guesses the language (:mod:`eigentext.corpus.stop_words`). `findings` says which it
        was, and what was left out.

        These limits are for text. All columns of a matrix stay, unless min_df or max_df is a
        number, or max_size or a list of stop words is given.
    keep_moments : "none", "cut" or "whole"
        The statistics of the documents to keep (and save) with the model. With "whole",
        `partial_fit` and `merge` are exact. "cut" keeps the words of the model alone.
    random_state : int or None
        The seed of sampling, of the start of anchors, and of the held-out documents. The moments
        of "tensor" and "gradient" have the same answer with every seed.

    Attributes
    ----------
    components_ : array, shape (K, d)
        :math:`\mu_i`: the word probabilities of a topic in each row, the largest topic first.
    weights_ : array, shape (K,)
        :math:`w_i`, with the sum 1.
    alpha0_ : float
        The given, chosen or estimated value.
    alpha_ : array, shape (K,)
        :math:`\alpha_i = \alpha_0 w_i`.
    n_topics_ : int
        K, or the rank of the pair moment if that is less.
    topic_topic_ : array, shape (K, K)
        For "anchors": the probability that two words of a document have these topics.
    topic_names_ : list of str or None
        The names that `anchors` gave. Topics without a name have None.
    vocabulary_ : Vocabulary
        The words of the columns.
    diagnostics_ : dict
        The eigenvalues that are kept and the next ones, the residual of the decomposition, how far
        topics had to be moved to become distributions, documents without triples, documents that
        lost weight, the perplexity at each step of EM (leave-one-out, on the training documents),
        the limits of words, and what they left out.
    provenance_ : dict
        What the model was learned from.
    moments_ : DocumentMoments or None
        Those that `keep_moments` asks for.

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
        n_topics: int | Literal["auto"] = 20,
        *,
        method: Method = "tensor",
        alpha0: Any = 1.0,
        refine: int = 30,
        robust: float = 7.0,
        set_apart: bool = False,
        smoothing: float = 0.1,
        solver: Solver = "power",
        recovery: Recovery = "l2",
        vectors: Any = None,
        background: Any = "auto",
        rectify: bool = True,
        anchors: Any = None,
        not_anchors: Any = None,
        min_df: Limit = "auto",
        max_df: Limit = "auto",
        max_size: int | None = None,
        stop_words: str | Iterable[str] | None = "auto",
        keep_moments: Literal["none", "cut", "whole"] = "none",
        random_state: Any = 0,
    ):
        self.n_topics = n_topics
        self.method: Method = method
        self.alpha0 = alpha0
        self.refine = refine
        self.robust = robust
        self.set_apart = set_apart
        self.smoothing = smoothing
        self.solver: Solver = solver
        self.recovery: Recovery = recovery
        self.vectors = vectors
        self.background = background
        self.rectify = rectify
        self.anchors = anchors
        self.not_anchors = not_anchors
        self.min_df: Limit = min_df
        self.max_df: Limit = max_df
        self.max_size = max_size
        self.stop_words = stop_words
        self.keep_moments: Literal["none", "cut", "whole"] = keep_moments
        self.random_state = random_state

    # Learning.

    @learning
    def fit(
        self, X: Any, y: None = None, *, cache: str | os.PathLike[str] | bool | None = None
    ) -> Self:
        """Learn from documents: strings, lists of tokens, a TextCorpus, or a matrix of counts.

        This is the same as `collect` and then `fit_moments`. See
        :meth:`eigentext.DocumentMoments.from_corpus`.
        """
        if isinstance(X, DocumentMoments):
            return self.fit_moments(X)
        moments = self.collect(X, cache=cache)
        if self.keep_moments == "whole":
            return self.fit_moments(moments)
        return self._learn(moments, limited=True)

    def collect(
        self, X: Any, *, cache: str | os.PathLike[str] | bool | None = None
    ) -> DocumentMoments:
        """Return the statistics of documents that `fit` needs, or keeps."""
        for name, value in self.get_params(deep=False).items():
            if isinstance(value, Iterator):  # it can be read only once
                setattr(self, name, list(value))
        limits = self._table.taken(self.get_params(deep=False))
        if isinstance(X, DocumentMoments):
            return X
        if self.keep_moments == "whole":
            return DocumentMoments.from_corpus(X, cache=cache)
        given = self._limits(columns=is_matrix(X)) | {"stop_words": limits["stop_words"]}
        return DocumentMoments.from_corpus(X, **given, cache=cache)

    def _limits(self, *, columns: bool) -> dict[str, Any]:
        """The limits of words. With vectors, rare words stay. `columns` of a matrix all do."""
        limits = {name: getattr(self, name) for name in _LIMITS}
        if self.vectors is not None and self.min_df == "auto" and not columns:
            limits["min_df"] = RARE
        return limits

    @learning
    def fit_moments(self, moments: DocumentMoments) -> Self:
        """Learn from statistics. If they cover all words, the limits of this model apply."""
        if not isinstance(moments, DocumentMoments):
            raise MomentsError(
                f"topics are learned from DocumentMoments, not from {type(moments).__name__}; "
                "fit takes documents"
            )
        moments.check()
        if not moments.whole:
            return self._learn(moments, limited=False)
        limits = self._limits(columns=is_of_matrix(moments.options))
        self._learn(moments.restrict(**limits), limited=True)
        if self.keep_moments == "whole":
            self.moments_ = moments
        return self

    def _learn(self, moments: DocumentMoments, *, limited: bool) -> Self:
        """Learn topics from moments. If `limited`, their words are within the limits."""
        self._take(learn_topics(moments, self), moments, limited=limited)
        self.moments_ = None if self.keep_moments == "none" else moments
        return self

    def _take(self, found: LearnedTopics, moments: DocumentMoments, *, limited: bool) -> None:
        """Take over topics that were learned from these moments."""
        self.weights_, self.components_ = found.weights, found.components
        self.alpha0_ = found.alpha0
        self.alpha_ = found.alpha0 * found.weights
        self.n_topics_ = len(found.weights)
        self.topic_names_ = found.names
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
        if any(found.names):
            self.diagnostics_["topic_names"] = found.names
        if limited:
            columns = is_of_matrix(moments.options)
            given = self._limits(columns=columns)
            limits = adapted(given["min_df"], given["max_df"], moments.n_documents, columns=columns)
            self.diagnostics_["limits"] = dict(zip(("min_df", "max_df"), limits))
        if moments.left_out:
            self.diagnostics_["left_out"] = moments.left_out
        if n_empty := topics_of_stop_words(self.components_, self.vocabulary_):
            self.diagnostics_["topics_of_stop_words"] = n_empty
            warnings.warn(of_stop_words(n_empty).line, stacklevel=users_level())
        self.provenance_ = {
            "n_documents": moments.n_documents,
            "n_tokens": moments.n_tokens,
            "options": moments.options,
            "sources": moments.sources,
        }

    def _check_together(self) -> None:
        parameters.check_anchors(self.anchors, self.not_anchors, self.n_topics)
        default = self._table["smoothing"].default
        if self.refine == 0 and self.smoothing != default:
            warnings.warn(
                f"TopicModel with refine=0 does not use smoothing: {self.smoothing!r} has no "
                "effect; it is for steps of EM",
                UnusedParameterWarning,
                stacklevel=4,
            )
        if self.vectors is None and self.background != self._table["background"].default:
            warnings.warn(
                f"TopicModel without vectors does not use background: {self.background!r} has no "
                "effect",
                UnusedParameterWarning,
                stacklevel=4,
            )

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy. Vectors are shared, and stay fitted."""
        return type(self)(**self.get_params(deep=False))

    def _findings(self) -> Iterator[Finding]:
        return findings_of(self.diagnostics_, self.n_topics_, self.parameters_.n_topics)

    def _size_findings(self) -> Iterator[Finding]:
        return size_findings(self.diagnostics_)

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
            "parameters": named_vectors(dict(self.parameters_)),
            "alpha0": self.alpha0_,
            "n_features_in": self.n_features_in_,
            "provenance": self.provenance_,
            "diagnostics": self.diagnostics_,
        }
        if self.moments_ is not None:
            parts, about["moments"] = self.moments_._to_saved()
            arrays |= {f"moments.{name}": part for name, part in parts.items()}
        return arrays, about

    @classmethod
    def _schema(cls, about):
        return _saved.SCHEMA

    @classmethod
    def _from_saved(cls, arrays, about):
        self = learned_with(cls, kept_vectors(about["parameters"]))
        _saved.check(arrays, about)
        self.components_, self.weights_ = arrays["components"], np.asarray(arrays["weights"])
        self.vocabulary_ = Vocabulary(arrays["words"], np.asarray(arrays["word_counts"]))
        self.n_topics_ = len(self.weights_)
        self.topic_names_ = _saved.names_of(about, self.n_topics_)
        if "topic_topic" in arrays:
            self.topic_topic_ = np.asarray(arrays["topic_topic"])
        self.alpha0_ = about["alpha0"]
        self.alpha_ = self.alpha0_ * self.weights_
        self.n_features_in_ = about["n_features_in"]
        self.provenance_, self.diagnostics_ = about["provenance"], about["diagnostics"]
        self.moments_ = _saved.moments_of(arrays, about)
        return self


def _finite(diagnostics: dict[str, Any]) -> dict[str, Any]:
    """Diagnostics with None in place of infinite numbers and NaN, which JSON does not have."""

    def finite(value: Any) -> Any:
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if isinstance(value, dict):
            return {name: finite(one) for name, one in value.items()}
        return [finite(one) for one in value] if isinstance(value, list) else value

    return finite(diagnostics)
