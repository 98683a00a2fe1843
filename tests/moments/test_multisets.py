"""Rows of counts: counted, moved, and made distinct, against slow twins."""

from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from eigentext import Vocabulary
from eigentext.corpus.documents import checked_matrix
from eigentext.matrices import runs
from eigentext.moments.multisets import counted, distinct, moved, narrowed

SHAPES = st.tuples(st.integers(1, 8), st.integers(1, 4))
MATRICES = arrays(np.int64, SHAPES, elements=st.integers(0, 2))


@pytest.mark.parametrize("block", [1, 7, 1 << 19])
def test_counting_equals_its_definition(monkeypatch, block):
    monkeypatch.setattr(runs, "_BLOCK_WORK", block)
    rng = np.random.default_rng(0)
    documents = [rng.integers(-3, 5, n) for n in (0, 3, 50, 0, 1, 0)]
    documents = [np.where(ids < 0, -2, ids) for ids in documents]  # -2 is outside
    ids = np.concatenate([part for d in documents for part in (d, [-1])]).astype(np.int32)
    X = counted(ids, 6)
    assert X.dtype == np.int32
    assert X.toarray().tolist() == [[(d == w).sum() for w in range(6)] for d in documents]
    assert counted(np.full(2, -1, np.int32), 3).shape == (2, 3)
    assert counted(np.zeros(0, np.int32), 3).shape == (0, 3)


@given(MATRICES, st.permutations("abcdef"), st.integers(1, 6))
def test_moving_columns_equals_looking_them_up(A, order, size):
    old = Vocabulary("abcd"[: A.shape[1]], [0] * A.shape[1])
    new = Vocabulary(order[:size], [0] * size)
    Y = moved(checked_matrix(A), old, new)
    B = [[row[old[w]] if w in old else 0 for w in new.words] for row in A.tolist()]
    assert Y.toarray().tolist() == B
    assert Y.nnz == np.count_nonzero(B)
    Y.has_sorted_indices = False
    indices = Y.indices.copy()
    Y.sort_indices()
    assert Y.indices.tolist() == indices.tolist()


@given(MATRICES, st.sampled_from([1, 0.5, 2**40]), st.randoms())
def test_distinct_rows_in_their_order(A, unit, random):
    rows = [tuple((c, x * unit) for c, x in enumerate(row) if x) for row in A.tolist()]
    times = [random.randrange(1, 4) for _ in rows]
    total = Counter()
    for row, t in zip(rows, times):
        total[row] += t
    X, t = distinct(checked_matrix(A * unit), np.array(times))
    found = [
        tuple(zip(X.indices[a:b].tolist(), X.data[a:b].tolist()))
        for a, b in zip(X.indptr, X.indptr[1:])
    ]
    assert found == sorted(total)  # the order of tuples of numbers
    assert t.tolist() == [total[row] for row in found]
    fractions = unit == 0.5 and (A % 2).any()
    large = unit == 2**40 and A.any()
    assert X.dtype == (np.float64 if fractions else np.int64 if large else np.int32)


def test_no_rows():
    X, times = distinct(sp.csr_array((0, 3), dtype=np.int32), np.zeros(0, np.int64))
    assert X.shape == (0, 3)
    assert len(times) == 0


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (np.array([1, 2]), np.int32),
        (np.array([1.0, 2.0]), np.int32),
        (np.array([1.0, 2.5]), np.float64),
        (np.array([1.0, 2.0**40]), np.int64),
        (np.array([1.0, 2.0**60]), np.float64),
        (np.array([1, 2**60]), np.int64),
        (np.array([2**31 - 1]), np.int32),
        (np.array([2**31]), np.int64),
    ],
)
def test_the_type_follows_the_values(values, dtype):
    X = narrowed(sp.csr_array(values[None]))
    assert X.dtype == dtype
    assert X.data.tolist() == values.tolist()
