"""What `grammar fit` reports: facts for machines, lines for people."""

import math
from typing import TYPE_CHECKING, Any

from eigentext.cli._console import finite, print_plain
from eigentext.cli._fitting import Fitting
from eigentext.cli._trees import Treebank

if TYPE_CHECKING:
    from eigentext.cli.grammar._shared import Grammar
    from eigentext.grammars.tuning import Tuned, TuningTrial

_SPECTRUM = ("condition_number", "singular_values")
_RANK = ("rank_error", "rank_share")


class Histories:
    """What each grammar of a model (there may be several that vote) recorded while it learned."""

    def __init__(self, histories: list[dict[str, Any]]):
        steps = [dict(history) for history in histories]
        self.validation: list[list[float]] = [one.pop("validation", []) for one in steps]
        self.spectra: list[dict[str, Any]] = [
            {name: one.pop(name) for name in _SPECTRUM} for one in steps if _SPECTRUM[1] in one
        ]
        self.separations: list[Any] = [
            one.pop("separations") for one in steps if "separations" in one
        ]
        self.ranks: list[dict[str, float]] = [
            {name: one.pop(name) for name in _RANK} for one in steps if _RANK[0] in one
        ]
        self.log_likelihoods: list[list[float]] = [
            [x for part in one.values() for x in part] for one in steps
        ]

    def facts(self) -> dict[str, Any]:
        """Return all figures, for JSON."""
        found: dict[str, Any] = {
            "log_likelihoods": self.log_likelihoods,
            "validation": [[*map(finite, scores)] for scores in self.validation],
        }
        if self.spectra:
            found["spectra"] = self.spectra
        if self.separations:
            found["separations"] = self.separations
        if self.ranks:
            found["ranks"] = self.ranks
        return found

    def lines(self, measure: str) -> list[str]:
        """Return the most important figures; `measure` is what was measured on validation."""
        lines = []
        for steps, scores in zip(self.log_likelihoods, self.validation):
            parts = []
            if steps:
                parts.append(
                    f"log-likelihood  {steps[0]:,.1f} to {steps[-1]:,.1f} in {len(steps)} steps"
                )
            if scores:
                parts.append(f"best {measure} on validation {max(scores):.4f}")
            if parts:
                lines.append("; ".join(parts))
        if self.spectra:
            conditions = ", ".join(f"{one['condition_number']:.3g}" for one in self.spectra)
            lines.append(f"largest singular value / smallest one kept: {conditions}")
        for one in self.ranks:
            error, share = (one[name] for name in _RANK)
            lines.append(
                f"low rank        {error:.1%} of tensors missed, {share:.1%} of numbers kept"
            )
        return lines


def report_fit(
    done: Fitting, model: "Grammar", method: str, tuned: "Tuned | None", trees: Treebank
) -> None:
    """Print what was learned, and what it took."""
    found, read = model.diagnostics_, model.provenance_
    histories = Histories(found.get("history", []))
    if tuned and not (done.run.json or done.run.quiet):
        print_plain(str(tuned))
    states = f", {found['n_states']:,} states" if method != "pcfg" else ""
    measure = dict(model.parameters_).get("early_stopping", "") if method != "spectral" else "f1"
    details = [trees.line(), *histories.lines(measure)]
    if coverage := read.get("coverage"):
        shares = ", ".join(f"{share:.1%} by {name}" for name, share in coverage.items())
        details.append(f"known tokens    {shares}")
    if "negative_marginals" in found:
        marginals, sentences = found["negative_marginals"], found["negative_sentences"]
        details.append(
            f"below zero      {marginals:.1%} of marginals, {sentences:.1%} of sentences"
        )
    done.report(
        {
            "method": method,
            **{name: read[name] for name in ("n_trees", "n_tokens", "n_words")},
            **{name: value for name, value in found.items() if name != "history"},
            **({"coverage": read["coverage"]} if "coverage" in read else {}),
            **histories.facts(),
            "treebank": trees.facts,
            **({"trials": [*map(_row, tuned.trials)]} if tuned else {}),
        },
        f"{found['n_labels']:,} labels, {found['n_rules']:,} rules{states} from "
        f"{read['n_trees']:,} trees, {read['n_tokens']:,} tokens",
        details,
        phases=True,
    )


def _row(trial: "TuningTrial") -> dict[str, Any]:
    """Return a trial for JSON, which cannot write infinity."""
    row = {**trial.parameters, **trial._asdict()}
    del row["parameters"]
    return {name: None if x == math.inf else x for name, x in row.items()}
