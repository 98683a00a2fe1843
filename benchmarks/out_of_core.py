"""``words fit`` in memory and within a memory budget: time, memory, disk, and whether bits agree.

Run it with ``.venv/bin/python benchmarks/out_of_core.py``. Each fit runs in its own process. The
fit with a budget runs inside a cgroup of this size, if the system has version 1 of cgroups and lets
us make one. Its limit counts the page cache too, so data on disk really comes from there. Otherwise
the system limits what the process allocates (RLIMIT_DATA).
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from _harness import unpacked
from _record import Table, fact, record
from eigentext import load
from eigentext.cli._bundles import parse_memory

CGROUPS = Path("/sys/fs/cgroup/memory")


def main() -> None:
    """Record a row for each of the two fits, and check that they give the same bits."""
    parser = argparse.ArgumentParser(description="words fit in memory and within a budget.")
    parser.add_argument("--text", type=Path, help="default: enwiki-30m")
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--min-count", default="1")
    parser.add_argument("--dim", default="300")
    options = parser.parse_args()
    text = options.text or unpacked("text/enwiki-30m.tok.txt.xz")
    budget = parse_memory(options.memory)
    settings = ["--min-count", options.min_count, "--dim", options.dim]
    table = Table("fits", "words fit", ("wall s", "peak MB", "MB on disk", fact("phases, seconds")))
    with tempfile.TemporaryDirectory() as folder:
        models = [Path(folder, name) for name in ("in-memory", "within")]
        notes = [run(table, "in memory", [text, "-o", models[0], *settings], None)]
        within = [text, "-o", models[1], *settings, "--memory", options.memory]
        notes.append(run(table, f"--memory {options.memory}", within, budget))
        a, b = map(load, models)
        vectors = np.array_equal(a.vectors_, b.vectors_)
        values = np.array_equal(a.singular_values_, b.singular_values_)
        files = models[0].read_bytes() == models[1].read_bytes()
    notes.append(f"Same bits of vectors: {vectors}; singular values: {values}; files: {files}.")
    print("\n".join(notes))
    record("out_of_core", "Within a memory budget", [table], notes=notes)


def run(table: Table, name: str, arguments: list, limit: int | None) -> str:
    """Add the row of one fit, within a limit set by the system if there is one."""
    command = [sys.executable, "-m", "eigentext", "words", "fit", "--no-cache", "--json"]
    with bounded(limit) as (enter, used):
        process = subprocess.Popen(
            [*command, *map(str, arguments)], stdout=subprocess.PIPE, text=True, preexec_fn=enter
        )
        disk = Disk(process.pid)
        output, _ = process.communicate()
        on_disk = disk.finish()
        how = used()
    if process.returncode:
        sys.exit(f"{name}: failed with status {process.returncode} {how}")
    found = json.loads(output)
    phases = ", ".join(f"{phase} {seconds:.1f}" for phase, seconds in found["phases"].items())
    table.row(name, found["seconds"], found["peak_memory"] / 1e6, on_disk / 1e6, phases)
    return f"{name}: {found['n_words']:,} words, {found['pairs']:,} pairs{how}."


@contextmanager
def bounded(limit: int | None):
    """A function that limits the process that calls it, and one that says how it was limited."""
    if limit is None:
        yield None, lambda: ""
        return
    group = CGROUPS / f"eigentext-{os.getpid()}"
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(limit))
    except OSError:
        # Libraries reserve memory that they never touch, so the limit is larger.
        bound = limit + (1 << 30)
        yield (
            lambda: resource.setrlimit(resource.RLIMIT_DATA, (bound, bound)),
            lambda: f"; RLIMIT_DATA of {bound:,}",
        )
        return

    def used() -> str:
        most = int((group / "memory.max_usage_in_bytes").read_text())
        return f"; cgroup limit {limit:,}, most used with page cache {most:,}"

    try:
        yield lambda: (group / "cgroup.procs").write_text(str(os.getpid())), used
    finally:
        time.sleep(0.5)
        group.rmdir()


class Disk(threading.Thread):
    """Watches the total size of the deleted files that a process has open or mapped."""

    def __init__(self, pid: int):
        super().__init__(daemon=True)
        self._process = Path("/proc", str(pid))
        self._most = 0
        self._done = threading.Event()
        self.start()

    def run(self) -> None:
        """Measure five times a second."""
        while not self._done.wait(0.2):
            self._most = max(self._most, self._look())

    def finish(self) -> int:
        """The most bytes that were seen."""
        self._done.set()
        self.join()
        return self._most

    def _look(self) -> int:
        sizes: dict[int, int] = {}
        try:
            for line in (self._process / "maps").read_text().splitlines():
                if line.endswith("(deleted)"):
                    span, _, _, _, inode, *_ = line.split()
                    start, end = (int(part, 16) for part in span.split("-"))
                    sizes[int(inode)] = max(sizes.get(int(inode), 0), end - start)
            for file in (self._process / "fd").iterdir():
                about = file.stat()
                if about.st_nlink == 0:
                    sizes[about.st_ino] = about.st_size
        except (OSError, ValueError):  # the process has just ended, or has closed a file
            pass
        return sum(sizes.values())


if __name__ == "__main__":
    main()
