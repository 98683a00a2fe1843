"""Arrow's splitting against slow, obvious Python."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext.corpus.tokenizers import (
    NAMED,
    UNIT_END,
    check_tokenizer,
    check_unicode,
    tokenize,
    tokenizer_name,
)
from eigentext.errors import CorpusError, ParameterError

TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"))
# RE2 and Python may know different versions of Unicode: characters that have long been in both.
STABLE = st.text(st.characters(min_codepoint=1, max_codepoint=0x024F))
ASCII = st.text(st.characters(min_codepoint=1, max_codepoint=0x7F))  # by patterns of its own
SIGNS = st.text("ab1_ '’-.,\n\té\u00a0\u0301(\"—", max_size=15)


def tokens(text, tokenizer="whitespace", *, lowercase=False, lines_are_units=False):
    options = {"lowercase": lowercase, "lines_are_units": lines_are_units}
    return tokenize(text.encode(), tokenizer, **options).to_pylist()


@given(TEXT)
def test_whitespace_is_str_split(text):
    assert tokens(text) == text.split()


@given(TEXT)
def test_lines_end_in_a_token_of_their_own(text):
    expected = [t for line in text.split("\n") for t in (*line.split(), UNIT_END)][:-1]
    assert tokens(text, lines_are_units=True) == expected


@given(SIGNS | STABLE | ASCII)
def test_simple_parts_words_from_signs(text):
    assert tokens(text, "simple") == simple_twin(text)


def test_simple_on_a_sentence():
    text = "'Tis the well-known \"state-of-the-art\" — isn't it? (Yes--no.)"
    expected = "' Tis the well-known \" state-of-the-art \" — isn't it ? ( Yes -- no . )"
    assert tokens(text, "simple") == expected.split(" ")


@given(SIGNS | STABLE | ASCII, st.booleans())
def test_words_are_all_that_is_left(text, lines_are_units):
    expected = [t for line in text.split("\n") for t in (*words_twin(line), UNIT_END)][:-1]
    if not lines_are_units:
        expected = [token for token in expected if token != UNIT_END]
    assert tokens(text, "words", lines_are_units=lines_are_units) == expected


def test_words_of_a_sentence():
    text = "'Tis the well-known 2nd \"state-of-the-art\" — isn't it? I'm Óscar O''Hara (1990s), a_b"
    expected = "Tis the well known nd state of the art isn't it I'm Óscar Hara"
    assert tokens(text, "words") == expected.split(" ")
    assert tokens("Ça\n1 2\n\nD'Artagnan’s", "words", lowercase=True, lines_are_units=True) == [
        *("ça", UNIT_END, UNIT_END, UNIT_END, "d'artagnan’s")
    ]
    assert tokens("1 ''", "words") == tokens("", "words") == []


def test_a_blank_after_the_end_of_the_text_is_never_seen():
    # Arrow reads one byte past a text that ends in a blank; see the comment in tokenize.
    text = "word " * 1000
    for size in (4096 - 5, 4096, 4095):
        assert set(tokens(text[:size].rpartition(" ")[0] + " ", lines_are_units=True)) == {"word"}


def test_lowercase_is_unicode():
    assert tokens("ÉCOLE Straße", lowercase=True) == ["école", "straße"]


def test_a_callable_gets_lines():
    seen = []
    result = tokens(
        "a b\nc",
        lambda line: seen.append(line) or line.split(),
        lines_are_units=True,
    )
    assert seen == ["a b", "c"]
    assert result == ["a", "b", UNIT_END, "c"]


@given(SIGNS)
def test_a_callable_is_called_as_the_named_ones_split(text):
    text = text.replace("\r", "")
    assert tokens(text, str.split, lines_are_units=True) == tokens(text, lines_are_units=True)


def test_a_callable_must_return_strings():
    with pytest.raises(CorpusError, match="given 'a': tokens must be strings"):
        tokens("a", lambda line: [1, object()])


def test_unknown_names_are_refused():
    with pytest.raises(ParameterError, match="'whitespace', 'simple', 'words' or a function"):
        check_tokenizer("treebank")


def test_names_for_the_record():
    assert [tokenizer_name(name) for name in NAMED] == ["whitespace", "simple", "words"]
    assert tokenizer_name(str.split).endswith("str.split")


def words_twin(text: str) -> list[str]:
    """Letters and marks, with single apostrophes inside; those of one letter are none."""
    kept = (c if c in "'’" or unicodedata.category(c)[0] in "LM" else " " for c in text)
    found = re.findall("[^ '’]+(?:['’][^ '’]+)*", "".join(kept))
    return [word for word in found if len(word) > 1]


def simple_twin(text: str) -> list[str]:
    """Words with single inner apostrophes and hyphens; runs of those; any other sign by itself."""

    def is_word(c):
        return c == "_" or unicodedata.category(c)[0] in "LMN"

    found, i = [], 0
    while i < len(text):
        j = i
        if text[i].isspace():
            i += 1
            continue
        if is_word(text[i]):
            while j < len(text) and (
                is_word(text[j])
                or (text[j] in "'’-" and j + 1 < len(text) and is_word(text[j + 1]))
            ):
                j += 1
        elif text[i] in "'’-":
            while j < len(text) and text[j] in "'’-":
                j += 1
        else:
            j += 1
        found.append(text[i:j])
        i = j
    return found


# Halves of characters.


def test_lone_surrogates_are_named():
    check_unicode(["fine", "", "é", "\U0001f600"], "here")
    check_unicode([], "here")
    for bad in ("\ud83d\ude00", "x\udcff"):
        with pytest.raises(CorpusError, match=r"^word 3: .*half .*U\+D.*repair") as caught:
            check_unicode(["fine", bad], "word 3")
        str(caught.value).encode()  # can be printed
        repaired = bad.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        check_unicode([repaired], "here")
