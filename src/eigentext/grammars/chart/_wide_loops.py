"""Compiled loops: inside and outside, over charts and forests, for numbers of any size.

A double reaches from 2^-1074 to 2^1024. The items of a long sentence may be farther apart: over one
span, one label may have a chain of likely rules and another a chain of unlikely ones. A wide number
is a pair (x, e) that stands for x 2^(512 e), with x = 0 or 2^-256 <= |x| < 2^256. So the product of
two x is always in range. If the e of two numbers differ by 2 or more, the smaller does not count in
a sum. Each item, or in a forest each state of an item, has its own e. Multiplication by a power of
two is exact. So if the loops of ``_chart_loops`` and ``_forest_loops`` stay in range, these loops
give the same numbers up to rounding, several times slower.
"""

import math

import numpy as np

from eigentext.engine.compiled import njit

ZERO = -(2**28)  # the e of zero: below all others, also after some additions
_UP, _DOWN = 2.0**512, 2.0**-512
_MOST, _LEAST = 2.0**256, 2.0**-256


@njit(cache=True, nogil=True)
def widen(values, levels):
    """Bring finite numbers into range: `values` has x and `levels` e. Both change in place."""
    for i in range(len(values)):
        values[i], levels[i] = _fit(values[i], levels[i])


@njit(cache=True, nogil=True)
def inside_wide(grammar, leaves, chart, spread, before):
    """Equivalent to ``_chart_loops.inside`` without its factors for words.

    `leaves`, `chart` and `before` are pairs of an array of x and an array of e. `chart` and
    `before` must be zeros.
    """
    (chart_x, chart_e), (before_x, before_e) = chart, before
    leaves_x, leaves_e = leaves
    n, m = len(leaves_x), spread.shape[1]
    ti, tt = grammar.ti, grammar.tt
    cell = np.empty(m), np.empty(m, np.int32)
    for j in range(1, n + 1):
        column, word = m * (j * (j - 1) // 2), (leaves_x[j - 1], leaves_e[j - 1])
        if j > 1:
            for r in range(len(tt.q)):
                b, c = tt.left[r], tt.right[r]
                x, e = _times(leaves_x[j - 2, b], leaves_e[j - 2, b], word[0][c], word[1][c])
                x, e = _by(tt.q[r], x, e)
                _add_to(chart_x, chart_e, column + tt.parent[r] * j + j - 2, x, e)
            _sum_up(grammar.it, word, chart, spread, j - 1, j)
        for k in range(j - 2, 0, -1):
            if _gather(chart, column + k, j, cell):
                for g in range(len(ti.child)):
                    c = ti.child[g]
                    x, e = _times(before_x[k - 1, g], before_e[k - 1, g], cell[0][c], cell[1][c])
                    _add_to(chart_x, chart_e, column + ti.parent[g] * j + k - 1, x, e)
                _sum_up(grammar.ii, cell, chart, spread, k, j)
        for g in range(len(ti.child)):
            before_x[j - 1, g], before_e[j - 1, g] = _weight(ti, g, word)
        y = column
        for a in range(m):
            spread[j, a, 0] = j
            for i in range(j):
                chart_x[y], chart_e[y] = _fit(chart_x[y], chart_e[y])
                if chart_x[y] != 0.0:
                    spread[j, a, 0] = min(spread[j, a, 0], i)
                    spread[j, a, 1] = i + 1
                y += 1


@njit(cache=True, nogil=True)
def _sum_up(rules, right, chart, spread, k, j):
    """Add to column j the items with a right child in cell (k, j), whose values are `right`."""
    chart_x, chart_e = chart
    m = spread.shape[1]
    column, left = m * (j * (j - 1) // 2), m * (k * (k - 1) // 2)
    for g in range(len(rules.child)):
        b = rules.child[g]
        if spread[k, b, 0] < spread[k, b, 1]:
            w, d = _weight(rules, g, right)
            if w != 0.0:
                to, of = column + rules.parent[g] * j, left + b * k
                for i in range(spread[k, b, 0], spread[k, b, 1]):
                    if chart_x[of + i] != 0.0:
                        x, e = _times(w, d, chart_x[of + i], chart_e[of + i])
                        _add_to(chart_x, chart_e, to + i, x, e)


@njit(cache=True, nogil=True)
def outside_wide(grammar, leaves, chart, spread, before, outer, outer_leaves):
    """Equivalent to the outside values of all items below the roots, which have theirs.

    `leaves`, `chart` and `before` are those of `inside_wide`. `outer` and `outer_leaves` are pairs
    of arrays like them. If the inside value of an item is zero, its outside value has no meaning.
    """
    outer_x, outer_e = outer
    leaves_x, leaves_e = leaves
    tags_x, tags_e = outer_leaves
    before_x, before_e = before
    n, m = len(leaves_x), spread.shape[1]
    ti, tt = grammar.ti, grammar.tt
    cell, above = (np.empty(m), np.empty(m, np.int32)), (np.empty(m), np.empty(m, np.int32))
    after_x, after_e = np.zeros_like(before_x), np.full_like(before_e, ZERO)
    for j in range(n, 0, -1):
        column, word = m * (j * (j - 1) // 2), (leaves_x[j - 1], leaves_e[j - 1])
        above_word = tags_x[j - 1], tags_e[j - 1]
        for k in range(j - 1):
            if not _gather(chart, column + k, j, cell):
                continue
            _gather(outer, column + k, j, above)
            if k > 0:
                for g in range(len(ti.child)):
                    y, c = column + ti.parent[g] * j + k - 1, ti.child[g]
                    if outer_x[y] != 0.0:
                        x, e = _times(
                            outer_x[y], outer_e[y], before_x[k - 1, g], before_e[k - 1, g]
                        )
                        _add_to(above[0], above[1], c, x, e)
                        x, e = _times(outer_x[y], outer_e[y], cell[0][c], cell[1][c])
                        after_x[k - 1, g], after_e[k - 1, g] = _plus(
                            after_x[k - 1, g], after_e[k - 1, g], x, e
                        )
                _hand_down(grammar.ii, cell, above, chart, outer, spread, k, j)
            for c in range(m):
                y = column + c * j + k
                if cell[0][c] != 0.0:
                    outer_x[y], outer_e[y] = _fit(above[0][c], above[1][c])
                else:
                    outer_x[y], outer_e[y] = 0.0, ZERO
        if j > 1:
            for r in range(len(tt.q)):
                y, b, c = column + tt.parent[r] * j + j - 2, tt.left[r], tt.right[r]
                if outer_x[y] != 0.0:
                    o, d = _by(tt.q[r], outer_x[y], outer_e[y])
                    x, e = _times(o, d, word[0][c], word[1][c])
                    _add_to(tags_x[j - 2], tags_e[j - 2], b, x, e)
                    x, e = _times(o, d, leaves_x[j - 2, b], leaves_e[j - 2, b])
                    _add_to(above_word[0], above_word[1], c, x, e)
            _hand_down(grammar.it, word, above_word, chart, outer, spread, j - 1, j)
        for g in range(len(ti.child)):
            y, d = _fit(after_x[j - 1, g], after_e[j - 1, g])
            if y != 0.0:
                for r in range(ti.offsets[g], ti.offsets[g + 1]):
                    x, e = _by(ti.q[r], y, d)
                    _add_to(above_word[0], above_word[1], ti.sibling[r], x, e)


@njit(cache=True, nogil=True)
def _hand_down(rules, right, above, chart, outer, spread, k, j):
    """From the outside values of cells (i, j), i < k, to those of (i, k) and (k, j)."""
    (chart_x, chart_e), (outer_x, outer_e) = chart, outer
    m = spread.shape[1]
    column, left = m * (j * (j - 1) // 2), m * (k * (k - 1) // 2)
    for g in range(len(rules.child)):
        b = rules.child[g]
        if spread[k, b, 0] < spread[k, b, 1]:
            w, d = _weight(rules, g, right)
            if w != 0.0:
                of, to, v, f = column + rules.parent[g] * j, left + b * k, 0.0, ZERO
                for i in range(spread[k, b, 0], spread[k, b, 1]):
                    if outer_x[of + i] != 0.0 and chart_x[to + i] != 0.0:
                        o, p = outer_x[of + i], outer_e[of + i]
                        x, e = _times(w, d, o, p)
                        _add_to(outer_x, outer_e, to + i, x, e)
                        x, e = _times(o, p, chart_x[to + i], chart_e[to + i])
                        v, f = _plus(v, f, x, e)
                v, f = _fit(v, f)
                for r in range(rules.offsets[g], rules.offsets[g + 1]):
                    x, e = _by(rules.q[r], v, f)
                    _add_to(above[0], above[1], rules.sibling[r], x, e)


@njit(cache=True, nogil=True)
def multiply(values, outer):
    """Equivalent to ``outer *= values`` for pairs of arrays. `outer[0]` then has plain doubles."""
    (x, e), (y, f) = values, outer
    for i in range(len(x)):
        z, d = _fit(y[i], f[i])
        z, d = _times(x[i], e[i], z, d)
        y[i] = _double(z, d)


@njit(cache=True, nogil=True)
def cover_wide(prior, leaves, chart):
    """Equivalent to ``_chart_loops.cover``, in logarithms."""
    (leaves_x, leaves_e), (chart_x, chart_e) = leaves, chart
    n, n_tags = leaves_x.shape
    m, base = len(prior) - n_tags, 512 * math.log(2.0)
    pieces, best = np.full(n + 1, n + 1), np.full(n + 1, -np.inf)
    label, start = np.empty(n + 1, np.int32), np.empty(n + 1, np.int32)
    pieces[0], best[0] = 0, 0.0
    for j in range(1, n + 1):
        for i in range(j - 1, -1, -1):
            top, a = -np.inf, -1
            if i == j - 1:
                for b in range(n_tags):
                    if leaves_x[i, b] > 0.0:
                        s = math.log(leaves_x[i, b]) + base * leaves_e[i, b]
                        s += math.log(max(prior[m + b], 1e-100))
                        if s > top:
                            top, a = s, m + b
            else:
                for c in range(m):
                    y = m * (j * (j - 1) // 2) + c * j + i
                    if chart_x[y] > 0.0 and prior[c] > 0.0:
                        s = math.log(chart_x[y]) + base * chart_e[y] + math.log(prior[c])
                        if s > top:
                            top, a = s, c
            if a >= 0:
                s = best[i] + top
                if (pieces[i] + 1, -s) < (pieces[j], -best[j]):
                    pieces[j], best[j], label[j], start[j] = pieces[i] + 1, s, a, i
    found, j = np.empty((pieces[n], 3), np.int32), n
    for piece in range(pieces[n] - 1, -1, -1):
        found[piece, 0], found[piece, 1], found[piece, 2] = label[j], start[j], j
        j = start[j]
    return found


@njit(cache=True, nogil=True)
def inside_forest_wide(
    label, groups, rule, edges, left, right, n_states, sizes, offsets, tensor, place, x, e
):
    """Equivalent to ``_forest_loops.inside_forest`` without scales: numbers `x` and `e`."""
    widest = 0
    for g in range(len(rule)):
        widest = max(widest, sizes[rule[g], 0] * sizes[rule[g], 1])
    sums_x, sums_e = np.empty(widest), np.empty(widest, np.int64)
    for p in range(len(label)):
        v, ma = place[p], n_states[label[p]]
        for g in range(groups[p], groups[p + 1]):
            mb, mc, t = sizes[rule[g], 0], sizes[rule[g], 1], offsets[rule[g]]
            for pair in range(mb * mc):
                sums_x[pair], sums_e[pair] = 0.0, ZERO
            for edge in range(edges[g], edges[g + 1]):
                vl, vr = place[left[edge]], place[right[edge]]
                for pair in range(mb * mc):
                    b, c = vl + pair // mc, vr + pair % mc
                    z, d = _times(x[b], e[b], x[c], e[c])
                    _add_to(sums_x, sums_e, pair, z, d)
            for pair in range(mb * mc):
                y, f = _fit(sums_x[pair], sums_e[pair])
                if y != 0.0:
                    for h in range(ma):
                        z, d = _by(tensor[t + pair * ma + h], y, f)
                        _add_to(x, e, v + h, z, d)
        if groups[p] < groups[p + 1]:
            for h in range(v, v + ma):
                x[h], e[h] = _fit(x[h], e[h])


@njit(cache=True, nogil=True)
def outside_forest_wide(
    label, groups, rule, edges, left, right, n_states, sizes, offsets, tensor, place, x, e,
    outer_x, outer_e, posterior,
):  # fmt: skip
    """Equivalent to ``_forest_loops.outside_forest`` without scales.

    A posterior is a double. If signs cancel, it may be very large, but it is never infinite.
    """
    widest = 0
    for g in range(len(rule)):
        widest = max(widest, sizes[rule[g], 0] * sizes[rule[g], 1])
    above_x, above_e = np.empty(widest), np.empty(widest, np.int64)
    for p in range(len(label) - 1, -1, -1):
        v, ma = place[p], n_states[label[p]]
        for h in range(v, v + ma):
            outer_x[h], outer_e[h] = _fit(outer_x[h], outer_e[h])
        for g in range(groups[p], groups[p + 1]):
            mb, mc, t = sizes[rule[g], 0], sizes[rule[g], 1], offsets[rule[g]]
            for pair in range(mb * mc):
                y, f = 0.0, ZERO
                for h in range(ma):
                    z, d = _by(tensor[t + pair * ma + h], outer_x[v + h], outer_e[v + h])
                    y, f = _plus(y, f, z, d)
                above_x[pair], above_e[pair] = _fit(y, f)
            for edge in range(edges[g], edges[g + 1]):
                vl, vr = place[left[edge]], place[right[edge]]
                total, level = 0.0, ZERO
                for pair in range(mb * mc):
                    b, c = vl + pair // mc, vr + pair % mc
                    y, f = _times(above_x[pair], above_e[pair], x[c], e[c])
                    _add_to(outer_x, outer_e, b, y, f)
                    z, d = _times(y, f, x[b], e[b])
                    total, level = _plus(total, level, z, d)
                    z, d = _times(above_x[pair], above_e[pair], x[b], e[b])
                    _add_to(outer_x, outer_e, c, z, d)
                total, level = _fit(total, level)
                posterior[edge] = _double(total, level)


@njit(cache=True, nogil=True)
def _fit(x, e):
    """The same number with x in range. Two steps are enough for any double."""
    if x == 0.0:
        return 0.0, ZERO
    for _ in range(2):
        if abs(x) >= _MOST:
            x, e = x * _DOWN, e + 1
        elif abs(x) < _LEAST:
            x, e = x * _UP, e - 1
    return x, e


@njit(cache=True, nogil=True)
def _double(x, e):
    """The nearest double to a number in range; at most x 2^512."""
    if e > 0:
        return x * _UP
    if e == 0:
        return x
    return x * _DOWN * (_DOWN if e == -2 else 1.0) if e >= -2 else 0.0


@njit(cache=True, nogil=True)
def _times(x, e, y, f):
    """The product of two numbers in range, in range."""
    z, d = x * y, e + f
    if abs(z) >= _MOST:
        return z * _DOWN, d + 1
    if abs(z) < _LEAST:
        return (z * _UP, d - 1) if z != 0.0 else (0.0, ZERO)
    return z, d


@njit(cache=True, nogil=True)
def _by(q, x, e):
    """The product of any double and a number in range, in range."""
    y, f = _fit(q, 0)
    return _times(y, f, x, e)


@njit(cache=True, nogil=True)
def _plus(x, e, y, f):
    """The sum of two numbers. Many may be added before the sum must be brought into range."""
    if e == f:
        return x + y, e
    if e < f:
        x, e, y, f = y, f, x, e
    if x == 0.0:
        return y, f
    return (x + y * _DOWN, e) if e - f == 1 else (x, e)


@njit(cache=True, nogil=True)
def _add_to(values, levels, i, x, e):
    """Add (x, e) to number i."""
    values[i], levels[i] = _plus(values[i], levels[i], x, e)


@njit(cache=True, nogil=True)
def _weight(rules, g, values):
    """The sum of q * values over the siblings of a group of rules."""
    w, d = 0.0, ZERO
    for r in range(rules.offsets[g], rules.offsets[g + 1]):
        c = rules.sibling[r]
        if values[0][c] != 0.0:
            x, e = _by(rules.q[r], values[0][c], values[1][c])
            w, d = _plus(w, d, x, e)
    return _fit(w, d)


@njit(cache=True, nogil=True)
def _gather(chart, y, step, cell):
    """Copy the numbers ``chart[y::step]``, in range; return whether any is not zero."""
    some = False
    for c in range(len(cell[0])):
        cell[0][c], cell[1][c] = _fit(chart[0][y], chart[1][y])
        some |= cell[0][c] != 0.0
        y += step
    return some
