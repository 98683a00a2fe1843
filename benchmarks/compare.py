"""Compare new runs of benchmarks with the kept ones, and name what got worse.

Run it with ``.venv/bin/python benchmarks/compare.py [NAME|NEW.json ...] [--all] [--keep]``. A
benchmark writes its figures to ``benchmarks/results/new/NAME.json``; the kept run is
``benchmarks/results/NAME.json``. Without a name, all new runs are compared. The exit status is 1 if
something got worse.

Rows are matched by their labels. A figure got worse if it went the wrong way by more than the
tolerance of its column: 30% for times, rates and ratios, 15% for memory, 0.5% for scores, unless
the column says otherwise. If the two runs come from different machines, times and rates are not
judged.

``--keep`` makes the new run the kept one, after the comparison. This is refused if the new run
lacks rows of the kept one, as a run with fewer arguments does; ``--anyway`` keeps it all the same.
Then run ``python docs/_results.py`` for the pages, and check that the conclusions there still hold.
"""

import argparse
import sys
from pathlib import Path
from typing import Any, NamedTuple

from _record import NEW, RESULTS, Column, columns_of, figure, read, rows_of


class Change(NamedTuple):
    """A figure that differs by more than its tolerance, or a row that is in one run only."""

    kind: str  # "worse", "better", "missing" or "new"
    where: str
    what: str = ""

    def __str__(self) -> str:
        return f"{self.kind:8} {self.where}{': ' if self.what else ''}{self.what}"


def changes(kept: dict[str, Any], new: dict[str, Any]) -> list[Change]:
    """All differences that count, table by table."""
    found: list[Change] = []
    timed = same_machine(kept, new)
    tables = {table["name"]: table for table in new["tables"]}
    for table in kept["tables"]:
        rows = dict(rows_of(tables[table["name"]])) if table["name"] in tables else {}
        for labels, before in rows_of(table):
            where = f"{table['name']}: {', '.join(labels)}"
            if labels not in rows:
                found.append(Change("missing", where))
                continue
            for column in columns_of(table):
                if timed or column.kind not in ("time", "rate"):
                    old, now = before[column.name], rows[labels].get(column.name)
                    found += judged(column, old, now, f"{where}, {column.name}")
        known = {labels for labels, _ in rows_of(table)}
        found += [
            Change("new", f"{table['name']}: {', '.join(labels)}") for labels in rows.keys() - known
        ]
    names = {table["name"] for table in kept["tables"]}
    found += [Change("new", f"table {name}") for name in tables if name not in names]
    return found


def same_machine(kept: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether times can be compared."""
    a, b = kept["machine"] or {}, new["machine"] or {}
    return all(a.get(key) == b.get(key) for key in ("cores", "cpu"))


def judged(column: Column, old: Any, now: Any, where: str) -> list[Change]:
    """What to say about one figure."""
    if column.better is None or not is_number(old):
        return []
    if not is_number(now):
        return [Change("worse", where, f"{figure(old)}, now {now if now else 'nothing'}")]
    gain = now - old if column.better == "higher" else old - now
    if abs(gain) <= column.allowed * abs(old):
        return []
    share = f" ({100 * (now - old) / abs(old):+.1f}%)" if old else ""
    kind = "better" if gain > 0 else "worse"
    digits = 4 if column.kind == "score" and abs(old) < 1 else column.digits
    return [Change(kind, where, f"{figure(old, digits)}, now {figure(now, digits)}{share}")]


def is_number(value: Any) -> bool:
    """Whether it is a figure that can be compared."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def report(path: Path, *, everything: bool) -> list[Change] | None:
    """Print the comparison of a new run; None if there is no kept one."""
    new = read(path)
    file = RESULTS / f"{new['name']}.json"
    if not file.exists():
        print(f"{new['name']}: no run is kept yet")
        return None
    kept = read(file)
    found = changes(kept, new)
    counts = {kind: sum(one.kind == kind for one in found) for kind in ("worse", "better")}
    print(f"{new['name']}: {counts['worse']} worse, {counts['better']} better")
    print(f"  kept: {kept['date']}, {kept['command']}")
    print(f"  new:  {new['date']}, {new['command']}")
    if not same_machine(kept, new):
        cpus = [(one["machine"] or {}).get("cpu") for one in (kept, new)]
        print(f"  the machines differ ({cpus[0]}; {cpus[1]}): times and rates are not judged")
    for change in found:
        if everything or change.kind == "worse":
            print(f"  {change}")
    missing = sum(one.kind == "missing" for one in found)
    if missing and not everything:
        print(f"  {missing} rows of the kept run are not in this one (--all lists them)")
    return found


def keep(path: Path, found: list[Change] | None, *, anyway: bool) -> None:
    """Make the new run the kept one."""
    if not anyway and found and any(one.kind == "missing" for one in found):
        sys.exit(
            f"{path.stem} is not kept: it lacks rows of the kept run. Run the benchmark with the "
            "arguments of the kept run, or add --anyway."
        )
    path.replace(RESULTS / f"{read(path)['name']}.json")
    print(f"{path.stem} is kept. Now run: python docs/_results.py")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Compare new runs of benchmarks with kept ones.")
    parser.add_argument("runs", nargs="*", metavar="NAME|NEW.json", help="default: all new runs")
    parser.add_argument("--all", action="store_true", help="list all differences, not only losses")
    parser.add_argument("--keep", action="store_true", help="keep the new runs afterwards")
    parser.add_argument("--anyway", action="store_true", help="keep runs that lack rows, too")
    asked = parser.parse_args(arguments)
    given = [Path(run) if run.endswith(".json") else NEW / f"{run}.json" for run in asked.runs]
    paths = given or sorted(NEW.glob("*.json"))
    if not paths:
        sys.exit(f"there is no new run in {NEW}: run a benchmark first")
    worse = False
    for path in paths:
        if not path.exists():
            sys.exit(f"{path} does not exist: run the benchmark first, or see {NEW}")
        found = report(path, everything=asked.all)
        worse |= any(one.kind == "worse" for one in found or [])
        if asked.keep:
            keep(path, found, anyway=asked.anyway)
    return int(worse)


if __name__ == "__main__":
    sys.exit(main())
