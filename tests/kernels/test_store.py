"""The table of distinct nodes: what it stores once, and its layout for the loops."""

from itertools import pairwise

import numpy as np

from eigentext import SequenceKernel, TreeKernel

TREES = ["(S (A a) (A a))", "(S (A a) (A b))", "(S (A a) (A a))"]


def test_equal_nodes_are_one():
    encoded = TreeKernel().encode(TREES)
    assert len(encoded.store) == 4  # (A a), (A b) and the two trees
    assert encoded.identity[0] == encoded.identity[2] != encoded.identity[1]
    assert encoded.store.nodes.size[encoded.roots].tolist() == [3, 3, 3]


def test_sequences_share_what_follows():
    encoded = SequenceKernel().encode([[("a", "X"), ("b", "Y")], [("c", "X"), ("b", "Y")]])
    assert len(encoded.store) == 3
    assert encoded.store.nodes.children.tolist() == [-1, 0, 0]


def test_children_stand_before_their_parents():
    encoded = TreeKernel().encode(["(S (A (B b) (C c)) (D (A (B b) (C c))))"])
    rows = encoded.rows(encoded)
    for place in range(len(rows.group)):
        below = rows.children[rows.child_start[place] : rows.child_start[place + 1]]
        assert (below < place).all()
    assert rows.weights.tolist() == [2, 2, 2, 1, 1]  # B, C and A occur twice


def test_a_forest_lists_every_occurrence_once():
    encoded = TreeKernel().encode(TREES)
    ((start, forest),) = encoded.forests
    assert start == 0
    group = np.repeat(np.arange(len(encoded.store.groups)), np.diff(forest.group_start))
    pairs = sorted(
        zip(forest.occurrence_row.tolist(), forest.occurrence_node.tolist(), strict=True)
    )
    assert len(pairs) == sum(encoded.store.nodes.size[encoded.roots])
    assert [row for row, _ in pairs] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    for one, (start, end) in enumerate(pairwise(forest.occurrence_start)):
        assert (np.diff(forest.occurrence_row[start:end]) <= 0).all()
        assert (group[forest.occurrence_node[start:end]] == one).all()


def test_weights_of_what_two_share_cancel():
    encoded = TreeKernel().encode(TREES[:2])
    merged = encoded.merged(np.array([1.0, -1.0]), encoded)
    assert merged.offsets.tolist() == [0, 4]
    # (A a) occurs twice in the first and once in the second.
    assert sorted(merged.weights) == [-1, -1, 1, 1]


def test_names_unknown_to_the_other_match_nothing():
    first, second = (TreeKernel().encode([tree]) for tree in ("(S (A a))", "(S (A b))"))
    assert sorted(first.rows(second).group) == [-1, 1]
