"""Compiled loops over the chart of a sentence: inside, outside, and the cover.

The span of the words i to j - 1 is a cell. Cells are numbered bottom-up: by their end, and cells
with the same end from the last start to the first. So both parts of a span come before it (see
`cell_of`). A chart has a column for each end, with a row for each inner label, with a number for
each start. Preterminals are kept in separate arrays for each word.
"""

import math

import numpy as np

from eigentext.engine.compiled import njit


@njit(cache=True, nogil=True)
def cell_of(i, j):
    """The number of the cell from i to j."""
    return j * (j - 1) // 2 + j - 1 - i


# When a cell is done, items below FLOOR are raised to it, so that no product of two items and a
# rule underflows. An item below DOUBTFUL may come from raised items; `outside` sums up how much
# this can have changed. The factor of a column is between 2^-40 and 2^140.
FLOOR, DOUBTFUL, HIGH = 2.0**-440, 2.0**-300, 2.0**400
_LEAST_RULE, _LEAST_WORD = 2.0**-40, 2.0**-200


@njit(cache=True, nogil=True)
def inside(grammar, leaves, chart, spread, before, exponents):
    """Equivalent to ``chart[a, i, j] = sum(q * chart[b, i, k] * chart[c, k, j])`` over rules and k.

    ``leaves[i, b]`` is the score of preterminal b at word i. The sum over the right child comes
    first: w(a, b) = sum_c q(a -> b c) chart[c, k, j]. Then all starts i are done together: chart[a,
    :, j] += w(a, b) chart[b, :, k]. For a preterminal on the left, the sum is done once for each
    word: ``before[i, g]`` = sum_b q(a -> b c) leaves[i, b].

    A whole column, and the scores of its word, are divided by a power of two that brings the
    longest span in it to about 1. So ``exponents[j - 1]`` is taken out of every cell with word j -
    1. ``spread[k, b]`` bounds the starts at which chart[b, :, k] is not zero.

    Returns whether all numbers are in range. If not, the rest of the chart is not filled, and
    ``_wide_loops`` has the same loops for numbers of any size.
    """
    n, m = len(leaves), spread.shape[1]
    ii, it, ti, tt = grammar.ii, grammar.it, grammar.ti, grammar.tt
    cell = np.empty(m)
    if min(min(_least(ii.q), _least(it.q)), min(_least(ti.q), _least(tt.q))) < _LEAST_RULE:
        return False
    for j in range(1, n + 1):
        column, word = m * cell_of(j - 1, j), leaves[j - 1]
        exponents[j - 1] = _shrink(word)
        if j > 1:
            for r in range(len(tt.q)):
                x = tt.q[r] * leaves[j - 2, tt.left[r]] * word[tt.right[r]]
                chart[column + tt.parent[r] * j + j - 2] += x
            _sum_up(it, word, chart, spread, j - 1, j)
        highest = 0.0
        for k in range(j - 2, 0, -1):
            total = _lift(chart, column + k, j, cell)
            if total > 0.0:
                highest = max(highest, total)
                for g in range(len(ti.child)):
                    x = before[k - 1, g] * cell[ti.child[g]]
                    chart[column + ti.parent[g] * j + k - 1] += x
                _sum_up(ii, cell, chart, spread, k, j)
        longest, i = 0.0, 0
        while longest == 0.0 and i < j - 1:
            longest = _lift(chart, column + i, j, cell)
            i += 1
        highest = max(highest, longest)
        if longest == 0.0:
            for b in range(len(word)):
                longest = max(longest, word[b])
        exponent = math.frexp(longest)[1]
        if not (highest < HIGH and -140 <= exponent <= 40):
            return False
        exponents[j - 1] += exponent
        scale = math.ldexp(1.0, -exponent)
        for b in range(len(word)):
            word[b] *= scale
        if not (_least(word) >= _LEAST_WORD and highest * scale < HIGH):
            return False
        for g in range(len(ti.child)):
            before[j - 1, g] = _weight(ti, g, word)
        x = column
        for a in range(m):
            spread[j, a, 0] = j
            for i in range(j):
                if chart[x] > 0.0:
                    chart[x] *= scale
                    spread[j, a, 0] = min(spread[j, a, 0], i)
                    spread[j, a, 1] = i + 1
                x += 1
    return True


@njit(cache=True, nogil=True)
def _shrink(word):
    """Divide scores by a power of two so that the largest is about 1; return its exponent."""
    largest = 0.0
    for b in range(len(word)):
        largest = max(largest, word[b])
    exponent = math.frexp(largest)[1]
    for b in range(len(word)):
        if word[b] > 0.0:
            word[b] = max(math.ldexp(word[b], -exponent), FLOOR)
    return exponent


