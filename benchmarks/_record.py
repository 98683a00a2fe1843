"""The figures of a run as a small JSON file, which is what benchmarks remember.

A benchmark fills one or more tables with :meth:`Table.row` and calls :func:`record` at its end.
This writes ``benchmarks/results/new/<name>.json``. The kept runs are ``benchmarks/results/*.json``;
no benchmark ever overwrites them. ``python benchmarks/compare.py NAME`` compares the new run with
the kept one, and ``--keep`` then puts the new run in its place. ``python docs/_results.py`` makes
the tables and plots of the documentation from the kept runs.

A file holds

- ``name``, ``title``, ``about`` (how it was measured) and ``notes`` (what was special in this run);
- ``command``, ``date``, ``machine`` (cores, CPU, memory in GiB) and ``versions``. ``null`` means
  that nobody wrote it down;
- ``tables``: each has a ``name``, a ``title``, the names of its ``labels`` (the cells that name a
  row), its ``columns`` and its ``rows``. A row has the labels first and then the figures, in the
  order of the columns. A figure is a number, a text or ``null``.

A column has a ``kind`` and says which way is ``better``: "higher", "lower" or null. Both decide how
two runs are compared (`TOLERANCES`).
"""

import json
import math
import os
import platform
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

RESULTS = Path(__file__).parent / "results"
NEW = RESULTS / "new"
_ARGUMENTS = sys.argv[1:]  # some benchmarks change sys.argv later
_PACKAGES = ("eigentext", "numpy", "scipy", "numba", "pyarrow", "scikit-learn")

# How much a figure may get worse, as a share of the kept figure, before it counts. Times and rates
# are noisy: on the machine of the kept runs they vary by 20 to 30% from run to run.
TOLERANCES = {"time": 0.3, "rate": 0.3, "ratio": 0.3, "memory": 0.15, "score": 0.005, "fact": 0.0}


class Column(NamedTuple):
    """A column of figures."""

    name: str
    kind: str
    better: str | None = None
    digits: int | None = None  # digits after the point in documents; None: a few that matter
    tolerance: float | None = None  # instead of the one of its kind

    @property
    def allowed(self) -> float:
        """How much worse a figure may be, as a share of the kept one."""
        return TOLERANCES[self.kind] if self.tolerance is None else self.tolerance

    def to_json(self) -> dict[str, Any]:
        """The fields that say something."""
        return {key: value for key, value in self._asdict().items() if value is not None}


def score(name: str, better: str = "higher", **options: Any) -> Column:
    """A measure of quality; the same input and seed should give the same score."""
    return Column(name, "score", better, **options)


def ratio(name: str, better: str | None = "higher") -> Column:
    """A time or a speed as a multiple of another one in the same run."""
    return Column(name, "ratio", better)


def fact(name: str) -> Column:
    """A figure that is neither good nor bad, such as a number of states."""
    return Column(name, "fact")


def column(given: str | Column) -> Column:
    """A name that ends in a unit (s, ms, MB, /s) says what kind of column it is."""
    if isinstance(given, Column):
        return given
    words = given.split()
    if given.endswith("/s"):
        return Column(given, "rate", "higher")
    if {"s", "ms"} & set(words):
        return Column(given, "time", "lower")
    if "MB" in words:
        return Column(given, "memory", "lower")
    raise ValueError(f"column {given!r} has no unit: use score(), ratio() or fact()")


class Table:
    """Rows of figures, kept for :func:`record` and printed as they come.

    A silent table is not printed, and a hidden one is not in the documents.
    """

    def __init__(
        self,
        name: str,
        title: str,
        columns: Sequence[str | Column],
        labels: Sequence[str] = ("system",),
        about: str = "",
        *,
        silent: bool = False,
        hidden: bool = False,
    ):
        self.name, self.title, self.about = name, title, about
        self.silent, self.hidden = silent, hidden
        self.labels, self.columns = list(labels), [column(one) for one in columns]
        self.rows: list[list[Any]] = []

    def row(self, *cells: Any) -> None:
        """Print and keep a row: its labels, then a figure for each column."""
        if len(cells) != len(self.labels) + len(self.columns):
            raise ValueError(f"table {self.name}: {len(cells)} cells in a row")
        if not self.rows and not self.silent:
            names = [*self.labels, *(one.name for one in self.columns)]
            print(f"\n{self.title}\n\n| {' | '.join(names)} |\n{'|---' * len(names)}|")
        self.rows.append([_plain(cell) for cell in cells])
        if not self.silent:
            print(f"| {' | '.join(map(figure, cells))} |", flush=True)

    def to_json(self) -> dict[str, Any]:
        """The table as it is kept."""
        found: dict[str, Any] = {"name": self.name, "title": self.title}
        if self.about:
            found["about"] = self.about
        if self.hidden:
            found["hidden"] = True
        columns = [one.to_json() for one in self.columns]
        return found | {"labels": self.labels, "columns": columns, "rows": self.rows}


