"""Damaged files for every reader: each file must be read, or refused with a reason.

Run it with ``.venv/bin/python benchmarks/fuzz_readers.py --seconds 150``. Inputs are made by
atheris (libFuzzer), which looks for those that reach new lines of the readers, from good files in
``tests/corpus/_readers.py``: as plain files, packed well, and as damaged packed files. Before,
each reader gets bombs: small packed files that say one thing for 96 MiB. Each reader has a process
of its own, which may die. A fault is

- a crash of the process, or a hang: more than 10 s;
- an allocation of more than 1 GB;
- an exception that is no `EigentextError`, or a file that is not the same when written and read.

Faults are listed with the input that makes them, which is kept in the folder that is named.
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
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
GIGABYTE = 1 << 30
SECONDS = 10  # of processor time: others may use the machine
LONG = 1 << 15  # bytes of the inputs that are long
BOMB = 96  # MiB that bombs unpack to
KINDS = ("crash", "hang", "over 1 GB", "stray")
READ = ("eigentext.corpus", "eigentext.evaluate.readers", "eigentext.kernels.candidates")


def main() -> int:
    options = _options()
    try:
        import atheris  # noqa: F401
    except ImportError:
        sys.exit("fuzz_readers needs atheris: run pip install -e '.[bench]' (Linux, macOS)")
    if options.child:
        _fuzz(options.child, options.seconds, Path(options.folder), options.seed)
        return 0
    memory = Path("/dev/shm")  # files in it cost nothing
    fast = memory if memory.is_dir() else None
    folder = Path(options.folder or tempfile.mkdtemp(prefix="fuzz-readers-", dir=fast))
    names = options.readers.split(",") if options.readers else list(_table().READERS)
    print(f"{'reader':<12}{'inputs':>10}{'read':>10}{'covered':>9}", *map("{:>10}".format, KINDS))
    total: Counter[str] = Counter()
    for name in names:
        found = _run(name, options.seconds, folder / name, options.seed)
        counts = [found[kind] for kind in KINDS]
        line = f"{name:<12}{found['inputs']:>10}{found['read']:>10}{found['covered']:>9}"
        print(line, *map("{:>10}".format, counts), flush=True)
        total.update(found)
    faults = sum(total[kind] for kind in KINDS)
    print(f"{total['inputs']} inputs, {faults} faults" + f" (see {folder})" * bool(faults))
    return int(faults > 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60, help="for each reader")
    parser.add_argument("--readers", help="some of them, with commas between")
    parser.add_argument("--folder", help="where to keep inputs; by default a temporary one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser.parse_args()


def _run(name: str, seconds: float, folder: Path, seed: int) -> Counter[str]:
    """Fuzz a reader in processes of its own until the time is over; a new one if one dies."""
    found: Counter[str] = Counter()
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 1:
        here = folder / f"run{seed}"
        here.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, __file__, "--child", name, "--seconds", f"{left:.0f}"]
        command += ["--folder", str(here), "--seed", str(seed)]
        with (here / "log").open("wb") as log:
            child = subprocess.Popen(command, stdout=log, stderr=log, cwd=ROOT)
            try:
                status = child.wait(left + 600)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
                status = "hang"
        about = here / "counts.json"
        counts = Counter(json.loads(about.read_text()) if about.exists() else {})
        covered = re.findall(rb"cov: (\d+)", (here / "log").read_bytes())
        found["covered"] = max(found["covered"], *map(int, covered or [0]))
        found.update(counts)
        if status:
            kind = "hang" if status == "hang" else "crash"
            found[kind] += 1
            print(f"{name}: {kind} ({status}); the input is in {here}", flush=True)
        seed += 1
    return found


def _table() -> Any:
    spec = importlib.util.spec_from_file_location("_readers", ROOT / "tests/corpus/_readers.py")
    table = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(table)
    return table


def _bombs(table: Any, name: str) -> Iterator[tuple[str, bytes]]:
    """Packed files that say one thing for long, in many members."""
    for piece in (b"(", b"( ", b"a", b"a ", b"\n", b"\0", b"\t", *table.READERS[name].good):
        content = piece * ((1 << 20) // len(piece))
        for ending, pack in (table.PACK | {".gz": gzip.compress}).items():
            if ending != ".bz2" or len(piece) == 1:  # which packs slowly
                yield ending, pack(content) * BOMB


def _fuzz(name: str, seconds: float, folder: Path, seed: int) -> None:
    """In the child: never returns."""
    import atheris

    with atheris.instrument_imports(include=list(READ)):
        import eigentext.corpus.conll
        import eigentext.corpus.documents
        import eigentext.corpus.text
        import eigentext.corpus.trees
        import eigentext.evaluate.readers
        import eigentext.kernels.candidates  # noqa: F401
    table = _table()
    atheris.instrument_func(sys.modules["eigentext.words.clusters"]._parse)
    inputs = folder / "inputs"
    inputs.mkdir(exist_ok=True)
    for number, data in enumerate(table.seeds(name)):
        (inputs / f"seed{number}").write_bytes(data)
        table.attempt(name, data, folder)  # what is loaded late is loaded
    words = [*table.READERS[name].tokens, *table.COMMON]
    lines = ['"{}"'.format("".join(f"\\x{byte:02x}" for byte in word)) for word in words]
    (folder / "words").write_text("\n".join(lines))
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + GIGABYTE, resource.RLIM_INFINITY))
    counts: Counter[str] = Counter()
    seen: set[str] = set()

    def keep() -> None:
        (folder / "counts.json").write_text(json.dumps(counts))

    def fault(kind: str, data: bytes, what: str) -> None:
        counts[kind] += 1
        if what not in seen and len(seen) < 100:
            (folder / f"{kind.replace(' ', '-')}{len(seen)}").write_bytes(data)
            (folder / f"{kind.replace(' ', '-')}{len(seen)}.txt").write_text(what)
            seen.add(what)

    def judged(data: bytes, read: Callable[[], bool], most: float = SECONDS) -> None:
        counts["inputs"] += 1
        started = time.process_time()
        try:
            counts["read"] += read()
        except MemoryError:
            fault("over 1 GB", data, traceback.format_exc())
        except Exception:
            fault("stray", data, traceback.format_exc())
        if time.process_time() - started > most:
            fault("hang", data, "slow")

    def one(data: bytes) -> None:
        if time.monotonic() > end:
            keep()
            os._exit(0)
        judged(data, lambda: table.attempt(name, data, folder, LONG))
        if counts["inputs"] % 500 == 0:
            keep()

    for ending, data in _bombs(table, name):
        path = folder / f"bomb.txt{ending}"
        path.write_bytes(data)
        # Text that says the same for 96 MiB is text: 0.3 s for each of them, at most.
        judged(data, lambda path=path: table.attempt_file(name, path), 0.3 * BOMB)
    keep()
    end = time.monotonic() + seconds

    arguments = [sys.argv[0], f"-seed={seed}", "-max_len=4096", "-rss_limit_mb=0", "-timeout=100"]
    arguments += [f"-dict={folder / 'words'}", f"-artifact_prefix={folder}/", str(inputs)]
    atheris.Setup(arguments, one)
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
