"""The compiled loops against what their docstrings say."""

import numpy as np
import pytest

import structures
from eigentext import SequenceKernel, TreeKernel
from eigentext.kernels._loops import mirror, occurrences, sequence_rows, tree_rows


def test_occurrences_are_a_walk():
    rng = np.random.default_rng(0)
    trees = [structures.random_tree(rng) for _ in range(10)]
    encoded = TreeKernel().encode(trees)
    nodes = encoded.store.nodes
    offsets = np.concatenate([[0], np.cumsum(nodes.size[encoded.roots])])
    found = np.full(offsets[-1], -1)
    occurrences(encoded.roots, nodes.child_start, nodes.children, offsets, found)
    labels = {number: group[0] for group, number in encoded.store.groups.items()}
    for number, tree in enumerate(trees):
        mine = found[offsets[number] : offsets[number + 1]]
        assert mine[0] == encoded.roots[number]
        expected = sorted(node.label for node in tree.subtrees())
        assert sorted(labels[nodes.group[node]] for node in mine) == expected


@pytest.mark.parametrize("kernel", [TreeKernel(0.4), SequenceKernel(0.4)], ids=repr)
def test_rows_of_a_triangle_and_their_sum(kernel):
    rng = np.random.default_rng(1)
    draw = structures.random_tree if isinstance(kernel, TreeKernel) else structures.random_tagging
    encoded = kernel.encode([draw(rng) for _ in range(12)])
    rows_of = tree_rows if isinstance(kernel, TreeKernel) else sequence_rows
    rows, ((_, forest),) = encoded.rows(encoded), encoded.forests
    every = np.arange(12)
    whole, upper, summed = np.zeros((12, 12)), np.zeros((12, 12)), np.zeros((1, 14))
    rows_of(every, 0, False, False, 0.4, rows, forest, whole)
    rows_of(every, 0, True, False, 0.4, rows, forest, upper)
    rows_of(every, 2, False, True, 0.4, rows, forest, summed)
    np.testing.assert_allclose(upper, np.triu(whole), rtol=1e-12)
    np.testing.assert_allclose(summed[0, 2:], whole.sum(axis=0), rtol=1e-12)
    assert not summed[0, :2].any()
    mirror(upper, 0, 5)
    mirror(upper, 5, 12)
    np.testing.assert_allclose(upper, whole, rtol=1e-12)


def taggings_of_few_sentences(rng, n):
    """Several taggings of each of few sentences, in any order."""
    sentences = ["".join(rng.choice(list("aAbB"), size=8)) for _ in range(3)]
    words = [sentences[i] for i in rng.integers(3, size=n)]
    return [list(zip(one, rng.choice(list("XYZ"), size=8), strict=True)) for one in words]


@pytest.mark.parametrize("match", ["exact", "capitalization"])
@pytest.mark.parametrize("seed", range(3))
def test_differences_of_taggings_of_one_sentence(match, seed):
    rng = np.random.default_rng(seed)
    kernel = SequenceKernel(0.6, match=match)
    first, second = (taggings_of_few_sentences(rng, n) for n in (14, 20))
    gram = kernel.gram(first, second)
    # Weights that cancel in each sentence, like those of a perceptron, and arbitrary weights.
    paired = np.zeros(14)
    for sentence in {tuple(word for word, _ in one) for one in first}:
        mine = [i for i, one in enumerate(first) if tuple(word for word, _ in one) == sentence]
        paired[mine] = rng.normal(size=len(mine))
        paired[mine] -= paired[mine].mean()
    for alpha in (paired, rng.normal(size=14), np.ones(14)):
        np.testing.assert_allclose(kernel.scores(first, alpha, second), alpha @ gram, atol=1e-10)
    # Tags and words that the other set does not have.
    odd = [[("q", "Q"), *one[1:]] for one in first]
    expected = paired @ kernel.gram(odd, second)
    np.testing.assert_allclose(kernel.scores(odd, paired, second), expected, atol=1e-10)
