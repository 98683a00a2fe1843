r"""Topics that the user began: their words, their names, and what these change in learning.

With the method "anchors", the words are the anchors of their topics
(:mod:`eigentext.topics.corners`). With the others, they are seeds of EM, as in seeded LDA
(Jagarlamudi, Daumé and Udupa 2012): EM begins with the topic in which the words are most at home,
mixed with the words that occur with all of them. With all methods, EM adds as many pseudo-counts to
a word of the user in its topic as the word has counts in all documents.
"""

import difflib
import warnings
from itertools import islice
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.optimize import linear_sum_assignment

from eigentext.corpus import Vocabulary
from eigentext.corpus.vocabulary import as_asked
from eigentext.errors import ParameterError
from eigentext.estimators import users_level
from eigentext.moments import DocumentMoments
from eigentext.moments.limits import signs_and_stop_words
from eigentext.topics.corners import PairMoment, anchor_rows
from eigentext.topics.parameters import anchor_lists

_COMPARED = 50_000  # words that a misspelt one is compared with
_MIXED = 0.5  # the share of the user's words, and what occurs with them, when EM begins


class Seeds(NamedTuple):
    """The words of the user as ids of a vocabulary."""

    names: tuple[str | None, ...] = ()
    words: tuple[tuple[int, ...], ...] = ()  # of each topic
    excluded: tuple[int, ...] = ()
    unknown: tuple[str, ...] = ()  # words that are not in the vocabulary

    def within(self, p: np.ndarray) -> Self:
        """The seeds without words that have no probability here, and without empty topics."""
        words = [tuple(word for word in own if p[word] > 0) for own in self.words]
        kept = [k for k, own in enumerate(words) if own]
        names = tuple(self.names[k] for k in kept)
        return self._replace(names=names, words=tuple(words[k] for k in kept))

    def names_of(self, places: list[int]) -> list[str | None]:
        """The names of topics, for the place of each topic in these seeds, or -1."""
        return [None if place < 0 else self.names[place] for place in places]

    def smoothing(self, moments: DocumentMoments, places: list[int], smoothing: float) -> Any:
        """The pseudo-counts of EM: a number, or an array (K, d) if topics have such words."""
        if all(place < 0 for place in places):
            return smoothing
        totals = moments.counts.T @ moments.times.astype(np.float64)
        result = np.full((len(places), len(totals)), float(smoothing))
        for k, place in enumerate(places):
            if place >= 0:
                own = list(self.words[place])
                result[k, own] += totals[own]
        return result


def seeds_of(anchors: Any, not_anchors: Any, moments: DocumentMoments) -> Seeds:
    """Find the words in the vocabulary. Raise ParameterError if a topic has none of its words."""
    listed = anchor_lists(anchors) if anchors is not None else []
    if not listed and not not_anchors:
        return Seeds()
    vocabulary = moments.vocabulary
    paired = moments.counts[moments.lengths >= 2]
    is_paired = np.asarray((paired > 0).sum(axis=0)).ravel() > 0
    unknown, found = list[str](), list[tuple[int, ...]]()
    for name, words in listed:
        ids = vocabulary.ids_of(as_asked(words, moments.options)).tolist()
        missing = [w for w, i in zip(words, ids) if i < 0 or not is_paired[i]]
        own = tuple(i for i in dict.fromkeys(ids) if i >= 0 and is_paired[i])
        if not own:
            told = "; ".join(_why(word, moments) for word in missing)
            topic = f" of {name!r}" if name is not None else ""
            raise ParameterError(f"anchors{topic}: no word of the topic can be one: {told}")
        unknown += missing
        found.append(own)
    ids = vocabulary.ids_of(as_asked(not_anchors or [], moments.options)).tolist()
    unknown += [word for word, i in zip(not_anchors or [], ids) if i < 0]
    if unknown:
        told = "; ".join(_why(word, moments) for word in unknown)
        warnings.warn(f"words of the user that have no effect: {told}", stacklevel=users_level())
    names = tuple(name for name, _ in listed)
    return Seeds(names, tuple(found), tuple(i for i in ids if i >= 0), tuple(unknown))


def _why(word: str, moments: DocumentMoments) -> str:
    """Why a word cannot be an anchor, and the remedy."""
    if word in moments.vocabulary:
        return f"{word!r} shares no document with another word"
    asked = as_asked([word], moments.options)[0]
    left_out = moments.left_out
    if left_out.get("stop_words") and signs_and_stop_words(Vocabulary([asked], [1]))[0]:
        return f"{word!r} is a stop word and was left out (stop_words, --stop-words)"
    near = (one for one in moments.vocabulary.words if abs(len(one) - len(asked)) <= 2)
    close = difflib.get_close_matches(asked, islice(near, _COMPARED), n=3, cutoff=0.7)
    if close:
        return f"{word!r} is not in the vocabulary; did you mean {', '.join(close)}?"
    return f"{word!r} is not in the vocabulary; min_df, max_df or stop_words may have left it out"


def begun(
    weights: np.ndarray, components: np.ndarray, pairs: PairMoment, seeds: Seeds
) -> tuple[np.ndarray, list[int]]:
    """Return topics with which EM begins, and for each the place of its seed, or -1.

    A topic is matched with the seed that it has the largest p(topic | word) for, so that the sum
    over all seeds is the largest.
    """
    places = [-1] * len(weights)
    if not seeds.words:
        return components, places
    joint = weights[:, None] * components
    posteriors = joint / np.maximum(joint.sum(axis=0), np.finfo(np.float64).tiny)
    scores = np.array([posteriors[:, list(own)].mean(axis=1) for own in seeds.words])
    rows, columns = linear_sum_assignment(-scores)
    p = pairs.times(np.ones((components.shape[1], 1)))[:, 0]
    own = anchor_rows(pairs, p, [seeds.words[row] for row in rows])
    components = components.copy()
    for row, column, shared in zip(rows.tolist(), columns.tolist(), own.T):
        places[column] = row
        components[column] = (1 - _MIXED) * components[column] + _MIXED * shared
    return components, places
