"""Attributes of words: known answers, and laws."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext.errors import ParameterError
from eigentext.tagging.attributes import attribute, check_attribute

words = st.text(min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("name", "answers"),
    [
        ("lower", {"IBM": "ibm", "dog": "dog", "Élan": "élan"}),
        ("shape", {"IBM": "XXX", "dog": "xxx", "U.S.": "X.X.", "A-320b": "X-000x", "Élan": "Xxxx"}),
        ("short_shape", {"IBM": "X", "Dogs": "Xx", "A-320b": "X-0x", "...": ".", "x": "x"}),
        ("digits", {"1999": "0000", "B2b": "B0b", "dog": "dog", "3.5%": "0.0%"}),
        ("prefix1", {"dog": "d", "D": "D"}),
        ("prefix3", {"dogs": "dog", "dog": "dog", "do": ""}),
        ("prefix12", {"dog": "", "abcdefghijklmn": "abcdefghijkl"}),
        ("suffix1", {"dog": "g"}),
        ("suffix4", {"dogs": "dogs", "hotdogs": "dogs", "dog": ""}),
    ],
)
def test_attributes_by_hand(name, answers):
    assert {word: attribute(name)(word) for word in answers} == answers


@pytest.mark.parametrize(
    ("word", "answer"),
    [
        ("dog", "lower"),
        ("3rd", "lower"),
        ("Dog", "capital"),
        ("I", "capital"),
        ("O'neil", "capital"),
        ("IBM", "upper"),
        ("U.S.", "upper"),
        ("iPhone", "mixed"),
        ("McDonald", "mixed"),
        ("1999", "none"),
        ("--", "none"),
    ],
)
def test_case_by_hand(word, answer):
    assert attribute("case")(word) == answer


@given(words, st.integers(1, 99))
def test_affixes(word, length):
    prefix, suffix = attribute(f"prefix{length}")(word), attribute(f"suffix{length}")(word)
    assert len(prefix) == len(suffix) == (length if len(word) >= length else 0)
    assert word.startswith(prefix)
    assert word.endswith(suffix)


@given(words)
def test_shapes(word):
    shape, short = attribute("shape")(word), attribute("short_shape")(word)
    assert len(shape) == len(word)
    assert set(short) == set(shape)
    assert all(a != b for a, b in pairwise(short))
    assert attribute("short_shape")(short.replace("0", "7")) == short  # it stays
    assert attribute("digits")(attribute("digits")(word)) == attribute("digits")(word)
    assert len(attribute("digits")(word)) == len(word)


@pytest.mark.parametrize("name", ["pos", "prefix", "prefix0", "suffix100", "Lower", "", "xprefix3"])
def test_attributes_that_do_not_exist(name):
    assert attribute(name) is None
    check_attribute(name, ("word", name))  # a column may have any name
    with pytest.raises(ParameterError, match=r"no attribute .*columns word, tone.*lower.*suffix3"):
        check_attribute(name, ("word", "tone"))


@pytest.mark.parametrize("name", ["word", "tone", "lower", "case", "prefix9"])
def test_what_is_one(name):
    check_attribute(name, ("word", "tone"))
