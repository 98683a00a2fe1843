"""Compiled loops: inside and outside over a packed forest, for sparse grammars.

They do what ``_forest_loops`` does, with the three terms of each tensor (``sparse_grammar.py``)
instead of the tensor. The averages over the states of the parent come last upwards and first
downwards, once for each item. Sums may be reordered as described there.
"""

from math import exp, log

import numpy as np

from eigentext.engine.compiled import njit

_REORDER = {"reassoc", "contract", "nsz"}
_NEGLIGIBLE = -300.0  # log of a share of the likeliest edge; smaller ones are left out
_TINY = 1e-300  # a smaller sum counts as zero: its inverse may be infinite
_NEAR, _SMALL = -150.0, 1e-60  # below these, something that counts may underflow


@njit(nogil=True, cache=True, fastmath=_REORDER)
def add_edge(rules, r, w, inside, vl, vr, x, y, vector):
    """Equivalent to ``vector += w * einsum("b,c,bca->a", inside[l], inside[q], t)`` of rule r.

    t is the sum of the three terms. x and y are as large as `vector`, and are used up.
    """
    ma = rules.sizes[r, 2]
    p2, p3 = project(rules, r, inside, vl, vr, x, y)
    top = rules.top_at[r]
    p23 = p2 * p3
    for h in range(ma):
        vector[h] += w * (x[h] * y[h] + p23 * rules.top[top + h])
    for k in range(rules.entries[r], rules.entries[r + 1]):
        z = w * inside[vl + rules.b[k]] * inside[vr + rules.c[k]]
        vector[rules.a[k]] += z * rules.value[k]


@njit(nogil=True, cache=True, fastmath=_REORDER)
def project(rules, r, inside, vl, vr, x, y):
    """Equivalent to ``x = left.T @ inside[l]``; ``y = right.T @ inside[q]``.

    Returns the sums of share * inside of both children.
    """
    mb, mc, ma = rules.sizes[r, 0], rules.sizes[r, 1], rules.sizes[r, 2]
    for h in range(ma):
        x[h] = 0.0
        y[h] = 0.0
    p2, p3, at = 0.0, 0.0, rules.left_at[r]
    for h2 in range(mb):
        z = inside[vl + h2]
        p2 += z * rules.share[rules.left_states[r] + h2]
        for h in range(ma):
            x[h] += z * rules.left[at + h2 * ma + h]
    at = rules.right_at[r]
    for h3 in range(mc):
        z = inside[vr + h3]
        p3 += z * rules.share[rules.right_states[r] + h3]
        for h in range(ma):
            y[h] += z * rules.right[at + h3 * ma + h]
    return p2, p3


@njit(nogil=True, cache=True, fastmath=_REORDER)
def hand_down(rules, r, w, inside, outside, vl, vr, above, x, y):
    """Equivalent to adding the outside values of an edge to those of its children.

    With g = t @ above: ``outside[l] += w * g @ inside[q]``; ``outside[q] += w * inside[l] @ g``.
    Returns ``w * inside[l] @ g @ inside[q]``.
    """
    mb, mc, ma = rules.sizes[r, 0], rules.sizes[r, 1], rules.sizes[r, 2]
    p2, p3 = project(rules, r, inside, vl, vr, x, y)
    at, top, total = rules.top_at[r], 0.0, 0.0
    for h in range(ma):
        top += rules.top[at + h] * above[h]
        total += x[h] * y[h] * above[h]
        x[h] *= w * above[h]
        y[h] *= w * above[h]
    total = w * (total + top * p2 * p3)
    at, top = rules.left_at[r], w * top
    for h2 in range(mb):
        z = top * p3 * rules.share[rules.left_states[r] + h2]
        for h in range(ma):
            z += rules.left[at + h2 * ma + h] * y[h]
        outside[vl + h2] += z
    at = rules.right_at[r]
    for h3 in range(mc):
        z = top * p2 * rules.share[rules.right_states[r] + h3]
        for h in range(ma):
            z += rules.right[at + h3 * ma + h] * x[h]
        outside[vr + h3] += z
    for k in range(rules.entries[r], rules.entries[r + 1]):
        z = w * above[rules.a[k]] * rules.value[k]
        il, ir = vl + rules.b[k], vr + rules.c[k]
        outside[il] += z * inside[ir]
        outside[ir] += z * inside[il]
        total += z * inside[il] * inside[ir]
    return total


