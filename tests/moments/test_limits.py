"""Which words are kept: known answers. Bad limits are in test_documents."""

import numpy as np
import pytest

from eigentext import DocumentMoments, Vocabulary
from eigentext.moments.limits import adapted, words_within

NONE = {"min_df": 1, "max_df": 1.0, "min_count": 1, "max_size": None, "stop_words": None}


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({}, None),
        ({"min_df": 0}, None),
        ({"min_df": 2}, "abc"),
        ({"min_df": 0.5}, "ab"),  # 5 of 10, and not fewer
        ({"min_df": 0.51}, "a"),
        ({"max_df": 5}, "bcde"),
        ({"max_df": 0.2}, "cde"),
        ({"min_df": 2, "max_df": 2}, "c"),
        ({"max_df": 1}, "de"),  # one document; 1.0 is all of them
        ({"min_count": 3}, "abcd"),
        ({"max_size": 3}, "abc"),  # of b, c and d, equal in count, the first
        ({"max_size": 1}, "a"),
        ({"max_size": 5}, None),
        ({"max_size": 1, "max_df": 0.2}, "c"),
        ({"stop_words": ["a", "d", "z"]}, "bce"),
        ({"stop_words": iter("abcd")}, "e"),
        ({"stop_words": "english"}, "bcde"),
        ({"stop_words": []}, None),
    ],
)
def test_known_answers(limits, words):
    vocabulary = Vocabulary("abcde", [0] * 5)
    frequencies, totals = np.array([10, 5, 2, 1, 0]), np.array([11.5, 7, 7, 7, 0])
    kept = words_within(vocabulary, frequencies, totals, 10, **{**NONE, **limits})
    assert kept == (words and list(words))


def test_places_are_kept_whatever_the_counts():
    frequencies = totals = np.array([1, 3, 2, 3])
    limits = {**NONE, "max_size": 3}
    assert words_within(Vocabulary("wxyz", totals), frequencies, totals, 9, **limits) == list("xyz")


def test_contractions_of_stop_words_are_stop_words():
    texts = ["don't it's i’m we'll can't hasn't ham's won't"] * 2
    assert DocumentMoments.from_corpus(texts, stop_words="english").vocabulary.words == ["ham's"]


def test_limits_that_adapt():
    """The usual ones from 500 documents on; below, ever fewer words are left out; no jump down."""
    limits = [adapted("auto", "auto", n) for n in range(1, 1000)]
    assert all(limit == (5, 0.5) for limit in limits[499:])
    assert all(limit[1] == 1.0 for limit in limits[:499])
    assert all(low == max(n // 100, 1) for n, (low, _) in enumerate(limits[:499], 1))
    assert adapted("auto", "auto", 10**6, columns=True) == (1, 1.0)
    assert adapted(3, 0.2, 10, columns=True) == (3, 0.2)


def test_adapted_limits_of_moments():
    texts = ["ham eggs", "ham goal"] * 250 + ["ham"]
    words = DocumentMoments.from_corpus(texts, min_df="auto", max_df="auto").vocabulary.words
    assert words == ["eggs", "goal"]
    whole = DocumentMoments.from_corpus(texts[:400])
    assert whole.restrict(min_df="auto", max_df="auto") is whole
