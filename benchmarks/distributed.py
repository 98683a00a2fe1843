"""Threads beside a Dask cluster on this machine: the same bits, and what they cost.

    python benchmarks/distributed.py            # every model, threads beside two worker processes
    python benchmarks/distributed.py --scaling  # counting with 1, 2 and 4 worker processes

The corpora are text8-prefix (cut into lines of 1,000 words for topics) and enwiki-30m; the treebank
is NLTK's sample of the Penn treebank. Workers are started before the clock is.
"""

import argparse
import hashlib
import tempfile
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path

import eigentext as et
from _harness import unpacked
from _record import Table, fact, ratio, record
from eigentext import engine
from eigentext.engine.dask import connected

CORPORA = {"text8-prefix": "text/text8-prefix.txt.xz", "enwiki-30m": "text/enwiki-30m.tok.txt.xz"}
REDUCTION = ("vocabulary", "add up", "gather")


class Clock:
    """Keeps the seconds of each phase."""

    def __init__(self):
        self.seconds: dict[str, float] = {}

    def started(self, phase) -> None:
        """Do nothing: phases know their seconds."""

    advanced = started

    def finished(self, phase) -> None:
        """Add the seconds to those of earlier phases of this name."""
        self.seconds[phase.name] = self.seconds.get(phase.name, 0) + phase.seconds


@contextmanager
def running(workers: str | None):
    """Use Dask workers that have loaded compiled code, or the threads of this process."""
    with (
        connected(workers) if workers else nullcontext(engine.ThreadEngine()) as chosen,
        engine.use(chosen),
    ):
        warm_up()
        if workers:
            chosen.each(warm_up)
        yield


def warm_up() -> None:
    """Load compiled loops, which takes a process a second or two."""
    text = et.TextCorpus(["a few words to begin with"] * 100, kind="texts")
    with engine.use(engine.ThreadEngine(1)):
        a, b = (et.CooccurrenceMoments.from_corpus(text, window=window) for window in (2, 2))
        assert a + b
        c, d = (et.NgramMoments.from_corpus(text) for _ in range(2))
        assert c + d


def digest(model) -> str:
    """A digest of the model's file."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder, "model"))
        return hashlib.sha256(Path(folder, "model").read_bytes()).hexdigest()


def lines_of(path: Path) -> Path:
    """The words of a file in lines of 1,000, for models of documents."""
    lines = path.with_suffix(".lines")
    if not lines.exists():
        words = path.read_text().split()
        chunks = (" ".join(words[start : start + 1000]) for start in range(0, len(words), 1000))
        lines.write_text("\n".join(chunks))
    return lines


def models(name: str, path: Path):
    """The models that are fitted to a corpus, by name."""
    documents = lines_of(path) if name == "text8-prefix" else path
    yield "Eigenwords(300)", lambda: et.Eigenwords(300).fit(path)
    yield "HMM(20)", lambda: et.HMM(20).fit(path)
    yield "BigramModel(16)", lambda: et.BigramModel(16, n_iter=5).fit(path)
    yield (
        "TopicModel(50)",
        lambda: et.TopicModel(50, alpha0=0, min_df=20, max_df=1.0).fit(et.TextCorpus(documents)),
    )


def grammars():
    trees = list(et.load_dataset("penn-sample"))
    for method in ("em", "spectral"):
        yield (
            f"LatentPCFG(8, {method})",
            lambda method=method: et.LatentPCFG(8, method=method).fit(trees),
        )
    fitted = et.LatentPCFG(8, method="em").fit(trees[:500])
    sentences = [tree.leaves() for tree in trees[-400:]]

    class Parses:
        def __init__(self, trees):
            self.trees = "\n".join(map(str, trees))

        def save(self, path):
            path.write_text(self.trees)

    yield "parse 400 sentences", lambda: Parses(fitted.parse_many(sentences))


def compare(workers: str) -> None:
    tasks = [
        (f"{corpus}, {model}", fit)
        for corpus, file in CORPORA.items()
        for model, fit in models(corpus, unpacked(file))
    ] + [(f"Penn sample, {model}", fit) for model, fit in grammars()]
    here = {name: timed(fit) for name, fit in tasks}
    columns = ("threads (2), s", f"{workers}, s", ratio("ratio", "lower"), fact("same bytes"))
    table = Table("models", "Threads beside worker processes", columns, ("task",))
    with running(workers):
        for name, fit in tasks:
            seconds, digest = timed(fit)
            same = here[name][1] == digest
            table.row(name, here[name][0], seconds, seconds / here[name][0], same)
    record("distributed", "Threads beside Dask workers", [table], peers=("distributed",))


def timed(fit) -> tuple[float, str]:
    start = time.perf_counter()
    model = fit()
    return time.perf_counter() - start, digest(model)


def scaling() -> None:
    columns = ("wall s", "million tokens/s", fact("share of the reduction"), fact("phases"))
    table = Table("scaling", "Counting pairs", columns, ("corpus", "workers"))
    for name, file in CORPORA.items():
        path = unpacked(file)
        for workers in (None, "local:1", "local:2", "local:4"):
            with running(workers):
                clock = Clock()
                with engine.report_to(clock):
                    start = time.perf_counter()
                    moments = et.CooccurrenceMoments.from_corpus(path, min_count=5)
                    wall = time.perf_counter() - start
            share = sum(clock.seconds.get(phase, 0) for phase in REDUCTION) / wall
            phases = ", ".join(f"{phase} {seconds:.2f}" for phase, seconds in clock.seconds.items())
            rate = moments.n_tokens / wall / 1e6
            table.row(name, workers or "threads (2)", wall, rate, share, phases)
    about = "Pairs of words seen 5 times. The reduction is all that follows the counting of shards."
    record("distributed_scaling", "Counting pairs", [table], about=about, peers=("distributed",))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Threads beside Dask workers.")
    parser.add_argument("--scaling", action="store_true", help="count with more and more workers")
    parser.add_argument("--workers", default="local:2", help="default: local:2")
    options = parser.parse_args()
    if options.scaling:
        scaling()
    else:
        compare(options.workers)
