"""Splitting every state in two, and merging back the splits that gain least [Petrov et al. 2006].

A cycle doubles the states of every label, breaks the symmetry with a little noise, and fits by EM.
It then undoes the half of the splits that lose least, and fits again. At a node of label a, undoing
the split of a state into h and h' adds up their outside probabilities, and averages their inside
probabilities by how often each occurs, p and p'. The likelihood of the tree changes by the ratio

    1 - o_h i_h - o_h' i_h' + (o_h + o_h') (p i_h + p' i_h'),

where o i are posteriors. The loss of a merge is the sum of minus the logarithms of these ratios
over all nodes. So a label ends with as many states as it can use: a comma keeps one, a noun phrase
dozens.

[Petrov et al. 2006] S. Petrov, L. Barrett, R. Thibaux and D. Klein, Learning accurate, compact, and
interpretable tree annotation, ACL 2006.
"""

import numpy as np

from eigentext.grammars.grammar import Grammar
from eigentext.grammars.learning.em import NOISE, chosen, em, judge
from eigentext.grammars.learning.protocol import Learned, Task
from eigentext.grammars.learning.training import (
    GrammarParameters,
    TrainingTrees,
    counted,
    maximize,
    split,
)

_STEPS = 20  # of EM in each cycle: half before merging, half after


def learn(task: Task, k: int) -> Learned:
    """Cycles of splitting, fitting, merging and fitting, until there are enough states.

    With validation trees, the cycles end when a cycle does not improve the score. The history has
    the log-likelihood of the trees before each step of EM: "split 1", "merge 1", "split 2" and so
    on.
    """
    settings, trees, rng = task.settings, task.counted.trees, task.rng(k)
    parameters = task.counted.pcfg
    nodes = np.bincount(trees.label)
    held_out = judge(task, parameters, every=1, patience=1)
    n_steps = (_STEPS if settings.n_iter is None else settings.n_iter) // 2
    history: dict[str, list[float]] = {}
    limits = task.limits
    for cycle in range(1, int(np.ceil(np.log2(limits.max()))) + 1):
        old = parameters.grammar.n_states
        room = 2 * old <= np.minimum(limits, nodes)
        parameters = split(trees, parameters, np.where(room, 2 * old, old), NOISE, rng)
        for step in ("split", "merge"):
            if step == "merge":
                parameters = merge(trees, parameters, room, settings.merge)
            parameters, history[f"{step} {cycle}"] = em(
                trees, parameters, n_steps, smoothing=task.smoothing, name=f"{step} {cycle}"
            )
        if held_out is not None and held_out.show(parameters):
            break
    return chosen(task, parameters, history, held_out)


def merge(
    trees: TrainingTrees, parameters: GrammarParameters, was_split: np.ndarray, share: float
) -> GrammarParameters:
    """Undo the `share` of the splits that lose least. `was_split` marks the labels split."""
    counts = trees.expect(parameters)
    old = parameters.grammar
    losses = trees.split_losses(parameters, counts.states, was_split)
    candidates = np.flatnonzero(np.isfinite(losses))  # the first state of each split
    undone = candidates[np.argsort(losses[candidates], kind="stable")]
    undone = undone[: int(share * len(candidates))]
    kept = np.ones(len(losses), bool)
    kept[undone + 1] = False
    labels = np.repeat(np.arange(len(old.n_states)), old.n_states)
    new = Grammar(old.rules, np.bincount(labels[kept]), np.empty(0), np.empty(0))
    # For each label, the first state of each group that becomes one state. Groups are contiguous.
    first = [
        np.flatnonzero(kept[a:b]) for a, b in zip(old.state_offsets[:-1], old.state_offsets[1:])
    ]
    tensor = np.empty(new.tensor_offsets[-1])
    for r, (b, c, a) in enumerate(zip(old.rules.left, old.rules.right, old.rules.parent)):
        t = counts.tensor[old.tensor_offsets[r] : old.tensor_offsets[r + 1]].reshape(old.sizes[r])
        t = np.add.reduceat(t, first[b], axis=0)
        t = np.add.reduceat(t, first[c], axis=1)
        t = np.add.reduceat(t, first[a], axis=2)
        tensor[new.tensor_offsets[r] : new.tensor_offsets[r + 1]] = t.ravel()
    borders = np.flatnonzero(kept[trees.lexical_states(old)])
    lexical = np.add.reduceat(counts.lexical, borders)
    root = np.add.reduceat(counts.root, np.flatnonzero(kept))
    return maximize(trees, new, counted(trees, new, tensor, lexical, root))
