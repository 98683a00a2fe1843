"""From the moments of documents to topics: the choice of alpha0, decomposition, and EM."""

import math
import warnings
from copy import copy
from dataclasses import replace
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from eigentext import engine
from eigentext.errors import CorpusError
from eigentext.estimators import users_level
from eigentext.moments import DocumentMoments
from eigentext.moments.bags import BagMoments
from eigentext.moments.document_checks import is_of_matrix
from eigentext.topics._findings import of_pairs, of_rank
from eigentext.topics.anchored import by_anchors
from eigentext.topics.anchors import Recovery, anchor_topics
from eigentext.topics.apart import ApartGroups, described_owners, set_apart
from eigentext.topics.background import (
    Background,
    Neighbors,
    SmoothedBags,
    neighbors_of,
    strength_by_text,
)
from eigentext.topics.choosing import (
    UNKNOWN,
    alpha0_of_moments,
    candidates,
    check_enough,
    gain,
    is_worthwhile,
    noise_level,
    perplexity_of,
    surprises,
)
from eigentext.topics.content import column_keys, document_keys, uniforms, word_keys
from eigentext.topics.corners import PairMoment
from eigentext.topics.em import RefinedTopics, refine_lda, refine_mixture
from eigentext.topics.parameters import alpha0s
from eigentext.topics.seeds import Seeds, begun, seeds_of
from eigentext.topics.tensor import Robust, Solver, TensorTopics, robust_weights, tensor_topics

Method = Literal["tensor", "gradient", "anchors"]
_ONE_IN = 10  # one document in ten validates alpha0
_STEPS = 10  # of EM, to choose the strength of the background
_NAMED = 20  # how many groups of documents apart the diagnostics name
_NO_SEEDS = Seeds()
_USUAL = 20  # topics, before their number is chosen
_START = 0  # the random seed of what should be the same in all fits
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


class LearnedTopics(NamedTuple):
    """Topics, the largest first."""

    weights: np.ndarray  # (K,)
    components: np.ndarray  # (K, d)
    alpha0: float
    topic_topic: np.ndarray | None  # (K, K), for the method "anchors"
    diagnostics: dict[str, Any]
    names: list[str | None]  # of the topics with words of the user


def learn_topics(moments: DocumentMoments, settings: Settings) -> LearnedTopics:
    """Choose alpha0, decompose the moments, and run EM."""
    check_documents(moments)
    apart = ApartGroups()
    if settings.set_apart:
        moments, apart = without_apart(moments, settings)
    seeds = seeds_of(settings.anchors, settings.not_anchors, moments)
    chosen = dict[str, Any]()
    if settings.n_topics == "auto":
        n_topics, chosen["n_topics"] = choose_n_topics(moments, settings, seeds)
        settings = _with_number(settings, n_topics)
    alpha0, tried = choose_alpha0(moments, settings, seeds)
    background, told = _background(moments, alpha0, settings)
    found, diagnostics, places = _decompose(moments, alpha0, settings, seeds, background)
    diagnostics |= chosen | told
    if settings.set_apart:
        diagnostics["apart"] = [group.to_dict() for group in apart[:_NAMED]]
        diagnostics.pop("owners", None)  # those of the other documents have no remedy
    if settings.refine:
        found = _refine(moments, alpha0, found, settings, seeds, places, background)
        diagnostics["perplexities"] = found.perplexities
    if settings.alpha0 == "moments":
        diagnostics["alpha0_of_moments"] = alpha0
        if settings.refine and found.alpha is not None:
            alpha0 = float(found.alpha.sum())
    if not (np.isfinite(found.weights).all() and np.isfinite(found.components).all()):
        raise CorpusError(
            "the topics of these documents have probabilities that are not finite; "
            "are their counts, alpha0 or smoothing very large?"
        )
    order = np.argsort(-found.weights, kind="stable")
    if found.alpha is not None and np.isfinite(found.alpha).all():
        diagnostics["alpha"] = found.alpha[order].tolist()
    topic_topic = diagnostics.pop("topic_topic", None)
    if topic_topic is not None:
        topic_topic = topic_topic[np.ix_(order, order)]
        for name in ("anchors", "separations"):
            diagnostics[name] = [diagnostics[name][k] for k in order]
    if tried:
        diagnostics["alpha0_perplexities"] = tried
    components = np.ascontiguousarray(found.components[order])
    names = [seeds.names_of(places)[k] for k in order]
    weights = found.weights[order]
    return LearnedTopics(weights, components, alpha0, topic_topic, diagnostics, names)


