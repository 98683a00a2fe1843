r"""Exchange steps: move one word at a time to the class that fits it best.

With :math:`h(x) = x \log x`, the log-likelihood of a class bigram is, up to a constant,

.. math:: F = \sum_{c, c'} h(N(c, c')) - \sum_c h(N(c, \cdot)) - \sum_c h(N(\cdot, c)) .

A word w that has left its class changes row b and column b of N when it joins class b. So the gain
of b is a sum over the classes c that occur beside w, and all gains together are sums of rows:

.. math:: g(b) = \sum_{c} h(N(b, c) + R(c)) - h(N(b, c)) + \sum_{c} h(N(c, b) + L(c)) - h(N(c, b))
          - \dots

where R(c) and L(c) count the classes after and before w. `N` and its transpose are both kept, so
that both sums run along rows.
"""

import numpy as np

from eigentext.engine.compiled import njit

_LEAST = 1e-8  # a move must gain this much log-likelihood per token of the word: no rounding errors


@njit(cache=True, nogil=True)
def sweep(after, before, labels, order, N, T, left, right, sizes, table):
    """Equivalent to moving each word, in order, to the class with the largest F.

    Parameters
    ----------
    after, before : triples (indptr, indices, data)
        The counts of pairs of words in rows, and their transpose.
    labels : int array
        The class of each word. It is changed, as are all arrays of counts.
    order : int array
        The words to move. A word that is alone in its class stays.
    N, T : int arrays, shape (n_classes + n_fixed, n_classes + n_fixed)
        The counts of pairs of classes, and their transpose. No word joins a class of the last rows
        (``len(sizes)`` and above).
    left, right : int arrays
        The sums of the rows and columns of N.
    sizes : int array, shape (n_classes,)
        The number of words in each class.
    table : float array
        x log x of small whole numbers.

    Returns
    -------
    int
        The number of words that moved.
    """
    K, n = len(sizes), len(N)
    R, L = np.zeros(n, N.dtype), np.zeros(n, N.dtype)
    gains = np.zeros(K)
    moved = 0
    for w in order:
        a = labels[w]
        if sizes[a] == 1:
            continue
        own = _neighbors(after, labels, w, R)
        _neighbors(before, labels, w, L)
        n_after, n_before = own, own
        for c in range(n):
            n_after += R[c]
            n_before += L[c]
        _shift(N, T, left, right, R, L, a, own, n_after, n_before, -1)
        _gains(N, T, left, right, R, L, own, n_after, n_before, table, gains)
        best = a
        least = gains[a] + _LEAST * (n_after + n_before)
        for b in range(K):
            if gains[b] > least:
                best, least = b, gains[b]
        _shift(N, T, left, right, R, L, best, own, n_after, n_before, 1)
        if best != a:
            labels[w] = best
            sizes[a] -= 1
            sizes[best] += 1
            moved += 1
        for c in range(n):
            R[c] = 0
            L[c] = 0
    return moved


@njit(cache=True, nogil=True)
def _neighbors(pairs, labels, w, counts):
    """Count the classes beside a word, without the word itself; return how often that occurs."""
    indptr, indices, data = pairs
    own = counts[0] - counts[0]
    for k in range(indptr[w], indptr[w + 1]):
        u = indices[k]
        if u == w:
            own += data[k]
        else:
            counts[labels[u]] += data[k]
    return own


@njit(cache=True, nogil=True)
def _shift(N, T, left, right, R, L, b, own, n_after, n_before, sign):
    """Add a word to class b (sign 1), or take it out (sign -1).

    While the word is in no class, its neighbors still count in `left` and `right`: their sums do
    not depend on its class.
    """
    for c in range(len(R)):
        N[b, c] += sign * R[c]
        N[c, b] += sign * L[c]
        T[c, b] += sign * R[c]
        T[b, c] += sign * L[c]
    N[b, b] += sign * own
    T[b, b] += sign * own
    left[b] += sign * n_after
    right[b] += sign * n_before


@njit(cache=True, nogil=True)
def _gains(N, T, left, right, R, L, own, n_after, n_before, table, gains):
    """Compute what F gains if the word joins each class."""
    K = len(gains)
    for b in range(K):
        gains[b] = (
            _h(left[b], table)
            - _h(left[b] + n_after, table)
            + _h(right[b], table)
            - _h(right[b] + n_before, table)
        )
    for c in range(len(R)):
        if R[c] > 0:
            _add_row(T[c], R[c], table, gains)
        if L[c] > 0:
            _add_row(N[c], L[c], table, gains)
    for b in range(K):  # the pairs inside of b are in both sums
        if R[b] > 0 or L[b] > 0 or own > 0:
            x = N[b, b]
            gains[b] += _h(x + R[b] + L[b] + own, table) + _h(x, table)
            gains[b] -= _h(x + R[b], table) + _h(x + L[b], table)


@njit(cache=True, nogil=True)
def _add_row(row, more, table, gains):
    """Add h(x + more) - h(x) for each x of a row."""
    largest = row[0]
    for b in range(len(gains)):
        largest = max(largest, row[b])
    if largest + more < len(table):  # this loop has no branches
        m = np.uint32(more)
        for b in range(len(gains)):
            x = np.uint32(row[b])  # an index without a sign is not checked
            gains[b] += table[x + m] - table[x]
        return
    for b in range(len(gains)):
        gains[b] += _h(row[b] + more, table) - _h(row[b], table)


@njit(cache=True, nogil=True)
def _h(x, table):
    """Compute x log x."""
    if x < len(table):
        return table[x]
    return x * np.log(x)
