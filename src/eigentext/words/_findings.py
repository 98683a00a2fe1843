"""What fitted models of words say about themselves."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from eigentext.corpus.scarcity import once_findings
from eigentext.estimators import Finding

_NO_GAP = 0.9  # the next singular value over the last one kept
_NOISE = 1e6  # the largest singular value over the smallest
_RARE = 0.1  # of the tokens
# Tokens for each word. With the default min_count, the sample of the Penn Treebank has 39,
# CoNLL-2000 48, Brown 77, text8 209.
_FEW_TOKENS = 30
# Dimensions for each word. The 300 dimensions of the default are 0.02 for each word of Brown, 0.07
# of CoNLL-2000, 0.13 of the sample of the Penn Treebank, and 0.22 of the tweets of WNUT-17.
_MOST_DIMENSIONS = 0.25
_ALWAYS_FINE = 10  # fewer dimensions than this are a choice, for a picture or an example
_EXPLAINED = 0.3  # of the variance
_LITTLE = 0.1  # of the length that predictions from spelling have; in Wikipedia they keep 0.8


def findings_of_vectors(
    diagnostics: Mapping[str, Any], n_tokens: int, min_count: int
) -> Iterator[Finding]:
    """Report on the spectrum, on rare words, and on words without a context."""
    yield from _findings_of_spectrum(
        diagnostics.get("singular_values", []), diagnostics.get("dropped_singular_values", [])
    )
    rare = diagnostics.get("rare_tokens", 0) / max(n_tokens, 1)
    if rare:
        yield Finding(
            "note",
            f"{rare:.1%} of the text are words that occur fewer than {min_count} times. "
            "They share one symbol and have no vector.",
            "Lower min_count (--min-count) if you need them." if rare >= _RARE else "",
        )
    yield from _findings_of_spelling(diagnostics)
    if alone := diagnostics.get("words_without_context", 0):
        words = "1 word has" if alone == 1 else f"{alone:,} words have"
        yield Finding(
            "note",
            f"{words} a zero vector: no other word is near in the text, or none that these "
            "dimensions show.",
        )


def _findings_of_spelling(diagnostics: Mapping[str, Any]) -> Iterator[Finding]:
    slope = diagnostics.get("spelling_slope")
    if slope is None:
        return
    if slope < _LITTLE:
        yield Finding(
            "note",
            "The spelling of words says almost nothing about their vectors here.",
            "Leave it out (oov='none', --oov none).",
        )
    elif half := diagnostics.get("spelling_half_count", 0):
        yield Finding(
            "note",
            f"A word that occurs {half:,.0f} times has a vector that is half noise. The vectors of "
            "rarer words follow their spelling more than their contexts.",
        )


def size_findings(counts: np.ndarray, n_tokens: int, n_components: int) -> Iterator[Finding]:
    """Report on too many dimensions, on words that occur once, and on too few tokens."""
    n_words = len(counts)
    if n_components >= _ALWAYS_FINE and n_components > _MOST_DIMENSIONS * n_words:
        yield Finding(
            "warning",
            f"The vectors have {n_components} dimensions for {n_words:,} words, and most of these "
            "dimensions are noise.",
            f"Ask for {max(int(_MOST_DIMENSIONS * n_words), 2)} dimensions or fewer "
            "(n_components, --dim), or give more text.",
        )
    per_word = n_tokens / max(n_words, 1)
    once = list(once_findings(counts, n_tokens))
    yield from once
    if n_tokens and per_word < _FEW_TOKENS and not once:
        yield Finding(
            "warning",
            f"The text has only {per_word:.0f} tokens for each word, so the neighbors of rarer "
            "words are mostly chance.",
            "Give more text, or raise min_count (--min-count).",
        )


def _findings_of_spectrum(kept: list[float], dropped: list[float]) -> Iterator[Finding]:
    if not kept or not kept[-1] > 0:
        return
    if dropped:
        ratio = dropped[0] / kept[-1]
        if ratio > _NO_GAP:
            yield Finding(
                "note",
                f"The spectrum has no gap after {len(kept)} dimensions: the next singular value is "
                f"{ratio:.0%} of the last one kept. A few dimensions more or fewer would do as "
                "well.",
            )
        else:
            yield Finding(
                "note",
                f"The spectrum falls after {len(kept)} dimensions: the next singular value is "
                f"{ratio:.0%} of the last one kept.",
            )
    if kept[0] / kept[-1] > _NOISE:
        yield Finding(
            "warning",
            f"The largest singular value is {kept[0] / kept[-1]:,.0f} times the smallest one kept, "
            "which may be noise.",
            "Take fewer dimensions (n_components, --dim).",
        )


def findings_of_clusters(diagnostics: Mapping[str, Any]) -> Iterator[Finding]:
    """Report on the variance explained, on the gap between merges, and on one large cluster."""
    sizes, n_words = diagnostics["sizes"], diagnostics["n_words"]
    explained = diagnostics.get("explained")
    if explained is not None:
        yield Finding(
            "note",
            f"The cluster of a word explains {explained:.0%} of the variance of its vector.",
            "" if explained > _EXPLAINED else "Take more clusters (n_clusters, --clusters).",
        )
    next_merge = diagnostics.get("next_merge", 0)
    if next_merge and diagnostics.get("largest_merge", 0) < next_merge / 2:
        yield Finding(
            "note",
            "To merge any two of these clusters would cost much more than any merge within them: "
            f"the words really have {len(sizes)} classes.",
        )
    if len(sizes) > 2 and max(sizes) > n_words / 2:
        yield Finding(
            "warning",
            f"One cluster has {max(sizes) / n_words:.0%} of the words.",
            "Take more clusters, vectors of more text, or method='kmeans'.",
        )
    if alone := diagnostics.get("words_without_context", 0):
        yield Finding("note", f"{alone:,} words have a zero vector and are in no cluster.")
