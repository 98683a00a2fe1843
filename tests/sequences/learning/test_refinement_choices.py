"""Numbers of states, and what stands for words in features."""

import numpy as np
import pytest

from eigentext.errors import ParameterError
from eigentext.sequences.learning.refinement_choices import feature_codes, wanted_states
from eigentext.sequences.tagged import read_tagged


def test_numbers_of_states():
    assert wanted_states(3, ["A", "B"]).tolist() == [3, 3]
    assert wanted_states({"B": 2}, ["A", "B", "B"]).tolist() == [1, 2, 2]
    with pytest.raises(ParameterError, match="the tag 'X', which no training sentence has"):
        wanted_states({"X": 2}, ["A"])


def test_rare_words_are_seen_by_class_and_ending():
    words = ["the"] * 6 + ["running", "walking", "Walking", "cat"]
    text = read_tagged([[(word, "A") for word in words]], None, None, None)
    code = dict(zip(text.vocabulary, feature_codes(text, "shape").tolist()))
    assert code["running"] == code["walking"] != code["Walking"]
    assert len({code["the"], code["cat"], code["running"], code["Walking"]}) == 4
    plain = feature_codes(text, None)
    assert len(np.unique(plain)) == 2
