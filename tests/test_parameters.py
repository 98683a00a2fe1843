"""Kinds of parameters, and the table that says all of an estimator's."""

import copy
import pickle

import numpy as np
import pytest

from eigentext.errors import ParameterError
from eigentext.parameters import (
    REQUIRED,
    Choice,
    Count,
    Flag,
    Given,
    Number,
    Seed,
    Settings,
    Table,
    UnusedParameterWarning,
    warn_of_unused,
)

KINDS = [
    (Count(3), [1, 10**9, np.int8(2)], [0, -1, True, 2.0, 2.5, "2", None, np.bool_(True)]),
    (Count(None, least=0, most=4), [None, 0, 4], [5, -1, True, 1.0]),
    (
        Number(1.0, least=0),
        [0, 0.5, np.float32(2)],
        [-1, np.nan, np.inf, 10**400, True, "1", None, 1j],
    ),
    (Number(1.0, above=0, below=1), [0.5], [0, 1, -1]),
    (Number(1.0, most=1), [-5, 1], [1.5, -np.inf]),
    (Number(1.0, infinite=True), [np.inf], [np.nan]),
    (Choice("em", of=("em", "pivot")), ["em", "pivot"], ["", "EM", 1, None, ["em"]]),
    (Choice(1, of=(1, 2)), [1, np.int64(2)], [True, 1.0, 3, "1"]),
    (Choice("mean", of=("mean",), none=True), ["mean", None], ["vote"]),
    (Flag(False), [True, np.bool_(False)], [0, 1, "yes", None]),
    (
        Seed(0),
        [0, None, 2**40, np.random.default_rng(0), np.random.RandomState(0)],
        [-1, True, 1.5],
    ),
    (Given(None, what="a list", test=lambda x: isinstance(x, list)), [None, [1]], [1, "a"]),
]


@pytest.mark.parametrize(("kind", "good", "bad"), KINDS, ids=lambda x: type(x).__name__)
def test_what_a_kind_accepts(kind, good, bad):
    table = Table("Model", it=kind)
    for value in good:
        table.checked({"it": value})
    for value in bad:
        with pytest.raises(ParameterError, match=r"^it must be .*, not "):
            table.checked({"it": value})


@pytest.mark.parametrize(("kind", "good", "bad"), KINDS, ids=lambda x: type(x).__name__)
def test_values_for_tests_are_what_they_say(kind, good, bad):
    assert kind.refused()
    assert not any(map(kind.accepts, kind.refused()))
    another = kind.another()
    assert another is None or (kind.accepts(another) and another != kind.default)


def test_values_are_taken_as_pythons_own():
    table = Table("M", n=Count(1), x=Number(1.0), f=Flag(True), l=Given([], what="", test=bool))
    given = {"n": np.int32(4), "x": np.float32(0.5), "f": np.bool_(True), "l": [1]}
    taken = table.taken(given)
    assert [type(value) for value in taken.values()] == [int, float, bool, list]
    given["l"].append(2)
    assert taken["l"] == [1]


def test_seeds_are_numbers_in_the_end():
    table = Table("M", random_state=Seed(0))
    drawn = {table.taken({"random_state": None})["random_state"] for _ in range(9)}
    assert len(drawn) > 1
    assert all(type(seed) is int and seed >= 0 for seed in drawn)
    generators = [np.random.default_rng(5), np.random.default_rng(5), np.random.RandomState(5)]
    first, second, _ = (table.taken({"random_state": one})["random_state"] for one in generators)
    assert first == second


def test_a_required_parameter_has_no_default():
    table = Table("M", kernel=Given(REQUIRED, what="a kernel", test=callable))
    with pytest.raises(ParameterError, match="kernel must be a kernel"):
        table.checked(table.defaults)


def test_parameters_without_a_meaning():
    table = Table(
        "Model",
        method=Choice("em", of=("em", "pivot")),
        rank=Count(None, flags="--directions", only={"method": ("pivot",)}),
    )
    assert table.unused({"method": "em", "rank": None}) == []
    assert table.unused({"method": "pivot", "rank": 3}) == []
    with pytest.warns(UnusedParameterWarning) as caught:
        warn_of_unused(table, {"method": "em", "rank": 3})
    assert str(caught[0].message) == (
        "Model with method='em' does not use rank (--directions): 3 has no effect; "
        "it is for method 'pivot'"
    )
    assert caught[0].filename == __file__


def test_messages_name_the_option_where_it_is_another():
    table = Table("M", n_states=Count(1, flags="--states -m"), min_count=Count(1))
    with pytest.raises(ParameterError, match=r"^n_states \(--states\) must be a whole number"):
        table.checked({"n_states": 0, "min_count": 1})
    with pytest.raises(ParameterError, match=r"^min_count must be a whole number, 1 or more"):
        table.checked({"n_states": 1, "min_count": 0})


def test_settings_do_not_change():
    used = Settings({"order": 2, "words": ["a"]})
    assert used.order == used["order"] == 2
    assert dict(used) == {"order": 2, "words": ["a"]}
    with pytest.raises(AttributeError, match="do not change"):
        used.order = 3
    with pytest.raises(AttributeError, match="no parameter 'speed'"):
        _ = used.speed
    for twin in (pickle.loads(pickle.dumps(used)), copy.deepcopy(used), copy.copy(used)):
        assert twin == used
