"""What a fitted weighted automaton says about itself."""

from collections.abc import Iterator
from typing import Any

from eigentext.estimators import Finding
from eigentext.parameters import Settings

_NEGATIVE = 0.05  # a larger share of negative probabilities deserves a warning


def findings_of(diagnostics: dict[str, Any], parameters: Settings) -> Iterator[Finding]:
    """Report on the rank, on the basis, and on negative probabilities."""
    if "rank" not in diagnostics:  # its weights were given
        return
    negative = diagnostics.get("negative_mass", 0)
    if never := diagnostics.get("never_seen", 0):
        yield Finding(
            "warning",
            f"{never} strings of the basis never occur where they are counted and add nothing.",
            "Leave them out, or give a number as basis, which takes the most frequent strings.",
        )
    if parameters.repair == "none":
        yield Finding(
            "warning" if negative > _NEGATIVE else "note",
            "This is the plain algorithm: negative probabilities are not repaired, and all "
            "directions are used, whatever their noise. Of the probability of second symbols, "
            f"{negative:.0%} is negative.",
            "Use repair='floor' for anything but teaching and comparison.",
        )
        return
    rank, m = diagnostics["rank"], parameters.n_states
    if "tried" in diagnostics:
        yield Finding("note", f"Held-out text is predicted best with {rank} of {m} states.")
    elif rank < m:
        yield Finding(
            "note",
            f"{rank} of {m} states are used: the others cannot be distinguished from noise in this "
            "text and basis.",
            "Give more text or a larger basis (basis, longest), or let held-out text choose "
            "(selection='validation').",
        )
    if negative > _NEGATIVE:
        yield Finding(
            "warning",
            f"{negative:.0%} of the probability that the operators give is negative. It is "
            "repaired when sequences are scored.",
            "Give more text, or ask for fewer states (n_states, --states)."
            if "tried" in diagnostics
            else "Give more text, or let held-out text choose the number of states "
            "(selection='validation').",
        )
