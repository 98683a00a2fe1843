"""Decoding, against every derivation of small random forests."""

from collections import Counter
from itertools import pairwise
from math import comb

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from eigentext.errors import ParameterError
from eigentext.grammars.chart.decoding import (
    best,
    brackets,
    count_derivations,
    enumerate_derivations,
    k_best,
    max_rule_scores,
    minimum_bayes_risk,
    viterbi_scores,
)
from eigentext.grammars.chart.forest import ParseForest
from eigentext.grammars.treebank.normal_form import Symbol, restore

SYMBOLS = [
    Symbol(("S",)),
    Symbol(("NP",)),
    Symbol(("NP",), parents=("S",)),
    Symbol(("S", "NP")),
    Symbol(("S", "NP", "S")),
    Symbol(("NP",), siblings=()),
    Symbol(("S",), siblings=("NP",)),
    Symbol(("N",), preterminal=True),
    Symbol(("NP", "N"), preterminal=True),
    Symbol(("V",), preterminal=True),
]
N_INNER = 7
RULES = np.array([(b, c, a) for b in range(10) for c in range(10) for a in range(N_INNER)])


def viterbi(forest, *logs):
    return best(forest, *viterbi_scores(forest, *logs))


def max_rule_product(forest, *posteriors):
    return best(forest, *max_rule_scores(forest, *posteriors))


def packed(cells, roots) -> ParseForest:
    """A forest from its items bottom-up: (label, start, end, {rule: [(left, right), …]})."""
    groups, rule, edges, children = [0], [], [0], []
    for *_, found in cells:
        for r in sorted(found):
            rule.append(r)
            children += found[r]
            edges.append(len(children))
        groups.append(len(rule))
    label, start, end = (np.array([cell[x] for cell in cells], np.int32) for x in range(3))
    left, right = np.array(children, np.int32).reshape(-1, 2).T.copy()
    return ParseForest(
        label,
        start,
        end,
        np.array(groups, np.int64),
        np.array(rule, np.int32),
        np.array(edges, np.int64),
        left,
        right,
        np.array(roots, np.int32),
    )


def random_forest(seed: int, n_words: int) -> ParseForest:
    """Items by width: some tags at each word, then what some rules build from them."""
    rng = np.random.default_rng(seed)
    rules = {tuple(RULES[r]): r for r in rng.choice(len(RULES), 200, replace=False)}
    cells, at = [], {}
    for width in range(1, n_words + 1):
        for i in range(n_words - width + 1):
            j, here = i + width, []
            if width == 1:
                tags = rng.permutation([7, 8, 9])[: rng.integers(1, 4)]
                found = {a: {} for a in sorted(tags)}
            else:
                found = {a: {} for a in rng.permutation(N_INNER)[: rng.integers(1, 4)]}
                for (b, c, a), r in rules.items():
                    pairs = [
                        (left, right)
                        for k in range(i + 1, j)
                        for left in at[i, k]
                        for right in at[k, j]
                        if (cells[left][0], cells[right][0]) == (b, c)
                    ]
                    if a in found and pairs:
                        found[a][r] = pairs
            for a, by_rule in found.items():
                if width == 1 or by_rule:
                    here.append(len(cells))
                    cells.append((a, i, j, by_rule))
            at[i, j] = here
    whole = [item for item in at[0, n_words] if SYMBOLS[cells[item][0]].siblings is None]
    return packed(cells, whole[: rng.integers(1, 4)])


def branching(n_words: int) -> ParseForest:
    """All binary trees with one label."""
    cells, at = [], {}
    for width in range(1, n_words + 1):
        for i in range(n_words - width + 1):
            splits = [(at[i, k], at[k, i + width]) for k in range(i + 1, i + width)]
            at[i, i + width] = len(cells)
            cells.append((7 if width == 1 else 0, i, i + width, {0: splits} if splits else {}))
    return packed(cells, [len(cells) - 1])


def tree(forest, derivation):
    tokens = [f"w{i}" for i in range(forest.end.max())]
    return restore(SYMBOLS, forest.label[derivation.item], *derivation[2:], tokens)


