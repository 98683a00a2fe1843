"""Damaged files for every reader: each file must be read, or refused with a reason.

Run it with ``.venv/bin/python benchmarks/fuzz_readers.py --seconds 150``. atheris (libFuzzer) makes
the inputs from good files in ``tests/corpus/_readers.py`` and looks for inputs that reach new lines
of the readers. Inputs are plain files, packed files, and damaged packed files. First, each reader
gets bombs: small packed files that repeat one thing for 72 MiB. Each reader has its own process,
which may crash. A fault is

- a crash of the process, or a hang: more than 10 s;
- an allocation of more than 1 GB;
- an exception that is not an `EigentextError`, or a file that changes when it is written and read.

Faults are listed with their input, which is kept in the folder that the message names. A run over
all readers is recorded as other benchmarks are.
"""

import argparse
import gzip
import importlib.util
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from _record import Table, fact, record, score

ROOT = Path(__file__).resolve().parents[1]
GIGABYTE = 1 << 30
SECONDS = 10  # of CPU time: others may use the machine
LONG = 1 << 15  # bytes of long inputs
BOMB = 72  # MiB of an unpacked bomb
KINDS = ("crash", "hang", "over 1 GB", "stray")
READ = ("eigentext.corpus", "eigentext.evaluate.readers", "eigentext.reranking.candidates")


def main() -> int:
    options = _options()
    try:
        import atheris  # noqa: F401
    except ImportError:
        sys.exit("fuzz_readers needs atheris: run pip install -e '.[bench]' (Linux, macOS)")
    if options.child and options.bombs:
        _read_bombs(options.child, Path(options.folder))
        return 0
    if options.child:
        _fuzz(options.child, options.seconds, Path(options.folder), options.seed)
        return 0
    memory = Path("/dev/shm")  # files in it are fast
    fast = memory if memory.is_dir() else None
    folder = Path(options.folder or tempfile.mkdtemp(prefix="fuzz-readers-", dir=fast))
    names = options.readers.split(",") if options.readers else list(_table().READERS)
    print(f"{'reader':<12}{'inputs':>10}{'read':>10}{'covered':>9}", *map("{:>10}".format, KINDS))
    total: Counter[str] = Counter()
    columns = (*map(fact, ("inputs", "read", "covered")), *(score(x, "lower") for x in KINDS))
    table = Table("readers", "Outcomes of damaged files", columns, ("reader",), silent=True)
    for name in names:
        found = _run(name, options.seconds, folder / name, options.seed)
        counts = [found[kind] for kind in KINDS]
        line = f"{name:<12}{found['inputs']:>10}{found['read']:>10}{found['covered']:>9}"
        print(line, *map("{:>10}".format, counts), flush=True)
        table.row(name, found["inputs"], found["read"], found["covered"], *counts)
        total.update(found)
    faults = sum(total[kind] for kind in KINDS)
    print(f"{total['inputs']} inputs, {faults} faults" + f" (see {folder})" * bool(faults))
    if not options.readers:
        record("fuzz_readers", "Damaged text files", [table])
    return int(faults > 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60, help="for each reader")
    parser.add_argument("--readers", help="a few readers, with commas between")
    parser.add_argument("--folder", help="where to keep inputs; default: a temporary folder")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--bombs", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _run(name: str, seconds: float, folder: Path, seed: int) -> Counter[str]:
    """Give a reader bombs, then fuzz it until the time is over; start again after a crash."""
    found = _in_child(name, folder / "bombs", 0, "--bombs")
    while seconds > 1:
        started = time.monotonic()
        part = _in_child(name, folder / f"run{seed}", seconds, "--seed", str(seed))
        found["covered"] = max(found["covered"], part.pop("covered"))
        found.update(part)
        seconds -= time.monotonic() - started
        seed += 1
    return found


def _in_child(name: str, folder: Path, seconds: float, *options: str) -> Counter[str]:
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, __file__, "--child", name, "--seconds", f"{seconds:.0f}"]
    command += ["--folder", str(folder), *options]
    with (folder / "log").open("wb") as log:
        child = subprocess.Popen(command, stdout=log, stderr=log, cwd=ROOT)
        try:
            status = child.wait(seconds + 600)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            status = "hang"
    about = folder / "counts.json"
    found = Counter(json.loads(about.read_text()) if about.exists() else {})
    covered = re.findall(rb"cov: (\d+)", (folder / "log").read_bytes())
    found["covered"] = max(map(int, covered), default=0)
    if status:
        kind = "hang" if status == "hang" else "crash"
        found[kind] += 1
        print(f"{name}: {kind} ({status}); the input is in {folder}", flush=True)
    return found


