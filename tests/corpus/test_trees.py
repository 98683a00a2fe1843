"""Trees: brackets there and back, however deep; normalised; mistakes by file and line."""

import copy
import gc
import lzma
import pickle
import re
import tempfile
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import eigentext as et
from eigentext import Tree, normalize_tree, read_trees, write_trees
from eigentext.corpus import as_tree
from eigentext.corpus.dialects import DialectWarning
from eigentext.corpus.trees import without_functions
from eigentext.errors import CorpusError, ParameterError

CAT = Tree(
    "S",
    [
        Tree("NP", [Tree("DT", ["the"]), Tree("NN", ["cat"])]),
        Tree("VP", [Tree("VBZ", ["sleeps"])]),
    ],
)
CAT_LINE = "(S (NP (DT the) (NN cat)) (VP (VBZ sleeps)))"

names = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="() \t\n\r\f\v\0"), min_size=1
)
labels = st.one_of(names, st.sampled_from(["NP", "NP-SBJ", "S=2", "TOP", "TOP-1", "-NONE-"]))
preterminals = st.builds(lambda tag, word: Tree(tag, [word]), labels, names)
trees = st.recursive(
    preterminals,
    lambda inner: st.one_of(
        st.builds(Tree, st.one_of(labels, st.just("")), st.lists(inner, min_size=1, max_size=4)),
        st.builds(Tree, labels, st.lists(st.one_of(inner, names), min_size=1, max_size=4)),
    ),
    max_leaves=12,
)


# A tree.


def test_what_a_tree_is():
    assert str(CAT) == CAT_LINE
    assert Tree.parse(CAT_LINE) == CAT == eval(repr(CAT))
    assert CAT.leaves() == ["the", "cat", "sleeps"]
    assert CAT.tags() == [("the", "DT"), ("cat", "NN"), ("sleeps", "VBZ")]
    assert [tree.label for tree in CAT.subtrees()] == ["S", "NP", "DT", "NN", "VP", "VBZ"]
    assert [tree.is_preterminal for tree in CAT.subtrees()] == [
        False,
        False,
        True,
        True,
        False,
        True,
    ]
    assert not Tree("NP", ["New", "York"]).is_preterminal


def test_words_beside_trees_stay_in_order():
    tree = Tree.parse("(NP (DT the) old (NN cat) .)")
    assert tree.leaves() == ["the", "old", "cat", "."]
    assert tree.tags() == [("the", "DT"), ("old", "NP"), ("cat", "NN"), (".", "NP")]
    assert str(tree) == "(NP (DT the) old (NN cat) .)"


def test_trees_are_values():
    twin = Tree.parse(CAT_LINE)
    assert len({CAT, twin, Tree("NN", ["cat"])}) == 2
    different = [
        "(S (NP (DT the) (NN cat)) (VP (VBZ slept)))",
        "(S (NP (DT the) (NN cat)) (VP (VBD sleeps)))",
        "(S (NP (DT the)) (NN cat) (VP (VBZ sleeps)))",
        "(S (NP (DT the) (NN cat)) (VBZ sleeps))",
        "(S (NP (DT the) (NN cat)) VBZ sleeps)",
    ]
    assert all(Tree.parse(other) != CAT for other in different)
    assert CAT != CAT_LINE
    assert Tree("A", [Tree("B", ["c"])]) != Tree("A", ["B", "c"])


def test_the_usual_slip_is_caught():
    with pytest.raises(ParameterError, match=r"children of 'NN' are a string; give a list: \['cat"):
        Tree("NN", "cat")


def test_a_very_deep_tree():
    n = 20_000
    deep = Tree("X", ["w"])
    for _ in range(n):
        deep = Tree("Y", [deep])
    text = str(deep)
    assert text == "(Y " * n + "(X w)" + ")" * n
    again = Tree.parse(text)
    assert again == deep
    assert hash(again) == hash(deep)
    assert (again.leaves(), again.tags()) == (["w"], [("w", "X")])
    assert sum(1 for _ in again.subtrees()) == n + 1
    assert str(normalize_tree(again)) == "(Y (X w))"
    assert normalize_tree(again, collapse_repeats=False) == deep


# Brackets, there and back.


@given(trees)
def test_brackets_there_and_back(tree):
    assert Tree.parse(str(tree)) == tree
    assert str(Tree.parse(str(tree))) == str(tree)


@given(trees, st.sampled_from([" ", "\n", "\t", "\r\n  ", "\n\n"]))
def test_any_blanks_between_tokens(tree, blank):
    spread = re.sub(r"[()]", lambda bracket: f"{blank}{bracket[0]}{blank}", str(tree), flags=re.A)
    assert Tree.parse(spread.replace(" ", blank)) == tree


