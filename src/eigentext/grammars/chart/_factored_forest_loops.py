"""Compiled loops: inside and outside over a packed forest, for grammars of low rank.

They do what ``_forest_loops`` does, with the factors of each tensor (``factored_grammar.py``).
Rules of rank 0 have a tensor. Sums may be reordered as described there.
"""

from math import exp, log

import numpy as np

from eigentext.engine.compiled import njit

_REORDER = {"reassoc", "contract", "nsz"}
_NEGLIGIBLE = -300.0  # log of a share of the likeliest edge; smaller ones are left out
_TINY = 1e-300  # a smaller sum counts as zero: its inverse may be infinite
_NEAR, _SMALL = -150.0, 1e-60  # below these, something that counts may underflow


@njit(nogil=True, cache=True, fastmath=_REORDER)
def project(numbers, at, k, m, vector, v, found):
    """Equivalent to ``found[:k] = vector[v : v + m] @ numbers[at : at + m * k].reshape(m, k)``."""
    for j in range(k):
        found[j] = 0.0
    for h in range(m):
        z = vector[v + h]
        for j in range(k):
            found[j] += z * numbers[at + h * k + j]


@njit(nogil=True, cache=True, fastmath=_REORDER)
def expand(numbers, at, k, m, w, products, vector, v):
    """Equivalent to ``vector[v : v + m] += w * (numbers.reshape(m, k) @ products[:k])``."""
    for h in range(m):
        z = 0.0
        for j in range(k):
            z += numbers[at + h * k + j] * products[j]
        vector[v + h] += w * z


@njit(nogil=True, cache=True)
def room(rule, sizes, ranks):
    """How many numbers of work a group needs: for its products, or for its pairs of states."""
    widest = 1
    for g in range(len(rule)):
        r = rule[g]
        widest = max(widest, ranks[r] if ranks[r] > 0 else sizes[r, 0] * sizes[r, 1])
    return widest


@njit(nogil=True, cache=True, fastmath=_REORDER)
def inside_forest_factored(
    label, groups, rule, edges, left, right, n_states, rules, place, inside, scale
):
    """Equivalent to ``_forest_loops.inside_forest`` with the tensors of `rules`.

    Returns whether all numbers are in range.
    """
    numbers, safe = rules.numbers, True
    widest = room(rule, rules.sizes, rules.ranks)
    x, y, products = np.empty(widest), np.empty(widest), np.empty(widest)
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
        if top == -np.inf:
            continue
        for g in range(groups[p], groups[p + 1]):
            r = rule[g]
            mb, mc, k, t = rules.sizes[r, 0], rules.sizes[r, 1], rules.ranks[r], rules.at[r]
            for j in range(k if k > 0 else mb * mc):
                products[j] = 0.0
            for e in range(edges[g], edges[g + 1]):
                below = scale[left[e]] + scale[right[e]] - top
                if below < _NEAR:
                    safe &= below == -np.inf
                    if below < _NEGLIGIBLE:
                        continue
                w = exp(below)
                vl, vr = place[left[e]], place[right[e]]
                if k > 0:
                    project(numbers, t, k, mb, inside, vl, x)
                    project(numbers, t + mb * k, k, mc, inside, vr, y)
                    for j in range(k):
                        products[j] += w * x[j] * y[j]
                else:
                    for h2 in range(mb):
                        z = w * inside[vl + h2]
                        for h3 in range(mc):
                            products[h2 * mc + h3] += z * inside[vr + h3]
            if k > 0:
                expand(numbers, t + (mb + mc) * k, k, ma, 1.0, products, inside, v)
            else:
                for pair in range(mb * mc):
                    z = products[pair]
                    if z != 0.0:
                        for h in range(ma):
                            inside[v + h] += z * numbers[t + pair * ma + h]
        total = 0.0
        for h in range(ma):
            total += abs(inside[v + h])
        if total < _SMALL:
            safe &= total == 0.0
        if total > _TINY:
            for h in range(ma):
                inside[v + h] /= total
            scale[p] = top + log(total)
        else:
            for h in range(ma):
                inside[v + h] = 0.0
    for h in range(len(inside)):
        if abs(inside[h]) < _SMALL:
            safe &= inside[h] == 0.0
    return safe


@njit(nogil=True, cache=True, fastmath=_REORDER)
def outside_forest_factored(
    label, groups, rule, edges, left, right, n_states, rules, place, inside, scale, outside,
    posterior,
):  # fmt: skip
    """Equivalent to ``_forest_loops.outside_forest`` with the tensors of `rules`."""
    numbers = rules.numbers
    widest = room(rule, rules.sizes, rules.ranks)
    x, y, above = np.empty(widest), np.empty(widest), np.empty(widest)
    for p in range(len(label) - 1, -1, -1):
        v, ma = place[p], n_states[label[p]]
        reached = False
        for h in range(ma):
            reached |= outside[v + h] != 0.0
        if groups[p] == groups[p + 1] or scale[p] == -np.inf or not reached:
            for e in range(edges[groups[p]], edges[groups[p + 1]]):
                posterior[e] = 0.0
            continue
        for g in range(groups[p], groups[p + 1]):
            r = rule[g]
            mb, mc, k, t = rules.sizes[r, 0], rules.sizes[r, 1], rules.ranks[r], rules.at[r]
            if k > 0:
                project(numbers, t + (mb + mc) * k, k, ma, outside, v, above)
            else:
                for pair in range(mb * mc):
                    z = 0.0
                    for h in range(ma):
                        z += outside[v + h] * numbers[t + pair * ma + h]
                    above[pair] = z
            for e in range(edges[g], edges[g + 1]):
                below = scale[left[e]] + scale[right[e]] - scale[p]
                posterior[e] = 0.0
                if below == -np.inf:
                    continue
                w = exp(below)
                vl, vr = place[left[e]], place[right[e]]
                total = 0.0
                if k > 0:
                    project(numbers, t, k, mb, inside, vl, x)
                    project(numbers, t + mb * k, k, mc, inside, vr, y)
                    for j in range(k):
                        total += x[j] * y[j] * above[j]
                        x[j] *= above[j]
                        y[j] *= above[j]
                    expand(numbers, t, k, mb, w, y, outside, vl)
                    expand(numbers, t + mb * k, k, mc, w, x, outside, vr)
                    posterior[e] = w * total
                    continue
                for h2 in range(mb):
                    s, z = 0.0, w * inside[vl + h2]
                    for h3 in range(mc):
                        s += above[h2 * mc + h3] * inside[vr + h3]
                        outside[vr + h3] += z * above[h2 * mc + h3]
                    outside[vl + h2] += w * s
                    total += z * s
                posterior[e] = total