def _table() -> Any:
    spec = importlib.util.spec_from_file_location("_readers", ROOT / "tests/corpus/_readers.py")
    table = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(table)
    return table


class Judge:
    """Counts the outcomes of inputs, and keeps the inputs that are faults."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.counts: Counter[str] = Counter()
        self._seen: set[str] = set()
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + GIGABYTE, resource.RLIM_INFINITY))

    def judge(self, data: bytes, read: Callable[[], bool], most: float = SECONDS) -> None:
        """Read an input, and check that it takes no more than `most` seconds."""
        self.counts["inputs"] += 1
        started = time.process_time()
        try:
            self.counts["read"] += read()
        except MemoryError:
            self._fault("over 1 GB", data, traceback.format_exc())
        except Exception:
            self._fault("stray", data, traceback.format_exc())
        if time.process_time() - started > most:
            self._fault("hang", data, "slow")

    def write(self) -> None:
        """Write the counts, since the process may crash."""
        (self.folder / "counts.json").write_text(json.dumps(self.counts))

    def _fault(self, kind: str, data: bytes, what: str) -> None:
        self.counts[kind] += 1
        if what not in self._seen and len(self._seen) < 100:
            name = f"{kind.replace(' ', '-')}{len(self._seen)}"
            (self.folder / name).write_bytes(data)
            (self.folder / f"{name}.txt").write_text(what)
            self._seen.add(what)


def _read_bombs(name: str, folder: Path) -> None:
    """In a child process: read packed files that repeat one thing, in many members."""
    table = _table()
    for data in table.seeds(name):
        table.attempt(name, data, folder)  # load modules that are loaded late
    judge = Judge(folder)
    for piece in (b"(", b"a ", b"\n", b"\0", *table.READERS[name].good[:1]):
        content = piece * ((1 << 20) // len(piece))
        for ending, pack in (table.PACK | {".gz": gzip.compress}).items():
            path = folder / f"bomb.txt{ending}"
            path.write_bytes(pack(content) * BOMB)
            # Repeated text is valid text: reading it may take 0.3 s for each MiB.
            read = partial(table.attempt_file, name, path)
            judge.judge(path.read_bytes(), read, 0.3 * BOMB)
            judge.write()


def _fuzz(name: str, seconds: float, folder: Path, seed: int) -> None:
    """In a child process: fuzz a reader; this never returns."""
    import atheris

    with atheris.instrument_imports(include=list(READ)):
        import eigentext.corpus.conll
        import eigentext.corpus.documents
        import eigentext.corpus.ngram_counts
        import eigentext.corpus.reading_trees
        import eigentext.corpus.table_files
        import eigentext.corpus.text
        import eigentext.corpus.trees
        import eigentext.evaluate.readers
        import eigentext.reranking.candidates  # noqa: F401
    table = _table()
    atheris.instrument_func(sys.modules["eigentext.words.clusters"]._parse)
    inputs = folder / "inputs"
    inputs.mkdir(exist_ok=True)
    for number, data in enumerate(table.seeds(name)):
        (inputs / f"seed{number}").write_bytes(data)
        table.attempt(name, data, folder)  # load modules that are loaded late
    words = [*table.READERS[name].tokens, *table.COMMON]
    lines = ['"{}"'.format("".join(f"\\x{byte:02x}" for byte in word)) for word in words]
    (folder / "words").write_text("\n".join(lines))
    judge = Judge(folder)
    end = time.monotonic() + seconds

    def one(data: bytes) -> None:
        if time.monotonic() > end:
            judge.write()
            os._exit(0)
        judge.judge(data, partial(table.attempt, name, data, folder, LONG))
        if judge.counts["inputs"] % 500 == 0:
            judge.write()

    arguments = [sys.argv[0], f"-seed={seed}", "-max_len=4096", "-rss_limit_mb=0", "-timeout=100"]
    arguments += [f"-dict={folder / 'words'}", f"-artifact_prefix={folder}/", str(inputs)]
    atheris.Setup(arguments, one)
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
