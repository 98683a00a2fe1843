"""Checks of moments of documents: what fits together passes, and an error names what does not."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigentext import DocumentMoments, Vocabulary
from eigentext.errors import ModelFileError, MomentsError
from eigentext.moments.document_checks import (
    MOST,
    check_counts,
    check_documents,
    check_sums,
    is_of_matrix,
)

WORDS = Vocabulary(["ham", "eggs"], [3, 1])


def test_what_was_counted_passes():
    for moments in (
        DocumentMoments.from_corpus(["Ham and eggs", "and ham"]),
        DocumentMoments.from_matrix([[0.5, 0], [1, 2]]),
    ):
        check_documents(moments)
    assert is_of_matrix(DocumentMoments.from_matrix([[1, 2]]).options)
    assert not is_of_matrix({})


def test_the_error_of_moments_names_the_part():
    moments = DocumentMoments(WORDS, sp.csr_array([[1, 0], [1, 1]]), np.array([1, 2]), n_empty=-1)
    with pytest.raises(MomentsError, match="n_empty"):
        check_documents(moments)


@pytest.mark.parametrize(
    ("rows", "times", "why"),
    [
        ([[1, 0], [0, 0]], [1, 1], "documents without words"),
        ([[1, 0], [1, MOST]], [1, 1], "more tokens"),
        ([[1, 0], [1, 1]], [1, MOST], "more tokens"),
    ],
)
def test_sums_must_be_exact_and_documents_not_empty(rows, times, why):
    X = sp.csr_array(np.array(rows))
    with pytest.raises(ModelFileError, match=why):
        check_sums(X, np.array(times))
    with pytest.raises(ModelFileError, match=why):
        check_counts(WORDS, X, np.array(times))


def test_columns_rise_within_a_row_and_not_from_row_to_row():
    check_counts(WORDS, sp.csr_array([[0, 1], [1, 1]]), np.array([1, 1]))
    X = sp.csr_array(np.array([[1, 2]]))
    X.indices = X.indices[::-1].copy()
    with pytest.raises(ModelFileError, match="columns that do not rise"):
        check_counts(WORDS, X, np.array([1]))
