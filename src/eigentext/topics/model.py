r"""`TopicModel`: the topics of documents, from their pairs and triples of words.

A document of l words is drawn from topics :math:`\mu_1 \dots \mu_K`, distributions over d words
(seed 000, addendum):

- ``alpha0 = 0``, *bag of words*: one topic i, of probability :math:`w_i`, then every word from
  :math:`\mu_i`;
- ``alpha0 > 0``, *LDA*: proportions h from a Dirichlet distribution with
  :math:`\alpha_i = \alpha_0 w_i`, then every word from :math:`\sum_i h_i \mu_i`.

Learned in three steps: moments of pairs and triples of distinct positions
(:mod:`eigentext.factor.bags`), their decomposition (:mod:`eigentext.topics._tensor` or
:mod:`eigentext.topics._anchors`), and a few steps of EM (:mod:`eigentext.topics._refinement`).
"""

import os
import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np

from eigentext import engine
from eigentext.corpus import Vocabulary
from eigentext.errors import CorpusError, ParameterError
from eigentext.estimators import Estimator, check_is_fitted
from eigentext.factor.bags import BagMoments
from eigentext.factor.mixture import posteriors, proportions
from eigentext.moments import DocumentMoments, document_counts
from eigentext.storage import Saved
from eigentext.topics._anchors import anchor_topics
from eigentext.topics._refinement import Refined, refine_lda, refine_mixture
from eigentext.topics._tensor import Solver, robust_weights, tensor_topics

Method = Literal["tensor", "gradient", "anchors"]
GRID = (0.1, 0.3, 1.0, 3.0, 10.0)  # what alpha0="auto" chooses from
_HELD_OUT = 10  # one document in so many, where alpha0 is chosen
_NEXT = 5  # dropped eigenvalues that are told


