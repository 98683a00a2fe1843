"""Word vectors end to end beside gensim's Word2Vec and scikit-learn's TruncatedSVD, in one run.

Run it with ``.venv/bin/python benchmarks/words.py`` (about 45 minutes on two cores, nearly all of
them for gensim), or name a corpus and a min count: ``words.py text8-prefix 100``. ``--ours`` leaves
the peers out. All have 300 dimensions, two threads and a process each. They read plain text, split
at blanks. Each phase is measured in wall seconds, CPU seconds and peak resident memory. The ratio
compares CPU seconds of whole processes, with imports and the loading of compiled code. Then the
vectors are scored, on all questions and on the half ("test") that no setting was chosen on.
"""

import argparse
import itertools
import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

from _harness import Phases, data, scratch, unpacked
from _record import Table, ratio, record, score

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
            model.save(scratch("model"))
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
        model.wv.save(str(scratch("gensim.kv")))
    return model.wv


def truncated_svd(path: Path, min_count: int, phases: Phases):
    """PPMI with smoothed contexts, as most scripts do it: one matrix from scipy, one SVD."""
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
    """Run one contestant in this process."""
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
        pairs = [part(evaluate.read_pairs(data(f"words/{name}.txt"))) for name in names]
        results = [evaluate.similarity(model, some) for some in pairs]
        questions = part(evaluate.read_questions(data("words/google-analogies.txt")))
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
    parser = argparse.ArgumentParser(description="Word vectors beside their peers.")
    parser.add_argument("corpus", nargs="?", choices=CORPORA, help="default: both")
    parser.add_argument("min_count", nargs="?", type=int, help="default: 100, then 5")
    parser.add_argument("--ours", action="store_true", help="leave gensim and scikit-learn out")
    asked = parser.parse_args()
    corpora = [asked.corpus] if asked.corpus else list(CORPORA)
    min_counts = [asked.min_count] if asked.min_count else [100, 5]
    names = [name for name in CONTESTANTS if name.startswith("eigentext") or not asked.ours]
    labels = ("corpus, min count", "system")
    scores = (score("similarity"), score("Google mul", digits=1), score("Google add", digits=1))
    costs = ("wall s", "CPU s", "peak MB")
    table = Table("systems", "Costs and scores", (*costs, ratio("ratio"), *scores), labels)
    phases = Table("phases", "Costs of each phase", costs, (*labels, "phase"), silent=True)
    for corpus, min_count in itertools.product(corpora, min_counts):
        first = None
        for name in names:
            command = [sys.executable, sys.argv[0], "--run", name, corpus, str(min_count)]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            result = json.loads(done.stdout)
            first = first or result["cpu"]
            where = f"{corpus}, {min_count}", name
            wall = sum(phase[0] for phase in result["phases"].values())
            peak = max(phase[2] for phase in result["phases"].values())
            similarity, google = np.mean(result["test"]["rho"]), result["test"]["google"]
            times = None if asked.ours else first / result["cpu"]
            table.row(*where, wall, result["cpu"], peak, times, similarity, *google)
            for phase, measured in result["phases"].items():
                phases.row(*where, phase, *measured)
            show(result)
    record(
        "words_ours" if asked.ours else "words",
        "Word vectors beside their peers",
        [table, phases],
        about="300 dimensions, two threads, each system in its own process. CPU seconds are those "
        "of the whole process. The ratio is the first system's CPU seconds to this one's. Scores "
        "are on the half of the questions that no setting was chosen on; similarity is the average "
        "of WordSim353, MEN and the rare words.",
        peers=("gensim",),
    )


def show(result: dict) -> None:
    """Print what the tables do not have: the scores on each set of questions."""
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
