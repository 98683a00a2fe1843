r"""More documents for a model: exact moments, and then EM from the old topics.

Moments of documents add up exactly (:mod:`eigentext.moments.documents`), so those of the old and
the new documents together are the moments of all of them, whatever the order. What is learned from
them may begin in two places:

- *From the old topics*, which is the default. EM goes on from the old answer. Topic k stays topic
  k, so whatever was written about the topics stays true. Weights change, and topics are not sorted
  by them again. Words that are new in the vocabulary begin with a small probability in all topics.
  New topics can be added (:mod:`eigentext.topics.residual`). They come after the old ones.
- *From the moments*, if a restart is asked for: the answer is that of a fit of all documents.

Without EM (``refine=0``) the moments are decomposed anew, and each topic gets the number of the old
topic that it is most like, by the best assignment.
"""

import copy
import os
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, cast

import numpy as np
from scipy.optimize import linear_sum_assignment

from eigentext import engine
from eigentext.corpus import Vocabulary
from eigentext.corpus.documents import as_documents, is_matrix
from eigentext.errors import MomentsError, ParameterError
from eigentext.estimators import adding, check_is_fitted, is_fitted, users_level
from eigentext.moments import DocumentMoments
from eigentext.moments.bags import BagMoments
from eigentext.moments.document_checks import is_of_matrix
from eigentext.parameters import is_whole
from eigentext.topics.em import RefinedTopics
from eigentext.topics.learning import (
    _NAMED,
    LearnedTopics,
    _background,
    _refine,
    check_documents,
    learn_topics,
    on_simplex,
    without_apart,
)
from eigentext.topics.residual import found_in
from eigentext.topics.seeds import seeds_of

if TYPE_CHECKING:
    from eigentext.topics.model import TopicModel

NewTopics = int | Literal["auto"]
_MOST_WEIGHT = 0.5  # of all new topics together, when EM begins
_OF_THE_FIT = ("n_topics", "alpha0", "method", "solver", "recovery")  # what growing does not use
_LASTING = ("eigenvalues", "dropped", "alpha0_perplexities")  # facts of a fit that stay true of it
_REMEDY = "fit all documents again with keep_moments='whole' (--keep-moments whole)"


class Growing:
    """What :class:`eigentext.TopicModel` inherits to learn from more documents."""

    moments_: DocumentMoments | None

    @adding
    def partial_fit(
        self,
        X: Any,
        y: None = None,
        *,
        new_topics: NewTopics = 0,
        fixed_vocabulary: bool = False,
        restart: bool = False,
        cache: str | os.PathLike[str] | bool | None = None,
    ) -> Self:
        """Add documents to those that the topics were learned from.

        The model needs the moments of its documents: fit it with ``keep_moments="whole"``. The
        moments afterwards are exactly those of all documents. EM goes on from the old topics, so
        they keep their numbers. The number of topics and alpha0 stay, too. A model that is not
        fitted is fitted.

        Parameters
        ----------
        X : as in `fit`
            Strings are split like the old documents. DocumentMoments may be given, too.
        y : None
            Not used.
        new_topics : int or "auto"
            How many topics to add, which come after the old ones. "auto" adds one for each
            direction in the pairs of words that the old topics do not span, if it is stronger
            than any that they left out before (at most 10).
        fixed_vocabulary : bool
            Whether to keep the words of the model. Otherwise its limits choose the words again,
            from all documents. With ``keep_moments="cut"`` the words must be fixed.
        restart : bool
            Whether to forget the old topics. The result equals a fit of all documents.
        cache
            See :func:`eigentext.corpus.encode`.

        Examples
        --------
        >>> from eigentext import TopicModel
        >>> meals, games = ["ham eggs ham cheese", "eggs cheese ham"], ["goal team goal match"]
        >>> model = TopicModel(2, keep_moments="whole").fit((meals + games) * 20)
        >>> model.partial_fit(["court judge court trial"] * 20, new_topics=1).top_words(2)
        [['ham', 'cheese'], ['goal', 'match'], ['court', 'judge']]
        """
        model = cast("TopicModel", self)
        if not is_fitted(model):
            return cast("Self", model.fit(X, cache=cache))
        old = _kept_moments(model, fixed_vocabulary)
        _check_new_topics(new_topics, restart)
        more = _moments_of(X, old.options, cache)
        _check_whole(more, fixed_vocabulary)
        _warn_of_repeated(old, more)
        moments = old + more
        if restart and not fixed_vocabulary:
            return cast("Self", model.fit_moments(moments))
        columns = is_of_matrix(moments.options)
        limits = None if fixed_vocabulary else model._limits(columns=columns)
        words = model.vocabulary_.words
        cut = moments.restrict(words) if limits is None else moments.restrict(**limits)
        if restart:
            model._take(learn_topics(cut, model), cut, limited=False)
        else:
            _go_on(model, cut, old, new_topics, limited=limits is not None)
        model.moments_ = {"none": None, "cut": cut, "whole": moments}[model.keep_moments]
        return self

    def merge(self, *others: "TopicModel", **settings: Any) -> Self:
        """Return a new model of the documents of this one and of others; see :func:`merge`."""
        return cast("Self", merge(cast("TopicModel", self), *others, **settings))