class TopicModel(Saved, Estimator):
    r"""Topics of documents; see the module.

    Parameters
    ----------
    n_topics : int
        The number K of topics.
    method : "tensor", "gradient" or "anchors"
        How moments are decomposed. "tensor": the K x K x K whitened third moment, by `solver`.
        "gradient": the same, then direct minimisation of the distance of both moments (seed 004).
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
    min_df, max_df, max_size, stop_words
        Words to leave out: see :meth:`eigentext.DocumentMoments.from_corpus`.
    random_state : int
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
        the steps of EM (leave-one-out, on the training documents).
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
    >>> model.transform(["a match of the team", "ham"]).round(2)
    array([[0., 1.],
           [1., 0.]])
    """

    _format = "eigentext.topics.v1"

    def __init__(
        self,
        n_topics: int = 20,
        *,
        method: Method = "tensor",
        alpha0: Any = 0.0,
        refine: int = 30,
        robust: float = 7.0,
        smoothing: float = 0.1,
        solver: Solver = "power",
        recovery: Literal["l2", "rows", "kl"] = "l2",
        min_df: float = 1,
        max_df: float = 1.0,
        max_size: int | None = None,
        stop_words: str | Iterable[str] | None = None,
        random_state: int = 0,
    ):
        self.n_topics = n_topics
        self.method: Method = method
        self.alpha0 = alpha0
        self.refine = refine
        self.robust = robust
        self.smoothing = smoothing
        self.solver: Solver = solver
        self.recovery: Literal["l2", "rows", "kl"] = recovery
        self.min_df = min_df
        self.max_df = max_df
        self.max_size = max_size
        self.stop_words = stop_words
        self.random_state = random_state

    # Learning.

    def fit(
        self, X: Any, y: None = None, *, cache: str | os.PathLike[str] | bool | None = None
    ) -> Self:
        """Learn from documents: strings, lists of tokens, a TextCorpus, or a matrix of counts.

        Same as collect + fit_moments; see :meth:`eigentext.DocumentMoments.from_corpus`.
        """
        return self.fit_moments(self.collect(X, cache=cache))

    def collect(
        self, X: Any, *, cache: str | os.PathLike[str] | bool | None = None
    ) -> DocumentMoments:
        """The statistics that `fit` needs of documents, and no more."""
        self._check_parameters()
        if isinstance(X, DocumentMoments):
            return X
        return DocumentMoments.from_corpus(X, **self._limits(), cache=cache)

    def fit_moments(self, moments: DocumentMoments) -> Self:
        """Learn from statistics alone."""
        self._check_parameters()
        if moments.whole:
            moments = moments.restrict(**self._limits())
        _check_documents(moments)
        alpha0, tried = self._chosen_alpha0(moments)
        found, diagnostics = self._decompose(moments, alpha0)
        if self.refine:
            found = self._refined(moments, alpha0, found.weights, found.components)
            diagnostics["perplexities"] = found.perplexities
        order = np.argsort(-found.weights, kind="stable")
        if self.method == "anchors":
            self.topic_topic_ = diagnostics.pop("topic_topic")[np.ix_(order, order)]
            for name in ("anchors", "separations"):
                diagnostics[name] = [diagnostics[name][k] for k in order]
        self.weights_ = found.weights[order]
        self.components_ = np.ascontiguousarray(found.components[order])
        self.alpha0_ = alpha0
        self.alpha_ = alpha0 * self.weights_
        self.n_topics_ = len(order)
        self.vocabulary_ = moments.vocabulary
        self.n_features_in_ = moments.options.get("columns", len(moments.vocabulary))
        self.diagnostics_ = {
            **diagnostics,
            "n_documents": moments.n_documents,
            "n_empty": moments.n_empty,
            "n_short": moments.n_short,
            **({"alpha0_perplexities": tried} if tried else {}),
        }
        self.provenance_ = {
            "n_documents": moments.n_documents,
            "n_tokens": moments.n_tokens,
            "options": moments.options,
            "sources": moments.sources,
        }
        return self

    # Using.

    def fit_transform(self, X: Any, y: None = None) -> np.ndarray:
        """Learn from documents, and return their topic proportions."""
        return self.fit(X).transform(X)

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

        return completion_perplexity(
            self.components_, self._counts(X), alpha=self.alpha_, weights=self.weights_
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

    # Private steps, in the order in which `fit_moments` takes them.

    def _limits(self) -> dict[str, Any]:
        return {
            name: getattr(self, name) for name in ("min_df", "max_df", "max_size", "stop_words")
        }

    def _check_parameters(self) -> None:
        if not (isinstance(self.n_topics, (int, np.integer)) and self.n_topics >= 1):
            raise ParameterError(f"n_topics (--topics) must be 1 or more, not {self.n_topics!r}")
        for name, choices in (
            ("method", ("tensor", "gradient", "anchors")),
            ("solver", ("power", "diagonal")),
            ("recovery", ("l2", "rows", "kl")),
        ):
            if getattr(self, name) not in choices:
                known = ", ".join(map(repr, choices))
                raise ParameterError(f"{name} must be one of {known}, not {getattr(self, name)!r}")
        for name in ("refine", "robust", "smoothing"):
            value = getattr(self, name)
            if not (_is_number(value) and value >= 0):
                raise ParameterError(f"{name} must be 0 or more, not {value!r}")
        if not self._alpha0s():
            raise ParameterError(
                f"alpha0 must be 0 or more, 'auto', or a list of such numbers, not {self.alpha0!r}"
            )

    def _alpha0s(self) -> list[float]:
        """The candidates for alpha0; none if the parameter is wrong."""
        if isinstance(self.alpha0, str):
            return list(GRID) if self.alpha0 == "auto" else []
        values = [self.alpha0] if _is_number(self.alpha0) else self.alpha0
        good = isinstance(values, Iterable) and all(_is_number(v) and v >= 0 for v in values)
        return [float(value) for value in values] if good else []

    def _chosen_alpha0(self, moments: DocumentMoments) -> tuple[float, dict[str, float]]:
        """The alpha0 under which held-out documents have the least perplexity; all of these."""
        grid = self._alpha0s()
        if len(grid) == 1:
            return grid[0], {}
        from eigentext.evaluate import completion_perplexity

        n = moments.counts.shape[0]
        held_out = np.random.default_rng(self.random_state).permutation(n) < n / _HELD_OUT
        if held_out.all():
            raise CorpusError("too few documents to choose alpha0 by; give one alpha0")
        training = replace(
            moments, counts=moments.counts[~held_out], times=moments.times[~held_out]
        )
        tried = {}
        for alpha0 in grid:
            found, _ = self._decompose(training, alpha0)
            if self.refine:
                found = self._refined(training, alpha0, found.weights, found.components)
            tried[str(alpha0)] = completion_perplexity(
                found.components,
                moments.counts[held_out].ceil(),
                alpha=alpha0 * found.weights,
                weights=found.weights,
            ).perplexity
        return min(grid, key=lambda alpha0: tried[str(alpha0)]), tried

    def _decompose(self, moments: DocumentMoments, alpha0: float) -> tuple[Refined, dict[str, Any]]:
        """Topics by moments alone, as distributions."""
        with engine.phase("moments"):
            bags = BagMoments(moments.counts, moments.times)
        K = min(self.n_topics, bags.n_words)
        if self.method == "anchors":
            anchored = anchor_topics(
                bags, K, recovery=self.recovery, random_state=self.random_state
            )
            words = moments.vocabulary.words
            diagnostics = {
                **anchored.diagnostics,
                "anchors": [words[word] for word in anchored.anchors],
                "separations": anchored.separations.tolist(),
                "topic_topic": anchored.topic_topic,
            }
            weights, components = anchored.weights, anchored.components
            self._tell_rank(len(weights))
            return Refined(weights / weights.sum(), components, []), diagnostics
        n_reduced, start = 0, {}
        if self.robust:
            weights, n_reduced, scale, directions = robust_weights(
                bags, K, alpha0=alpha0, most=self.robust, random_state=self.random_state
            )
            bags = bags.reweighted(weights)
            start = {"scale": scale, "start": directions}
        found = tensor_topics(
            bags,
            K,
            alpha0=alpha0,
            solver=self.solver,
            descend=self.method == "gradient",
            random_state=self.random_state,
            **start,
        )
        self._tell_rank(found.whitening.rank)
        components, moved = on_simplex(found.components)
        total = found.weights.sum()
        diagnostics = {
            "eigenvalues": found.whitening.eigenvalues.tolist(),
            "dropped": found.whitening.dropped[:_NEXT].tolist(),
            "residual": found.residual,
            "weight_sum": float(total),
            "moved": float(moved.mean()),
            "moved_most": float(moved.max()),
            "n_reduced": n_reduced,
        }
        weights = found.weights / total if total > 0 else np.full(len(components), 1 / K)
        return Refined(weights, components, []), diagnostics

    def _tell_rank(self, usable: int) -> None:
        if usable < self.n_topics:
            warnings.warn(
                f"n_topics is {self.n_topics}, but the pairs of words in these documents support "
                f"only {usable}, and no more were learned; give more documents or ask for "
                f"n_topics={usable} (--topics {usable})",
                stacklevel=5,
            )

    def _refined(
        self, moments: DocumentMoments, alpha0: float, weights: np.ndarray, components: np.ndarray
    ) -> Refined:
        """EM from there."""
        data = (moments.counts, moments.times, weights, components)
        steps = {"n_steps": int(self.refine), "smoothing": self.smoothing}
        if alpha0 == 0:
            return refine_mixture(*data, **steps)
        return refine_lda(*data, alpha0=alpha0, random_state=self.random_state, **steps)

    def _counts(self, X: Any) -> Any:
        check_is_fitted(self)
        return document_counts(X, self.vocabulary_, self.provenance_["options"])

    def _positive_components(self) -> np.ndarray:
        """With so little of the uniform distribution that no word makes a document impossible."""
        return (1 - 1e-6) * self.components_ + 1e-6 / self.components_.shape[1]

    def _to_saved(self):
        check_is_fitted(self)
        arrays = {
            "components": self.components_,
            "weights": self.weights_,
            "words": self.vocabulary_.words,
            "word_counts": self.vocabulary_.counts,
        }
        if self.method == "anchors":
            arrays["topic_topic"] = self.topic_topic_
        parameters = self.get_params()
        for name in ("alpha0", "stop_words"):
            value = parameters[name]
            if not isinstance(value, (str, float, int, type(None))):
                parameters[name] = list(value)
        about = {
            "parameters": parameters,
            "alpha0": self.alpha0_,
            "n_features_in": self.n_features_in_,
            "provenance": self.provenance_,
            "diagnostics": self.diagnostics_,
        }
        return arrays, about

    @classmethod
    def _from_saved(cls, arrays, about):
        self = cls(**about["parameters"])
        self.components_, self.weights_ = arrays["components"], np.asarray(arrays["weights"])
        self.vocabulary_ = Vocabulary(arrays["words"], np.asarray(arrays["word_counts"]))
        self.n_topics_ = len(self.weights_)
        if self.components_.shape != (self.n_topics_, len(self.vocabulary_)):
            raise ValueError("topics, weights and words differ in number")
        if "topic_topic" in arrays:
            self.topic_topic_ = np.asarray(arrays["topic_topic"])
        self.alpha0_ = about["alpha0"]
        self.alpha_ = self.alpha0_ * self.weights_
        self.n_features_in_ = about["n_features_in"]
        self.provenance_, self.diagnostics_ = about["provenance"], about["diagnostics"]
        return self


def on_simplex(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nearest distribution to each row, and how far it is (in L1).

    Examples
    --------
    >>> on_simplex(np.array([[0.7, 0.5, -0.2]]))
    (array([[0.6, 0.4, 0. ]]), array([0.4]))
    """
    falling = -np.sort(-rows, axis=1)
    excess = (falling.cumsum(axis=1) - 1) / np.arange(1, rows.shape[1] + 1)
    last = (falling > excess).sum(axis=1) - 1  # of the entries that stay positive
    nearest = np.maximum(rows - excess[np.arange(len(rows)), last][:, None], 0)
    return nearest, np.abs(nearest - rows).sum(axis=1)


def _check_documents(moments: DocumentMoments) -> None:
    if not (moments.lengths >= 3).any():
        raise CorpusError(
            f"none of {moments.n_documents} documents has three words or more, so there is nothing "
            "to learn topics from; give longer documents, or leave out fewer words (min_df, max_df)"
        )
    if np.issubdtype(moments.counts.dtype, np.floating):
        warnings.warn(
            "counts with fractions: moments are of whole words; give counts "
            "(CountVectorizer, not TfidfVectorizer)",
            stacklevel=3,
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and bool(np.isfinite(value))
