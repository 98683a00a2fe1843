"""Hidden Markov models beside hmmlearn: time, memory, held-out likelihood, distance from the truth.

Run it with ``.venv/bin/python benchmarks/hmm.py [SET ...]``; all sets take about three quarters of
an hour, most of it for hmmlearn. SET is one of

- singular, well: 10,000 sequences of 20 symbols from a model of 10 states and 200 symbols. The
  transitions are T ~ Dirichlet(.5), nearly singular, or (I + T) / 2;
- large: 100,000 sequences of the second model;
- tags, words: sentences of Brown, 10 states.

hmmlearn makes 300 passes of EM, or on Brown as many as it can in seven minutes; its default of 10
passes would be too few. L1 is the sum of |p - p^| over all pairs (triples) at the start of a
sequence. The log-likelihood is the mean over held-out tokens; on words, over those that were seen
twice in training.
"""

import sys
import time
import warnings

import numpy as np

import _harness
from _record import Table, fact, ratio, record, score
from eigentext import HMM, load_dataset

M = 10
PASSES, LIMIT = 300, 420.0  # seconds
SETS = ("singular", "well", "large", "tags", "words")


def model(kind: str, m: int = M, n: int = 200) -> HMM:
    rng = np.random.default_rng(0)
    T = rng.dirichlet(np.full(m, 0.5), m)
    if kind != "singular":
        T = (np.eye(m) + T) / 2
    emission = rng.dirichlet(np.full(n, 0.1), m)
    return HMM.from_parameters(rng.dirichlet(np.ones(m)), T, emission)


def data(name: str):
    """Training and held-out sequences of integers."""
    if name in ("singular", "well", "large"):
        size = 100_000 if name == "large" else 10_000
        truth = model(name)
        return truth.sample(size, 20, random_state=1), truth.sample(5000, 20, random_state=2)
    brown = list(load_dataset("brown", tagged=True))
    part = 1 if name == "tags" else 0
    sentences = [[pair[part] for pair in sentence] for sentence in brown]
    train, test = sentences[:50_000], sentences[50_000:]
    words, counts = np.unique([w for s in train for w in s], return_counts=True)
    ids = {w: i for i, w in enumerate(words[counts > 1].tolist())}  # all others are the last symbol
    return [[[ids.get(w, len(ids)) for w in s] for s in part] for part in (train, test)]


def figures(fitted: HMM, name: str, test) -> dict:
    with np.errstate(divide="ignore"):
        logs = fitted.log_probabilities(test)
    if name == "words":  # the last symbol stands for all rare words
        logs = logs[np.concatenate([np.asarray(s) for s in test]) != len(fitted.symbols_) - 1]
    found = {"log-likelihood": float(np.mean(logs)), "perplexity": float(np.exp(-np.mean(logs)))}
    if name in ("singular", "well", "large"):
        found |= dict(zip(("L1 pairs", "L1 triples"), distances(model(name), fitted)))
    return found


def distances(truth: HMM, fitted: HMM) -> tuple[float, float]:
    def pairs_and_triples(hmm):
        first = hmm.predict_next([])
        second = first[:, None] * [hmm.predict_next([x]) for x in range(len(first))]
        third = [[hmm.predict_next([x, y]) for y in range(len(first))] for x in range(len(first))]
        return second, second[:, :, None] * np.array(third)

    return tuple(
        float(np.abs(a - b).sum())
        for a, b in zip(pairs_and_triples(truth), pairs_and_triples(fitted))
    )