def key(derivation):
    return tuple(derivation.item.tolist()), tuple(derivation.edge.tolist())


def total(forest, derivation, items, edges=None, roots=None):
    score = items[derivation.item].sum()
    if edges is not None:
        score += edges[derivation.edge[derivation.edge >= 0]].sum()
    if roots is not None:
        score += roots[np.flatnonzero(forest.roots == derivation.item[-1])[0]]
    return score


forests = st.builds(random_forest, st.integers(0, 10**6), st.integers(1, 6)).filter(
    lambda forest: len(forest.roots) and count_derivations(forest) <= 1500
)


@pytest.fixture
def attached():
    """(S (NP a b) c) and the flat (S a b c), which has @S in place of NP."""
    return packed(
        [
            (7, 0, 1, {}),
            (7, 1, 2, {}),
            (9, 2, 3, {}),
            (1, 0, 2, {0: [(0, 1)]}),
            (6, 0, 2, {1: [(0, 1)]}),
            (0, 0, 3, {2: [(3, 2)], 3: [(4, 2)]}),
        ],
        [5],
    )


# what there is ------------------------------------------------------------------------------------


def test_binary_trees_are_counted_exactly():
    for n in range(1, 8):
        assert len(list(enumerate_derivations(branching(n)))) == comb(2 * n - 2, n - 1) // n
    assert count_derivations(branching(60)) == comb(118, 59) // 60  # more than a float can tell


@given(forests)
def test_every_derivation_is_a_tree_of_the_forest_and_comes_once(forest):
    found = list(enumerate_derivations(forest))
    assert len(found) == count_derivations(forest) == len({key(d) for d in found})
    for item, edge, left, right in found:
        assert item[-1] in forest.roots
        leaf = edge < 0
        assert np.array_equal(forest.start[item[leaf]], np.arange(forest.end.max()))
        assert (left[leaf] == -1).all() and (right[leaf] == -1).all()
        assert np.array_equal(item[left[~leaf]], forest.left[edge[~leaf]])
        assert np.array_equal(item[right[~leaf]], forest.right[edge[~leaf]])
        assert (right[~leaf] == np.flatnonzero(~leaf) - 1).all()  # post-order


# best and k best ----------------------------------------------------------------------------------


@given(forests, st.integers(0, 10**6))
def test_best_is_the_first_of_the_largest_sums(forest, seed):
    rng = np.random.default_rng(seed)
    items, edges, roots = (  # small integers: many ties
        rng.integers(-2, 3, len(x)).astype(float) for x in (forest.label, forest.left, forest.roots)
    )
    for scores in [(items, edges, roots), (items, None, roots), (items, edges), (items,)]:
        every = list(enumerate_derivations(forest))
        first = every[np.argmax([total(forest, d, *scores) for d in every])]
        found = best(forest, *scores)
        assert key(found) == key(first)
        assert np.array_equal(found.left, first.left) and np.array_equal(found.right, first.right)


@given(forests, st.integers(0, 10**6), st.booleans())
def test_k_best_are_all_derivations_in_order(forest, seed, tied):
    rng = np.random.default_rng(seed)
    scores = [rng.normal(size=len(x)) for x in (forest.label, forest.left, forest.roots)]
    if tied:
        scores = [x.round() for x in scores]
    every = {key(d): total(forest, d, *scores) for d in enumerate_derivations(forest)}
    ranked = sorted(every.values(), reverse=True)
    whole = k_best(forest, *scores, len(every) + 5)
    assert [key(d) for _, d in whole[:1]] == [key(best(forest, *scores))]
    assert {key(d) for _, d in whole} == set(every)
    assert len(whole) == len(every)
    np.testing.assert_allclose([score for score, _ in whole], ranked, atol=1e-9)
    np.testing.assert_allclose([every[key(d)] for _, d in whole], ranked, atol=1e-9)
    assert all(a >= b for (a, _), (b, _) in pairwise(whole))
    for k in (1, 2, 7):
        assert [key(d) for _, d in k_best(forest, *scores, k)] == [key(d) for _, d in whole[:k]]


