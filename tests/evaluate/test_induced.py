"""Many-to-one, one-to-one and V-measure: by hand, and against scikit-learn."""

import json

import numpy as np
import pytest
from sklearn.metrics import completeness_score, homogeneity_score, v_measure_score

import eigentext as et
from eigentext.errors import CorpusError, ParameterError
from eigentext.evaluate import induced_tags, many_to_one, v_measure

GOLD = [["D", "N", "V"], ["D", "J", "N", "V"]]
FOUND = [[0, 1, 1], [0, 2, 1, 2]]


def test_known_answers():
    result = induced_tags(GOLD, FOUND)
    # Tag 0 is D (2 of 2), tag 1 is N (2 of 3), tag 2 is J or V (1 of 2).
    assert result.many_to_one == 5 / 7
    assert result.one_to_one == 5 / 7
    assert result.mapping["0"] == "D" and result.mapping["1"] == "N"
    assert result.n_tokens == 7


def test_one_to_one_uses_each_right_tag_once():
    result = induced_tags(["N"] * 4 + ["V"], ["a", "a", "b", "b", "b"])
    assert result.many_to_one == 4 / 5
    assert result.one_to_one == 3 / 5


@pytest.mark.parametrize("seed", range(5))
def test_equals_sklearn(seed):
    rng = np.random.default_rng(seed)
    gold = rng.integers(6, size=300)
    found = np.where(rng.random(300) < 0.5, gold % 4, rng.integers(5, size=300))
    result = induced_tags(gold, found)
    assert result.homogeneity == pytest.approx(homogeneity_score(gold, found), abs=1e-12)
    assert result.completeness == pytest.approx(completeness_score(gold, found), abs=1e-12)
    assert v_measure(gold, found) == pytest.approx(v_measure_score(gold, found), abs=1e-12)


def test_perfect_and_useless():
    assert many_to_one(["D", "N", "N"], [7, 3, 3]) == v_measure(["D", "N", "N"], [7, 3, 3]) == 1
    assert many_to_one(["D", "N"], [0, 0]) == 0.5
    assert v_measure(["D", "N"], [0, 0]) == 0
    assert v_measure(["D", "D"], [0, 0]) == 1


def test_forms():
    flat = induced_tags([tag for s in GOLD for tag in s], [tag for s in FOUND for tag in s])
    tuples = [[("w", tag) for tag in s] for s in GOLD]
    names = [list(map(str, s)) for s in FOUND]
    for other in (induced_tags(GOLD, FOUND), induced_tags(tuples, names)):
        np.testing.assert_array_equal(other.counts, flat.counts)
    assert et.evaluate.many_to_one(GOLD, FOUND) == 5 / 7


def test_a_split_tag_never_lowers_many_to_one():
    rng = np.random.default_rng(0)
    gold, found = rng.integers(5, size=(2, 200))
    split = found + 10 * rng.integers(2, size=200)
    assert many_to_one(gold, split) >= many_to_one(gold, found)


def test_shows_itself():
    result = induced_tags(GOLD, FOUND)
    assert "many-to-one 71.43%" in str(result) and "many-to-one" in repr(result)
    assert "<table" in result._repr_html_()
    assert json.loads(json.dumps(result.to_dict()))["one_to_one"] == 5 / 7
    assert result.to_pandas()["n_tokens"].tolist() == [2, 3, 2]


@pytest.mark.parametrize(
    ("gold", "found", "message"),
    [
        ("DNV", "012", "lists of tags"),
        (["D"], [["D"]], "same form"),
        ([["D"]], [["D"], ["N"]], "1 gold sentences and 2"),
        ([["D"], ["N", "V"]], [["D"], ["N"]], "sentence 2: 2 gold tags and 1"),
        (["D", "N"], ["D"], "2 gold tags and 1"),
        ([["D", 1.5]], [["D", "N"]], "ends with one"),
    ],
)
def test_bad_input(gold, found, message):
    with pytest.raises(ParameterError, match=message):
        induced_tags(gold, found)


@pytest.mark.parametrize("nothing", [[], [[]]])
def test_nothing(nothing):
    with pytest.raises(CorpusError, match="no tags"):
        induced_tags(nothing, nothing)
