"""Each compiled loop over the upper half of counts does what its docstring says."""

import numpy as np
import pytest

from eigentext.moments import _upper_loops as loops

N = 7


def slow(tokens, weights):
    F = np.zeros((N, N), np.int64)
    for p, w in enumerate(tokens):
        for d in range(1, len(weights)):
            if w < 0 or p + d >= len(tokens) or tokens[p + d] < 0:
                break
            F[w, tokens[p + d]] += weights[d]
    return F + F.T


@pytest.fixture
def tokens():
    return np.append(np.random.default_rng(0).integers(-1, N, 60), -1).astype(np.int32)


def test_counts_and_positions_of_words(tokens):
    counts = loops.word_counts(tokens, N)
    assert np.array_equal(counts, np.bincount(tokens[tokens >= 0], minlength=N))
    starts = np.append(0, np.cumsum(counts))
    for first, last in ((0, N), (2, 5), (3, 3)):
        expected = [p for w in range(first, last) for p in np.flatnonzero(tokens == w)]
        assert loops.positions_of(tokens, starts, first, last).tolist() == expected


@pytest.mark.parametrize("weights", [[0, 1], [0, 6, 3, 2], [0, *[1] * 20]])
def test_the_upper_half_and_the_sums_of_whole_rows(tokens, weights):
    weights = np.array(weights)
    expected = slow(tokens, weights)
    starts = np.append(0, np.cumsum(loops.word_counts(tokens, N)))
    totals = np.zeros(N, np.int64)
    found = np.zeros((N, N), np.int64)
    for begin, first, last in ((0, 0, 2), (0, 2, 3), (3, 3, N)):
        positions = loops.positions_of(tokens, starts, begin, N)
        rows = (first, last)
        indptr, indices, data = loops.count_upper(
            tokens, starts, positions, begin, weights, N, *rows, totals
        )
        for r in range(first, last):
            mine = slice(indptr[r - first], indptr[r - first + 1])
            assert (np.diff(indices[mine]) > 0).all()
            found[r, indices[mine]] = data[mine]
    assert np.array_equal(found, np.triu(expected))
    assert np.array_equal(totals, expected.sum(axis=1))
