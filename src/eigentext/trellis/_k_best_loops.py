"""The k best paths through a trellis: the Viterbi algorithm once, then deviations from known paths.

Let f be the best score of every node. A deviation follows a known path from the right, leaves it at
some position for another node, and continues with the best path to that node. Its score is f(node)
+ edge + the score of the known path from there on, so that no search is needed. Every path except
the best is a deviation from exactly one other path.

The loop keeps the k best paths seen so far in order. In turn it writes each path out and adds its
deviations further to the left. A deviation never scores more than the path it comes from, so that
the paths before the turn are final. Paths with equal scores are in the order in which the loop met
them.
"""

import numpy as np

from eigentext.engine.compiled import njit


@njit(cache=True, nogil=True)
def first_order(start, transition, active, border, local, k, paths):
    """Fill `paths` (k x T) with the best sequences of states, best first; return their scores.

    At position t the states ``active[i]`` are possible, with the scores ``local[i]``, for i from
    ``border[t]`` to ``border[t + 1] - 1``. Equivalent to sorting all paths by the score of their
    first state in `start`, plus all their transitions and local scores.
    """
    m, length = len(start), len(border) - 1
    f, top, values = np.empty(len(active)), np.zeros(m), np.empty(m)
    for i in range(border[1]):
        f[i] = start[active[i]] + local[i]
    for t in range(1, length):
        for b in range(border[t], border[t + 1]):
            top[active[b]] = -np.inf
        for a in range(border[t - 1], border[t]):
            _raise(f[a], transition[active[a]], active, border[t], border[t + 1], top)
        for b in range(border[t], border[t + 1]):
            f[b] = top[active[b]] + local[b]
    score, origin, place, state = _places(k)
    size = 0
    for b in range(border[length - 1], border[length]):
        size = _offer(f[b], 0, length - 1, b, size, k, score, origin, place, state, 0)
    found = np.zeros((k, length), np.int64)  # paths as places in `active`
    turn = 0
    while turn < size:
        left, parent, path = place[turn], origin[turn], found[turn]
        for t in range(left + 1, length):
            path[t] = found[parent, t]
        path[left] = state[turn]
        after = 0.0  # the score of the path to the right of the transition from t to t + 1
        for t in range(length - 2, -1, -1):
            b = path[t + 1]
            if t + 2 < length:
                c = path[t + 2]
                after += transition[active[b], active[c]] + local[c]
            if t >= left:
                continue
            best, most = border[t], -np.inf
            for a in range(border[t], border[t + 1]):
                value = f[a] + transition[active[a], active[b]]
                values[a - border[t]] = value
                if value > most:
                    best, most = a, value
            path[t] = best
            here = local[b] + after
            least = score[k - 1] if size == k else -np.inf
            for a in range(border[t], border[t + 1]):
                value = min(values[a - border[t]] + here, score[turn])
                if value > least and a != best:
                    size = _offer(value, turn, t, a, size, k, score, origin, place, state, turn + 1)
                    least = score[k - 1] if size == k else -np.inf
        for t in range(length):
            paths[turn, t] = active[path[t]]
        turn += 1
    return score[:size]


