"""Topics of documents drawn from a known LDA model, beside peers: how far from the truth, how fast.

Run it with ``.venv/bin/python benchmarks/topics_synthetic.py [s|f ...] [SYSTEM ...]``; most of the
time is the peers'. 20,000 documents of 100 words are drawn from 20 topics over 2,000 words with
alpha0 = 1 (1 / 20 each), topics from Dirichlet(.1) ("s": each has words nearly of its own) or
Dirichlet(1) ("f": no topic has). Everyone is told the true alpha, and the Bayesian ones eta = .1,
the truth of "s".

L1 is the sum of |p - p^| over the words of a topic, topics matched for the least sum of it: 0 to 2,
and above 1 for a topic that was missed, such as two merged into one. Ours are ten models, samples
and seeds, with the mean time of one fit; peers are the first of these.
"""

import sys

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

import _harness
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
    """L1 of each true topic; 2, the most there is, for one that has no partner."""
    found = np.full(len(truth), 2.0)
    distances = cdist(truth, phi, "cityblock")
    rows, columns = linear_sum_assignment(distances)
    found[rows] = distances[rows, columns]
    return found


def run(kind: str, system: str) -> dict:
    # Ours draw from their seed too, so a fit by chance good or bad shows among the ten.
    seeds = range(10) if system.startswith("ours") else range(1)
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


def contestants(kind: str, systems=tuple(SYSTEMS)) -> dict:
    return {f"{kind}: {x}": lambda kind=kind, x=x: run(kind, x) for x in systems}


if __name__ == "__main__":
    everybody = {key: fit for kind in CONCENTRATION for key, fit in contestants(kind).items()}
    if len(sys.argv) > 1 and sys.argv[1] in everybody:
        _harness.main(everybody)
    else:
        asked, sys.argv = sys.argv[1:], sys.argv[:1]
        for kind in [x for x in asked if x in CONCENTRATION] or CONCENTRATION:
            systems = [x for x in asked if x in SYSTEMS] or list(SYSTEMS)
            _harness.main(contestants(kind, systems), repeats=1)
