"""How the error of a spectral hidden Markov model falls with the data: docs/hmm-error.svg.

Run it with ``.venv/bin/python benchmarks/hmm_error.py``, about a minute. Models of 5 states and 30
symbols, well conditioned; the error is the sum of |p - p^| over all triples at the start of a
sequence, averaged over five draws of model and data. A table of counts of the same triples stands
beside.
"""

import warnings
from pathlib import Path

import numpy as np

from eigentext import HMM

M, N_SYMBOLS, LENGTH = 5, 30, 20
SIZES = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)  # sequences
DRAWS = 5
PLOT = Path(__file__).parents[1] / "docs" / "hmm-error.svg"


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
    for name, values in means.items():
        slope = np.polyfit(np.log(SIZES[2:]), np.log(values[2:]), 1)[0]
        print(f"{name}: error ~ N^{slope:.2f} from {SIZES[2]} sequences on")
    plot(means)


def plot(means: dict[str, list[float]]) -> None:
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "eigentext"  # the same file every time
    figure, axes = plt.subplots(figsize=(6, 4))
    for (name, values), marker in zip(means.items(), "os^"):
        axes.loglog(SIZES, values, marker=marker, label=name)
    guide = means["spectral"][-1] * np.sqrt(SIZES[-1] / np.array(SIZES))
    axes.loglog(SIZES, guide, "--", color="gray", label="1/√N")
    axes.set_xlabel(f"sequences of {LENGTH} symbols")
    axes.set_ylabel("L1 error over all triples")
    axes.legend()
    axes.grid(alpha=0.3, which="both")
    figure.tight_layout()
    figure.savefig(PLOT, metadata={"Date": None})


if __name__ == "__main__":
    main()