def test_several_trees_on_a_line_and_one_over_many(tmp_path):
    path = tmp_path / "trees"
    path.write_bytes(
        b"\xef\xbb\xbf\n( (S\r\n (NP (PRP it) )\n\n (VP (VBZ is)))\n)(X (Y z)) (NN 1\xc2\xa0000)"
    )
    first, second, third = read_trees(path)
    assert str(first) == "( (S (NP (PRP it)) (VP (VBZ is))))"
    assert (first.label, first.children[0].label) == ("", "S")
    assert str(second) == "(X (Y z))"
    assert third.leaves() == ["1\xa0000"]  # a no-break space belongs to the word


def test_round_brackets_become_names():
    tree = Tree("PRN", [Tree("-LRB-", ["("]), Tree("(", ["f(x)"]), Tree("-RRB-", ["-RRB-"])])
    assert str(tree) == "(PRN (-LRB- -LRB-) (-LRB- f-LRB-x-RRB-) (-RRB- -RRB-))"


# Files.


@pytest.mark.parametrize("ending", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_files_there_and_back(tmp_path, ending):
    path = tmp_path / f"trees.mrg{ending}"
    other = Tree("NP", [Tree("NNP", ["Œuvres"])])
    write_trees([CAT, str(other), CAT_LINE], path)
    assert read_trees(path) == [CAT, other, CAT]
    packed = path.read_bytes()
    assert (packed.decode() == f"{CAT_LINE}\n{other}\n{CAT_LINE}\n") if not ending else packed
    write_trees([CAT, other, CAT], path)
    assert path.read_bytes() == packed
    assert list(tmp_path.iterdir()) == [path]


@given(st.lists(trees, min_size=1, max_size=5))
def test_what_is_written_is_read(written):
    with tempfile.TemporaryDirectory() as folder:
        write_trees(written, Path(folder, "trees"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DialectWarning)  # such trees are odd
            assert read_trees(Path(folder, "trees")) == written


def test_many_files(tmp_path):
    for name, line in (("b", "(B b)"), ("a", "(A a) (A a)"), ("c", "(C c)")):
        (tmp_path / f"{name}.mrg").write_text(line)
    found = read_trees([tmp_path / "c.mrg", f"{tmp_path}/[ab].mrg"])
    assert [tree.label for tree in found] == ["C", "A", "A", "B"]
    with pytest.raises(CorpusError, match="none: no such file"):
        read_trees(tmp_path / "none")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", ": contains no trees; a tree looks like"),
        (b" \n\n", ": contains no trees"),
        (b"(A a)\n(S (NP (DT the)\n(B b)", r", line 2: the tree '\(S \(NP \(DT the\) \(B b\)' is"),
        (b"(A a)\n\n(B b))\n(C c)", r", line 3: '\)' closes nothing; remove it"),
        (b"(A a)\nhello (B b)", ", line 2: 'hello' is outside all brackets; a tree"),
        (b"import os\n\nprint(os.name)\n", ", line 1: 'import' is outside"),
        (b"(A a)\n(S (NP\n ) (B b))", r", line 2: '\(NP \)' has neither words nor trees; fill it"),
        (b"(A a)\n()", r", line 2: '\(\)' has neither words nor trees"),
        (b"(the)", r", line 1: '\(the\)' has neither words nor trees"),
        (
            b"(A a)\n(B caf\xe9)",
            ", line 2: byte 0xe9 is not UTF-8; it looks like cp1252",
        ),
        (b"(A a)\n(B b\0)", ", line 2: a NUL byte: a binary file"),
    ],
)
def test_files_that_hold_no_trees(tmp_path, content, message):
    path = tmp_path / "trees.mrg"
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=f"^{path}{message}"):
        read_trees(path)
    assert gc.isenabled()


def test_a_packed_file_that_is_cut(tmp_path):
    path = tmp_path / "trees.xz"
    write_trees([CAT] * 50, path)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(CorpusError, match=r"trees.xz: not a complete .xz file"):
        read_trees(path)


