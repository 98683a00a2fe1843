"""Expectation-maximisation on trees with hidden states, from a random start [1]_ or any other.

.. [1] T. Matsuzaki, Y. Miyao and J. Tsujii, Probabilistic CFG with latent annotations, ACL 2005.
"""

from collections.abc import Callable

import numpy as np

from eigentext import engine
from eigentext.grammars._split_merge import split
from eigentext.grammars._training import Parameters, Smoothing, TrainingTrees, maximize


def random_start(
    trees: TrainingTrees,
    pcfg: Parameters,
    n_states: int,
    nodes_per_state: int,
    noise: float,
    rng: np.random.Generator,
) -> Parameters:
    """The PCFG with up to `n_states` for each label, alike but for noise.

    A label gets no more than one state for each `nodes_per_state` of its nodes in the treebank.
    """
    counts = np.bincount(trees.label, minlength=len(pcfg.grammar.n_states))
    return split(trees, pcfg, np.clip(counts // nodes_per_state, 1, n_states), noise, rng)


def em(
    trees: TrainingTrees,
    parameters: Parameters,
    n_steps: int,
    *,
    smoothing: Smoothing | None = None,
    name: str = "em",
    stop: Callable[[Parameters], bool] | None = None,
) -> tuple[Parameters, list[float]]:
    """Steps of EM, and the log-likelihood of the trees before each, which no step lets fall.

    With `smoothing` each step ends with it, and then the likelihood may fall. After each step
    ``stop(parameters)`` is asked whether to go on.
    """
    history = []
    with engine.phase(name, n_steps, "steps") as advance:
        for _ in range(n_steps):
            counts = trees.expect(parameters)
            history.append(counts.log_likelihood)
            parameters = maximize(trees, parameters.grammar, counts, smoothing)
            advance(1)
            if stop is not None and stop(parameters):
                break
    return parameters, history
