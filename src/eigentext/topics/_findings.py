"""What a fitted topic model says about itself."""

from collections.abc import Iterator
from typing import Any

from eigentext.estimators import Finding

_NO_GAP = 0.8  # a larger ratio of the first dropped eigenvalue to the last kept one is no gap
_FAR = 0.5  # a topic that was moved further to become a distribution is noisy


def findings_of(diagnostics: dict[str, Any], n_topics: int, n_asked: int) -> Iterator[Finding]:
    """Report on the number of topics, on documents, and on the noise of the moments."""
    if n_topics < n_asked:
        yield Finding(
            "warning",
            f"{n_asked} topics were asked for, but the documents support only {n_topics}.",
            f"Give more documents, or ask for {n_topics} topics (n_topics, --topics).",
        )
    if n_empty := diagnostics["n_empty"]:
        most = 2 * n_empty > diagnostics["n_documents"]
        yield Finding(
            "warning" if most else "note",
            f"{n_empty:,} of {diagnostics['n_documents']:,} documents have no word that was kept.",
            "Leave out fewer words (min_df, max_df, stop_words)." if most else "",
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
