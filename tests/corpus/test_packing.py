"""Trees that travel arrive as they were."""

import pickle

from eigentext.corpus.packing import pack, unpack
from eigentext.corpus.trees import Tree


def test_there_and_back():
    plain = Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBZ sleeps)))")
    odd = Tree("", [Tree("N(1)", ["a b"]), Tree("X", []), "(", Tree("", [""])])  # not in brackets
    for tree in [plain, odd]:
        assert unpack(pickle.loads(pickle.dumps(pack(tree)))) == tree


def test_deep_trees():
    tree = Tree("N", ["a"])
    for _ in range(20_000):
        tree = Tree("S", [tree])
    assert unpack(pickle.loads(pickle.dumps(pack(tree)))) == tree
