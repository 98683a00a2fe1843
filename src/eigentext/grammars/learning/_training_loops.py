"""Compiled loops of learning: inside and outside on observed trees, and what follows from them.

Nodes are sorted by height and then by rule. A run is the nodes of one height with one rule. Their
vectors are contiguous, so the m^3 work on a run is a matrix product: X, with a row of b(h2) c(h3)
for each node, times the tensor of the rule as a matrix of (h2, h3) by h1. Short products are
written out as loops, because a call to BLAS costs more.

Vectors are scaled. An inside vector sums to one, and `scale` has the logarithm of what was divided
out. The product of an outside vector with the inside vector is the posterior probability of each
state, for trees of any height.

Sums may be reordered (fastmath's "reassoc"), but always in the same way: the bits depend only on
the shapes. Infinities and NaNs keep their meaning.
"""

from math import exp, log

import numpy as np

from eigentext.engine.compiled import njit

ROWS = 32  # rows of X at a time, so that they stay in the cache
_BLAS = 4096  # from this number of multiplications on, BLAS is faster
_TINY = 1e-300  # a smaller sum counts as zero: its inverse may be infinite
_REORDER = {"reassoc", "contract", "nsz"}


@njit(nogil=True, cache=True, fastmath=_REORDER)
def inside_run(t, mb, mc, first, last, left, right, place, inside, scale, x):
    """`inside_runs` for the nodes `first` to `last - 1`, whose rule has the tensor t.

    t is a matrix of (h2, h3) by h1. x has room for ROWS rows of it.
    """
    pairs, ma = t.shape
    for start in range(first, last, ROWS):
        n = min(ROWS, last - start)
        rows = x[: n * pairs].reshape(n, pairs)
        for k in range(n):
            vl, vr = place[left[start + k]], place[right[start + k]]
            for h2 in range(mb):
                y = inside[vl + h2]
                for h3 in range(mc):
                    rows[k, h2 * mc + h3] = y * inside[vr + h3]
        out = inside[place[start] : place[start] + n * ma].reshape(n, ma)
        if n * pairs * ma > _BLAS:
            np.dot(rows, t, out)
        else:
            out[:] = 0.0
            for k in range(n):
                for pair in range(pairs):
                    y = rows[k, pair]
                    if y != 0.0:
                        for h in range(ma):
                            out[k, h] += y * t[pair, h]
        for k in range(n):
            p = start + k
            total = 0.0
            for h in range(ma):
                total += out[k, h]
            if total > _TINY:
                for h in range(ma):
                    out[k, h] /= total
                scale[p] = scale[left[p]] + scale[right[p]] + log(total)
            else:
                out[k] = 0.0
                scale[p] = -np.inf


@njit(nogil=True, cache=True, fastmath=_REORDER)
def inside_runs(first, last, runs, rule, left, right, sizes, offsets, tensor, place, inside, scale):
    """Fill `inside` and `scale` for the runs `first` to `last - 1`. Their children are done.

    Equivalent, for a node p of rule r with children l and q, to
    ``v = einsum("b,c,bca->a", inside[l], inside[q], tensor[r])``; ``inside[p] = v / v.sum()``;
    ``scale[p] = scale[l] + scale[q] + log(v.sum())``. `sizes` are (m_left, m_right, m_parent) of
    each rule, `offsets` where its tensor starts, `place` where a node's vector does.
    """
    widest = 1
    for run in range(first, last):
        r = rule[run]
        widest = max(widest, sizes[r, 0] * sizes[r, 1])
    x = np.empty(ROWS * widest)
    for run in range(first, last):
        r = rule[run]
        mb, mc, ma = sizes[r, 0], sizes[r, 1], sizes[r, 2]
        pairs = mb * mc
        t = tensor[offsets[r] : offsets[r + 1]].reshape(pairs, ma)
        inside_run(t, mb, mc, runs[run], runs[run + 1], left, right, place, inside, scale, x)