def check_documents(moments: DocumentMoments) -> None:
    """Raise CorpusError if no document is long enough. Warn if counts are not whole numbers."""
    if not (moments.lengths >= 3).any():
        raise CorpusError(
            f"none of {moments.n_documents} documents has three words or more, so there is nothing "
            "to learn topics from; give longer documents, or leave out fewer words (min_df, "
            "max_df, stop_words)"
        )
    if np.issubdtype(moments.counts.dtype, np.floating):
        warnings.warn(
            "counts with fractions: moments are of whole words; give counts "
            "(CountVectorizer, not TfidfVectorizer)",
            stacklevel=users_level(),
        )


def without_apart(
    moments: DocumentMoments, settings: Settings
) -> tuple[DocumentMoments, ApartGroups]:
    """Return the moments without copies and outliers, and what they are."""
    alpha0 = alpha0s(settings.alpha0) or [1.0]
    kept, found = set_apart(
        moments,
        _USUAL if settings.n_topics == "auto" else settings.n_topics,
        alpha0=alpha0[len(alpha0) // 2],
        robust=settings.robust,
        random_state=settings.random_state,
    )
    if not (kept.lengths >= 3).any():
        raise CorpusError(
            "all documents of three words or more are copies or outliers; "
            "learn with set_apart=False (without --set-apart)"
        )
    return kept, found


def choose_alpha0(
    moments: DocumentMoments, settings: Settings, seeds: Seeds = _NO_SEEDS
) -> tuple[float, dict[str, float]]:
    """Return the alpha0 with the least perplexity of held-out documents, and all perplexities.

    Or return that of the moments.
    """
    if settings.alpha0 == "moments":
        bags = BagMoments(moments.counts, moments.times)
        return alpha0_of_moments(bags, settings.n_topics), {}
    grid = alpha0s(settings.alpha0)
    if len(grid) == 1:
        return grid[0], {}
    from eigentext.evaluate import completion_perplexity

    training, validating = _divided(moments, settings.random_state, "alpha0 by; give one alpha0")
    tried = {}
    for alpha0 in grid:
        found, _, places = _decompose(training, alpha0, settings, seeds)
        if settings.refine:
            found = _refine(training, alpha0, found, settings, seeds, places)
        tried[str(alpha0)] = completion_perplexity(
            found.components,
            validating.counts.ceil(),
            alpha=alpha0 * found.weights,
            weights=found.weights,
        ).perplexity
    return min(grid, key=lambda alpha0: tried[str(alpha0)]), tried


def choose_n_topics(
    moments: DocumentMoments, settings: Settings, seeds: Seeds = _NO_SEEDS
) -> tuple[int, dict[str, Any]]:
    """Return the number of topics (see :mod:`eigentext.topics.choosing`), and the curve."""
    keys = document_keys(moments.counts, keys_of_words(moments))
    halves = uniforms(keys, settings.random_state, 1) < 0.5
    is_long = moments.lengths >= 3
    check_enough(int(moments.times[is_long].sum()), halves[is_long])
    level = noise_level(moments.counts, moments.times, halves)
    training, validating = _divided(moments, settings.random_state, "n_topics by; give a number")
    alpha0 = (alpha0s(settings.alpha0) or [UNKNOWN])[0] if settings.alpha0 != "auto" else UNKNOWN
    curve: dict[str, Any] = {
        "n_above_noise": level.n_above,
        "eigenvalues": level.eigenvalues.tolist(),
        "halves": level.values.tolist(),
        "errors": level.errors.tolist(),
        "tried": [],
    }
    numbers, chosen, before = candidates(level.n_above), 0, None
    numbers = [K for K in numbers if len(seeds.words) <= K] or [len(seeds.words)]
    for K in numbers:
        with warnings.catch_warnings(action="ignore"):  # of numbers that may not be chosen
            found, _, places = _decompose(training, alpha0, _with_number(settings, K), seeds)
        if settings.refine:
            found = _refine(training, alpha0, found, settings, seeds, places)
        data = validating.counts, found.components, alpha0 * found.weights, found.weights
        lost = surprises(*data, settings.random_state)
        told = {"n_topics": K, "perplexity": perplexity_of(lost, validating.times)}
        curve["tried"].append(told)
        if before is not None:
            saved, error = gain(before, lost, validating.times, math.log2(K / chosen))
            told |= {"gain": saved, "gain_error": error}
            if not is_worthwhile(saved, error):
                break
        chosen, before = K, lost
    return chosen, curve


def _with_number(settings: Settings, n_topics: int) -> Settings:
    settings = copy(settings)
    settings.n_topics = n_topics
    return settings


def _only(moments: DocumentMoments, rows: np.ndarray) -> DocumentMoments:
    return replace(moments, counts=moments.counts[rows], times=moments.times[rows])


def _divided(
    moments: DocumentMoments, random_state: int, purpose: str
) -> tuple[DocumentMoments, DocumentMoments]:
    """Nine of ten documents, and the tenth, which is held out to choose what `purpose` says."""
    validates = held_out(moments, random_state)
    if validates.all():
        raise CorpusError(f"too few documents to choose {purpose}")
    return _only(moments, ~validates), _only(moments, validates)


def keys_of_words(moments: DocumentMoments) -> np.ndarray:
    """Return the keys of words by name, or of all the columns of a matrix by number."""
    if is_of_matrix(moments.options) and moments.whole:
        return column_keys(len(moments.vocabulary))
    return word_keys(moments.vocabulary.words)


def held_out(moments: DocumentMoments, random_state: int) -> np.ndarray:
    """Return which of the distinct documents validate. The content of a document decides."""
    keys = document_keys(moments.counts, keys_of_words(moments))
    order = np.argsort(uniforms(keys, random_state), kind="stable")
    validates = np.zeros(len(keys), bool)
    validates[order[: -(-len(keys) // _ONE_IN)]] = True
    return validates


def _background(
    moments: DocumentMoments, alpha0: float, settings: Settings
) -> tuple[Background | None, dict[str, Any]]:
    """What vectors know about the words, if they help, and diagnostics."""
    if settings.vectors is None:
        return None, {}
    with engine.phase("vectors"):
        n = np.asarray(moments.counts.T @ moments.times, np.float64)
        neighbors = neighbors_of(moments.vocabulary, n, settings.vectors)
        told: dict[str, Any] = {"words": neighbors.words, "tokens": neighbors.tokens}
        strength = settings.background
        if strength == "auto":
            strength, tried = _strength(moments, neighbors, alpha0, settings)
            told["perplexities"] = tried
    told["strength"] = float(strength)
    background = Background(neighbors, float(strength), n) if strength else None
    return background, {"background": told}


def _strength(
    moments: DocumentMoments, neighbors: Neighbors, alpha0: float, settings: Settings
) -> tuple[float, dict[str, float]]:
    """The best strength of the background, by topics that are learned without it."""
    seeds = seeds_of(settings.anchors, settings.not_anchors, moments)
    # The seed is the same for all fits, so that two fits do not choose two strengths.
    training, validating = _divided(
        moments, _START, "background by; give a number for background (--background 3)"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # all of them come again when all documents are used
        found, _, places = _decompose(training, alpha0, settings, seeds)
    if settings.refine:
        found = _refine(training, alpha0, found, settings, seeds, places, n_steps=_STEPS)
    return strength_by_text(
        neighbors,
        training.counts,
        training.times,
        validating.counts.ceil(),
        (found.weights, found.components),
        alpha0=alpha0,
        smoothing=settings.smoothing,
    )


def _decompose(
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
        diagnostics["owners"] = owners[:_NAMED]
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
            known = robust_weights(bags, K, alpha0=alpha0, most=robust, random_state=_START)
            weighted = bags.reweighted(known.weights)
            start = {"scale": known.scale, "start": known.directions}
        found = tensor_topics(
            weighted,
            K,
            alpha0=alpha0,
            solver=settings.solver,
            descend=settings.method == "gradient",
            random_state=_START,
            **start,
        )
        tried.append((found, known, robust))
        if found.n_sound == len(found.weights):
            break
    return max(tried, key=lambda one: one[0].n_sound)  # the first of several


def _warn_of_rank(usable: int, n_topics: int) -> None:
    if usable < n_topics:
        warnings.warn(of_rank(usable, n_topics).line, stacklevel=users_level())


def _refine(
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
