"""The posteriors of hidden states at the nodes of a tree, against sums over all assignments."""

from itertools import product

import numpy as np
import pytest

import eigentext as et


def by_enumeration(model, tree):
    """p(h | tree) at every node of the binarized tree, by the sum over the states of all nodes."""
    level = model._cascade.levels[0]
    encoded = model._empty.encode([et.normalize_tree(tree)])
    grammar, q = level.grammar, level.words(encoded.tokens)
    n = len(encoded.label)
    sizes = [int(grammar.n_states[a]) for a in encoded.label]
    found = [np.zeros(m) for m in sizes]
    for states in product(*map(range, sizes)):
        at = [grammar.state_offsets[a] + h for a, h in zip(encoded.label, states)]
        p, word = grammar.root[at[-1]], 0
        for i in range(n):
            if encoded.left[i] < 0:
                p *= q[word, at[i]]
                word += 1
            else:
                t = grammar.tensor_of(encoded.rule[i])
                p *= t[states[encoded.left[i]], states[encoded.right[i]], states[i]]
        for i, h in enumerate(states):
            found[i][h] += p
    total = found[-1].sum()
    symbols = [model.symbols_[a] for a in encoded.label]
    return [p / total for p, symbol in zip(found, symbols) if symbol.siblings is None]


@pytest.mark.parametrize("method", ["em", "spectral", "pivot"])
def test_states_are_posteriors(hand_trees, method):
    model = et.LatentPCFG(2, method=method, nodes_per_state=1, rare=1).fit(hand_trees)
    tree = et.Tree.parse(str(hand_trees[0]))
    found = model.state_posteriors(tree)
    expected = by_enumeration(model, tree)
    assert len(found) == len(expected)
    for node, states in zip(found, expected):
        np.testing.assert_allclose(node.states, states, rtol=1e-8, atol=1e-10)
        assert node.states.sum() == pytest.approx(1)
        assert method == "spectral" or node.states.min() >= 0


def test_every_node_of_the_tree_is_there(hand_trees):
    model = et.LatentPCFG(2, method="em", nodes_per_state=1, n_iter=2, n_smooth=0).fit(hand_trees)
    for tree in hand_trees:
        nodes = model.state_posteriors(tree)
        found = [(name, node.start, node.end) for node in nodes for name in node.chain]
        assert sorted(found) == sorted(labeled_spans(tree))
        assert (nodes[-1].start, nodes[-1].end) == (0, len(tree.leaves()))


def labeled_spans(tree, start=0):
    spans, end = [], start
    for child in tree.children:
        if isinstance(child, str):
            end += 1
        else:
            spans += labeled_spans(child, end)
            end += len(child.leaves())
    return [*spans, (tree.label, start, end)]


def test_a_tree_of_unknown_rules_has_no_states(hand_trees):
    model = et.LatentPCFG(2, nodes_per_state=1).fit(hand_trees)
    assert model.state_posteriors("(X (Y a) (Z b))") == []


def test_a_pcfg_has_one_state_at_each_node(hand_trees):
    model = et.PCFG().fit(hand_trees)
    for node in model.state_posteriors(hand_trees[0]):
        assert node.states.tolist() == pytest.approx([1.0])


def test_an_analysis_is_what_its_parts_are(ambiguous_trees):
    model = et.LatentPCFG(2, nodes_per_state=1).fit(ambiguous_trees)
    words = ambiguous_trees[0].leaves()
    analysis = model.analyze(words, 3)
    assert analysis.parse == next(model.parses([words]))
    assert analysis.spans == model.marginals(words)
    assert analysis.best == model.k_best(words, 3)
