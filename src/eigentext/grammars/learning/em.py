"""Expectation-maximization on trees with hidden states, from a random start or from another one.

The random start is that of [Matsuzaki et al. 2005]: the PCFG, with states that are equal except for
a little noise. Plain steps of EM come first. Smoothed steps follow, because the last plain steps
fit the trees too closely.

[Matsuzaki et al. 2005] T. Matsuzaki, Y. Miyao and J. Tsujii, Probabilistic CFG with latent
annotations, ACL 2005.
"""

import numpy as np

from eigentext.grammars.chart.cascade import Level
from eigentext.grammars.learning.protocol import Learned, Task
from eigentext.grammars.learning.training import (
    GrammarParameters,
    Smoothing,
    TrainingTrees,
    maximize,
    split,
)
from eigentext.monitor import HeldOut, Monitor
from eigentext.parameters import Settings

NOISE = 0.01  # enough to break the symmetry between states
# Plain and smoothed steps, by method, if the parameters do not say how many.
_STEPS = {"em": (20, 20), "spectral+em": (0, 4), "pivot+em": (0, 2), "pivot": (0, 0)}
_EVERY = 5  # steps between two looks at the validation trees, at most
_PATIENCE = 2  # looks without a better score before EM stops
_PRUNING_STATES, _PRUNING_STEPS = 2, 25  # of the grammar that prunes for the others


def learn(task: Task, k: int) -> Learned:
    """EM from a random start.

    The history has the log-likelihood of the trees before each step: "em" for the plain steps,
    "smoothed" for the smoothed ones.
    """
    return improve(task, random_start_of(task, task.limits, task.rng(k)))


def improve(task: Task, start: GrammarParameters) -> Learned:
    """Plain steps of EM from a start, then smoothed ones.

    With validation trees, return the smoothed step that does best on them.
    """
    trees = task.counted.trees
    n_iter, n_smooth = _n_steps(task.settings)
    held_out = judge(task, start, max(1, min(_EVERY, n_smooth // 4)), _PATIENCE)
    parameters, plain = em(trees, start, n_iter)
    parameters, smoothed = em(
        trees, parameters, n_smooth, smoothing=task.smoothing, name="smoothed em", held_out=held_out
    )
    return chosen(task, parameters, {"em": plain, "smoothed": smoothed}, held_out)


def pruning_level(task: Task) -> Level:
    """A grammar of two states for each label, by 25 smoothed steps of EM.

    It prunes the charts for the grammars that decide: it is cheap, and a much better judge than the
    coarse grammar.
    """
    start = random_start_of(
        task, _PRUNING_STATES, np.random.default_rng(task.settings.random_state)
    )
    found, _ = em(
        task.counted.trees, start, _PRUNING_STEPS, smoothing=Smoothing(), name="pruning em"
    )
    return task.counted.level(found)


def random_start_of(
    task: Task, n_states: int | np.ndarray, rng: np.random.Generator
) -> GrammarParameters:
    """The random start of a task."""
    counted = task.counted
    return random_start(
        counted.trees, counted.pcfg, n_states, task.settings.nodes_per_state, NOISE, rng
    )


def random_start(
    trees: TrainingTrees,
    pcfg: GrammarParameters,
    n_states: int | np.ndarray,
    nodes_per_state: int,
    noise: float,
    rng: np.random.Generator,
) -> GrammarParameters:
    """The PCFG with up to `n_states` for each label, which are equal except for noise.

    A label gets at most one state for each `nodes_per_state` of its nodes in the treebank.
    """
    counts = np.bincount(trees.label, minlength=len(pcfg.grammar.n_states))
    return split(trees, pcfg, np.clip(counts // nodes_per_state, 1, n_states), noise, rng)


def em(
    trees: TrainingTrees,
    parameters: GrammarParameters,
    n_steps: int,
    *,
    smoothing: Smoothing | None = None,
    name: str = "em",
    held_out: HeldOut[GrammarParameters] | None = None,
) -> tuple[GrammarParameters, list[float]]:
    """Make steps of EM. Return the parameters, and the log-likelihood before each step.

    No plain step lowers the likelihood. With `smoothing`, each step ends with it, and then the
    likelihood may fall. `held_out` looks at the parameters after each step and may end the loop.
    """
    start = parameters.grammar.n_states, *parameters.arrays().values()
    monitor = Monitor(
        "em",
        n_steps,
        title=name,
        held_out=held_out,
        problem=(name, smoothing, lambda: trees.problem, *start),
    )
    if kept := monitor.resume():
        parameters = parameters.replaced(kept.arrays)
    with monitor:
        while not monitor.is_done:
            counts = trees.expect(parameters)
            parameters = maximize(trees, parameters.grammar, counts, smoothing)
            monitor.record(counts.log_likelihood)
            monitor.show(parameters)
            monitor.keep(parameters.arrays)
    return parameters, monitor.history


def judge(
    task: Task, start: GrammarParameters, every: int, patience: int
) -> HeldOut[GrammarParameters] | None:
    """Scores parameters on the validation trees; None without such trees.

    A checkpoint keeps the best parameters, which have the labels and states of `start`.
    """
    score = task.score
    if score is None:
        return None
    return HeldOut(
        lambda parameters: score(task.counted.level(parameters)),
        pack=GrammarParameters.arrays,
        unpack=start.replaced,
        every=every,
        patience=patience,
        problem=score.problem,
    )


def chosen(
    task: Task,
    parameters: GrammarParameters,
    history: dict[str, list[float]],
    held_out: HeldOut[GrammarParameters] | None,
) -> Learned:
    """The parameters that did best on the validation trees, or else the last ones."""
    if held_out is not None and held_out.best is not None:
        history["validation"] = held_out.scores
        parameters = held_out.best
    return Learned(task.counted.level(parameters), history)


def _n_steps(settings: Settings) -> tuple[int, int]:
    """How many plain steps, and how many smoothed ones."""
    n_iter, n_smooth = _STEPS[settings.method]
    if settings.method == "pivot":
        return n_iter, n_smooth
    n_iter = n_iter if settings.n_iter is None else settings.n_iter
    return n_iter, n_smooth if settings.n_smooth is None else settings.n_smooth
