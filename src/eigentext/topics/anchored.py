"""The method "anchors" of a topic model: weights of documents, and then topics from anchors."""

from typing import TYPE_CHECKING, Any

import numpy as np

from eigentext.moments.bags import BagMoments
from eigentext.topics.anchors import anchor_topics
from eigentext.topics.apart import NAMED, described_owners
from eigentext.topics.em import RefinedTopics
from eigentext.topics.seeds import Seeds
from eigentext.topics.tensor import Robust, robust_weights

if TYPE_CHECKING:
    from eigentext.topics.steps import Settings

_STRICTER = 0.5  # one outlier makes a corner, so documents may have this share of `robust`
_RELAXED = (1, 4, 16)  # times the limit, if too little is left with it
_LEFT = 0.5  # the least share of the weight of all documents that must be left


def by_anchors(
    bags: BagMoments, K: int, alpha0: float, words: list[str], settings: "Settings", seeds: Seeds
) -> tuple[RefinedTopics, dict[str, Any], list[int]]:
    """Topics by pairs alone, diagnostics, and the place of the seed of each topic, or -1."""
    weighted, known, robust = _weighted(bags, K, alpha0, settings)
    given = seeds.within(weighted.pairs_times(np.ones((bags.n_words, 1)))[:, 0])
    found = anchor_topics(
        weighted,
        K,
        rectify=settings.rectify,
        given=given.words,
        excluded=seeds.excluded,
        recovery=settings.recovery,
        n_refits=0,
        random_state=settings.random_state,
    )
    diagnostics = {
        **found.diagnostics,
        "anchors": [words[word] for word in found.anchors],
        "separations": found.separations.tolist(),
        "topic_topic": found.topic_topic,
        "n_reduced": known.n_reduced if known else 0,
    }
    if known and (owners := described_owners(bags, known, words)):
        diagnostics["owners"] = owners[:NAMED]
    if robust != settings.robust:
        diagnostics["robust"] = robust
    weights = found.weights / found.weights.sum()
    own = [k for k, one in enumerate(seeds.words) if any(set(one) & set(g) for g in given.words)]
    places = own + [-1] * (len(weights) - len(own))
    return RefinedTopics(weights, found.components, []), diagnostics, places


def _weighted(
    bags: BagMoments, K: int, alpha0: float, settings: "Settings"
) -> tuple[BagMoments, Robust | None, float]:
    """The moments of weighted documents, the weights, and the limit of leverage.

    If all documents are alike, as the lines of a log, each kind of them is an outlier. Then the
    limit is raised until enough is left.
    """
    for times in _RELAXED if settings.robust else ():
        robust = settings.robust * times
        known = robust_weights(
            bags, K, alpha0=alpha0, most=_STRICTER * robust, random_state=settings.random_state
        )
        if known.weights.sum() >= _LEFT * bags.weights.sum():
            return bags.reweighted(known.weights), known, robust
    return bags, None, 0.0
