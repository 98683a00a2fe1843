"""Each compiled loop does what its docstring says that it is equivalent to."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigentext.matrices.row_loops import sort_positions
from eigentext.moments import _ngram_loops as loops

N = 60  # symbols; the last one is the edge


def random_csr(rng, shape, density=0.3):
    A = sp.random_array(shape, density=density, format="csr", rng=rng)
    A.data = rng.integers(1, 9, A.nnz)
    A.sort_indices()
    return A, (A.indptr.astype(np.int64), A.indices.astype(np.int32), A.data.astype(np.int64))


def dense(rows, n_columns):
    indptr, indices, data = rows
    for r in range(len(indptr) - 1):
        assert (np.diff(indices[indptr[r] : indptr[r + 1]]) > 0).all()
    return sp.csr_array((data, indices, indptr), (len(indptr) - 1, n_columns)).toarray()


@pytest.mark.parametrize("keep", [False, True])
def test_count_next(keep):
    rng = np.random.default_rng(0)
    tokens = rng.integers(-1, N - 1, 5000).astype(np.int32)
    starts, positions = sort_positions(tokens, len(tokens) - 1, N)
    before = positions.copy()
    lengths, ends_in = np.diff(starts), np.arange(N, dtype=np.int32)
    args = tokens, positions, starts[:-1], lengths, ends_in, 1, N, keep
    halves = [loops.count_next(*args, *rows) for rows in ((0, 20), (20, N))]
    F = np.zeros((N, N), int)
    following = np.where(tokens < 0, N - 1, tokens)
    for p in range(len(tokens) - 1):
        if tokens[p] >= 0:
            F[tokens[p], following[p + 1]] += 1
    assert np.array_equal(np.vstack([dense(half, N) for half in halves]), F)
    for r in range(N):
        row = slice(starts[r], starts[r + 1])
        assert sorted(positions[row]) == sorted(before[row])
        if keep:
            assert (np.diff(following[positions[row] + 1]) >= 0).all()


def test_nothing_follows_an_edge_within_a_window():
    tokens = np.array([0, 59, 1, 1], np.int32)
    nodes = np.array([0, 1]), np.array([1, 1]), np.array([59, 1], np.int32)
    positions = np.array([0, 1], np.int32)
    for depth, expected in ((2, [[0, 0], [0, 1]]), (1, [[0, 0], [0, 1]])):
        rows = loops.count_next(tokens, positions, *nodes, depth, N, True, 0, 2)
        assert dense(rows, N)[:, :2].tolist() == expected
        assert dense(rows, N)[0, 59] == (depth == 1)


def test_mark_present():
    rng = np.random.default_rng(1)
    A, a = random_csr(rng, (30, N))
    chosen = rng.random(A.nnz) < 0.5
    B = sp.csr_array((chosen.astype(int), A.indices, A.indptr), A.shape, copy=True)
    B.eliminate_zeros()
    present = np.zeros(A.nnz, np.bool_)
    b = B.indptr.astype(np.int64), B.indices.astype(np.int32)
    for rows in ((0, 10), (10, 30)):
        loops.mark_present(*a[:2], *b, *rows, present)
    assert np.array_equal(present, chosen)


@pytest.mark.parametrize("n_new", [5, N])
def test_relabel_nodes_and_find_entries(n_new):
    rng = np.random.default_rng(2)
    A, a = random_csr(rng, (80, N), density=0.8)
    rows = rng.integers(0, 7, 80).astype(np.int32)
    places = rng.integers(0, n_new, N).astype(np.int32)
    starts, sources = sort_positions(rows, 80, 7)
    parts = [
        loops.relabel_nodes(*a, starts, sources, places, n_new, *block)
        for block in ((0, 3), (3, 7))
    ]
    B = np.zeros((7, n_new), int)
    np.add.at(B, (rows[:, None], places[None]), A.toarray())
    assert np.array_equal(np.vstack([dense(part, n_new) for part in parts]), B)

    new = sp.csr_array(B)
    found = np.full(A.nnz, -1, np.int32)
    for block in ((0, 50), (50, 80)):
        loops.find_entries(
            *a[:2], rows, places, new.indptr.astype(np.int64), new.indices, *block, found
        )
    entries, targets = sp.coo_array(A), sp.coo_array(new)
    assert np.array_equal(targets.coords[0][found], rows[entries.coords[0]])
    assert np.array_equal(targets.coords[1][found], places[entries.coords[1]])
