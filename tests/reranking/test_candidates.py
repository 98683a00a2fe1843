"""N-best files: what is written is read again, and errors name the place of a mistake."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import eigentext as et
from eigentext.errors import CorpusError, EigentextError, ParameterError
from eigentext.kernels import Candidate
from eigentext.reranking.candidates import (
    candidate_line,
    read_candidates,
    read_structures,
    structure_line,
    write_candidates,
)

TREE = et.Tree.parse("(S (NP (NNS cats)) (VP (VBP sleep)))")
OTHER = et.Tree.parse("(S (NP (NNS cats) (NN sleep)))")
TAGGED = [("cats", "NNS"), ("and/or", "CC"), ("dogs", "NNS")]
LINE = "cats/NNS and/or/CC dogs/NNS"


@pytest.fixture
def file(tmp_path):
    def write(text: str | bytes):
        path = tmp_path / "best"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


# Known answers.


def test_trees_of_other_libraries_are_written_too():
    class Foreign(list):  # like nltk.Tree
        def label(self):
            return "NP"

    assert structure_line(Foreign(["cats"])) == "(NP cats)"


def test_trees(file):
    best = f"-1.5\t{TREE}\n-2\t{OTHER}\n\n\n-inf\t{TREE}\n\n"
    expected = [[(TREE, -1.5), (OTHER, -2.0)], [], [(TREE, -math.inf)]]
    assert read_candidates(file(best)) == expected
    assert isinstance(read_candidates(file(best))[0][0], Candidate)
    assert read_candidates([file(best.rstrip("\n"))]) == expected  # no empty line at the end
    ranked = f"1\t-1.5\t{TREE}\r\n2\t-2\t{OTHER}\r\n\r\n\r\n1\t-inf\t( {TREE} )\r\n"
    expected[2] = [(et.Tree("", [TREE]), -math.inf)]
    assert read_candidates(file(ranked.encode("utf-8-sig"))) == expected
    assert read_candidates(file(f"\n-1\t{TREE}")) == [[], [(TREE, -1.0)]]


def test_taggings(file):
    assert read_candidates(file(f"-1e3\t{LINE}\n")) == [[(TAGGED, -1000.0)]]
    # Brackets are words here, and only ASCII blanks separate words.
    tagged = [("(", "("), ("New\u00a0York", "NNP"), (")", ")")]
    assert read_candidates(file("1\t(/( New\u00a0York/NNP )/)\n")) == [[(tagged, 1.0)]]
    assert structure_line(tagged) == "(/( New\u00a0York/NNP )/)"
    assert structure_line(TAGGED) == LINE


def test_trees_that_look_tagged(file):
    tree = et.Tree("S/NP", [et.Tree("a/b", ["c/d"])])
    assert structure_line(tree) == "( S/NP (a/b c/d))"
    assert read_candidates(file(candidate_line((tree, 0)))) == [[(tree, 0.0)]]
    ccg = et.Tree.parse("(S/NP (N/N the) (N cat))")  # categories with slashes
    assert structure_line(ccg) == str(ccg)
    assert read_structures(file(str(ccg))) == [ccg]


def test_the_right_structures(file):
    spread = f"{TREE}\n\n( (S\n  (NP (NNS cats)\n (NN sleep))))\n{TREE} {TREE}\n"
    assert read_structures(file(spread)) == [TREE, et.Tree("", [OTHER]), TREE, TREE]
    assert read_structures(file(f"\n{LINE}\r\n \n{LINE}")) == [TAGGED, TAGGED]
    assert read_structures(file("(/( a/DT\n")) == [[("(", "("), ("a", "DT")]]


def test_what_a_parser_writes(file, tmp_path):
    """The lines of a parser: rank, log-probability, tree."""
    trees = [TREE, OTHER, et.Tree.parse("(S (NP (NNS dogs)) (VP (VBP sleep) (NP (NNS cats))))")]
    model = et.PCFG(horizontal=0, vertical=1).fit(trees * 3)
    found = model.k_best(["cats", "sleep"], 3)
    write_candidates([found], tmp_path / "best")
    assert read_candidates(tmp_path / "best") == [[tuple(one) for one in found]]
    ranked = "".join(f"{n}\t{log!r}\t{tree}\n" for n, (tree, log) in enumerate(found, 1))
    assert read_candidates(file(ranked)) == [[tuple(one) for one in found]]


# What is written is read again.

names = st.text(
    st.characters(exclude_characters=" \t\n\r\f\v\0", exclude_categories=["Cs"]), min_size=1
)
plain = names.filter(lambda name: not set("()") & set(name))  # they would become -LRB-
trees = st.recursive(
    st.builds(lambda label, word: et.Tree(label, [word]), plain, plain),
    lambda below: st.builds(
        et.Tree, plain | st.just(""), st.tuples(below, below | plain) | st.tuples(below)
    ),
    max_leaves=8,
)
tags = names.filter(lambda name: "/" not in name)
taggings = st.lists(st.tuples(names, tags), min_size=1, max_size=6)
logs = st.floats(allow_nan=False).filter(lambda x: x < math.inf)


def lists_of(structures):
    return st.lists(st.lists(st.builds(Candidate, structures, logs), max_size=4), min_size=1)


@given(lists_of(trees) | lists_of(taggings), st.sampled_from(["", ".gz", ".bz2", ".xz", ".zst"]))
def test_round_trip(tmp_path_factory, lists, ending):
    path = tmp_path_factory.getbasetemp() / f"best{ending}"
    write_candidates(lists, path)
    if not any(lists):
        with pytest.raises(CorpusError, match="the file is empty"):
            read_candidates(path)
        return
    assert read_candidates(path) == lists
    first = path.read_bytes()
    write_candidates(lists, path)
    assert path.read_bytes() == first


@given(st.lists(trees, min_size=1) | st.lists(taggings, min_size=1))
def test_round_trip_of_structures(tmp_path_factory, structures):
    path = tmp_path_factory.getbasetemp() / "structures"
    path.write_text("\n".join(map(structure_line, structures)), encoding="utf-8", newline="")
    assert read_structures(path) == structures


def test_several_files(tmp_path):
    for name in "ab":
        write_candidates([[(TREE, -1)], []], tmp_path / f"{name}.nbest.gz")
    (tmp_path / "c.nbest").write_text("\n")  # of an empty line
    assert read_candidates(tmp_path / "*.nbest*") == [[(TREE, -1)], []] * 2 + [[]]


def test_a_deep_tree(tmp_path):
    tree = et.Tree("X", ["x"])
    for _ in range(10_000):
        tree = et.Tree("X", [tree])
    write_candidates([[(tree, 0.5)]], tmp_path / "best")
    assert read_candidates(tmp_path / "best") == [[(tree, 0.5)]]


# Mistakes.


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        (f"{TREE}\n", 1, "is not a candidate; give its log-probability, a tab and its structure"),
        (
            f"-1\t{TREE}\n-1 {TREE}\n",
            2,
            "'-1 (S (NP (NNS cats)) (VP (VBP sleep)))' is not",
        ),
        ("-1\t \n", 1, "'-1' is not a candidate"),
        (f"1\t-1\t{TREE}\t2\n", 1, "is not a candidate"),
        (f"-1\t{TREE}\n\nlow\t{TREE}", 3, "'low' is not a log-probability; give a number or -inf"),
        (f"nan\t{TREE}\n", 1, "'nan' is not a log-probability"),
        (f"inf\t{TREE}\n", 1, "'inf' is not a log-probability"),
        (f"{TREE}\t-1\n", 1, "is not a log-probability"),
        ("-1\t(A b)\n-1\t(A (B c)\n-2\t(A b))\n", 2, "'(A (B c)' has 2 '(' but 1 ')'; put each"),
        ("-1\t(A b)\n\n-1\t(A b) (A b)\n", 3, "several trees; put each on its own line"),
        ("-1\t(A b)\n-1\t(A b)) ((C d)\n", 2, "')' closes nothing"),
        ("-1\t(A b) c\n", 1, "'c' is outside all brackets"),
        ("-1\t(A ())\n", 1, "'()' has neither words nor trees"),
        (
            "\n-1\ta/A b\n",
            2,
            "'b' is not a word with its tag; write word/tag, or trees",
        ),
        ("-1\ta/A /B\n", 1, "'/B' is not a word with its tag"),
        ("-1\ta/A b/\n", 1, "'b/' is not a word with its tag"),
        ("-1\ta/A\n\n-1\t(A b)\n", 3, "a tree after a tagged sequence; read each kind separately"),
        ("-1\t(A b)\n-1\ta/A\n", 2, "a tagged sequence after a tree"),
        (b"-1\t(A b)\n-1\t(A \xff)\n", 2, "byte 0xff is not UTF-8; it looks like cp1252"),
        ("-1\ta/A\n".encode("utf-16-le"), 1, "a NUL byte; it looks like utf-16-le: read"),
    ],
)
def test_mistakes_are_named_with_their_line(file, text, line, reason):
    path = file(text)
    with pytest.raises(CorpusError, match=re.escape(f"{path}, line {line}: ")) as error:
        read_candidates(path)
    assert reason in str(error.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", ": the file is empty; give one that contains structures"),
        (" \n\n", ": the file is empty; give one that contains structures"),
        ("\n(A (B c)\n", ", line 2: the tree '(A (B c)' is never closed"),
        ("a/A\n\nb\n", ", line 3: 'b' is not a word with its tag"),
        ("a/A\n(A b)\n", ", line 2: a tree after a tagged sequence"),
        ("(A b)\nb/B\n", ", line 2: 'b/B' is outside all brackets"),
    ],
)
def test_mistakes_in_the_right_structures(file, text, reason):
    path = file(text)
    with pytest.raises(CorpusError, match=re.escape(f"{path}{reason}")):
        read_structures(path)


def test_mistakes_in_files(tmp_path):
    for read in (read_candidates, read_structures):
        with pytest.raises(CorpusError, match="missing: no such file"):
            read(tmp_path / "missing")
        (tmp_path / "best.gz").write_bytes(b"-1\t(A b)\n")
        with pytest.raises(CorpusError, match=r"best\.gz: not a complete \.gz file"):
            read([tmp_path / "best.gz"])
    (tmp_path / "a").write_text("-1\ta/A")
    (tmp_path / "b").write_text("-1\t(A b)")
    with pytest.raises(CorpusError, match="b, line 1: a tree after a tagged sequence"):
        read_candidates([tmp_path / "a", tmp_path / "b"])


@pytest.mark.parametrize(
    ("candidate", "error", "reason"),
    [
        (TREE, ParameterError, "has no log-probability; give a structure and a number"),
        ((TREE, math.nan), ParameterError, "has no log-probability"),
        ((TREE, math.inf), ParameterError, "has no log-probability"),
        ((et.Tree("A", ["b c"]), 0), CorpusError, "'(A b c)' is empty, or has blanks"),
        ((et.Tree("A", [""]), 0), CorpusError, "is empty, or has blanks"),
        ((et.Tree("", ["a"]), 0), CorpusError, "is empty, or has blanks"),
        ((et.Tree("A", []), 0), CorpusError, "is empty, or has blanks"),
        ((et.Tree("A\n", ["b"]), 0), CorpusError, "is empty, or has blanks"),
        (([], 0), CorpusError, "the sequence is empty"),
        (([("a", "")], 0), CorpusError, "('a', '') is empty"),
        (([("", "A")], 0), CorpusError, "('', 'A') is empty"),
        (([("a b", "A")], 0), CorpusError, "('a b', 'A') is empty, or has blanks"),
        (([("a", "\ud800")], 0), CorpusError, "characters that a text cannot"),
        (([("a", "A/B")], 0), CorpusError, "'A/B' contains a slash; use another"),
        ((["a", "b"], 0), ParameterError, "'a' is not a word with its tag; give trees, or lists"),
        (([("a", "b", "c")], 0), ParameterError, "('a', 'b', 'c') is not a word with its tag"),
    ],
)
def test_what_cannot_be_written(tmp_path, candidate, error, reason):
    (tmp_path / "best").write_text("before")
    with pytest.raises(error, match="input 2, candidate 2: ") as raised:
        write_candidates([[], [(TREE, -1), candidate]], tmp_path / "best")
    assert reason in str(raised.value)
    assert (tmp_path / "best").read_text() == "before"
    assert len(list(tmp_path.iterdir())) == 1


def test_where_nothing_can_be_written(tmp_path):
    with pytest.raises(EigentextError, match="is a folder"):
        write_candidates([[(TREE, -1)]], tmp_path)
