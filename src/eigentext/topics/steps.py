"""The steps from moments to topics: decomposition, and EM."""

import warnings
from typing import Any, Literal, Protocol

import numpy as np

from eigentext import engine
from eigentext.estimators import users_level
from eigentext.moments import DocumentMoments
from eigentext.moments.bags import BagMoments
from eigentext.moments.document_checks import is_of_matrix
from eigentext.topics._findings import of_pairs, of_rank
from eigentext.topics.anchored import by_anchors
from eigentext.topics.anchors import Recovery, anchor_topics
from eigentext.topics.apart import NAMED, described_owners
from eigentext.topics.background import (
    Background,
    SmoothedBags,
)
from eigentext.topics.content import column_keys, word_keys
from eigentext.topics.corners import PairMoment
from eigentext.topics.em import RefinedTopics, refine_lda, refine_mixture
from eigentext.topics.seeds import Seeds, begun
from eigentext.topics.tensor import Robust, Solver, TensorTopics, robust_weights, tensor_topics

Method = Literal["tensor", "gradient", "anchors"]
START = 0  # the random seed of what should be the same in all fits
_LEAST_START = 0.1  # alpha0, where EM learns it: it cannot leave 0
_NEXT = 5  # how many of the dropped eigenvalues the diagnostics show
_RELAXED = (1, 4, 16, 0)  # times `robust`, if topics are not sound with it
# Without EM, a topic that is further (in L1) from all distributions is noise. EM makes use of such
# topics. (Two distributions have a distance of 2 at most.)
_FAR = 10


class Settings(Protocol):
    """The parameters of :class:`eigentext.TopicModel` that learning uses."""

    n_topics: Any  # a number or "auto"
    method: Method
    alpha0: Any
    refine: int
    robust: float
    set_apart: bool
    smoothing: float
    solver: Solver
    recovery: Recovery
    vectors: Any
    background: Any
    rectify: bool
    anchors: Any
    not_anchors: Any
    random_state: Any


def decompose(
    moments: DocumentMoments,
    alpha0: float,
    settings: Settings,
    seeds: Seeds,
    background: Background | None = None,
) -> tuple[RefinedTopics, dict[str, Any], list[int]]:
    """Topics by the moments alone, as distributions, diagnostics, and the places of seeds."""
    with engine.phase("moments"):
        bags = BagMoments(moments.counts, moments.times)
    K, words = min(settings.n_topics, bags.n_words), moments.vocabulary.words
    if settings.method == "anchors":
        found, diagnostics, places = by_anchors(bags, K, alpha0, words, settings, seeds)
        _warn_of_rank(len(found.weights), settings.n_topics)
        return found, diagnostics, places
    found, diagnostics = _by_tensor(bags, K, alpha0, words, settings, background)
    components, places = found.components, [-1] * len(found.weights)
    if seeds.words:
        pairs = PairMoment.of_bags(bags)
        components, places = begun(found.weights, components, pairs, seeds)
        components = components if settings.refine else found.components
    return found._replace(components=components), diagnostics, places


def _by_tensor(
    bags: BagMoments,
    K: int,
    alpha0: float,
    words: list[str],
    settings: Settings,
    background: Background | None,
) -> tuple[RefinedTopics, dict[str, Any]]:
    """Topics by pairs and triples, or by pairs alone if the triples do not have them."""
    used = SmoothedBags(bags, background.moved()) if background else bags
    found, known, robust = _soundest(used, K, alpha0, settings)
    components, moved = on_simplex(found.components)
    weights, total = found.weights, float(found.weights.sum())
    is_sound = found.is_sound if settings.refine else found.is_sound & (moved < _FAR)
    diagnostics = {
        "eigenvalues": found.whitening.eigenvalues.tolist(),
        "dropped": found.whitening.dropped[:_NEXT].tolist(),
        "residual": found.residual,
        "weight_sum": total,
        "moved": float(moved.mean()),
        "moved_most": float(moved.max()),
        "n_reduced": known.n_reduced if known else 0,
    }
    if known and (owners := described_owners(used, known, words)):
        diagnostics["owners"] = owners[:NAMED]
    if robust != settings.robust:
        diagnostics["robust"] = robust
    if not is_sound.all():
        diagnostics["n_sound"] = n_sound = int(is_sound.sum())
        others = anchor_topics(bags, len(components), random_state=settings.random_state)
        weights, components = others.weights, others.components
        if not settings.refine:
            told = of_pairs(n_sound, len(is_sound), refined=False)
            warnings.warn(told.line, stacklevel=users_level())
    _warn_of_rank(len(components), settings.n_topics)
    return RefinedTopics(weights / weights.sum(), components, []), diagnostics


