"""Sentences in columns."""

import pytest

from eigentext.corpus.conll import factored, parse_conll


def test_blank_lines_are_between_sentences():
    text = "\n \nThe DT B-NP\r\ndog NN I-NP\n\n\nbarks VBZ B-VP\n"
    assert parse_conll(text, 3) == [
        [("The", "DT", "B-NP"), ("dog", "NN", "I-NP")],
        [("barks", "VBZ", "B-VP")],
    ]
    assert parse_conll("", 3) == parse_conll("\n\n", 3) == []
    assert parse_conll("a b", 2) == [[("a", "b")]]


@pytest.mark.parametrize("line", ["dog NN", "dog NN I-NP x"])
def test_lines_of_other_columns(line):
    with pytest.raises(ValueError, match=f"^line 3: '{line}' has . columns, not 3"):
        parse_conll(f"The DT B-NP\n\n{line}\n", 3)


def test_factored_tokens():
    sentences = [[("a|b", "NN", "O")], [("c", "D", "B-X"), ("d", "E", "I-X")]]
    assert factored(sentences) == [[("a|b|NN", "O")], [("c|D", "B-X"), ("d|E", "I-X")]]
