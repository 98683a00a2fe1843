"""The way from a corpus to counts, for the smallest model there could be."""

import numpy as np
import pytest

from eigentext import CooccurrenceMoments
from eigentext.errors import MomentsError, ParameterError
from eigentext.parameters import Choice, Count, Table
from eigentext.words._cooccurrences import CooccurrenceModel

LINES = ["a b c", "a b d", "b a c"] * 3 + ["e f"]


class Totals(CooccurrenceModel):
    """How often each word stands beside another."""

    _table = Table(
        "Totals",
        n_components=Count(1),
        window=Count(1),
        context=Choice("bag", of=("bag", "list")),
        min_count=Count(2),
        max_size=Count(None),
    )

    def __init__(self, n_components=1, *, window=1, context="bag", min_count=2, max_size=None):
        self.n_components = n_components
        self.window = window
        self.context = context
        self.min_count = min_count
        self.max_size = max_size

    def _learn(self, moments):
        cut = self._cut(moments)
        self.totals_ = cut.counts().sum(axis=1)
        self._describe(cut, int(cut.counts().nnz))
        return self


def test_fit_is_fit_moments_of_collect():
    model = Totals().fit(LINES)
    assert model.vocabulary_.words == ["a", "b", "c", "d"]
    assert model.totals_.tolist() == [12, 15, 6, 3, 2]  # the last are the rare words'
    assert model.diagnostics_ == {"n_words": 4, "rare_tokens": 2, "pairs": 9}
    assert model.provenance_["n_tokens"] == 29
    again = Totals().fit_moments(Totals().collect(LINES))
    assert np.array_equal(again.totals_, model.totals_)


def test_whole_moments_are_cut_to_the_vocabulary():
    whole = CooccurrenceMoments.from_corpus(LINES, window=1, weighting="flat")
    model = Totals().fit_moments(whole)
    assert np.array_equal(model.totals_, Totals().fit(LINES).totals_)
    assert model.provenance_ == Totals().fit(LINES).provenance_


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"window": 2}, "window=1"),
        ({"context": "list"}, "context='bag'"),
        ({"weighting": "distance"}, "weighting='flat'"),
    ],
)
def test_moments_of_other_settings_are_refused(settings, named):
    moments = CooccurrenceMoments.from_corpus(
        LINES, **{"window": 1, "weighting": "flat", **settings}
    )
    with pytest.raises(MomentsError, match=f"{named}, but the moments were counted with"):
        Totals().fit_moments(moments)


def test_moments_may_be_made_when_they_are_needed():
    made = []

    def moments():
        made.append(Totals().collect(LINES))
        return made[0]

    assert np.array_equal(Totals().fit_moments(moments).totals_, Totals().fit(LINES).totals_)
    assert len(made) == 1


@pytest.mark.parametrize("given", [None, 3, "text.txt", ["a b"], lambda: 3])
def test_what_is_no_moments_is_refused(given):
    with pytest.raises(MomentsError, match="Totals learns from CooccurrenceMoments, not from"):
        Totals().fit_moments(given)


@pytest.mark.parametrize("bad", [{"n_components": 0}, {"n_components": 1.5}, {"min_count": 0}])
def test_bad_parameters(bad):
    with pytest.raises(ParameterError, match=next(iter(bad))):
        Totals(**bad).fit(LINES)
