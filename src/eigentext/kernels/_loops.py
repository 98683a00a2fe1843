"""Compiled loops of the kernels of structures.

Nodes are numbered so that children come before their parents. The nodes of the second argument are
in a :class:`~eigentext.kernels._store.NodeForest`, sorted by group. A group is a production or a
tag. So the nodes that can match a node are a range of numbers, and a child matches if its number is
in a range. The loops use no strings, no sorting, no recursion and no branch that a processor could
predict wrongly.
"""

import numpy as np

from eigentext.engine.compiled import njit


@njit(cache=True, nogil=True)
def occurrences(roots, child_start, children, offsets, found):
    """Write all nodes of each structure, as often as they occur, the root first.

    Equivalent to a walk through each structure. ``found[offsets[i]:offsets[i + 1]]`` gets the nodes
    of root i. It is also the queue of the walk: the loop reads it from the left and appends to it.
    """
    for i in range(len(roots)):
        found[offsets[i]] = roots[i]
        end = offsets[i] + 1
        for at in range(offsets[i], offsets[i + 1]):
            node = found[at]
            for c in range(child_start[node], child_start[node + 1]):
                if children[c] >= 0:
                    found[end] = children[c]
                    end += 1


@njit(cache=True, nogil=True)
def tree_rows(rows, column, triangle, summed, decay, a, b, out):
    r"""Add K(structure i of `a`, structure j of `b`) to ``out[i, column + j]`` for all i in `rows`.

    Equivalent to :math:`\sum w(n_1) c_j(n_2) \Delta(n_1, n_2)` over the nodes of both, where
    :math:`\Delta(n_1, n_2) = \lambda \prod_c (1 + \Delta(ch(n_1, c), ch(n_2, c)))` if the
    productions are equal, else 0. Here w is the weight of a node in `a`, and c_j is its count in
    structure j of `b`. With `triangle`, the loop skips what is below the diagonal of `out`. With
    `summed`, it adds all rows up in row 0.
    """
    position, size, deltas, totals, last_row = _scratch(rows, a, b)
    for i in rows:
        begin = a.offsets[i]
        least = i - column if triangle else 0
        end = 1
        for k in range(a.offsets[i + 1] - begin):
            g = a.group[begin + k]
            n = _n_matching(b, g, least)
            position[k] = end
            size[k] = n
            if n == 0:
                continue
            first = b.group_start[g]
            base = b.child_start[first]
            at = a.child_start[begin + k]
            arity = a.child_start[begin + k + 1] - at
            weight = a.weights[begin + k]
            if arity == 2:  # the most frequent case: both children in one loop
                low, width, there = _range(a, b, begin, a.children[at], position, size)
                low2, width2, there2 = _range(a, b, begin, a.children[at + 1], position, size)
                for t in range(n):
                    left = _place(b.children[base + 2 * t], low, width, there)
                    right = _place(b.children[base + 2 * t + 1], low2, width2, there2)
                    delta = decay * (1.0 + deltas[left]) * (1.0 + deltas[right])
                    deltas[end + t] = delta
                    totals[first + t] += weight * delta
            else:
                for t in range(n):
                    deltas[end + t] = decay
                for j in range(arity):
                    low, width, there = _range(a, b, begin, a.children[at + j], position, size)
                    for t in range(n):
                        place = _place(b.children[base + t * arity + j], low, width, there)
                        deltas[end + t] *= 1.0 + deltas[place]
                for t in range(n):
                    totals[first + t] += weight * deltas[end + t]
            end += n
        if not summed:
            _spread(i, least, a, b, totals, last_row, out[i, column:])
    if summed:
        _spread_all(b, totals, out[0, column:])


@njit(cache=True, nogil=True)
def sequence_rows(rows, column, triangle, summed, decay, a, b, out):
    r"""Do the same for the states of tagged sequences. The only child of a state is the next state.

    Equivalent to :math:`\Delta(n_1, n_2) = \lambda (1 + \pi) (1 + \Delta(N(n_1), N(n_2)))` if the
    tags are equal, else 0. :math:`\pi` is 1 for equal words, 1/2 for two words of one class, and
    else 0. The child of the last state is -1.
    """
    position, size, deltas, totals, last_row = _scratch(rows, a, b)
    for i in rows:
        begin = a.offsets[i]
        least = i - column if triangle else 0
        end = 1
        for k in range(a.offsets[i + 1] - begin):
            g = a.group[begin + k]
            n = _n_matching(b, g, least)
            position[k] = end
            size[k] = n
            if n == 0:
                continue
            first = b.group_start[g]
            weight = a.weights[begin + k]
            word = a.word[begin + k]
            word_class = a.word_class[begin + k]
            following = a.children[a.child_start[begin + k]]
            low, width, there = _range(a, b, begin, following, position, size)
            for t in range(n):
                place = _place(b.children[first + t], low, width, there)
                same = b.word[first + t] == word
                alike = b.word_class[first + t] == word_class
                delta = decay * (1.0 + 0.5 * same + 0.5 * alike) * (1.0 + deltas[place])
                deltas[end + t] = delta
                totals[first + t] += weight * delta
            end += n
        if not summed:
            _spread(i, least, a, b, totals, last_row, out[i, column:])
    if summed:
        _spread_all(b, totals, out[0, column:])


