"""What a fitted topic model says about itself."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from eigentext.corpus import Vocabulary
from eigentext.estimators import Finding
from eigentext.moments.limits import left_out_words, signs_and_stop_words
from eigentext.topics.background import FEW_KNOWN

_NO_GAP = 0.8  # a larger ratio of the first dropped eigenvalue to the last kept one is no gap
_FAR = 0.5  # a topic that was moved further to become a distribution is noisy
_GROUPS = 3  # how many groups of documents are named
_SHOWN = 10  # top words of a topic, of which at least half say what it is about


def findings_of(diagnostics: dict[str, Any], n_topics: int, n_asked: Any) -> Iterator[Finding]:
    """Report on the number of topics, on documents, and on the noise of the moments."""
    if n_asked == "auto":
        yield from _of_choice(diagnostics.get("n_topics"))
    elif n_topics < n_asked:
        yield of_rank(n_topics, n_asked)
    yield from _of_words(diagnostics)
    if n_empty := diagnostics["n_empty"]:
        n_documents = diagnostics["n_documents"]
        if 2 * n_empty <= n_documents:  # otherwise see `size_findings`
            told = f"{n_empty:,} of {n_documents:,} documents have no word that was kept."
            yield Finding("note", told)
    if (n_sound := diagnostics.get("n_sound")) is not None:
        yield of_pairs(n_sound, len(diagnostics["eigenvalues"]), "perplexities" in diagnostics)
    if (robust := diagnostics.get("robust")) is not None:
        yield Finding(
            "note",
            "Many documents are alike, as lines of a log are. So that they count, the limit of "
            f"`robust` was {f'raised to {robust:g}' if robust else 'dropped'}.",
        )
    if used := diagnostics.get("background"):
        yield from _of_vectors(used)
    if n_reduced := diagnostics.get("n_reduced"):
        yield _of_weights(n_reduced)
    yield from _of_groups(diagnostics)
    kept, dropped = diagnostics["eigenvalues"], diagnostics["dropped"]
    if kept and dropped and dropped[0] > _NO_GAP * kept[-1]:
        yield Finding(
            "note",
            "A few more or fewer topics may do as well: the next direction in the pairs of words "
            "is nearly as strong as the last one that was used.",
        )
    if (diagnostics.get("moved_most") or 0) > _FAR and "n_sound" not in diagnostics:
        yield Finding(
            "note",
            "A topic was far from a distribution before EM, because its moments are noisy.",
            "Give more documents, or ask for fewer topics.",
        )


def _of_weights(n_reduced: int) -> Finding:
    documents = "1 document" if n_reduced == 1 else f"{n_reduced:,} documents"
    told = f"{documents} lost weight, so that no single document makes a topic."
    return Finding("note", told)


def _of_groups(diagnostics: dict[str, Any]) -> Iterator[Finding]:
    """Name the documents that were set apart, or that own a direction."""
    for group in diagnostics.get("apart", [])[:_GROUPS]:
        yield Finding("note", f"{told_of(group)}. They were set apart.")
    if owners := diagnostics.get("owners", [])[:_GROUPS]:
        groups = "; ".join(f"{_counted(group)} ({', '.join(group['words'])})" for group in owners)
        told = (
            f"{told_of(owners[0])}. In the moments they weigh"
            if len(owners) == 1
            else f"Documents own a direction of the moments: {groups}. There they weigh"
        )
        yield Finding(
            "note",
            f"{told} little, but EM may make a topic of them.",
            "Name them with apart(documents), or leave them out: set_apart=True (--set-apart).",
        )


def told_of(group: dict[str, Any]) -> str:
    """A sentence about a group of documents, without its end."""
    n, words = group["n_documents"], ", ".join(group["words"])
    documents = _counted(group)
    return {
        "copies": f"{documents} are one another's copies (with {words})",
        "words": f"{documents} share words that hardly occur elsewhere: {words}",
        "leverage": f"{documents} {'owns' if n == 1 else 'own'} a direction of the moments "
        f"({words})",
    }[group["why"]]


def _counted(group: dict[str, Any]) -> str:
    n = group["n_documents"]
    return "1 document" if n == 1 else f"{n:,} documents"


def _of_vectors(used: dict[str, Any]) -> Iterator[Finding]:
    """Report on how many words have vectors, and whether they helped."""
    if used["tokens"] < FEW_KNOWN:
        yield Finding(
            "warning",
            f"Only {used['tokens']:.0%} of the words in the documents have a vector.",
            "Give vectors of text in the same language, with the same case and tokens, or of more "
            "text.",
        )
    if used["strength"] == 0 and "perplexities" in used:
        yield Finding(
            "note",
            "The vectors were not used: on held-out documents, topics without them were as good.",
        )


def size_findings(diagnostics: dict[str, Any]) -> Iterator[Finding]:
    """Say so if most documents have no words."""
    n_empty, n_documents = diagnostics["n_empty"], diagnostics["n_documents"]
    if 2 * n_empty > n_documents:
        yield Finding(
            "warning",
            f"{n_empty:,} of {n_documents:,} documents have no word that was kept.",
            "Leave out fewer words (min_df, max_df, stop_words), or keep single letters and digits "
            "(--tokenizer simple, or TextCorpus(..., tokenizer='simple')).",
        )


def _of_choice(choice: dict[str, Any] | None) -> Iterator[Finding]:
    """Say how the number of topics was chosen."""
    if not choice or not choice["tried"]:
        return
    tried = choice["tried"]
    told = ", ".join(
        f"{one['perplexity']:,.0f} with {one['n_topics']}"
        for one in tried
        if one.get("perplexity") is not None
    )
    above = choice["n_above_noise"]
    yield Finding(
        "note",
        f"The pairs of words have {above} {'direction' if above == 1 else 'directions'} above the "
        f"noise. Perplexities of held-out documents by the number of topics: {told}.",
    )


def two_view_findings(
    diagnostics: dict[str, Any], n_topics: int, n_asked: int
) -> Iterator[Finding]:
    """Report on the number of topics, and on documents that lack a view."""
    if n_topics < n_asked:
        yield of_rank(n_topics, n_asked)
    n_documents = diagnostics["n_documents"]
    if n_reduced := diagnostics.get("n_reduced"):
        yield _of_weights(n_reduced)
    for view, where in (("first", "n_without_first"), ("second", "n_without_second")):
        n = diagnostics[where]
        if 0 < 2 * n <= n_documents:
            yield Finding(
                "note",
                f"{n:,} of {n_documents:,} documents have no words in the {view} view; "
                "the other view alone decides on their topics.",
            )
    if n_empty := diagnostics["n_empty"]:
        yield Finding("note", f"{n_empty:,} of {n_documents:,} documents have no words at all.")


def two_view_size_findings(diagnostics: dict[str, Any]) -> Iterator[Finding]:
    """Say so if most documents lack a view."""
    n_documents = diagnostics["n_documents"]
    for view, where in (("first", "n_without_first"), ("second", "n_without_second")):
        n = diagnostics[where] + diagnostics["n_empty"]
        if 2 * n > n_documents:
            yield Finding(
                "warning",
                f"{n / n_documents:.0%} of the documents have no words in the {view} view that "
                "were kept, so it says little about topics.",
                "Check that the field is filled, or leave out fewer words (min_df, max_df, "
                "stop_words).",
            )


def of_rank(n_topics: int, n_asked: int) -> Finding:
    """Say that there are fewer topics than were asked for."""
    return Finding(
        "warning",
        f"n_topics is {n_asked}, but the pairs of words in these documents support only {n_topics},"
        " and no more were learned.",
        f"Give more documents, or ask for n_topics={n_topics} (--topics {n_topics}).",
    )


def of_pairs(n_sound: int, n_topics: int, refined: bool) -> Finding:
    """Say that topics are from pairs of words, because triples do not show all of them."""
    why = f"The triples of words show only {n_sound} of {n_topics} topics"
    if refined:
        how = "EM began with topics from pairs of words, as with method='anchors'"
        return Finding("note", f"{why}, so {how}.")
    return Finding(
        "warning",
        f"{why}, so all topics are from pairs of words, as with method='anchors'.",
        "Ask for fewer topics, or let EM improve them (refine=30, --refine 30).",
    )


def of_stop_words(n_topics: int) -> Finding:
    """Say that most topics are about nothing."""
    return Finding(
        "warning",
        f"The top words of {n_topics} topics are mostly stop words or punctuation.",
        "Leave them out: stop_words='auto' (--stop-words auto), the name of the language, or a "
        "list of words.",
    )


def _of_words(diagnostics: dict[str, Any]) -> Iterator[Finding]:
    """Report on the words that were left out, and on those that should be."""
    if empty_words := diagnostics.get("topics_of_stop_words"):
        yield of_stop_words(empty_words)
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
