"""What a fitted reranker says about itself."""

from collections.abc import Iterator, Mapping
from typing import Any

from eigentext.estimators import Finding

_MANY_MISTAKES = 0.3  # share of lists with a wrong choice in the last pass
_MANY_REPLACED = 0.7  # share of lists without the gold structure


def reranker_findings(found: Mapping[str, Any]) -> Iterator[Finding]:
    """Judge a reranker by its diagnostics."""
    n_inputs = max(found["n_inputs"], 1)
    if mistakes := found["n_mistakes"]:
        share = mistakes[-1] / n_inputs
        yield Finding(
            "note",
            f"In its last pass it was wrong about {share:.0%} of the lists that it learned from.",
            "Raise n_epochs, or learn from more lists." if share >= _MANY_MISTAKES else "",
        )
    if found["n_replaced"]:
        share = found["n_replaced"] / n_inputs
        yield Finding(
            "note" if share < _MANY_REPLACED else "warning",
            f"In {share:.0%} of the lists the gold structure was missing, and the closest "
            "candidate took its place.",
            "Give longer lists: they contain the gold structure more often.",
        )
    if teach_nothing := found["n_empty"] + found["n_single"]:
        share = teach_nothing / n_inputs
        yield Finding(
            "note" if share < _MANY_REPLACED else "warning",
            f"{teach_nothing:,} of the lists have fewer than two candidates, so that it learned "
            "nothing from them.",
            "Ask the base model for more candidates.",
        )
    if not found["n_support"]:
        yield Finding(
            "warning",
            "It made no mistakes while it learned, so that it ranks as the base model does.",
            "Lower training_beta, or raise margin.",
        )
    if found.get("validation") is not None:
        yield Finding(
            "note",
            f"On the held-out lists, the {found['measure']} of its choices is "
            f"{found['validation']:.1%}.",
        )


def tree_reranker_findings(found: Mapping[str, Any]) -> Iterator[Finding]:
    """Judge a reranker of trees by its diagnostics."""
    n_inputs = max(found["n_inputs"], 1)
    if teach_little := found["n_empty"] + found["n_single"]:
        share = teach_little / n_inputs
        yield Finding(
            "note" if share < _MANY_REPLACED else "warning",
            f"{teach_little:,} of the lists have fewer than two candidates, so that there is "
            "nothing to choose from.",
            "Ask the base model for more candidates.",
        )
    if not found["n_features"]:
        yield Finding(
            "warning",
            "No feature is frequent enough, so that it ranks as the base model does.",
            "Lower min_count, or learn from more lists.",
        )
    if found.get("validation") is not None:
        yield Finding(
            "note",
            f"On the held-out lists, the {found['measure']} of its choices is "
            f"{found['validation']:.1%}.",
        )