@given(forests, st.integers(0, 10**6))
def test_minus_infinity_forbids(forest, seed):
    rng = np.random.default_rng(seed)
    scores = [rng.normal(size=len(x)) for x in (forest.label, forest.left, forest.roots)]
    for x, share in zip(scores, (0.1, 0.2, 0.3)):
        x[rng.random(len(x)) < share] = -np.inf
    every = {key(d): total(forest, d, *scores) for d in enumerate_derivations(forest)}
    allowed = {d: score for d, score in every.items() if score > -np.inf}
    whole = k_best(forest, *scores, len(every))
    assert {key(d) for _, d in whole} == set(allowed)
    found = best(forest, *scores)
    assert (found is None) == (not allowed)
    assert found is None or key(found) == key(whole[0][1])


def test_equal_scores_come_in_the_order_of_roots_and_edges(attached):
    words = packed([(a, 0, 1, {}) for a in (7, 8, 9, 7, 8, 9)], range(6))
    assert [d.item.tolist() for _, d in k_best(words, None, k=6)] == [[i] for i in range(6)]
    assert [d.item[2] for _, d in k_best(attached, None, k=2)] == [3, 4]


def test_one_word():
    forest = packed([(7, 0, 1, {}), (9, 0, 1, {})], [0, 1])
    assert best(forest, np.array([1.0, 2.0])).item.tolist() == [1]
    assert best(forest, None).item.tolist() == [0]
    ranked = k_best(forest, np.array([1.0, 2.0]), None, np.array([3.0, 0.0]), 5)
    assert [(score, d.item.tolist()) for score, d in ranked] == [(4.0, [0]), (2.0, [1])]
    assert str(tree(forest, ranked[0][1])) == "(N w0)"
    assert max_rule_product(forest, np.empty(0), np.array([0.2, 0.8])).item.tolist() == [1]
    assert viterbi(forest, np.empty(0), np.log([0.2, 0.1])).item.tolist() == [0]
    mu = np.array([0.2, 0.8])
    assert minimum_bayes_risk(forest, mu, brackets(SYMBOLS)).item.tolist() == [1]


@pytest.mark.parametrize("cells", [[], [(7, 0, 1, {}), (9, 1, 2, {})]])
def test_no_root_is_no_derivation(cells):
    forest = packed(cells, [])
    scores = np.zeros(len(cells))
    assert best(forest, scores) is None
    assert k_best(forest, scores, k=3) == []
    assert viterbi(forest, np.empty(0), scores) is None
    assert max_rule_product(forest, np.empty(0), scores) is None
    assert minimum_bayes_risk(forest, scores, brackets(SYMBOLS)) is None
    assert count_derivations(forest) == 0
    assert list(enumerate_derivations(forest)) == []


def test_long_chains_need_no_recursion():
    n = 1200  # two tags a word, one tree over them
    cells = [(a, i, i + 1, {}) for i in range(n) for a in (7, 9)]
    below = [0, 1]
    for j in range(2, n + 1):
        pairs = [(b, c) for b in below for c in (2 * j - 2, 2 * j - 1)]
        below = [len(cells)]
        cells.append((0, 0, j, {0: pairs}))
    forest = packed(cells, below)
    scores = np.where(forest.label == 9, -1.0, 0.0)
    assert count_derivations(forest) == 2**n
    ranked = k_best(forest, scores, k=n + 2)
    assert [score for score, _ in ranked] == [0.0] + [-1.0] * n + [-2.0]
    leaves = {tuple(d.item[d.edge < 0] % 2) for _, d in ranked}
    assert len(leaves) == n + 2


# what to score ------------------------------------------------------------------------------------


