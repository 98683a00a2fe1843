"""Counts of two windows do together what each does alone."""

import pytest

import eigentext as et
from eigentext.errors import MomentsError
from eigentext.moments import TwoWindowMoments

TEXT = ["the cat sat here", "the dog sat there", "a cat ran here", "a dog ran there"]


def both(text, **limits):
    return TwoWindowMoments.from_corpus(text, window=3, **limits)


def test_each_part_is_what_it_is_alone():
    moments = both(TEXT)
    assert moments.wide == et.CooccurrenceMoments.from_corpus(TEXT, window=3)
    assert moments.narrow == et.CooccurrenceMoments.from_corpus(TEXT, window=2, context="list")
    assert moments.n_tokens == 16 and moments.whole and moments.limits is None


def test_sums_and_cuts():
    assert both(TEXT[:2]) + both(TEXT[2:]) == both(TEXT)
    cut = both(TEXT * 2 + ["once"]).restrict(min_count=2)
    assert cut == both(TEXT * 2 + ["once"], min_count=2)
    assert cut.rare_count == 1 and "cut" in cut.limits
    assert both(TEXT).thresholded(2).min_pairs == 2


def test_parts_of_different_texts_are_refused():
    one, two = both(TEXT), both(["something else here"])
    with pytest.raises(MomentsError, match="different words"):
        TwoWindowMoments(one.wide, two.narrow)
    with pytest.raises(MomentsError, match="one window"):
        one.check_adds_up(one.wide)
    with pytest.raises(TypeError):
        one + one.wide


def test_one_window_and_two_do_not_add_up():
    text = ["I ate ham", "You ate cheese", "You ate"]
    two = TwoWindowMoments.from_corpus(text, window=5)
    for first, second in ((two, two.wide), (two.wide, two)):
        with pytest.raises(MomentsError, match=r"do not add up; .*narrow"):
            first.check_adds_up(second)
