"""What the benchmarks of topics share: the systems, each fitted on a document-term matrix.

All get a symmetric prior of proportions that sums to one, and the Bayesian ones eta = .1. All else
is their own default. tomotopy makes 300 sweeps (and tunes its alpha meanwhile, which is its
default), scikit-learn 10 passes of batch variational Bayes, gensim 5 passes. Times are those of the
fit alone: before it, matrices are turned into what a system takes, and Numba has compiled.
"""

import os
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import contextmanager, suppress

import numpy as np
import scipy.sparse as sp

import _harness

ETA = 0.1


class Clock:
    """Measures wall and CPU seconds since it was made, with those of finished child processes."""

    def __init__(self):
        self._start = self._now()

    def read(self) -> dict:
        wall, cpu = (now - then for now, then in zip(self._now(), self._start))
        return {"wall": wall, "cpu": cpu, "peak": _harness.peak_bytes()}

    @staticmethod
    def _now() -> tuple[float, float]:
        return time.perf_counter(), sum(os.times()[:4])


@contextmanager
def family_memory(every: float = 0.5):
    """Sample the memory of this process and its children; shared pages count once.

    The last element of the list is the most that was seen.
    """
    import psutil

    most, done, me = [0], threading.Event(), psutil.Process()

    def sample() -> None:
        while not done.wait(every):
            total = 0
            for process in (me, *me.children(recursive=True)):
                with suppress(psutil.Error):  # it has just ended
                    total += process.memory_full_info().pss
            most.append(max(most[-1], total))

    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        yield most
    finally:
        done.set()
        sampler.join()


def ours(X, K: int, **options) -> tuple[np.ndarray, dict]:
    from eigentext import TopicModel

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rng = np.random.default_rng(0)
        TopicModel(2, **options).fit(sp.csr_array(rng.poisson(1.0, (50, 20))))  # compile
        clock = Clock()
        model = TopicModel(K, **options).fit(X)
    return model.components_, clock.read()


def sklearn(X, K: int, seed: int = 0) -> tuple[np.ndarray, dict]:
    from sklearn.decomposition import LatentDirichletAllocation

    X = sp.csr_matrix(X)
    clock = Clock()
    model = LatentDirichletAllocation(
        K, doc_topic_prior=1 / K, topic_word_prior=ETA, max_iter=10, random_state=seed
    )
    model.fit(X)
    return model.components_ / model.components_.sum(axis=1, keepdims=True), clock.read()


def gensim(X, K: int, seed: int = 0) -> tuple[np.ndarray, dict]:
    """LdaMulticore with one worker beside the main process, as gensim advises for two cores."""
    from gensim.models import LdaMulticore

    rows = zip(X.indptr, X.indptr[1:])
    corpus = [list(zip(X.indices[a:b].tolist(), X.data[a:b].tolist())) for a, b in rows]
    words = {word: str(word) for word in range(X.shape[1])}
    options = {"alpha": np.full(K, 1 / K), "eta": ETA, "passes": 5, "random_state": seed}
    with family_memory() as most:
        clock = Clock()
        model = LdaMulticore(corpus, K, words, workers=1, **options)
        cost = clock.read()
    return model.get_topics(), cost | {"peak": max(cost["peak"], most[-1])}


def tomotopy(X, K: int, seed: int = 0) -> tuple[np.ndarray, dict]:
    import tomotopy as tp

    rows = zip(X.indptr, X.indptr[1:])
    documents = [
        np.repeat(X.indices[a:b], X.data[a:b].astype(int)).astype(str).tolist() for a, b in rows
    ]
    clock = Clock()
    model = tp.LDAModel(k=K, alpha=1 / K, eta=ETA, seed=seed)
    for document in documents:
        model.add_doc(document)
    model.train(300, workers=1)
    cost = clock.read()
    phi = np.zeros((K, X.shape[1]))
    phi[:, [int(word) for word in model.used_vocabs]] = [
        model.get_topic_word_dist(k) for k in range(K)
    ]
    return phi, cost


def _ours(**options) -> Callable:
    return lambda X, K, seed=0: ours(X, K, **{"alpha0": 1.0, "random_state": seed} | options)


# Each fits topics to (X, K, seed).
SYSTEMS: dict[str, Callable] = {
    "eigentext": _ours(),
    "eigentext, alpha0=0": _ours(alpha0=0.0),
    "eigentext, refine=0": _ours(refine=0),
    "eigentext, gradient": _ours(method="gradient"),
    "eigentext, gradient, refine=0": _ours(method="gradient", refine=0),
    "eigentext, anchors": _ours(method="anchors"),
    "eigentext, anchors, refine=0": _ours(method="anchors", refine=0),
    "tomotopy": tomotopy,
    "scikit-learn": sklearn,
    "gensim LdaMulticore": gensim,
}
