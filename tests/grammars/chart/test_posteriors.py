"""Posteriors from scores: known answers, all trees of a forest, laws, temperatures."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigentext.grammars.chart.decoding import enumerate_derivations
from eigentext.grammars.chart.forest import ParseForest
from eigentext.grammars.chart.posteriors import (
    best_temperature,
    item_posteriors,
    usual_temperature,
)


def packed(n, labels=1):
    """The forest of all binary trees over n words, with `labels` labels over each wide span."""
    items = [(0, i, i + 1) for i in range(n)]
    groups, rules, edges, left, right = [0] * (n + 1), [], [0], [], []
    number = {(i, i + 1): [i] for i in range(n)}
    for width in range(2, n + 1):
        for i in range(n - width + 1):
            j = i + width
            number[i, j] = []
            for a in range(labels):
                number[i, j].append(len(items))
                items.append((a, i, j))
                for b in range(labels):
                    pairs = [
                        (left_item, right_item)
                        for k in range(i + 1, j)
                        for left_item in number[i, k][b : b + 1]
                        for right_item in number[k, j]
                    ]
                    if pairs:
                        rules.append(b)
                        left += [x for x, _ in pairs]
                        right += [y for _, y in pairs]
                        edges.append(len(left))
                groups.append(len(rules))
    label, start, end = np.array(items, np.int32).T
    arrays = (np.array(x, np.int64) for x in (groups, rules, edges, left, right))
    return ParseForest(label, start, end, *arrays, roots=np.array(number[0, n]))


def by_trees(forest, edges, roots, temperature):
    """The same, by the product of the shares of each tree."""
    bounds = forest.edges[forest.groups]
    shares = np.concatenate([_shares(edges[a:b]) for a, b in pairwise(bounds)])
    of_root = dict(zip(forest.roots.tolist(), _shares(roots), strict=True))
    found, total = np.zeros(len(forest.label)), 0.0
    for tree in enumerate_derivations(forest):
        p = of_root[int(tree.item[-1])] * shares[tree.edge[tree.edge >= 0]].prod()
        found[tree.item] += p ** (1 / temperature)
        total += p ** (1 / temperature)
    return found / total


def _shares(scores):
    total = scores.sum()
    return scores / total if total > 0 else np.full(len(scores), 1 / max(len(scores), 1))


scored = st.tuples(
    st.integers(1, 5), st.integers(1, 2), st.integers(0, 10**6), st.sampled_from([0.5, 1, 1.3, 4])
)


def drawn(n, labels, seed):
    """A forest, and scores of which some are zero and some are far from the others."""
    rng = np.random.default_rng(seed)
    forest = packed(n, labels)

    def some(size):
        return np.exp(3 * rng.normal(size=size)) * (rng.random(size) > 0.2)

    return forest, some(len(forest.left)), some(len(forest.roots))


def test_a_known_answer():
    """Shares 0.8 and 0.2; their square roots are as 2 to 1."""
    forest = packed(3)
    edges = np.array([2.0, 7.0, 1.0, 4.0])  # the last item: word and pair, pair and word
    known = item_posteriors(forest, edges, np.ones(1))
    np.testing.assert_allclose(known, [1, 1, 1, 0.8, 0.2, 1])
    known = item_posteriors(forest, edges, np.ones(1), 2.0)
    np.testing.assert_allclose(known, [1, 1, 1, 2 / 3, 1 / 3, 1])


@given(scored)
@settings(max_examples=60)
def test_the_sums_over_all_trees(case):
    *which, temperature = case
    forest, edges, roots = drawn(*which)
    found = item_posteriors(forest, edges, roots, temperature)
    expected = by_trees(forest, edges, roots, temperature)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@given(scored)
@settings(max_examples=60)
def test_laws_of_a_distribution_over_trees(case):
    *which, temperature = case
    forest, edges, roots = drawn(*which)
    found = item_posteriors(forest, edges, roots, temperature)
    assert (found >= 0).all() and (found <= 1).all()
    n = int(forest.end.max())
    width = forest.end - forest.start
    assert found.sum() == pytest.approx(2 * n - 1)  # nodes of a binary tree
    assert found[width == n].sum() == pytest.approx(1)
    spans = {}
    for i, j, p in zip(forest.start.tolist(), forest.end.tolist(), found.tolist(), strict=True):
        spans[i, j] = spans.get((i, j), 0) + p
    for (i, j), p in spans.items():
        assert p <= 1 + 1e-9
        for (k, m), q in spans.items():
            if i < k < j < m:
                assert p + q <= 1 + 1e-9


def test_scores_of_any_size():
    forest = packed(4)
    edges = np.random.default_rng(0).random(len(forest.left))
    expected = item_posteriors(forest, edges, np.ones(1), 3.0)
    for scale in (1e-290, 1e290):
        found = item_posteriors(forest, scale * edges, scale * np.ones(1), 3.0)
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    equal = item_posteriors(forest, np.zeros(len(edges)), np.zeros(1))
    np.testing.assert_allclose(equal, item_posteriors(forest, np.ones(len(edges)), np.ones(1)))


def test_long_sentences_do_not_overflow():
    n = 60
    forest = packed(n)
    found = item_posteriors(forest, np.ones(len(forest.left)), np.ones(1), 10.0)
    assert found.sum() == pytest.approx(2 * n - 1)


def test_a_hotter_distribution_is_flatter():
    forest, edges, roots = drawn(5, 2, 3)

    def spread(temperature):
        p = item_posteriors(forest, edges, roots, temperature)
        return ((p * (1 - p))[p > 0]).sum()

    spreads = [spread(T) for T in (0.2, 0.5, 1.0, 2.0, 5.0)]
    assert spreads == sorted(spreads)


def test_the_usual_temperature_falls_towards_one():
    found = [usual_temperature(n) for n in (100, 1000, 10**4, 10**8)]
    assert found == sorted(found, reverse=True)
    assert found[0] < 2 and 1 < found[-1] < 1.05
    assert usual_temperature(99) == usual_temperature(1) == 1


@pytest.mark.parametrize("truth", [0.5, 1.0, 2.5])
def test_the_best_temperature_is_found(truth):
    rng = np.random.default_rng(1)
    logits = 3 * rng.normal(size=20000)
    right = rng.random(len(logits)) < 1 / (1 + np.exp(-logits / truth))
    found = best_temperature(lambda T: (1 / (1 + np.exp(-logits / T)), right))
    assert found == pytest.approx(truth, rel=0.05)
