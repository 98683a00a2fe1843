"""Phrases of topics: counts of adjacent words, which pairs are taken, and bad input."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from eigentext import TextCorpus, TopicModel
from eigentext.errors import CorpusError, ParameterError
from eigentext.topics import phrases
from eigentext.topics.phrases import adjacent_pairs, best_pairs

TEXTS = [
    "the hard drive failed again",
    "a failed drive",
    "hard ice at the south pole",
    "ice at the pole",
    "again the south pole",
    "a new hard drive",
] * 9


@pytest.fixture(scope="module")
def model():
    return TopicModel(2).fit(TEXTS)


@pytest.mark.parametrize("at_a_time", [7, 50, 1 << 23])
def test_pairs_are_counted_once_in_a_document(monkeypatch, at_a_time):
    monkeypatch.setattr(phrases, "_AT_A_TIME", at_a_time)
    rng = np.random.default_rng(0)
    documents = [rng.integers(-1, 6, rng.integers(0, 9)) for _ in range(60)]
    documents = [np.where(one < 0, -2, one) for one in documents]
    ids = np.concatenate([[*one, -1] for one in documents]).astype(np.int64)
    expected = Counter(
        pair
        for one in documents
        for pair in {(a, b) for a, b in pairwise(one) if a >= 0 and b >= 0 and a != b}
    )
    found = adjacent_pairs(ids, 6)
    triples = zip(found.first.tolist(), found.second.tolist(), found.n_documents.tolist())
    assert {(a, b): n for a, b, n in triples} == expected
    assert found.n_tokens == sum(map(len, documents))
    every = np.concatenate(documents)
    assert found.words.tolist() == np.bincount(every[every >= 0], minlength=6).tolist()


def test_known_phrases(model):
    best = model.top_phrases(TEXTS, 1)
    assert sorted(best) == [["hard drive"], ["south pole"]]
    every = [phrase for topic in model.top_phrases(TEXTS, 20) for phrase in topic]
    assert "again south" not in every  # "the" is between them
    assert len(every) == len(set(every))
    ends = [text.split() for text in TEXTS]
    assert model.top_phrases(ends, 1) == best
    assert model.top_phrases(TextCorpus(TEXTS, tokenizer="words", unit="document"), 1) == best
    assert model.top_phrases(iter(TEXTS), 1) == best


def test_phrases_have_both_words_from_their_topic(model):
    for words, found in zip(model.top_words(100, merge=False), model.top_phrases(TEXTS, 20)):
        for phrase in found:
            assert set(phrase.split()) <= set(words)


def test_words_that_meet_by_chance_are_no_phrase():
    rng = np.random.default_rng(0)
    ids = rng.integers(0, 4, 4000)
    ids[9::10] = -1
    components, weights = np.full((2, 4), 0.25), np.full(2, 0.5)
    answer = best_pairs(
        components, weights, np.full(4, 900), adjacent_pairs(ids, 4), 9, 5, np.arange(4)
    )
    assert answer == [[], []]


def test_forms_of_a_phrase_are_one():
    ids = np.array([0, 1, 5, -1, 0, 2, 4, -1, 5, 6, 3, -1, 4, 3, -1, 3, -1, 6, -1] * 20)
    components, weights = np.full((1, 7), 1 / 7), np.ones(1)
    pairs, counts = adjacent_pairs(ids, 7), np.full(7, 40)
    apart = best_pairs(components, weights, counts, pairs, 99, 5, np.arange(7))[0]
    assert {(0, 1), (0, 2)} <= set(apart)
    same = np.array([0, 1, 1, 3, 4, 5, 6])
    together = best_pairs(components, weights, counts, pairs, 99, 5, same)[0]
    assert len({(0, 1), (0, 2)} & {*together}) == 1


def test_rare_pairs_and_no_documents(model):
    assert model.top_phrases(TEXTS, 20, min_df=1000) == [[], []]
    assert model.top_phrases([], 3) == [[], []]
    assert model.top_phrases(["unknown words only"], 3) == [[], []]
    assert model.top_phrases(["hard drive"], 3, min_df=1) == model.top_phrases(
        ["hard drive", ""], 3, min_df=1
    )
    assert model.top_phrases(TEXTS, 0) == [[], []]


def test_mistakes(model):
    with pytest.raises(CorpusError, match="phrases need the order of words"):
        model.top_phrases(np.ones((3, len(model.vocabulary_)), int))
    of_counts = TopicModel(2).fit(np.array([[3, 1, 0, 0], [2, 2, 0, 0], [0, 0, 3, 1]] * 20))
    with pytest.raises(CorpusError, match="phrases need the order of words"):
        of_counts.top_phrases(TEXTS)
    for wrong in ({"n": -1}, {"min_df": 0}, {"min_df": 2.5}):
        with pytest.raises(ParameterError, match="must be a whole number"):
            model.top_phrases(TEXTS, **wrong)
