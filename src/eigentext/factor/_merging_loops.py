r"""Merging clusters in the order of frequency, from dot products alone.

With sums :math:`s_c = \sum_{w \in c} v(w)` and sizes :math:`n_c`, merging two clusters costs

.. math:: d(a, b) = \frac{n_a n_b}{n_a + n_b} \Big\| \frac{s_a}{n_a} - \frac{s_b}{n_b} \Big\|^2
  = \frac{n_b^2\, s_a^\top s_a + n_a^2\, s_b^\top s_b - 2 n_a n_b\, s_a^\top s_b}
         {n_a n_b (n_a + n_b)}.

When clusters merge, their sums and dot products are added in O(m). The vectors themselves are only
needed for the products of new words with the clusters: one matrix product for a block of words
(`dots`, and `own` among the words of the block). With whole numbers, everything except the last
division is exact, so equal distances are equal.

Each cluster stores its nearest other cluster. When that one is merged, the stored distance becomes
a lower bound, because the merged pair is not nearer to a third cluster than its parts were. The
distance is computed again if it is the least of all (Fränti, Kaukoranta, Shen and Chang 2000).

A cluster is in a slot and has the name of its first word. Among equal distances, the smallest pair
of names counts.
"""

from typing import NamedTuple

import numpy as np

from eigentext.engine.compiled import njit


class Running(NamedTuple):
    """The running set of clusters, one slot each; a slot is free if ``first`` is -1."""

    sums: np.ndarray  # (slots, d)
    products: np.ndarray  # (slots, slots): of the sums
    squares: np.ndarray  # (slots,): the diagonal of products
    sizes: np.ndarray  # (slots,), float64
    first: np.ndarray  # (slots,), int64: the name
    least: np.ndarray  # (slots,): the distance to the nearest other cluster, or a lower bound
    nearest: np.ndarray  # (slots,), int64: the slot of that cluster; -1 with a bound


@njit(cache=True, nogil=True)
def look_around(run):
    """Equivalent to setting ``nearest`` and ``least`` of every cluster by its definition."""
    for i in range(len(run.first)):
        if run.first[i] >= 0:
            _compare(run, i)


@njit(cache=True, nogil=True)
def add_words(run, X, dots, own, name, free, merges, heights):
    """Equivalent to adding each row of X as a cluster and merging the closest pair of all.

    ``dots`` is ``X @ run.sums.T`` and ``own`` is ``X @ X.T``. ``name`` is that of the first row,
    ``free`` the free slot. Names and distances of the pairs go to ``merges`` and ``heights``.
    Returns the slot that is free at the end, and how often a bound was computed again.
    """
    looks = 0
    n_words = len(X)
    for w in range(n_words):
        run.first[free] = name + w
        run.sizes[free] = 1
        run.squares[free] = own[w, w]
        for j in range(X.shape[1]):
            run.sums[free, j] = X[w, j]
        for k in range(len(run.first)):
            run.products[free, k] = dots[w, k]
            run.products[k, free] = dots[w, k]
        for later in range(w + 1, n_words):
            dots[later, free] = own[later, w]
        _compare(run, free)
        i, j, again = _closest(run)
        looks += again
        merges[w, 0], merges[w, 1], heights[w] = run.first[i], run.first[j], run.least[i]
        _merge(run, i, j)
        for later in range(w + 1, n_words):
            dots[later, i] += dots[later, j]
        free = j
    return free, looks


@njit(cache=True, nogil=True)
def merge_all(run, merges, heights):
    """Equivalent to merging the closest pair until one cluster is left.

    Returns how often a bound was computed again.
    """
    looks = 0
    for step in range(len(merges)):
        i, j, again = _closest(run)
        looks += again
        merges[step, 0], merges[step, 1] = run.first[i], run.first[j]
        heights[step] = run.least[i]
        _merge(run, i, j)
    return looks


@njit(cache=True, nogil=True)
def _compare(run, i):
    """Find the nearest cluster of i, and update the others if i is nearer to them."""
    least, nearest = np.inf, -1
    size, square = run.sizes[i], run.squares[i]
    for k in range(len(run.first)):
        if run.first[k] < 0 or k == i:
            continue
        other = run.sizes[k]
        d = other * other * square + size * size * run.squares[k]
        d = (d - 2 * size * other * run.products[i, k]) / (size * other * (size + other))
        d = max(d, 0.0)  # rounding may give less than 0 for equal vectors
        if d < least or (d == least and run.first[k] < run.first[nearest]):
            least, nearest = d, k
        if d < run.least[k] or (
            d == run.least[k] and run.nearest[k] >= 0 and run.first[i] < run.first[run.nearest[k]]
        ):
            run.least[k], run.nearest[k] = d, i
    run.least[i], run.nearest[i] = least, nearest


@njit(cache=True, nogil=True)
def _closest(run):
    """The closest pair, the smaller name first, and how many bounds were computed again."""
    looks = 0
    while True:
        i = -1
        for k in range(len(run.first)):
            if run.first[k] < 0:
                continue
            # Among equals a bound comes first, because a pair may be behind it; then by name.
            if (
                i < 0
                or run.least[k] < run.least[i]
                or (
                    run.least[k] == run.least[i]
                    and run.nearest[i] >= 0
                    and (run.nearest[k] < 0 or run.first[k] < run.first[i])
                )
            ):
                i = k
        j = run.nearest[i]
        if j >= 0:
            return (i, j, looks) if run.first[i] < run.first[j] else (j, i, looks)
        _compare(run, i)
        looks += 1


@njit(cache=True, nogil=True)
def _merge(run, i, j):
    """Merge j into i; the slot of j becomes free."""
    run.squares[i] += run.squares[j] + 2 * run.products[i, j]
    run.sizes[i] += run.sizes[j]
    run.first[j] = -1
    for c in range(run.sums.shape[1]):
        run.sums[i, c] += run.sums[j, c]
    for k in range(len(run.first)):
        product = run.products[i, k] + run.products[j, k]
        run.products[i, k] = product
        run.products[k, i] = product
        if run.nearest[k] == i or run.nearest[k] == j:
            run.nearest[k] = -1
    _compare(run, i)