@given(forests, st.integers(0, 10**6), st.integers(1, 3))
def test_products_of_rules_against_every_derivation(forest, seed, n_models):
    rng = np.random.default_rng(seed)
    rule, word = rng.random(len(RULES)), rng.random(len(forest.label))
    root, posterior = rng.random(len(forest.roots)), rng.random((n_models, len(forest.left)))
    words = rng.random((n_models, len(forest.label)))
    group = np.repeat(np.arange(len(forest.rule)), np.diff(forest.edges))

    def product(d, of_edge, of_word, of_root=1.0):
        edge = d.edge[d.edge >= 0]
        return of_edge[edge].prod() * of_word[d.item[d.edge < 0]].prod() * of_root

    first = {item: n for n, item in enumerate(forest.roots)}
    every = list(enumerate_derivations(forest))
    t = rule[forest.rule][group]
    p = [product(d, t, word, root[first[d.item[-1]]]) for d in every]
    found = viterbi(forest, np.log(rule), np.log(word), np.log(root))
    assert product(found, t, word, root[first[found.item[-1]]]) == pytest.approx(max(p))
    p = [product(d, t, word) for d in every]
    assert product(viterbi(forest, np.log(rule), np.log(word)), t, word) == pytest.approx(max(p))

    r, q = posterior.prod(axis=0), words.prod(axis=0)
    found = max_rule_product(forest, posterior, words)
    assert product(found, r, q) == pytest.approx(max(product(d, r, q) for d in every))
    if n_models == 1:
        assert key(max_rule_product(forest, posterior[0], words[0])) == key(found)
    found = max_rule_product(forest, posterior[0], words[0], root)
    r, q = posterior[0], words[0]
    p = [product(d, r, q, root[first[d.item[-1]]]) for d in every]
    assert product(found, r, q, root[first[found.item[-1]]]) == pytest.approx(max(p))


def test_posteriors_of_zero_are_avoided_not_forbidden(attached):
    words = np.ones(6)
    assert max_rule_product(attached, np.array([0.5, 0.5, 0.0, 0.1]), words).item[2] == 4
    assert max_rule_product(attached, np.array([0.0, 0.0, 0.0, 1.0]), words).item[2] == 4
    assert max_rule_product(attached, np.array([1.0, -1e-17, 0.0, 0.0]), words).item[2] == 3


def spans(root):
    """Brackets and tags of a tree, with their spans, as multisets."""
    found, tags = Counter(), Counter()
    todo, at = [(root, 0)], 0
    while todo:
        node, at = todo.pop()
        if node.is_preterminal:
            tags[node.label, at] += 1
            continue
        found[node.label, at, at + len(node.leaves())] += 1
        for child in node.children:
            todo.append((child, at))
            at += len(child.leaves())
    return found, tags


@given(
    forests,
    st.integers(0, 10**6),
    st.sampled_from([0.0, 0.3, 0.9]),
    st.sampled_from([0.0, 0.5, 1.0]),
)
def test_minimum_risk_is_over_all_trees(forest, seed, tau, worth):
    """The tree with the largest expected overlap with a tree drawn from the distribution."""
    every = list(enumerate_derivations(forest))
    assume(len(every) <= 60)
    p = np.random.default_rng(seed).dirichlet(np.full(len(every), 0.5))
    marginals = np.zeros(len(forest.label))
    for d, weight in zip(every, p):
        marginals[d.item] += weight
    seen = [spans(tree(forest, d)) for d in every]

    def gain(d):
        mine, tags = spans(tree(forest, d))
        right = sum(q * (mine & other).total() for q, (other, _) in zip(p, seen))
        right_tags = sum(q * (tags & other).total() for q, (_, other) in zip(p, seen))
        return right - tau * mine.total() + worth * right_tags

    found = minimum_bayes_risk(forest, marginals, brackets(SYMBOLS), tau=tau, tags=worth)
    assert gain(found) == pytest.approx(max(map(gain, every)))


@given(forests, st.integers(0, 10**6))
def test_minimum_risk_by_symbols_and_by_nodes(forest, seed):
    mu = np.random.default_rng(seed).random((3, len(forest.label)))
    items = mu.mean(axis=0)
    found = minimum_bayes_risk(forest, mu, brackets(SYMBOLS, by="symbol"))
    assert key(found) == key(best(forest, items))
    items[(forest.label == 5) | (forest.label == 6)] = 0.0
    found = minimum_bayes_risk(forest, mu, brackets(SYMBOLS, by="node"))
    assert key(found) == key(best(forest, items))