def merge(model: "TopicModel", *others: "TopicModel", **settings: Any) -> "TopicModel":
    """Return a model of the documents of several models, which stay as they are.

    Its moments are exactly those of all documents, and its parameters are those of the first model.
    EM goes on from the topics of the first, which keep their numbers. All models need their moments
    (``keep_moments="whole"``).

    Parameters
    ----------
    model, *others : TopicModel
        Two models or more.
    **settings
        ``new_topics``, ``fixed_vocabulary`` and ``restart``, as in `TopicModel.partial_fit`. With
        ``new_topics="auto"``, topics that the first model does not have are added.

    Examples
    --------
    >>> from eigentext import TopicModel
    >>> from eigentext.topics import merge
    >>> meals, games = ["ham eggs ham cheese"] * 20, ["goal team goal match"] * 20
    >>> a, b = (TopicModel(1, keep_moments="whole").fit(texts) for texts in (meals, games))
    >>> merge(a, b, new_topics="auto").top_words(1)
    [['ham'], ['goal']]
    """
    from eigentext.topics.model import TopicModel

    if not others:
        raise ParameterError("nothing to merge the model with; give two models or more")
    for one in (model, *others):
        if not isinstance(one, TopicModel):
            raise ParameterError(f"merge takes topic models, not {type(one).__name__}")
        check_is_fitted(one)
    fixed = bool(settings.get("fixed_vocabulary"))
    first, *rest = [_kept_moments(one, fixed) for one in others]
    for moments in rest:
        _warn_of_repeated(first, moments)
        first = first + moments
    return copy.copy(model).partial_fit(first, **settings)


def _kept_moments(model: "TopicModel", fixed_vocabulary: bool) -> DocumentMoments:
    """The moments of a model, or an error if documents cannot be added to them."""
    moments = getattr(model, "moments_", None)
    if moments is None:
        raise ParameterError(
            f"the model does not keep the moments of its documents, so none can be added; {_REMEDY}"
        )
    _check_whole(moments, fixed_vocabulary)
    return moments


def _check_whole(moments: DocumentMoments, fixed_vocabulary: bool) -> None:
    if not moments.whole and not fixed_vocabulary:
        raise MomentsError(
            f"these moments are {moments.limits}; {_REMEDY}, or accept that with "
            "fixed_vocabulary=True (--fixed-vocabulary)"
        )


def _check_new_topics(new_topics: Any, restart: bool) -> None:
    if new_topics != "auto" and not (is_whole(new_topics) and new_topics >= 0):
        raise ParameterError(
            f"new_topics must be a whole number, 0 or more, or 'auto', not {new_topics!r}"
        )
    if new_topics and restart:
        raise ParameterError(
            "restart=True (--restart) forgets the old topics, so there are none to add new_topics "
            "to; set n_topics and fit again, or leave out one of the two"
        )


def _moments_of(X: Any, options: dict[str, Any], cache: Any) -> DocumentMoments:
    """The whole moments of more documents, read like the old ones."""
    if isinstance(X, DocumentMoments):
        X.check()
        return X
    if is_matrix(X):
        return DocumentMoments.from_corpus(X)
    X = list(X) if isinstance(X, Iterator) else X
    reads_text = options.get("tokenizer") != "matrix"
    more = DocumentMoments.from_corpus(
        as_documents(X, options if reads_text else None), cache=cache
    )
    if reads_text and "unit" in more.options and "unit" in options:
        # A document of a list and a line of a file are both documents.
        more = replace(more, options=more.options | {"unit": options["unit"]})
    return more


def _warn_of_repeated(old: DocumentMoments, more: DocumentMoments) -> None:
    if set(old.sources) & set(more.sources):
        warnings.warn(
            "some of these documents were added before (the same text or matrix); they count twice",
            stacklevel=users_level(),
        )


# From the old topics to those of all documents.


