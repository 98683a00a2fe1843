"""The order of nodes in a shard. Its passes are tested with those of whole treebanks."""

import numpy as np

from eigentext.grammars.learning.shard import TreeShard
from eigentext.grammars.learning.training import TrainingTrees
from eigentext.grammars.treebank.normal_form import Treebank


def test_nodes_lie_by_height_and_rule(hand_trees):
    treebank = Treebank.from_trees(hand_trees)
    training = TrainingTrees(treebank, treebank.word[treebank.left < 0])
    (piece,) = training.pieces
    trees = TreeShard(piece)
    n, n_nodes = trees.n_leaves, len(treebank.label)
    height = np.zeros(n_nodes, int)
    for p in range(n, n_nodes):
        height[p] = 1 + max(height[trees.left[p]], height[trees.right[p]])
    assert (np.diff(height) >= 0).all()
    keys = np.stack((trees.label[n:], trees.label[trees.left[n:]], trees.label[trees.right[n:]]))
    rules = treebank.rules()
    assert trees.runs[0] == n
    assert trees.runs[-1] == n_nodes
    assert trees.levels[-1] == len(trees.run_rule)
    for level, (a, b) in enumerate(zip(trees.levels[:-1], trees.levels[1:]), 1):
        assert (np.diff(trees.run_rule[a:b]) > 0).all()
        for run in range(a, b):
            nodes = slice(trees.runs[run], trees.runs[run + 1])
            rule = [
                getattr(rules, side)[trees.run_rule[run]] for side in ("parent", "left", "right")
            ]
            assert (keys.T[nodes.start - n : nodes.stop - n] == rule).all()
            assert (height[nodes] == level).all()
    assert np.array_equal(trees.pair[trees.leaf_of_token], training.pair_of_token)
    for r, (a, b) in enumerate(zip(trees.members[:-1], trees.members[1:])):
        assert (keys[0, trees.by_rule[a:b] - n] == rules.parent[r]).all()
        assert b - a == rules.counts[r]
    found = training.pair_terminal[trees.pair[trees.leaf_of_token]]
    assert [treebank.words[x] for x in found] == treebank.tokens
