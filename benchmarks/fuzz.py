"""Damaged model files of every format: each must be refused, or give a model that works.

Run it with ``make fuzz`` or ``.venv/bin/python benchmarks/fuzz.py --mutations 10000``. With
``--bounds`` compiled loops check every index, so reads out of bounds are noticed (the loops are
compiled again for this, once). Good models of every format (`tests/contract/zoo_saved.py`) are
saved, changed (`_fuzz_mutations.py`), loaded with ``et.load`` and used, in processes that may
crash. A fault is

- a crash, or a hang: more than 10 s;
- an allocation of more than 1 GB;
- with ``--bounds``, an index out of bounds in a compiled loop;
- an exception that is not an `EigentextError`, or a model that is saved again and cannot be loaded;
- an answer of NaN or infinity where the good model has a number.

Each fault is listed with a command that repeats it. The command has the name of the change, which
means the same as long as the file of the model has these parts, or its number. A run over all
models with at least 1,000 mutations is recorded as other benchmarks are.
"""

import argparse
import faulthandler
import json
import mmap
import os
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib import import_module, util
from pathlib import Path
from typing import Any, NamedTuple

from _fuzz_report import (
    FAULTS,
    KINDS,
    Fault,
    Result,
    print_results,
    progress,
    record_results,
    write_report,
)

ROOT = Path(__file__).resolve().parents[1]
GIGABYTE = 1 << 30
SECONDS = 10  # of CPU time; six times that by the clock, since others may use the machine
# Zero probability is a valid answer: its logarithm is minus infinity, its perplexity infinity.
_INFINITE = {"log": {"-inf"}, "perplexity": {"inf"}}


class Case(NamedTuple):
    """The outcome of one file."""

    kind: str
    use: str = ""
    error: str = ""
    where: str = ""


