"""Files of trees: encodings, bad trees that are skipped, and what is told about them."""

import pytest

import eigentext as et
from eigentext import Tree, read_trees
from eigentext.errors import BadItemsWarning, CorpusError, ParameterError

GOOD = "(S (NP (NNS cats)) (VP (VBP sleep)))"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "trees.mrg"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_encodings(path, encoding):
    tree = Tree("N", ["œuf" if "utf" in encoding else "été"])
    path.write_bytes(f"{tree}\n{GOOD}\n".encode(encoding))
    assert read_trees(path, encoding=encoding) == [tree, Tree.parse(GOOD)]


def test_an_encoding_is_guessed_in_the_error(path):
    path.write_bytes(f"{GOOD}\n(N été)\n".encode("latin-1"))
    with pytest.raises(CorpusError, match=r"line 2: byte 0xe9 is not UTF-8.*--encoding cp1252"):
        read_trees(path)
    with pytest.raises(ParameterError, match="encoding must be the name"):
        read_trees(path, encoding="klingon")


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("(S (NP (DT the)", "line 11: the tree '.*' is never closed"),
        ("(S (NP ) (B b))", r"line 11: '\(NP \)' has neither words nor trees"),
        ("(A b))", r"line 11: '\)' closes nothing"),
        ("hello", "line 11: 'hello' is outside all brackets"),
        ("(the)", r"line 11: '\(the\)' has neither"),
        ("(N caf\udce9)", "line 11: byte 0xe9 is not UTF-8"),
        ("(N b\0)", "line 11: a NUL byte"),
    ],
)
@pytest.mark.parametrize("shape", ["{}\n", "( (S\n   {}))\n"])
def test_a_bad_tree_is_skipped(path, bad, message, shape):
    good = shape.format(GOOD)
    n_lines = good.count("\n")
    message = message.replace("line 11", f"line {10 * n_lines + 1}")
    text = good * 10 + bad + "\n" + good * 10
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(CorpusError, match=r"trees\.mrg, line"):
        read_trees(path)
    with pytest.warns(BadItemsWarning, match=rf"skipped 1 of 2\d trees: .*{message}"):
        trees = read_trees(path, errors="skip")
    assert [str(tree) for tree in trees if len(tree.leaves()) == 2] == [
        str(Tree.parse(good)) for _ in range(20)
    ]
    assert trees.about.n_skipped == 1


def test_trees_without_a_first_column(path):
    """Lines inside of trees begin with brackets too: reading goes on where all are closed."""
    good = "(S\n(NP (NNS cats))\n(VP\n(VBP sleep)))\n"
    path.write_text(good * 10 + "(S\n(NP )\n(B b))\n" + good * 10)
    with pytest.warns(BadItemsWarning, match=r"skipped 1 of 21 trees: .*line 42: '\(NP \)'"):
        assert read_trees(path, errors="skip") == [Tree.parse(GOOD)] * 20
    path.write_text(good * 10 + "(S\n(NP a)\n" + good * 10)
    with pytest.raises(CorpusError, match=r"line 41: the tree .* is never closed"):
        read_trees(path, errors="skip")  # everything after it would be lost


def test_too_many_bad_trees(path):
    path.write_text(f"{GOOD}\n" * 8 + "(the)\n")
    with pytest.raises(CorpusError, match=r"1 of 9 trees are bad, more than a tenth.*line 9"):
        read_trees(path, errors="skip")
    with pytest.raises(ParameterError, match="errors must be 'raise' or 'skip'"):
        read_trees(path, errors="ignore")


def test_several_files_of_several_formats(tmp_path):
    (tmp_path / "a").write_text(f"{GOOD} {GOOD}")
    (tmp_path / "b").write_text("#BOS 1\nx\tN\t--\t--\t0\n#EOS 1\n")
    trees = read_trees([tmp_path / "a", tmp_path / "b", tmp_path / "a"])
    assert [len(tree.leaves()) for tree in trees] == [2, 2, 1, 2, 2]
    assert trees.about.dialect == "penn, export"
    assert [trees.about.place(n) for n in (0, 1, 2, 4)] == [
        f"{tmp_path / name}, tree {n}" for name, n in (("a", 1), ("a", 2), ("b", 1), ("a", 2))
    ]
    assert [trees.about.file(n) for n in range(5)] == [str(tmp_path / name) for name in "aabaa"]


def test_the_old_name():
    from eigentext.corpus import trees

    assert trees.read_trees is et.read_trees
    with pytest.raises(AttributeError, match="no attribute 'read_forests'"):
        _ = trees.read_forests
