"""Compiled loops of pivot learning: a concave EM for the states of each rule."""

import numpy as np

from eigentext.engine.compiled import njit

_ROWS = 16  # nodes at a time, so that their products stay in the cache
_SPREAD = 1e-12  # the share of each rule that all states get, so that no state is without rules
_REORDER = {"reassoc", "contract", "nsz"}


@njit(nogil=True, cache=True)
def likeliest_rules(
    first, last, members, nodes, left, right, weights, sizes, offsets, r_at, r, s_at, s, average,
    n_iter, tol, tensor, sums, sum_offsets,
):  # fmt: skip
    """Expected uses of the rules `first` to `last - 1` by states, and their sums by parent state.

    Equivalent, from a start t of sum one, to up to `n_iter` times ``t *= g`` with the g of `slope`,
    or until ``g.max() <= 1 + tol``; then ``tensor = n * t`` for nodes of total weight n. The start
    is that of `begin`, from `tensor` and `average`.
    """
    for rule in range(first, last):
        mb, mc, ma = sizes[rule, 0], sizes[rule, 1], sizes[rule, 2]
        t = tensor[offsets[rule] : offsets[rule + 1]].reshape(mb * mc, ma)
        of_rule = nodes[members[rule] : members[rule + 1]]
        n = 0.0
        for i in of_rule:
            n += weights[i]
        begin(t, average[offsets[rule] : offsets[rule + 1]].reshape(mb * mc, ma))
        g = np.empty((mb * mc, ma))
        for _ in range(n_iter if t.size > 1 and n > 0.0 else 0):
            slope(t, mb, mc, of_rule, left, right, weights, n, r_at, r, s_at, s, g)
            steepest, total = 0.0, 0.0
            for pair in range(mb * mc):
                for h in range(ma):
                    steepest = max(steepest, g[pair, h])
                    total += t[pair, h] * g[pair, h]
            if steepest <= 1.0 + tol or total <= 0.0:
                break
            for pair in range(mb * mc):
                for h in range(ma):
                    t[pair, h] *= g[pair, h] / total
        of_state = sums[sum_offsets[rule] : sum_offsets[rule + 1]]
        of_state[:] = 0.0
        for pair in range(mb * mc):
            for h in range(ma):
                t[pair, h] = n * ((1.0 - _SPREAD) * t[pair, h] + _SPREAD / t.size)
                of_state[h] += t[pair, h]


@njit(nogil=True, cache=True)
def begin(t, average):
    """The positive part of t, scaled to sum one, and mixed with `average`: EM cannot leave a zero.

    `average` is scaled too. Its share is the share of noise in t: the sum of the negative entries
    over that of the positive ones.
    """
    below, above, total = 0.0, 0.0, 0.0
    for pair in range(t.shape[0]):
        for h in range(t.shape[1]):
            below -= min(t[pair, h], 0.0)
            above += max(t[pair, h], 0.0)
            total += average[pair, h]
    noise = below / above if above > below else 1.0
    for pair in range(t.shape[0]):
        for h in range(t.shape[1]):
            kept = (1.0 - noise) * max(t[pair, h], 0.0) / above if noise < 1.0 else 0.0
            t[pair, h] = kept + (noise * average[pair, h] / total if total > 0.0 else 0.0)


@njit(nogil=True, cache=True, fastmath=_REORDER)
def slope(t, mb, mc, nodes, left, right, weights, n, r_at, r, s_at, s, g):
    """The gradient of the log-likelihood of the features of a rule's nodes.

    Equivalent to the average of ``o / (t * o).sum()`` for ``o = outer(y, z, x)``, over all nodes i
    by weight, all rows x of s at i, y of r at its left and z of r at its right child. The rows of
    node i begin at ``r[r_at[i, k]]``, for all k or until it is negative, and likewise those of s.
    All nodes of one rule have the same number of rows.

    Sums may be reordered, but in the same way for any number of threads.
    """
    ma, pairs = t.shape[1], mb * mc
    k1 = how_many(s_at[nodes[0]])
    k2, k3 = how_many(r_at[left[nodes[0]]]), how_many(r_at[right[nodes[0]]])
    y, z = np.empty((k2, mb)), np.empty((k3, mc))
    tops = np.empty((_ROWS * k1, ma))
    forward, back = np.empty((_ROWS * k1, pairs)), np.empty((_ROWS * k1, pairs))
    at, towards = np.empty(max(mb, mc)), np.empty(max(mb, mc))
    g[:] = 0.0
    for start in range(0, len(nodes), _ROWS):
        block = nodes[start : start + _ROWS]
        for e in range(len(block)):
            for k in range(k1):
                for h in range(ma):
                    tops[e * k1 + k, h] = s[s_at[block[e], k] + h]
        x = tops[: len(block) * k1]
        np.dot(x, t.T, forward[: len(x)])
        for e in range(len(block)):
            i = block[e]
            for j in range(k2):
                for h2 in range(mb):
                    y[j, h2] = r[r_at[left[i], j] + h2]
            for j in range(k3):
                for h3 in range(mc):
                    z[j, h3] = r[r_at[right[i], j] + h3]
            share = weights[i] / (n * k1 * k2 * k3)
            for row in range(e * k1, (e + 1) * k1):
                f, b = forward[row].reshape(mb, mc), back[row].reshape(mb, mc)
                if k2 <= k3:
                    pull_left_first(f, y, z, share, b, at, towards)
                else:
                    pull_right_first(f, y, z, share, b, at, towards)
        g += np.dot(back[: len(x)].T, x)


@njit(nogil=True, cache=True)
def how_many(starts):
    """The number of entries before the first negative one."""
    for k in range(len(starts)):
        if starts[k] < 0:
            return k
    return len(starts)


@njit(nogil=True, cache=True, fastmath=_REORDER)
def pull_left_first(f, y, z, share, b, at, towards):
    """Equivalent to ``b = share * sum(outer(yj, zk) / (yj @ f @ zk) for yj in y for zk in z)``."""
    mb, mc = f.shape
    b[:] = 0.0
    for j in range(len(y)):
        for h3 in range(mc):
            at[h3] = 0.0
            towards[h3] = 0.0
        for h2 in range(mb):
            for h3 in range(mc):
                at[h3] += y[j, h2] * f[h2, h3]
        for k in range(len(z)):
            kappa = 0.0
            for h3 in range(mc):
                kappa += at[h3] * z[k, h3]
            if kappa > 0.0:
                for h3 in range(mc):
                    towards[h3] += share / kappa * z[k, h3]
        for h2 in range(mb):
            for h3 in range(mc):
                b[h2, h3] += y[j, h2] * towards[h3]


@njit(nogil=True, cache=True, fastmath=_REORDER)
def pull_right_first(f, y, z, share, b, at, towards):
    """The same as `pull_left_first`; faster if there are fewer z than y."""
    mb, mc = f.shape
    b[:] = 0.0
    for k in range(len(z)):
        for h2 in range(mb):
            at[h2] = 0.0
            towards[h2] = 0.0
            for h3 in range(mc):
                at[h2] += f[h2, h3] * z[k, h3]
        for j in range(len(y)):
            kappa = 0.0
            for h2 in range(mb):
                kappa += at[h2] * y[j, h2]
            if kappa > 0.0:
                for h2 in range(mb):
                    towards[h2] += share / kappa * y[j, h2]
        for h2 in range(mb):
            for h3 in range(mc):
                b[h2, h3] += towards[h2] * z[k, h3]
