"""Nearest neighbors among n vectors of 300 dimensions: milliseconds for one query and for 1,000.

Run it with ``.venv/bin/python benchmarks/neighbors.py`` (two minutes). The vectors are those of
text8 (min count 5). If more are needed, noisy copies of them follow. All answers are exact.
"""

import statistics
import time

import numpy as np

from _harness import scratch, unpacked
from _record import Table, record
from eigentext import Eigenwords, engine
from eigentext.words.neighbors import Neighbors

TOPN = 10


def vectors(n: int) -> np.ndarray:
    cache = scratch("cache")
    V = Eigenwords(min_count=5).fit(str(unpacked("text/text8-prefix.txt.xz")), cache=cache).vectors_
    rng = np.random.default_rng(0)
    rows = rng.integers(0, len(V), n - len(V)) if n > len(V) else []
    noisy = V[rows] + 0.05 * rng.standard_normal((len(rows), V.shape[1]), np.float32)
    V = np.vstack([V, noisy])[:n]
    return V / np.linalg.norm(V, axis=1, keepdims=True)


def milliseconds(search, queries: np.ndarray, repeats: int) -> float:
    search(queries[:1])
    times = []
    for place in range(repeats):
        start = time.perf_counter()
        search(queries if len(queries) > 1 else np.roll(queries, place, axis=1))
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def plain(V: np.ndarray):
    def search(Q: np.ndarray):
        scores = Q @ V.T
        best = np.argpartition(-scores, TOPN, axis=1)[:, :TOPN]
        return np.take_along_axis(scores, best, axis=1)

    return search


def gensim(V: np.ndarray):
    from gensim.models import KeyedVectors

    keyed = KeyedVectors(V.shape[1])
    keyed.add_vectors([str(row) for row in range(len(V))], V)
    return lambda Q: [keyed.similar_by_vector(q, TOPN) for q in Q]


def sklearn(V: np.ndarray):
    from sklearn.neighbors import NearestNeighbors

    index = NearestNeighbors(n_neighbors=TOPN, metric="cosine", algorithm="brute").fit(V)
    return lambda Q: index.kneighbors(Q)


def main() -> None:
    columns = ("one query, ms", "1,000 queries, ms")
    table = Table("neighbors", "Milliseconds", columns, ("vectors", "system"))
    for n in (60_000, 200_000):
        V = vectors(n)
        queries = V[np.random.default_rng(1).integers(0, n, 1000)]
        found = {"eigentext": Neighbors(V).search, "NumPy": plain(V), "gensim": gensim(V)}
        found["scikit-learn, brute force"] = sklearn(V)
        with engine.use(engine.ThreadEngine(2)):
            for name, search in found.items():
                one = milliseconds(search, queries[:1], 30)
                many = milliseconds(search, queries, 1) if name != "gensim" else None
                table.row(f"{n:,}", name, one, many)
    record(
        "neighbors",
        "Nearest neighbors",
        [table],
        about="The ten nearest of n vectors in 300 dimensions, two threads, the median.",
        peers=("gensim",),
    )


if __name__ == "__main__":
    main()
