"""Compiled loops of learning for sparse grammars: as in ``_training_loops``, without large tensors.

The tensor of a rule is made when many nodes need it, and forgotten. A run of few nodes is faster
with the three terms of ``sparse_grammar.py``.
"""

from math import exp, log

import numpy as np

from eigentext.engine.compiled import njit
from eigentext.grammars._sparse_loops import fill
from eigentext.grammars.chart._sparse_forest_loops import add_edge, hand_down
from eigentext.grammars.learning._training_loops import ROWS, count_rule, inside_run, outside_run

_FEW = 6  # runs of at most so many nodes are done without the tensor of their rule
_TINY = 1e-300  # a smaller sum counts as zero: its inverse may be infinite
_REORDER = {"reassoc", "contract", "nsz"}


@njit(nogil=True, cache=True)
def _room(first, last, rule, sizes):
    """The most pairs of states, the largest tensor and the most states of the rules of runs."""
    widest, largest, most = 1, 1, 1
    for run in range(first, last):
        r = rule[run]
        mb, mc, ma = sizes[r, 0], sizes[r, 1], sizes[r, 2]
        widest, largest = max(widest, mb * mc), max(largest, mb * mc * ma)
        most = max(most, ma)
    return widest, largest, most


@njit(nogil=True, cache=True, fastmath=_REORDER)
def inside_runs_sparse(first, last, runs, rule, left, right, rules, place, inside, scale):
    """Equivalent to ``_training_loops.inside_runs`` with the tensors of `rules`.

    `rule` has the number of each run's rule in the grammar.
    """
    widest, largest, most = _room(first, last, rule, rules.sizes)
    x, tensor = np.empty(ROWS * widest), np.empty(largest)
    one, two, vector = np.empty(most), np.empty(most), np.empty(most)
    for run in range(first, last):
        r = rule[run]
        mb, mc, ma = rules.sizes[r, 0], rules.sizes[r, 1], rules.sizes[r, 2]
        if runs[run + 1] - runs[run] > _FEW:
            fill(rules, r, tensor)
            t = tensor[: mb * mc * ma].reshape(mb * mc, ma)
            inside_run(t, mb, mc, runs[run], runs[run + 1], left, right, place, inside, scale, x)
            continue
        for p in range(runs[run], runs[run + 1]):
            for h in range(ma):
                vector[h] = 0.0
            add_edge(rules, r, 1.0, inside, place[left[p]], place[right[p]], one, two, vector)
            total = 0.0
            for h in range(ma):
                total += vector[h]
            average = rules.others[rules.parent[r]] * total
            total = 0.0
            for h in range(ma):
                vector[h] = rules.own * vector[h] + average
                total += vector[h]
            v, factor = place[p], 0.0
            scale[p] = -np.inf
            if total > _TINY:
                factor = 1.0 / total
                scale[p] = scale[left[p]] + scale[right[p]] + log(total)
            for h in range(ma):
                inside[v + h] = factor * vector[h]


@njit(nogil=True, cache=True, fastmath=_REORDER)
def outside_runs_sparse(first, last, runs, rule, left, right, rules, place, inside, outside, scale):
    """Equivalent to ``_training_loops.outside_runs`` with the tensors of `rules`."""
    widest, largest, most = _room(first, last, rule, rules.sizes)
    x, tensor = np.empty(ROWS * widest), np.empty(largest)
    one, two, above = np.empty(most), np.empty(most), np.empty(most)
    for run in range(first, last):
        r = rule[run]
        mb, mc, ma = rules.sizes[r, 0], rules.sizes[r, 1], rules.sizes[r, 2]
        if runs[run + 1] - runs[run] > _FEW:
            fill(rules, r, tensor)
            t = tensor[: mb * mc * ma].reshape(mb * mc, ma)
            outside_run(
                t, mb, mc, runs[run], runs[run + 1], left, right, place, inside, outside, scale, x
            )
            continue
        for p in range(runs[run], runs[run + 1]):
            v, vl, vr = place[p], place[left[p]], place[right[p]]
            for h in range(mb):
                outside[vl + h] = 0.0
            for h in range(mc):
                outside[vr + h] = 0.0
            if scale[p] == -np.inf:
                continue
            total = 0.0
            for h in range(ma):
                total += outside[v + h]
            total *= rules.others[rules.parent[r]]
            for h in range(ma):
                above[h] = rules.own * outside[v + h] + total
            w = exp(scale[left[p]] + scale[right[p]] - scale[p])
            hand_down(rules, r, w, inside, outside, vl, vr, above, one, two)


@njit(nogil=True, cache=True, fastmath=_REORDER)
def count_rules_sparse(
    first, last, members, nodes, rule, left, right, rules, offsets, place, inside, outside, scale,
    least,
):  # fmt: skip
    """Equivalent to ``_training_loops.count_rules``, without counts below a share of their sum.

    Returns the places of the counts in the packed tensor, and the counts. `least` is the share.
    """
    widest, largest, most = _room(first, last, rule, rules.sizes)
    x, above = np.empty(ROWS * widest), np.empty(ROWS * most)
    product, tensor, counts = np.empty(largest), np.empty(largest), np.empty(largest)
    size, keys, values = 0, np.empty(1024, np.int64), np.empty(1024, np.float64)
    for s in range(first, last):
        r = rule[s]
        mb, mc, ma = rules.sizes[r, 0], rules.sizes[r, 1], rules.sizes[r, 2]
        n = mb * mc * ma
        for k in range(n):
            counts[k] = 0.0
        count_rule(
            nodes[members[s] : members[s + 1]], left, right, mb, mc, place, inside, outside, scale,
            x, above, product, counts[:n].reshape(mb * mc, ma),
        )  # fmt: skip
        fill(rules, r, tensor)
        total = 0.0
        for k in range(n):
            counts[k] *= tensor[k]
            total += counts[k]
        limit, found = least * total, 0
        for k in range(n):
            found += counts[k] > 0.0 and counts[k] >= limit
        if size + found > len(keys):
            keys, values = _grown(keys, size + found), _grown(values, size + found)
        for k in range(n):
            if counts[k] > 0.0 and counts[k] >= limit:
                keys[size], values[size] = offsets[r] + k, counts[k]
                size += 1
    return keys[:size], values[:size]


@njit(nogil=True, cache=True)
def _grown(x, size):
    """A copy with room for `size` entries, and at least twice the old room."""
    y = np.empty(max(size, 2 * len(x)), x.dtype)
    for i in range(len(x)):
        y[i] = x[i]
    return y
