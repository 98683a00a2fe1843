import pytest

from eigentext.corpus.trees import as_tree, walk
from eigentext.explorer.asking import RefusedError
from eigentext.explorer.nodes import check_size, spanned

TREE = "(S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (NNP Ann))))"


def _preorder(node):
    yield node
    for child in node.get("children", ()):
        yield from _preorder(child)


def test_numbers_and_labels_are_those_of_a_walk():
    tree = as_tree(TREE)
    nodes = list(_preorder(spanned(tree)))
    names = [one if isinstance(one, str) else one.label for one in walk(tree)]
    assert [one["label"] for one in nodes] == names
    assert [one["id"] for one in nodes] == list(range(len(names)))


def test_spans_are_of_the_words_below():
    words = as_tree(TREE).leaves()
    for node in _preorder(spanned(as_tree(TREE))):
        below = [one["label"] for one in _preorder(node) if "children" not in one]
        assert words[slice(*node["span"])] == below


def test_probabilities_are_at_their_spans():
    found = list(_preorder(spanned(as_tree(TREE), {("NP", 0, 2): 0.5, ("S", 0, 4): 1.0000001})))
    known = {(one["label"], *one["span"]): one.get("probability") for one in found}
    assert known["NP", 0, 2] == 0.5
    assert known["S", 0, 4] == 1.0
    assert known["NP", 3, 4] is None


def test_large_and_deep_trees_are_refused():
    with pytest.raises(RefusedError, match="nodes; give"):
        check_size(as_tree(f"(S {'(A a)' * 1001})"), "a")
    with pytest.raises(RefusedError, match="deep"):
        check_size(as_tree("(A " * 201 + "a" + ")" * 201), "a")
    check_size(as_tree("(A " * 200 + "a" + ")" * 200), "a")
