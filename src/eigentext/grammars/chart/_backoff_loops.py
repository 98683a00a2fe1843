"""Compiled loops of the back-off: which symbols may stand for the places of a forest."""

import numpy as np

from eigentext.engine.compiled import njit

# What is known of a symbol, as columns of a table.
# TOP, BASE: its places. NAME, TOP_NAME: the labels of these.
# MOTHER: the label that its mother must have; FREE for any, NEVER for none.
# ABOVE: the ancestors that an intermediate symbol remembers; FREE for any.
# BELOW: the ancestors that an intermediate child must remember.
# SIDE, REST: what an intermediate symbol remembers of the child beside and of those before; FREE.
# ON: what a child that goes on, on the branching side, hands up as REST.
TOP, BASE, NAME, TOP_NAME, MOTHER, ABOVE, BELOW, SIDE, REST, ON, IS_BETWEEN = range(11)
FREE, NEVER = -1, -2


@njit(cache=True, nogil=True)
def agrees(known, a, x, goes_on):
    """Equivalent to whether a may have the child x, by what both remember.

    `goes_on` says that x is on the side to which the binarization branches.
    """
    if known[x, IS_BETWEEN]:
        if known[x, ABOVE] != FREE and known[x, ABOVE] != known[a, BELOW]:
            return False
    elif known[x, MOTHER] != FREE and known[x, MOTHER] != known[a, NAME]:
        return False
    if known[a, SIDE] == FREE:
        return True
    if goes_on:
        return known[a, REST] == known[x, ON]
    return known[a, SIDE] == known[x, TOP_NAME]


@njit(cache=True, nogil=True)
def expand(groups, edges, left, right, first, symbols, alive, known, keys, n_places, to_left, most):
    """Equivalent to all edges a -> b c between symbols of the items of a forest of places.

    ``symbols[first[i]:first[i + 1]]`` are the symbols that may stand for item i, in *slots*. Slots
    of words are `alive` from the beginning, and others as soon as they have an edge. An edge needs
    a production base(a) -> top(b) top(c), whose number is in `keys`. Returns edges as three slots,
    bottom-up, and whether there are `most` at most; if not, none are returned.
    """
    found, n = np.empty((1024, 3), np.int64), 0
    widest = 0
    for p in range(len(first) - 1):
        widest = max(widest, first[p + 1] - first[p])
    fitting = np.empty(widest, np.int64)
    for p in range(len(groups) - 1):
        for e in range(edges[groups[p]], edges[groups[p + 1]]):
            one, two = left[e], right[e]
            if first[one] == first[one + 1] or first[two] == first[two + 1]:
                continue
            b, c = symbols[first[one]], symbols[first[two]]  # all symbols there have the same top
            pair = (known[b, TOP] * n_places + known[c, TOP]) * n_places
            for z in range(first[p], first[p + 1]):
                a = symbols[z]
                key = pair + known[a, BASE]
                k = np.searchsorted(keys, key)
                if k == len(keys) or keys[k] != key:
                    continue
                n_fitting = 0
                for y in range(first[two], first[two + 1]):
                    if alive[y] and agrees(known, a, symbols[y], not to_left):
                        fitting[n_fitting] = y
                        n_fitting += 1
                if n_fitting == 0:
                    continue
                for x in range(first[one], first[one + 1]):
                    if alive[x] and agrees(known, a, symbols[x], to_left):
                        if n + n_fitting > most:
                            return found[:0], False
                        if n + n_fitting > len(found):
                            found = _grown(found, 2 * n + n_fitting)
                        for y in range(n_fitting):
                            found[n, 0], found[n, 1], found[n, 2] = z, x, fitting[y]
                            n += 1
                        alive[z] = True
    return found[:n], True


@njit(cache=True, nogil=True)
def products(parent, left, right, states, r, s, factor, offsets):
    """Equivalent to ``factor[k] * s[b][:, None, None] * s[c][:, None] * r[a]`` of each rule k.

    Rule k is a -> b c, and ``r[a]`` is ``r[states[a]:states[a + 1]]``. The products are packed one
    after another, from ``offsets[k]``.
    """
    out = np.empty(offsets[-1])
    for k in range(len(parent)):
        a, b, c = parent[k], left[k], right[k]
        t = offsets[k]
        for h2 in range(states[b], states[b + 1]):
            for h3 in range(states[c], states[c + 1]):
                x = factor[k] * s[h2] * s[h3]
                for h1 in range(states[a], states[a + 1]):
                    out[t] = x * r[h1]
                    t += 1
    return out


@njit(cache=True, nogil=True)
def _grown(x, size):
    """A copy with room for `size` rows."""
    y = np.empty((size, x.shape[1]), x.dtype)
    for i in range(len(x)):
        for k in range(x.shape[1]):
            y[i, k] = x[i, k]
    return y
