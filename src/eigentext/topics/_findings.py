"""What a fitted topic model says about itself."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from eigentext.corpus import Vocabulary
from eigentext.estimators import Finding
from eigentext.moments.limits import left_out_words, signs_and_stop_words

_NO_GAP = 0.8  # a larger ratio of the first dropped eigenvalue to the last kept one is no gap
_FAR = 0.5  # a topic that was moved further to become a distribution is noisy
_SHOWN = 10  # top words of a topic, of which at least half say what it is about
_REMEDY = "stop_words='auto' (--stop-words auto) leaves them out, and a lower max_df most of them."


def findings_of(diagnostics: dict[str, Any], n_topics: int, n_asked: int) -> Iterator[Finding]:
    """Report on the number of topics, on documents, and on the noise of the moments."""
    if n_topics < n_asked:
        yield Finding(
            "warning",
            f"{n_asked} topics were asked for, but the documents support only {n_topics}.",
            f"Give more documents, or ask for {n_topics} topics (n_topics, --topics).",
        )
    yield from _of_words(diagnostics)
    if n_empty := diagnostics["n_empty"]:
        most = 2 * n_empty > diagnostics["n_documents"]
        yield Finding(
            "warning" if most else "note",
            f"{n_empty:,} of {diagnostics['n_documents']:,} documents have no word that was kept.",
            "Leave out fewer words (min_df, max_df, stop_words)." if most else "",
        )
    if (n_sound := diagnostics.get("n_sound")) is not None:
        yield Finding(
            "warning",
            f"The triples of words support only {n_sound} of {n_topics} topics; the others are "
            "from pairs of words, before EM.",
            "Ask for fewer topics, or compare with method='anchors' (--method anchors).",
        )
    if (robust := diagnostics.get("robust")) is not None:
        yield Finding(
            "note",
            "Many documents are alike, as lines of a log are. So that they count, the limit of "
            f"`robust` was {f'raised to {robust:g}' if robust else 'dropped'}.",
        )
    if n_reduced := diagnostics.get("n_reduced"):
        yield Finding(
            "note",
            f"{n_reduced:,} documents lost weight, so that no single document makes a topic.",
        )
    kept, dropped = diagnostics["eigenvalues"], diagnostics["dropped"]
    if kept and dropped and dropped[0] > _NO_GAP * kept[-1]:
        yield Finding(
            "note",
            "A few more or fewer topics may do as well: the next direction in the pairs of words "
            "is nearly as strong as the last one that was used.",
        )
    if (diagnostics.get("moved_most") or 0) > _FAR:
        yield Finding(
            "note",
            "A topic was far from a distribution before EM, because its moments are noisy.",
            "Give more documents, or ask for fewer topics.",
        )


def _of_words(diagnostics: dict[str, Any]) -> Iterator[Finding]:
    """Report on the words that were left out, and on those that should be."""
    if empty_words := diagnostics.get("topics_of_stop_words"):
        yield Finding("warning", f"{_told(empty_words)}.", _REMEDY)
    left_out = diagnostics.get("left_out")
    if not left_out:
        return
    if told := left_out_words(left_out, diagnostics.get("limits")):
        yield Finding("note", f"Left out: {told}.")
    if left_out.get("other"):
        yield Finding(
            "note",
            f"The language may be {left_out['language'].title()} or {left_out['other'].title()}, "
            "by its stop words.",
            "Name it (stop_words, --stop-words).",
        )
    elif left_out.get("recognized") is False and left_out["stop_words"]:
        yield Finding(
            "note",
            "No language was recognized by its stop words; the English ones were left out.",
            "Name the language, or give a list (stop_words, --stop-words).",
        )


def topics_of_stop_words(components: np.ndarray, vocabulary: Vocabulary) -> int:
    """Return the number of topics whose top words are mostly stop words or signs.

    It is 0 unless most topics are such.
    """
    is_empty_word = signs_and_stop_words(vocabulary)
    n = min(_SHOWN, len(vocabulary))
    top = np.argsort(-components, axis=1, kind="stable")[:, :n]
    n_topics = int((is_empty_word[top].mean(axis=1) >= 0.5).sum())
    return n_topics if 2 * n_topics > len(components) else 0


def warning_of(n_topics: int) -> str:
    """Return the warning about topics of stop words, with the remedy."""
    told = _told(n_topics)
    return f"{told[0].lower()}{told[1:]}; {_REMEDY.rstrip('.')}"


def _told(n_topics: int) -> str:
    return f"The top words of {n_topics} topics are mostly stop words or punctuation"
