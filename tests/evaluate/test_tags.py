"""Tags: computed by hand, compared with plain counting, and bad input."""

import json
import math

import numpy as np
import pytest

from eigentext.errors import ParameterError
from eigentext.evaluate import tags


def test_scores_by_hand():
    gold = [["D", "N", "V"], ["N", "V"]]
    predicted = [["D", "N", "N"], ["N", "P"]]
    result = tags(gold, predicted)
    assert (result.n_gold, result.n_predicted, result.n_right) == (5, 5, 3)
    assert result.accuracy == result.precision == result.f1 == 3 / 5
    assert list(result.by_tag) == ["D", "N", "P", "V"]
    noun, verb, other = (result.by_tag[tag] for tag in "NVP")
    assert (noun.n_gold, noun.n_predicted, noun.n_right) == (2, 3, 2)
    assert (noun.precision, noun.accuracy, noun.f1) == (2 / 3, 1, 4 / 5)
    assert (verb.accuracy, verb.f1) == (0, 0)
    assert math.isnan(verb.precision)
    assert math.isnan(other.accuracy)
    assert other.precision == 0


def test_what_is_printed():
    result = tags([["D", "N", "V"]], [["D", "N", "N"]])
    assert repr(result) == "Tags(66.67% of 3 right)"
    lines = str(result).splitlines()
    assert lines[0].split() == ["tag", "right", "predicted", "precision", "recall", "F1"]
    assert lines[2].split() == ["N", "1", "2", "50.00", "100.00", "66.67"]
    assert lines[-1] == "tags: 66.67% of 3 right"
    assert len({len(line) for line in lines[:-1]}) == 1
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert data["accuracy"] == 2 / 3
    assert data["by_tag"]["V"]["precision"] is None
    assert data["by_tag"]["N"]["n_predicted"] == 2


@pytest.mark.parametrize("seed", range(5))
def test_against_plain_counting(seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 6, 20)
    gold, predicted = (
        [["ABCD"[i] for i in rng.integers(0, 4, n)] for n in lengths] for _ in range(2)
    )
    result = tags(gold, predicted)
    pairs = [pair for a, b in zip(gold, predicted) for pair in zip(a, b)]
    assert result.accuracy == np.mean([a == b for a, b in pairs])
    for tag, one in result.by_tag.items():
        assert one.accuracy == np.mean([b == tag for a, b in pairs if a == tag])
        assert one.precision == np.mean([a == tag for a, b in pairs if b == tag])
        if one.n_right:
            assert one.f1 == pytest.approx(2 / (1 / one.accuracy + 1 / one.precision))
    with_words = [[("w", "x", tag) for tag in one] for one in gold]
    assert tags(with_words, iter(predicted)) == result


def test_nothing_to_score():
    for nothing in ([], [[]], [[], []]):
        result = tags(nothing, nothing)
        assert math.isnan(result.accuracy)
        assert result.to_dict()["f1"] is None
        assert result.by_tag == {}


def test_bad_input():
    with pytest.raises(ParameterError, match="2 gold sentences and 1 predicted"):
        tags([["A"], ["A"]], [["A"]])
    with pytest.raises(ParameterError, match="sentence 2: 1 gold tags and 2 predicted"):
        tags([["A"], ["A"]], [["A"], ["A", "A"]])
    with pytest.raises(ParameterError, match="lists of sentences"):
        tags("A", "A")
    with pytest.raises(ParameterError, match="not a string: 'A B'"):
        tags(["A B"], ["A B"])


def test_scores_as_a_table():
    result = tags([["B-NP", "O"]], [["B-NP", "B-VP"]])
    frame = result.to_pandas().set_index("tag")
    assert frame.index.tolist() == list(result.by_tag)
    for name, part in result.by_tag.items():
        for column in frame.columns:
            assert frame.loc[name, column] == pytest.approx(getattr(part, column), nan_ok=True)
    assert result.to_arrow().column_names[:4] == ["tag", "n_gold", "n_predicted", "n_right"]