def ours(name: str, method: str) -> dict:
    train, test = data(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        HMM(2, method=method).fit(model("well").sample(50, 5))  # compile
        wall, cpu = time.perf_counter(), time.process_time()
        fitted = HMM(M, method=method).fit(train)
    seconds = since(wall, cpu)
    passes = {k: v for k, v in fitted.diagnostics_.items() if k == "passes"}
    return seconds | passes | figures(fitted, name, test)


def since(wall: float, cpu: float) -> dict:
    return {
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "peak": _harness.peak_bytes(),
    }


def hmmlearn(name: str) -> dict:
    from hmmlearn.base import ConvergenceMonitor
    from hmmlearn.hmm import CategoricalHMM

    train, test = data(name)
    lengths = [len(s) for s in train]
    symbols = np.concatenate([np.asarray(s) for s in train])[:, None]
    wall, cpu = time.perf_counter(), time.process_time()

    class Monitor(ConvergenceMonitor):
        @property
        def converged(self):
            late = name in ("tags", "words") and time.perf_counter() - wall > LIMIT
            return late or super().converged

    n = int(symbols.max()) + 1
    # "log", the default of hmmlearn, takes ten times as long.
    options = {"implementation": "scaling", "tol": 1e-6, "random_state": 0}
    peer = CategoricalHMM(M, n_features=n, n_iter=PASSES, **options)
    peer.monitor_ = Monitor(peer.tol, peer.n_iter, False)
    peer.fit(symbols, lengths)
    seconds = since(wall, cpu)
    fitted = HMM.from_parameters(peer.startprob_, peer.transmat_, peer.emissionprob_)
    return seconds | {"passes": peer.monitor_.iter} | figures(fitted, name, test)


def best_of_ten(name: str) -> dict:
    """The best of ten random starts by training likelihood; each runs until it converges."""
    train, test = data(name)
    runs = [
        HMM(M, method="em", n_init=1, random_state=seed, smoothing=0).fit(train)
        for seed in range(10)
    ]
    return figures(max(runs, key=lambda hmm: hmm.diagnostics_["log_likelihood"]), name, test)


def reference(name: str) -> dict:
    """The log-likelihood of the unigram model and, if it is known, of the truth."""
    train, test = data(name)
    counts = np.bincount(np.concatenate([np.asarray(s) for s in train]))
    unigram = HMM.from_parameters([1], [[1]], [counts / counts.sum()])
    found = {"unigram": figures(unigram, name, test)["log-likelihood"]}
    if name in ("singular", "well", "large"):
        found |= {"truth": figures(model(name), name, test)["log-likelihood"]}
    return found


def contestants(name: str) -> dict:
    found = {
        f"{name}: hmmlearn": lambda: hmmlearn(name),
        f"{name}: spectral": lambda: ours(name, "spectral"),
        f"{name}: spectral+em": lambda: ours(name, "spectral+em"),
        f"{name}: em": lambda: ours(name, "em"),
        f"{name}: reference": lambda: reference(name),
    }
    if name in ("singular", "well"):
        found[f"{name}: best of ten EM, each to its end"] = lambda: best_of_ten(name)
    return found


def main() -> None:
    asked = sys.argv[1:] or SETS
    costs = ("CPU s", ratio("ratio"), "peak MB", fact("passes"))
    distances = (score("L1 pairs", "lower", digits=3), score("L1 triples", "lower", digits=3))
    likelihood = score("log-likelihood", digits=3, tolerance=0.001)
    labels = ("data", "system")
    synthetic = Table("synthetic", "Drawn from a model", (*costs, likelihood, *distances), labels)
    perplexity = score("perplexity", "lower", digits=1)
    brown = Table("brown", "Sentences of Brown", (*costs, perplexity), labels)
    for name in asked:
        first = None
        for key in contestants(name):
            found = _harness.measured(key)
            system, figures = key.partition(": ")[2], found["figures"]
            if system == "reference":
                for model, value in figures.items():
                    if name in ("tags", "words"):
                        brown.row(name, model, *[None] * 4, float(np.exp(-value)))
                    else:
                        synthetic.row(name, model, *[None] * 4, value, None, None)
                continue
            first = first or found["cpu"]
            cost = found["cpu"], first / found["cpu"], found["peak"] / 1e6, figures.get("passes")
            if name in ("tags", "words"):
                brown.row(name, system, *cost, figures["perplexity"])
            else:
                keys = ("log-likelihood", "L1 pairs", "L1 triples")
                synthetic.row(name, system, *cost, *(figures[key] for key in keys))
    record(
        "hmm",
        "Hidden Markov models beside hmmlearn",
        [synthetic, brown],
        about="Models of 10 states and, if drawn, 200 symbols. The log-likelihood is for each "
        "held-out token; L1 is the sum of errors over all pairs and triples at the start of a "
        "sequence. The ratio is the CPU seconds of hmmlearn to those of the system. Passes over a "
        "part of the data count as parts.",
        peers=("hmmlearn",),
    )


if __name__ == "__main__" and not _harness.serve(
    {key: run for name in SETS for key, run in contestants(name).items()}
):
    main()
