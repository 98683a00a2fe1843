"""What a file must hold: arrays, their sizes and values, and the document."""

import numpy as np
import pytest

from eigentext.errors import ModelFileError
from eigentext.parameters import Count
from eigentext.storage.schema import Array, Schema, Strings, csr

SCHEMA = Schema(
    {
        "words": Strings("words", unique=True, filled=True),
        "vectors": Array("float32", ("words", "m")),
        **csr("counts", "words", "m", "int", least=0),
        "extra": Array("bool", (3,), optional=True),
    },
    about={"order": Count(2, most=4)},
)


def good():
    return {
        "words": ["a", "b"],
        "vectors": np.ones((2, 3), np.float32),
        "counts.indptr": np.array([0, 1, 2]),
        "counts.indices": np.array([2, 0], np.int32),
        "counts.data": np.array([5, 7]),
    }


def test_a_good_file_has_its_sizes():
    sizes = SCHEMA.check(good(), {"order": 3})
    assert (sizes["words"], sizes["m"], sizes["counts.entries"]) == (2, 3, 2)


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("words", ["a", "a"], "has a string twice"),
        ("words", ["a", ""], "has an empty string"),
        ("words", ["a", "b", "c"], "shape"),
        ("words", np.zeros(2), "is not a list of strings"),
        ("vectors", ["a", "b"], "is not an array of numbers"),
        ("vectors", np.ones((2, 3)), "holds float64, not float32"),
        ("vectors", np.ones((2, 3, 1), np.float32), "has 3 dimensions, not 2"),
        ("vectors", np.full((2, 3), np.nan, np.float32), "not finite"),
        ("vectors", np.full((2, 3), np.inf, np.float32), "not finite"),
        ("counts.indices", np.array([3, 0]), "has 3, not below 3"),
        ("counts.indices", np.array([-1, 0]), "has -1, below 0"),
        ("counts.indices", np.array([0.0, 1.0]), "holds float64, not int"),
        ("counts.indptr", np.array([0, 2, 1]), "does not run from 0 to 2"),
        ("counts.indptr", np.array([0, 3, 2]), "has offsets that fall"),
        ("counts.indptr", np.array([1, 1, 2]), "does not run from 0 to 2"),
        ("counts.indptr", np.array([0, 2]), "shape"),
        ("counts.data", np.array([-5, 7]), "has -5, below 0"),
        ("extra", np.zeros(4, bool), "shape"),
    ],
)
def test_a_damaged_array_is_named(name, value, why):
    with pytest.raises(ModelFileError, match=f"^damaged or made by something else: .*{why}"):
        SCHEMA.check(good() | {name: value}, {"order": 3})


def test_what_is_missing_is_named():
    arrays = good()
    del arrays["counts.data"]
    with pytest.raises(ModelFileError, match=r"counts\.data is missing"):
        SCHEMA.check(arrays, {"order": 3})
    with pytest.raises(ModelFileError, match="order is missing"):
        SCHEMA.check(good(), {})
    for order in (0, 5, 3.0, True, None, "3"):
        with pytest.raises(ModelFileError, match="order must be a whole number from 1 to 4, not"):
            SCHEMA.check(good(), {"order": order})


def test_large_arrays_wait_for_their_first_use():
    lazy = Array("float32", ("n",), lazy=True)
    sizes: dict[str, int] = {}
    broken = np.array([np.nan], np.float32)
    lazy.check(broken, sizes)
    assert sizes == {"n": 1}
    with pytest.raises(ValueError, match="not finite"):
        lazy.check_values(broken, sizes)


def test_one_format_within_another():
    inner = Schema({"ends": Array("int", ("n+1",), rising_to="m"), "of": Array("int", ("m",))})
    inner = Schema({"of": inner.arrays["of"], "n": Array("int", ("n",)), **inner.arrays})
    outer = inner.within("part.")
    arrays = {"part.of": np.arange(4), "part.n": np.arange(2), "part.ends": np.array([0, 1, 4])}
    assert outer.check(arrays, {}) == {"part.m": 4, "part.n": 2}
    with pytest.raises(ModelFileError, match=r"part\.ends"):
        outer.check(arrays | {"part.ends": np.array([0, 1, 5])}, {})
