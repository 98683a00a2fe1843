"""Proportions of new documents: documents a second, beside tomotopy and scikit-learn.

    python benchmarks/topics_transform.py [--peers PYTHON]

The test posts of 20 newsgroups, and the topics of the training posts (K = 20, 50, 100): eigentext
from text and from counts, and then, in the Python of --peers or in this one, scikit-learn and
tomotopy. These learn topics from the same counts, with few steps, because only the inference is
measured. Ours is the best of three runs, theirs one run.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from _record import Table, record

SIZES = (20, 50, 100)
Row = tuple[str, int, str, float, float]  # system, K, input, documents/s, CPU s per 1,000


def measured(work: Callable[[], Any], n: int, times: int = 3) -> tuple[float, float]:
    """Documents a second, and the CPU seconds of a thousand: the best of some runs."""
    found = []
    for _ in range(times):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        found.append((time.perf_counter() - wall, time.process_time() - cpu))
    wall, cpu = map(min, zip(*found))
    return n / wall, 1000 * cpu / n


def ours(folder: Path) -> Iterator[Row]:
    """Learn topics, write counts, and measure."""
    import eigentext as et
    from eigentext.moments import document_counts

    train, test = (et.load_dataset("20news", split=split).texts for split in ("train", "test"))
    moments = et.DocumentMoments.from_corpus(train, stop_words="english", min_df=10, max_df=0.2)
    counts = {}
    for name, texts in (("train", train), ("test", test)):
        counts[name] = document_counts(texts, moments.vocabulary, moments.options)
        sp.save_npz(folder / f"{name}.npz", sp.csr_matrix(counts[name]))
    n, X = len(test), sp.csr_array(counts["test"])
    for K in SIZES:
        model = et.TopicModel(K).fit_moments(moments)
        model.transform(test[:5])
        yield "eigentext", K, "text", *measured(lambda m=model: m.transform(test), n)
        yield "eigentext", K, "counts", *measured(lambda m=model: m.transform(X), n)
        work = measured(lambda m=model: m.transform(test, sparse=True), n)
        yield "eigentext, sparse=True", K, "text", *work


def peers(folder: Path) -> Iterator[Row]:
    """The same with scikit-learn and tomotopy."""
    import tomotopy as tp
    from sklearn.decomposition import LatentDirichletAllocation

    train, X = (sp.csr_matrix(sp.load_npz(folder / f"{name}.npz")) for name in ("train", "test"))
    n = X.shape[0]
    for K in SIZES:
        lda = LatentDirichletAllocation(K, max_iter=2, random_state=0, n_jobs=1).fit(train)
        yield "scikit-learn", K, "counts", *measured(lambda m=lda: m.transform(X), n, 1)
    for K in SIZES:
        model = tp.LDAModel(k=K, alpha=1 / K, seed=0)
        for bag in _bags(train):
            model.add_doc(bag)
        model.train(50, workers=2)
        made = [model.make_doc(bag) for bag in _bags(X)]
        for steps in (20, 100):
            work = measured(
                lambda m=model, d=made, s=steps: m.infer(d, iterations=s, workers=2), n, 1
            )
            yield f"tomotopy, {steps} iterations", K, "tokens", *work


def _bags(A: sp.csr_matrix) -> list[list[str]]:
    """The words of each document that has any."""
    rows = zip(A.indptr[:-1], A.indptr[1:])
    bags = (np.repeat(A.indices[a:b], A.data[a:b].astype(int)) for a, b in rows)
    return [bag.astype(str).tolist() for bag in bags if len(bag)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", default=sys.executable, help="a Python with the peers")
    parser.add_argument("--peer", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.peer:
        rows = [*peers(given.peer)]
        (given.peer / "rows.json").write_text(json.dumps(rows))
        return
    columns = ("documents/s", "CPU s per 1,000")
    table = Table("transform", "Shares of new documents", columns, ("system", "K", "from"))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for system, K, kind, speed, seconds in ours(folder):
            table.row(system, str(K), kind, speed, seconds)
        subprocess.run([given.peers, __file__, "--peer", temporary], check=True)
        for system, K, kind, speed, seconds in json.loads((folder / "rows.json").read_text()):
            table.row(system, str(K), kind, speed, seconds)
    record(
        "topics_transform",
        "Topics of new documents",
        [table],
        about="The test posts of 20 newsgroups by topics of the training posts. Words occur in at "
        "least 10 training documents and in at most a fifth of them, without English stop words. "
        "Ours is the best of three runs, that of the others one run. tomotopy uses two threads.",
        peers=("tomotopy",),
    )


if __name__ == "__main__":
    main()
