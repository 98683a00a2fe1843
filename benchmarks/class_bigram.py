"""Class bigrams: the average mutual information of classes, and perplexities beside n-grams.

    .venv/bin/python benchmarks/class_bigram.py [clusters] [brown] [text8]

Without arguments, all parts run. The peer `brown-clustering` (PyPI) is measured if it is installed.
"""

import sys
import time
import warnings
from functools import partial

import numpy as np

from _harness import Phases, measured, scratch, serve, unpacked
from _record import Column, Table, fact, record, score
from bigram import split
from eigentext import (
    BigramModel,
    ClassBigram,
    Eigenwords,
    KneserNey,
    NgramMoments,
    TextCorpus,
    WordClusters,
)
from eigentext.evaluate import average_mutual_information
from eigentext.sequences import Interpolation

warnings.simplefilter("ignore")
TOKENS, CLASSES = 1_000_000, 100
SMALL, FEW = 50_000, 50  # for the peer in Python, which takes minutes for more
ROUNDS = 1000  # of the bootstrap
BLOCK = 500  # tokens that the bootstrap draws together


# Clusters.


def text(n: int):
    """The first tokens of text8 as a file, read as a stream."""
    path = scratch(f"text8-{n}.txt")
    if not path.exists():
        with unpacked("text/text8-prefix.txt.xz").open() as file:
            words = file.read(8 * n + 1000).split()[:n]
        path.write_text(" ".join(words))
    return TextCorpus(path, unit="stream")


def word_clusters(n: int, k: int) -> WordClusters:
    return WordClusters(k).fit(Eigenwords(50, window=1, min_count=1).fit(text(n)))


def learned(n: int, k: int, **settings) -> ClassBigram:
    return ClassBigram(n_classes=k, **settings).fit(text(n))


def from_clusters(n: int, k: int) -> ClassBigram:
    return ClassBigram(word_clusters(n, k), exchange=True).fit(text(n))


def package(n: int, k: int) -> dict[str, int]:
    from brown_clustering import BigramCorpus, BrownClustering

    words = text(n).files[0].read_text().split()
    found = BrownClustering(BigramCorpus([words], alpha=1e-6), k).train()
    return {word: number for number, cluster in enumerate(found) for word in cluster}


WAYS = {
    "WordClusters (50 dimensions, window 1)": word_clusters,
    "WordClusters, then exchange": from_clusters,
    "exchange from frequent words": partial(learned, init="frequency"),
    "CCA start alone": partial(learned, exchange=False),
    "CCA start, then exchange (default)": learned,
    "Brown's greedy merges": partial(learned, init="brown", exchange=False),
    "Brown's greedy merges, then exchange": partial(learned, init="brown"),
    "brown-clustering (PyPI), in Python": package,
}


def cluster(way, n: int, k: int) -> dict:
    """Make clusters twice, first small ones so that loops are compiled, and measure the second."""
    if way is not package:
        way(2000, 5)
    started = time.perf_counter(), time.process_time()
    found = way(n, k)
    wall, cpu = time.perf_counter() - started[0], time.process_time() - started[1]
    sweeps = getattr(found, "n_iter_", None)
    value = average_mutual_information(found, text(n))
    return {"wall": wall, "cpu": cpu, "information": value, "sweeps": sweeps}


SIZES = {"": (TOKENS, CLASSES), "1000: ": (TOKENS, 1000), "small: ": (SMALL, FEW)}
CONTESTANTS = {
    size + name: partial(cluster, way, *numbers)
    for size, numbers in SIZES.items()
    for name, way in WAYS.items()
}


def clusters() -> list[Table]:
    columns = (score("mutual information", digits=4), "CPU s", "peak MB", fact("sweeps"))
    tables = []
    for size, (n, k) in SIZES.items():
        title = f"{k:,} classes of the first {n:,} tokens of text8"
        table = Table(f"clusters_{n}_{k}", title, columns)
        for name, way in WAYS.items():
            if (way is package) != (n == SMALL) and way is package:
                continue
            if k == 1000 and "merges, then" in name:
                continue
            found = measured(size + name)
            figures = found["figures"]
            cost = found["cpu"], found["peak"] / 1e6
            table.row(name, figures["information"], *cost, figures["sweeps"])
        if (n, k) == (TOKENS, CLASSES):
            table.row("wcluster (Liang), as measured elsewhere", None, 48.6, 31, None)
        tables.append(table)
    return tables


# Language models.


class Models:
    """Fits language models, measures them, and keeps their scores."""

    def __init__(self, table: Table, held: list, base: str):
        self.table, self.base = table, base
        self.weigh, self.tests = held[0], held[1:]
        self.scores: dict[str, np.ndarray] = {}
        self.models: dict = {}

    def fit(self, name: str, make) -> None:
        """Fit a model and add its row."""
        phases = Phases()
        with phases("fit"):
            self.models[name] = model = make()
        _, cpu, peak = phases.found["fit"]
        self.row(name, model, cpu, peak)

    def mix(self, *names: str) -> None:
        """Add the row of a mixture of models."""
        mixture = Interpolation([self.models[name] for name in names], by_count=True)
        self.row(" + ".join(names), mixture.fit(self.weigh), None, None)

    def row(self, name: str, model, cpu: float | None, peak: float | None) -> None:
        """Score a model."""
        figures = [model.perplexity(text) for text in self.tests]
        self.scores[name] = model.log_probabilities(self.tests[-1])
        is_base = name == self.base
        against = None if is_base else interval(self.scores[name], self.scores[self.base])
        self.table.row(name, *figures, against, cpu, peak)


