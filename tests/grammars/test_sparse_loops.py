"""The loop that makes the tensor of a rule of its three terms."""

import numpy as np
import pytest

from eigentext.grammars._sparse_loops import fill
from eigentext.grammars.learning.training import Smoothing, maximize
from eigentext.grammars.sparse_grammar import SparseCounts


def test_fill_adds_up_three_terms_and_an_average(latent, hand_trees):
    world = latent(hand_trees, (3, 2, 4), 0, shape=0.3)
    counts = world.trees.expect(world.parameters)
    keys = np.flatnonzero(counts.tensor > 0.01)
    counts.tensor = SparseCounts.of(keys, counts.tensor[keys])
    grammar = maximize(world.trees, world.parameters.grammar, counts, Smoothing()).grammar
    rules = grammar.parts
    for r, (mb, mc, ma) in enumerate(grammar.sizes):
        left = rules.left[rules.left_at[r] : rules.left_at[r + 1]].reshape(mb, ma)
        right = rules.right[rules.right_at[r] : rules.right_at[r + 1]].reshape(mc, ma)
        top = rules.top[rules.top_at[r] : rules.top_at[r + 1]]
        p2 = rules.share[rules.left_states[r] : rules.left_states[r] + mb]
        p3 = rules.share[rules.right_states[r] : rules.right_states[r] + mc]
        t = np.einsum("ba,ca->bca", left, right) + np.einsum("b,c,a->bca", p2, p3, top)
        for k in range(rules.entries[r], rules.entries[r + 1]):
            t[rules.b[k], rules.c[k], rules.a[k]] += rules.value[k]
        expected = rules.own * t + rules.others[rules.parent[r]] * t.sum(axis=-1, keepdims=True)
        found = np.empty(mb * mc * ma)
        fill(rules, r, found)
        assert found.reshape(mb, mc, ma) == pytest.approx(expected, rel=1e-6, abs=1e-15)
