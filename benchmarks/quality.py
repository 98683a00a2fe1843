"""How good the vectors are, one choice at a time: tables 1 and 2 of the paper, and more.

Run it with ``.venv/bin/python benchmarks/quality.py [GROUP...]`` where a group is table1, table2,
beyond or defaults; ``--corpus text8-prefix``, ``--min-count 5``, ``--dim 300`` and ``--half test``
change what is measured. Choices are made on the half "dev" of the questions. The half "test" is for
the report on what was chosen. The paper is [Stratos et al. 2015].

A row has Spearman's correlation on WordSim353, MEN and the rare words, their average, and the
accuracy on Google's analogies by 3CosMul and 3CosAdd in percent.
"""

import argparse
import time
from functools import lru_cache

import numpy as np
import scipy.sparse as sp

from _harness import data, scratch, unpacked
from _record import Table, record, score
from eigentext import CooccurrenceMoments, evaluate
from eigentext.corpus import encode
from eigentext.factor import svd
from eigentext.words import scaled_counts

CORPORA = {
    "text8-prefix": "text/text8-prefix.txt.xz",
    "enwiki-30m": "text/enwiki-30m.tok.txt.xz",
}
SIMILARITY = ("wordsim353", "men3000", "rareword2034")
BASE = {"window": 5, "weighting": "flat", "transform": "sqrt", "scaling": "cca", "alpha": 0.75}

TABLE_1 = {t: {"transform": t} for t in ("none", "log", "two-thirds", "sqrt")}
TABLE_2 = {
    f"{t}, {s}": {"transform": t, "scaling": s, "beta": 0.5 if s == "ppmi" else 0}
    for t, s in (
        ("none", "none"),
        ("sqrt", "none"),
        ("log", "none"),
        ("none", "reg"),
        ("sqrt", "reg"),
        ("none", "ppmi"),
        ("sqrt", "cca"),
    )
}
BEYOND = {
    "the paper's": {},
    **{f"beta {beta}": {"beta": beta} for beta in (0.125, 0.25, 0.375, 0.5, 0.75)},
    **{f"alpha {alpha}": {"alpha": alpha} for alpha in (1, 0.5, 0)},
    **{f"window {window}": {"window": window} for window in (2, 10)},
    **{
        f"weights 1/distance, window {window}": {"weighting": "distance", "window": window}
        for window in (2, 5, 10)
    },
    **{f"exponent {a} instead of the square root": {"exponent": a} for a in (0.6, 0.4, 0.3)},
    **{
        name: {"transform": "none", "scaling": "ppmi", "beta": beta, "shift": k}
        for name, beta, k in (
            ("PPMI, beta 0", 0, 1),
            ("PPMI, beta 0.5", 0.5, 1),
            ("PPMI shifted by log 2, beta 0.5", 0.5, 2),
            ("PPMI shifted by log 5, beta 0.5", 0.5, 5),
        )
    },
    **{
        f"frequent words subsampled at 1e-{power}": {"subsample": 10.0**-power}
        for power in (3, 4, 5)
    },
    "context vectors added": {"add_contexts": True},
    **{f"without the first components: {k}": {"drop": k} for k in (1, 2, 5, 10)},
    **{f"{dim} dimensions": {"dim": dim} for dim in (100, 200, 500)},
}
DEFAULTS = {
    f"{weighting} w{window}, beta {beta}, alpha {alpha}": {
        "weighting": weighting,
        "window": window,
        "beta": beta,
        "alpha": alpha,
    }
    for weighting, window in (("flat", 5), ("distance", 5), ("distance", 10))
    for alpha in (0.75, 0.5)
    for beta in (0, 0.125, 0.25, 0.375, 0.5)
}
GROUPS = {"table1": TABLE_1, "table2": TABLE_2, "beyond": BEYOND, "defaults": DEFAULTS}
TITLES = {
    "table1": "Transforms of the counts",
    "table2": "Transforms and scalings",
    "beyond": "Choices beyond the paper",
    "defaults": "Window, alpha and beta",
}