@njit(cache=True, nogil=True)
def second_order(pair, rows, active, border, local, k, paths):
    """Do the same for transitions from two states u, v to w with scores ``rows[pair[u, v], w]``.

    The first two and the last two positions have only the state m, which marks the borders, with
    the local score 0. Equivalent to sorting all paths by the sum of their local scores and of all
    transitions.
    """
    m, length = rows.shape[1], len(border) - 1
    # f of (u, v), with v at position n, is at offset[n] + a * width + b for the a-th u, the b-th v.
    offset = np.zeros(length + 1, np.int64)
    for n in range(1, length):
        offset[n + 1] = offset[n] + (border[n] - border[n - 1]) * (border[n + 1] - border[n])
    f, top, values = np.empty(offset[length]), np.zeros(m), np.empty(m)
    f[0] = 0.0
    for n in range(2, length):
        n_u, n_v = border[n - 1] - border[n - 2], border[n] - border[n - 1]
        into = offset[n]
        for b in range(n_v):
            v = active[border[n - 1] + b]
            for c in range(border[n], border[n + 1]):
                top[active[c]] = -np.inf
            for a in range(n_u):
                row = rows[pair[active[border[n - 2] + a], v]]
                before = f[offset[n - 1] + a * n_v + b]
                _raise(before, row, active, border[n], border[n + 1], top)
            for c in range(border[n], border[n + 1]):
                f[into] = top[active[c]] + local[c]
                into += 1
    score, origin, place, state = _places(k)
    size, last = 0, length - 2  # the two states at the end are fixed
    size = _offer(
        f[offset[length] - 1], 0, last, border[last], 0, k, score, origin, place, state, 0
    )
    found = np.zeros((k, length), np.int64)  # paths as places in `active`
    found[0, length - 1] = border[length - 1]
    turn = 0
    while turn < size:
        left, parent, path = place[turn], origin[turn], found[turn]
        for n in range(left + 1, length):
            path[n] = found[parent, n]
        path[left] = state[turn]
        after = 0.0  # the score of the path to the right of the transition into n + 2
        for n in range(length - 3, 1, -1):
            b, c = path[n + 1], path[n + 2]
            v, w = active[b], active[c]
            if n + 3 < length:
                d = path[n + 3]
                after += rows[pair[v, w], active[d]] + local[d]
            if n >= left:
                continue
            n_v = border[n + 2] - border[n + 1]
            best, most, at = 0, -np.inf, offset[n + 1] + b - border[n + 1]
            for a in range(border[n + 1] - border[n]):
                values[a] = f[at + a * n_v] + rows[pair[active[border[n] + a], v], w]
                if values[a] > most:
                    best, most = a, values[a]
            path[n] = border[n] + best
            here = local[c] + after
            least = score[k - 1] if size == k else -np.inf
            for a in range(border[n + 1] - border[n]):
                value = min(values[a] + here, score[turn])
                if value > least and a != best:
                    i = border[n] + a
                    size = _offer(value, turn, n, i, size, k, score, origin, place, state, turn + 1)
                    least = score[k - 1] if size == k else -np.inf
        for t in range(length - 4):
            paths[turn, t] = active[path[t + 2]]
        turn += 1
    return score[:size]


@njit(cache=True, nogil=True)
def _raise(before, row, active, first, last, top):
    """Set ``top[w] = max(top[w], before + row[w])`` for the states w = active[first:last].

    The entries of other states may change too. They have no meaning.
    """
    if 8 * (last - first) > len(top):  # a loop over all states is then faster
        for w in range(len(top)):
            value = before + row[w]
            top[w] = value if value > top[w] else top[w]
    else:
        for c in range(first, last):
            w = active[c]
            value = before + row[w]
            top[w] = value if value > top[w] else top[w]


@njit(cache=True, nogil=True)
def _places(k):
    """Return arrays for the score, origin, position and state of the k best paths."""
    return np.empty(k), np.empty(k, np.int64), np.empty(k, np.int64), np.empty(k, np.int64)


@njit(cache=True, nogil=True)
def _offer(value, turn, t, v, size, k, score, origin, place, state, first):
    """Insert a deviation among the k best, after equal scores and not before place `first`."""
    if value == -np.inf or (size == k and value <= score[k - 1]):
        return size
    low, high = first, size
    while low < high:
        middle = (low + high) // 2
        if score[middle] >= value:
            low = middle + 1
        else:
            high = middle
    if low == k:
        return size
    size = min(size + 1, k)
    for i in range(size - 1, low, -1):
        score[i], origin[i], place[i], state[i] = (
            score[i - 1],
            origin[i - 1],
            place[i - 1],
            state[i - 1],
        )
    score[low], origin[low], place[low], state[low] = value, turn, t, v
    return size
