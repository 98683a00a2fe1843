"""Expectation-maximisation on trees with hidden states, from a random start [1]_ or any other.

.. [1] T. Matsuzaki, Y. Miyao and J. Tsujii, Probabilistic CFG with latent annotations, ACL 2005.
"""

import numpy as np

from eigentext import engine
from eigentext.grammars.learning.split_merge import split
from eigentext.grammars.learning.training import Parameters, Smoothing, TrainingTrees, maximize
from eigentext.grammars.learning.validation import Watch
from eigentext.storage.checkpoints import Iteration, State


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
    watch: Watch | None = None,
) -> tuple[Parameters, list[float]]:
    """Steps of EM, and the log-likelihood of the trees before each, which no step lets fall.

    With `smoothing` each step ends with it, and then the likelihood may fall. After each step the
    `watch` is asked whether to stop.
    """
    how = name, n_steps, smoothing, None if watch is None else watch.problem
    start = parameters.grammar.n_states, *parameters.arrays().values()
    loop = Iteration("em", *how, lambda: trees.problem, *start)
    history, is_done = [], n_steps == 0
    if kept := loop.kept():
        arrays, about = kept
        parameters = parameters.replaced(arrays)
        history, is_done = arrays["history"].tolist(), about["is_done"]
        if watch is not None:
            watch.go_on(parameters, arrays, about["watch"])

    def state() -> State:
        arrays, about = ({}, {}) if watch is None else watch.state()
        arrays |= {**parameters.arrays(), "history": np.array(history)}
        return arrays, {"is_done": is_done, "watch": about}

    with engine.phase(name, n_steps, "steps") as advance:
        if history:
            advance(len(history))
        while not is_done:
            counts = trees.expect(parameters)
            history.append(counts.log_likelihood)
            parameters = maximize(trees, parameters.grammar, counts, smoothing)
            advance(1)
            stop = watch is not None and watch(parameters)
            is_done = stop or len(history) == n_steps
            loop.keep(state, is_last=is_done)
    return parameters, history
