"""Each contestant runs in a process of its own: wall time, CPU time and peak memory, side by side.

A benchmark defines ``CONTESTANTS = {name: function}``, whose functions return a dictionary of
figures, and calls :func:`main`. Only the ratios of one run mean anything; the first contestant is
the measure of the others.
"""

import json
import lzma
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

DATA = Path(__file__).parents[2] / "shared" / "data"


def unpacked(name: str) -> Path:
    """A corpus from the data folder as a plain file, unpacked once into the temporary folder."""
    plain = Path(tempfile.gettempdir(), "eigentext-benchmarks", Path(name).stem)
    if not plain.exists():
        plain.parent.mkdir(parents=True, exist_ok=True)
        part = plain.with_suffix(".part")
        with lzma.open(DATA / name) as packed, part.open("wb") as file:
            shutil.copyfileobj(packed, file)
        part.rename(plain)
    return plain


class Phases:
    """Wall, CPU and peak memory of what happens between a start and an end."""

    def __init__(self):
        self.found: dict[str, list[float]] = {}

    @contextmanager
    def __call__(self, name: str):
        """A phase of one's own."""
        self.started(name)
        yield
        self.finished(name)

    def started(self, phase) -> None:
        """An engine's phase begins, or one by that name."""
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts from here
        self._start = time.perf_counter(), time.process_time()

    def advanced(self, phase) -> None:
        """Nothing to note."""

    def finished(self, phase) -> None:
        """Note what it took."""
        wall, cpu = time.perf_counter() - self._start[0], time.process_time() - self._start[1]
        self.found[getattr(phase, "name", phase)] = [wall, cpu, peak_memory()]


def peak_memory() -> float:
    """In MB, since the last reset."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1e3


def main(contestants: dict[str, Callable[[], dict]], *, repeats: int = 3) -> None:
    """Run them all, best of `repeats`, and print a table; with a name as argument, run only it."""
    if len(sys.argv) > 1:
        _run_one(contestants[sys.argv[1]])
        return
    first = None
    print(f"{'':28} {'wall s':>8} {'CPU s':>8} {'MB':>7} {'ratio':>7}")
    for name in contestants:
        runs = [_in_a_process(name) for _ in range(repeats)]
        best = min(runs, key=lambda run: run["wall"])
        first = first or best["wall"]
        figures = "  ".join(f"{key} {value:,.4g}" for key, value in best["figures"].items())
        print(
            f"{name:28} {best['wall']:8.2f} {best['cpu']:8.2f} {best['peak'] / 1e6:7.0f} "
            f"{first / best['wall']:6.1f}x  {figures}",
            flush=True,
        )


def _in_a_process(name: str) -> dict:
    command = [sys.executable, sys.argv[0], name]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _run_one(function: Callable[[], dict]) -> None:
    wall, cpu = time.perf_counter(), time.process_time()
    figures = function()
    cost = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    cost["peak"] = peak_bytes()
    # A contestant may measure itself, to leave its preparations and its examination out.
    cost |= {name: figures.pop(name) for name in cost if name in figures}
    print(json.dumps({**cost, "figures": figures}))


def peak_bytes() -> int:
    """The most memory that this process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