def _go_on(
    model: "TopicModel",
    moments: DocumentMoments,
    old: DocumentMoments,
    new_topics: NewTopics,
    *,
    limited: bool,
) -> None:
    """Learn from `moments`, beginning with the topics of the model."""
    used = model.parameters_
    vars(model).update({name: used[name] for name in _OF_THE_FIT})
    n_before = model.provenance_["n_documents"]
    known = {name: model.diagnostics_[name] for name in _LASTING if name in model.diagnostics_}
    vars(model).pop("topic_topic_", None)
    check_documents(moments)
    start = _moved(model.weights_, model.components_, model.vocabulary_, moments.vocabulary)
    found, diagnostics = _grown(model, moments, old, start, new_topics)
    facts = {"n_documents_before": n_before, "n_new_topics": len(found.weights) - len(start[0])}
    K = len(found.weights)
    names = [*model.topic_names_, *[None] * K][:K]
    learned = LearnedTopics(
        found.weights, found.components, model.alpha0_, None, known | diagnostics | facts, names
    )
    model._take(learned, moments, limited=limited)


class _Start(NamedTuple):
    weights: np.ndarray
    components: np.ndarray


def _grown(
    model: "TopicModel",
    moments: DocumentMoments,
    old: DocumentMoments,
    start: _Start,
    new_topics: NewTopics,
) -> tuple[RefinedTopics, dict[str, Any]]:
    """The topics of the moments, the old ones first and in their order, and diagnostics."""
    alpha0, facts = model.alpha0_, {}
    if model.set_apart and model.refine:  # without EM, the fit below does it
        moments, apart = without_apart(moments, model)
        facts["apart"] = [group.to_dict() for group in apart[:_NAMED]]
    if new_topics:
        before = old.restrict(moments.vocabulary.words) if new_topics == "auto" else None
        start = _with_new(model, moments, before, start, new_topics)
    if not model.refine:
        return _in_old_order(model, moments, start)
    settings = _same_size(model, start)
    background, told = _background(moments, alpha0, settings)
    facts |= told
    seeds = seeds_of(model.anchors, None, moments)
    names = [*model.topic_names_, *[None] * len(start.weights)][: len(start.weights)]
    places = [seeds.names.index(one) if one and one in seeds.names else -1 for one in names]
    begun = RefinedTopics(*start, [])
    found = _refine(moments, alpha0, begun, settings, seeds, places, background)
    return found, facts | {"perplexities": found.perplexities}


def _same_size(model: "TopicModel", start: _Start) -> "TopicModel":
    """The settings of the model, with the number of topics and alpha0 that it has by now."""
    settings = copy.copy(model)
    vars(settings).update(n_topics=len(start.weights), alpha0=model.alpha0_)
    return settings


def _moved(
    weights: np.ndarray, components: np.ndarray, known: Vocabulary, words: Vocabulary
) -> _Start:
    """Topics over other words. One that loses all its words becomes uniform."""
    places = known.ids_of(words.words)
    moved = np.where(places >= 0, components[:, places], 0.0)
    sums = moved.sum(axis=1, keepdims=True)
    even = np.full(len(words), 1 / len(words))
    return _Start(weights, np.where(sums > 0, moved / np.where(sums > 0, sums, 1), even))


def _with_new(
    model: "TopicModel",
    moments: DocumentMoments,
    before: DocumentMoments | None,
    start: _Start,
    new_topics: NewTopics,
) -> _Start:
    """The start of EM with new topics behind the old ones."""
    with engine.phase("new topics"):
        found = found_in(
            BagMoments(moments.counts, moments.times),
            start.components,
            None if new_topics == "auto" else new_topics,
            before=None if before is None else BagMoments(before.counts, before.times),
            alpha0=model.alpha0_,
            robust=model.robust,
            random_state=model.random_state,
        )
    n = len(found.weights)
    if new_topics != "auto" and n < new_topics:
        warnings.warn(
            f"the words of these documents show only {n} of {new_topics} new topics, and no more "
            f"were added; ask for new_topics={n} (--new-topics {n})",
            stacklevel=users_level(),
        )
    added = found.weights * min(1.0, _MOST_WEIGHT / max(found.weights.sum(), _MOST_WEIGHT))
    weights = np.concatenate([start.weights * (1 - added.sum()), added])
    return _Start(weights, np.concatenate([start.components, on_simplex(found.components)[0]]))


def _in_old_order(
    model: "TopicModel", moments: DocumentMoments, start: _Start
) -> tuple[RefinedTopics, dict[str, Any]]:
    """Decompose the moments, and give each topic the number of the one that it is most like."""
    found = learn_topics(moments, _same_size(model, start))
    likeness = np.sqrt(start.components) @ np.sqrt(found.components).T
    order = linear_sum_assignment(-likeness)[1]
    rest = np.setdiff1d(np.arange(len(found.weights)), order)
    order = np.concatenate([order, rest])
    return RefinedTopics(found.weights[order], found.components[order], []), found.diagnostics
