"""Marginals of forests, against all trees with all their states, and against known values."""

from itertools import product
from math import comb, log

import numpy as np
import pytest
from numba import config

from eigentext.grammars.chart.forest import (
    ParseForest,
    inside_outside,
    inside_pass,
    kept,
    tree_forest,
)
from eigentext.grammars.grammar import Grammar
from eigentext.grammars.treebank.normal_form import Rules

RULES = Rules(*np.array([[0, 0, 1, 1, 0], [0, 0, 0, 2, 2], [0, 1, 2, 0, 2], [1, 1, 1, 1, 1]]))


def random_grammar(seed, n_states, zeros=0.0):
    rng = np.random.default_rng(seed)
    grammar = Grammar(RULES, np.array(n_states), np.empty(0), np.empty(0))
    grammar.tensor, grammar.root = (
        rng.gamma(0.7, size=x[-1]) * (rng.random(x[-1]) >= zeros)
        for x in (grammar.tensor_offsets, grammar.state_offsets)
    )
    return grammar


def random_words(forest, grammar, seed):
    leaves = np.flatnonzero(np.diff(forest.groups) == 0)
    sizes = grammar.n_states[forest.label[leaves]]
    return np.random.default_rng(seed).gamma(0.7, size=sizes.sum()) * 1e-3


def derivations(forest, p):
    """All trees of an item: its nodes, children first, as (item, edge, left, right)."""
    edges = range(forest.edges[forest.groups[p]], forest.edges[forest.groups[p + 1]])
    if not edges:
        yield ((p, -1, -1, -1),)
    for e in edges:
        b, c = forest.left[e], forest.right[e]
        for left, right in product(derivations(forest, b), derivations(forest, c)):
            yield (*left, *right, (p, e, b, c))


def enumerated(forest, grammar, words):
    """The probability of all trees with all their states, and that of items and edges."""
    leaves = np.flatnonzero(np.diff(forest.groups) == 0)
    sizes = grammar.n_states[forest.label[leaves]]
    q = dict(zip(leaves.tolist(), np.split(words, np.cumsum(sizes)[:-1])))
    rule = np.repeat(forest.rule, np.diff(forest.edges))
    total, items, edges = 0.0, np.zeros(len(forest.label)), np.zeros(len(forest.left))
    for root in forest.roots:
        for nodes in derivations(forest, root):
            of_tree = 0.0
            choices = (range(grammar.n_states[forest.label[p]]) for p, *_ in nodes)
            for states in product(*choices):
                h = {p: s for (p, *_), s in zip(nodes, states)}
                value = grammar.root[grammar.state_offsets[forest.label[root]] + h[root]]
                for p, e, b, c in nodes:
                    t = q[p][h[p]] if e < 0 else grammar.tensor_of(rule[e])[h[b], h[c], h[p]]
                    value *= t
                of_tree += value
            total += of_tree
            items[[p for p, *_ in nodes]] += of_tree
            edges[[e for _, e, *_ in nodes if e >= 0]] += of_tree
    return total, items / total, edges / total


