"""The states of rules, given what the features of their nodes say: a concave EM, rule by rule."""

import numpy as np
from numba import njit

_ROWS = 16  # nodes at a time: their products stay in the cache
_ROUNDING = 1e-9  # a smaller share below zero does not count
_SPREAD = 1e-12  # the share of each rule that is for all states alike: none is left without rules
_REORDER = {"reassoc", "contract", "nsz"}


@njit(nogil=True, cache=True, fastmath=_REORDER)
def likeliest_rules(
    first, last, members, nodes, left, right, weights, sizes, offsets, r_at, r, s_at, s, raw,
    n_iter, tol, tensor, sums, sum_offsets,
):  # fmt: skip
    """Expected uses of the rules `first` to `last - 1` by states, and their sums by parent state.

    Equivalent, from a start t of sum one, to up to `n_iter` times ``t *= g``, where g is the
    average, by weight over the nodes i of the rule, over all rows x of s at i, y of r at its left
    and z of r at its right child, of ``outer(y, z, x) / (t * outer(y, z, x)).sum()``, until
    ``g.max() <= 1 + tol``; then ``tensor = n * t`` for nodes of total weight n. The rows of node i
    begin at ``r[r_at[i, k]]``, for all k or until ``r_at[i, k] < 0``; so do those of s.

    The start is `tensor` scaled to one, but where it falls below zero: these are set to zero, and
    as EM cannot leave a zero the start is then half way to `raw`, also scaled.

    Sums may be reordered, but in the same way whatever the threads.
    """
    largest, widest, most = 1, 1, 1
    for rule in range(first, last):
        mb, mc, ma = sizes[rule, 0], sizes[rule, 1], sizes[rule, 2]
        largest, widest = max(largest, mb * mc * ma), max(widest, mb * mc)
        most = max(most, max(mb, mc, ma))
    n_rows = _ROWS * s_at.shape[1]
    slope, product = np.empty(largest), np.empty(largest)
    tops, forward, back = (
        np.empty(n_rows * most),
        np.empty(n_rows * widest),
        np.empty(n_rows * widest),
    )
    at, towards = np.empty(most), np.empty(most)
    for rule in range(first, last):
        mb, mc, ma = sizes[rule, 0], sizes[rule, 1], sizes[rule, 2]
        pairs = mb * mc
        t = tensor[offsets[rule] : offsets[rule + 1]].reshape(pairs, ma)
        begin(t, raw[offsets[rule] : offsets[rule + 1]].reshape(pairs, ma))
        n = 0.0
        for e in range(members[rule], members[rule + 1]):
            n += weights[nodes[e]]
        g = slope[: pairs * ma].reshape(pairs, ma)
        add = product[: pairs * ma].reshape(pairs, ma)
        for _ in range(n_iter if pairs * ma > 1 and n > 0.0 else 0):
            g[:] = 0.0
            for start in range(members[rule], members[rule + 1], _ROWS):
                stop = min(start + _ROWS, members[rule + 1])
                rows = 0
                for e in range(start, stop):
                    for x in s_at[nodes[e]]:
                        if x < 0:
                            break
                        for h in range(ma):
                            tops[rows * ma + h] = s[x + h]
                        rows += 1
                top = tops[: rows * ma].reshape(rows, ma)
                f = forward[: rows * pairs].reshape(rows, pairs)
                b = back[: rows * pairs].reshape(rows, pairs)
                np.dot(top, t.T, f)
                rows = 0
                for e in range(start, stop):
                    i = nodes[e]
                    n_left, n_right = count(r_at[left[i]]), count(r_at[right[i]])
                    n_top = count(s_at[i])
                    share = weights[i] / (n * n_left * n_right * n_top)
                    for k in range(rows, rows + n_top):
                        if n_left <= n_right:
                            left_first(
                                f[k],
                                b[k],
                                r,
                                r_at[left[i]],
                                n_left,
                                mb,
                                r_at[right[i]],
                                n_right,
                                mc,
                                share,
                                at,
                                towards,
                            )
                        else:
                            right_first(
                                f[k],
                                b[k],
                                r,
                                r_at[left[i]],
                                n_left,
                                mb,
                                r_at[right[i]],
                                n_right,
                                mc,
                                share,
                                at,
                                towards,
                            )
                    rows += n_top
                np.dot(b.T, top, add)
                for pair in range(pairs):
                    for h in range(ma):
                        g[pair, h] += add[pair, h]
            steepest, total = 0.0, 0.0
            for pair in range(pairs):
                for h in range(ma):
                    steepest = max(steepest, g[pair, h])
                    t[pair, h] *= g[pair, h]
                    total += t[pair, h]
            for pair in range(pairs):
                for h in range(ma):
                    t[pair, h] /= total
            if steepest <= 1.0 + tol:
                break
        of = sums[sum_offsets[rule] : sum_offsets[rule + 1]]
        of[:] = 0.0
        for pair in range(pairs):
            for h in range(ma):
                t[pair, h] = n * ((1.0 - _SPREAD) * t[pair, h] + _SPREAD / (pairs * ma))
                of[h] += t[pair, h]


