"""Candidates: which pairs are candidates, their structures, and which structures are trees."""

import numpy as np

import eigentext as et
from eigentext.kernels.candidate import (
    Candidate,
    as_candidate,
    is_tree,
    marked_structure,
    structure_of,
)

TREE = et.Tree.parse("(S (NP (NNS cats)) (VP (VBP sleep)))")
TAGGED = [("cats", "NNS"), ("and/or", "CC"), ("dogs", "NNS")]


def test_a_pair_of_a_structure_and_a_number_is_a_candidate():
    assert as_candidate((TREE, -1.0)) == as_candidate((-1.0, TREE)) == Candidate(TREE, -1.0)
    assert as_candidate((np.float32(-2), "(A b)")) == ("(A b)", -2.0)
    assert structure_of((TREE, -1)) is TREE


def test_anything_else_is_a_structure():
    for other in (TREE, "(A b)", TAGGED, (("a", "A"), ("b", "B")), (1.0, 2.0), (1, TREE, 2)):
        assert as_candidate(other) is None
        assert structure_of(other) is other


def test_only_named_pairs_are_marked():
    assert marked_structure(Candidate(TREE, -1.0)) is TREE
    for other in (TREE, (TREE, -1.0), (1.0, 2.0)):
        assert marked_structure(other) is other


def test_trees_of_all_kinds():
    class Foreign(list):  # like nltk.Tree
        def label(self):
            return "NP"

    assert all(map(is_tree, (TREE, str(TREE), Foreign(["cats"]))))
    assert not any(map(is_tree, (TAGGED, [], ())))
