"""Heads in trees as they are: phrases by hand, and the heads of binarized trees."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext.corpus.heads import ENGLISH, HeadFinder
from eigentext.corpus.trees import Tree
from eigentext.errors import ParameterError
from eigentext.grammars.treebank.heads import heads
from eigentext.grammars.treebank.normal_form import Treebank

LABELS = ["S", "NP", "VP", "PP", "X", "NN", "VBZ", "IN", "DT", "POS"]
SEES = (
    "(S (NP (PRP she)) (VP (VBZ sees) (NP (NNS birds)) (PP (IN with) (NP (DT a) (NN lens)))) (. .))"
)


@pytest.mark.parametrize(
    ("label", "children", "head"),
    [
        ("NP", "DT JJ NN PP", 2),
        ("NP", "NP PP", 0),
        ("NP", "NNP POS", 1),
        ("NP", "CD", 0),
        ("VP", "MD RB VP", 0),
        ("VP", "VP CC VP", 0),
        ("S", "NP VP .", 1),
        ("S", "NP NP", 1),
        ("PP", "IN NP", 0),
        ("PP", "NP XYZ", 0),  # no tier has a child: the side of the last tier
        ("LST", "X Y", 1),
        ("FOO", "NP VP", 0),
    ],
)
def test_head_children_by_hand(label, children, head):
    assert HeadFinder().head_child(label, children.split()) == head


def test_other_rules():
    finder = HeadFinder({"A": [("right", "B C"), ("left", "D")], "E": []}, default="right")
    assert finder.head_child("A", ["B", "C", "D"]) == 1
    assert finder.head_child("A", ["X", "D", "D"]) == 1
    assert finder.head_child("A", ["X", "Y"]) == 0
    assert finder.head_child("E", ["X", "Y"]) == 1
    assert finder.head_child("Z", ["X", "Y"]) == 1


def test_dependencies_by_hand():
    found = HeadFinder().dependencies(Tree.parse(SEES))
    assert found.words == ["she", "sees", "birds", "with", "a", "lens", "."]
    assert found.governor == [1, -1, 1, 1, 5, 3, 1]
    assert found.label == ["S", "", "VP", "VP", "NP", "PP", "S"]
    # From below: a lens, with lens, sees birds, birds with, she sees, sees .
    assert sorted(found.siblings) == [
        (0, 1, "S"), (1, 2, "VP"), (1, 6, "S"), (2, 3, "VP"), (3, 5, "PP"), (4, 5, "NP"),
    ]  # fmt: skip


def test_one_word_and_words_without_tags():
    found = HeadFinder().dependencies(Tree.parse("(UH hello)"))
    assert found == (["hello"], [-1], [""], [])
    found = HeadFinder().dependencies(Tree("X", ["a", "b"]))
    assert found.governor == [-1, 0]


def test_a_deep_tree():
    tree = Tree("NN", ["x"])
    for _ in range(20_000):
        tree = Tree("NP", [Tree("DT", ["a"]), tree])
    found = HeadFinder().dependencies(tree)
    assert found.governor == [20_000] * 20_000 + [-1]


@st.composite
def trees(draw, depth=4):
    label = draw(st.sampled_from(LABELS))
    if depth == 0 or draw(st.booleans()):
        return Tree(label, ["w"])
    return Tree(label, draw(st.lists(trees(depth - 1), min_size=1, max_size=4)))


@given(trees())
def test_the_heads_of_binarized_trees(tree):
    """The head of a constituent is its only word that a word outside governs, or none."""
    treebank = Treebank.from_trees([tree])
    place = np.cumsum(treebank.left < 0) - 1
    heads_of = place[heads(treebank)]
    first, last = place.copy(), place.copy()
    governor = HeadFinder().dependencies(tree).governor
    for node in range(len(place)):
        if treebank.left[node] >= 0:
            first[node], last[node] = first[treebank.left[node]], last[treebank.right[node]]
        if treebank.symbols[treebank.label[node]].siblings is None:
            inside = range(first[node], last[node] + 1)
            assert [w for w in inside if governor[w] not in inside] == [heads_of[node]]


def test_every_word_reaches_the_root():
    found = HeadFinder().dependencies(Tree.parse(SEES))
    for w in range(len(found.words)):
        for _ in found.words:
            w = found.governor[w] if found.governor[w] >= 0 else w
        assert w == 1


@pytest.mark.parametrize("rules", [{"NP": [("middle", "NN")]}, ENGLISH])
def test_bad_sides(rules):
    with pytest.raises(ParameterError, match="'left' or 'right', not"):
        HeadFinder(rules, default="left" if rules is not ENGLISH else "both")
