"""Compiled loops of spectral learning: averages over the nodes of each rule."""

from math import sqrt

import numpy as np

from eigentext.engine.compiled import njit

_ROWS = 64  # nodes at a time, so that their products stay in the cache
_REORDER = {"reassoc", "contract", "nsz"}


@njit(nogil=True, cache=True, fastmath=_REORDER)
def average_rules(
    first, last, members, nodes, left, right, weights, sizes, offsets, place, y, z, mean_y, mean_z,
    left_states, right_states, parent_states, parent_totals, C, tensor,
):  # fmt: skip
    """Fill the tensors of the rules `first` to `last - 1`, smoothed.

    Equivalent, over the nodes i of rule r with children l and q, and with E the average by their
    weights, of sum n, to n / parent_totals[r] times
    ``lam3 * E[y[l] y[q] z[i]] + (1 - lam3) * (lam2 * pairs + (1 - lam2) * (lam1 * ones + (1 - lam1)
    * labels))``, where ``pairs`` is the mean of the three products of an average over two of them
    by that over the third, ``ones`` the product of the three averages, ``labels`` that of the
    averages over all nodes of the labels, and lam_k = sqrt(n) / (C[k - 1] + sqrt(n)).

    Sums may be reordered, but in the same way for any number of threads.
    """
    widest, most = 1, 1
    for r in range(first, last):
        widest = max(widest, sizes[r, 0] * sizes[r, 1])
        most = max(most, max(sizes[r, 0], sizes[r, 1], sizes[r, 2]))
    products, tops = np.empty(_ROWS * widest), np.empty(_ROWS * most)
    for r in range(first, last):
        mb, mc, ma = sizes[r, 0], sizes[r, 1], sizes[r, 2]
        pairs = mb * mc
        t = tensor[offsets[r] : offsets[r + 1]].reshape(pairs, ma)
        t[:] = 0.0
        e2, e3, e1 = np.zeros(mb), np.zeros(mc), np.zeros(ma)
        e23, e21, e31 = np.zeros((mb, mc)), np.zeros((mb, ma)), np.zeros((mc, ma))
        n = 0.0
        for start in range(members[r], members[r + 1], _ROWS):
            count = min(_ROWS, members[r + 1] - start)
            rows = products[: count * pairs].reshape(count, pairs)
            above = tops[: count * ma].reshape(count, ma)
            for k in range(count):
                i = nodes[start + k]
                w = weights[i]
                vl, vr, vp = place[left[i]], place[right[i]], place[i]
                n += w
                for h in range(ma):
                    above[k, h] = w * z[vp + h]
                    e1[h] += above[k, h]
                for h3 in range(mc):
                    e3[h3] += w * y[vr + h3]
                    for h in range(ma):
                        e31[h3, h] += y[vr + h3] * above[k, h]
                for h2 in range(mb):
                    y2 = y[vl + h2]
                    e2[h2] += w * y2
                    for h3 in range(mc):
                        rows[k, h2 * mc + h3] = y2 * y[vr + h3]
                        e23[h2, h3] += w * rows[k, h2 * mc + h3]
                    for h in range(ma):
                        e21[h2, h] += y2 * above[k, h]
            t += np.dot(rows.T, above)
        if n == 0.0:
            continue
        root = sqrt(n)
        lam1, lam2, lam3 = root / (C[0] + root), root / (C[1] + root), root / (C[2] + root)
        three = lam3 / n
        two = (1 - lam3) * lam2 / (3 * n * n)
        one = (1 - lam3) * (1 - lam2) * lam1 / (n * n * n)
        none = (1 - lam3) * (1 - lam2) * (1 - lam1)
        share = n / parent_totals[r]
        for h2 in range(mb):
            y2 = none * mean_y[left_states[r] + h2]
            for h3 in range(mc):
                y23 = y2 * mean_y[right_states[r] + h3]
                at = h2 * mc + h3
                for h in range(ma):
                    back = e23[h2, h3] * e1[h] + e21[h2, h] * e3[h3] + e31[h3, h] * e2[h2]
                    t[at, h] = share * (
                        three * t[at, h]
                        + two * back
                        + one * e2[h2] * e3[h3] * e1[h]
                        + y23 * mean_z[parent_states[r] + h]
                    )
