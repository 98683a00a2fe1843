"""Which words are kept: known answers. Bad limits are in test_documents."""

import numpy as np
import pytest

from eigentext import DocumentMoments, Vocabulary, load
from eigentext.moments.limits import LEFT_OUT, adapted, words_within

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
    kept = words_within(vocabulary, frequencies, totals, 10, **{**NONE, **limits}).words
    assert kept == (words and list(words))


def test_places_are_kept_whatever_the_counts():
    frequencies = totals = np.array([1, 3, 2, 3])
    limits = {**NONE, "max_size": 3}
    kept = words_within(Vocabulary("wxyz", totals), frequencies, totals, 9, **limits)
    assert kept.words == list("xyz")


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


def test_what_is_left_out_is_counted_once():
    vocabulary = Vocabulary(["the", "of", "with", "ham", "eggs", "egg", "!", "odd"], [1] * 8)
    frequencies = np.array([90, 80, 1, 95, 50, 40, 99, 1])
    limits = {"min_df": 5, "max_df": 0.9, "min_count": 1, "max_size": 1, "stop_words": "auto"}
    kept = words_within(vocabulary, frequencies, frequencies, 100, **limits)
    assert kept.words == ["eggs"]
    numbers = {"stop_words": 3, "signs": 1, "frequent": 1, "rare": 1, "beyond": 1}
    assert numbers.items() <= kept.left_out.items()
    assert (kept.left_out["language"], kept.left_out["recognized"]) == ("english", True)
    assert LEFT_OUT.accepts(kept.left_out)
    given = words_within(
        vocabulary, frequencies, frequencies, 100, **limits | {"stop_words": ["!"]}
    )
    assert given.left_out["stop_words"] == 1
    assert "language" not in given.left_out


def test_token_lists_lose_stop_words_of_any_case_and_signs():
    tokens = [["The", "ham", ",", "of", "With"], ["THE", "eggs", ".", "the", "it"]]
    assert DocumentMoments.from_corpus(tokens, stop_words="auto").vocabulary.words == [
        "eggs",
        "ham",
    ]
    listed = DocumentMoments.from_corpus(tokens, stop_words=["the", "."]).vocabulary
    assert {"The", ","} <= set(listed.words)  # a list is taken as it is


def test_moments_keep_what_was_left_out(tmp_path):
    moments = DocumentMoments.from_corpus(["the ham of it", "with the eggs"], stop_words="auto")
    assert moments.left_out["stop_words"] == 4
    moments.save(tmp_path / "moments")
    again = load(tmp_path / "moments")
    assert again == moments
    assert again.left_out == moments.left_out
    assert (moments + moments).left_out == {}


def test_columns_have_no_language():
    moments = DocumentMoments.from_matrix(np.eye(3, dtype=int), words=["the", "of", "ham"])
    assert moments.restrict(stop_words="auto") is moments
    assert moments.restrict(stop_words=["the"]).vocabulary.words == ["of", "ham"]
