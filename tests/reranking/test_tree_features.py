"""Features of pieces, by hand."""

import pytest

from eigentext.corpus.trees import Tree
from eigentext.reranking import parameters, tree_features
from eigentext.reranking.pieces import pieces
from eigentext.reranking.tree_features import FAMILIES, Sentence, bucket, features, shape

TREE = Tree.parse("(S (NP (DT The) (NN cat)) (VP (VBZ sees) (NP (PRP me))) (. .))")
CLUSTERS = {"cat": "0101", "sees": "1100110011"}


@pytest.fixture
def sentence():
    return Sentence.of(TREE, CLUSTERS)


def found(family, label, sentence, tree=TREE):
    piece = next(one for one in reversed(pieces(tree)) if one.label == label)
    return list(FAMILIES[family](piece, sentence))


def test_the_table_of_parameters_names_all_families():
    assert (*FAMILIES, "vectors") == parameters.FAMILIES


def test_rules(sentence):
    assert found("rules", "VP", sentence) == [
        "r VP>VBZ NP",
        "rp S VP>VBZ NP",
        "rg ^ S VP>VBZ NP",
    ]


def test_neighbors_among_children(sentence):
    assert found("ngrams", "VP", sentence) == [
        "n2 VP [ VBZ",
        "n2 VP VBZ NP",
        "n2 VP NP ]",
        "n3 VP [ VBZ NP",
        "n3 VP VBZ NP ]",
    ]


def test_heads_and_biheads(sentence):
    assert "h S sees" in found("heads", "S", sentence)
    assert "hc S VP < NP" in found("heads", "S", sentence)
    assert "b S NP < sees cat" in found("biheads", "S", sentence)
    assert "bt S NP < VBZ NN" in found("biheads", "S", sentence)
    assert "b VP NP > sees me" in found("biheads", "VP", sentence)


def test_edges_look_at_the_words_inside_and_outside(sentence):
    here = found("edges", "VP", sentence)
    assert {"e1 VP sees", "e2 VP me", "e0 VP cat", "e3 VP .", "el VP 2"} <= set(here)
    first = found("edges", "NP", sentence)
    assert {"e0 NP <s>", "e1 NP the", "e3 NP sees"} <= set(first)
    assert "e3 S </s>" in found("edges", "S", sentence)


def test_heavy_and_right(sentence):
    assert found("heavy", "VP", sentence) == ["w VP 2 1", "wp VP 2 1  .", "wpp S VP 2  ."]
    assert "R VP 1" in found("right", "VP", sentence)  # the full stop does not count
    subject = pieces(TREE)[2]
    assert list(tree_features.right(subject, sentence)) == ["R 0", "R NP 0"]


def test_words_and_splits(sentence):
    assert "v the DT NP" in found("words", "NP", sentence)
    assert "vm cat NP S" in found("words", "S", sentence)
    assert "s S NP VP cat" in found("splits", "S", sentence)
    assert "s2 S NP VP sees" in found("splits", "S", sentence)


def test_parts_of_coordinations():
    alike = Tree.parse("(NP (NP (DT a) (NN b)) (CC and) (NP (DT the) (NN c)))")
    unlike = Tree.parse("(NP (NP (DT a) (NN b)) (CC and) (VP (VB c)))")
    assert found("parallel", "NP", Sentence.of(alike), alike)[:2] == ["p NP 11 =", "pl NP NP 1"]
    assert found("parallel", "NP", Sentence.of(unlike), unlike)[0] == "p NP 00 ="
    assert found("parallel", "S", Sentence.of(TREE)) == []


def test_clusters_take_the_place_of_words(sentence):
    here = found("clusters", "S", sentence)
    assert "ch4 ^ S 1100" in here
    assert "cb4 S NP < 1100 0101" in here
    assert "cb8 S NP < 11001100 0101" in here


def test_shapes_and_lengths():
    assert [shape(word) for word in ("cats", "NATO", "1,000", "A.", "")] == [
        "x",
        "XX",
        "d,d",
        "X.",
        "",
    ]
    assert [bucket(n) for n in (0, 1, 6, 7, 8, 10, 11, 15, 16, 20, 21, 99)] == [
        *(0, 1, 6, 6, 8, 8, 11, 11, 16, 16, 21, 21)
    ]


def test_features_are_those_of_all_families(sentence):
    piece = pieces(TREE)[0]
    some = [FAMILIES["rules"], FAMILIES["right"]]
    assert features(piece, sentence, some) == [
        *tree_features.rules(piece, sentence),
        *tree_features.right(piece, sentence),
    ]
