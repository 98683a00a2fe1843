"""How the error of a latent-variable PCFG falls with the number of trees it is learned from.

Run it with ``.venv/bin/python benchmarks/grammars_recovery.py``, six minutes of CPU. The grammars
are the small worlds of tests/grammars/_worlds.py, with 1,213 trees, and two states for four of the
six labels. Every state has a rule or a word that no other state has, so "pivot" finds its pivots.
The error is the sum of |p - p^| over all trees, averaged over five draws of world and trees. All
methods know the number of states (EM gives two to every label), and nothing is smoothed. A PCFG
without states and a table of counts of whole trees stand beside them. ``docs/_results.py`` draws
docs/grammars-error.svg from the kept run.
"""

import importlib.util
import time
from pathlib import Path

import numpy as np

from _record import Table, fact, record, score
from eigentext.corpus.trees import parse_trees
from eigentext.grammars.learning.em import em, random_start
from eigentext.grammars.learning.pivot import pivot
from eigentext.grammars.learning.spectral import project, spectral
from eigentext.grammars.treebank.features import TreebankNodes, code_features

_ROOT = Path(__file__).parents[1]
_spec = importlib.util.spec_from_file_location("_worlds", _ROOT / "tests/grammars/_worlds.py")
worlds = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(worlds)

SIZES = (316, 1000, 3162, 10_000, 31_623, 100_000)  # trees
STATES = {"X": 2, "Y": 2, "B": 2, "C": 2}
DRAWS = 5


def contestants(learner, n_states: np.ndarray, seed: int) -> dict:
    """Functions by name; each makes a grammar of the learner's trees."""

    def projections():
        nodes = TreebankNodes(learner.treebank, learner.lexicon.terminals())
        features = code_features("full", nodes)
        found = project(nodes, features, max(n_states))
        return features, found, np.minimum(n_states, found.n_states(max(n_states), 1e-6, 0))

    def by_pivots():
        features, found, n_states = projections()
        return learner.level(pivot(learner, features, found, n_states, n_iter=100))

    def by_em(steps: int):
        rng = np.random.default_rng(seed)
        start = random_start(learner.trees, learner.pcfg, max(n_states), 1, 0.01, rng)
        return learner.level(em(learner.trees, start, steps)[0])

    return {
        "spectral": lambda: spectral(learner, *projections()[1:], smoothing=0),
        "pivot": by_pivots,
        "EM, 20 steps": lambda: by_em(20),
        "EM, 200 steps": lambda: by_em(200),
        "PCFG, no states": lambda: learner.level(learner.pcfg),
    }


def run(seed: int, size: int) -> dict[str, tuple[float, float]]:
    """The error and the CPU seconds of each method."""
    world = worlds.World(worlds.BRACKETS, "S X Y", STATES, seed, pivots=True)
    read = [parse_trees(tree, "world")[0] for tree in world.trees]
    drawn = np.random.default_rng(seed).choice(len(read), size, p=world.p)
    learner = worlds.learner([read[k] for k in drawn])
    everything = learner.treebank.encode(read)
    n_states = world.states(learner.treebank)
    found = {}
    for name, learn in contestants(learner, n_states, seed).items():
        began = time.process_time()
        level = learn()
        seconds = time.process_time() - began
        p = worlds.probabilities(level, everything)
        found[name] = float(np.abs(p - world.p).sum()), seconds
    table = np.bincount(drawn, minlength=len(read)) / size
    found["table of counts"] = float(np.abs(table - world.p).sum()), 0.0
    return found


def main() -> None:
    run(0, SIZES[0])  # compile
    means: dict[str, list[float]] = {}
    for size in SIZES:
        runs = [run(seed, size) for seed in range(DRAWS)]
        print(f"{size:7} trees:", end="")
        for name in runs[0]:
            error, seconds = np.mean([one[name] for one in runs], axis=0)
            means.setdefault(name, []).append(error)
            print(f"  {name} {error:.4f} ({seconds:.2f} s)", end="")
        print(flush=True)
    columns = [score(f"{size:,}", "lower", digits=4, tolerance=0.05) for size in SIZES]
    table = Table("errors", "L1 error by trees", (*columns, fact("slope")))
    for name, errors in means.items():
        slope = np.polyfit(np.log(SIZES[1:]), np.log(errors[1:]), 1)[0]
        table.row(name, *errors, float(slope))
    record(
        "grammars_recovery",
        "How the error of a grammar falls",
        [table],
        about=f"L1 over all trees of a small grammar; means of {DRAWS} draws of grammar and trees. "
        f"The slope is that of log error over log trees, from {SIZES[1]:,} trees on.",
    )


if __name__ == "__main__":
    main()
