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
        low = first[suffix[r]]
        for p in range(first[r], first[r + 1]):
            high = first[suffix[r] + 1] - 1
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
def interpolate(first, counts, suffix, discounts, probabilities, backoffs, begin, end):
    """Equivalent to ``p(z|wxy) = (c(wxyz) - D) / c(wxy·) + b(wxy) p(z|xy)`` for nodes wxy.

    ``b(wxy) = sum of D / c(wxy·)``. D depends on the count: ``discounts[1]``, ``discounts[2]``, or
    ``discounts[3]`` for 3 and more. If nothing follows wxy, b(wxy) is 1.
    """
    for r in range(begin, end):
        total = np.int64(0)
        removed = 0.0
        for p in range(first[r], first[r + 1]):
            total += counts[p]
            removed += discounts[min(counts[p], 3)]
        if total == 0:
            backoffs[r] = 1.0
            continue
        backoffs[r] = removed / total
        for p in range(first[r], first[r + 1]):
            own = counts[p] - discounts[min(counts[p], 3)]
            probabilities[p] = own / total + backoffs[r] * probabilities[suffix[p]]


@njit(cache=True, nogil=True)
def score(
    ids, first, words, probabilities, backoffs, order, rare, starts, edges, begin, end, scores
):
    """Equivalent to ``scores[i] = log p(ids[i] | up to order - 1 symbols before it in its unit)``.

    The id -1 ends a unit. If `edges`, it is an event with the symbol ``rare + 1``, and this symbol
    is also the context in which a unit begins; for the first unit only if `starts`. Other negative
    ids are unknown words, with the symbol `rare`. The scores of ids that are not events do not
    change.
    """
    edge = rare + 1
    nodes = np.full(order, -1, np.int64)  # the contexts of 1, 2, … symbols; -1 if there is none
    warm = max(0, begin - order + 1)
    if starts and warm == 0:
        nodes[0] = edge
    for i in range(warm, end):
        s = np.int64(ids[i])
        if s == -1:
            s = edge
        elif s < 0:
            s = rare
        probability = -1.0
        backoff = 1.0
        for k in range(order - 2, -1, -1):
            r, child = nodes[k], np.int64(-1)
            if r >= 0:
                low, high = first[r], first[r + 1]
                while low < high:
                    middle = (low + high) // 2
                    if words[middle] < s:
                        low = middle + 1
                    else:
                        high = middle
                if low < first[r + 1] and words[low] == s:
                    child = low
                if probability < 0:
                    if child >= 0:
                        probability = backoff * probabilities[child]
                    else:
                        backoff *= backoffs[r]
            nodes[k + 1] = child
        if probability < 0:
            probability = backoff * probabilities[s]
        nodes[0] = s
        event = i >= begin
        if ids[i] == -1:
            event = event and edges and i > 0 and ids[i - 1] != -1
            nodes[:] = -1
            if edges:
                nodes[0] = edge
        if event:
            scores[i] = np.log(probability) if probability > 0 else -np.inf
