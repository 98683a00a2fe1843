"""The table of topics: the collections that it takes, and the time of its import."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from eigentext.topics import parameters

table = parameters.TopicModel


def taken(**given):
    values = table.taken(table.defaults | given)
    return {name: values[name] for name in given}


@pytest.mark.parametrize(
    "words",
    [["the", "a"], ("the", "a"), np.array(["the", "a"]), pd.Series(["the", "a"])],
    ids=lambda words: type(words).__name__,
)
def test_stop_words_are_kept_as_a_list(words):
    assert taken(stop_words=words) == {"stop_words": ["the", "a"]}


def test_sets_have_one_order():
    words = {"the", "a", "of"}
    assert taken(stop_words=words) == {"stop_words": ["a", "of", "the"]}
    assert taken(stop_words=None) == {"stop_words": None}


def test_numbers():
    assert taken(alpha0=np.array([0, 1])) == {"alpha0": [0.0, 1.0]}
    assert taken(alpha0=np.float64(2)) == {"alpha0": 2.0}
    kept = taken(min_df=np.int64(3), max_df=np.float32(0.5))
    assert [(value, type(value)) for value in kept.values()] == [(3, int), (0.5, float)]


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("min_df", "5", 5),
        ("min_df", "0.01", 0.01),
        ("max_df", "1.0", 1.0),
        ("max_df", "auto", "auto"),
        ("alpha0", "0.3,1", [0.3, 1.0]),
        ("alpha0", "2", 2.0),
        ("alpha0", "auto", "auto"),
    ],
)
def test_what_the_command_line_reads(name, text, value):
    read = table[name].parse(text)
    assert (read, type(read)) == (value, type(value))


def test_options_need_no_numpy():
    code = "import sys, eigentext.topics.parameters; print('numpy' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"
