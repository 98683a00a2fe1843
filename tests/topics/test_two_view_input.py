"""Reading two views: what counts as numbers, and the order of rows."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigentext import DocumentMoments
from eigentext.errors import CorpusError, MomentsError, ParameterError
from eigentext.topics.two_view_input import (
    checked_numbers,
    in_order_of_content,
    is_numbers,
    read_second,
    read_words,
    scaled,
    standardized,
)

LIMITS = {"min_df": 1, "max_df": 1.0, "max_size": None, "stop_words": None}
TEXTS = ["aa bb bb", "cc", "", "aa bb bb"]


def test_dense_arrays_are_numbers_and_everything_else_is_words():
    for numbers in ([[1.0], [2.0]], [1, 2], np.ones((2, 3), int), np.array([True, False])):
        assert is_numbers(numbers)
    for words in (["a", "b"], [["a"], ["b"]], sp.csr_array(np.ones((2, 2))), np.array(["a"])):
        assert not is_numbers(words)
    assert checked_numbers([1, 2]).shape == (2, 1)
    assert read_second(iter(["aa bb", "bb"]), LIMITS).counts.shape == (2, 2)


def test_rows_of_words_are_in_the_order_of_the_documents():
    words = read_words(TEXTS, LIMITS)
    assert words.counts.shape == (4, 3)
    assert words.counts.sum(axis=1).tolist() == [3, 1, 0, 3]


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ([[1.0, np.nan], [2.0, 3.0]], "nan in row 0, column 1"),
        ([[np.inf], [2.0]], "not finite"),
        ([[1e200], [2.0]], "above 1e100"),
        (np.ones((2, 2, 2)), "shape"),
        (np.ones((2, 0)), "shape"),
        ([[1.0], [2.0, 3.0]], "not an array of numbers"),
    ],
)
def test_bad_numbers_are_named(second, told):
    with pytest.raises(ParameterError, match=told):
        checked_numbers(second)


def test_moments_and_missing_views_are_refused():
    with pytest.raises(MomentsError, match="order of documents"):
        read_words(DocumentMoments.from_corpus(TEXTS), LIMITS)
    with pytest.raises(ParameterError, match="give second"):
        read_second(None, LIMITS)


def test_standardized_numbers_have_no_unit():
    rows = np.random.default_rng(0).normal([5, -2, 7], [3, 1e-3, 0], (50, 3))
    found = standardized(rows)
    assert np.allclose(found.rows.mean(axis=0), 0)
    assert np.allclose(found.rows.std(axis=0), [1, 1, 0])
    other = standardized(rows * [1000, 7, 3] + 2)
    assert np.allclose(other.rows[:, 0], found.rows[:, 0])
    assert np.allclose(scaled(rows - found.center, found.spread), found.rows)
    with pytest.raises(CorpusError, match="constant"):
        standardized(np.ones((5, 2)) / 3)


def test_the_order_depends_on_content_alone():
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(["aa", "bb", "cc"], 3)) for _ in range(30)]
    numbers = rng.integers(0, 2, (30, 2)).astype(float)

    def sorted_content(order):
        words = read_words([texts[i] for i in order], LIMITS)
        rows = in_order_of_content(words, numbers[order])
        return words.counts[rows].toarray(), numbers[order][rows]

    first = sorted_content(np.arange(30))
    other = sorted_content(rng.permutation(30))
    assert all(np.array_equal(a, b) for a, b in zip(first, other))


def test_errors_name_the_second_view():
    with pytest.raises(CorpusError, match=r"the second view: .* no words"):
        read_second(["", ""], {})
    with pytest.raises(ParameterError, match="complex"):
        read_second(np.ones((3, 2)) * 1j, {})
