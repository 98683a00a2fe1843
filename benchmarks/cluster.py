"""Threads beside a Dask cluster on this machine: the same bits, and what they cost.

    python benchmarks/cluster.py            # every model, threads beside two worker processes
    python benchmarks/cluster.py --scaling  # counting with 1, 2 and 4 worker processes

The corpora are text8-prefix (cut into lines of 1,000 words for topics) and enwiki-30m; the treebank
is NLTK's sample of the Penn treebank. Workers are started before the clock is.
"""

import argparse
import hashlib
import os
import tempfile
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path

import eigentext as et
from _harness import DATA, unpacked
from eigentext import engine
from eigentext.engine.dask import connected

CORPORA = {"text8-prefix": "text/text8-prefix.txt.xz", "enwiki-30m": "text/enwiki-30m.tok.txt.xz"}
REDUCTION = ("vocabulary", "add up", "gather")


class Watch:
    """Seconds by phase."""

    def __init__(self):
        self.seconds: dict[str, float] = {}

    def started(self, phase) -> None:
        """Nothing to note."""

    advanced = started

    def finished(self, phase) -> None:
        """Phases of one name are added up."""
        self.seconds[phase.name] = self.seconds.get(phase.name, 0) + phase.seconds


@contextmanager
def running(cluster: str | None):
    """On a cluster (warm: kernels loaded by every worker), or on the threads of this process."""
    with (
        connected(cluster) if cluster else nullcontext(engine.ThreadEngine()) as chosen,
        engine.use(chosen),
    ):
        warm_up()
        if cluster:
            chosen.each(warm_up)
        yield


def warm_up() -> None:
    """Load kernels, which takes a process a second or two."""
    text = et.TextCorpus(["a few words to begin with"] * 100, kind="texts")
    with engine.use(engine.ThreadEngine(1)):
        a, b = (et.CooccurrenceMoments.from_corpus(text, window=window) for window in (2, 2))
        assert a + b
        c, d = (et.NgramMoments.from_corpus(text) for _ in range(2))
        assert c + d


def digest(model) -> str:
    """Of the model's file, to the last byte."""
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
    """What is fitted to a corpus."""
    documents = lines_of(path) if name == "text8-prefix" else path
    yield "Eigenwords(300)", lambda: et.Eigenwords(300).fit(path)
    yield "HMM(20)", lambda: et.HMM(20).fit(path)
    yield "BigramModel(16)", lambda: et.BigramModel(16, n_iter=5).fit(path)
    yield (
        "TopicModel(50)",
        lambda: et.TopicModel(50, alpha0=0, min_df=20, max_df=1.0).fit(et.TextCorpus(documents)),
    )


def grammars():
    os.environ.setdefault("EIGENTEXT_DATA", str(DATA))
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


def compare(cluster: str) -> None:
    print(f"{'':32} {'threads s':>10} {cluster + ' s':>10} {'ratio':>6}  same bytes")
    tasks = [
        (f"{corpus}, {model}", fit)
        for corpus, file in CORPORA.items()
        for model, fit in models(corpus, unpacked(file))
    ] + [(f"Penn sample, {model}", fit) for model, fit in grammars()]
    here = {name: timed(None, fit) for name, fit in tasks}
    with running(cluster):
        for name, fit in tasks:
            there = timed(cluster, fit)
            ratio = there[0] / here[name][0]
            same = here[name][1] == there[1]
            print(
                f"{name:32} {here[name][0]:10.2f} {there[0]:10.2f} {ratio:6.2f}  {same}", flush=True
            )


def timed(cluster: str | None, fit) -> tuple[float, str]:
    start = time.perf_counter()
    model = fit()
    return time.perf_counter() - start, digest(model)


def scaling(file: str) -> None:
    path = unpacked(file)
    print(f"{'':10} {'wall s':>7} {'M tokens/s':>11} {'reduction':>10}  phases")
    for cluster in (None, "local:1", "local:2", "local:4"):
        with running(cluster):
            watch = Watch()
            with engine.report_to(watch):
                start = time.perf_counter()
                moments = et.CooccurrenceMoments.from_corpus(path, min_count=5)
                wall = time.perf_counter() - start
        share = sum(watch.seconds.get(name, 0) for name in REDUCTION) / wall
        phases = ", ".join(f"{name} {seconds:.2f}" for name, seconds in watch.seconds.items())
        rate = moments.n_tokens / wall / 1e6
        print(
            f"{cluster or 'threads':10} {wall:7.2f} {rate:11.2f} {share:10.0%}  {phases}",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scaling", action="store_true", help="count with more and more workers")
    parser.add_argument("--cluster", default="local:2")
    options = parser.parse_args()
    if options.scaling:
        for name, file in CORPORA.items():
            print(name)
            scaling(file)
    else:
        compare(options.cluster)