def _soundest(
    bags: BagMoments, K: int, alpha0: float, settings: Settings
) -> tuple[TensorTopics, Robust | None, float]:
    """Decompose the triples. Return also the weights of documents, and by which limit they are.

    If all documents are alike, as the lines of a log, each kind of them is an outlier, and little
    is left when all have lost weight. So the limit is raised until all topics are sound.
    """
    tried = list[tuple[TensorTopics, Robust | None, float]]()
    for robust in [settings.robust * times for times in _RELAXED] if settings.robust else [0.0]:
        weighted, known, start = bags, None, {}
        if robust:
            known = robust_weights(bags, K, alpha0=alpha0, most=robust, random_state=START)
            weighted = bags.reweighted(known.weights)
            start = {"scale": known.scale, "start": known.directions}
        found = tensor_topics(
            weighted,
            K,
            alpha0=alpha0,
            solver=settings.solver,
            descend=settings.method == "gradient",
            random_state=START,
            **start,
        )
        tried.append((found, known, robust))
        if found.n_sound == len(found.weights):
            break
    return max(tried, key=lambda one: one[0].n_sound)  # the first of several


def _warn_of_rank(usable: int, n_topics: int) -> None:
    if usable < n_topics:
        warnings.warn(of_rank(usable, n_topics).line, stacklevel=users_level())


def refine(
    moments: DocumentMoments,
    alpha0: float,
    found: RefinedTopics,
    settings: Settings,
    seeds: Seeds,
    places: list[int],
    background: Background | None = None,
    n_steps: int | None = None,
) -> RefinedTopics:
    """Run EM from the topics that were found, with at most `n_steps` steps."""
    data = (moments.counts, moments.times, found.weights, found.components)
    smoothing = seeds.smoothing(moments, places, settings.smoothing)
    steps = {
        "n_steps": min(settings.refine, n_steps or settings.refine),
        "smoothing": smoothing,
        "background": background,
    }
    learns = settings.alpha0 == "moments"
    if learns:
        alpha0 = max(alpha0, _LEAST_START)
    if alpha0 == 0:
        return refine_mixture(*data, **steps)
    how = {"alpha0": alpha0, "random_state": settings.random_state, "learn_alpha": learns}
    return refine_lda(*data, **how, words=keys_of_words(moments), **steps)


def keys_of_words(moments: DocumentMoments) -> np.ndarray:
    """Return the keys of words by name, or of all the columns of a matrix by number."""
    if is_of_matrix(moments.options) and moments.whole:
        return column_keys(len(moments.vocabulary))
    return word_keys(moments.vocabulary.words)


def on_simplex(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest distribution to each row, and its distance (in L1).

    Examples
    --------
    >>> on_simplex(np.array([[0.7, 0.5, -0.2]]))
    (array([[0.6, 0.4, 0. ]]), array([0.4]))
    """
    falling = -np.sort(-rows, axis=1)
    excess = (falling.cumsum(axis=1) - 1) / np.arange(1, rows.shape[1] + 1)
    last = (falling > excess).sum(axis=1) - 1  # the last entry that stays positive
    nearest = np.maximum(rows - excess[np.arange(len(rows)), last][:, None], 0)
    return nearest, np.abs(nearest - rows).sum(axis=1)
