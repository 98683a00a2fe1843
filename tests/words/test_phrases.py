"""Phrases are the pairs that a slow count finds, and every way to join them agrees."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import eigentext as et
from eigentext.corpus import encode
from eigentext.errors import CorpusError, MomentsError, ParameterError
from eigentext.words.phrases import Phrases

TEXT = ["she left new york", "new york is big", "a new car", "york is old"] * 5


def scored_slowly(sentences, min_count, scoring):
    """The score of every pair that is counted often enough, word by word."""
    words, pairs = {}, {}
    for sentence in sentences:
        for word in sentence:
            words[word] = words.get(word, 0) + 1
        for pair in pairwise(sentence):
            pairs[pair] = pairs.get(pair, 0) + 1
    N, V = sum(words.values()), len(words) + len(pairs)
    scores = {}
    for (a, b), c in pairs.items():
        if c >= min_count and scoring == "count":
            scores[f"{a}_{b}"] = (c - min_count) * V / words[a] / words[b]
        elif c >= min_count:
            scores[f"{a}_{b}"] = np.log(c * N / words[a] / words[b]) / -np.log(c / N)
    return scores


@pytest.mark.parametrize("scoring", ["npmi", "count"])
def test_phrases_have_the_scores_of_the_slow_count(scoring):
    rng = np.random.default_rng(0)
    names = [f"w{k}" for k in range(12)]
    sentences = [[names[k] for k in rng.integers(12, size=9) ** 2 // 12] for _ in range(80)]
    slow = scored_slowly(sentences, 3, scoring)
    threshold = float(np.median(list(slow.values())))
    found = Phrases(3, scoring=scoring, threshold=threshold).fit(sentences)
    assert found.phrases_ == pytest.approx({k: x for k, x in slow.items() if x > threshold})
    assert list(found.phrases_.values()) == sorted(found.phrases_.values(), reverse=True)


def test_a_known_answer():
    phrases = Phrases(min_count=5).fit(TEXT)
    assert phrases.counts_["new_york"] == 10
    assert phrases.phrases_["new_york"] == pytest.approx(np.log(10 * 70 / 225) / np.log(7))
    assert phrases.transform([["new", "york", "new", "york"], [], ["york", "new"]]) == [
        ["new_york", "new_york"],
        [],
        ["york", "new"],
    ]


def test_a_second_pass_joins_phrases_again():
    fillers = [f"f{k}" for k in range(40)]
    text = [[one, "new", "york", "times", two] for one, two in pairwise(fillers)]
    text += [[one, "times", two] for one, two in pairwise(fillers)]
    one = Phrases(5, threshold=0.6).fit(text)
    two = Phrases(5, threshold=0.6, n_passes=2).fit(text)
    assert one.phrases_.keys() == {"new_york", "york_times"}
    assert two.phrases_.keys() == {"new_york", "york_times", "new_york_times"}
    assert two.transform([["new", "york", "times"]]) == [["new_york_times"]]


def test_moments_are_enough_for_one_pass():
    moments = et.NgramMoments.from_corpus(et.TextCorpus(TEXT), order=2)
    assert Phrases().fit_moments(moments).phrases_ == Phrases().fit(TEXT).phrases_
    with pytest.raises(MomentsError, match="n_passes=1"):
        Phrases(n_passes=2).fit_moments(moments)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.sampled_from("abcde"), max_size=7), min_size=1, max_size=20))
def test_joined_text_is_that_of_transform(sentences):
    if not any(sentences):
        return
    phrases = Phrases(1, threshold=-1.0, n_passes=2).fit([s for s in sentences if s])
    joined = phrases.join(et.TextCorpus(sentences, kind="tokens"))
    words = [joined.words[x] if x >= 0 else None for x in joined.tokens.tolist()]
    expected = [word for s in phrases.transform(sentences) for word in [*s, None]]
    assert [w for w in words if w] == [w for w in expected if w]
    assert joined.counts.tolist() == [words.count(word) for word in joined.words]
    firsts = [words.index(word) for word in joined.words]
    assert firsts == sorted(firsts)


def test_punctuation_joins_nothing():
    assert not Phrases(2, threshold=-1.0).fit(["a , b", "a , c"] * 5).phrases_


def test_text_of_other_phrases_does_not_add_up():
    joined = Phrases(2).fit(TEXT).join(et.TextCorpus(TEXT))
    a = et.CooccurrenceMoments.from_corpus(joined)
    b = et.CooccurrenceMoments.from_corpus(encode(et.TextCorpus(TEXT)))
    with pytest.raises(MomentsError, match="phrases"):
        a + b


def test_saved_phrases_are_the_same(tmp_path):
    phrases = Phrases(5, n_passes=2).fit(TEXT)
    phrases.save(tmp_path / "phrases")
    loaded = et.load(tmp_path / "phrases")
    assert loaded.phrases_ == phrases.phrases_ and loaded.counts_ == phrases.counts_
    assert loaded.transform([["new", "york"]]) == [["new_york"]]


def test_words_with_phrases(tmp_path):
    words = et.Eigenwords(3, min_count=1, phrases=True).fit(TEXT)
    assert "new_york" in words and words.phrases_ is not None
    vector = words.transform(["new york"])[0]
    assert np.allclose(vector, words["new_york"])
    words.save(tmp_path / "words")
    assert np.array_equal(et.load(tmp_path / "words").transform(["new york"])[0], vector)
    collected = et.Eigenwords(3, min_count=1, phrases=True).collect(TEXT)
    again = et.Eigenwords(3, min_count=1).fit_moments(collected)
    assert np.array_equal(again.vectors_, words.vectors_)


def test_added_text_has_the_phrases_of_the_first():
    words = et.Eigenwords(3, min_count=1, phrases=True, keep_moments="whole").fit(TEXT)
    first = words.phrases_.phrases_
    words.partial_fit(["in new york", "old cars old cars"] * 5)
    assert words.phrases_.phrases_ == first
    assert words.vocabulary_.counts[words.vocabulary_["new_york"]] == 15


@pytest.mark.parametrize(
    "settings_", [{"delimiter": ""}, {"delimiter": " "}, {"n_passes": 0}, {"threshold": 2}]
)
def test_bad_settings(settings_):
    with pytest.raises(ParameterError):
        Phrases(**settings_).fit(TEXT)


def test_bad_input():
    with pytest.raises(CorpusError):
        Phrases().fit([])
    with pytest.raises(CorpusError, match="list"):
        Phrases().fit(TEXT).transform(["new york"])
    with pytest.raises(MomentsError, match="order 2"):
        Phrases().fit_moments(et.NgramMoments.from_corpus(et.TextCorpus(TEXT), order=1))
