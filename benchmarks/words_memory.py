"""``Eigenwords().fit``: peak memory and CPU seconds by phase, scores, and what this machine can do.

Run it with ``.venv/bin/python benchmarks/words_memory.py``. Each fit has its own process and one
BLAS thread. ``--before SRC`` also runs the package in another source folder, for example of an
older commit. The compiled loops of both must be in Numba's cache: run it twice, and keep the second
run. The last table shows the limits: a copy of a large array, products of matrices, and the
product of the sparse matrix with a panel.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from _harness import Phases, data, unpacked
from _record import Column, Table, fact, record, score

TEXT8, ENWIKI = "text/text8-prefix.txt.xz", "text/enwiki-30m.tok.txt.xz"
FITS = [
    ("text8-prefix", TEXT8, 100, 1),
    ("text8-prefix", TEXT8, 5, 1),
    ("text8-prefix", TEXT8, 5, 2),
    ("enwiki-30m", ENWIKI, 5, 2),
]
PHASES = ("read and encode", "count", "mirror", "factor", "normalize")
SETS = {"WordSim353": "wordsim353.txt", "MEN": "men3000.txt", "rare words": "rareword2034.txt"}


def fit(path: str, min_count: int, n_threads: int) -> dict:
    """Fit, and return the cost of each phase and the scores."""
    import eigentext as et
    from eigentext.evaluate import analogies, similarity

    phases, top = Phases(), 0.0

    class Watch:
        def started(self, phase):
            nonlocal top
            top = max(top, peak())
            phases.started(phase)

        advanced = phases.advanced
        finished = phases.finished

    with et.engine.use(et.engine.ThreadEngine(n_threads)), et.engine.report_to(Watch()):
        model = et.Eigenwords(300, min_count=min_count).fit(path)
    # All CPU seconds of the process so far, imports too.
    found = {
        "cpu": time.process_time(),
        "peak": max(top, peak(), *(p[2] for p in phases.found.values())),
    }
    found["phases"] = phases.found
    found["pairs"], found["n_words"] = model.diagnostics_["pairs"], len(model.vocabulary_)
    found["scores"] = [similarity(model, data(f"words/{file}")).rho for file in SETS.values()]
    result = analogies(model, data("words/google-analogies.txt"))
    found["scores"] += [100 * result.accuracy["mul"], 100 * result.accuracy["add"]]
    return found


def peak() -> float:
    """The peak memory of this process in MB since the last phase began."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1e3


def run_fit(source: str | None, *arguments: object) -> dict:
    """Run a fit in its own process, with the package of a source folder."""
    command = [sys.executable, sys.argv[0], "--run", json.dumps(arguments)]
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    path = {"PYTHONPATH": source} if source else {}
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | one | path
    )
    return json.loads(done.stdout.splitlines()[-1])


def best_of(work, repeats: int = 5) -> float:
    """The fewest CPU seconds of some calls."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def limits(table: Table) -> None:
    """What one core of this machine moves and multiplies, and what the fit makes of it."""
    from threadpoolctl import threadpool_limits

    import eigentext as et
    from eigentext.moments import uncounted

    rng = np.random.default_rng(0)
    large = np.zeros(1 << 26, np.float32)
    target = np.empty_like(large)
    with threadpool_limits(1), et.engine.use(et.engine.ThreadEngine(1)):
        seconds = best_of(lambda: np.copyto(target, large))
        table.row("copy of 268 MB: read and written", None, 2 * large.nbytes / seconds / 1e9, None)
        small, room = np.zeros(1 << 16, np.float32), np.empty(1 << 16, np.float32)
        seconds = best_of(lambda: [np.copyto(room, small) for _ in range(1000)])
        table.row("copy of 262 kB, in the cache", None, 2000 * small.nbytes / seconds / 1e9, None)
        A, B = rng.random((2, 2048, 2048), np.float32)
        seconds = best_of(lambda: A @ B)
        table.row(
            "product of 2048 x 2048 matrices", seconds * 1e3, None, 2 * 2048**3 / seconds / 1e9
        )
        Q, Y = rng.random((2048, 672), np.float32), rng.random((2048, 32), np.float32)
        seconds = best_of(lambda: [Q.T @ Y for _ in range(30)]) / 30
        rate = 2 * Q.size * 32 / seconds / 1e9
        table.row(
            "2048 rows of the basis with a panel", seconds * 1e3, Q.nbytes / seconds / 1e9, rate
        )
        moments = uncounted.read_moments(
            str(unpacked(TEXT8)), window=10, weighting="distance", min_count=5
        )
        text = uncounted.uncounted(moments)
        T, _ = text.symmetric(lambda x: np.sqrt((x / moments.unit).astype(np.float32)))
        X = rng.random((T.shape[0], 32), np.float32)
        seconds = best_of(lambda: T.times(X))
        moved, flops = 128 * T.nnz + 2 * T.nbytes, 64 * T.nnz
        table.row(
            "counts of text8-prefix with a panel",
            seconds * 1e3, moved / seconds / 1e9, flops / seconds / 1e9,
        )  # fmt: skip


def main() -> None:
    if sys.argv[1:2] == ["--run"]:
        print(json.dumps(fit(*json.loads(sys.argv[2]))))
        return
    parser = argparse.ArgumentParser(description="Memory and CPU seconds of word vectors.")
    parser.add_argument("--before", help="the src folder of an older version")
    options = parser.parse_args()
    sources = {"before": options.before} if options.before else {}
    labels = ("corpus, min count", "threads", "version")
    cpu = [Column(phase, "time", "lower", 2) for phase in PHASES]
    costs = Table("costs", "CPU seconds", ("CPU s in all", *cpu, fact("million pairs")), labels)
    memory = Table(
        "memory", "Peak memory", ("peak MB", *(f"{phase}, MB" for phase in PHASES)), labels
    )
    names = [score(name, digits=4) for name in SETS]
    scores = Table(
        "scores", "Scores", (*names, score("Google mul", digits=2), score("Google add", digits=2)),
        labels,
    )  # fmt: skip
    for corpus, file, min_count, n_threads in FITS:
        path = str(unpacked(file))
        for version, source in {**sources, "now": None}.items():
            found = run_fit(source, path, min_count, n_threads)
            label = f"{corpus}, {min_count}", n_threads, version
            by_phase = [found["phases"].get(phase, [0, None, None]) for phase in PHASES]
            costs.row(*label, found["cpu"], *(p[1] for p in by_phase), found["pairs"] / 1e6)
            memory.row(*label, found["peak"], *(p[2] for p in by_phase))
            scores.row(*label, *found["scores"])
    rates = [Column(name, "rate", "higher", 1) for name in ("GB/s", "GFLOP/s")]
    probe = Table("limits", "What one core does", ("ms", *rates), ("work",))
    limits(probe)
    record(
        "words_memory",
        "Memory of word vectors",
        [memory, costs, scores, probe],
        about="300 dimensions, window 10, each fit in its own process. Peak memory is resident "
        "memory, of the whole fit and while each phase runs; 130 MB of it are pages of shared "
        "libraries (LLVM 70, Arrow 30) at most. CPU seconds are those of the process with imports, "
        "with compiled loops in the cache. The bytes of a product with a panel are the rows of the "
        "panel that it reads (128 for each of the entries, mostly from caches) and the packed "
        "matrix, twice.",
    )


if __name__ == "__main__":
    main()
