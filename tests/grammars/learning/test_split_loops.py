"""The loss of undoing splits, against the likelihood ratio of each node from all its states."""

import numpy as np
import pytest

from eigentext.grammars.learning._split_loops import add_losses

SMALL = ["(S (A a) (B b))", "(S (A b) (S (A a) (B b)))", "(S (A a) (B b) (B a))", "(B a)"]


@pytest.mark.parametrize("seed", range(3))
def test_losses(latent, seed):
    """The likelihood of a tree whose two states are one at a single node, over that of before."""
    model = latent(SMALL, (2, 4, 1), seed)
    treebank, grammar = model.treebank, model.parameters.grammar
    was_split = grammar.n_states > 1
    counts = model.trees.expect(model.parameters)
    found = model.trees.split_losses(model.parameters, counts.states, was_split)
    expected = np.where(np.isfinite(found), 0.0, np.inf)
    for t, first in enumerate(treebank.offsets[:-1]):
        for node in range(first, treebank.offsets[t + 1]):
            a = treebank.label[node]
            below, above = inside_outside(model, t, node)
            for h in range(0, grammar.n_states[a] if was_split[a] else 0, 2):
                s, both = grammar.state_offsets[a] + h, slice(h, h + 2)
                p = counts.states[s : s + 2] / counts.states[s : s + 2].sum()
                others = above @ below - above[both] @ below[both]
                merged = above[both].sum() * (p @ below[both])
                expected[s] -= np.log((others + merged) / (above @ below))
    assert np.allclose(found, expected, rtol=1e-9)


def inside_outside(model, t, node):
    """Inside and outside of a node by states, without scales: slow, and by the book."""
    treebank, grammar, lexical = model.treebank, *vars(model.parameters).values()
    first, last = treebank.offsets[t : t + 2]
    inside, outside = {}, {}
    for p in range(first, last):
        a = treebank.label[p]
        if treebank.left[p] < 0:
            place = model.word_place(p)
            inside[p] = lexical[place : place + grammar.n_states[a]]
        else:
            t = grammar.tensor_of(treebank.rule[p])
            inside[p] = np.einsum("bca,b,c", t, inside[treebank.left[p]], inside[treebank.right[p]])
    states = grammar.state_offsets[treebank.label[last - 1] :]
    outside[last - 1] = grammar.root[states[0] : states[1]]
    for p in range(last - 1, first - 1, -1):
        if treebank.left[p] >= 0:
            b, c, t = treebank.left[p], treebank.right[p], grammar.tensor_of(treebank.rule[p])
            outside[b] = np.einsum("bca,c,a->b", t, inside[c], outside[p])
            outside[c] = np.einsum("bca,b,a->c", t, inside[b], outside[p])
    return inside[node], outside[node]


def test_nothing_is_divided_by_zero():
    """A split of which neither state is used, and a node of a tree without probability."""
    label, n_states = np.array([0, 1, 0]), np.array([2, 2])
    place, state_offsets = np.array([0, 2, 4, 6]), np.array([0, 2, 4])
    inside = np.array([0.5, 0.5, 1.0, 0.0, 0.0, 0.0])
    outside = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    losses = np.zeros(4)
    states = np.array([0.0, 0.0, 1.0, 0.0])
    was_split = np.array([True, True])
    add_losses(label, n_states, was_split, place, inside, outside, state_offsets, states, losses)
    assert losses.tolist() == [0, 0, 0, 0]
    # All of the tree hangs on one state, and all others of the treebank on its twin.
    inside, outside = np.array([1.0, 0.0] * 3), np.array([1.0, 0.0] * 3)
    states = np.array([0.0, 5.0, 1.0, 1.0])
    add_losses(label, n_states, was_split, place, inside, outside, state_offsets, states, losses)
    assert losses[0] == pytest.approx(-2 * np.log(1e-300))
    assert losses[2] == pytest.approx(np.log(2))
    assert losses[[1, 3]].tolist() == [0, 0]
