"""The tree kernel: the example of [Collins 2003], values of SVM-light-TK, all fragments."""

import numpy as np
import pytest

import structures
from eigentext import Tree, TreeKernel, load_dataset, normalize_tree
from eigentext.errors import EigentextError

DOG = "(S (NP (DT the) (NN dog)) (VP (VBZ barks)))"
CAT = "(S (NP (DT the) (NN cat)) (VP (VBZ barks)))"


def test_the_example_of_collins_2003():
    kernel = TreeKernel()
    # Of (B (D d) (E e)), D and E have one subtree in common with themselves; K = 1 + 1 + delta.
    assert kernel("(B (D d) (E e))", "(B (D d) (E e))") - 2 == 4
    # Words differ below C, so that only the production of C itself is common.
    assert kernel("(C (F f) (G g))", "(C (F h) (G i))") == 1
    first = "(A (B (D d) (E e)) (C (F f) (G g)))"
    second = "(A (B (D d) (E e)) (C (F h) (G i)))"
    assert kernel(first, second) - 4 - 1 - 2 == 10


def test_the_convention_of_svm_light_tk():
    kernel = TreeKernel(decay=0.4)
    assert kernel(DOG, DOG) == pytest.approx(3.657216, abs=1e-12)
    assert kernel(DOG, CAT) == pytest.approx(2.89344, abs=1e-12)


@pytest.mark.parametrize("decay", [1.0, 0.4])
@pytest.mark.parametrize("seed", range(3))
def test_it_equals_fragments_written_out(decay, seed):
    rng = np.random.default_rng(seed)
    trees = [structures.random_tree(rng, 2) for _ in range(12)]
    kernel = TreeKernel(decay)
    expected = np.array([[structures.tree_kernel(a, b, decay) for b in trees] for a in trees])
    np.testing.assert_allclose(kernel.gram(trees), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel.gram(trees[:3], trees), expected[:3], rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(trees), expected.diagonal(), rtol=1e-12)
    alpha = rng.normal(size=12)
    scores = kernel.scores(trees, alpha, trees)
    np.testing.assert_allclose(scores, alpha @ expected, rtol=1e-9, atol=1e-9)


def test_words_are_no_labels():
    assert TreeKernel()("(A (B b))", "(A (C B))") == 0
    assert TreeKernel()("(A b)", "(A (b b))") == 0


def test_trees_in_any_form_are_one():
    class Node(list):  # like nltk.Tree
        def __init__(self, label, children):
            super().__init__(children)
            self.label = lambda: label

    subject = Node("NP", [Node("DT", ["the"]), Node("NN", ["dog"])])
    same = [DOG, Tree.parse(DOG), Node("S", [subject, Node("VP", [Node("VBZ", ["barks"])])])]
    encoded = TreeKernel().encode([*same, CAT])
    assert len(set(encoded.identity[:3])) == 1
    assert encoded.identity[3] != encoded.identity[0]
    assert TreeKernel()(same[0], same[2]) == TreeKernel()(same[1], same[1])


def test_gram_matrices_are_positive_semi_definite():
    rng = np.random.default_rng(5)
    gram = TreeKernel(0.5).normalized().gram([structures.random_tree(rng) for _ in range(60)])
    assert np.linalg.eigvalsh(gram).min() > -1e-10
    np.testing.assert_allclose(gram.diagonal(), 1.0)


def test_a_deep_tree_of_ten_thousand_nodes():
    labels = [f"L{i % 20}" for i in range(10_000)]
    tree = "".join(f"({label} " for label in labels) + "a" + ")" * 10_000
    # Nodes i and j above the word are equal if i = j (mod 20). Delta halves its distance to 1 at
    # each step. It begins with 1/2 at the word, or with 0 if one of the two chains ends first.
    heights = np.arange(10_000)
    same = (1 - 0.5 ** (heights + 1.0)).sum()
    longer = (9_999 - heights) // 20
    assert TreeKernel(0.5)(tree, tree) == pytest.approx(
        same + 2 * (longer * (1 - 0.5**heights)).sum(), rel=1e-12
    )


@pytest.mark.filterwarnings("ignore:overflow")  # Python warns if Numba is off
def test_a_wide_tree_of_ten_thousand_nodes():
    tree = "(A " + " ".join(f"(B w{i})" for i in range(10_000)) + ")"
    assert TreeKernel(0.5)(tree, "(A (B w1))") == 0.5
    with pytest.raises(EigentextError, match="lower its decay"):
        TreeKernel(1.0)(tree, tree)  # 2 ** 10,000
    assert TreeKernel(1e-9)(tree, tree) == pytest.approx(1e-9 * (1 + 1e-9) ** 10_000 + 1e-5)


@pytest.mark.parametrize("decay", [0, -0.1, 1.01, np.nan, "much", None])
def test_a_decay_out_of_range(decay):
    with pytest.raises(EigentextError, match="decay must be a number, above 0 and 1 at most, not"):
        TreeKernel(decay).gram([DOG])
    with pytest.raises(EigentextError, match="decay must be"):
        TreeKernel().set_params(decay=decay).encode([DOG])


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("(S (NP (DT the)", "structure 1: .*S"),
        ("(S the))", "structure 1: "),
        ([("the", "DT"), ("dog", "NN")], "structure 1: .*neither a tree nor a word"),
        (None, "structure 1: .*neither a tree nor a word"),
        (7, "structure 1: .*neither a tree nor a word"),
    ],
)
def test_structures_that_are_not_trees(bad, message):
    with pytest.raises(EigentextError, match=message):
        TreeKernel().encode([DOG, bad])


def test_one_tree_instead_of_a_list():
    with pytest.raises(EigentextError, match="give a list of structures"):
        TreeKernel().gram(DOG)


def test_real_trees(data_folder, monkeypatch):
    monkeypatch.setenv("EIGENTEXT_DATA", str(data_folder))
    trees = [normalize_tree(tree) for tree in load_dataset("penn-sample")[:150]]
    kernel = TreeKernel(0.4)
    gram = kernel.gram(trees)
    # Values that SVM-light-TK, KeLP and BOSS agree on.
    assert gram[0, 0] == pytest.approx(31.7396565, abs=1e-7)
    assert gram[0, 1] == pytest.approx(3.92, abs=1e-12)
    assert np.array_equal(gram, gram.T)
    np.testing.assert_allclose(kernel.diagonal(trees), gram.diagonal(), rtol=1e-12)
    np.testing.assert_allclose(kernel.gram(trees[:20], trees[20:60]), gram[:20, 20:60], rtol=1e-12)
