"""The reports of the fuzz benchmark: counts of outcomes, and faults by their causes."""

import argparse
import shlex
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from _record import Table, fact, record, score

FAULTS = ("crash", "hang", "allocation", "bounds", "stray", "nan")
KINDS = ("refused", "answered", *FAULTS)
_TITLES = ("refused", "answered", "crashes", "hangs", ">1 GB", "bounds", "stray", "NaN/inf")


class Fault(NamedTuple):
    """A fault of one file."""

    format: str
    number: int
    kind: str
    change: str
    use: str
    error: str
    where: str


class Result:
    """The counts of outcomes and the list of faults of one model."""

    def __init__(self):
        self.counts: Counter[str] = Counter()
        self.faults: list[Fault] = []
        self.seconds = 0.0


def progress(name: str, result: Result) -> None:
    if sys.stderr.isatty():
        print(f"\r{name:40} {result.seconds:6.1f} s", end="", file=sys.stderr, flush=True)


def print_results(results: dict[str, Result], options: argparse.Namespace, seconds: float) -> None:
    print(f"{'':30} {'tried':>9} " + " ".join(f"{title:>9}" for title in _TITLES) + "    a second")
    total: Counter[str] = Counter()
    for name, result in results.items():
        total += result.counts
        _row(name, result.counts, result.seconds)
    _row("all", total, sum(result.seconds for result in results.values()))
    bounds = "with" if options.bounds else "without"
    print(f"\n{seconds:.0f} s with {options.workers} workers, {bounds} bounds checks in loops")
    for result in results.values():
        for fault in _various(result.faults, options.show):
            print(_line(fault, options))


def record_results(results: dict[str, Result], options: argparse.Namespace) -> None:
    """Record the counts of all models."""
    columns = (*map(fact, ("tried", *KINDS[:2])), *(score(kind, "lower") for kind in FAULTS))
    table = Table("fuzz", "Outcomes of damaged files", columns, ("model",), silent=True)
    for name, result in results.items():
        counts = result.counts
        table.row(name, sum(counts.values()), *(counts[kind] for kind in KINDS))
    about = f"Bounds checks in compiled loops: {'on' if options.bounds else 'off'}."
    record("fuzz", "Damaged model files", [table], about=about)


def _row(name: str, counts: Counter[str], seconds: float) -> None:
    tried = sum(counts.values())
    columns = " ".join(f"{counts[kind]:9,}" for kind in KINDS)
    print(f"{name:30} {tried:9,} {columns} {tried / max(seconds, 1e-9):11,.0f}")


def _various(faults: list[Fault], n: int) -> list[Fault]:
    """The first faults of different causes, the most serious first."""
    found: dict[Any, Fault] = {}
    for fault in sorted(faults, key=lambda one: FAULTS.index(one.kind)):
        found.setdefault(_cause(fault), fault)
    return list(found.values())[:n]


def _cause(fault: Fault) -> tuple[str, ...]:
    return fault.kind, fault.where, fault.error.partition(":")[0] if fault.where else fault.error


def _line(fault: Fault, options: argparse.Namespace) -> str:
    about = " ".join(filter(None, (fault.use, fault.error, fault.where)))
    return f"\n{fault.kind}: {about}\n    {_command(fault, options)}"


def _command(fault: Fault, options: argparse.Namespace) -> str:
    bounds = " --bounds" if options.bounds else ""
    seed = f" --seed {options.seed}" if options.seed else ""
    noisy = ": noise " in fault.change or " & " in fault.change
    which = f"--number {fault.number}" if noisy else f"--case {shlex.quote(fault.change)}"
    note = f"  # {fault.change}" if noisy else ""
    return f"benchmarks/fuzz.py{bounds}{seed} --only {fault.format} {which}{note}"


def write_report(results: dict[str, Result], folder: Path, options: argparse.Namespace) -> None:
    """Write all faults of each format, by cause and then by what was changed."""
    folder.mkdir(parents=True, exist_ok=True)
    families: dict[str, list[str]] = defaultdict(list)
    for name in results:
        families[name.partition("/")[0]].append(name)
    for family, names in families.items():
        tried = sum(sum(results[name].counts.values()) for name in names)
        faults = [fault for name in names for fault in results[name].faults]
        lines = [
            f"# eigentext.{family}: {len(faults):,} faults of {tried:,} changed files",
            "",
            f"Models: {', '.join(names)}. "
            f"Bounds checks in compiled loops: {'on' if options.bounds else 'off'}.",
            "",
            f"All of them: `.venv/bin/python benchmarks/fuzz.py --only {family} --mutations 20000"
            f"{' --bounds' if options.bounds else ''}`; one of them: the command below its cause.",
        ]
        for kind in FAULTS:
            some = [fault for fault in faults if fault.kind == kind]
            if some:
                lines += ["", f"## {kind}: {len(some):,}"]
                lines += _causes(some, options)
        (folder / f"{family}.md").write_text("\n".join(lines) + "\n")


def _causes(faults: list[Fault], options: argparse.Namespace) -> list[str]:
    causes: dict[Any, list[Fault]] = defaultdict(list)
    for fault in faults:
        causes[_cause(fault)].append(fault)
    lines = []
    for some in sorted(causes.values(), key=len, reverse=True):
        single = [one for one in some if " & " not in one.change] or some
        first = single[0]
        uses = ", ".join(sorted({one.use for one in some} - {""})[:6])
        about = " — ".join(filter(None, (first.where, first.error, uses)))
        models = ", ".join(sorted({one.format for one in some}))
        lines += ["", f"- **{about}** ({len(some):,}; {models})"]
        lines.append(f"  `{_command(first, options)}`")
        targets: dict[str, list[str]] = defaultdict(list)
        for one in single:
            target, _, change = one.change.partition(": ")
            targets[target].append(change)
        for target, changes in list(targets.items())[:12]:
            unique = list(dict.fromkeys(changes))
            more = f", … ({len(unique)})" if len(unique) > 6 else ""
            lines.append(f"  - {target}: {', '.join(unique[:6])[:300]}{more}")
        if len(targets) > 12:
            lines.append(f"  - and {len(targets) - 12} more")
    return lines
