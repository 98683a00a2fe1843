"""Sparse sums and transposes against scipy's."""

import numpy as np
import scipy.sparse as sp

from eigentext import engine
from eigentext.moments import _kernels
from eigentext.moments.runs import (
    assembled,
    csr,
    merge,
    mirrored,
    relabelled,
    spilled,
    transposed,
)


def canonical(matrix):
    matrix.sort_indices()
    return csr(matrix.data, matrix.indices, matrix.indptr, matrix.shape)


def random_counts(seed, shape=(40, 60), density=0.2):
    rng = np.random.default_rng(seed)
    dense = rng.integers(1, 9, shape) * (rng.random(shape) < density)
    dense[:3] = rng.integers(1, 9, (3, shape[1]))  # full rows take another path than sparse ones
    return canonical(sp.csr_array(dense))


def assert_same(found, dense):
    assert np.array_equal(found.toarray(), dense)
    assert (np.diff(found.indptr) == (dense != 0).sum(axis=1)).all()  # no stored zeros
    for row in range(len(dense)):
        assert (np.diff(found.indices[found.indptr[row] : found.indptr[row + 1]]) > 0).all()


def test_merge_is_the_sum(tmp_path):
    for n_runs in (1, 2, 3, 7):
        runs = [random_counts(seed) for seed in range(n_runs)]
        dense = sum(run.toarray() for run in runs)
        assert_same(merge(runs), dense)
        on_disk = [spilled(run, str(tmp_path), n) for n, run in enumerate(runs)]
        assert isinstance(on_disk[0].data, np.memmap)
        assert_same(merge(on_disk), dense)


def test_transposed_is_the_transpose():
    F = random_counts(0)
    assert_same(transposed(F), F.toarray().T)


def test_mirrored_is_a_function_of_the_sum_with_the_transpose():
    F = random_counts(4, (60, 60))
    dense = F.toarray() + F.toarray().T
    for threads in (1, 3):
        with engine.use(engine.ThreadEngine(threads)):
            assert_same(mirrored(F, lambda x: x, np.int64), dense)
            assert_same(mirrored(F, np.sqrt, np.float64), np.sqrt(dense))
    assert mirrored(F, np.sqrt, np.float32).dtype == np.float32
    for first, last in ((0, 60), (0, 1), (13, 37), (59, 60)):
        found = _kernels.mirror_rows(F.indptr.astype(np.int64), F.indices, F.data, first, last)
        part = sp.csr_array((found[2], found[1], found[0]), shape=(last - first, 60))
        assert_same(part, dense[first:last])


def test_relabelled_moves_rows_and_columns_and_adds_what_meets():
    rng = np.random.default_rng(0)
    for n_blocks in (1, 3):
        F = random_counts(3, (40, 40 * n_blocks))
        for places in (rng.permutation(50)[:40], rng.integers(0, 7, 40)):
            n = places.max() + 1
            move = np.zeros((40, n), int)
            move[np.arange(40), places] = 1
            blocks = np.hsplit(F.toarray(), n_blocks)
            expected = np.hstack([move.T @ block @ move for block in blocks])
            for threads in (1, 3):
                with engine.use(engine.ThreadEngine(threads)):
                    assert_same(relabelled(F, places, expected.shape), expected)


def test_assembled_keeps_the_order_of_rows():
    F = random_counts(1)

    def rows(block):
        part = canonical(F[block[0] : block[1]])
        return part.indptr, part.indices, part.data

    for threads in (1, 3):
        with engine.use(engine.ThreadEngine(threads)):
            work = np.arange(F.shape[0] + 1) << 17  # several blocks
            assert_same(assembled(rows, work, F.shape), F.toarray())


def test_csr_keeps_the_arrays_and_scipy_takes_it():
    F = random_counts(2)
    again = csr(F.data, F.indices, F.indptr.astype(np.int64), F.shape)
    assert again.indices is F.indices
    assert again.indices.dtype == again.indptr.dtype == np.int32
    assert (again.tocoo().toarray() == F.toarray()).all()


def test_positions_are_sorted_by_word():
    tokens = np.random.default_rng(3).integers(-1, 5, 200).astype(np.int32)
    starts, positions = _kernels.sort_positions(tokens, 150, 5)
    twin = np.flatnonzero(tokens[:150] >= 0)
    twin = twin[np.argsort(tokens[twin], kind="stable")]
    assert np.array_equal(positions, twin)
    assert np.array_equal(np.diff(starts), np.bincount(tokens[twin], minlength=5))
