r"""The greedy clustering of Brown et al. (1992): a window of K + 1 classes, and the cheapest merge.

Let N(i, j) count the pairs of classes of the window, and let :math:`l_i` and :math:`r_i` count all
tokens of class i as first and as second words. With :math:`h(x) = x \log x` and the sums
:math:`L_i` of row i and :math:`R_i` of column i of N, the average mutual information of the window
is, up to constants,

.. math:: \sum_{i, j} h(N(i, j)) - \sum_i L_i \log l_i - \sum_i R_i \log r_i .

Merging i and j changes rows and columns i and j only. The loss follows from the sums
:math:`A(i, j) = \sum_c h(N(i, c) + N(j, c))`, the same sums B(i, j) along columns, and a few
numbers. A new word changes A only where it occurs beside a class, and so does a merge. Brown et al.
update all :math:`K^2` losses for each word. Here a word costs O(K d), where d is the number of
classes beside it, and a search for the least of all losses.
"""

from typing import NamedTuple

import numpy as np

from eigentext.engine.compiled import njit


class Side(NamedTuple):
    """The counts of pairs from one side: with the first words in rows, or with the second."""

    N: np.ndarray  # (slots + fixed, slots + fixed): counts of pairs of classes
    A: np.ndarray  # (slots, slots): A(i, j); the diagonal has no meaning
    h: np.ndarray  # (slots,): the sum of h over each row of N
    inside: np.ndarray  # (slots,): the sum of each row of N
    total: np.ndarray  # (slots,): the tokens of each class, in the window or not
    alone: np.ndarray  # (slots,): inside log total


@njit(cache=True, nogil=True)
def add_words(words, after, before, slots, first, second, losses, table):
    """Equivalent to adding each word as a class and merging the two classes that lose least.

    Parameters
    ----------
    words : int array
        The words by falling frequency.
    after, before : triples (indptr, indices, data)
        The counts of pairs of words in rows, and their transpose.
    slots : int array
        The slot of each word, which is changed. It is -1 for words that are not in the window yet.
        Fixed classes have the slots ``len(losses)`` and above.
    first, second : Side
        The window, which is changed. `second` has the transposes.
    losses : float array, shape (slots, slots)
        All infinite. At the end, those of the pairs (i, j) with j < i.
    table : float array
        x log x of small whole numbers.
    """
    S = len(losses)
    head, tail = np.full(S, -1, np.int64), np.full(S, -1, np.int64)  # the words of a slot, a list
    following = np.full(len(slots), -1, np.int64)
    used, touched = np.zeros(S, np.bool_), np.zeros(S, np.bool_)
    free = 0
    for k in range(len(words)):
        w, x = words[k], free
        slots[w], head[x], tail[x], used[x] = x, w, w, True
        _count(first, second, after, slots, w, x)
        _count(second, first, before, slots, w, x)
        _add(first, used, x, table)
        _add(second, used, x, table)
        for i in range(S):
            touched[i] = i == x or first.N[i, x] > 0 or second.N[i, x] > 0
        _lose(first, second, used, touched, losses, table)
        if k < S - 1:
            free = k + 1
            continue
        i, j = _cheapest(losses)
        if first.total[i] < first.total[j]:
            i, j = j, i
        for c in range(S):
            touched[c] = c == i or first.N[c, j] > 0 or second.N[c, j] > 0
            losses[max(c, j), min(c, j)] = np.inf
        used[j] = touched[j] = False
        _merge(first, used, i, j, table)
        _merge(second, used, i, j, table)
        _lose(first, second, used, touched, losses, table)
        w = head[j]
        while w >= 0:
            slots[w] = i
            w = following[w]
        following[tail[i]], tail[i], free = head[j], tail[j], j


@njit(cache=True, nogil=True)
def _count(side, other, pairs, slots, w, x):
    """Count the pairs of a new word that stands in row x of one side."""
    indptr, indices, data = pairs
    for k in range(indptr[w], indptr[w + 1]):
        side.total[x] += data[k]
        c = slots[indices[k]]
        if c >= 0:
            side.N[x, c] += data[k]
            if c != x:
                other.N[c, x] += data[k]


