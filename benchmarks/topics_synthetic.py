"""Topics of documents drawn from a known LDA model, beside peers: how far from the truth, how fast.

Run it with ``.venv/bin/python benchmarks/topics_synthetic.py [s|f ...] [SYSTEM ...]``; most of the
time goes to the peers. 20,000 documents of 100 words are drawn from 20 topics over 2,000 words with
alpha0 = 1 (1 / 20 for each topic). Topics come from Dirichlet(.1) ("s": each topic has words nearly
to itself) or Dirichlet(1) ("f": no topic has). All systems get the true alpha, and the Bayesian
ones eta = .1, the truth of "s".

L1 is the sum of |p - p^| over the words of a topic, with topics matched so that the sum over all
topics is least. It lies between 0 and 2. It is above 1 for a topic that was missed, for example if
two topics were merged into one. For eigentext there are ten models, samples and seeds, and the time
is the mean of one fit; peers fit the first of these.
"""

import sys

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

import _harness
from _record import Table, fact, record, score
from _topics import SYSTEMS

K, D = 20, 2000
N_DOCUMENTS, LENGTH = 20_000, 100
CONCENTRATION = {"s": 0.1, "f": 1.0}


def sample(kind: str, seed: int) -> tuple[np.ndarray, sp.csr_array]:
    """Topics, and documents drawn from them."""
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(D, CONCENTRATION[kind]), K)
    blocks = []
    for _ in range(0, N_DOCUMENTS, 1000):
        theta = rng.dirichlet(np.full(K, 1 / K), 1000)
        blocks.append(sp.csr_array(rng.multinomial(LENGTH, theta @ phi)))
    return phi, sp.csr_array(sp.vstack(blocks))


def errors(truth: np.ndarray, phi: np.ndarray) -> np.ndarray:
    """L1 of each true topic; 2, the largest value, for a topic that has no partner."""
    found = np.full(len(truth), 2.0)
    distances = cdist(truth, phi, "cityblock")
    rows, columns = linear_sum_assignment(distances)
    found[rows] = distances[rows, columns]
    return found


def run(kind: str, system: str) -> dict:
    # Our systems use the seed too, so ten runs show how much a fit depends on chance.
    seeds = range(10) if system.startswith("eigentext") else range(1)
    l1, costs = [], []
    for seed in seeds:
        truth, X = sample(kind, seed)
        phi, cost = SYSTEMS[system](X, K, seed)
        l1.append(errors(truth, phi))
        costs.append(cost)
    return {
        "wall": float(np.mean([cost["wall"] for cost in costs])),
        "cpu": float(np.mean([cost["cpu"] for cost in costs])),
        "peak": max(cost["peak"] for cost in costs),
        "L1 mean": float(np.mean(l1)),
        "median": float(np.median(l1)),
        "max": float(np.max(l1)),
        "missed": int((np.array(l1) > 1).sum()),
        "seeds": len(seeds),
    }


def contestants(kind: str) -> dict:
    return {f"{kind}: {x}": lambda kind=kind, x=x: run(kind, x) for x in SYSTEMS}


def main() -> None:
    asked = sys.argv[1:]
    errors = [score(f"L1 {x}", "lower", digits=3) for x in ("mean", "median", "largest")]
    missed = score("missed", "lower", digits=0)
    columns = ("CPU s", "wall s", "peak MB", *errors, missed, fact("topics"))
    table = Table("topics_synthetic", "Topics drawn from a model", columns, ("data", "system"))
    for kind in [x for x in asked if x in CONCENTRATION] or CONCENTRATION:
        for system in [x for x in asked if x in SYSTEMS] or SYSTEMS:
            found = _harness.measured(f"{kind}: {system}")
            figures = found["figures"]
            l1 = (figures[key] for key in ("L1 mean", "median", "max"))
            costs = found["cpu"], found["wall"], found["peak"] / 1e6
            table.row(kind, system, *costs, *l1, figures["missed"], K * figures["seeds"])
    record(
        "topics_synthetic",
        "Topics drawn from a model",
        [table],
        about="20,000 documents of 100 words from LDA with 20 topics over 2,000 words, alpha0 = 1; "
        'topics from Dirichlet(.1) ("s") or Dirichlet(1) ("f": no word belongs to one topic). All '
        'systems get the true alpha, the Bayesian ones eta = .1 (the truth of "s"). L1 is the '
        "error of a topic's distribution after matching, between 0 and 2; a topic is missed if it "
        "is above 1. eigentext: ten models, samples and seeds; peers: the first of them.",
        peers=("tomotopy", "gensim"),
    )


if __name__ == "__main__" and not _harness.serve(
    {key: fit for kind in CONCENTRATION for key, fit in contestants(kind).items()}
):
    main()
