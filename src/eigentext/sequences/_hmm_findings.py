"""What a fitted hidden Markov model says about itself."""

from collections.abc import Iterator
from typing import Any

from eigentext.estimators import Finding
from eigentext.parameters import Settings

_OUTSIDE = 0.5  # of the variance: with more outside of the hull of the anchors, they fail
_NEGATIVE = 0.05  # a larger share of negative probabilities deserves a warning


def findings_of(diagnostics: dict[str, Any], parameters: Settings) -> Iterator[Finding]:
    """Report on the rank, on negative probabilities, and on EM."""
    m = parameters.n_states
    if parameters.repair == "none" and parameters.method == "spectral":
        yield Finding(
            "note" if diagnostics.get("negative_mass", 0) <= _NEGATIVE else "warning",
            "This is the plain spectral algorithm: negative probabilities are not repaired, and "
            "all directions are used, whatever their noise. Of the probability of second symbols, "
            f"{diagnostics.get('negative_mass', 0):.0%} is negative.",
            "Use repair='floor' for anything but teaching and comparison.",
        )
        return
    if "rank" in diagnostics:
        rank = diagnostics["rank"]
        if rank < m:
            yield Finding(
                "warning" if parameters.method == "spectral" else "note",
                f"Only {rank} of {m} states can be distinguished from noise in this text.",
                f"Give more text, or ask for {rank} states (n_states, --states).",
            )
        else:
            yield Finding("note", f"All {m} directions exceed the noise of the counts.")
    if (negative := diagnostics.get("negative_mass", 0)) > _NEGATIVE:
        yield Finding(
            "warning" if parameters.method == "spectral" else "note",
            f"{negative:.0%} of the probability that the operators give is negative. It is "
            "repaired when sequences are scored.",
            "Give more text, ask for fewer states, or use method='spectral+em'.",
        )
    if "outside" in diagnostics:
        yield from _anchor_findings(diagnostics)
    if "converged" in diagnostics:
        if diagnostics["converged"]:
            yield Finding("note", "EM has converged.")
        elif parameters.method != "anchor":  # which takes a few steps on purpose
            yield Finding(
                "warning",
                "EM stopped before it converged, so the model may fit better with more passes.",
                "Raise n_iter (--iterations).",
            )


def _anchor_findings(diagnostics: dict[str, Any]) -> Iterator[Finding]:
    """Report on the anchors: how much of the words they explain, and states without a name."""
    outside = diagnostics["outside"]
    yield Finding(
        "warning" if outside > _OUTSIDE else "note",
        f"{1 - outside:.0%} of the variance of the words lies in the hull of the anchors.",
        "Ask for more states, or give more text." if outside > _OUTSIDE else "",
    )
    unnamed = sum(not words for words in diagnostics["anchors"])
    if unnamed:
        yield Finding(
            "warning",
            f"{unnamed} of {len(diagnostics['anchors'])} states are the most probable one of no "
            "word, so they have no name.",
            "Ask for fewer states (n_states, --states).",
        )