@njit(cache=True, nogil=True)
def sequence_differences(pairs, column, decay, group, word, word_class, b, out):
    r"""Add to ``out[0, column + j]`` the sum of ``weight * (K(first, j) - K(second, j))``.

    A pair is two taggings of the same words, given by their first positions, their length and their
    weight. A fragment that contains no position where the two taggings differ occurs in both, and
    cancels. The loop counts any other fragment at its leftmost such position q. To the right of q
    the fragment may end anywhere. To the left of q it begins after the previous difference.
    Equivalent to two rows of `sequence_rows`.
    """
    totals = np.zeros(len(b.last))
    nodes, places = np.empty(len(b.last), np.int64), np.empty(len(b.last), np.int64)
    values = np.empty(len(b.last))
    for pair in range(len(pairs.weight)):
        length = pairs.length[pair]
        for side in range(2):
            mine = pairs.second[pair] if side else pairs.first[pair]
            other = pairs.first[pair] if side else pairs.second[pair]
            weight = -pairs.weight[pair] if side else pairs.weight[pair]
            before = -1
            for q in range(length):
                g = group[mine + q]
                if g == group[other + q]:
                    continue
                leftmost, before = before + 1, q
                if g < 0:
                    continue
                for t in range(b.group_start[g], b.group_start[g + 1]):
                    node, place = np.int64(t), q
                    value, total = 1.0, 0.0
                    while node >= 0 and place < length and b.group[node] == group[mine + place]:
                        same = b.word[node] == word[mine + place]
                        alike = b.word_class[node] == word_class[mine + place]
                        value *= decay * (1.0 + 0.5 * same + 0.5 * alike)
                        total += value
                        node = np.int64(b.children[node])
                        place += 1
                    totals[t] += weight * total
                    nodes[0], places[0], values[0] = t, q, total
                    n_waiting = 1
                    while n_waiting:
                        n_waiting -= 1
                        node, place = nodes[n_waiting], places[n_waiting] - 1
                        total = values[n_waiting]
                        if place < leftmost:
                            continue
                        for o in range(b.parent_start[node], b.parent_start[node + 1]):
                            parent = np.int64(b.parents[o])
                            if b.group[parent] != group[mine + place]:
                                continue
                            same = b.word[parent] == word[mine + place]
                            alike = b.word_class[parent] == word_class[mine + place]
                            value = total * decay * (1.0 + 0.5 * same + 0.5 * alike)
                            totals[parent] += weight * value
                            nodes[n_waiting], places[n_waiting] = parent, place
                            values[n_waiting] = value
                            n_waiting += 1
    _spread_all(b, totals, out[0, column:])


@njit(cache=True, nogil=True)
def _range(a, b, begin, child, position, size):
    """Return the first node that matches a child, how many do, and the place of its deltas."""
    if child < 0 or size[child] == 0:
        return 0, np.uint64(0), np.uint64(0)
    return b.group_start[a.group[begin + child]], np.uint64(size[child]), np.uint64(position[child])


@njit(cache=True, nogil=True)
def _place(child, low, width, there):
    """Return the place of the delta with a child, or 0, the place of a zero, if none matches."""
    place = np.uint64(child - low)  # very large if the difference is negative
    return there + place if place < width else np.uint64(0)


@njit(cache=True, nogil=True)
def _scratch(rows, a, b):
    """Return arrays for the longest row. The first delta is 0, for children that do not match."""
    most_nodes = 0
    most_deltas = 0
    for i in rows:
        n_deltas = 0
        for at in range(a.offsets[i], a.offsets[i + 1]):
            g = a.group[at]
            if g >= 0:
                n_deltas += b.group_start[g + 1] - b.group_start[g]
        most_deltas = max(most_deltas, n_deltas)
        most_nodes = max(most_nodes, a.offsets[i + 1] - a.offsets[i])
    deltas = np.empty(1 + most_deltas)
    deltas[0] = 0.0
    position, size = np.empty(most_nodes, np.int64), np.empty(most_nodes, np.int64)
    totals, last_row = np.zeros(len(b.last)), np.full(len(b.group_start), -1)
    return position, size, deltas, totals, last_row


@njit(cache=True, nogil=True)
def _n_matching(b, g, least):
    """Return how many nodes of a group occur in structures from `least` on. They come first."""
    if g < 0:
        return 0
    first = b.group_start[g]
    low, high = first, b.group_start[g + 1]
    if least > 0:
        while low < high:
            middle = (low + high) // 2
            if b.last[middle] < least:
                high = middle
            else:
                low = middle + 1
    return high - first


@njit(cache=True, nogil=True)
def _spread(i, least, a, b, totals, last_row, row):
    """Add the totals of the nodes to the structures that contain them, and reset them to zero."""
    for at in range(a.offsets[i], a.offsets[i + 1]):
        g = a.group[at]
        if g < 0 or last_row[g] == i:
            continue
        last_row[g] = i
        for o in range(b.occurrence_start[g], b.occurrence_start[g + 1]):
            j = b.occurrence_row[o]
            if j < least:  # rows are in falling order
                break
            row[np.uint32(j)] += totals[np.uint32(b.occurrence_node[o])]
        first = b.group_start[g]
        for node in range(first, first + _n_matching(b, g, least)):
            totals[node] = 0.0


@njit(cache=True, nogil=True)
def _spread_all(b, totals, row):
    """Do the same for the totals of all nodes, and leave the totals as they are."""
    for o in range(len(b.occurrence_row)):
        row[np.uint32(b.occurrence_row[o])] += totals[np.uint32(b.occurrence_node[o])]


@njit(cache=True, nogil=True)
def mirror(out, start, stop):
    """Copy rows of the lower triangle from the upper one, in tiles that fit the cache."""
    for left in range(0, stop, 64):
        for i in range(start, stop):
            for j in range(left, min(left + 64, i)):
                out[i, j] = out[j, i]
