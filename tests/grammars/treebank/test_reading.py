"""Reading trees: every form is accepted, and errors name the tree."""

from pathlib import Path

import pytest

from eigentext.corpus.trees import Tree
from eigentext.errors import CorpusError, ParameterError
from eigentext.grammars.treebank.reading import normalized, read_treebank


def test_trees_are_normalized_whatever_they_come_as():
    nltk = pytest.importorskip("nltk")
    text = "( (S (NP-SBJ (N dogs)) (VP (V bark) (NP (-NONE- *)))))"
    plain = Tree.parse("(S (NP (N dogs)) (VP (V bark)))")
    given = [text, Tree.parse(text), nltk.Tree.fromstring(text)]
    assert normalized(given) == normalized(iter(given)) == [plain] * 3


@pytest.mark.parametrize(
    "one",
    ["wsj_0001.mrg", Path("wsj_0001.mrg"), b"(N a)", "(N a)", Tree.parse("(N a)"), None, 7],
)
def test_one_tree_or_a_path_is_not_a_list_of_trees(one):
    with pytest.raises(CorpusError, match=r"give a list of trees, as et\.read_trees does, not a"):
        normalized(one)


def test_one_tree_of_nltk_is_not_taken_for_its_children():
    nltk = pytest.importorskip("nltk")
    with pytest.raises(CorpusError, match="not a single one or a path"):
        normalized(nltk.Tree.fromstring("(S (N a) (V b))"))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("(S (N a)", "tree 2: .* is never closed; add the missing"),
        ("(S (N a)))", "tree 2: .* closes nothing"),
        ("", "tree 2: .* contains no trees"),
        ("()", "tree 2: .* has neither words nor trees"),
        ("(N a) (N b)", "tree 2: .* 2 trees; give one string per tree"),
        ("(S (NP (-NONE- *)))", "tree 2: .* has no words; leave such trees out"),
        ("wsj_0001.mrg", "tree 2: .* is outside all brackets"),
        (Path("wsj_0001.mrg"), "tree 2: .* is neither a tree nor a word"),
        (3, "tree 2: '3' of type int is neither a tree nor a word"),
        (None, "tree 2: 'None' of type NoneType"),
    ],
)
def test_a_bad_tree_is_named(bad, message):
    with pytest.raises((CorpusError, ParameterError), match=message):
        normalized(["(N a)", bad, "(N b)"])


def test_a_word_beside_other_children_is_named(ambiguous_trees):
    with pytest.raises(CorpusError, match=r"tree 9: .* has a word beside other children"):
        read_treebank([*ambiguous_trees, "(NP the (N dogs))"])


def test_no_trees():
    for nothing in ([], (), iter([])):
        with pytest.raises(CorpusError, match="no trees to learn from: is the treebank empty"):
            normalized(nothing)
