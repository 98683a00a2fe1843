"""Compiled loops of Kneser-Ney smoothing, on a trie in flat arrays.

Nodes are numbered in breadth-first order: node s is the symbol s, then follow all bigrams, all
trigrams, and so on, each in lexicographic order. The children of node r are the nodes
``first[r]`` to ``first[r + 1]``, and ``words[p]`` is the last symbol of node p.
"""

import numpy as np

from eigentext.engine.compiled import njit


@njit(cache=True, nogil=True)
def link_suffixes(first, words, suffix, begin, end):
    """Equivalent to ``suffix[wxyz] = xyz`` for the children of the nodes `begin` to `end`.

    The nodes `begin` to `end` must be linked already. Return False if some xyz is not a node; then
    the remaining nodes are not linked.
    """
    for r in range(begin, end):
        low = np.int64(first[suffix[r]])
        for p in range(np.int64(first[r]), np.int64(first[r + 1])):
            high = np.int64(first[suffix[r] + 1]) - 1
            while low < high:
                middle = (low + high) // 2
                if words[middle] < words[p]:
                    low = middle + 1
                else:
                    high = middle
            if low > high or words[low] != words[p]:
                return False
            suffix[p] = low
            low += 1
    return True


@njit(cache=True, nogil=True)
def count_suffixes(suffix, counts, begin, end):
    """Equivalent to ``counts[suffix[p]] += 1`` for the nodes `begin` to `end`."""
    for p in range(begin, end):
        counts[suffix[p]] += 1


@njit(cache=True, nogil=True)
def interpolate(
    first, counts, suffix, discounts, raw, border, limit, probabilities, backoffs, begin, end
):
    """Equivalent to ``p(z|wxy) = (c(wxyz) - D) / c(wxy·) + b(wxy) p(z|xy)`` for nodes wxy.

    ``b(wxy) = sum of D / c(wxy·)``. D depends on the count: ``discounts[1]``, ``discounts[2]``, or
    ``discounts[3]`` for 3 and more. If nothing follows wxy, b(wxy) is 1.

    If ``raw[wxyz - border] <= limit``, wxyz is pruned, and D is all of its count.
    """
    for r in range(begin, end):
        total = np.int64(0)
        removed = 0.0
        for p in range(np.int64(first[r]), np.int64(first[r + 1])):
            count = np.int64(counts[p])
            total += count
            removed += discounts[min(count, 3)] if raw[p - border] > limit else count
        if total == 0:
            backoffs[r] = 1.0
            for p in range(np.int64(first[r]), np.int64(first[r + 1])):
                probabilities[p] = 0.0
            continue
        backoffs[r] = removed / total
        for p in range(np.int64(first[r]), np.int64(first[r + 1])):
            count = np.int64(counts[p])
            own = count - discounts[min(count, 3)] if raw[p - border] > limit else 0.0
            probabilities[p] = own / total + backoffs[r] * probabilities[suffix[p]]


@njit(cache=True, nogil=True)
def prune_level(
    first, words, probabilities, backoffs, raw, raw_below, limit, limit_below, border, border_below,
    new_first, new_words, new_probabilities, new_backoffs, row, place, begin, end,
):  # fmt: skip
    """Equivalent to copying the nodes that are not pruned, and their children that are not.

    The nodes from `begin` to `end` go to `row` and on, and their children to `place` and on. A
    node p is kept if ``raw[p - border] > limit``, a child if
    ``raw_below[p - border_below] > limit_below``. There must be room for all of them. Return the
    ends of the new nodes and of the new children.
    """
    for r in range(begin, end):
        if raw[r - border] <= limit:
            continue
        new_first[row] = place
        new_backoffs[row] = backoffs[r]
        row += 1
        for p in range(np.int64(first[r]), np.int64(first[r + 1])):
            if raw_below[p - border_below] > limit_below:
                new_words[place] = words[p]
                new_probabilities[place] = probabilities[p]
                place += 1
    return row, place