@pytest.mark.parametrize("n_states", [(1, 1, 1), (2, 1, 3), (1, 3, 2)])
@pytest.mark.parametrize(
    "words", [[[0], [2]], [[0, 1, 2]], [[0, 2], [2], [0, 2]], [[0], [2], [0], [2]]]
)
def test_marginals_are_those_of_all_trees_and_states(whole_forest, words, n_states):
    forest = whole_forest(RULES, words)
    for seed, zeros in ((0, 0.0), (1, 0.0), (2, 0.3)):
        grammar = random_grammar(seed, n_states, zeros)
        q = random_words(forest, grammar, seed)
        with np.errstate(invalid="ignore"):
            total, items, edges = enumerated(forest, grammar, q)
        found = inside_outside(forest, grammar, q)
        if total == 0:
            assert found is None
            continue
        assert found.log_probability == pytest.approx(log(total), rel=1e-12)
        assert np.allclose(found.items, items, rtol=1e-9, atol=1e-13)
        assert np.allclose(found.edges, edges, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_inside_times_outside_sums_to_one_at_every_position(whole_forest, seed):
    words = [[0, 2], [2], [0, 1], [0], [1, 2], [2], [0, 2]]
    forest = whole_forest(RULES, words)
    grammar = random_grammar(seed, (5, 2, 3))
    found = inside_outside(forest, grammar, random_words(forest, grammar, seed))
    leaf = forest.end - forest.start == 1
    assert np.allclose(np.bincount(forest.start[leaf], found.items[leaf]), 1, rtol=1e-12)
    # A binary tree over n words has n - 1 inner nodes. One of them is the root.
    assert found.items[~leaf].sum() == pytest.approx(len(words) - 1)
    assert found.edges.sum() == pytest.approx(len(words) - 1)
    assert found.items[forest.roots].sum() == pytest.approx(1)
    # The marginal of an item is the sum of those of its edges, and of the edges above it.
    item = np.repeat(np.arange(len(forest.label)), np.diff(forest.edges[forest.groups]))
    n = len(forest.label)
    assert np.allclose(np.bincount(item, found.edges, n)[~leaf], found.items[~leaf], atol=1e-12)
    below = np.bincount(forest.left, found.edges, n) + np.bincount(forest.right, found.edges, n)
    below[forest.roots] += found.items[forest.roots]
    assert np.allclose(below, found.items, atol=1e-12)


def test_where_to_attach_by_hand(whole_forest):
    """(saw birds) with lenses, or saw (birds with lenses): 0.3 to 0.4."""
    VP, NP, PP, V, P = range(5)
    made = {(VP, V, NP): 0.7, (VP, VP, PP): 0.3, (NP, NP, PP): 0.4, (PP, P, NP): 1.0}
    rules = Rules(*np.array(list(made)).T, np.ones(4, int))
    grammar = Grammar(rules, np.ones(5, int), np.array(list(made.values())), np.eye(5)[VP])
    forest = whole_forest(rules, [[V], [NP], [P], [NP]])
    q = np.array([0.2, 0.6, 0.5, 0.1])  # saw, birds, with, lenses
    found = inside_outside(forest, grammar, q)
    rest = 0.7 * q.prod()
    assert found.log_probability == pytest.approx(log(rest * (0.3 + 0.4)))
    spans = zip(forest.label.tolist(), forest.start.tolist(), forest.end.tolist())
    expected = {
        (V, 0, 1): 1, (NP, 1, 2): 1, (P, 2, 3): 1, (NP, 3, 4): 1, (PP, 2, 4): 1, (VP, 0, 4): 1,
        (VP, 0, 2): 3 / 7, (NP, 1, 4): 4 / 7,
    }  # fmt: skip
    assert dict(zip(spans, found.items)) == pytest.approx(expected)


def all_brackets(n):
    """The forest of S -> S S over n words: an item for every span, an edge for every split."""
    spans = [(i, j) for j in range(1, n + 1) for i in range(j - 1, -1, -1)]
    start, end = np.array(spans, np.int32).T.copy()
    place = np.zeros((n + 1, n + 1), np.int32)
    place[start, end] = np.arange(len(spans))
    wide = end - start > 1
    left = [place[i, i + 1 : j] for i, j in spans if j > i + 1]
    right = [place[i + 1 : j, j] for i, j in spans if j > i + 1]
    zeros = np.zeros(len(spans), np.int32)
    return ParseForest(
        zeros, start, end, np.concatenate(([0], np.cumsum(wide))), zeros[wide],
        np.concatenate(([0], np.cumsum((end - start)[wide] - 1))), np.concatenate(left),
        np.concatenate(right), place[[0], [n]],
    )  # fmt: skip


def catalan(n):
    return comb(2 * n, n) // (n + 1)


@pytest.mark.skipif(config.DISABLE_JIT, reason="slow")
@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize(("p", "q"), [(0.5, 0.5), (1e-9, 1e-12), (1e9, 1e12)])
def test_150_words_in_every_way(p, q, m):
    """The numbers of trees are Catalan numbers, so p(sentence) and all marginals are known."""
    n = 150
    forest = all_brackets(n)
    rules = Rules(*np.zeros((3, 1), np.int32), np.ones(1, int))
    # States make no difference, because rules do not depend on them.
    grammar = Grammar(rules, np.array([m]), np.full(m**3, p / m**2), np.full(m, 1 / m))
    found = inside_outside(forest, grammar, np.full(n * m, q))
    expected = log(catalan(n - 1)) + (n - 1) * log(p) + n * log(q)
    assert found.log_probability == pytest.approx(expected, rel=1e-12)
    width = forest.end - forest.start
    share = [catalan(w - 1) * catalan(n - w) / catalan(n - 1) for w in range(1, n + 1)]
    assert np.allclose(found.items, np.array(share)[width - 1], rtol=1e-8, atol=0)


def test_a_long_tree_is_a_forest_too(latent):
    """Its total equals that of learning, and the posterior of every node is one."""
    text = "(S (A a) (B b))"
    for side in np.random.default_rng(0).random(298):
        text = f"(S {text} (B b))" if side < 0.5 else f"(S (A a) {text})"
    for trees in (text, "(S (A a) (B b))", "(A a)"):
        model = latent([trees], (3, 2))
        forest, grammar = tree_forest(model.treebank), model.parameters.grammar
        leaves = np.flatnonzero(model.treebank.left < 0)
        words = [
            model.parameters.lexical[model.word_place(p) :][: grammar.n_states[forest.label[p]]]
            for p in leaves
        ]
        found = inside_outside(forest, grammar, np.concatenate(words))
        expected = model.trees.log_likelihood(model.parameters)
        assert found.log_probability == pytest.approx(expected, rel=1e-10)
        assert np.allclose(found.items, 1, rtol=1e-9)
        assert np.allclose(found.edges, 1, rtol=1e-9)
        assert inside_pass(forest, grammar, np.concatenate(words))[-1] == found.log_probability


@pytest.mark.parametrize("seed", range(4))
def test_negative_entries(whole_forest, seed):
    """A spectral grammar: the same sums, with their signs."""
    forest = whole_forest(RULES, [[0], [2], [0, 2], [2]])
    grammar = random_grammar(seed, (2, 1, 2))
    turned = Grammar(RULES, grammar.n_states, grammar.tensor.copy(), grammar.root.copy())
    # Another basis for the same states: a matrix A for each label, and its inverse above.
    rng = np.random.default_rng(seed)
    change = [rng.normal(size=(m, m)) for m in grammar.n_states]
    back = [np.linalg.inv(A) for A in change]
    for r, (a, b, c) in enumerate(zip(*RULES[:3])):
        turned.tensor_of(r)[:] = np.einsum(
            "bca,bi,cj,ka->ijk", grammar.tensor_of(r), back[b], back[c], change[a]
        )
    q = random_words(forest, grammar, 0)
    leaves = forest.label[np.diff(forest.groups) == 0]
    parts = np.split(q, np.cumsum(grammar.n_states[leaves])[:-1])
    other = np.concatenate([change[a] @ part for a, part in zip(leaves, parts)])
    for a, A in enumerate(back):
        states = slice(*grammar.state_offsets[a : a + 2])
        turned.root[states] = grammar.root[states] @ A
    assert (turned.tensor < 0).any()
    one, two = inside_outside(forest, grammar, q), inside_outside(forest, turned, other)
    assert two.log_probability == pytest.approx(one.log_probability, rel=1e-9)
    assert np.allclose(two.items, one.items, atol=1e-9)
    assert np.allclose(two.edges, one.edges, atol=1e-9)
    turned.root *= -1
    flipped = inside_outside(forest, turned, other)
    assert (one.sign, two.sign, flipped.sign) == (1, 1, -1)
    assert flipped.log_probability == pytest.approx(one.log_probability, rel=1e-9)
    assert np.allclose(flipped.items, one.items, atol=1e-9)


def test_no_probability_is_none(whole_forest):
    forest = whole_forest(RULES, [[0], [2], [0]])
    grammar = random_grammar(0, (2, 1, 3))
    q = random_words(forest, grammar, 0)
    assert inside_outside(forest, grammar, q) is not None
    assert inside_outside(forest, grammar, 0 * q) is None
    without = Grammar(RULES, grammar.n_states, 0 * grammar.tensor, grammar.root)
    assert inside_outside(forest, without, q) is None
    rootless = Grammar(RULES, grammar.n_states, grammar.tensor, 0 * grammar.root)
    assert inside_outside(forest, rootless, q) is None
    no_root, _ = kept(forest, forest.end - forest.start < 3)
    assert len(no_root.roots) == 0
    assert inside_outside(no_root, grammar, q) is None
