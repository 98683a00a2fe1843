"""Compiled loops over the tensors of sparse grammars (``sparse_grammar.py``)."""

import numpy as np

from eigentext.engine.compiled import njit


@njit(cache=True, nogil=True)
def fill(rules, r, tensor):
    """Equivalent to ``tensor[:] = own * t + others * t.sum(-1)`` of rule r, packed.

    t is the sum of the three terms of :class:`~eigentext.grammars.sparse_grammar.SparseRules`.
    """
    mb, mc, ma = rules.sizes[r, 0], rules.sizes[r, 1], rules.sizes[r, 2]
    left, right, top = rules.left_at[r], rules.right_at[r], rules.top_at[r]
    for b in range(mb):
        p2 = rules.share[rules.left_states[r] + b]
        for c in range(mc):
            p23 = p2 * rules.share[rules.right_states[r] + c]
            x, y, z = left + b * ma, right + c * ma, (b * mc + c) * ma
            for a in range(ma):
                given = np.float64(rules.left[x + a]) * rules.right[y + a]
                tensor[z + a] = given + p23 * rules.top[top + a]
    for k in range(rules.entries[r], rules.entries[r + 1]):
        z = (rules.b[k] * mc + rules.c[k]) * ma + rules.a[k]
        tensor[z] += rules.value[k]
    own, others = rules.own, rules.others[rules.parent[r]]
    if others > 0.0:
        for pair in range(mb * mc):
            total = 0.0
            for a in range(ma):
                total += tensor[pair * ma + a]
            total *= others
            for a in range(ma):
                tensor[pair * ma + a] = own * tensor[pair * ma + a] + total
