"""What a file says of its model besides arrays."""

import math

import pytest

from eigentext.parameters import Count
from eigentext.storage import facts

GOOD = {"n_tokens": 3, "options": {"tokenizer": "words", "lowercase": True, "unit": "line"}}


def test_what_is_needed_must_be_there_and_what_is_known_of_its_kind():
    kind = facts.facts("some", needs=("a",), a=Count(1), b=Count(1))
    assert kind.accepts({"a": 1})
    assert kind.accepts({"a": 1, "b": 2, "c": object()})
    for bad in ({}, {"b": 1}, {"a": 0}, {"a": 1, "b": None}, None, [], "a"):
        assert not kind.accepts(bad)


@pytest.mark.parametrize(
    "change",
    [
        {"n_tokens": -1},
        {"n_tokens": 2.5},
        {"n_tokens": True},
        {"n_tokens": 2**63},
        {"options": None},
        {"options": {"tokenizer": None}},
        {"options": {"lowercase": 1}},
        {"options": {"unit": "page"}},
        {"sources": "abc"},
        {"sources": [1]},
    ],
)
def test_provenance(change):
    assert facts.PROVENANCE.accepts(GOOD)
    assert not facts.PROVENANCE.accepts({**GOOD, **change})


def test_numbers_are_finite():
    assert facts.NUMBERS.accepts([1, 2.5, -3])
    for bad in ([math.nan], [math.inf], ["1"], [True], [None], 3, None, {}):
        assert not facts.NUMBERS.accepts(bad)
