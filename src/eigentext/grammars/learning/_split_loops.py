"""The loss of undoing splits, summed over nodes."""

from math import log

from eigentext.engine.compiled import njit


@njit(nogil=True, cache=True)
def add_losses(
    label, n_states, was_split, place, inside, outside, state_offsets, states, losses
):  # fmt: skip
    """Add to `losses`, at the first state of each split, minus the logarithm of its ratios.

    The ratio at a node is in the docstring of ``_split_merge``; `states` are expected counts.
    """
    for p in range(len(label)):
        a = label[p]
        if not was_split[a]:
            continue
        for h in range(0, n_states[a], 2):
            s, v = state_offsets[a] + h, place[p] + h
            i1, i2, o1, o2 = inside[v], inside[v + 1], outside[v], outside[v + 1]
            both = states[s] + states[s + 1]
            p1 = states[s] / both if both > 0.0 else 0.5
            ratio = 1.0 - o1 * i1 - o2 * i2 + (o1 + o2) * (p1 * i1 + (1.0 - p1) * i2)
            losses[s] -= log(max(ratio, 1e-300))
