"""Each contestant runs in its own process: wall time, CPU time and peak memory, side by side.

A simple benchmark has ``CONTESTANTS = {name: function}``. Each function returns a dictionary of
figures. The benchmark calls :func:`main`, which runs them all, prints a table and records it. The
first contestant is what the others are compared with.

Data comes from the folder that the environment variable EIGENTEXT_DATA names.
"""

import json
import lzma
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from pathlib import Path

from _record import Column, Table, ratio, record


def data(name: str) -> Path:
    """A file of the data folder; without it the benchmark ends and says what to set."""
    folder = os.environ.get("EIGENTEXT_DATA")
    if folder is None:
        sys.exit(f"This benchmark needs {name}: set EIGENTEXT_DATA to the folder that has it.")
    path = Path(folder, name)
    if not path.exists():
        sys.exit(f"{path} does not exist: set EIGENTEXT_DATA to a folder that has {name}.")
    return path


def scratch(name: str) -> Path:
    """A place in the folder where benchmarks keep what takes long to make."""
    folder = Path(tempfile.gettempdir(), "eigentext-benchmarks")
    folder.mkdir(parents=True, exist_ok=True)
    return folder / name


def unpacked(name: str) -> Path:
    """A corpus of the data folder as a plain file; it is unpacked once."""
    plain = scratch(Path(name).stem)
    if not plain.exists():
        part = plain.with_suffix(".part")
        with lzma.open(data(name)) as packed, part.open("wb") as file:
            shutil.copyfileobj(packed, file)
        part.rename(plain)
    return plain


class Phases:
    """Measures phases: wall seconds, CPU seconds and peak memory in MB of each."""

    def __init__(self):
        self.found: dict[str, list[float]] = {}

    @contextmanager
    def __call__(self, name: str):
        """Measure the block as a phase of this name."""
        self.started(name)
        yield
        self.finished(name)

    def started(self, phase) -> None:
        """Start the clock for a phase of the engine, or for a name."""
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts from here
        self._start = time.perf_counter(), time.process_time()

    def advanced(self, phase) -> None:
        """Do nothing: only the ends of phases matter."""

    def finished(self, phase) -> None:
        """Keep what the phase took."""
        wall, cpu = time.perf_counter() - self._start[0], time.process_time() - self._start[1]
        self.found[getattr(phase, "name", phase)] = [wall, cpu, peak_memory()]


def peak_memory() -> float:
    """The peak memory in MB since the last phase began."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1e3


def peak_bytes() -> int:
    """The most memory that this process has used so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main(
    name: str,
    title: str,
    contestants: dict[str, Callable[[], dict]],
    columns: Sequence[str | Column],
    *,
    repeats: int = 3,
    about: str = "",
    peers: Sequence[str] = (),
) -> None:
    """Run all contestants, show the best of `repeats` runs of each, and record the table.

    The table has the costs and, for each of `columns`, the figure of this name.
    """
    if serve(contestants):
        return
    table = Table(name, title, ("wall s", "CPU s", "peak MB", ratio("ratio"), *columns))
    names = [column.name for column in table.columns[4:]]
    first = None
    for contestant in contestants:
        best = measured(contestant, repeats)
        first = first or best["wall"]
        figures = [best["figures"].get(key) for key in names]
        costs = best["wall"], best["cpu"], best["peak"] / 1e6, first / best["wall"]
        table.row(contestant, *costs, *figures)
    record(name, title, [table], about=about, peers=peers)


def serve(contestants: dict[str, Callable[[], dict]]) -> bool:
    """Run the contestant that the command line names with ``--run``, if it names one."""
    if sys.argv[1:2] != ["--run"]:
        return False
    wall, cpu = time.perf_counter(), time.process_time()
    figures = contestants[sys.argv[2]]()
    cost = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    cost["peak"] = peak_bytes()
    # A contestant may measure itself, to leave out its preparation and its evaluation.
    cost |= {name: figures.pop(name) for name in cost if name in figures}
    print(json.dumps({**cost, "figures": figures}))
    return True


def measured(name: str, repeats: int = 1) -> dict:
    """The fastest of some runs of a contestant, each in its own process."""
    command = [sys.executable, sys.argv[0], "--run", name]
    runs = [
        json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
        for _ in range(repeats)
    ]
    return min(runs, key=lambda run: run["wall"])
