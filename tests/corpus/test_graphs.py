"""Graphs with discontinuous nodes: trees over the same words, raised as little as needed."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext.corpus.graphs import Phrase, Raised, Word, clean, tree_of
from eigentext.errors import CorpusError


def made(words, phrases):
    counts = Raised()
    tree = tree_of(words, phrases, "here", counts)
    return str(tree), (counts.n_discontinuous, counts.n_raised, counts.n_punctuation)


def test_the_block_of_the_head_stays():
    words = [Word("gern", "ADV", 1, "MO"), Word("hat", "VA", 2, "HD"), Word("sie", "P", 2, "SB")]
    words += [Word("laut", "ADJ", 1, "MO"), Word("gelacht", "VV", 1, "HD")]
    phrases = {1: Phrase("VP", 2, "OC"), 2: Phrase("S", None, "--")}
    assert made(words, phrases) == (
        "(ROOT (S (ADV gern) (VA hat) (P sie) (VP-OC (ADJ laut) (VV gelacht))))",
        (1, 1, 0),
    )


def test_without_a_head_the_longest_block_stays():
    words = [Word("a", "X", 1, ""), Word("b", "X", 1, ""), Word("c", "X", 2, "")]
    words += [Word("d", "X", 1, "")]
    phrases = {1: Phrase("NP", 2, ""), 2: Phrase("S", None, "")}
    assert made(words, phrases)[0] == "(ROOT (S (NP (X a) (X b)) (X c) (X d)))"


def test_punctuation_of_the_root():
    def words():
        return [
            Word('"', "$(", None, "--"),
            Word("Er", "P", 1, "SB"),
            Word(",", "$,", None, "--"),
            Word("sagt", "V", 1, "HD"),
            Word(".", "$.", None, "--"),
        ]

    assert made(words(), {1: Phrase("S", None, "--")}) == (
        '(ROOT (S ($*LRB* ") (P Er) ($, ,) (V sagt) ($. .)))',
        (0, 0, 3),
    )
    two = words()  # two children of the root: marks at the ends stay there
    two[3].parent = 2
    found, counts = made(two, {1: Phrase("NP", None, ""), 2: Phrase("VP", None, "")})
    assert found == '(ROOT ($*LRB* ") (NP (P Er)) ($, ,) (VP (V sagt)) ($. .))'
    assert counts == (0, 0, 0)


@given(st.integers(0, 2**32), st.integers(1, 12), st.integers(0, 6))
def test_any_graph_becomes_a_tree(seed, n_words, n_phrases):
    rng = random.Random(seed)
    parents = [None, *range(n_phrases)]
    phrases = {
        key: Phrase(f"P{key}", rng.choice(parents[: key + 1]), rng.choice(["HD", "--"]))
        for key in range(n_phrases)
    }
    words = [Word(rng.choice("ab,"), "T", rng.choice(parents), "--") for _ in range(n_words)]
    forms = [word.word for word in words]
    counts = Raised()
    try:
        tree = tree_of(words, phrases, "here", counts)
    except CorpusError as error:
        assert "has no words below it" in str(error)
        return
    assert tree.leaves() == forms
    labels = [node.label for node in tree.subtrees() if node.label.startswith("P")]
    assert sorted(label.removesuffix("-HD") for label in labels) == sorted(
        phrase.label for phrase in phrases.values()
    )
    if not counts.n_discontinuous:
        assert not counts.n_raised


@pytest.mark.parametrize(
    ("words", "phrases", "message"),
    [
        ([], {}, "here: the sentence has no words"),
        ([Word("a", "X", 7, "")], {}, "there is no node 7"),
        ([Word("a", "X", None, "")], {1: Phrase("S", None, "")}, "node 1 has no words below"),
        ([Word("", "X", None, "")], {}, "a word is empty"),
        (
            [Word("a", "X", 1, "")],
            {1: Phrase("A", 2, ""), 2: Phrase("B", 1, "")},
            "node 1 is above itself",
        ),
        ([Word("a", "X", None, "")] * 5001, {}, "more than 5000 words or nodes"),
    ],
)
def test_what_is_no_tree(words, phrases, message):
    with pytest.raises(CorpusError, match=message):
        tree_of(words, phrases, "here", Raised())


def test_names_that_brackets_can_express():
    assert [clean(name) for name in ("$(", "(", "New York", "NP")] == [
        "$*LRB*",
        "-LRB-",
        "New_York",
        "NP",
    ]
