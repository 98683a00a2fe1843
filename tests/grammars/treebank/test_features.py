"""Features of inside and outside trees: by hand, and against a walk over single nodes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext.corpus.trees import Tree
from eigentext.errors import ParameterError
from eigentext.grammars.treebank.features import TreebankNodes, code_features, codes, full
from eigentext.grammars.treebank.heads import heads
from eigentext.grammars.treebank.lexicon import Lexicon
from eigentext.grammars.treebank.normal_form import Treebank

INSIDE = ["left", "right", "rule", "left rule", "right rule", "head", "width"]
OUTSIDE = ["rule", "2 rules", "3 rules", "parent", "parents", "head", "left", "right"]


def nodes_of(trees, *, rare=0, **options):
    treebank = Treebank.from_trees(trees, **options)
    is_first = np.zeros(len(treebank.tokens), bool)
    return TreebankNodes(treebank, Lexicon(treebank.tokens, is_first, rare).terminals())


def by_name(coded):
    assert coded.values.dtype == np.int32
    assert len(coded.names) == len(coded.values) == len(coded.sizes)
    return dict(zip(coded.names, coded.values))


def assert_same_partition(coded, values):
    """Equal codes for equal values, -1 for no value, and no gaps in the numbers."""
    pairs = set(zip(coded.tolist(), values, strict=True))
    numbers = {code for code, value in pairs if value is not None}
    assert all((code == -1) == (value is None) for code, value in pairs)
    assert numbers == set(range(len(numbers)))
    assert len({value for _, value in pairs}) == len({code for code, _ in pairs}) == len(pairs)


# --- known answers -------------------------------------------------------------------------------

FOX = [
    "(S (NP (DT a) (NN fox)) (VP (VBD crossed) (NP (DT the) (NN road))))",
    "(S (NP (PRP she)) (VP (VBD saw) (NP (DT a) (NN fox))))",
]
# In post-order, the leaves of the two trees are 0 1 3 4 5 and 9 10 11 12, their roots 8 and 15.
_ = None
BELOW = {
    "left": [_, _, "DT", _, _, _, "DT", "VBD", "NP", _, _, _, _, "DT", "VBD", "NP+PRP"],
    "right": [_, _, "NN", _, _, _, "NN", "NP", "VP", _, _, _, _, "NN", "NP", "VP"],
    "rule": [
        "a", "fox", "DT NN", "crossed", "the", "road", "DT NN", "VBD NP", "NP VP",
        "she", "saw", "a", "fox", "DT NN", "VBD NP", "NP+PRP VP",
    ],
    "left rule": [
        _, _, "(NP (DT a) NN)", _, _, _, "(NP (DT the) NN)", "(VP (VBD crossed) NP)",
        "(S (NP DT NN) VP)",
        _, _, _, _, "(NP (DT a) NN)", "(VP (VBD saw) NP)", "(S (NP+PRP she) VP)",
    ],
    "right rule": [
        _, _, "(NP DT (NN fox))", _, _, _, "(NP DT (NN road))", "(VP VBD (NP DT NN))",
        "(S NP (VP VBD NP))",
        _, _, _, _, "(NP DT (NN fox))", "(VP VBD (NP DT NN))", "(S NP+PRP (VP VBD NP))",
    ],
    "head": [_, _, "NN", _, _, _, "NN", "VBD", "VBD", _, _, _, _, "NN", "VBD", "VBD"],
    "width": [_, _, 2, _, _, _, 2, 3, 5, _, _, _, _, 2, 3, 4],
}  # fmt: skip
ABOVE = {
    "rule": [
        "(NP DT* NN)", "(NP DT NN*)", "(S NP* VP)", "(VP VBD* NP)", "(NP DT* NN)", "(NP DT NN*)",
        "(VP VBD NP*)", "(S NP VP*)", "*",
        "(S NP+PRP* VP)", "(VP VBD* NP)", "(NP DT* NN)", "(NP DT NN*)", "(VP VBD NP*)",
        "(S NP+PRP VP*)", "*",
    ],
    "2 rules": [
        "(S (NP DT* NN) VP)", "(S (NP DT NN*) VP)", "(S NP* VP)", "(S NP (VP VBD* NP))",
        "(VP VBD (NP DT* NN))", "(VP VBD (NP DT NN*))", "(S NP (VP VBD NP*))", "(S NP VP*)", "*",
        "(S NP+PRP* VP)", "(S NP+PRP (VP VBD* NP))", "(VP VBD (NP DT* NN))",
        "(VP VBD (NP DT NN*))", "(S NP+PRP (VP VBD NP*))", "(S NP+PRP VP*)", "*",
    ],
    "3 rules": [
        "(S (NP DT* NN) VP)", "(S (NP DT NN*) VP)", "(S NP* VP)", "(S NP (VP VBD* NP))",
        "(S NP (VP VBD (NP DT* NN)))", "(S NP (VP VBD (NP DT NN*)))", "(S NP (VP VBD NP*))",
        "(S NP VP*)", "*",
        "(S NP+PRP* VP)", "(S NP+PRP (VP VBD* NP))", "(S NP+PRP (VP VBD (NP DT* NN)))",
        "(S NP+PRP (VP VBD (NP DT NN*)))", "(S NP+PRP (VP VBD NP*))", "(S NP+PRP VP*)", "*",
    ],
    "parent": [
        "NP", "NP", "S", "VP", "NP", "NP", "VP", "S", "*", "S", "VP", "NP", "NP", "VP", "S", "*",
    ],
    "parents": [
        "NP S", "NP S", "S", "VP S", "NP VP", "NP VP", "VP S", "S", "*",
        "S", "VP S", "NP VP", "NP VP", "VP S", "S", "*",
    ],
    "head": [
        "NN", "VBD", "VBD", "*", "NN", "VBD", "VBD", "*", "*",
        "VBD", "*", "NN", "VBD", "VBD", "*", "*",
    ],
    "left": [0, 1, 0, 2, 3, 4, 3, 2, 0, 0, 1, 2, 3, 2, 1, 0],
    "right": [4, 3, 3, 2, 1, 0, 0, 0, 0, 3, 2, 1, 0, 0, 0, 0],
}  # fmt: skip


@pytest.mark.parametrize("name", INSIDE)
def test_inside_by_hand(name):
    coded = code_features("full", nodes_of(FOX))[0]
    assert coded.names == INSIDE
    assert_same_partition(by_name(coded)[name], BELOW[name])


@pytest.mark.parametrize("name", OUTSIDE)
def test_outside_by_hand(name):
    coded = code_features("full", nodes_of(FOX))[1]
    assert coded.names == OUTSIDE
    assert_same_partition(by_name(coded)[name], ABOVE[name])


def test_simple_by_hand():
    inside, outside = code_features("simple", nodes_of(FOX))
    assert inside.names == outside.names == ["rule"]
    assert_same_partition(inside.values[0], BELOW["rule"])
    assert_same_partition(outside.values[0], ABOVE["rule"])


def test_the_nodes_by_hand():
    nodes = nodes_of(FOX)
    assert nodes.parent.tolist() == [2, 2, 8, 7, 6, 6, 7, 8, -1, 15, 14, 13, 13, 14, 15, -1]
    assert np.flatnonzero(nodes.is_right).tolist() == [1, 5, 6, 7, 12, 13, 14]
    assert nodes.end.tolist() == [1, 2, 2, 3, 4, 5, 5, 5, 5, 1, 2, 3, 4, 4, 4, 4]
    assert nodes.length.tolist() == [5] * 9 + [4] * 7
    assert nodes.head.tolist() == [0, 1, 1, 3, 4, 5, 5, 3, 3, 9, 10, 11, 12, 12, 10, 10]
    assert nodes.head_above.tolist() == [1, 3, 3, -1, 5, 3, 3, -1, -1, 10, -1, 12, 10, 10, -1, -1]


def test_wide_nodes_have_features_of_their_binary_ones():
    """@NP is a child and a parent like others, and passes its head on."""
    nodes = nodes_of(["(NP (DT the) (JJ old) (NN road) (NN sign))"])  # DT JJ @NP NN @NP NN NP
    inside, outside = map(by_name, code_features("full", nodes))
    assert_same_partition(inside["left"], [_, _, "DT", _, "@NP", _, "@NP"])
    assert_same_partition(inside["head"], [_, _, "JJ", _, "NN", _, "NN"])
    assert_same_partition(outside["head"], ["JJ", "NN", "NN", "NN", "NN", "*", "*"])
    assert_same_partition(outside["parents"], ["@ @", "@ @", "@ NP", "@ NP", "NP", "NP", "*"])


def test_rare_words_share_their_class():
    """Classes are in the word of a leaf, and in fragments with a word."""
    words = ["gate", "gate", "walking", "running", "Ann"]
    trees = [f"(NP (DT the) (NN {word}))" for word in words]  # nodes DT NN NP
    for rare, kinds in [(0, words), (1, ["gate", "gate", "+ing", "+ing", "C"])]:
        inside = by_name(code_features("full", nodes_of(trees, rare=rare))[0])
        rules = [text for kind in kinds for text in ("the", kind, "NP -> DT NN")]
        assert_same_partition(inside["rule"], rules)
        fragments = [text for kind in kinds for text in (_, _, f"(NP DT (NN {kind}))")]
        assert_same_partition(inside["right rule"], fragments)
        assert_same_partition(inside["left rule"], [_, _, "(NP (DT the) NN)"] * 5)


def test_the_root_has_values_of_its_own():
    nodes = nodes_of([*FOX, "(NN dog)", "(NP (NP (NN x)) (NP (NN y)))"])
    is_root = nodes.parent < 0
    assert is_root.sum() == 4
    full_set, simple_set = (by_name(code_features(name, nodes)[1]) for name in ("full", "simple"))
    for values in (simple_set["rule"], *(full_set[name] for name in OUTSIDE[:5])):
        assert len(set(values[is_root])) == 1
        assert not np.isin(values[~is_root], values[is_root]).any()
    assert (full_set["head"] >= 0).all()


@pytest.mark.parametrize("name", ["full", "simple"])
def test_a_treebank_of_leaves(name):
    nodes = nodes_of(["(NN dog)", "(NP (NN cat))", "(NN dog)"])
    inside, outside = code_features(name, nodes)
    values = by_name(inside)
    assert_same_partition(values.pop("rule"), ["dog", "cat", "dog"])
    assert all((row == -1).all() for row in values.values())
    assert dict(zip(inside.names, inside.sizes)) == {n: 2 * (n == "rule") for n in inside.names}
    assert (outside.values == 0).all()
    assert (outside.sizes == 1).all()


# --- one by one ----------------------------------------------------------------------------------


def twin(nodes):
    """The full set for each node by itself, as text."""
    treebank, inside, outside = nodes.treebank, [], []
    head = heads(treebank)
    left, right = treebank.left.tolist(), treebank.right.tolist()
    name = [str(treebank.symbols[a]) for a in treebank.label]
    tag = [treebank.symbols[a].chain[-1] for a in treebank.label]
    is_leaf = treebank.left < 0
    terminal = dict(zip(np.flatnonzero(is_leaf), nodes.terminals))
    parent = {child: n for n in range(len(name)) if left[n] >= 0 for child in (left[n], right[n])}
    tree_of = np.searchsorted(treebank.offsets, np.arange(len(name)), side="right") - 1

    def rewrite(n):
        return f"{name[left[n]]} {name[right[n]]}" if left[n] >= 0 else f"word {terminal[n]}"

    def words_below(n):
        todo, found = [n], []
        while todo:
            n = todo.pop()
            found += [n] if is_leaf[n] else []
            todo += [] if is_leaf[n] else [left[n], right[n]]
        return found

    def fragment(n, n_levels):
        text = f"{name[n]}*" if n in parent else "*"
        for _ in range(n_levels):
            if n not in parent:
                break
            n, child = parent[n], n
            one, other = (text, name[right[n]]), (name[left[n]], text)
            text = f"({name[n]} {' '.join(one if left[n] == child else other)})"
        return text

    for n in range(len(name)):
        inner, words = not is_leaf[n], words_below(n)
        inside.append((
            name[left[n]] if inner else None,
            name[right[n]] if inner else None,
            f"{name[n]} -> {rewrite(n)}" if inner else rewrite(n),
            f"{name[n]} -> ({rewrite(n)}) ({rewrite(left[n])})" if inner else None,
            f"{name[n]} -> ({rewrite(n)}) ({rewrite(right[n])})" if inner else None,
            tag[head[n]] if inner else None,
            len(words) if inner else None,
        ))  # fmt: skip
        up = n
        while up in parent and head[up] == head[n]:
            up = parent[up]
        above = parent.get(n)
        leaves = [x for x in np.flatnonzero(is_leaf) if tree_of[x] == tree_of[n]]
        outside.append((
            *(fragment(n, k) for k in (1, 2, 3)),
            "*" if above is None else name[above],
            (above and name[above], parent.get(above) and name[parent[above]]),
            tag[head[up]] if head[up] != head[n] else "*",
            sum(x < min(words) for x in leaves),
            sum(x > max(words) for x in leaves),
        ))  # fmt: skip
    return list(zip(*inside)), list(zip(*outside))


def assert_as_twin(nodes):
    for coded, expected in zip(code_features("full", nodes), twin(nodes)):
        for row, size, values in zip(coded.values, coded.sizes, expected, strict=True):
            assert_same_partition(row, values)
            assert size == row.max() + 1
    (below,), (above,) = (coded.values for coded in code_features("simple", nodes))
    inside, outside = (by_name(coded) for coded in code_features("full", nodes))
    assert np.array_equal(below, inside["rule"])
    assert np.array_equal(above, outside["rule"])


_phrases = st.sampled_from(["S", "NP", "VP", "X"])
_preterminals = st.builds(
    lambda tag, word: Tree(tag, [word]),
    st.sampled_from(["DT", "NN", "VBD"]),
    st.sampled_from(["a", "b", "dogs", "cats", "Ann"]),
)
_trees = st.recursive(
    _preterminals,
    lambda below: st.builds(Tree, _phrases, st.lists(below, min_size=1, max_size=4)),
    max_leaves=15,
)


@given(
    st.lists(_trees, min_size=1, max_size=4),
    st.integers(0, 2),
    st.sampled_from(["left", "right"]),
    st.sampled_from([(0, 1), (1, 2)]),
)
def test_the_same_one_by_one(trees, rare, binarize, memory):
    horizontal, vertical = memory
    assert_as_twin(
        nodes_of(trees, rare=rare, binarize=binarize, horizontal=horizontal, vertical=vertical)
    )


def test_the_same_one_by_one_on_penn(penn):
    assert_as_twin(nodes_of(penn("dev")[::7], rare=3))


_rows = st.lists(
    st.sampled_from(
        [
            st.integers(-3, 3),
            st.integers(-(2**62), 2**62),
            st.booleans(),
            st.sampled_from(["a", "b", "ab", ""]),
            st.sampled_from([0.5, -1.0, 1e300]),
        ]
    ),
    min_size=1,
    max_size=3,
).flatmap(lambda kinds: st.lists(st.tuples(*kinds), min_size=1, max_size=12))


@given(_rows)
def test_codes_are_the_ranks_of_rows(rows):
    columns = zip(*rows)
    ranks = {row: k for k, row in enumerate(sorted(set(rows)))}
    assert codes(*map(np.array, columns)).tolist() == [ranks[row] for row in rows]


# --- a user's own --------------------------------------------------------------------------------


def test_a_function_may_give_strings_and_numbers():
    nodes = nodes_of(FOX)
    names = [str(nodes.treebank.symbols[a]) for a in nodes.treebank.label]
    halves = nodes.width / 2
    halves[3], halves[4] = np.nan, -0.5

    def mine(given):
        assert given is nodes
        inside = {"name": names, "half": halves, "long": nodes.width > 2}
        return inside, {"left": nodes.end - nodes.width - 1, "none": np.full(16, -7)}

    inside, outside = code_features(mine, nodes)
    assert inside.names == ["name", "half", "long"]
    assert outside.names == ["left", "none"]
    assert_same_partition(inside.values[0], names)
    expected = [_ if n in (3, 4) else width for n, width in enumerate(nodes.width)]
    assert_same_partition(inside.values[1], expected)
    assert_same_partition(inside.values[2], (nodes.width > 2).tolist())
    lefts = [_ if left == 0 else left for left in ABOVE["left"]]
    assert_same_partition(outside.values[0], lefts)
    assert (outside.values[1] == -1).all()
    assert inside.sizes.tolist() == [7, 5, 2]
    assert outside.sizes.tolist() == [4, 0]


def test_a_function_may_add_to_the_full_set():
    nodes = nodes_of(FOX)

    def mine(nodes):
        inside, outside = full(nodes)
        return [{**inside, "even": nodes.width % 2}, outside]

    inside, outside = code_features(mine, nodes)
    plain, others = code_features("full", nodes)
    assert inside.names == [*INSIDE, "even"]
    assert np.array_equal(inside.values[:-1], plain.values)
    assert np.array_equal(outside.values, others.values)


GOOD = {"width": np.arange(16)}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "must give two dictionaries, of inside and of outside templates, not None"),
        (GOOD, r"must give two dictionaries, .*, not \{'width'"),
        ((GOOD, GOOD, GOOD), "must give two dictionaries"),
        (7, "must give two dictionaries, .*, not 7"),
        (({}, GOOD), "no inside features: give a dictionary of at least one template"),
        ((GOOD, {}), "no outside features: give a dictionary of at least one template"),
        ((GOOD, np.arange(16)), "no outside features: give a dictionary"),
        ((None, GOOD), "no inside features: give a dictionary"),
        (({"w": np.arange(15)}, GOOD), r"inside template 'w' has shape \(15,\), .* 16 nodes"),
        ((GOOD, {"w": np.ones((16, 2))}), r"outside template 'w' has shape \(16, 2\), but"),
        ((GOOD, {"w": 3}), r"outside template 'w' has shape \(\), .*: give one value for each"),
        (({"w": [None] * 16}, GOOD), r"'w' has values of type object: give numbers or strings"),
        (({"w": np.ones(16, complex)}, GOOD), r"'w' has values of type complex128: give numbers"),
    ],
)
def test_wrong_answers_of_a_function(answer, message):
    with pytest.raises(ParameterError, match=message):
        code_features(lambda nodes: answer, nodes_of(FOX))


def test_a_functions_own_errors_are_its_own():
    def broken(nodes):
        raise ValueError("mine")

    with pytest.raises(ValueError, match=r"^mine$"):
        code_features(broken, nodes_of(FOX))


@pytest.mark.parametrize("features", ["fancy", "", None, 7, ("full",)])
def test_unknown_sets(features):
    with pytest.raises(ParameterError, match=r"must be 'full', 'simple' or a function, not "):
        code_features(features, nodes_of(FOX))
