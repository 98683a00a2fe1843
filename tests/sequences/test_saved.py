"""Checks of files: lists of numbers, and sums."""

import math

import numpy as np
import pytest

from eigentext.errors import ModelFileError
from eigentext.sequences import _saved


def test_figures_may_be_infinite_and_are_never_nan():
    assert _saved.FIGURES.accepts([1, 2.5, math.inf])
    for bad in ([math.nan], [True], ["1"], "12", None):
        assert not _saved.FIGURES.accepts(bad)


def test_sums():
    _saved.check_sums("t", np.array([[0.5, 0.5], [0.25, 0.75]]))
    with pytest.raises(ModelFileError, match="t has probabilities that do not add up to 1"):
        _saved.check_sums("t", np.array([[0.5, 0.5], [0.25, 0.8]]))
    _saved.check_total("c", np.array([2**52]))
    with pytest.raises(ModelFileError, match="c counts more than can be added up"):
        _saved.check_total("c", np.full(3, 2**62))  # the sum exceeds 64 bits