@njit(nogil=True, cache=True, fastmath=_REORDER)
def outside_run(t, mb, mc, first, last, left, right, place, inside, outside, scale, x):
    """`outside_runs` for the children of the nodes `first` to `last - 1`, as in `inside_run`."""
    pairs, ma = t.shape
    for start in range(first, last, ROWS):
        n = min(ROWS, last - start)
        g = x[: n * pairs].reshape(n, pairs)
        above = outside[place[start] : place[start] + n * ma].reshape(n, ma)
        if n * pairs * ma > _BLAS:
            np.dot(above, t.T, g)
        else:
            for k in range(n):
                for pair in range(pairs):
                    y = 0.0
                    for h in range(ma):
                        y += above[k, h] * t[pair, h]
                    g[k, pair] = y
        for k in range(n):
            p = start + k
            vl, vr = place[left[p]], place[right[p]]
            w = 0.0
            if scale[p] != -np.inf:
                w = exp(scale[left[p]] + scale[right[p]] - scale[p])
            for h3 in range(mc):
                outside[vr + h3] = 0.0
            for h2 in range(mb):
                y = 0.0
                below = w * inside[vl + h2]
                for h3 in range(mc):
                    y += g[k, h2 * mc + h3] * inside[vr + h3]
                    outside[vr + h3] += below * g[k, h2 * mc + h3]
                outside[vl + h2] = w * y


@njit(nogil=True, cache=True, fastmath=_REORDER)
def outside_runs(
    first, last, runs, rule, left, right, sizes, offsets, tensor, place, inside, outside, scale
):
    """Fill `outside` of the children of the runs `first` to `last - 1`. Their own is done.

    Equivalent, with g = tensor[r] @ outside[p] and w = exp(scale[l] + scale[q] - scale[p]), to
    ``outside[l] = w * g @ inside[q]`` and ``outside[q] = w * inside[l] @ g``.
    """
    widest = 1
    for run in range(first, last):
        r = rule[run]
        widest = max(widest, sizes[r, 0] * sizes[r, 1])
    x = np.empty(ROWS * widest)
    for run in range(first, last):
        r = rule[run]
        mb, mc, ma = sizes[r, 0], sizes[r, 1], sizes[r, 2]
        pairs = mb * mc
        t = tensor[offsets[r] : offsets[r + 1]].reshape(pairs, ma)
        outside_run(
            t, mb, mc, runs[run], runs[run + 1], left, right, place, inside, outside, scale, x
        )


@njit(nogil=True, cache=True, fastmath=_REORDER)
def count_rule(
    nodes, left, right, mb, mc, place, inside, outside, scale, x, above, product, c
):  # fmt: skip
    """Add ``w * einsum("b,c,a->bca", inside[l], inside[q], outside[p])`` of nodes to c, a matrix.

    x, above and product have room for ROWS rows of b(h2) c(h3) and of the parent, and for one c.
    """
    pairs, ma = c.shape
    for start in range(0, len(nodes), ROWS):
        n = min(ROWS, len(nodes) - start)
        rows = x[: n * pairs].reshape(n, pairs)
        tops = above[: n * ma].reshape(n, ma)
        for k in range(n):
            p = nodes[start + k]
            vl, vr, vp = place[left[p]], place[right[p]], place[p]
            w = 0.0
            if scale[p] != -np.inf:
                w = exp(scale[left[p]] + scale[right[p]] - scale[p])
            for h2 in range(mb):
                y = w * inside[vl + h2]
                for h3 in range(mc):
                    rows[k, h2 * mc + h3] = y * inside[vr + h3]
            for h in range(ma):
                tops[k, h] = outside[vp + h]
        if n * pairs * ma > _BLAS:
            add = product[: pairs * ma].reshape(pairs, ma)
            np.dot(rows.T, tops, add)
            c += add
        else:
            for k in range(n):
                for pair in range(pairs):
                    y = rows[k, pair]
                    if y != 0.0:
                        for h in range(ma):
                            c[pair, h] += y * tops[k, h]


