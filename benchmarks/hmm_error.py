"""How the error of a spectral hidden Markov model falls with the data.

Run it with ``.venv/bin/python benchmarks/hmm_error.py``, about a minute. Models have 5 states and
30 symbols and are well conditioned. The error is the sum of |p - p^| over all triples at the start
of a sequence, averaged over five draws of model and data. A table of counts of the same triples
stands beside the models. ``docs/_results.py`` draws docs/hmm-error.svg from the kept run.
"""

import warnings

import numpy as np

from _record import Table, fact, record, score
from eigentext import HMM

M, N_SYMBOLS, LENGTH = 5, 30, 20
SIZES = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)  # sequences
DRAWS = 5


def truth(seed: int) -> HMM:
    rng = np.random.default_rng(seed)
    T = (np.eye(M) + rng.dirichlet(np.full(M, 0.5), M)) / 2
    return HMM.from_parameters(
        rng.dirichlet(np.ones(M)), T, rng.dirichlet(np.full(N_SYMBOLS, 0.1), M)
    )


def triples(hmm: HMM) -> np.ndarray:
    everything = range(N_SYMBOLS)
    first = hmm.predict_next([])
    second = first[:, None] * [hmm.predict_next([x]) for x in everything]
    third = [[hmm.predict_next([x, y]) for y in everything] for x in everything]
    return second[:, :, None] * np.array(third)


def errors(seed: int, size: int) -> dict[str, float]:
    model = truth(seed)
    data = model.sample(size, LENGTH, random_state=seed + 1)
    exact = triples(model)
    table = np.zeros_like(exact)
    np.add.at(table, tuple(data[:, :3].T), 1 / size)
    found = {"spectral": triples(HMM(M).fit(data))}
    found["spectral+em"] = triples(HMM(M, method="spectral+em").fit(data))
    found["table of counts"] = table
    return {name: float(np.abs(p - exact).sum()) for name, p in found.items()}


def main() -> None:
    warnings.simplefilter("ignore")  # small samples do not support all states
    means: dict[str, list[float]] = {}
    for size in SIZES:
        runs = [errors(seed, size) for seed in range(DRAWS)]
        for name in runs[0]:
            means.setdefault(name, []).append(float(np.mean([run[name] for run in runs])))
        line = "  ".join(f"{name} {values[-1]:.4f}" for name, values in means.items())
        print(f"{size:7} sequences: {line}", flush=True)
    # Five draws: another sample would move the means by some percent.
    columns = [score(f"{size:,}", "lower", digits=3, tolerance=0.05) for size in SIZES]
    table = Table("errors", "L1 error by sequences", (*columns, fact("slope")))
    for name, values in means.items():
        slope = np.polyfit(np.log(SIZES[2:]), np.log(values[2:]), 1)[0]
        table.row(name, *values, float(slope))
    record(
        "hmm_error",
        "How the error of a hidden Markov model falls",
        [table],
        about=f"L1 over all triples at the start of a sequence, models of {M} states and "
        f"{N_SYMBOLS} symbols, sequences of {LENGTH}; means of {DRAWS} draws. The slope is that of "
        f"log error over log sequences, from {SIZES[2]:,} sequences on.",
    )


if __name__ == "__main__":
    main()
