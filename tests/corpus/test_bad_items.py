"""Bad items are raised, or skipped, counted and named."""

import pytest

from eigentext.corpus.bad_items import BadItems
from eigentext.errors import BadItemsWarning, CorpusError, ParameterError


def test_raise_raises_the_first_error():
    with pytest.raises(CorpusError, match="line 3"):
        BadItems("raise", "trees").skip(CorpusError("line 3: bad"))


def test_skip_counts_and_names_the_first_few():
    bad = BadItems("skip", "trees")
    for number in range(5):
        bad.skip(CorpusError(f"a.mrg, line {number}: bad"))
    with pytest.warns(BadItemsWarning, match=r"skipped 5 of 100 trees: .*line 2.*and 2 more"):
        bad.report(95)


def test_more_than_a_tenth_is_another_format():
    bad = BadItems("skip", "trees")
    bad.skip(CorpusError("a.mrg, line 1: bad"))
    with pytest.raises(CorpusError, match="1 of 9 trees are bad, more than a tenth"):
        bad.report(8)


def test_nothing_bad_is_silent(recwarn):
    BadItems("skip", "trees").report(0)
    assert not recwarn.list


def test_other_values_are_refused():
    with pytest.raises(ParameterError, match="'raise' or 'skip'"):
        BadItems("ignore", "trees")
