"""Compiled loops: inside and outside over a packed forest with latent states.

The m^3 work is done once for each group. Upwards, the outer products of the vectors of the children
are summed over split points before the tensor of the rule is applied. Downwards, the tensor is
applied to the vector of the parent before the split points are visited.

Vectors are scaled as in ``_training_loops``. Entries may be negative in spectral grammars, so a
vector is scaled by the sum of its absolute values. Sums may be reordered as described there.
"""

from math import exp, log

import numpy as np

from eigentext.engine.compiled import njit

_REORDER = {"reassoc", "contract", "nsz"}
_NEGLIGIBLE = -300.0  # log of a share of the likeliest edge; smaller ones are left out
_TINY = 1e-300  # a smaller sum counts as zero: its inverse may be infinite
_NEAR, _SMALL = -150.0, 1e-60  # below these, something that counts may underflow


@njit(nogil=True, cache=True, fastmath=_REORDER)
def inside_forest(
    label, groups, rule, edges, left, right, n_states, sizes, offsets, tensor, place, inside, scale
):
    """Fill `inside` and `scale` of the wide items. Items of width one have the scores of words.

    Equivalent, without scales, to summing ``einsum("b,c,bca->a", inside[l], inside[q], tensor[r])``
    over the edges (l, q) of the groups of each item.

    Returns whether all numbers are in range. If not, something that counts may be lost, and
    ``_wide_loops`` has the same loop with an exponent for each number.
    """
    widest, safe = 0, True
    for g in range(len(rule)):
        widest = max(widest, sizes[rule[g], 0] * sizes[rule[g], 1])
    products = np.empty(widest)
    for p in range(len(label)):
        if groups[p] == groups[p + 1]:
            continue
        v, ma = place[p], n_states[label[p]]
        inside[v : v + ma] = 0.0
        top = -np.inf
        for e in range(edges[groups[p]], edges[groups[p + 1]]):
            top = max(top, scale[left[e]] + scale[right[e]])
        scale[p] = -np.inf
        if top == -np.inf:
            continue
        for g in range(groups[p], groups[p + 1]):
            r = rule[g]
            mb, mc, t = sizes[r, 0], sizes[r, 1], offsets[r]
            products[: mb * mc] = 0.0
            for e in range(edges[g], edges[g + 1]):
                below = scale[left[e]] + scale[right[e]] - top
                if below < _NEAR:
                    safe &= below == -np.inf
                    if below < _NEGLIGIBLE:
                        continue
                w = exp(below)
                vl, vr = place[left[e]], place[right[e]]
                for h2 in range(mb):
                    y = w * inside[vl + h2]
                    for h3 in range(mc):
                        products[h2 * mc + h3] += y * inside[vr + h3]
            for pair in range(mb * mc):
                y = products[pair]
                if y != 0.0:
                    for h in range(ma):
                        inside[v + h] += y * tensor[t + pair * ma + h]
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
            inside[v : v + ma] = 0.0
    for h in range(len(inside)):
        if abs(inside[h]) < _SMALL:
            safe &= inside[h] == 0.0
    return safe


@njit(nogil=True, cache=True, fastmath=_REORDER)
def outside_forest(
    label, groups, rule, edges, left, right, n_states, sizes, offsets, tensor, place, inside, scale,
    outside, posterior,
):  # fmt: skip
    """Fill `outside` below the roots, which have theirs, and the `posterior` of each edge.

    Equivalent, without scales and with g = tensor[r] @ outside[p], to adding ``g @ inside[q]`` to
    ``outside[l]`` and ``inside[l] @ g`` to ``outside[q]`` for each edge (l, q), whose posterior is
    ``inside[l] @ g @ inside[q]``.
    """
    widest = 0
    for g in range(len(rule)):
        widest = max(widest, sizes[rule[g], 0] * sizes[rule[g], 1])
    above = np.empty(widest)
    for p in range(len(label) - 1, -1, -1):
        v, ma = place[p], n_states[label[p]]
        reached = False
        for h in range(ma):
            reached |= outside[v + h] != 0.0
        if groups[p] == groups[p + 1] or scale[p] == -np.inf or not reached:
            posterior[edges[groups[p]] : edges[groups[p + 1]]] = 0.0
            continue
        for g in range(groups[p], groups[p + 1]):
            r = rule[g]
            mb, mc, t = sizes[r, 0], sizes[r, 1], offsets[r]
            for pair in range(mb * mc):
                y = 0.0
                for h in range(ma):
                    y += outside[v + h] * tensor[t + pair * ma + h]
                above[pair] = y
            for e in range(edges[g], edges[g + 1]):
                below = scale[left[e]] + scale[right[e]] - scale[p]
                posterior[e] = 0.0
                if below == -np.inf:
                    continue
                w = exp(below)
                vl, vr = place[left[e]], place[right[e]]
                total = 0.0
                for h2 in range(mb):
                    y, x = 0.0, w * inside[vl + h2]
                    for h3 in range(mc):
                        y += above[h2 * mc + h3] * inside[vr + h3]
                        outside[vr + h3] += x * above[h2 * mc + h3]
                    outside[vl + h2] += w * y
                    total += x * y
                posterior[e] = total


@njit(nogil=True, cache=True)
def filter_forest(groups, rule, edges, left, right, keep, scores, least):
    """The forest of the items in `keep`: the new numbers of items, and the new arrays.

    Edges whose score is below `least` are left out.
    `keep` is changed: a wide item without an edge is removed too. Returns the number of each item,
    the groups of items, the rules and edges of groups, and the renumbered children of edges.
    """
    number = np.full(len(keep), -1, np.int32)
    new_groups = np.empty(len(groups), np.int64)
    new_rule = np.empty_like(rule)
    new_edges = np.empty(len(edges), np.int64)
    new_left, new_right = np.empty_like(left), np.empty_like(right)
    n_items, n_groups, n_edges = 0, 0, 0
    new_groups[0] = new_edges[0] = 0
    for p in range(len(keep)):
        if not keep[p]:
            continue
        wide = groups[p] < groups[p + 1]
        before = n_groups
        for g in range(groups[p], groups[p + 1]):
            first = n_edges
            for e in range(edges[g], edges[g + 1]):
                if scores[e] >= least and number[left[e]] >= 0 and number[right[e]] >= 0:
                    new_left[n_edges] = number[left[e]]
                    new_right[n_edges] = number[right[e]]
                    n_edges += 1
            if n_edges > first:
                new_rule[n_groups] = rule[g]
                n_groups += 1
                new_edges[n_groups] = n_edges
        if wide and n_groups == before:
            keep[p] = False
            continue
        number[p] = n_items
        n_items += 1
        new_groups[n_items] = n_groups
    return (
        number,
        new_groups[: n_items + 1].copy(),
        new_rule[:n_groups].copy(),
        new_edges[: n_groups + 1].copy(),
        new_left[:n_edges].copy(),
        new_right[:n_edges].copy(),
    )
