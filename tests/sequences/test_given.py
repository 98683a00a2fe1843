"""Sequences in the form that users give them: which are empty, and the order of scores."""

import numpy as np
import pandas as pd
import pytest

from eigentext import TextCorpus
from eigentext.sequences._given import in_places, without_empty

UNITS = [["a", "b"], [], ["c"], []]


@pytest.mark.parametrize(
    "form",
    [
        list,
        tuple,
        iter,
        pd.Series,
        lambda units: [np.array(unit) for unit in units],
        lambda units: (iter(unit) for unit in units),
        lambda units: np.array([*map(tuple, units), None], object)[:-1],
    ],
)
def test_empty_ones_are_left_out_and_remembered(form):
    kept, is_empty = without_empty(form(UNITS))
    assert [list(unit) for unit in kept] == [["a", "b"], ["c"]]
    assert is_empty == [False, True, False, True]


def test_text_and_streams_stay_as_they_are():
    corpus = TextCorpus(["a b", "c"], kind="texts")
    for given in (corpus, "name", ["a", "b"], [0, 1], np.array([0, 1]), 3):
        kept, is_empty = without_empty(given)
        assert is_empty is None
        assert kept is given or kept == given
    assert without_empty(iter("ab")) == (["a", "b"], None)
    assert without_empty(np.zeros((2, 3), int))[1] == [False, False]


def test_answers_in_their_places():
    assert in_places(np.array([1.0, 2.0]), [True, False, True, False]).tolist() == [0, 1, 0, 2]