def test_minimum_risk_leaves_the_most_probable_tree_for_what_others_share():
    forest = branching(4)
    trees = {str(tree(forest, d)): d for d in enumerate_derivations(forest)}
    p = {
        "(S (S (S (N w0) (N w1)) (N w2)) (N w3))": 0.4,
        "(S (N w0) (S (S (N w1) (N w2)) (N w3)))": 0.35,
        "(S (N w0) (S (N w1) (S (N w2) (N w3))))": 0.25,
    }
    mu = np.zeros(len(forest.label))
    for brackets_of, probability in p.items():
        mu[trees[brackets_of].item] += probability
    # Below the root: .4 + .4, .6 + .35 and .6 + .25.
    found = minimum_bayes_risk(forest, mu, brackets(SYMBOLS))
    assert str(tree(forest, found)) == list(p)[1]


def test_tau_takes_improbable_brackets_out(attached):
    mu = np.array([1, 1, 1, 0.4, 0.6, 1])
    table = brackets(SYMBOLS)
    nested, flat = "(S (NP (N w0) (N w1)) (V w2))", "(S (N w0) (N w1) (V w2))"
    assert str(tree(attached, minimum_bayes_risk(attached, mu, table))) == nested
    assert str(tree(attached, minimum_bayes_risk(attached, mu, table, tau=0.39))) == nested
    assert str(tree(attached, minimum_bayes_risk(attached, mu, table, tau=0.41))) == flat
    by_symbol = minimum_bayes_risk(attached, mu, brackets(SYMBOLS, by="symbol"))
    assert str(tree(attached, by_symbol)) == flat
    models = np.array([mu, mu, mu])
    models[:, 3] = 0.6, 0.5, 0.1
    assert str(tree(attached, minimum_bayes_risk(attached, models, table, tau=0.39))) == nested
    assert str(tree(attached, minimum_bayes_risk(attached, models, table, tau=0.41))) == flat


def test_table_of_brackets():
    offsets, names, n_brackets = brackets(SYMBOLS)
    rows = [names[a:b].tolist() for a, b in pairwise(offsets)]
    s, np_, again = 0, 1, 2  # the second S of a chain is another bracket
    n, v = 3, 4
    assert rows == [[s], [np_], [np_], [s, np_], [s, np_, again], [], [], [n], [np_, n], [v]]
    assert n_brackets == 3
    offsets, names, n_brackets = brackets(SYMBOLS, by="symbol")
    assert np.array_equal(offsets, np.arange(11)) and np.array_equal(names, np.arange(10))
    assert n_brackets == N_INNER
    offsets, names, n_brackets = brackets(SYMBOLS, by="node")
    assert np.diff(offsets).tolist() == [1, 1, 1, 1, 1, 0, 0, 1, 1, 1]
    assert n_brackets == 5


# bad input ----------------------------------------------------------------------------------------


def test_bad_scores_say_what_is_wrong(attached):
    with pytest.raises(ParameterError, match=r"scores of 6 items have the shape \(4,\)"):
        best(attached, np.zeros(4))
    with pytest.raises(ParameterError, match=r"scores of 4 edges have the shape \(6,\)"):
        best(attached, np.zeros(6), np.zeros(6))
    with pytest.raises(ParameterError, match=r"scores of 1 roots have the shape \(6,\)"):
        k_best(attached, None, None, np.zeros(6), 2)
    with pytest.raises(ParameterError, match=r"scores of 6 items have the shape \(5,\)"):
        minimum_bayes_risk(attached, np.zeros((2, 5)), brackets(SYMBOLS))
    for bad in (np.nan, np.inf):
        with pytest.raises(ParameterError, match="scores of edges hold NaN or inf: give numbers"):
            best(attached, None, np.array([0, 0, bad, 0]))
    with pytest.raises(ParameterError, match="k is 0: ask for one derivation or more"):
        k_best(attached, None, k=0)
    with pytest.raises(ParameterError, match='by is "bracket", "node" or "symbol", not'):
        brackets(SYMBOLS, by="label")