@njit(nogil=True, cache=True, fastmath=_REORDER)
def inside_forest_sparse(
    label, groups, rule, edges, left, right, n_states, rules, place, inside, scale
):
    """Equivalent to ``_forest_loops.inside_forest`` with the tensors of `rules`.

    Returns whether all numbers are in range.
    """
    widest, safe = 1, True
    for p in range(len(label)):
        widest = max(widest, n_states[label[p]])
    x, y, vector = np.empty(widest), np.empty(widest), np.empty(widest)
    for p in range(len(label)):
        if groups[p] == groups[p + 1]:
            continue
        v, ma = place[p], n_states[label[p]]
        top = -np.inf
        for e in range(edges[groups[p]], edges[groups[p + 1]]):
            top = max(top, scale[left[e]] + scale[right[e]])
        scale[p] = -np.inf
        for h in range(ma):
            inside[v + h] = 0.0
            vector[h] = 0.0
        if top == -np.inf:
            continue
        for g in range(groups[p], groups[p + 1]):
            for e in range(edges[g], edges[g + 1]):
                below = scale[left[e]] + scale[right[e]] - top
                if below < _NEAR:
                    safe &= below == -np.inf
                    if below < _NEGLIGIBLE:
                        continue
                w = exp(below)
                add_edge(rules, rule[g], w, inside, place[left[e]], place[right[e]], x, y, vector)
        total = 0.0
        for h in range(ma):
            total += vector[h]
        average = rules.others[label[p]] * total
        total = 0.0
        for h in range(ma):
            vector[h] = rules.own * vector[h] + average
            total += vector[h]
        if total < _SMALL:
            safe &= total == 0.0
        if total > _TINY:
            for h in range(ma):
                inside[v + h] = vector[h] / total
            scale[p] = top + log(total)
    for h in range(len(inside)):
        if abs(inside[h]) < _SMALL:
            safe &= inside[h] == 0.0
    return safe


@njit(nogil=True, cache=True, fastmath=_REORDER)
def outside_forest_sparse(
    label, groups, rule, edges, left, right, n_states, rules, place, inside, scale, outside,
    posterior,
):  # fmt: skip
    """Equivalent to ``_forest_loops.outside_forest`` with the tensors of `rules`."""
    widest = 1
    for p in range(len(label)):
        widest = max(widest, n_states[label[p]])
    x, y, above = np.empty(widest), np.empty(widest), np.empty(widest)
    for p in range(len(label) - 1, -1, -1):
        v, ma = place[p], n_states[label[p]]
        reached, total = False, 0.0
        for h in range(ma):
            reached |= outside[v + h] != 0.0
            total += outside[v + h]
        if groups[p] == groups[p + 1] or scale[p] == -np.inf or not reached:
            for e in range(edges[groups[p]], edges[groups[p + 1]]):
                posterior[e] = 0.0
            continue
        total *= rules.others[label[p]]
        for h in range(ma):
            above[h] = rules.own * outside[v + h] + total
        for g in range(groups[p], groups[p + 1]):
            for e in range(edges[g], edges[g + 1]):
                below = scale[left[e]] + scale[right[e]] - scale[p]
                posterior[e] = 0.0
                if below == -np.inf:
                    continue
                posterior[e] = hand_down(
                    rules, rule[g], exp(below), inside, outside, place[left[e]], place[right[e]],
                    above, x, y,
                )  # fmt: skip