@njit(cache=True, nogil=True)
def _least(values):
    """The smallest value above zero."""
    least = np.inf
    for i in range(len(values)):
        if values[i] > 0.0:
            least = min(least, values[i])
    return least


@njit(cache=True, nogil=True)
def _sum_up(rules, right, chart, spread, k, j):
    """Add to column j the items with a right child in cell (k, j), whose values are `right`."""
    m = spread.shape[1]
    column, left = m * cell_of(j - 1, j), m * cell_of(k - 1, k)
    for g in range(len(rules.child)):
        b = rules.child[g]
        first, last = spread[k, b, 0], spread[k, b, 1]
        if first < last:
            w = _weight(rules, g, right)
            if w > 0.0:
                x, y = column + rules.parent[g] * j + first, left + b * k + first
                _add(chart, x, w, chart, y, last - first)


@njit(cache=True, nogil=True)
def outside(grammar, leaves, chart, spread, before, outer, outer_leaves, threshold):
    """Equivalent to the marginals, chart * outer, that reach a threshold: cells, labels, values.

    `outer` and `outer_leaves` have the outside values of the roots, and get those of all items. The
    survivors are in top-down order, and in a cell from the last label to the first. The doubts are
    returned too: the sum of the marginals of items that may be less probable than the chart says.
    It bounds the error of all other marginals. It is NaN if something is out of range.
    """
    n, m, n_tags = len(leaves), spread.shape[1], leaves.shape[1]
    ii, it, ti, tt = grammar.ii, grammar.it, grammar.ti, grammar.tt
    cell, outer_cell = np.empty(m), np.empty(m)
    after = np.zeros_like(before)  # what `before` is multiplied by
    above, since = np.empty(m, np.int64), np.empty(m, np.int64)  # labels of column j; first starts
    size, most, doubts = 0, max(m, n_tags), 0.0
    cells, labels, marginals = np.empty(most, np.int64), np.empty(most, np.int32), np.empty(most)
    for j in range(n, 0, -1):
        column, n_above = m * cell_of(j - 1, j), 0
        for a in range(m):
            since[a] = -1
        for k in range(j - 1):
            _gather(chart, column + k, j, cell)
            _gather(outer, column + k, j, outer_cell)
            if n_above > 0:
                for g in range(len(ti.child)):
                    o = outer[column + ti.parent[g] * j + k - 1]
                    if o > 0.0:
                        outer_cell[ti.child[g]] += o * before[k - 1, g]
                        after[k - 1, g] += o * cell[ti.child[g]]
                _hand_down(ii, cell, outer_cell, chart, outer, spread, k, j, above, since, n_above)
            for c in range(m):
                if cell[c] <= DOUBTFUL or not outer_cell[c] < np.inf:
                    doubts += cell[c] * outer_cell[c]
                if cell[c] > 0.0 and outer_cell[c] > 0.0:
                    outer[column + c * j + k] = outer_cell[c]
                    if since[c] < 0:
                        since[c], above[n_above] = k, c
                        n_above += 1
            if size + m > len(cells):
                cells, labels = _grown(cells, size + m), _grown(labels, size + m)
                marginals = _grown(marginals, size + m)
            size = _survive(
                cell, outer_cell, threshold, cell_of(k, j), 0, cells, labels, marginals, size
            )
        word, outer_word = leaves[j - 1], outer_leaves[j - 1]
        if n_above > 0:
            for r in range(len(tt.q)):
                o = outer[column + tt.parent[r] * j + j - 2] * tt.q[r]
                outer_leaves[j - 2, tt.left[r]] += o * word[tt.right[r]]
                outer_word[tt.right[r]] += o * leaves[j - 2, tt.left[r]]
            _hand_down(it, word, outer_word, chart, outer, spread, j - 1, j, above, since, n_above)
        for g in range(len(ti.child)):
            if after[j - 1, g] > 0.0:
                for r in range(ti.offsets[g], ti.offsets[g + 1]):
                    outer_word[ti.sibling[r]] += ti.q[r] * after[j - 1, g]
        if size + n_tags > len(cells):
            cells, labels = _grown(cells, size + n_tags), _grown(labels, size + n_tags)
            marginals = _grown(marginals, size + n_tags)
        size = _survive(
            word, outer_word, threshold, cell_of(j - 1, j), m, cells, labels, marginals, size
        )
    return cells[:size], labels[:size], marginals[:size], doubts


