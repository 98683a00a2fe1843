"""Documents of files: what is taken for a record, a list, a reading of text."""

import math

import numpy as np
import pytest

from eigentext.errors import ModelFileError
from eigentext.parameters import Count
from eigentext.sequences import _saved


def test_records():
    kind = _saved.record("facts", ("n",), n=Count(1), names=_saved.NAMES)
    for good in ({"n": 1}, {"n": 2, "names": ["a"], "more": object()}):
        assert kind.accepts(good)
    for bad in (None, [], {}, {"n": 0}, {"n": 1, "names": [1]}, {"n": 1, 2: 3}):
        assert not kind.accepts(bad)


def test_figures_may_be_infinite_and_are_never_nan():
    assert _saved.FIGURES.accepts([1, 2.5, math.inf])
    for bad in ([math.nan], [True], ["1"], "12", None):
        assert not _saved.FIGURES.accepts(bad)


def test_readings_of_text():
    read = {"tokenizer": "simple", "lowercase": True, "unit": "stream"}
    for good in (read, {}):
        assert _saved.OPTIONS.accepts(good)
    for wrong in ({"unit": "page"}, {"lowercase": 1}, {"tokenizer": None}, {"unit": []}):
        assert not _saved.OPTIONS.accepts(read | wrong)
    good = {"n_tokens": 3, "options": read, "sources": ["abc"]}
    assert _saved.PROVENANCE.accepts(good)
    assert not _saved.PROVENANCE.accepts(good | {"options": None})


def test_sums():
    _saved.check_sums("t", np.array([[0.5, 0.5], [0.25, 0.75]]))
    with pytest.raises(ModelFileError, match="t has probabilities that do not add up to 1"):
        _saved.check_sums("t", np.array([[0.5, 0.5], [0.25, 0.8]]))
    _saved.check_total("c", np.array([2**52]))
    with pytest.raises(ModelFileError, match="c counts more than can be added up"):
        _saved.check_total("c", np.full(3, 2**62))  # beyond 64 bits, too
