"""Rank-300 SVD of text8-prefix's sqrt-CCA matrix: time, memory, distance from the exact answer.

Run it with ``.venv/bin/python benchmarks/svd.py``. The distance is the mean and the largest sine of
the principal angles between the first 300 left singular vectors and the exact ones. ARPACK computes
the exact ones in float64, once; they are kept in the temporary folder.
"""

import time

import numpy as np

from _harness import main, scratch, unpacked
from _record import score
from eigentext import CooccurrenceMoments
from eigentext.corpus import encode
from eigentext.factor import svd
from eigentext.words import scaled_counts

RANK = 300


def omega():
    encoded = encode(unpacked("text/text8-prefix.txt.xz"), cache=scratch("cache"))
    moments = CooccurrenceMoments.from_corpus(encoded, window=5, weighting="flat", min_count=100)
    return scaled_counts(moments.counts(), alpha=0.75)


def exact() -> np.ndarray:
    path = scratch("exact.npy")
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
    return {"wall": wall, "cpu": cpu, "mean sine": sines.mean(), "largest sine": sines.max()}


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
        "svd",
        "The decomposition",
        {
            "scikit-learn TruncatedSVD, 5 iterations": lambda: timed(truncated),
            "scipy svds (ARPACK, float32)": lambda: timed(arpack),
            'svd(method="randomized", n_iter=2)': lambda: timed(
                lambda A: svd(A, RANK, method="randomized", n_iter=2)[0]
            ),
            'svd(method="randomized", n_iter=4)': lambda: timed(
                lambda A: svd(A, RANK, method="randomized", n_iter=4)[0]
            ),
            'svd(method="krylov"), the default': lambda: timed(
                lambda A: svd(A, RANK, method="krylov")[0]
            ),
            'svd(method="krylov", n_iter=30)': lambda: timed(
                lambda A: svd(A, RANK, method="krylov", n_iter=30)[0]
            ),
        },
        # The last of 300 directions converge last: small changes move these by a few percent.
        (score("mean sine", "lower", tolerance=0.1), score("largest sine", "lower", tolerance=0.1)),
        repeats=1,
        about="Rank 300 of the matrix of square roots of text8-prefix (min count 100, window 5): "
        "the distance from the exact left singular subspace (ARPACK in float64, tolerance 1e-8) as "
        "sines of principal angles. The memory is mostly that of preparing the matrix.",
    )
