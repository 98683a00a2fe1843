"""Sentences that users give: what is accepted, and errors that say where a mistake is."""

import pytest

from eigentext.errors import CorpusError
from eigentext.tagging.tokens import plain_sentence, tagged_sentences


def test_tokens_and_tags_are_split():
    tagged = [[("a", "D", "B-NP"), ("dog", "N", "I-NP")], [("barks", "V", "O")]]
    sentences, tags = tagged_sentences(iter(tuple(one) for one in tagged))
    assert sentences == [[("a", "D"), ("dog", "N")], [("barks", "V")]]
    assert tags == [["B-NP", "I-NP"], ["O"]]
    assert tagged_sentences([[["a", "D"]]]) == ([[("a",)]], [["D"]])


@pytest.mark.parametrize(
    ("tagged", "message"),
    [
        ([], r"no tagged sentences; give lists of \(word, …, tag\)"),
        ("a dog", "give a list of tagged sentences"),
        (3, "give a list of tagged sentences"),
        (["a dog"], "sentence 1, token 1: 'a' is not a tuple of 2 strings"),
        ([3], "sentence 1, token 1: 3 is not a tuple"),
        ([[("a", "D")], []], "sentence 2 is empty and has no tags to learn or to score; leave"),
        ([[("a", "D"), ("dog", "N", "x")]], r"sentence 1, token 2: \('dog', 'N', 'x'\) is not a t"),
        ([[("a", "D", "x")], [("b", "D")]], r"sentence 2, token 1: .* is not a tuple of 3 strings"),
        ([[("a",)]], "sentence 1, token 1: .*tuple of 2 strings, the word first and the tag last"),
        ([[("a", None)]], "sentence 1, token 1"),
        ([[("a", "")]], "sentence 1, token 1"),
        ([[("", "D")]], "sentence 1, token 1"),
        ([[("a", 3)]], "sentence 1, token 1"),
        ([[("a", "D"), "dog"]], "sentence 1, token 2: 'dog' is not"),
        ([[()]], "sentence 1, token 1"),
    ],
)
def test_tagged_sentences_that_are_refused(tagged, message):
    with pytest.raises(CorpusError, match=message):
        tagged_sentences(tagged)


def test_plain_sentences():
    assert plain_sentence("a  dog", ["word"], 1) == [("a",), ("dog",)]
    assert plain_sentence(["a", ("dog",)], ["word"], 1) == [("a",), ("dog",)]
    pairs = [("a", "D"), ("dog", "N")]
    assert plain_sentence(iter(pairs), ["word", "pos"], 1) == pairs
    assert plain_sentence([list(pair) for pair in pairs], ["word", "pos"], 1) == pairs
    assert plain_sentence([], ["word"], 4) == plain_sentence("  ", ["word", "pos"], 4) == []


@pytest.mark.parametrize(
    ("sentence", "columns", "message"),
    [
        (7, ["word"], "sentence 4, token 1: 7 is not a word"),
        (["a", ""], ["word"], r"sentence 4, token 2: \('',\) is not a word"),
        ([("a", "D")], ["word"], r"sentence 4, token 1: \('a', 'D'\) is not a word, as this tagge"),
        (["a"], ["word", "pos"], "sentence 4, token 1: 'a' is not a tuple of word, pos"),
        ("a dog", ["word", "pos"], "sentence 4, token 1: 'a' is not a tuple of word, pos"),
        ([("a", "D", "x")], ["word", "pos"], "is not a tuple of word, pos, as this tagger needs"),
        ([("a", None)], ["word", "pos"], "is not a tuple of word, pos"),
    ],
)
def test_plain_sentences_that_are_refused(sentence, columns, message):
    with pytest.raises(CorpusError, match=message):
        plain_sentence(sentence, columns, 4)


def test_a_long_token_makes_no_long_message():
    with pytest.raises(CorpusError) as caught:
        plain_sentence([("x" * 10_000, "y")], ["word"], 1)
    assert len(str(caught.value)) < 250
