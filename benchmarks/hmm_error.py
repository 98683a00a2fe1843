"""How the error of a spectral hidden Markov model falls with the data.

Run it with ``.venv/bin/python benchmarks/hmm_error.py``, about three minutes. Models have 5 states
and 30 symbols and are well conditioned. The error is the sum of |p - p^| over all triples at the
start of a sequence, averaged over five draws of model and data. A table of counts of the same
triples stands beside the models. ``docs/_results.py`` draws docs/hmm-error.svg from the kept run.

A second table asks what closes the gap between the spectral method and maximum likelihood: the
likelihood of the counted windows (``spectral+em`` with ``n_iter=0``), one or two passes of EM
after it, and one step of scoring (Newton's method with the empirical Fisher information). All of
them have ``smoothing=0``. The scoring step is written here in NumPy and is not part of the library.
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


# What closes the gap.


def steps(seed: int, size: int) -> dict[str, float]:
    """The errors of spectral+em after few passes, and after a step of scoring."""
    model = truth(seed)
    data = model.sample(size, LENGTH, random_state=seed + 1)
    exact = triples(model)

    def fitted(n_iter: int | None) -> HMM:
        return HMM(M, method="spectral+em", smoothing=0, n_iter=n_iter).fit(data)

    windows = fitted(0)
    found = {"spectral": HMM(M).fit(data), "counts alone": windows}
    found |= {"one pass": fitted(1), "two passes": fitted(2)}
    found["one step of scoring"] = scored(windows, data)
    found["spectral+em"] = fitted(None)
    return {name: float(np.abs(triples(hmm) - exact).sum()) for name, hmm in found.items()}


def scored(hmm: HMM, data: np.ndarray) -> HMM:
    """One step of scoring in the logarithms of probabilities.

    The information is the sum of the outer products of the scores of sequences, and one percent of
    that of complete data. Probabilities with an expected count below 5 make a step of EM.
    """
    order = {int(word): i for i, word in enumerate(hmm.vocabulary_.words)}
    ids = np.vectorize(order.__getitem__)(data)
    blur = 1e-4
    n = hmm.emission_.shape[1]
    usual = np.bincount(ids.ravel(), minlength=n) / ids.size
    parts = [
        (1 - blur) * hmm.initial_ + blur / M,
        (1 - blur) * hmm.transition_ + blur / M,
        (1 - blur) * hmm.emission_ + blur * usual,
    ]
    information = np.zeros((M + M * M + M * n,) * 2)
    score_sum = count_sum = 0.0
    for begin in range(0, len(ids), 10_000):
        counts = expected(*parts, ids[begin : begin + 10_000])
        scores = [c - c.sum(axis=-1, keepdims=True) * p for c, p in zip(counts, parts)]
        flat, all_ = (
            np.concatenate([x.reshape(len(x), -1) for x in group], axis=1)
            for group in (scores, counts)
        )
        information += flat.T @ flat
        score_sum, count_sum = score_sum + flat.sum(axis=0), count_sum + all_.sum(axis=0)
    usual = count_sum - score_sum  # what the parameters expect
    step = np.log(np.maximum(count_sum, 1e-12) / np.maximum(usual, 1e-12))
    enough = (count_sum > 5) & (usual > 5)
    matrix = information[np.ix_(enough, enough)] + 0.01 * np.diag(usual[enough])
    step[enough] = np.linalg.solve(matrix, score_sum[enough])
    pieces = np.split(np.clip(step, -1, 1), [M, M + M * M])
    moved = [p * np.exp(piece.reshape(p.shape)) for p, piece in zip(parts, pieces)]
    initial, transition, emission = (p / p.sum(axis=-1, keepdims=True) for p in moved)
    full = np.zeros((M, N_SYMBOLS))
    full[:, list(order)] = emission[:, : len(order)]
    return HMM.from_parameters(initial, transition, full)


def expected(initial, transition, emission, ids) -> list[np.ndarray]:
    """For each sequence, the expected starts, transitions and emissions."""
    rows, columns = np.arange(len(ids)), ids.T
    forward, sums = [], []
    for t, x in enumerate(columns):
        now = (initial if t == 0 else forward[-1] @ transition) * emission[:, x].T
        sums.append(now.sum(axis=1, keepdims=True))
        forward.append(now / sums[-1])
    later = np.ones_like(forward[0])
    moves = np.zeros((len(ids), M, M))
    emitted = np.zeros((len(ids), M, emission.shape[1]))
    for t in range(len(columns) - 1, -1, -1):
        states = forward[t] * later
        emitted[rows, :, columns[t]] += states
        if t:
            ahead = emission[:, columns[t]].T * later / sums[t]
            moves += forward[t - 1][:, :, None] * ahead[:, None, :] * transition
            later = ahead @ transition.T
    return [states, moves, emitted]


def mean_errors(measure) -> dict[str, list[float]]:
    """For each system, the mean error at each size."""
    means: dict[str, list[float]] = {}
    for size in SIZES:
        runs = [measure(seed, size) for seed in range(DRAWS)]
        for name in runs[0]:
            means.setdefault(name, []).append(float(np.mean([run[name] for run in runs])))
        line = "  ".join(f"{name} {values[-1]:.4f}" for name, values in means.items())
        print(f"{size:7} sequences: {line}", flush=True)
    return means


def main() -> None:
    warnings.simplefilter("ignore")  # small samples do not support all states
    # Five draws: another sample would move the means by some percent.
    columns = [score(f"{size:,}", "lower", digits=3, tolerance=0.05) for size in SIZES]
    tables = []
    for name, title, measure in (
        ("errors", "L1 error by sequences", errors),
        ("steps", "What closes the gap (smoothing=0)", steps),
    ):
        table = Table(name, title, (*columns, fact("slope")))
        for system, values in mean_errors(measure).items():
            slope = np.polyfit(np.log(SIZES[2:]), np.log(values[2:]), 1)[0]
            table.row(system, *values, float(slope))
        tables.append(table)
    record(
        "hmm_error",
        "How the error of a hidden Markov model falls",
        tables,
        about=f"L1 over all triples at the start of a sequence, models of {M} states and "
        f"{N_SYMBOLS} symbols, sequences of {LENGTH}; means of {DRAWS} draws. The slope is that of "
        f"log error over log sequences, from {SIZES[2]:,} sequences on.",
    )


if __name__ == "__main__":
    main()