def main() -> None:
    options = _options()
    if options.make:
        _zoo().save_all(Path(options.make), _names(options))
        return
    shm = Path("/dev/shm")
    place = shm if os.access(shm, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="eigentext-fuzz-", dir=place) as folder:
        sys.exit(_run(options, Path(folder)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mutations", type=int, default=1000, help="for each model")
    parser.add_argument("--start", type=int, default=0, help="the number of the first mutation")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seed", type=int, default=0, help="seed of the order of changes")
    parser.add_argument("--seconds", type=float, default=None, help="stop after this time")
    parser.add_argument("--only", action="append", help="formats or models: hmm, hmm/em, …")
    parser.add_argument("--number", type=int, help="one change to --only, in this process")
    parser.add_argument("--case", help="one change by its name")
    parser.add_argument(
        "--cases", help="only the changes in a file: lines of a model, a tab and a name"
    )
    parser.add_argument("--bounds", action="store_true", help="compiled loops check every index")
    parser.add_argument("--show", type=int, default=5, help="faults listed for each model")
    parser.add_argument("--report", help="a folder for a list of all faults of each format")
    parser.add_argument("--make", help=argparse.SUPPRESS)
    return parser.parse_args()


def _zoo() -> Any:
    spec = util.spec_from_file_location("zoo_saved", ROOT / "tests/contract/zoo_saved.py")
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _names(options: argparse.Namespace) -> list[str]:
    names, only = list(_zoo().ZOO), options.only
    if options.cases:
        listed = _listed(options.cases)
        names = [name for name in names if name in listed]
    if only:
        names = [name for name in names if name in only or name.partition("/")[0] in only]
        if not names:
            sys.exit(f"--only {' '.join(only)} names no model; see {_zoo().__file__}")
    return names


def _listed(path: str) -> dict[str, list[str]]:
    found = defaultdict(list)
    for line in Path(path).read_text().splitlines():
        name, _, case = line.partition("\t")
        found[name].append(case)
    return found


def _run(options: argparse.Namespace, folder: Path) -> int:
    started = time.monotonic()
    fitting = [part for name in _names(options) for part in ("--only", name)]
    # Models are made without bounds checks: compiling loops with checks takes minutes.
    subprocess.run([sys.executable, __file__, "--make", str(folder), *fitting], check=True)
    _prepare(options)
    fuzzers = {name: Fuzzer(name, folder, options.seed) for name in _names(options)}
    for fuzzer in fuzzers.values():
        fuzzer.warm_up()
        if options.cases:
            names = _listed(options.cases)[fuzzer.name]
            fuzzer.listed = [fuzzer.mutations.named(name) for name in names]
    if options.number is not None or options.case:
        return _one(fuzzers, options)
    budget = None
    if options.seconds:
        left = max(1.0, options.seconds - (time.monotonic() - started))
        budget = left * options.workers / len(fuzzers)
    results = _all(list(fuzzers.values()), options, budget)
    print_results(results, options, time.monotonic() - started)
    if options.report:
        write_report(results, Path(options.report), options)
    if options.mutations >= 1000 and not (options.only or options.cases or options.seconds):
        record_results(results, options)
    return int(any(result.faults for result in results.values()))


def _prepare(options: argparse.Namespace) -> None:
    """Set what must be set before other modules are imported."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    if options.bounds:
        cache = Path(tempfile.gettempdir(), "eigentext-benchmarks", "numba-bounds")
        os.environ["NUMBA_BOUNDSCHECK"], os.environ["NUMBA_CACHE_DIR"] = "1", str(cache)
        from numba import config

        config.reload_config()  # numba may be imported already
    warnings.simplefilter("ignore")
    from eigentext import engine

    engine.use(engine.ThreadEngine(1))  # no threads: a fork would lose them


def _one(fuzzers: dict[str, "Fuzzer"], options: argparse.Namespace) -> int:
    """Make one change to each model, and print the outcome in full."""
    from _fuzz_mutations import described

    worst = 0
    for name, fuzzer in fuzzers.items():
        mutations = (
            fuzzer.mutations.named(options.case)
            if options.case
            else fuzzer.mutations[options.number]
        )
        print(f"{name}, {described(mutations)}", flush=True)
        _watch(sys.stderr)
        case = fuzzer.tried(mutations, verbose=True)
        print(f"  {case.kind}: {case.use} {case.error} {case.where}", flush=True)
        worst |= case.kind in FAULTS
    return int(worst)


def _warm_up_wide(model: Any) -> None:
    """Compile the loops that a parser needs only for numbers out of range."""
    if not hasattr(model, "parses"):
        return
    from eigentext.grammars.chart import forest, pruning

    kept = pruning._DOUBTS, forest._FAR
    pruning._DOUBTS, forest._FAR = -1.0, -1.0
    try:
        model.marginals(["the", "cat", "sees", "a", "bird", "."])
    finally:
        pruning._DOUBTS, forest._FAR = kept


class Fuzzer:
    """One good model, its changes, and the kinds of numbers in its answers."""

    def __init__(self, name: str, folder: Path, seed: int):
        from _fuzz_file import ModelFile
        from _fuzz_mutations import Mutations
        from eigentext.storage import models

        zoo = _zoo()
        self.name, self.folder, self.uses = name, folder, zoo.ZOO[name].uses
        self.path = zoo.file_of(folder, name)
        readers = models._READERS.values()
        formats = [getattr(import_module(module), one)._format for module, one in readers]
        self.mutations = Mutations(ModelFile.read(self.path), formats, seed)
        self.listed: list[list[Any]] | None = None
        self.good: dict[str, set[str]] = {}
        self.note: Callable[[str], None] = lambda use: None  # called before each use

    def numbered(self, number: int) -> list[Any]:
        """The change of this number, among the listed ones or among all."""
        return self.mutations[number] if self.listed is None else self.listed[number]

    def warm_up(self) -> None:
        """Load and use the good model, to load compiled code and to note its kinds of numbers."""
        import eigentext as et
        from eigentext.errors import EigentextError

        model = et.load(self.path)
        for use, call in self.uses.items():
            try:
                self.good[use] = set(_odd(call(model)))
            except EigentextError:
                self.good[use] = set()
        _warm_up_wide(model)
        case = self.tried([])
        if case.kind != "answered":  # then the outcomes of damaged files would mean nothing
            raise RuntimeError(f"{self.name}: the good model does not work: {case}")

    def tried(self, mutations: list[Any], verbose: bool = False) -> Case:
        """Load and use a changed file."""
        import eigentext as et
        from eigentext.errors import EigentextError

        data = self.mutations.bytes_of(mutations)
        path = self.folder / f"changed{os.getpid()}"
        path.unlink(missing_ok=True)  # an older model may still have the old file mapped
        path.write_bytes(data)
        _limit(min(_size() + GIGABYTE, _most()))
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.setitimer(signal.ITIMER_REAL, 6 * SECONDS)
        worst = Case("answered")
        self.note("load")
        try:
            model = et.load(path)
            for use in (*self.uses, "save"):
                self.note(use)
                try:
                    answer = self._again(model) if use == "save" else self.uses[use](model)
                    case = self._looked_at(use, answer)
                except BaseException as error:
                    case = _case(use, error, EigentextError, verbose)
                worst = max(worst, case, key=_severity)
        except BaseException as error:
            worst = _case("load", error, EigentextError, verbose)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
            _limit(_most())
            path.unlink(missing_ok=True)
        return worst

    def _again(self, model: Any) -> None:
        """Save the loaded model and load it again."""
        import eigentext as et
        from eigentext.errors import EigentextError

        copy = self.folder / f"copy{os.getpid()}"
        model.save(copy)
        try:
            et.load(copy)
        except EigentextError as error:
            raise AssertionError(f"saved, but cannot be loaded: {error}") from None
        finally:
            copy.unlink(missing_ok=True)

    def _looked_at(self, use: str, answer: Any) -> Case:
        odd = set(_odd(answer)) - self.good.get(use, set())
        for start, allowed in _INFINITE.items():
            if use.startswith(start):
                odd -= allowed
        return Case("nan", use, " ".join(sorted(odd))) if odd else Case("answered")


# Outcomes.


def _severity(case: Case) -> int:
    return -FAULTS.index(case.kind) if case.kind in FAULTS else KINDS.index(case.kind) - 10


def _case(use: str, error: BaseException, clean: type, verbose: bool) -> Case:
    if verbose:
        traceback.print_exception(error)
    chain, one = [], error
    while one is not None and one not in chain:
        chain.append(one)
        one = one.__cause__ or one.__context__
    for one in chain:
        # Compiled loops say exactly this; NumPy says more.
        if isinstance(one, IndexError) and str(one) == "index is out of bounds":
            return Case("bounds", use, "", _place(one))
    text = f"{type(error).__name__}: {str(error).partition(chr(10))[0][:120]}"
    if isinstance(error, MemoryError):
        return Case("allocation", use, text, _place(error))
    if isinstance(error, clean):
        return Case("refused", use)
    return Case("stray", use, text, _place(error))


def _place(error: BaseException) -> str:
    """The last line of eigentext that an error passed."""
    found = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        if "/eigentext/" in frame.f_code.co_filename:
            path = frame.f_code.co_filename.rpartition("/eigentext/")[2]
            found = f"{path}:{line} {frame.f_code.co_name}"
    return found


def _odd(answer: Any, depth: int = 0) -> Iterator[str]:
    """Yield "nan", "inf" and "-inf" if they are anywhere in an answer."""
    import numpy as np

    if isinstance(answer, (str, bytes)) or answer is None or depth > 5:
        return
    if hasattr(answer, "tocsr"):
        answer = answer.tocsr().data
    if isinstance(answer, (float, np.floating, np.ndarray)):
        values = np.asarray(answer)
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            yield from ("nan",) * bool(np.isnan(values).any())
            yield from ("inf",) * bool((values == np.inf).any())
            yield from ("-inf",) * bool((values == -np.inf).any())
        return
    if isinstance(answer, dict):
        answer = list(answer.values())
    if isinstance(answer, (list, tuple)):
        for one in answer[:1000]:
            yield from _odd(one, depth + 1)
    elif hasattr(answer, "__dict__"):
        yield from _odd(list(vars(answer).values()), depth + 1)


# Processes.


def _size() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * mmap.PAGESIZE


def _most() -> int:
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    return sys.maxsize if hard == resource.RLIM_INFINITY else hard


def _limit(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (size, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _watch(output: Any) -> None:
    """Print where a crash or a hang happens, and let it end the process."""
    faulthandler.enable(output, all_threads=False)
    for number in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
        faulthandler.register(number, output, all_threads=False, chain=True)


class Child:
    """A forked process that tries a range of numbers until it is done or crashes."""

    def __init__(self, fuzzer: Fuzzer, start: int, stop: int, deadline: float):
        self.fuzzer, self.stop, self.deadline = fuzzer, stop, deadline
        self.board = memoryview(mmap.mmap(-1, 8 * (2 + len(KINDS)))).cast("q")
        self.board[0] = start
        self.started = time.monotonic()
        self.trace = fuzzer.folder / f"trace-{fuzzer.path.name}"
        self.fd, end = os.pipe()
        self.parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            status = 70
            try:
                os.close(self.fd)
                self._work(end)
                status = 0
            except BaseException:
                with self.trace.open("a") as trace:
                    traceback.print_exc(file=trace)
            finally:
                os._exit(status)
        os.close(end)
        self.lines = b""

    def _work(self, fd: int) -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with self.trace.open("w") as trace:
            _watch(trace)
            for output in (1, 2):
                os.dup2(trace.fileno(), output)
            uses = ["load", *self.fuzzer.uses, "save"]
            self.fuzzer.note = lambda use: self.board.__setitem__(-1, uses.index(use))
            while self.board[0] < self.stop and time.monotonic() < self.deadline:
                if os.getppid() != self.parent:
                    return
                number = self.board[0]
                case = self.fuzzer.tried(self.fuzzer.numbered(number))
                self.board[1 + KINDS.index(case.kind)] += 1
                if case.kind in FAULTS:
                    line = json.dumps([number, *case]).encode() + b"\n"
                    os.write(fd, line)
                self.board[0] = number + 1

    def read(self) -> bool:
        """Read what the process wrote; return whether it has ended."""
        data = os.read(self.fd, 1 << 16)
        self.lines += data
        return not data

    def ended(self, result: Result) -> "Child | None":
        """Count the outcomes; return another process if there is more to do."""
        os.close(self.fd)
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        result.seconds += time.monotonic() - self.started
        for kind, count in zip(KINDS, self.board[1:-1]):
            result.counts[kind] += count
        for line in self.lines.splitlines():
            number, kind, use, error, where = json.loads(line)
            result.faults.append(self._fault(number, kind, use, error, where))
        number = self.board[0]
        if status == 0:
            return None
        hung = status in (-signal.SIGPROF, -signal.SIGALRM)
        kind = "hang" if hung else "crash"
        name = signal.Signals(-status).name if status < 0 else ""
        trace = self.trace.read_text(errors="replace")
        lines = re.findall(r'File "[^"]*/eigentext/([^"]*)", line (\d+) in (\S+)', trace)
        where = "{}:{} {}".format(*lines[0]) if lines else ""
        use = ["load", *self.fuzzer.uses, "save"][self.board[-1]]
        if status > 0:  # an error in this script
            raise RuntimeError(f"{self.fuzzer.name}, number {number}: {trace}")
        result.counts[kind] += 1
        result.faults.append(self._fault(number, kind, use, name, where))
        if number + 1 >= self.stop or time.monotonic() >= self.deadline:
            return None
        return Child(self.fuzzer, number + 1, self.stop, self.deadline)

    def _fault(self, number: int, *about: str) -> Fault:
        from _fuzz_mutations import described

        change = described(self.fuzzer.numbered(number))
        kind, *rest = about
        return Fault(self.fuzzer.name, number, kind, change, *rest)


def _all(
    fuzzers: list[Fuzzer], options: argparse.Namespace, budget: float | None
) -> dict[str, Result]:
    waiting, running = fuzzers[::-1], {}
    results = {fuzzer.name: Result() for fuzzer in fuzzers}
    while waiting or running:
        while waiting and len(running) < options.workers:
            fuzzer = waiting.pop()
            deadline = time.monotonic() + (budget or 1e9)
            start, stop = options.start, options.start + options.mutations
            if fuzzer.listed is not None:
                start, stop = 0, len(fuzzer.listed)
            child = Child(fuzzer, start, stop, deadline)
            running[child.fd] = child
        for fd in select.select(list(running), [], [])[0]:
            child = running[fd]
            if child.read():
                del running[fd]
                result = results[child.fuzzer.name]
                if following := child.ended(result):
                    running[following.fd] = following
                else:
                    progress(child.fuzzer.name, result)
    return results


if __name__ == "__main__":
    main()
