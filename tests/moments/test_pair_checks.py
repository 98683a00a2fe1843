"""Checks of counts of pairs: what can be used is brought into one form, the rest is refused."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigentext import CooccurrenceMoments, NgramMoments, Vocabulary, load
from eigentext.errors import MomentsError, ParameterError
from eigentext.moments.pair_checks import check_total, checked_counts
from eigentext.moments.pairs import check_sums, pair_weights
from eigentext.moments.uncounted import read_moments


def test_any_sparse_counts_come_out_in_one_form():
    rows, columns, data = [1, 0, 1, 0], [1, 1, 0, 1], np.array([1, 2, 0, 3], np.int16)
    given = sp.coo_array((data, (rows, columns)), shape=(2, 2))
    found = checked_counts(given, (2, 2))
    assert found.dtype == np.int64
    assert found.indices.tolist() == [1, 1]
    assert found.data.tolist() == [5, 1]
    assert given.nnz == 4  # what was given stays as it is


def test_counts_in_that_form_are_not_copied():
    F = sp.csr_array(np.array([[0, 2], [1, 1]]))
    assert np.shares_memory(checked_counts(F, (2, 2)).data, F.data)


@pytest.mark.parametrize(
    ("counts", "why"),
    [
        (np.eye(2, dtype=int), "give a sparse matrix of integers"),
        (sp.csr_array(np.eye(3, dtype=int)), r"need \(2, 2\)"),
        (sp.csr_array(np.eye(2)), "give integers"),
        (sp.csr_array(np.array([[1, -1], [0, 1]])), "a count of -1"),
        (sp.csr_array(np.array([[2**62, 0], [0, 1]])), "64 bits"),
    ],
)
def test_what_cannot_be_used_is_refused(counts, why):
    with pytest.raises(MomentsError, match=why):
        checked_counts(counts, (2, 2))


def test_an_index_outside_the_matrix_is_refused():
    F = sp.csr_array(np.eye(2, dtype=int))
    F.indices = F.indices + 5
    with pytest.raises(MomentsError, match="not a valid sparse matrix"):
        checked_counts(F, (2, 2))


def test_sums_must_fit_in_64_bits():
    check_total(np.array([], np.int64))
    check_total(np.array([2**61, 5]))
    with pytest.raises(MomentsError, match="64 bits"):
        check_total(np.array([2**61, 2**61]))


def test_sums_of_rows_must_fit_in_64_bits():
    weights = pair_weights(40, "distance")
    most = (2**63 - 1) // (2 * sum(weights.tolist()))  # about 200 tokens
    check_sums(Vocabulary(["a", "b"], [most, 1]), most, weights)
    check_sums(Vocabulary(["a"], [2**50]), 0, pair_weights(40, "flat"))
    check_sums(Vocabulary(["a"], [10**9]), 0, pair_weights(20, "distance"))
    for count, rare in ((most + 1, 0), (1, most + 1)):
        with pytest.raises(ParameterError, match=r"64 bits; use a smaller window .*flat"):
            check_sums(Vocabulary(["a"], [count]), rare, weights)


@pytest.mark.parametrize("count", [CooccurrenceMoments.from_corpus, read_moments])
def test_text_whose_sums_would_overflow_is_refused_before_it_is_counted(count):
    text = ["a b " * 150, "a c " * 150]
    with pytest.raises(ParameterError, match="occurs 300 times"):
        count(text, window=40, weighting="distance")
    sums = count(text, window=40, weighting="flat").totals()[0]
    assert (sums > 0).all()


def test_sums_of_moments_and_ngrams_are_checked_too(tmp_path):
    how = {"window": 40, "weighting": "distance"}
    half = CooccurrenceMoments.from_corpus(["a b c " * 100], **how)
    with pytest.raises(ParameterError, match="occurs 300 times"):
        half + half + half
    ngrams = NgramMoments.from_corpus([["a", "b"] * 300], order=41)
    with pytest.raises(ParameterError, match="occurs 300 times"):
        CooccurrenceMoments.from_ngrams(ngrams, **how)
    assert (half.totals()[0] > 0).all()
    with pytest.raises(MomentsError, match="smaller window"):  # no file that cannot be read
        half.save(tmp_path / "half")
    few = CooccurrenceMoments.from_corpus(["a b c " * 50], **how)
    few.save(tmp_path / "few")
    assert load(tmp_path / "few") == few