class Experiments:
    """All rows of one corpus; what the rows share is computed once."""

    def __init__(self, corpus: str, min_count: int, dim: int, half: str):
        self.encoded = encode(unpacked(CORPORA[corpus]), cache=scratch("cache"))
        self.min_count, self.dim = min_count, dim
        self.pairs = {
            name: evaluate.half(evaluate.read_pairs(data(f"words/{name}.txt")), half)
            for name in SIMILARITY
        }
        questions = evaluate.read_questions(data("words/google-analogies.txt"))
        self.questions = evaluate.half(questions, half)

    @lru_cache(maxsize=1)  # noqa: B019 - one object a run
    def counts(self, window: int, weighting: str):
        """The vocabulary, and #(w, c)."""
        moments = CooccurrenceMoments.from_corpus(
            self.encoded, window=window, weighting=weighting, min_count=self.min_count
        )
        return moments.vocabulary, moments.counts().astype(np.float64) / moments.unit

    @lru_cache(maxsize=1)  # noqa: B019
    def factors(self, window, weighting, transform, scaling, alpha, exponent, shift, subsample, m):
        """The vocabulary, and the SVD of Omega."""
        words, counts = self.counts(window, weighting)
        if subsample:  # the counts that the sampling of word2vec leaves on average
            rate = counts.sum(axis=1) / counts.sum()
            kept = sp.diags_array(np.minimum(1, np.sqrt(subsample / rate)))
            counts = sp.csr_array(kept @ counts @ kept)
        if exponent:  # powers other than the square root: theorem 4.1 of the paper holds for all
            counts = sp.csr_array(counts)
            marginal = counts.sum(axis=1) ** exponent
            values = counts.data**exponent / np.repeat(marginal**0.5, np.diff(counts.indptr))
            values /= marginal[counts.indices] ** (alpha / 2)
            Omega = sp.csr_array((values.astype(np.float32), counts.indices, counts.indptr))
        else:
            Omega = scaled_counts(counts, transform=transform, scaling=scaling, alpha=alpha)
        if shift > 1:
            Omega.data = np.maximum(Omega.data - np.log(shift), 0)
            Omega.eliminate_zeros()
        return words, svd(Omega, m)

    def vectors(self, *, beta=0.0, add_contexts=False, drop=0, dim=None, **matrix):
        """Words and vectors for one choice."""
        dim = dim or self.dim
        keys = ("window", "weighting", "transform", "scaling", "alpha")
        matrix = {"exponent": None, "shift": 1, "subsample": None, **BASE, **matrix}
        extra = (matrix["exponent"], matrix["shift"], matrix["subsample"])
        words, (U, s, Vt) = self.factors(*(matrix[key] for key in keys), *extra, dim + 10)
        kept = slice(drop, drop + dim)
        vectors = U[:, kept] * s[kept] ** beta
        if add_contexts:
            vectors = vectors + Vt[kept].T * s[kept] ** beta
        return words.words, vectors[: len(words)]

    def row(self, options: dict) -> list[float]:
        """The scores of one choice."""
        words, vectors = self.vectors(**options)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors = vectors / np.where(lengths > 0, lengths, 1)
        rho = [evaluate.similarity((words, vectors), pairs).rho for pairs in self.pairs.values()]
        found = evaluate.analogies((words, vectors), self.questions).accuracy
        return [*rho, float(np.mean(rho)), *(100 * found[how] for how in ("mul", "add"))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("groups", nargs="*", default=["table1", "table2", "beyond"])
    parser.add_argument("--corpus", default="enwiki-30m", choices=CORPORA)
    parser.add_argument("--min-count", type=int, default=100)
    parser.add_argument("--dim", type=int, default=300)
    parser.add_argument("--half", default="dev", choices=("dev", "test"))
    options = parser.parse_args()
    experiments = Experiments(options.corpus, options.min_count, options.dim, options.half)
    where = (
        f"{options.corpus}, min count {options.min_count}, {options.dim} dimensions, "
        f'the half "{options.half}" of the questions'
    )
    scores = [score(name, digits=3) for name in ("WS", "MEN", "RW", "average")]
    scores += [score(name, digits=1) for name in ("Google mul", "Google add")]
    for group in options.groups:
        table = Table(group, TITLES[group], (*scores, "s"), ("choice",))
        for name, choice in GROUPS[group].items():
            started = time.perf_counter()
            row = experiments.row(choice)
            table.row(name, *row, time.perf_counter() - started)
        record(f"quality_{group}", TITLES[group], [table], about=where)


if __name__ == "__main__":
    main()
