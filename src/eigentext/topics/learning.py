"""From the moments of documents to topics: what is chosen, and then the steps."""

import math
import warnings
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from eigentext import engine
from eigentext.errors import CorpusError
from eigentext.estimators import users_level
from eigentext.moments import DocumentMoments
from eigentext.moments.bags import BagMoments
from eigentext.topics.apart import NAMED, ApartGroups, set_apart
from eigentext.topics.background import (
    Background,
    Neighbors,
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
from eigentext.topics.content import document_keys, uniforms
from eigentext.topics.parameters import alpha0s
from eigentext.topics.seeds import Seeds, seeds_of
from eigentext.topics.steps import START, Settings, decompose, keys_of_words, refine

_ONE_IN = 10  # one document in ten validates alpha0
_STEPS = 10  # of EM, to choose the strength of the background
_NO_SEEDS = Seeds()
_USUAL = 20  # topics, before their number is chosen


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
    background, told = background_of(moments, alpha0, settings)
    found, diagnostics, places = decompose(moments, alpha0, settings, seeds, background)
    diagnostics |= chosen | told
    if settings.set_apart:
        diagnostics["apart"] = [group.to_dict() for group in apart[:NAMED]]
        diagnostics.pop("owners", None)  # those of the other documents have no remedy
    if settings.refine:
        found = refine(moments, alpha0, found, settings, seeds, places, background)
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
        with warnings.catch_warnings(action="ignore"):  # those of all documents come after this
            found, _, places = decompose(training, alpha0, settings, seeds)
        if settings.refine:
            found = refine(training, alpha0, found, settings, seeds, places)
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
    halves = uniforms(keys, START, 1) < 0.5  # the same for all fits, like all that follows
    is_long = moments.lengths >= 3
    check_enough(int(moments.times[is_long].sum()), halves[is_long])
    level = noise_level(moments.counts, moments.times, halves)
    training, validating = _divided(moments, START, "n_topics by; give a number")
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
            found, _, places = decompose(training, alpha0, _with_number(settings, K), seeds)
        if settings.refine:
            found = refine(training, alpha0, found, settings, seeds, places)
        data = validating.counts, found.components, alpha0 * found.weights, found.weights
        lost = surprises(*data, START)
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


def held_out(moments: DocumentMoments, random_state: int) -> np.ndarray:
    """Return which of the distinct documents validate. The content of a document decides."""
    keys = document_keys(moments.counts, keys_of_words(moments))
    order = np.argsort(uniforms(keys, random_state), kind="stable")
    validates = np.zeros(len(keys), bool)
    validates[order[: -(-len(keys) // _ONE_IN)]] = True
    return validates


def background_of(
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
        moments, START, "background by; give a number for background (--background 3)"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # all of them come again when all documents are used
        found, _, places = decompose(training, alpha0, settings, seeds)
    if settings.refine:
        found = refine(training, alpha0, found, settings, seeds, places, n_steps=_STEPS)
    return strength_by_text(
        neighbors,
        training.counts,
        training.times,
        validating.counts.ceil(),
        (found.weights, found.components),
        alpha0=alpha0,
        smoothing=settings.smoothing,
    )