@njit(cache=True, nogil=True)
def _add(side, used, x, table):
    """Update the sums for a new row x and a new column x."""
    N, A = side.N, side.A
    S = len(A)
    for i in range(S):
        if not used[i] or i == x or N[i, x] == 0:
            continue
        side.inside[i] += N[i, x]
        side.h[i] += _h(N[i, x], table)
        for j in range(S):
            if used[j] and j != x and j != i and (j > i or N[j, x] == 0):
                A[i, j] += _h(N[i, x] + N[j, x], table)
                A[j, i] = A[i, j]
    for j in range(S):
        A[x, j] = side.h[j]
    for c in range(len(N)):
        more = N[x, c]
        if more == 0:
            continue
        side.inside[x] += more
        side.h[x] += _h(more, table)
        for j in range(S):
            A[x, j] += _h(N[j, c] + more, table) - _h(N[j, c], table)
    for j in range(S):
        A[j, x] = A[x, j]


@njit(cache=True, nogil=True)
def _merge(side, used, i, j, table):
    """Merge column j into column i and row j into row i; slot j becomes free."""
    N, A = side.N, side.A
    S, n = len(A), len(N)
    for k in range(S):
        more = N[k, j]
        if not used[k] or more == 0:
            continue
        side.h[k] += _h(N[k, i] + more, table) - _h(N[k, i], table) - _h(more, table)
        for m in range(S):
            if used[m] and m != k and (m > k or N[m, j] == 0):
                old, new = N[k, i] + N[m, i], more + N[m, j]
                A[k, m] += _h(old + new, table) - _h(old, table) - _h(new, table)
                A[m, k] = A[k, m]
    for k in range(n):
        N[k, i] += N[k, j]
        N[k, j] = 0
    for c in range(n):
        more, old = N[j, c], N[i, c]
        if more == 0:
            continue
        side.h[i] += _h(old + more, table) - _h(old, table)
        for m in range(S):
            if used[m] and m != i:
                A[i, m] += _h(N[m, c] + old + more, table) - _h(N[m, c] + old, table)
        N[i, c] += more
        N[j, c] = 0
    for m in range(S):
        A[m, i] = A[i, m]
    side.inside[i] += side.inside[j]
    side.total[i] += side.total[j]
    side.h[j] = side.inside[j] = side.total[j] = 0


@njit(cache=True, nogil=True)
def _lose(first, second, used, touched, losses, table):
    """Compute the losses of all pairs with a class that was touched."""
    S = len(losses)
    for i in range(S):
        if not (used[i] and touched[i]):
            continue
        for side in (first, second):
            side.alone[i] = side.inside[i] * np.log(max(side.total[i], 1))
    for i in range(S):
        if not (used[i] and touched[i]):
            continue
        for j in range(S):
            if not used[j] or j == i or (touched[j] and j > i):
                continue
            a, b = max(i, j), min(i, j)
            losses[a, b] = _loss(first, second, a, b, table)


@njit(cache=True, nogil=True)
def _loss(first, second, i, j, table):
    """Compute what merging i and j loses."""
    N = first.N
    ii, ij, ji, jj = N[i, i], N[i, j], N[j, i], N[j, j]
    loss = first.h[i] + first.h[j] + second.h[i] + second.h[j]
    loss -= _h(ii, table) + _h(ij, table) + _h(ji, table) + _h(jj, table)  # they are in two sums
    loss -= first.A[i, j] - _h(ii + ji, table) - _h(ij + jj, table)
    loss -= second.A[i, j] - _h(ii + ij, table) - _h(ji + jj, table)
    loss -= _h(ii + ij + ji + jj, table)
    return loss + _spread(first, i, j) + _spread(second, i, j)


@njit(cache=True, nogil=True)
def _spread(side, i, j):
    """Compute what a merge loses because each half now shares the tokens of both."""
    inside = side.inside[i] + side.inside[j]
    if inside == 0:
        return 0.0
    return inside * np.log(side.total[i] + side.total[j]) - side.alone[i] - side.alone[j]


@njit(cache=True, nogil=True)
def _cheapest(losses):
    """Return the pair with the least loss; among equal ones, the first."""
    least, a, b = np.inf, 1, 0
    for i in range(1, len(losses)):
        row = losses[i]
        for j in range(i):
            if row[j] < least:
                least, a, b = row[j], i, j
    return a, b


@njit(cache=True, nogil=True)
def _h(x, table):
    """Compute x log x."""
    if x < len(table):
        return table[x]
    return x * np.log(x)
