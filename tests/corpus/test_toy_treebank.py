"""The demo's treebank: the same every time, and its secret is in the words alone."""

from eigentext.corpus.toy_treebank import sampled_trees


def test_the_same_seed_gives_the_same_trees():
    assert sampled_trees(50) == sampled_trees(50)
    assert sampled_trees(50) != sampled_trees(50, seed=1)
    assert sampled_trees(20) == sampled_trees(50)[:20]


def test_labels_do_not_tell_what_words_do():
    trees = sampled_trees(500)
    labels = {node.label for tree in trees for node in tree.subtrees()}
    assert labels == {"S", "NP", "VP", "PP", "DT", "NN", "VB", "IN"}
    parents = {"NP": set(), "VP": set()}
    for tree in trees:
        for node in tree.subtrees():
            for child in node.children:
                if not isinstance(child, str) and child.label == "PP":
                    parents[node.label].add(child.leaves()[0])
    assert parents == {
        "NP": {"of", "beside", "without"},
        "VP": {"into", "towards", "through"},
    }