def test_strings_that_are_no_tree():
    with pytest.raises(CorpusError, match=r"'\(A a\) \(B b\)': contains 2 trees; give one string"):
        Tree.parse("(A a) (B b)")
    with pytest.raises(CorpusError, match=r"^'\(S \(NP', line 1: the tree .* never closed"):
        Tree.parse("(S (NP")
    with pytest.raises(CorpusError, match="contains no trees"):
        Tree.parse("")
    with pytest.raises(CorpusError) as caught:
        Tree.parse("(A a" * 100_000)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (Tree("NNP", ["New York"]), "the word 'New York' is empty or contains blanks"),
        (Tree("NNP", [""]), "the word '' is empty"),
        (Tree("NNP", ["a\0"]), "the word"),
        (Tree("NNP", ["\ud800"]), "the word"),
        (Tree("N P", ["York"]), "the label 'N P'"),
        (Tree("", ["York"]), "the label '' is empty"),
        (Tree("S", [Tree("NP", [])]), "'NP' has no children"),
    ],
)
def test_what_brackets_cannot_hold(tmp_path, tree, message):
    path = tmp_path / "trees"
    write_trees([CAT], path)
    with pytest.raises(CorpusError, match=f"tree 2: {message}"):
        write_trees([CAT, tree], path)
    assert read_trees(path) == [CAT]  # what was there is there


def test_a_folder_cannot_be_written(tmp_path):
    with pytest.raises(et.EigentextError, match="is a folder"):
        write_trees([CAT], tmp_path)


# Trees of others.


def test_to_and_from_nltk():
    nltk = pytest.importorskip("nltk")
    theirs = nltk.Tree.fromstring(CAT_LINE)
    assert CAT.to_nltk() == theirs
    assert as_tree(theirs) == CAT
    assert as_tree(nltk.ParentedTree.fromstring(CAT_LINE)) == CAT
    assert as_tree(CAT) is CAT
    assert as_tree(CAT_LINE) == CAT
    assert normalize_tree(nltk.Tree("TOP", [theirs])) == CAT
    with pytest.raises(ParameterError, match=r"of type tuple is neither a tree nor a word; give"):
        as_tree(nltk.Tree("S", [("the", "DT")]))


@pytest.mark.parametrize("thing", [None, 3, ["S", "NP"], b"(S s)", {"label": "S"}])
def test_what_is_no_tree(thing):
    with pytest.raises(ParameterError, match="is neither a tree nor a word; give a Tree, an nltk"):
        as_tree(thing)


# Normalising.


@pytest.mark.parametrize(
    ("label", "plain"),
    [
        ("NP-SBJ-1", "NP"),
        ("NP=2", "NP"),
        ("S-TPC-1=3", "S"),
        ("-LRB-", "-LRB-"),
        ("-NONE-", "-NONE-"),
        ("--", "--"),
        ("=", "="),
        ("PRP$", "PRP$"),
        ("ADVP|PRT", "ADVP|PRT"),
        ("", ""),
    ],
)
def test_function_tags_and_indices(label, plain):
    assert without_functions(label) == plain


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("( (S (NP-SBJ (PRP it)) (VP (VBZ is))))", "(S (NP (PRP it)) (VP (VBZ is)))"),
        # Traces go, then what they leave empty, then what that leaves alone under its own kind.
        ("(S (NP (-NONE- *)) (VP (TO to) (VP (VB go))))", "(S (VP (TO to) (VP (VB go))))"),
        ("(S (S-NOM (NP (-NONE- *)) (S (VP (VB go)))))", "(S (VP (VB go)))"),
        ("(VP (VB go) (SBAR (-NONE- 0) (S (NP (-NONE- *T*-1)))))", "(VP (VB go))"),
        ("(NP-SBJ (NP (NP-2 (NN x)) (-NONE- *)))", "(NP (NN x))"),
        ("(NP (NX (NP (NN x))))", "(NP (NX (NP (NN x))))"),  # not one above the other
        ("(NP (NP (NN x)) (NP (NN y)))", "(NP (NP (NN x)) (NP (NN y)))"),
        ("(NN (NN x))", "(NN x)"),
        # Wrappers, but not where they hold more than one tree, or a word.
        ("(ROOT (S1 (TOP ( (NN x)))))", "(NN x)"),
        ("(TOP (NN x) (. .))", "(TOP (NN x) (. .))"),
        ("(TOP (NN x) (-NONE- *))", "(NN x)"),
        ("(ROOT x)", "(ROOT x)"),
        ("(S (ROOT (NN x)))", "(S (ROOT (NN x)))"),
        ("(NP (-LRB- -LRB-) (NN x) (-RRB- -RRB-))", "(NP (-LRB- -LRB-) (NN x) (-RRB- -RRB-))"),
    ],
)
def test_normalising(raw, plain):
    raw = Tree.parse(raw)
    before = str(raw)
    assert str(normalize_tree(raw)) == plain
    assert normalize_tree(plain) == Tree.parse(plain)  # once is enough
    assert str(raw) == before


