"""Heads: phrases by hand, and a slow finder on the original trees."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext.corpus.trees import Tree, as_tree
from eigentext.errors import ParameterError
from eigentext.grammars.treebank.heads import ENGLISH, by_height, heads
from eigentext.grammars.treebank.normal_form import Treebank

OPTIONS = [
    {"binarize": side, "horizontal": h, "vertical": v}
    for side, h, v in product(("left", "right"), (0, 1), (1, 2))
]


def twin(tree, rules=ENGLISH, default="left"):
    """The place of the head word of each chain of an n-ary tree, in post-order."""
    found, n_words = {}, 0
    nodes, todo = [], [tree]
    while todo:  # parents first, and right before left
        node = todo.pop()
        nodes.append(node)
        todo += [] if node.is_preterminal else node.children
    answer = []
    for node in reversed(nodes):
        if node.is_preterminal:
            found[id(node)] = n_words
            n_words += 1
        else:
            found[id(node)] = found[id(head_child(node, rules, default))]
        if node.is_preterminal or len(node.children) > 1:
            answer.append(found[id(node)])
    return answer


def head_child(node, rules, default):
    tiers = rules.get(node.label, ())
    for side, labels in (*tiers, (tiers[-1][0] if tiers else default, None)):
        for child in node.children if side == "left" else reversed(node.children):
            if labels is None or child.label in labels.split():
                return child
    raise AssertionError


def of_chains(treebank, found):
    """The same for the nodes of a treebank, without intermediate ones."""
    place = np.cumsum(treebank.left < 0) - 1
    kept = [treebank.symbols[a].siblings is None for a in treebank.label]
    return place[found][kept].tolist()


def words_of(tree, *args, binarize="left", **options):
    """The symbol and the head word of each node."""
    treebank = Treebank.from_trees([tree], binarize=binarize)
    found = heads(treebank, *args, **options)
    assert found.dtype == np.int64
    assert (treebank.left[found] < 0).all()
    return [
        (str(treebank.symbols[a]), treebank.words[x])
        for a, x in zip(treebank.label, treebank.word[found])
    ]


# --- known answers -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tree", "word"),
    [
        ("(NP (DT the) (JJ old) (NN garden) (NN gate))", "gate"),
        ("(NP (NP (DT the) (NN gate)) (PP (IN of) (NP (NN iron))))", "gate"),
        ("(NP (NP (DT the) (NN owner) (POS 's)) (NN gate))", "gate"),
        ("(NP (DT the) (JJ old) (, ,) (JJ poor))", "poor"),
        ("(NP (DT this))", "this"),
        ("(VP (TO to) (VP (VB open) (NP (NNS gates))))", "to"),
        ("(VP (ADVP (RB never)) (VBD opened) (NP (NNS gates)))", "opened"),
        ("(S (NP (PRP she)) (VP (MD may) (VP (VB open) (NP (PRP it)))) (. .))", "may"),
        ("(S (S (NP (NN rain)) (VP (VBD fell))) (CC or) (S (NP (PRP he)) (VP (VBD ran))))", "fell"),
        ("(SBAR (IN that) (S (NP (PRP it)) (VP (VBD broke))))", "that"),
        ("(PP (ADVP (RB just)) (IN behind) (NP (DT the) (NN gate)))", "behind"),
        ("(ADJP (RB very) (JJ old))", "old"),
        ("(ADVP (RB rather) (RB slowly))", "slowly"),
        ("(QP (RB about) (CD two) (CD million))", "million"),
        ("(WHNP (WDT which) (NN gate))", "which"),
        ("(PRN (-LRB- -LRB-) (NP (DT a) (NN gate)) (-RRB- -RRB-))", "gate"),
        ("(PRN (-LRB- -LRB-) (UH oh) (-RRB- -RRB-))", "-LRB-"),  # in no tier
        ("(NP (: -) (: +))", "+"),  # in no tier: from the last one's side
        ("(X (SYM a) (NN b))", "a"),  # no rules
        ("(UH hello)", "hello"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("binarize", ["left", "right"])
def test_heads_of_english_by_hand(tree, word, binarize):
    assert words_of(tree, binarize=binarize)[-1][1] == word


def test_intermediate_nodes_have_the_best_so_far():
    tree = "(NP (DT the) (NN gate) (JJ old) (, ,) (NN lock))"
    left = ["the", "gate", "gate", "old", "gate", ",", "gate", "lock", "lock"]
    assert [word for _, word in words_of(tree)] == left
    right = ["the", "gate", "old", ",", "lock", "lock", "lock", "lock", "lock"]
    assert [word for _, word in words_of(tree, binarize="right")] == right


def test_a_chain_is_a_child_by_its_top_and_a_parent_by_its_bottom():
    rules = {"S": [("left", "VP")], "VP": [("right", "V")], "A": [("left", "NP")]}
    # The last V of VP, although S prefers a VP. A prefers NP, which S+VP is not.
    found = words_of("(A (S (VP (V a) (V b))) (NP (N c)))", rules)
    expected = [("V", "a"), ("V", "b"), ("S+VP", "b"), ("NP+N", "c"), ("A", "c")]
    assert found == expected
    # As a child the chain is S, not VP.
    found = words_of("(A (S (VP (V a) (V b))) (VP (V c) (V d)))", {"A": [("left", "VP")]})
    assert found[-1] == ("A", "c")


def test_tiers_come_first_and_sides_next():
    rules = {"A": [("right", "X Y"), ("left", "Z X")]}
    answers = {"(A (X a) (Y b) (Z c))": "b", "(A (Y a) (X b))": "b", "(A (Z a) (X b) (Z c))": "b"}
    answers |= {"(A (Z a) (Z b))": "a", "(A (Q a) (Q b))": "a", "(A (Q a) (Z b) (Z c))": "b"}
    for tree, word in answers.items():
        assert words_of(tree, rules)[-1] == ("A", word)


@pytest.mark.parametrize(("default", "word"), [("left", "a"), ("right", "d")])
@pytest.mark.parametrize("rules", [{}, {"B": [("left", "N")]}, {"A": []}])
def test_the_default_is_for_labels_without_rules(rules, default, word):
    tree = "(A (X a) (X b) (X c) (X d))"
    for binarize in ("left", "right"):
        found = words_of(tree, rules, default=default, binarize=binarize)
        assert found[-1] == ("A", word)


# --- the same as on the tree as it was -----------------------------------------------------------

_labels = st.sampled_from(["A", "B", "C", "D"])
_preterminals = st.builds(lambda tag: Tree(tag, ["w"]), _labels)
_trees = st.recursive(
    _preterminals,
    lambda below: st.builds(Tree, _labels, st.lists(below, min_size=1, max_size=6)),
    max_leaves=25,
)
_sides = st.sampled_from(["left", "right"])
_sets = st.lists(st.sampled_from("ABCDE"), max_size=3).map(" ".join)
_rules = st.dictionaries(_labels, st.lists(st.tuples(_sides, _sets), min_size=1, max_size=3))


@given(st.lists(_trees, min_size=1, max_size=4), _rules, _sides, st.sampled_from(OPTIONS))
def test_heads_are_those_of_the_tree_as_it_was(trees, rules, default, options):
    treebank = Treebank.from_trees(trees, **options)
    found = of_chains(treebank, heads(treebank, rules, default=default))
    expected, n_words = [], 0
    for tree in trees:
        expected += [n_words + place for place in twin(tree, rules, default)]
        n_words += len(tree.leaves())
    assert found == expected


@pytest.mark.parametrize("options", OPTIONS)
def test_penn(penn, options):
    trees = penn("train")[::20]
    treebank = Treebank.from_trees(trees, **options)
    expected, n_words = [], 0
    for tree in trees:
        expected += [n_words + place for place in twin(tree)]
        n_words += len(tree.leaves())
    assert of_chains(treebank, heads(treebank)) == expected


def test_sentences_of_penn_are_headed_by_verbs(penn):
    treebank = Treebank.from_trees([tree for tree in penn("dev") if tree.label == "S"])
    roots = treebank.offsets[1:] - 1
    tags = [treebank.symbols[a].chain[-1] for a in treebank.label[heads(treebank)[roots]]]
    assert np.mean([tag == "MD" or tag.startswith("VB") for tag in tags]) > 0.95


def test_by_height(hand_trees):
    treebank = Treebank.from_trees(hand_trees)
    levels = by_height(treebank)
    assert sorted(np.concatenate(levels)) == list(range(len(treebank.label)))
    for level, nodes in enumerate(levels):
        assert (treebank.height[nodes] == level).all()


# --- bad input -----------------------------------------------------------------------------------


def test_a_wrong_side():
    treebank = Treebank.from_trees(["(S (A a) (B b))"])
    with pytest.raises(ParameterError, match=r"'S' is 'left' or 'right', not 'up'"):
        heads(treebank, {"S": [("left", "A"), ("up", "B")]})
    with pytest.raises(ParameterError, match=r"is 'left' or 'right', not 'middle'"):
        heads(treebank, {}, default="middle")


def test_unknown_symbols():
    treebank = Treebank.from_trees(["(S (A a) (B b))"])
    with pytest.raises(ParameterError, match="unknown symbols have no heads"):
        heads(treebank.encode([as_tree("(S (A a) (C b))")]))
