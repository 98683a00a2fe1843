"""Binarized treebanks: known trees, a slow twin, and exact restoration."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext.corpus.trees import Tree, as_tree
from eigentext.errors import CorpusError, ParameterError
from eigentext.grammars.treebank.normal_form import Rules, Symbol, Treebank, coarse, restore

OPTIONS = [
    {"binarize": side, "horizontal": h, "vertical": v, "annotate_tags": tags}
    for side, h, v, tags in product(("left", "right"), (0, 1, 2, None), (1, 2, 3), (False, True))
]

# Few labels, so that chains repeat. Some look like printed symbols.
_labels = st.sampled_from(["S", "NP", "VP", "@NP", "S+VP", "NP^S", "NP|DT", ""])
_preterminals = st.builds(lambda tag, word: Tree(tag, [word]), _labels, st.sampled_from("abcd"))
_trees = st.recursive(
    _preterminals,
    lambda below: st.builds(Tree, _labels, st.lists(below, min_size=1, max_size=5)),
    max_leaves=12,
)
_treebanks = st.lists(_trees, min_size=1, max_size=4)


def twin(tree, how, parents=()):
    """The binarized tree as nested tuples, by recursion, from the definitions."""
    side, h, n_parents = how["binarize"], how["horizontal"], how["vertical"] - 1
    chain, nodes = [], [tree]
    while True:
        chain.append(nodes[-1].label)
        if len(nodes[-1].children) > 1 or nodes[-1].is_preterminal:
            break
        nodes.append(nodes[-1].children[0])
    bottom = nodes[-1]
    top_parents = parents[:n_parents]
    if bottom.is_preterminal:
        kept = top_parents if how["annotate_tags"] else ()
        return Symbol(tuple(chain), None, kept, True), bottom.children[0]
    above = (*reversed(chain[:-1]), *parents)

    def cover(children):
        """The binary tree over two or more of the children."""
        names = tuple(child.label for child in children)
        if h is not None:
            names = (names[len(names) - min(h, len(names)) :]) if side == "left" else names[:h]
        symbol = Symbol((bottom.label,), names, above[:n_parents], False)
        return (symbol, *branch(children))

    def branch(children):
        if len(children) == 2:
            return tuple(twin(child, how, (bottom.label, *above)) for child in children)
        if side == "left":
            return cover(children[:-1]), twin(children[-1], how, (bottom.label, *above))
        return twin(children[0], how, (bottom.label, *above)), cover(children[1:])

    return (Symbol(tuple(chain), None, top_parents, False), *branch(list(bottom.children)))


def nested(treebank, node):
    symbol = treebank.symbols[treebank.label[node]]
    if treebank.left[node] < 0:
        assert treebank.right[node] == -1
        return symbol, treebank.words[treebank.word[node]]
    assert treebank.word[node] == -1
    assert treebank.left[node] < treebank.right[node] < node
    children = nested(treebank, treebank.left[node]), nested(treebank, treebank.right[node])
    return symbol, *children


def shown(tree, **options):
    treebank = Treebank.from_trees([tree], **options)
    return " ".join(str(treebank.symbols[a]) for a in treebank.label)


# --- known answers -------------------------------------------------------------------------------

FLAT = "(S (A a) (B b) (X (C c)) (D d) (E e))"


@pytest.mark.parametrize(
    ("binarize", "horizontal", "symbols"),
    [
        ("left", 0, "A B @S X+C @S D @S E S"),
        ("left", 1, "A B @S|B X+C @S|X D @S|D E S"),
        ("left", 2, "A B @S|A|B X+C @S|B|X D @S|X|D E S"),
        ("left", None, "A B @S|A|B X+C @S|A|B|X D @S|A|B|X|D E S"),
        ("right", 0, "A B X+C D E @S @S @S S"),
        ("right", 1, "A B X+C D E @S|D @S|X @S|B S"),
        ("right", 2, "A B X+C D E @S|D|E @S|X|D @S|B|X S"),
        ("right", None, "A B X+C D E @S|D|E @S|X|D|E @S|B|X|D|E S"),
    ],
)
def test_a_wide_node_by_hand(binarize, horizontal, symbols):
    assert shown(FLAT, binarize=binarize, horizontal=horizontal) == symbols


CHAIN = "(R (SBAR (S (VP (V a) (X (Y (N b))) (P c)))) (Q d))"


@pytest.mark.parametrize(
    ("vertical", "annotate_tags", "symbols"),
    [
        (1, False, "V X+Y+N @VP P SBAR+S+VP Q R"),
        (2, False, "V X+Y+N @VP^S P SBAR+S+VP^R Q R"),
        (2, True, "V^VP X+Y+N^VP @VP^S P^VP SBAR+S+VP^R Q^R R"),
        (3, True, "V^VP^S X+Y+N^VP^S @VP^S^SBAR P^VP^S SBAR+S+VP^R Q^R R"),
    ],
)
def test_the_ancestors_of_a_chain_by_hand(vertical, annotate_tags, symbols):
    """A chain has those of its topmost node, and @X those of X, as labels of the original tree."""
    assert shown(CHAIN, vertical=vertical, annotate_tags=annotate_tags) == symbols


def test_arrays_by_hand():
    treebank = Treebank.from_trees(["(UH no)", FLAT, "(A a)"])
    assert [str(symbol) for symbol in treebank.symbols] == ["S", "@S", *"ABDE", "UH", "X+C"]
    assert treebank.n_inner == 2
    assert treebank.words == ["a", "b", "c", "d", "e", "no"]  # a is there twice
    assert treebank.tokens == ["no", "a", "b", "c", "d", "e", "a"]
    assert treebank.offsets.tolist() == [0, 1, 10, 11]
    assert treebank.label.tolist() == [6, 2, 3, 1, 7, 1, 4, 1, 5, 0, 2]
    assert treebank.left.tolist() == [-1, -1, -1, 1, -1, 3, -1, 5, -1, 7, -1]
    assert treebank.right.tolist() == [-1, -1, -1, 2, -1, 4, -1, 6, -1, 8, -1]
    assert treebank.word.tolist() == [5, 0, 1, -1, 2, -1, 3, -1, 4, -1, 0]
    assert treebank.height.tolist() == [0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0]
    assert treebank.rule.tolist() == [-1, -1, -1, 3, -1, 2, -1, 0, -1, 1, -1]
    parent, left, right, counts = treebank.rules()
    assert [*zip(left, right, parent)] == [(1, 4, 1), (1, 5, 0), (1, 7, 1), (2, 3, 1)]
    assert counts.tolist() == [1, 1, 1, 1]
    assert {name: getattr(treebank, name).dtype for name in ("label", "left", "right", "word")} == (
        dict.fromkeys(("label", "left", "right", "word"), np.dtype(np.int32))
    )
    assert treebank.offsets.dtype == np.int64
    assert repr(treebank) == "Treebank(3 trees, 7 tokens, 8 symbols, 4 rules)"
    assert len(treebank) == 3


def test_the_same_chain_inside_and_above_a_word_is_two_symbols():
    treebank = Treebank.from_trees(["(X (X a) (X b))"])
    assert treebank.symbols == [Symbol(("X",)), Symbol(("X",), preterminal=True)]
    assert treebank.label.tolist() == [1, 1, 0]


# --- laws ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", OPTIONS)
def test_arrays_are_the_twin_and_restore_the_trees(hand_trees, how):
    treebank = Treebank.from_trees(hand_trees, **how)
    roots = treebank.offsets[1:] - 1
    assert [nested(treebank, root) for root in roots] == [twin(tree, how) for tree in hand_trees]
    assert treebank.trees() == hand_trees


@given(_treebanks, st.sampled_from(OPTIONS))
def test_any_trees_are_the_twin_and_restored(trees, how):
    treebank = Treebank.from_trees(trees, **how)
    roots = treebank.offsets[1:] - 1
    assert [nested(treebank, root) for root in roots] == [twin(tree, how) for tree in trees]
    assert treebank.trees() == trees


@given(_treebanks, st.sampled_from(OPTIONS))
def test_rules_and_heights_are_those_of_the_nodes(trees, how):
    treebank = Treebank.from_trees(trees, **how)
    label, left, right = treebank.label, treebank.left, treebank.right
    inner = np.flatnonzero(left >= 0)
    height = [0] * len(label)
    for node in inner:
        height[node] = 1 + max(height[left[node]], height[right[node]])
    assert treebank.height.tolist() == height
    found = Counter((label[left[n]], label[right[n]], label[n]) for n in inner)
    rules = treebank.rules()
    table = list(zip(rules.left, rules.right, rules.parent))
    assert table == sorted(found)
    assert rules.counts.tolist() == [found[rule] for rule in table]
    assert all(a.dtype == np.int32 for a in rules[:3])
    assert (treebank.rule[left < 0] == -1).all()
    assert all(
        table[treebank.rule[n]] == (label[left[n]], label[right[n]], label[n]) for n in inner
    )


@given(_treebanks, st.sampled_from(OPTIONS), st.randoms())
def test_numbers_do_not_depend_on_the_order_of_the_trees(trees, how, random):
    one = Treebank.from_trees(trees, **how)
    order = list(range(len(trees)))
    random.shuffle(order)
    other = Treebank.from_trees([trees[k] for k in order], **how)
    assert (one.symbols, one.words) == (other.symbols, other.words)
    assert all(np.array_equal(a, b) for a, b in zip(one.rules(), other.rules()))
    blocks = [one.label[one.offsets[k] : one.offsets[k + 1]] for k in order]
    assert np.array_equal(np.concatenate(blocks), other.label)


@given(_treebanks, st.sampled_from(OPTIONS))
def test_coarse_symbols_are_those_without_markovization(trees, how):
    fine = Treebank.from_trees(trees, **how)
    plain = Treebank.from_trees(trees, binarize=how["binarize"])
    places, symbols = coarse(fine.symbols)
    assert symbols == plain.symbols
    assert places.dtype == np.int32
    assert np.array_equal(places[fine.label], plain.label)


# --- other trees ---------------------------------------------------------------------------------


@given(_treebanks, _treebanks, st.sampled_from(OPTIONS))
def test_encoded_trees_have_the_numbers_of_the_treebank(seen, new, how):
    treebank = Treebank.from_trees(seen, **how)
    encoded, own = treebank.encode(new), Treebank.from_trees(new, **how)
    assert encoded.symbols is treebank.symbols
    assert encoded.words is treebank.words
    assert encoded.tokens == own.tokens
    for name in ("left", "right", "offsets", "height"):
        assert np.array_equal(getattr(encoded, name), getattr(own, name))

    def numbered(names, known):
        return [known.index(name) if name in known else -1 for name in names]

    symbols = [own.symbols[a] for a in own.label]
    assert encoded.label.tolist() == numbered(symbols, treebank.symbols)
    leaves = own.left < 0
    assert encoded.word[leaves].tolist() == numbered(own.tokens, treebank.words)
    assert (encoded.word[~leaves] == -1).all()
    table = list(zip(*treebank.rules()[:3]))
    of_nodes = zip(encoded.label, encoded.label[own.left], encoded.label[own.right])
    rules = [-1 if leaf else numbered([r], table)[0] for leaf, r in zip(leaves, of_nodes)]
    assert encoded.rule.tolist() == rules
    assert all(np.array_equal(a, b) for a, b in zip(encoded.rules()[:3], treebank.rules()[:3]))
    assert encoded.rules().counts.tolist() == [rules.count(r) for r in range(len(table))]


def test_a_treebank_encodes_itself(hand_trees):
    treebank = Treebank.from_trees(hand_trees, horizontal=1, vertical=2)
    encoded = treebank.encode(hand_trees)
    for name in ("label", "left", "right", "word", "offsets", "rule"):
        assert np.array_equal(getattr(encoded, name), getattr(treebank, name))
    assert np.array_equal(encoded.rules().counts, treebank.rules().counts)
    assert encoded.trees() == hand_trees


def test_what_is_unknown_is_minus_one():
    treebank = Treebank.from_trees(["(S (A a) (B b))", "(S (B b) (A a))"])
    encoded = treebank.encode(["(S (A x) (B a))", "(S (A a) (A a))", "(S (C a) (B b))"])
    assert encoded.word.tolist() == [-1, 0, -1, 0, 0, -1, 0, 1, -1]
    assert encoded.tokens == ["x", "a", "a", "a", "a", "b"]
    assert encoded.label.tolist() == [1, 2, 0, 1, 1, 0, -1, 2, 0]
    assert encoded.rule.tolist() == [-1, -1, 0, -1, -1, -1, -1, -1, -1]
    with pytest.raises(ParameterError, match="unknown symbols"):
        encoded.trees()


def test_no_trees_to_encode():
    encoded = Treebank.from_trees(["(S (A a) (B b))"]).encode([])
    assert len(encoded) == len(encoded.label) == len(encoded.rule) == len(encoded.height) == 0
    assert encoded.trees() == []
    assert encoded.rules().counts.tolist() == [0]


def test_a_treebank_without_rules():
    treebank = Treebank.from_trees(["(UH yes)", "(S (INTJ (UH no)))"])
    assert treebank.n_inner == 0
    assert treebank.rule.tolist() == [-1, -1]
    assert [len(a) for a in treebank.rules()] == [0, 0, 0, 0]
    assert treebank.encode(["(S (A a) (B b))"]).rule.tolist() == [-1, -1, -1]
    assert isinstance(treebank.rules(), Rules)


# --- restoring parses ----------------------------------------------------------------------------


def test_restoring_takes_any_order_of_nodes_with_the_root_last():
    tree = as_tree(FLAT)
    treebank = Treebank.from_trees([tree], binarize="right")
    n = len(treebank.label)
    order = np.append(np.random.default_rng(0).permutation(n - 1), n - 1)  # new -> old
    back = np.argsort(order)

    def moved(children):
        return np.where(children[order] < 0, -1, back[children[order]])

    restored = restore(
        treebank.symbols,
        treebank.label[order],
        moved(treebank.left),
        moved(treebank.right),
        "abcde",
    )
    assert restored == tree


def test_an_intermediate_root_stands_for_its_label():
    symbols = [Symbol(("NP",), ()), Symbol(("A",), preterminal=True)]
    tree = restore(symbols, [1, 1, 0, 1, 0], [-1, -1, 0, -1, 2], [-1, -1, 1, -1, 3], "xyz")
    assert str(tree) == "(NP (A x) (A y) (A z))"


# --- size ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("binarize", ["left", "right"])
def test_deep_and_wide_trees(binarize):
    deep = chain = Tree("N", ["x"])
    for k in range(10_000):
        deep = Tree("S", [Tree("A", ["a"]), deep] if k % 2 else [deep, Tree("B", ["b"])])
        chain = Tree("X", [chain])
    wide = Tree("W", [Tree("A", ["a"])] * 10_000)
    trees = [deep, chain, wide]
    treebank = Treebank.from_trees(trees, binarize=binarize, horizontal=1, vertical=2)
    assert treebank.trees() == trees
    assert treebank.height[treebank.offsets[1:] - 1].tolist() == [10_000, 0, 9_999]


# --- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (Tree("S", [Tree("NP", ["the", Tree("NN", ["dog"])])]), r"tree 2: \(NP the \(NN dog\)\)"),
        (Tree("NP", ["the", "dog"]), r"tree 2: \(NP the dog\) .* its own tag"),
        (Tree("S", [Tree("NP", []), Tree("VP", ["x"])]), "tree 2: 'NP' has neither words nor"),
        (Tree("S", [Tree("A", ["x" * 90]), "y"]), r"tree 2: \(S \(A x{53}… has a word beside"),
        ("(S (A a)", "tree 2: .*"),
    ],
)
def test_bad_trees_are_named(tree, message):
    with pytest.raises(CorpusError, match=message):
        Treebank.from_trees(["(A a)", tree])
    with pytest.raises(CorpusError, match=message):
        Treebank.from_trees(["(A a)"]).encode(["(A a)", tree])


def test_no_trees():
    with pytest.raises(CorpusError, match="no trees: is the treebank empty"):
        Treebank.from_trees([])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"binarize": "up"}, "'left' or 'right', not 'up'"),
        ({"horizontal": -1}, "horizontal must be a whole number, 0 or more, or None, not -1"),
        ({"horizontal": 1.0}, "horizontal must be"),
        ({"vertical": 0}, "vertical must be a whole number, 1 or more, not 0"),
        ({"vertical": True}, "vertical must be"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ParameterError, match=message):
        Treebank.from_trees(["(A a)"], **options)


# --- real treebanks ------------------------------------------------------------------------------


@pytest.mark.parametrize("how", OPTIONS[::11])
def test_real_trees_are_restored(penn, gum, how):
    trees = penn("dev") + gum("dev")[:500]
    treebank = Treebank.from_trees(trees, **how)
    assert treebank.trees() == trees
    n_tokens = sum(len(tree.leaves()) for tree in trees)
    assert len(treebank.label) == 2 * n_tokens - len(trees)
    assert treebank.rules().counts.sum() == n_tokens - len(trees)


@pytest.mark.parametrize(
    ("options", "n_inner", "n_rules", "n_once"),
    [
        ({}, 69, 2574, 1055),
        ({"horizontal": None}, 3368, 8051, 4794),
        ({"horizontal": 1, "vertical": 2}, 947, None, None),
    ],
)
def test_grammars_of_the_penn_sample_are_as_large_as_nltk_makes_them(
    penn, options, n_inner, n_rules, n_once
):
    """NLTK's Chomsky normal form gave these figures, the one ADVP|PRT taken as ADVP.

    It marks the parents of tags, so that its rules with parents are others than ours.
    """

    def plain(tree):
        if not any(node.label == "ADVP|PRT" for node in tree.subtrees()):
            return tree
        return as_tree(str(tree).replace("ADVP|PRT", "ADVP"))

    treebank = Treebank.from_trees(map(plain, penn("train")), **options)
    counts = treebank.rules().counts
    assert (len(treebank), len(treebank.tokens)) == (3501, 84_469)
    assert (treebank.n_inner, len(treebank.symbols) - treebank.n_inner) == (n_inner, 139)
    if n_rules is not None:
        assert (len(counts), (counts == 1).sum()) == (n_rules, n_once)
