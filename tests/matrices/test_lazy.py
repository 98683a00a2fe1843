"""Lazy attributes: made once, when they are first read, and not before."""

import copy
import pickle
from dataclasses import dataclass, replace

import pytest

from eigentext.matrices.lazy import Later, lazy, waiting

made = []


@lazy("numbers")
@dataclass
class Holder:
    numbers: list
    name: str = ""


def make(n):
    made.append(n)
    return list(range(n))


def test_the_first_reading_makes_the_value_and_no_other():
    made.clear()
    holder = Holder(Later(make, 3), name="a")
    assert holder.name == "a"
    assert waiting(holder, "numbers").arguments == (3,)
    assert made == []
    assert holder.numbers == holder.numbers == [0, 1, 2]
    assert made == [3]
    assert waiting(holder, "numbers") is None


def test_a_value_is_itself():
    holder = Holder([1])
    assert waiting(holder, "numbers") is None
    assert holder.numbers == [1]
    assert replace(holder, name="b") == Holder([1], "b")
    holder.numbers = [2]
    assert holder.numbers == [2]


def test_what_fails_can_be_tried_again():
    holder = Holder(Later(int, "x"))
    for _ in range(2):
        with pytest.raises(ValueError, match="invalid literal"):
            _ = holder.numbers
    assert waiting(holder, "numbers") is not None


def test_copies_and_pickles_stay_lazy():
    made.clear()
    holder = Holder(Later(make, 4))
    copies = [copy.copy(holder), copy.deepcopy(holder), pickle.loads(pickle.dumps(holder))]
    assert made == []
    assert [one.numbers for one in copies] == [[0, 1, 2, 3]] * 3


def test_an_attribute_that_was_never_set():
    with pytest.raises(AttributeError, match="numbers"):
        _ = object.__new__(Holder).numbers
    assert not hasattr(object.__new__(Holder), "numbers")