@njit(nogil=True, cache=True, fastmath=_REORDER)
def count_rules(
    first, last, members, nodes, left, right, sizes, offsets, tensor, place, inside, outside, scale,
    counts, sums, sum_offsets,
):  # fmt: skip
    """Expected uses of the rules `first` to `last - 1` by states, and their sums by parent state.

    Equivalent, summed over the nodes p = nodes[members[r]:members[r + 1]] of rule r, to
    ``counts[r] = tensor[r] * w * einsum("b,c,a->bca", inside[l], inside[q], outside[p])``.
    """
    widest, largest = 1, 1
    for r in range(first, last):
        widest = max(widest, sizes[r, 0] * sizes[r, 1])
        largest = max(largest, sizes[r, 0] * sizes[r, 1] * sizes[r, 2])
    x, above = np.empty(ROWS * widest), np.empty(ROWS * widest)
    product = np.empty(largest)
    for r in range(first, last):
        mb, mc, ma = sizes[r, 0], sizes[r, 1], sizes[r, 2]
        pairs = mb * mc
        if ROWS * ma > above.size:
            above = np.empty(ROWS * ma)
        c = counts[offsets[r] : offsets[r + 1]].reshape(pairs, ma)
        c[:] = 0.0
        count_rule(
            nodes[members[r] : members[r + 1]], left, right, mb, mc, place, inside, outside, scale,
            x, above, product, c,
        )  # fmt: skip
        t = tensor[offsets[r] : offsets[r + 1]].reshape(pairs, ma)
        s = sums[sum_offsets[r] : sum_offsets[r + 1]]
        s[:] = 0.0
        for pair in range(pairs):
            for h in range(ma):
                c[pair, h] *= t[pair, h]
                s[h] += c[pair, h]


@njit(nogil=True, cache=True)
def normalize_rules(first, last, parent_states, sizes, offsets, totals, least, tensor):
    """Divide each entry by the total of its parent state; entries below `least` become zero.

    A probability that is almost zero would make the scales overflow later.
    """
    for r in range(first, last):
        ma = sizes[r, 2]
        t = tensor[offsets[r] : offsets[r + 1]].reshape(sizes[r, 0] * sizes[r, 1], ma)
        for pair in range(t.shape[0]):
            for h in range(ma):
                total = totals[parent_states[r] + h]
                y = t[pair, h] / total if total > 0.0 else 0.0
                t[pair, h] = y if y >= least else 0.0


@njit(nogil=True, cache=True)
def back_off_rules(
    first, last, sizes, offsets, left_states, right_states, share, dependent, independent, counts
):
    """Mix the expected counts of each rule with those of simpler models of its children's states.

    With E(h2, h3, h1) of a rule used N times, E' = (N E + dependent D + independent I) / (N +
    dependent + independent), where D = E(h2, h1) E(h3, h1) / E(h1) has the children independent
    given the parent, and I = P(h2) P(h3) E(h1) independent of it; `share` is P(h), the share of
    each state in its label. E'(h1) = E(h1).
    """
    for r in range(first, last):
        mb, mc, ma = sizes[r, 0], sizes[r, 1], sizes[r, 2]
        if mb * mc == 1:
            continue
        e = counts[offsets[r] : offsets[r + 1]].reshape(mb, mc, ma)
        parent, left, right = np.zeros(ma), np.zeros((mb, ma)), np.zeros((mc, ma))
        total = 0.0
        for h2 in range(mb):
            for h3 in range(mc):
                for h in range(ma):
                    y = e[h2, h3, h]
                    total += y
                    parent[h] += y
                    left[h2, h] += y
                    right[h3, h] += y
        for h2 in range(mb):
            p2 = share[left_states[r] + h2]
            for h3 in range(mc):
                p23 = p2 * share[right_states[r] + h3]
                for h in range(ma):
                    if parent[h] > 0.0:
                        given = left[h2, h] * right[h3, h] / parent[h]
                        e[h2, h3, h] = (
                            total * e[h2, h3, h] + dependent * given + independent * p23 * parent[h]
                        ) / (total + dependent + independent)


@njit(nogil=True, cache=True)
def add_losses(
    label, n_states, was_split, place, inside, outside, state_offsets, states, losses
):  # fmt: skip
    """Add minus the logarithms of the ratios of each split to `losses`, at its first state.

    Equivalent, over the nodes p whose label was split and the first states h of splits, with the
    shares p1 and p2 of the two states by the expected counts `states`, to ``losses[h] -= log(1 - o1
    * i1 - o2 * i2 + (o1 + o2) * (p1 * i1 + p2 * i2))``, where i1, i2, o1 and o2 are the entries of
    ``inside`` and ``outside`` for h and h + 1. See ``split_merge.py``.
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
