"""Words of the user: their ids, their names, and what they change in the topics."""

import warnings

import numpy as np
import pytest

import eigentext as et
from eigentext.errors import ParameterError
from eigentext.moments import DocumentMoments
from eigentext.parameters import UnusedParameterWarning
from eigentext.topics.seeds import Seeds, seeds_of

TEXTS = [
    *["ham eggs ham cheese", "eggs cheese ham bread eggs", "cheese bread the ham"] * 20,
    *["goal team goal match", "team match win goal", "goal match of the team"] * 20,
    *["court judge trial jury", "judge jury court trial", "a trial and a judge jury"] * 20,
    "solitary",
]
MOMENTS = DocumentMoments.from_corpus(TEXTS, min_df=1, stop_words="english")


def test_names_and_ids():
    words = MOMENTS.vocabulary
    found = seeds_of({"food": ["Ham", "ham", "eggs"], "law": "judge"}, ["goal"], MOMENTS)
    assert found.names == ("food", "law")
    assert found.words == ((words["ham"], words["eggs"]), (words["judge"],))
    assert found.excluded == (words["goal"],)
    assert found.unknown == ()
    assert seeds_of(None, None, MOMENTS) == Seeds()
    assert seeds_of(["ham", ["goal", "team"]], None, MOMENTS).names == (None, None)


def test_words_without_probability_are_left_out():
    p = np.ones(len(MOMENTS.vocabulary))
    seeds = seeds_of({"food": ["ham", "eggs"], "law": "judge"}, None, MOMENTS)
    p[[MOMENTS.vocabulary[word] for word in ("eggs", "judge")]] = 0
    left = seeds.within(p)
    assert left.names == ("food",)
    assert left.words == ((MOMENTS.vocabulary["ham"],),)


@pytest.mark.parametrize(
    ("anchors", "told"),
    [
        ({"food": ["hams", "goals"]}, r"'food'.*did you mean ham\?.*'goals'"),
        ({"food": ["the"]}, "'the' is a stop word and was left out"),
        (["solitary"], "'solitary' shares no document with another word"),
        (["zzzzz"], "min_df, max_df or stop_words may have left it out"),
    ],
)
def test_topics_without_a_known_word_are_an_error(anchors, told):
    with pytest.raises(ParameterError, match=told):
        seeds_of(anchors, None, MOMENTS)


def test_some_unknown_words_are_a_warning():
    with pytest.warns(UserWarning, match=r"no effect: 'hams' .* did you mean ham\?; 'xx'"):
        found = seeds_of([["hams", "ham"]], ["xx"], MOMENTS)
    assert found.unknown == ("hams", "xx")
    assert len(found.words[0]) == 1


@pytest.mark.parametrize("method", ["anchors", "tensor", "gradient"])
@pytest.mark.parametrize("refine", [0, 5])
@pytest.mark.parametrize("alpha0", [0.0, 1.0, [0.5, 1.0]])
def test_topics_have_the_names_of_their_words(method, refine, alpha0, tmp_path):
    anchors = {"law": ["judge", "jury"], "food": "ham"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = et.TopicModel(
            3, method=method, refine=refine, alpha0=alpha0, anchors=anchors, min_df=1
        ).fit(TEXTS)
    named = dict(zip(model.topic_names_, model.top_words(3)))
    assert set(named) == {"law", "food", None}
    assert {"judge", "jury"} <= set(named["law"])
    assert "ham" in named["food"]
    assert {"goal", "team"} <= set(named[None])
    assert (np.diff(model.weights_) <= 0).all()
    model.save(tmp_path / "model")
    again = et.load(tmp_path / "model")
    assert again.topic_names_ == model.topic_names_
    assert again.parameters_.anchors == {"law": ["judge", "jury"], "food": ["ham"]}


def test_no_names_without_anchors():
    assert et.TopicModel(2, refine=2).fit(TEXTS).topic_names_ == [None, None]


def test_pseudo_counts_are_the_counts_of_the_words():
    seeds = seeds_of({"food": ["ham"]}, None, MOMENTS)
    smoothing = seeds.smoothing(MOMENTS, [-1, 0], 0.1)
    expected = np.full((2, len(MOMENTS.vocabulary)), 0.1)
    expected[1, MOMENTS.vocabulary["ham"]] += 80
    assert np.allclose(smoothing, expected)
    assert seeds.smoothing(MOMENTS, [-1, -1], 0.1) == 0.1


def test_excluded_words_are_no_anchors():
    first = et.TopicModel(3, method="anchors", refine=0, min_df=1).fit(TEXTS)
    words = first.diagnostics_["anchors"]
    found = et.TopicModel(3, method="anchors", refine=0, min_df=1, not_anchors=words).fit(TEXTS)
    assert not set(words) & set(found.diagnostics_["anchors"])


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"anchors": {"a": ["ham"], "b": ["ham"]}}, "'ham' belongs to the topics 'a' and 'b'"),
        ({"anchors": ["ham", "goal", "judge"]}, "anchors for 3 topics, but n_topics is 2"),
        ({"anchors": {"a": []}}, "anchors must be words by topic"),
        ({"anchors": []}, "anchors must be words by topic"),
        ({"anchors": "ham"}, "anchors must be words by topic"),
        ({"not_anchors": []}, "not_anchors must be a list of words"),
        ({"anchors": ["ham"], "not_anchors": ["ham"]}, "'ham' is an anchor .* give it once"),
    ],
)
def test_bad_settings(settings, told):
    with pytest.raises(ParameterError, match=told):
        et.TopicModel(2, method="anchors", **settings).fit(TEXTS)


def test_not_anchors_are_for_anchors():
    with pytest.warns(UnusedParameterWarning, match="not_anchors"):
        et.TopicModel(2, refine=1, not_anchors=["ham"]).fit(TEXTS)
