"""Rank-300 SVD of text8-prefix's sqrt-CCA matrix: time, memory, distance from the exact answer.

Run it with ``.venv/bin/python benchmarks/svd.py``. The distance is the mean and largest sine of the
principal angles between the first 300 left singular vectors and those of ARPACK run to convergence
(which is kept in the temporary folder after the first run).
"""

import tempfile
import time
from pathlib import Path

import numpy as np

from _harness import main, unpacked
from eigentext import CooccurrenceMoments
from eigentext.corpus import encode
from eigentext.factor import svd
from eigentext.words import scaled_counts

RANK = 300
FOLDER = Path(tempfile.gettempdir(), "eigentext-benchmarks")


def omega():
    encoded = encode(unpacked("text/text8-prefix.txt.xz"), cache=FOLDER / "cache")
    moments = CooccurrenceMoments.from_corpus(encoded, window=5, weighting="flat", min_count=100)
    return scaled_counts(moments.counts(), alpha=0.75)


def exact() -> np.ndarray:
    path = FOLDER / "exact.npy"
    if not path.exists():
        from scipy.sparse.linalg import svds

        np.save(path, svds(omega().astype(np.float64), RANK, tol=1e-8)[0])
    return np.load(path)


def timed(solve) -> dict:
    Omega = omega()
    svd(Omega[:2000, :2000], 10, method="krylov")  # compile
    wall, cpu = time.perf_counter(), time.process_time()
    U = solve(Omega)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    cosines = np.linalg.svd(exact().T @ U.astype(np.float64), compute_uv=False)
    sines = np.sqrt(np.clip(1 - cosines**2, 0, None))
    return {"wall": wall, "cpu": cpu, "mean sine": sines.mean(), "largest": sines.max()}


def truncated(Omega) -> np.ndarray:
    from sklearn.decomposition import TruncatedSVD

    solver = TruncatedSVD(RANK, n_iter=5, random_state=0)
    return solver.fit_transform(Omega) / solver.singular_values_


def arpack(Omega) -> np.ndarray:
    from scipy.sparse.linalg import svds

    return svds(Omega, RANK)[0]


if __name__ == "__main__":
    exact()
    main(
        {
            "sklearn TruncatedSVD, 5 it.": lambda: timed(truncated),
            "scipy svds (ARPACK)": lambda: timed(arpack),
            "randomized, 2 iterations": lambda: timed(
                lambda A: svd(A, RANK, method="randomized", n_iter=2)[0]
            ),
            "randomized, 4 iterations": lambda: timed(
                lambda A: svd(A, RANK, method="randomized", n_iter=4)[0]
            ),
            "krylov (default)": lambda: timed(lambda A: svd(A, RANK, method="krylov")[0]),
            "krylov, 30 blocks": lambda: timed(
                lambda A: svd(A, RANK, method="krylov", n_iter=30)[0]
            ),
        },
        repeats=1,
    )
