"""Splitting every state in two, and merging back the splits that gain least [1]_.

A cycle doubles the states of every label, breaks the symmetry with a little noise, fits by EM, and
undoes the half of the splits whose loss, if undone, is smallest. At a node of label a, undoing the
split of a state into h and h' adds up their outside probabilities and averages their inside ones
by how often each occurs, p and p' of the two; the likelihood of the tree changes by the ratio

    1 - o_h i_h - o_h' i_h' + (o_h + o_h') (p i_h + p' i_h'),

where o i are posteriors, and the loss is the sum of minus its logarithms over all nodes. So labels
end with as many states as they can use: a comma keeps one, a noun phrase dozens.

.. [1] S. Petrov, L. Barrett, R. Thibaux and D. Klein, Learning accurate, compact, and
   interpretable tree annotation, ACL 2006.
"""

import numpy as np

from eigentext.grammars.grammar import Grammar
from eigentext.grammars.learning.training import Expectations, Parameters, TrainingTrees, maximize


def split(
    trees: TrainingTrees,
    parameters: Parameters,
    n_states: np.ndarray,
    noise: float,
    rng: np.random.Generator,
) -> Parameters:
    """Give each label `n_states`, a multiple of those it has; like states differ by `noise`.

    A state's probability is shared evenly among the states that come of it, so the likelihood is
    that of before, but for the noise: those of rules and words are multiplied by 1 + noise * u,
    with u even on (-1, 1), without which EM would find no difference between them to increase.
    """
    old = parameters.grammar
    times = n_states // old.n_states
    new = Grammar(old.rules, n_states, np.empty(0), np.empty(0))
    tensor = np.empty(new.tensor_offsets[-1])
    for r, (left, right, parent) in enumerate(
        zip(old.rules.left, old.rules.right, old.rules.parent)
    ):
        b, c, a = times[left], times[right], times[parent]
        t = old.tensor_of(r) / (b * c)
        tensor[new.tensor_offsets[r] : new.tensor_offsets[r + 1]] = (
            t.repeat(b, 0).repeat(c, 1).repeat(a, 2).ravel()
        )
    tensor *= 1 + noise * rng.uniform(-1, 1, tensor.size)
    pair_times = times[trees.pair_label]
    lexical = parameters.lexical.repeat(pair_times.repeat(old.n_states[trees.pair_label]))
    lexical *= 1 + noise * rng.uniform(-1, 1, lexical.size)
    each = times.repeat(old.n_states)
    root = (old.root / each).repeat(each)
    return maximize(trees, new, counted(trees, new, tensor, lexical, root))


def merge(
    trees: TrainingTrees, parameters: Parameters, was_split: np.ndarray, share: float
) -> Parameters:
    """Undo the `share` of the splits that lose least; `was_split` says which labels were split."""
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
    # Of each label, where the states begin that are one now: they lie side by side.
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


def counted(
    trees: TrainingTrees,
    grammar: Grammar,
    tensor: np.ndarray,
    lexical: np.ndarray,
    root: np.ndarray,
) -> Expectations:
    """Counts or unnormalised probabilities, with their sums by state, for `maximize`."""
    m = grammar.sizes[:, 2]
    rows = grammar.sizes[:, :2].prod(axis=1)
    sums = np.concatenate(
        [
            tensor[grammar.tensor_offsets[r] : grammar.tensor_offsets[r + 1]].reshape(n, k).sum(0)
            for r, (n, k) in enumerate(zip(rows, m))
        ]
        or [np.empty(0)]
    )
    parents = grammar.states_of(grammar.rules.parent)
    n_states = int(grammar.state_offsets[-1])
    states = np.bincount(parents, sums, n_states) + np.bincount(
        trees.lexical_states(grammar), lexical, n_states
    )
    return Expectations(float("nan"), tensor, lexical, root, states)
