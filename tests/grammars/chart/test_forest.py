"""Forests: the forest of a tree, and what is left if items are removed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext.grammars.chart.forest import kept, tree_forest
from eigentext.grammars.treebank.normal_form import Rules, Treebank, restore

RULES = Rules(*np.array([[0, 0, 1, 1, 0], [0, 0, 0, 2, 2], [0, 1, 2, 0, 2], [1, 1, 1, 1, 1]]))
WORDS = [[0, 2], [2], [0], [0, 2], [2]]


def derivable(forest, keep):
    """The kept items that can be built from kept items."""
    good = set()
    for p in range(len(forest.label)):
        edges = range(forest.edges[forest.groups[p]], forest.edges[forest.groups[p + 1]])
        pairs = ({forest.left[e], forest.right[e]} for e in edges)
        if keep[p] and (not len(edges) or any(pair <= good for pair in pairs)):
            good.add(p)
    return sorted(good)


def rows(forest, numbers=None):
    """The edges as (item, rule, left, right)."""
    numbers = np.arange(len(forest.label)) if numbers is None else numbers
    return [
        (numbers[p], forest.rule[g], numbers[forest.left[e]], numbers[forest.right[e]])
        for p in range(len(forest.label))
        for g in range(forest.groups[p], forest.groups[p + 1])
        for e in range(forest.edges[g], forest.edges[g + 1])
    ]


@given(st.lists(st.booleans(), min_size=45, max_size=45))
def test_what_is_left_is_what_can_still_be_built(whole_forest, keep):
    forest = whole_forest(RULES, WORDS)
    keep = np.resize(keep, len(forest.label))
    before = keep.copy()
    found, numbers = kept(forest, keep)
    assert np.array_equal(keep, before)
    expected = derivable(forest, keep)
    assert numbers.tolist() == expected
    for name in ("label", "start", "end"):
        assert np.array_equal(getattr(found, name), getattr(forest, name)[expected])
    left = [row for row in rows(forest) if {row[0], row[2], row[3]} <= set(expected)]
    assert rows(found, numbers) == left
    assert (np.diff(found.edges) > 0).all()
    assert numbers[found.roots].tolist() == [p for p in forest.roots if p in expected]
    assert [x.dtype for x in found] == [x.dtype for x in forest]


def test_all_and_nothing(whole_forest):
    forest = whole_forest(RULES, WORDS)
    everything = np.ones(len(forest.label), bool)
    found, numbers = kept(forest, everything)
    assert all(np.array_equal(a, b) for a, b in zip(found, forest))
    assert numbers.tolist() == list(range(len(forest.label)))
    found, numbers = kept(forest, ~everything)
    assert len(found.label) == len(found.rule) == len(found.roots) == len(numbers) == 0
    assert found.groups.tolist() == found.edges.tolist() == [0]


def test_the_forest_of_a_tree(hand_trees):
    for tree in hand_trees:
        treebank = Treebank.from_trees([tree])
        forest = tree_forest(treebank)
        wide = np.flatnonzero(np.diff(forest.groups))
        assert np.array_equal(forest.end - forest.start > 1, np.diff(forest.groups) == 1)
        assert (np.diff(forest.edges) == 1).all()
        assert len(forest.rule) == len(forest.left) == len(tree.leaves()) - 1
        assert forest.roots.tolist() == [len(forest.label) - 1]
        assert (forest.start[-1], forest.end[-1]) == (0, len(tree.leaves()))
        rules = treebank.rules()
        for p, r, b, c in rows(forest):
            assert (forest.start[p], forest.end[p]) == (forest.start[b], forest.end[c])
            assert forest.end[b] == forest.start[c]
            labels = tuple(forest.label[[p, b, c]])
            assert labels == (rules.parent[r], rules.left[r], rules.right[r])
        left, right = (np.full(len(forest.label), -1) for _ in range(2))
        left[wide], right[wide] = forest.left, forest.right
        assert restore(treebank.symbols, forest.label, left, right, tree.leaves()) == tree


def test_the_forest_of_a_word():
    forest = tree_forest(Treebank.from_trees(["(UH hello)"]))
    assert (forest.start.tolist(), forest.end.tolist()) == ([0], [1])
    assert forest.roots.tolist() == [0]
    assert len(forest.rule) == len(forest.left) == 0


@pytest.mark.parametrize("n", [2, 300])
def test_the_forest_of_a_long_chain(n):
    text = "(A a)"
    for _ in range(n - 1):
        text = f"(S (A a) {text})"
    forest = tree_forest(Treebank.from_trees([text]))
    wide = forest.end - forest.start > 1
    assert sorted(forest.start[wide]) == list(range(n - 1))
    assert (forest.end[wide] == n).all()
