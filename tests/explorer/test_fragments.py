import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext import Tree, TreeKernel
from eigentext.corpus.trees import walk
from eigentext.explorer.asking import RefusedError
from eigentext.explorer.fragments import common_fragments, compare

DOG = "(S (NP (DT the) (NN dog)) (VP (VBZ sees) (NP (DT the) (NN dog))))"
CAT = "(S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (DT the) (NN cat))))"
WORDS = st.builds(
    Tree, st.sampled_from("AB"), st.lists(st.sampled_from("xy"), min_size=1, max_size=1)
)
TREES = st.recursive(
    WORDS,
    lambda below: st.builds(Tree, st.sampled_from("AB"), st.lists(below, min_size=1, max_size=2)),
    max_leaves=6,
)


def _fragments(tree):
    """All fragments of a tree, as strings, each as often as it occurs."""

    def rooted(node):
        options = [
            [child] if isinstance(child, str) else [child.label, *rooted(child)]
            for child in node.children
        ]
        return [f"({node.label} {' '.join(chosen)})" for chosen in itertools.product(*options)]

    return [one for node in tree.subtrees() for one in rooted(node)]


@given(TREES, TREES)
def test_each_is_a_fragment_of_both_and_no_larger_one_is_there(a, b):
    """Compare with a list of all fragments."""
    mine, theirs = set(_fragments(a)), set(_fragments(b))
    found = common_fragments(a, b, 0.5)
    assert {one["fragment"] for one in found} <= mine & theirs
    largest = max((one.count("(") for one in mine & theirs), default=0)
    sizes = [one["size"] for one in found]
    # A frontier node has no bracket: brackets are productions.
    assert sizes == [one["fragment"].count("(") for one in found]
    assert max(sizes, default=0) == largest
    assert sizes == sorted(sizes, reverse=True)
    assert bool(found) == (TreeKernel(0.5)(a, b) > 0)


@given(TREES, TREES)
def test_every_node_of_a_common_production_is_marked(a, b):
    def productions(tree):
        return {
            n: (one.label, *((c,) if isinstance(c, str) else c.label for c in one.children))
            for n, one in enumerate(walk(tree))
            if not isinstance(one, str)
        }

    shared = set(productions(a).values()) & set(productions(b).values())
    marked = {n for one in common_fragments(a, b, 0.5) for n in one["places"][0]}
    assert {n for n, one in productions(a).items() if one in shared} <= marked


def test_two_sentences_that_differ_in_a_word():
    found = common_fragments(Tree.parse(DOG), Tree.parse(CAT), 0.4)
    assert found[0]["fragment"] == "(S (NP (DT the) NN) (VP (VBZ sees) (NP (DT the) NN)))"
    assert found[0]["size"] == 7
    assert found[0]["weight"] == pytest.approx(0.4**7)
    words = [n for n, one in enumerate(walk(Tree.parse(DOG))) if one == "dog"]
    assert not set(words) & set(found[0]["places"][0])


def test_the_value_is_the_kernels():
    answer = compare({"a": DOG, "b": CAT, "decay": 0.3})
    assert answer["value"] == TreeKernel(0.3)(DOG, CAT)
    assert answer["normalized"] == pytest.approx(TreeKernel(0.3).normalized()(DOG, CAT))
    assert compare({"a": DOG, "b": DOG})["normalized"] == pytest.approx(1)
    assert compare({"a": "(A a)", "b": "(B b)"})["fragments"] == []


@pytest.mark.parametrize(
    ("a", "message"),
    [("(S", "never closed"), ("dog", "outside all brackets"), ("(A a) (B b)", "2 trees")],
)
def test_malformed_trees_are_refused(a, message):
    with pytest.raises(RefusedError, match=f"tree a: .*{message}"):
        compare({"a": a, "b": DOG})


def test_too_many_pairs_are_refused():
    flat = Tree("S", [Tree("A", ["a"])] * 600)
    with pytest.raises(RefusedError, match="pairs"):
        common_fragments(flat, flat, 0.4)
