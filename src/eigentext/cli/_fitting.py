"""What every fit does, whatever it learns: check the paths, run, save, and report.

A command that fits has three parts: its options, its model, and its report.

    with fitting(output, run, files) as fit:
        model = Model(**parameters).fit(read(fit.paths[0]))
        fit.save(model)
    fit.report({"n_words": ...}, "... words")
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from eigentext import engine
from eigentext.cli._bundles import RunOptions
from eigentext.cli._console import print_json, print_plain, warned
from eigentext.cli._files import check_model_path, check_not_read, inputs
from eigentext.cli._progress import PhaseBars, peak_memory
from eigentext.cli._work import work
from eigentext.estimators import Finding, Findings


class Report(Protocol):
    """The scores of a model on held-out data."""

    def to_dict(self) -> dict[str, Any]:
        """Return the scores for JSON."""
        ...


class Savable(Protocol):
    """A model that can be written to a file."""

    def save(self, path: Path) -> None:
        """Write the model."""
        ...


@dataclass
class Fitting:
    """A fit while it runs, and afterwards."""

    output: Path
    run: RunOptions
    paths: list[list[Path]]  # the files to read, for each group that was given
    phases: PhaseBars
    seconds: float = 0.0
    model: Savable | None = None

    def check_not_read(self, files: Iterable[object]) -> None:
        """Raise ParameterError if the model would be written over one of these files."""
        check_not_read(self.output, files)

    def save(self, model: Any, **settings: Any) -> None:
        """Write the model, as a phase of the work. The settings are those of its `save`."""
        with engine.phase("save"):
            model.save(self.output, **settings)
        self.model = model

    def cost(self) -> dict[str, Any]:
        """Return what the fit took: time and memory."""
        return {
            "seconds": round(self.seconds, 3),
            "phases": self.phases.times(),
            "peak_memory": peak_memory(),
        }

    def report(
        self,
        facts: Mapping[str, object],
        summary: str,
        details: Sequence[str] = (),
        *,
        phases: bool = False,
    ) -> None:
        """Print what was learned, and what it took.

        With ``--json`` this prints the facts. Otherwise it prints the summary, the details, the
        warnings among the model's findings and, if wanted, the seconds of all phases.
        """
        cost = self.cost()
        if self.run.json:
            print_json({"model": str(self.output), **facts, **cost})
        elif not self.run.quiet:
            megabytes = f"{cost['peak_memory'] / 1e6:,.0f} MB at most"
            print_plain(f"{self.output}: {summary}; {self.seconds:.1f} s, {megabytes}")
            for line in (*details, *finding_lines(self.model, notes=False)):
                print_plain(f"  {line}")
            if phases:
                times = ", ".join(f"{name} {taken:.1f}" for name, taken in cost["phases"].items())
                print_plain(f"  seconds         {times}")


@contextmanager
def fitting(output: Path, run: RunOptions, *files: Sequence[str]) -> Iterator[Fitting]:
    """Check that a model can be written, open the files to read, and run the fit inside."""
    check_model_path(output)
    started = time.perf_counter()
    with inputs(*files) as paths, work(run) as phases:
        fit = Fitting(output, run, paths, phases)
        yield fit
    fit.seconds = time.perf_counter() - started


def finding_lines(model: object, *, notes: bool = True) -> list[str]:
    """Return what a model says about itself, one line for each finding.

    Without `notes`, leave out the notes, and what was printed as a warning already.
    """
    found: list[Finding] = model.findings() if isinstance(model, Findings) else []
    return [
        f"{one.severity}: {one.line}"
        for one in found
        if notes or (one.severity != "note" and one.line not in warned)
    ]


def validation_facts(scores: object, report: Report | None) -> dict[str, Any]:
    """Return the results on held-out data, for JSON: those while learning, and those at the end."""
    at_end = None if report is None else report.to_dict()
    # Scripts may still read the names that begin with "dev".
    return {
        "validation": scores,
        "validation_report": at_end,
        "dev": scores,
        "dev_report": at_end,
    }
