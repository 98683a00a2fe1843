"""Compiled loops over a rooted forest: best derivations, next best ones, and unfolding.

A rooted forest has two more items: an empty one, and, as the last one, the top. The edges of the
top join each root to the empty item. So the best tree is always the best derivation of the top, and
roots need no special code. ``bounds[i]:bounds[i + 1]`` are the edges of item i. An item without
edges is a leaf.
"""

import numpy as np

from eigentext.engine.compiled import njit

_NONE, _UNKNOWN = -1, -2

# A record is a derivation of an item: its edge, the records of the two children, the item, the
# record of the next best derivation of the item, and two links in the heap of the item.
EDGE, LEFT, RIGHT, ITEM, NEXT, _CHILD, _SIBLING = range(7)


@njit(cache=True, nogil=True)
def best_edges(bounds, left, right, item_scores, edge_scores):
    """Equivalent to the best derivation of each item; with equal scores, that of the first edge.

    The score of a derivation is the sum of the scores of its item, its edge and its children.
    Returns records and scores. The edge is -1 for leaves, and for items without a derivation above
    -inf.
    """
    n = len(item_scores)
    records, scores = np.full((n, 7), _NONE), np.full(n, -np.inf)
    for i in range(n):
        records[i, ITEM] = i
        if bounds[i] == bounds[i + 1]:
            scores[i] = item_scores[i]
        for e in range(bounds[i], bounds[i + 1]):
            s = item_scores[i] + (edge_scores[e] + (scores[left[e]] + scores[right[e]]))
            if s > scores[i]:
                scores[i], records[i, EDGE] = s, e
        e = records[i, EDGE]
        if e != _NONE:
            records[i, LEFT], records[i, RIGHT], records[i, NEXT] = left[e], right[e], _UNKNOWN
    return records, scores


@njit(cache=True, nogil=True)
def next_best(bounds, left, right, item_scores, edge_scores, records, scores, k):
    """Equivalent to the k best derivations of the top: records, scores, how many there are.

    `records` and `scores` are those of `best_edges`. They are returned with more records at the
    end. NEXT leads from the best derivation of the top to those after it. This is algorithm 3 of
    [Huang and Chiang 2005]. The successors of a derivation (e, b, c) of an item are (e, b, next of
    c) and, if c is the best of its item, (e, next of b, c). So there is only one way to each
    candidate, and none comes twice. The next derivation of an item is computed only if a candidate
    above needs it. `waiting` has the derivations whose own next one waits for that of a child.
    """
    n = len(records)
    records = np.concatenate((records, np.empty((len(left), 7), np.int64)))
    scores = np.concatenate((scores, np.empty(len(left))))
    weights = item_scores, edge_scores
    heaps = np.full(n, _UNKNOWN)
    waiting = np.empty(n, np.int64)  # an item waits only for smaller ones
    used, found, last = n, 1, n - 1
    while found < k:
        waiting[0], depth = last, 0
        while depth >= 0:
            d = waiting[depth]
            e, b, c, i = records[d, EDGE], records[d, LEFT], records[d, RIGHT], records[d, ITEM]
            if records[c, NEXT] == _UNKNOWN:
                depth += 1
                waiting[depth] = c
                continue
            if c < n and records[b, NEXT] == _UNKNOWN:
                depth += 1
                waiting[depth] = b
                continue
            if used + (bounds[i + 1] - bounds[i]) + 2 > len(records):
                records = np.concatenate((records, np.empty_like(records)))
                scores = np.concatenate((scores, np.empty_like(scores)))
            heap = heaps[i]
            if heap == _UNKNOWN:
                heap = _NONE
                for f in range(bounds[i], bounds[i + 1]):
                    if f != e:
                        new = i, f, left[f], right[f]
                        used, heap = _offer(records, scores, used, heap, new, weights)
            if records[c, NEXT] != _NONE:
                new = i, e, b, records[c, NEXT]
                used, heap = _offer(records, scores, used, heap, new, weights)
            if c < n and records[b, NEXT] != _NONE:
                new = i, e, records[b, NEXT], c
                used, heap = _offer(records, scores, used, heap, new, weights)
            records[d, NEXT] = heap
            heaps[i] = _without_first(records, scores, heap)
            depth -= 1
        if records[last, NEXT] == _NONE:
            break
        last = records[last, NEXT]
        found += 1
    return records, scores, found


@njit(cache=True, nogil=True)
def unfold(records, d, width, items, edges, left, right):
    """Equivalent to the nodes of derivation d in post-order: items, edges, positions of children.

    ``width[i]`` is the number of words of item i. A tree over w words has 2 w - 1 nodes. The right
    child of a node is just before it, and its left child is before the whole right subtree.
    """
    stack = np.empty(len(items) + 1, np.int64)
    stack[0], depth = d, 0
    for place in range(len(items) - 1, -1, -1):
        d = stack[depth]
        e, c = records[d, EDGE], records[d, RIGHT]
        items[place], edges[place] = records[d, ITEM], e
        left[place] = right[place] = _NONE
        depth -= 1
        if e != _NONE:
            left[place], right[place] = place - 2 * width[records[c, ITEM]], place - 1
            stack[depth + 1], stack[depth + 2] = records[d, LEFT], c
            depth += 2


@njit(cache=True, nogil=True)
def _offer(records, scores, used, heap, new, weights):
    """Add a record to a heap, unless its score is -inf; return the number used, and the heap."""
    i, e, b, c = new
    item_scores, edge_scores = weights
    s = item_scores[i] + (edge_scores[e] + (scores[b] + scores[c]))
    if s == -np.inf:
        return used, heap
    scores[used] = s
    records[used, EDGE], records[used, LEFT], records[used, RIGHT] = e, b, c
    records[used, ITEM], records[used, NEXT] = i, _UNKNOWN
    records[used, _CHILD] = records[used, _SIBLING] = _NONE
    return used + 1, _meld(records, scores, heap, used)


@njit(cache=True, nogil=True)
def _meld(records, scores, a, b):
    """Join two pairing heaps: the best score first; with equal scores, the older record."""
    if a == _NONE:
        return b
    if b == _NONE:
        return a
    if scores[b] > scores[a] or (scores[b] == scores[a] and b < a):
        a, b = b, a
    records[b, _SIBLING] = records[a, _CHILD]
    records[a, _CHILD] = b
    return a


@njit(cache=True, nogil=True)
def _without_first(records, scores, heap):
    """A pairing heap without its first: join its children two by two, then all of them."""
    if heap == _NONE:
        return _NONE
    pairs, a = _NONE, records[heap, _CHILD]
    while a != _NONE:
        b = records[a, _SIBLING]
        rest = _NONE if b == _NONE else records[b, _SIBLING]
        pair = _meld(records, scores, a, b)
        records[pair, _SIBLING] = pairs
        pairs, a = pair, rest
    rest = _NONE
    while pairs != _NONE:
        before = records[pairs, _SIBLING]
        rest = _meld(records, scores, rest, pairs)
        pairs = before
    return rest
