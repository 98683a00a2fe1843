"""Columns and values of the features of brackets."""

import numpy as np
import pytest

from eigentext.corpus.trees import Tree
from eigentext.reranking.extraction import Extractor
from eigentext.reranking.head_vectors import HeadVectors
from eigentext.reranking.pieces import pieces

TREE = Tree.parse("(NP (DT the) (NN cat))")
VECTORS = HeadVectors.known(["the", "cat"], np.array([[2.0, 3.0], [5.0, 7.0]], np.float32))


def entries(extractor, tree=TREE):
    columns, values = [], []
    (piece,) = pieces(tree)
    extractor.add(piece, extractor.sentence(tree), 0.5, columns, values)
    names = list(extractor.index)
    return {names[column]: value for column, value in zip(columns, values, strict=True)}


def test_coordinates_and_products_of_heads():
    found = entries(Extractor(["vectors"], vectors=VECTORS, grows=True))
    assert found == {
        "odds": 0.5, "odds NP": 0.5, "label NP": 1.0,
        "vh NP 0": 5.0, "vh NP 1": 7.0,
        "vc NP DT < 0": 2.0, "vc NP DT < 1": 3.0, "vb NP DT < 0": 10.0, "vb NP DT < 1": 21.0,
    }  # fmt: skip


def test_unknown_words_have_none():
    tree = Tree.parse("(NP (DT no) (NN dog))")
    assert len(entries(Extractor(["vectors"], vectors=VECTORS, grows=True), tree)) == 3


@pytest.mark.parametrize("families", [["rules"], ["rules", "vectors"]])
def test_only_known_features_count(families):
    known = Extractor(families, vectors=VECTORS, index={"r NP>DT NN": 0, "odds": 1})
    assert entries(known) == {"r NP>DT NN": 1.0, "odds": 0.5}
    assert len(known.index) == 2
