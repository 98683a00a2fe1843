"""Two windows and phrases in every way to count: text at once, moments, and kept moments."""

import numpy as np
import pytest

from eigentext import Eigenwords
from eigentext.errors import MomentsError, ParameterError
from eigentext.moments import CooccurrenceMoments, TwoWindowMoments

WAYS = [
    {},
    {"context": "list"},
    {"keep_moments": "cut"},
    {"keep_moments": "whole"},
    {"phrases": True},
    {"phrases": True, "context": "list"},
]


def model(**settings):
    return Eigenwords(4, window=3, min_count=1, max_size=30, **{"narrow": 2, **settings})


@pytest.fixture(scope="module")
def lines():
    rng = np.random.default_rng(0)
    return [[f"w{k}" for k in rng.zipf(1.4, size=12) if k < 30] for _ in range(200)]


@pytest.mark.parametrize("settings", WAYS, ids=str)
def test_text_and_its_moments_give_the_same_vectors(lines, settings):
    fitted = model(**settings).fit(lines)
    moments = model(**settings).collect(lines)
    assert isinstance(moments, TwoWindowMoments)
    assert moments.wide.window == 3
    again = model(**settings).fit_moments(moments)
    assert again.vocabulary_ == fitted.vocabulary_
    assert np.allclose(again.vectors_, fitted.vectors_, atol=1e-5)


def test_moments_must_have_the_windows_of_the_model(lines):
    two = TwoWindowMoments.from_corpus(lines, window=3)
    one = CooccurrenceMoments.from_corpus(lines, window=3)
    with pytest.raises(MomentsError, match=r"counts of two windows.*use narrow=0"):
        model().fit_moments(one)
    with pytest.raises(MomentsError, match="no dimension is narrow; set narrow"):
        model(narrow=0).fit_moments(two)


def test_some_dimensions_must_be_wide(lines):
    with pytest.raises(ParameterError, match="narrow is 4, but there are 4 dimensions in all"):
        model(narrow=4).fit(lines)


def test_phrases_are_words_of_the_model():
    lines = [["in", "new", "york", "x", "y"], ["new", "york", "z", "x"], ["y", "z", "x"]] * 40
    found = Eigenwords(2, window=2, min_count=1, phrases=True).fit(lines)
    assert found.phrases_ is not None
    joined = {word for line in found.phrases_.transform(lines) for word in line}
    assert set(found.vocabulary_.words) == joined
    plain = Eigenwords(2, window=2, min_count=1).fit(lines)
    assert plain.phrases_ is None
    assert set(plain.vocabulary_.words) == {"in", "new", "york", "x", "y", "z"}