@njit(cache=True, nogil=True)
def _hand_down(rules, right, outer_right, chart, outer, spread, k, j, above, since, n_above):
    """From the outside values of cells (i, j), i < k, to those of (i, k) and of (k, j)."""
    m = spread.shape[1]
    column, left = m * cell_of(j - 1, j), m * cell_of(k - 1, k)
    for h in range(n_above):
        a = above[h]
        for g in range(rules.groups[a], rules.groups[a + 1]):
            b = rules.child[g]
            first, last = max(spread[k, b, 0], since[a]), spread[k, b, 1]
            if first < last:
                w = _weight(rules, g, right)
                if w > 0.0:
                    x, y = column + a * j + first, left + b * k + first
                    _add(outer, y, w, outer, x, last - first)
                    v = _dot(outer, x, chart, y, last - first)
                    for r in range(rules.offsets[g], rules.offsets[g + 1]):
                        outer_right[rules.sibling[r]] += rules.q[r] * v


@njit(cache=True, nogil=True)
def _survive(values, outer, threshold, cell, first, cells, labels, marginals, size):
    """Append the items of a cell whose marginal is above zero and not below the threshold."""
    for a in range(len(values) - 1, -1, -1):
        mu = values[a] * outer[a]
        if mu > 0.0 and mu >= threshold:
            cells[size], labels[size], marginals[size] = cell, first + a, mu
            size += 1
    return size


@njit(cache=True, nogil=True)
def cover(prior, leaves, chart):
    """Equivalent to the fewest items that cover all words side by side; then the most probable.

    The score of an item is prior * inside. The prior of a preterminal is never zero here. Returns
    labels, starts and ends, from left to right.
    """
    n, m = len(leaves), len(prior) - leaves.shape[1]
    pieces, best = np.full(n + 1, n + 1), np.full(n + 1, -np.inf)
    label, start = np.empty(n + 1, np.int32), np.empty(n + 1, np.int32)
    pieces[0], best[0] = 0, 0.0
    for j in range(1, n + 1):
        for i in range(j - 1, -1, -1):
            top, a = 0.0, -1
            if i == j - 1:
                for b in range(leaves.shape[1]):
                    p = leaves[i, b] * max(prior[m + b], 1e-100)
                    if p > top:
                        top, a = p, m + b
            else:
                for c in range(m):
                    p = chart[m * cell_of(j - 1, j) + c * j + i] * prior[c]
                    if p > top:
                        top, a = p, c
            if a >= 0:
                s = best[i] + math.log(top)
                if (pieces[i] + 1, -s) < (pieces[j], -best[j]):
                    pieces[j], best[j], label[j], start[j] = pieces[i] + 1, s, a, i
    labels, starts = np.empty(pieces[n], np.int32), np.empty(pieces[n], np.int32)
    ends = np.empty(pieces[n], np.int32)
    j = n
    for piece in range(pieces[n] - 1, -1, -1):
        labels[piece], starts[piece], ends[piece] = label[j], start[j], j
        j = start[j]
    return labels, starts, ends


@njit(cache=True, nogil=True)
def _weight(rules, g, values):
    """The sum of q * values over the siblings of a group of rules."""
    w = 0.0
    for r in range(rules.offsets[g], rules.offsets[g + 1]):
        w += rules.q[r] * values[rules.sibling[r]]
    return w


@njit(cache=True, nogil=True)
def _gather(chart, x, step, cell):
    """Equivalent to ``cell[:] = chart[x::step]``; return the sum."""
    total = 0.0
    for c in range(len(cell)):
        cell[c] = chart[x]
        total += chart[x]
        x += step
    return total


@njit(cache=True, nogil=True)
def _lift(chart, x, step, cell):
    """The same, after values above zero and below FLOOR were raised to FLOOR."""
    total = 0.0
    for c in range(len(cell)):
        if 0.0 < chart[x] < FLOOR:
            chart[x] = FLOOR
        cell[c] = chart[x]
        total += chart[x]
        x += step
    return total


@njit(cache=True, nogil=True)
def _add(to, x, w, of, y, size):
    """``to[x : x + size] += w * of[y : y + size]``. Unsigned places let the compiler vectorize."""
    x, y = np.uint64(x), np.uint64(y)
    for i in range(np.uint64(size)):
        to[x + i] += w * of[y + i]


@njit(cache=True, nogil=True)
def _dot(of, x, by, y, size):
    """``of[x : x + size] @ by[y : y + size]``."""
    x, y, total = np.uint64(x), np.uint64(y), 0.0
    for i in range(np.uint64(size)):
        total += of[x + i] * by[y + i]
    return total


@njit(cache=True, nogil=True)
def _grown(x, size):
    """A copy with room for `size` entries, and at least twice the old room."""
    y = np.empty(max(size, 2 * len(x)), x.dtype)
    for i in range(len(x)):
        y[i] = x[i]
    return y