def test_every_choice_is_an_option():
    raw = "(TOP (S-1 (S (NP-SBJ (-NONE- *)) (VP=2 (VB go)))))"
    off = dict.fromkeys(["strip_functions", "drop_traces", "collapse_repeats", "strip_root"], False)
    assert str(normalize_tree(raw, **off)) == raw
    assert [str(normalize_tree(raw, **(off | {name: True}))) for name in off] == [
        "(TOP (S (S (NP (-NONE- *)) (VP (VB go)))))",
        "(TOP (S-1 (S (VP=2 (VB go)))))",
        raw,  # S-1 is not S
        "(S-1 (S (NP-SBJ (-NONE- *)) (VP=2 (VB go))))",
    ]
    assert str(normalize_tree(raw)) == "(S (VP (VB go)))"


@pytest.mark.parametrize("raw", ["(-NONE- *)", "( (S (NP (-NONE- *)) (VP (-NONE- *))))"])
def test_a_tree_without_words(raw):
    with pytest.raises(CorpusError, match=re.escape(f"'{raw}' has no words; leave such trees")):
        normalize_tree(raw)
    with pytest.raises(CorpusError, match="has no words"):
        normalize_tree(Tree("S", [Tree("NP", [])]))


@given(trees)
def test_normalised_once_is_normalised(tree):
    try:
        plain = normalize_tree(tree)
    except CorpusError:
        assert all(tag == "-NONE-" for _, tag in tree.tags())
        return
    assert normalize_tree(plain) == plain
    assert plain.leaves() == [word for word, tag in tree.tags() if tag != "-NONE-"]


def test_the_real_gum(data_folder):
    path = data_folder / "treebanks/gum/test.ptb.xz"
    if not path.exists():
        pytest.skip("no GUM in the data folder")
    found = read_trees(path)
    assert "".join(f"{tree}\n" for tree in found).encode() == lzma.decompress(path.read_bytes())
    plain = [normalize_tree(tree) for tree in found]
    assert sum(len(tree.leaves()) for tree in plain) == 28_397
    labels = {node.label for tree in plain for node in tree.subtrees()}
    assert {label for label in labels if "-" in label} == {"-LRB-", "-RRB-"}
    assert not labels & {"", "ROOT", "-NONE-"}


# Brackets without end.


def test_brackets_deeper_than_any_tree(tmp_path):
    path = tmp_path / "deep.txt"
    path.write_text("(A b)\n" + "(" * 1_000_001)
    with pytest.raises(
        CorpusError, match=r"deep.txt, line 2: brackets are more than 1000000 levels"
    ):
        read_trees(path)
    path.write_text("(A " * 200_000 + "b" + ")" * 200_000)
    (tree,) = read_trees(path)
    assert tree.leaves() == ["b"]
    del tree  # gone without recursion


@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_a_byte_order_mark_is_passed_over(tmp_path, start):
    path = tmp_path / "trees.txt"
    path.write_text(f"{start}{CAT_LINE}", encoding="utf-8")
    assert read_trees(path) == [CAT]


# Pickles and copies.


def chain(n_levels):
    """A tree of so many levels, with a word at each."""
    tree = Tree("X", ["end"])
    for number in range(n_levels - 1):
        tree = Tree(f"X{number % 7}", ["w", tree])
    return tree


COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    **{
        f"pickle{protocol}": lambda tree, protocol=protocol: pickle.loads(
            pickle.dumps(tree, protocol)
        )
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    },
}


@pytest.mark.parametrize("name", COPIES)
def test_deep_trees_are_copied_and_pickled(name):
    tree = chain(5_000)
    copied = COPIES[name](tree)
    assert copied == tree
    assert hash(copied) == hash(tree)
    assert str(copied) == str(tree)
    assert repr(copied) == repr(tree)
    assert Tree.parse(str(copied)) == tree
    assert copied != chain(4_999)


@given(trees)
def test_copies_are_equal_and_others(tree):
    for make in COPIES.values():
        copied = make(tree)
        assert copied == tree
        assert copied is not tree
    assert copy.deepcopy([tree, tree])[0] == tree


def test_a_deep_copy_shares_no_node():
    tree = Tree.parse("(S (NP (N cats)) (VP (V sleep)))")
    ids = set(map(id, tree.subtrees()))
    assert not ids & set(map(id, copy.deepcopy(tree).subtrees()))
    twice = copy.deepcopy([tree, tree])
    assert twice[0] is twice[1]
