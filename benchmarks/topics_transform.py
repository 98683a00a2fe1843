"""Proportions of new documents: documents a second, beside tomotopy and scikit-learn.

    python benchmarks/topics_transform.py fit FOLDER
    python benchmarks/topics_transform.py run FOLDER [--peers PYTHON]

The test posts of 20 newsgroups. `fit` learns the topics of the training posts (K = 20, 50, 100)
and writes counts. `run` measures eigentext from text and from counts, and then (in the Python of
--peers, or this one) scikit-learn and tomotopy. These learn topics from the same counts, with few
steps, because only the inference is measured. Ours is the best of three runs, theirs one run.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

SIZES = (20, 50, 100)


def measured(work, times=3):
    """The least wall and CPU seconds of some runs."""
    found = []
    for _ in range(times):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        found.append((time.perf_counter() - wall, time.process_time() - cpu))
    return tuple(map(min, zip(*found)))


def told(name, n, seconds):
    wall, cpu = seconds
    print(
        f"{name:44} {n / wall:10,.0f} documents/s {1000 * cpu / n:8.4f} CPU s per 1,000", flush=True
    )


def fit(folder):
    import eigentext as et
    from eigentext.moments import document_counts

    folder.mkdir(parents=True, exist_ok=True)
    train, test = (et.load_dataset("20news", split=split).texts for split in ("train", "test"))
    moments = et.DocumentMoments.from_corpus(train, stop_words="english", min_df=10, max_df=0.2)
    for K in SIZES:
        model = et.TopicModel(K).fit_moments(moments)
        model.save(folder / f"topics-{K}")
    for name, texts in (("train", train), ("test", test)):
        X = document_counts(texts, moments.vocabulary, moments.options)
        sp.save_npz(folder / f"{name}.npz", sp.csr_matrix(X))


def run(folder, peers):
    import eigentext as et

    texts = et.load_dataset("20news", split="test").texts
    X = sp.csr_array(sp.load_npz(folder / "test.npz"))
    n = X.shape[0]
    for K in SIZES:
        model = et.load(folder / f"topics-{K}")
        model.transform(texts[:5])
        told(f"eigentext, K = {K}, text", n, measured(lambda m=model: m.transform(texts)))
        told(f"eigentext, K = {K}, counts", n, measured(lambda m=model: m.transform(X)))
        told(
            f"eigentext, K = {K}, text, sparse",
            n,
            measured(lambda m=model: m.transform(texts, sparse=True)),
        )
    subprocess.run([peers, __file__, "peers", str(folder)], check=True)


def run_peers(folder):
    train, X = (sp.csr_matrix(sp.load_npz(folder / f"{name}.npz")) for name in ("train", "test"))
    n = X.shape[0]
    from sklearn.decomposition import LatentDirichletAllocation

    for K in SIZES:
        lda = LatentDirichletAllocation(K, max_iter=2, random_state=0, n_jobs=1).fit(train)
        told(f"scikit-learn, K = {K}, counts", n, measured(lambda m=lda: m.transform(X), 1))
    import tomotopy as tp

    def bags(A):
        return [
            np.repeat(A.indices[a:b], A.data[a:b].astype(int)).astype(str).tolist()
            for a, b in zip(A.indptr[:-1], A.indptr[1:])
        ]

    for K in SIZES:
        model = tp.LDAModel(k=K, alpha=1 / K, seed=0)
        for bag in bags(train):
            if bag:
                model.add_doc(bag)
        model.train(50, workers=2)
        made = [model.make_doc(bag) for bag in bags(X) if bag]
        for steps in (20, 100):
            seconds = measured(
                lambda m=model, d=made, s=steps: m.infer(d, iterations=s, workers=2), 1
            )
            told(f"tomotopy, K = {K}, {steps} iterations, tokens", n, seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=("fit", "run", "peers"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--peers", default=sys.executable, help="a Python with the peers")
    given = parser.parse_args()
    if given.step == "fit":
        fit(given.folder)
    elif given.step == "run":
        run(given.folder, given.peers)
    else:
        run_peers(given.folder)


if __name__ == "__main__":
    main()