def interval(scores: np.ndarray, base: np.ndarray) -> str:
    """By how much the perplexity changes, with 95% of bootstrapped blocks of the text."""
    known = ~np.isnan(scores)
    gains = (scores - base)[known]
    gains = gains[: len(gains) // BLOCK * BLOCK].reshape(-1, BLOCK).mean(axis=1)
    rng = np.random.default_rng(0)
    means = gains[rng.integers(len(gains), size=(ROUNDS, len(gains)))].mean(axis=1)
    low, high = 100 * np.expm1(-np.quantile(means, [0.975, 0.025]))
    return f"{low:+.1f} to {high:+.1f}"


def columns(base: str) -> tuple:
    return (
        score("dev", "lower", digits=1),
        score("test", "lower", digits=1),
        fact(f"test, % against {base}"),
        Column("CPU s", "time", "lower"),
        "peak MB",
    )


def brown() -> list[Table]:
    train, *held = split()
    base = "Kneser-Ney 2"
    title = "Perplexity on Brown: 800,000 tokens to learn from"
    models = Models(Table("brown", title, columns(base)), held, base)
    ClassBigram(n_classes=5).fit(train[:2000])  # compile
    moments = NgramMoments.from_corpus(train, order=3, min_count=2)
    for order in (2, 3):
        make = partial(KneserNey(order, min_count=2).fit_moments, moments)
        models.fit(f"Kneser-Ney {order}", make)
    models.fit(
        "BigramModel, 128 states",
        lambda: BigramModel(128, min_count=2).fit_moments(moments, validation=held[0]),
    )
    vectors = Eigenwords(50, window=1, min_count=2).fit([train])
    for k in (100, 300, 1000):
        given = WordClusters(k).fit(vectors)
        for name, settings in (
            ("classes of WordClusters", {"clusters": given}),
            ("classes of WordClusters, exchanged", {"clusters": given, "exchange": True}),
            ("classes", {"n_classes": k}),
            ("classes from frequent words", {"n_classes": k, "init": "frequency"}),
        ):
            make = partial(ClassBigram(min_count=2, **settings).fit_moments, moments)
            models.fit(f"{k} {name}", make)
    for k in (100, 300, 1000):
        models.mix("Kneser-Ney 2", f"{k} classes")
    models.mix("Kneser-Ney 3", "BigramModel, 128 states")
    for k in (100, 300, 1000):
        models.mix("Kneser-Ney 3", f"{k} classes")
    models.mix("Kneser-Ney 3", "BigramModel, 128 states", "300 classes")
    models.mix("Kneser-Ney 3", "100 classes", "300 classes", "1000 classes")
    return [models.table]


def text8() -> list[Table]:
    n = 5_000_000
    with unpacked("text/text8-prefix.txt.xz").open() as file:
        words = file.read(8 * n).split()
    train, held = words[:n], [words[n + k * 100_000 : n + (k + 1) * 100_000] for k in range(3)]
    base = "Kneser-Ney 2"
    title = "Perplexity on text8: 5,000,000 tokens to learn from, words with 3 tokens or more"
    models = Models(Table("text8", title, columns(base)), held, base)
    moments = NgramMoments.from_corpus(train, order=3, min_count=3)
    del words, train
    for order in (2, 3):
        make = partial(KneserNey(order, min_count=3).fit_moments, moments)
        models.fit(f"Kneser-Ney {order}", make)
    for k in (300, 1000):
        make = partial(ClassBigram(min_count=3, n_classes=k).fit_moments, moments)
        models.fit(f"{k} classes", make)
    for order in (2, 3):
        models.mix(f"Kneser-Ney {order}", "1000 classes")
    models.mix("Kneser-Ney 3", "300 classes", "1000 classes")
    return [models.table]


ABOUT = {
    "clusters": "Average mutual information of adjacent classes, in nats, of the same text for "
    "all. One core. CPU seconds are from text to classes, without compiling. The figures of "
    "wcluster are those of the same text on another day; it does not run here.",
    "brown": "Brown is split as in [Cohen and Collins 2014]. Words seen once are the rare word. "
    '"dev" is the second half of the development part. The first half gives the weights of '
    "mixtures, which depend on the count of the previous word. The third column has the change of "
    "the perplexity on the test, with 95% of bootstrapped blocks of 500 tokens. CPU seconds are "
    "those from counts to the model.",
    "text8": "The next 300,000 tokens are for the weights, dev and test. Otherwise as for Brown.",
}
TITLES = {
    "clusters": "Classes beside Brown's merges",
    "brown": "Class bigrams on Brown",
    "text8": "Class bigrams on text8",
}


def main() -> None:
    if serve(CONTESTANTS):
        return
    parts = {"clusters": clusters, "brown": brown, "text8": text8}
    for name in sys.argv[1:] or parts:
        tables = parts[name]()
        peers = ("brown-clustering",) if name == "clusters" else ()
        record(f"class_bigram_{name}", TITLES[name], tables, about=ABOUT[name], peers=peers)


if __name__ == "__main__":
    main()
