"""How the error of a latent-variable PCFG falls with the trees it is learned from.

Run it with ``.venv/bin/python benchmarks/grammars_recovery.py``, six minutes of CPU; it draws
docs/grammars-error.svg. Worlds (tests/grammars/_worlds.py) of 1,213 trees, with two states for four
of the six labels; every state has a rule or a word of its own, so that "pivot" has its pivots. The
error is the sum of |p - p^| over all trees, averaged over five draws of world and trees. All know
the number of states (EM gives two to every label), and nothing is smoothed. A PCFG without states
and a table of counts of whole trees stand beside.
"""

import importlib.util
import time
from pathlib import Path

import numpy as np

from eigentext.corpus.trees import parse_trees
from eigentext.grammars._em import em, random_start
from eigentext.grammars._pivot import pivot
from eigentext.grammars._spectral import project, spectral
from eigentext.grammars.features import Nodes, code_features

_ROOT = Path(__file__).parents[1]
_spec = importlib.util.spec_from_file_location("_worlds", _ROOT / "tests/grammars/_worlds.py")
worlds = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(worlds)

SIZES = (316, 1000, 3162, 10_000, 31_623, 100_000)  # trees
STATES = {"X": 2, "Y": 2, "B": 2, "C": 2}
DRAWS = 5
PLOT = _ROOT / "docs" / "grammars-error.svg"


def contestants(learner, n_states: np.ndarray, seed: int) -> dict:
    """By name, what makes a grammar of the learner's trees."""

    def projections():
        nodes = Nodes(learner.treebank, learner.lexicon.terminals())
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
    """Error and CPU seconds of each."""
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
    run(0, SIZES[0])  # compiles
    means: dict[str, list[float]] = {}
    for size in SIZES:
        runs = [run(seed, size) for seed in range(DRAWS)]
        print(f"{size:7} trees:", end="")
        for name in runs[0]:
            error, seconds = np.mean([one[name] for one in runs], axis=0)
            means.setdefault(name, []).append(error)
            print(f"  {name} {error:.4f} ({seconds:.2f} s)", end="")
        print(flush=True)
    for name, errors in means.items():
        slope = np.polyfit(np.log(SIZES[1:]), np.log(errors[1:]), 1)[0]
        print(f"{name}: error ~ M^{slope:.2f} from {SIZES[1]:,} trees on")
    plot(means)


def plot(means: dict[str, list[float]]) -> None:
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "eigentext"  # the same file every time
    figure, axes = plt.subplots(figsize=(6, 4.5))
    for (name, errors), marker in zip(means.items(), "os^vDx"):
        axes.loglog(SIZES, errors, marker=marker, label=name)
    guide = 0.8 * means["spectral"][-1] * np.sqrt(SIZES[-1] / np.array(SIZES))
    axes.loglog(SIZES, guide, "--", color="gray", label="1/√M")
    axes.set_xlabel("M, trees to learn from")
    axes.set_ylabel("L1 error over all trees")
    axes.legend()
    axes.grid(alpha=0.3, which="both")
    figure.tight_layout()
    figure.savefig(PLOT, metadata={"Date": None})


if __name__ == "__main__":
    main()
