"""Treebanks to learn from: eight sentences by hand, and the real ones."""

import zipfile
from functools import cache

import pytest

from eigentext.corpus.trees import Tree, normalize_tree, parse_trees, read_trees

HAND = """
(S (NP (DT the) (NN gardener)) (VP (VBZ waters) (NP (DT the) (JJ tall) (NN fern))) (. .))
(S (NP (PRP she)) (VP (VBZ sees) (NP (NP (NNS birds)) (PP (IN with) (NP (DT a) (NN lens))))) (. .))
(S (NP (PRP she)) (VP (VBZ sees) (NP (NNS birds)) (PP (IN with) (NP (DT a) (NN lens)))) (. .))
(S (NP (NNS ferns)) (VP (VBP need) (NP (NN shade) (, ,) (NN rain) (CC and) (NN peat))))
(S (VP (VB wait)))
(NP (DT a) (JJ tall) (, ,) (JJ old) (NN fern))
(S (NP (PRP she)) (VP (VBZ hopes) (SBAR (S (VP (TO to) (VP (VB see) (NP (NNS birds))))))) (. .))
(UH hello)
"""
PENN = {"train": range(1, 170), "dev": range(170, 185), "test": range(185, 200)}


@pytest.fixture(scope="session")
def hand_trees() -> list[Tree]:
    """Eight trees: wide nodes, unary chains, an ambiguous sentence both ways, one bare tag."""
    return parse_trees(HAND, "hand")


@pytest.fixture(scope="session")
def penn(data_folder):
    """``penn("dev")``: normalised trees of the Penn sample."""
    path = data_folder / "nltk_data/corpora/treebank.zip"
    if not path.exists():
        pytest.skip(f"no {path}")

    @cache
    def read(split: str) -> list[Tree]:
        with zipfile.ZipFile(path) as archive:
            names = [f"treebank/combined/wsj_{number:04d}.mrg" for number in PENN[split]]
            trees = [t for name in names for t in parse_trees(archive.read(name).decode(), name)]
        return [normalize_tree(tree) for tree in trees]

    return read


@pytest.fixture(scope="session")
def gum(data_folder):
    """``gum("dev")``: normalised trees of GUM."""
    folder = data_folder / "treebanks/gum"
    if not folder.exists():
        pytest.skip(f"no {folder}")

    @cache
    def read(split: str) -> list[Tree]:
        return [normalize_tree(tree) for tree in read_trees(folder / f"{split}.ptb.xz")]

    return read