def _plain(value: Any) -> Any:
    """A value that JSON knows; five digits of a number are enough."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    value = float(value)
    return float(f"{value:.5g}") if math.isfinite(value) else None  # JSON has no infinity


def figure(value: Any, digits: int | None = None) -> str:
    """A number as people want to read it; nothing for None."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if digits is not None:
        return f"{value:,.{digits}f}"
    if isinstance(value, int):
        return f"{value:,}"
    size = abs(value)
    if size < 1:
        return f"{value:.3g}"
    return f"{value:,.0f}" if size >= 100 else f"{value:.2f}".rstrip("0").rstrip(".")


def record(
    name: str,
    title: str,
    tables: Sequence[Table],
    *,
    about: str = "",
    peers: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Path:
    """Write the figures of this run, and say where they are.

    `peers` are the packages that eigentext was compared with; their versions are kept too.
    """
    document = {
        "name": name,
        "title": title,
        "about": about,
        "notes": list(notes),
        "command": shlex.join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *_ARGUMENTS]),
        "date": time.strftime("%Y-%m-%d"),
        "machine": machine(),
        "versions": versions(peers),
        "tables": [table.to_json() for table in tables if table.rows],
    }
    NEW.mkdir(parents=True, exist_ok=True)
    path = NEW / f"{name}.json"
    path.write_text(dumped(document), encoding="utf-8")
    here = path.relative_to(RESULTS.parents[1])
    print(f"\nFigures are in {here}. Compare them with the kept ones, and perhaps keep them:")
    print(f"python benchmarks/compare.py {name} [--keep]", flush=True)
    return path


def machine() -> dict[str, Any]:
    """What the benchmark runs on."""
    cpu = platform.processor() or platform.machine()
    about = Path("/proc/cpuinfo")
    if about.exists():
        models = [line for line in about.read_text().splitlines() if line.startswith("model name")]
        cpu = models[0].partition(":")[2].strip() if models else cpu
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {"cores": len(os.sched_getaffinity(0)), "cpu": cpu, "memory": round(memory, 1)}


def versions(peers: Sequence[str] = ()) -> dict[str, str]:
    """Versions of Python and of the packages that are installed."""
    found = {"python": platform.python_version()}
    for package in (*_PACKAGES, *peers):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def read(path: Path) -> dict[str, Any]:
    """A kept run or a new one."""
    return json.loads(path.read_text(encoding="utf-8"))


def kept(name: str) -> dict[str, Any]:
    """The kept run of this name."""
    return read(RESULTS / f"{name}.json")


def columns_of(table: dict[str, Any]) -> list[Column]:
    """The columns of a table that was read from a file."""
    return [Column(**one) for one in table["columns"]]


def table_of(document: dict[str, Any], name: str) -> dict[str, Any]:
    """The table of this name."""
    return next(table for table in document["tables"] if table["name"] == name)


def rows_of(table: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """The labels of each row, and its figures by the name of their column."""
    n, names = len(table["labels"]), [one["name"] for one in table["columns"]]
    for row in table["rows"]:
        yield tuple(map(str, row[:n])), dict(zip(names, row[n:], strict=True))


def dumped(value: Any, indent: str = "") -> str:
    """JSON with a line for each row, so that differences are easy to read."""
    if isinstance(value, dict) and value and (not indent or not _is_flat(value)):
        parts = [f"{json.dumps(k)}: {dumped(v, indent + ' ')}" for k, v in value.items()]
        brackets = "{}"
    elif isinstance(value, list) and value and not _is_flat(value):
        parts, brackets = [dumped(one, indent + " ") for one in value], "[]"
    else:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    inside = f",\n{indent} ".join(parts)
    end = "\n" if not indent else ""
    return f"{brackets[0]}\n{indent} {inside}\n{indent}{brackets[1]}{end}"


def _is_flat(value: Any) -> bool:
    """Whether it has no containers inside and is short enough for a line."""
    parts = value.values() if isinstance(value, dict) else value
    flat = not any(isinstance(one, (dict, list)) for one in parts)
    return flat and (isinstance(value, dict) or len(json.dumps(value)) < 300)