@njit(nogil=True, cache=True)
def begin(t, raw):
    """Scale t to a sum of one; see `likeliest_rules` for what is below zero."""
    below, above, total = 0.0, 0.0, 0.0
    for pair in range(t.shape[0]):
        for h in range(t.shape[1]):
            total += raw[pair, h]
            if t[pair, h] < 0.0:
                below -= t[pair, h]
                t[pair, h] = 0.0
            else:
                above += t[pair, h]
    kept = 0.0 if above <= 0.0 else (1.0 if below <= _ROUNDING * above else 0.5)
    for pair in range(t.shape[0]):
        for h in range(t.shape[1]):
            one = kept * t[pair, h] / above if kept > 0.0 else 0.0
            t[pair, h] = one + (1.0 - kept) * raw[pair, h] / total if kept < 1.0 else one


@njit(nogil=True, cache=True)
def count(starts):
    """How many there are before the first that is negative."""
    n = 0
    for x in starts:
        if x < 0:
            break
        n += 1
    return n


@njit(nogil=True, cache=True, fastmath=_REORDER)
def left_first(f, b, r, lefts, n_left, mb, rights, n_right, mc, share, at, towards):
    """Equivalent to ``b = sum of share * outer(y, z) / (y @ f @ z)``, over y and z; see below."""
    for pair in range(mb * mc):
        b[pair] = 0.0
    for j in range(n_left):
        y = lefts[j]
        for h3 in range(mc):
            at[h3] = 0.0
            towards[h3] = 0.0
        for h2 in range(mb):
            p = r[y + h2]
            if p != 0.0:
                for h3 in range(mc):
                    at[h3] += p * f[h2 * mc + h3]
        for k in range(n_right):
            z = rights[k]
            kappa = 0.0
            for h3 in range(mc):
                kappa += at[h3] * r[z + h3]
            if kappa > 0.0:
                for h3 in range(mc):
                    towards[h3] += share / kappa * r[z + h3]
        for h2 in range(mb):
            p = r[y + h2]
            if p != 0.0:
                for h3 in range(mc):
                    b[h2 * mc + h3] += p * towards[h3]


@njit(nogil=True, cache=True, fastmath=_REORDER)
def right_first(f, b, r, lefts, n_left, mb, rights, n_right, mc, share, at, towards):
    """The same as `left_first`, sooner where there are fewer z than y."""
    for pair in range(mb * mc):
        b[pair] = 0.0
    for k in range(n_right):
        z = rights[k]
        for h2 in range(mb):
            at[h2] = 0.0
            towards[h2] = 0.0
            for h3 in range(mc):
                at[h2] += f[h2 * mc + h3] * r[z + h3]
        for j in range(n_left):
            y = lefts[j]
            kappa = 0.0
            for h2 in range(mb):
                kappa += at[h2] * r[y + h2]
            if kappa > 0.0:
                for h2 in range(mb):
                    towards[h2] += share / kappa * r[y + h2]
        for h2 in range(mb):
            for h3 in range(mc):
                b[h2 * mc + h3] += towards[h2] * r[z + h3]
