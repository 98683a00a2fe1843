"""Purposes set windows and dimensions; narrow dimensions are those of their own model."""

import numpy as np
import pytest

import eigentext as et
from eigentext.errors import MomentsError, ParameterError
from eigentext.words.purposes import plan

SMALL = {"n_components": 6, "min_count": 1, "window": 4}


@pytest.fixture(scope="module")
def lines():
    rng = np.random.default_rng(0)
    return [[f"w{k}" for k in rng.zipf(1.4, size=12) if k < 30] for _ in range(200)]


def test_a_purpose_sets_what_is_not_given(lines):
    words = et.Eigenwords(6, purpose="topical", min_count=1).fit(lines)
    assert (words.parameters_.window, words.parameters_.beta) == (20, 0.5)
    words = et.Eigenwords(6, purpose="functional", window=3, min_count=1).fit(lines)
    assert (words.parameters_.window, words.parameters_.narrow) == (3, 3)
    assert words.window == 3 and words.narrow is None  # as they were given
    assert plan("balanced", 100).narrow == 20


def test_without_a_purpose_nothing_changes(lines):
    plain = et.Eigenwords(6, min_count=1).fit(lines)
    spelled = et.Eigenwords(6, min_count=1, window=10, beta=0.5, narrow=0).fit(lines)
    assert np.array_equal(plain.vectors_, spelled.vectors_)


def test_narrow_dimensions_are_those_of_a_model_of_the_narrow_window(lines):
    both = et.Eigenwords(**SMALL, beta=0.25, narrow=2, narrow_weight=0.5).fit(lines)
    wide = et.Eigenwords(4, min_count=1, window=4, beta=0.25).fit(lines)
    narrow = et.Eigenwords(2, min_count=1, window=2, context="list", beta=0.25).fit(lines)
    expected = (wide.vectors_ @ wide.vectors_.T + 0.5 * narrow.vectors_ @ narrow.vectors_.T) / 1.5
    assert np.allclose(both.vectors_ @ both.vectors_.T, expected, atol=1e-5)
    assert both.vectors_.shape[1] == 6 and len(both.singular_values_) == 6


def test_moments_of_two_windows_add_up(lines, tmp_path):
    model = et.Eigenwords(**SMALL, narrow=2, keep_moments="whole")
    whole = model.collect(lines)
    assert whole == model.collect(lines[:90]) + model.collect(lines[90:])
    words = model.fit(lines[:90]).partial_fit(lines[90:])
    assert np.array_equal(words.vectors_, et.Eigenwords(**SMALL, narrow=2).fit(lines).vectors_)
    words.save(tmp_path / "words")
    loaded = et.load(tmp_path / "words")
    assert loaded.moments_ == words.moments_ == whole
    whole.save(tmp_path / "moments")
    assert et.load(tmp_path / "moments") == whole


@pytest.mark.parametrize(
    "how",
    [
        {"keep_moments": "cut"},
        {"context": "list"},
        {"context": "next"},
        {"scaling": "ppmi"},
        {"phrases": True, "keep_moments": "whole"},
    ],
)
def test_text_and_its_moments_give_the_same_vectors(lines, how):
    """Also where the wide counts are needed in one direction, and cannot wait."""
    model = et.Eigenwords(**SMALL, narrow=2, **how)
    expected = model.fit_moments(model.collect(lines)).vectors_
    np.testing.assert_array_equal(model.fit(lines).vectors_, expected)


def test_moments_of_one_window_are_refused(lines):
    one = et.CooccurrenceMoments.from_corpus(et.TextCorpus(lines), window=4)
    with pytest.raises(MomentsError, match="narrow=0"):
        et.Eigenwords(**SMALL, narrow=2).fit_moments(one)
    two = et.Eigenwords(**SMALL, narrow=2).collect(lines)
    with pytest.raises(MomentsError, match="no dimension is narrow"):
        et.Eigenwords(**SMALL).fit_moments(two)


def test_there_are_fewer_narrow_dimensions_than_dimensions(lines):
    with pytest.raises(ParameterError, match="narrow is 6"):
        et.Eigenwords(**SMALL, narrow=6).fit(lines)


def test_narrow_dimensions_tell_apart_what_a_wide_bag_confuses():
    # "x" and "y" share all words of their lines, but "x" stands before "a" and "y" after it.
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(400):
        one, two = (f"n{k}" for k in rng.integers(6, size=2))
        lines.append([one, "a", f"v{rng.integers(6)}", "the", two, "b"])
    same = {"min_count": 1, "window": 10, "weighting": "flat"}
    wide = et.Eigenwords(5, **same).fit(lines)
    both = et.Eigenwords(5, **same, narrow=3, narrow_weight=1.0).fit(lines)
    inside = [f"v{k}" for k in range(6)]
    outside = [f"n{k}" for k in range(6)]

    def gap(words):
        V, N = (np.array([words[w] for w in group]) for group in (inside, outside))
        return (V @ V.T).mean() - (V @ N.T).mean()

    assert gap(both) > gap(wide)
