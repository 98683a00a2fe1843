"""Word vectors end to end beside gensim's Word2Vec and scikit-learn's TruncatedSVD, in one run.

Run it with ``.venv/bin/python benchmarks/words.py`` (about 45 minutes on two cores, nearly all of
them gensim's), or name a corpus and a min count: ``words.py text8-prefix 100``. 300 dimensions, two
threads, a process for each; files are read as plain text, split at blanks. For every phase: wall
and CPU seconds and the peak of resident memory; CPU seconds of the whole process, imports and
loading of kernels included, make the ratio. Then the scores of the vectors, on all questions and on
the half ("test") that no setting was chosen on.
"""

import itertools
import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

from _harness import DATA, Phases, unpacked

CORPORA = {
    "text8-prefix": "text/text8-prefix.txt.xz",
    "enwiki-30m": "text/enwiki-30m.tok.txt.xz",
}
DIM, WINDOW, THREADS = 300, 5, 2


def eigentext(path: Path, min_count: int, phases: Phases, **options):
    import eigentext as et

    with et.engine.use(et.engine.ThreadEngine(THREADS)), et.engine.report_to(phases):
        model = et.Eigenwords(DIM, min_count=min_count, **options).fit(str(path))
        with phases("save"):
            model.save("/tmp/eigentext-benchmarks/model")
    return model


def gensim(path: Path, min_count: int, phases: Phases):
    from gensim.models import Word2Vec
    from gensim.models.word2vec import LineSentence

    sentences = LineSentence(str(path))
    model = Word2Vec(
        vector_size=DIM, window=WINDOW, min_count=min_count, workers=THREADS, sg=1, seed=1
    )
    with phases("vocabulary"):
        model.build_vocab(sentences)
    with phases("train, 5 epochs"):
        model.train(sentences, total_examples=model.corpus_count, epochs=5)
    with phases("save"):
        model.wv.save("/tmp/eigentext-benchmarks/gensim.kv")
    return model.wv


def truncated_svd(path: Path, min_count: int, phases: Phases):
    """PPMI with smoothed contexts, as most scripts have it: one matrix from scipy, one SVD."""
    import scipy.sparse as sp
    from sklearn.decomposition import TruncatedSVD

    with phases("index"):
        with path.open() as file:
            lines = [line.split() for line in file]
        counts = Counter(itertools.chain.from_iterable(lines))
        words = [word for word, count in counts.most_common() if count >= min_count]
        ids = {word: place for place, word in enumerate(words)}
        tokens = np.fromiter((i for line in lines for i in (*_ids(line, ids), -1)), np.int32)
        del lines
    with phases("count"):
        n = len(words)
        total = sp.csr_array((n, n), dtype=np.float32)
        ends = np.flatnonzero(tokens < 0)
        unit = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=-1))
        for d in range(1, WINDOW + 1):
            a, b = tokens[:-d], tokens[d:]
            pair = (a >= 0) & (b >= 0) & (a < n) & (b < n) & (unit[:-d] == unit[d:])
            ones = np.ones(int(pair.sum()), np.float32)
            total = total + sp.coo_array((ones, (a[pair], b[pair])), (n, n)).tocsr()
        total = sp.csr_array(total + total.T)
    with phases("ppmi"):
        w, c = total.sum(axis=1), total.sum(axis=0) ** 0.75
        coo = total.tocoo()
        values = np.log(coo.data * c.sum() / (w[coo.row] * c[coo.col]))
        keep = values > 0
        Omega = sp.csr_array(
            (values[keep].astype(np.float32), (coo.row[keep], coo.col[keep])), (n, n)
        )
    with phases("svd"):
        solver = TruncatedSVD(DIM, n_iter=5, random_state=0)
        vectors = solver.fit_transform(Omega) / np.sqrt(solver.singular_values_)
    return words, vectors


def _ids(line: list[str], ids: dict[str, int]):
    return (ids.get(word, len(ids)) for word in line)


CONTESTANTS = {
    "gensim Word2Vec": gensim,
    "scikit-learn TruncatedSVD": truncated_svd,
    "eigentext": eigentext,
    f"eigentext, window {WINDOW}": lambda *where: eigentext(*where, window=WINDOW),
    "eigentext, the paper's": lambda *where: eigentext(
        *where, window=WINDOW, weighting="flat", alpha=0.75, beta=0.0
    ),
}


def run(name: str, corpus: str, min_count: int) -> dict:
    """One contestant, in this process."""
    phases = Phases()
    model = CONTESTANTS[name](unpacked(CORPORA[corpus]), min_count, phases)
    cpu = time.process_time()
    return {"cpu": cpu, "phases": phases.found, **scores(model)}


def scores(model) -> dict:
    from eigentext import evaluate

    found = {}
    for which in ("all", "test"):

        def part(items, which=which):
            return items if which == "all" else evaluate.half(items, which)

        names = ("wordsim353", "men3000", "rareword2034")
        pairs = [part(evaluate.read_pairs(DATA / "words" / f"{name}.txt")) for name in names]
        results = [evaluate.similarity(model, some) for some in pairs]
        questions = part(evaluate.read_questions(DATA / "words" / "google-analogies.txt"))
        google = evaluate.analogies(model, questions)
        found[which] = {
            "rho": [result.rho for result in results],
            "covered": [*(result.n_covered for result in results), google.n_covered],
            "google": [100 * google.accuracy[method] for method in ("mul", "add")],
        }
    return found


def main() -> None:
    if sys.argv[1:2] == ["--run"]:
        print(json.dumps(run(sys.argv[2], sys.argv[3], int(sys.argv[4]))))
        return
    corpora = sys.argv[1:2] or list(CORPORA)
    min_counts = [int(argument) for argument in sys.argv[2:3]] or [100, 5]
    for corpus, min_count in itertools.product(corpora, min_counts):
        print(f"\n## {corpus}, min count {min_count}\n", flush=True)
        measure = None
        for name in CONTESTANTS:
            command = [sys.executable, sys.argv[0], "--run", name, corpus, str(min_count)]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            result = json.loads(done.stdout)
            measure = measure or result["cpu"]
            show(name, result, measure)


def show(name: str, result: dict, measure: float) -> None:
    wall = sum(phase[0] for phase in result["phases"].values())
    peak = max(phase[2] for phase in result["phases"].values())
    print(
        f"{name}: {wall:.1f} s wall, {result['cpu']:.1f} s CPU "
        f"({measure / result['cpu']:.1f} times less than gensim), {peak:,.0f} MB"
    )
    for phase, (seconds, cpu, memory) in result["phases"].items():
        print(f"    {phase:20} {seconds:8.2f} s {cpu:8.2f} s CPU {memory:8,.0f} MB")
    for which in ("all", "test"):
        part = result[which]
        rho = ", ".join(f"{r:.3f}" for r in part["rho"])
        print(
            f"    {which:5} WS, MEN, RW {rho}; average {np.mean(part['rho']):.3f}; "
            f"Google {part['google'][0]:.1f} mul, {part['google'][1]:.1f} add; "
            f"covered {part['covered']}",
            flush=True,
        )


if __name__ == "__main__":
    main()
