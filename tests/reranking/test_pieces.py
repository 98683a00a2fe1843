"""Pieces: the spans, heads and neighbors of nodes, by hand."""

from eigentext.corpus.trees import Tree
from eigentext.reranking.pieces import NONE, pieces

TREE = Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (PRP me))) (. .))")


def test_pieces_come_from_right_to_left_and_children_come_before_parents():
    assert [one[:3] for one in pieces(TREE)] == [
        ("NP", 3, 4),
        ("VP", 2, 4),
        ("NP", 0, 2),
        ("S", 0, 5),
    ]


def test_a_piece_knows_what_is_above_and_below():
    inner, verb, subject, root = pieces(TREE)
    assert (inner.parent, inner.grandparent) == ("VP", "S")
    assert (root.parent, root.grandparent) == (NONE, NONE)
    assert verb.labels == ("VBZ", "NP")
    assert verb.ends == (3, 4)
    assert verb.heads == (2, 3)
    assert subject.heads[subject.head] == 1  # the cat
    assert root.heads[root.head] == 2  # sees


def test_only_coordinations_know_what_is_inside_of_their_parts():
    tree = Tree.parse("(NP (NP (DT a) (NN b)) (CC and) (NP (NN c)))")
    *_, root = pieces(tree)
    assert root.insides == ("DT NN", "", "NN")
    assert all(one.insides == () for one in pieces(TREE))


def test_words_beside_phrases_and_deep_trees():
    (root, *_) = pieces(Tree("S", ["a", Tree("NP", [Tree("NN", ["b"])])]))[::-1]
    assert root.labels == ("_", "NP")
    assert root.ends == (1, 2)
    deep = Tree("NN", ["a"])
    for _ in range(5000):
        deep = Tree("X", [deep])
    assert len(pieces(deep)) == 5000


def test_a_tag_alone_has_no_pieces():
    assert pieces(Tree("NN", ["a"])) == []
