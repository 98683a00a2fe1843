"""Sparse sums and transposes against scipy's."""

import numpy as np
import scipy.sparse as sp

from eigentext import engine
from eigentext.matrices import _run_loops
from eigentext.matrices import runs as runs_module
from eigentext.matrices.runs import (
    assembled,
    csr,
    is_on_disk,
    listed,
    merge,
    mirrored,
    relabeled,
    spilled,
    sums,
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
        found = _run_loops.mirror_rows(F.indptr.astype(np.int64), F.indices, F.data, first, last)
        part = sp.csr_array((found[2], found[1], found[0]), shape=(last - first, 60))
        assert_same(part, dense[first:last])


def test_relabeled_moves_rows_and_columns_and_adds_what_meets():
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
                    assert_same(relabeled(F, places, expected.shape), expected)


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


# On disk.


def on_disk(matrix):
    """The same matrix, with its entries in files."""

    def rows(block):
        part = matrix[slice(*block)]
        return part.indptr.astype(np.int64), part.indices, part.data

    return assembled(rows, matrix.indptr.astype(np.int64), matrix.shape, dtype=matrix.dtype, keep=0)


def assert_equal(found, expected):
    for part in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(found, part), getattr(expected, part))
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape


def test_assembled_keeps_in_memory_what_it_may():
    F = random_counts(0)
    assert is_on_disk(on_disk(F))
    assert_equal(on_disk(F), F)

    def rows(block):
        part = F[slice(*block)]
        return part.indptr.astype(np.int64), part.indices, part.data

    for keep, expected in ((12 * F.nnz, False), (12 * F.nnz - 1, True)):
        found = assembled(rows, F.indptr.astype(np.int64), F.shape, block_work=50, keep=keep)
        assert is_on_disk(found) == expected
        assert_equal(found, F)


def test_on_disk_all_is_as_in_memory(monkeypatch):
    # Many small blocks and parts.
    monkeypatch.setattr(runs_module, "_BLOCK_WORK", 40)
    monkeypatch.setattr(runs_module, "_FEWEST_ENTRIES", 50)
    for seed, threads in ((0, 1), (1, 3)):
        with engine.use(engine.ThreadEngine(threads)):
            F = random_counts(seed, (60, 60))
            wide = random_counts(seed, (30, 90))
            floats = canonical(wide.astype(np.float32))
            for matrix in (F, wide, floats):
                found = transposed(on_disk(matrix))
                assert is_on_disk(found)
                assert_equal(found, canonical(sp.csr_array(matrix.T)))
            found = mirrored(on_disk(F), np.sqrt, np.float32, keep=0)
            assert is_on_disk(found)
            assert_equal(found, mirrored(F, np.sqrt, np.float32))
            for mine, theirs in zip(sums(on_disk(wide)), sums(wide)):
                assert np.array_equal(mine, theirs)
            other = random_counts(seed + 10, (60, 60))
            assert_equal(merge([on_disk(F), on_disk(other)], keep=0), merge([F, other]))


def test_listed_puts_what_stands_before_and_after_side_by_side():
    F = random_counts(3, (20, 60))
    ahead = [F[:, d * 20 : (d + 1) * 20] for d in range(3)]
    expected = canonical(sp.hstack([G.T for G in reversed(ahead)] + ahead, format="csr"))
    assert_equal(listed(F, 3, lambda x: x, np.int64), expected)
    found = listed(on_disk(F), 3, np.sqrt, np.float32, keep=0)
    assert is_on_disk(found)
    assert_equal(found, canonical(expected.sqrt().astype(np.float32)))


def test_deal_out_is_a_stable_sort_by_parts():
    F = random_counts(5, (9, 13))
    parts = np.array([0, 0, 1, 1, 1, 1, 3, 3, 3, 3, 4, 4, 4], np.int32)
    starts, places, values = _run_loops.deal_out(
        F.indptr.astype(np.int64), F.indices, F.data, 100, parts, 5
    )
    coo = F.tocoo()
    order = np.argsort(parts[coo.col], kind="stable")
    assert np.array_equal(places, np.stack([coo.col, coo.row + 100], axis=1)[order])
    assert np.array_equal(values, coo.data[order])
    counts = np.bincount(parts[coo.col], minlength=5)
    assert np.array_equal(starts, np.concatenate([[0], np.cumsum(counts)]))
    mine = slice(starts[1], starts[2])
    indptr, indices, data = _run_loops.sort_part(places[mine], values[mine], 2, 6)
    found = sp.csr_array((data, indices - 100, indptr), shape=(4, 9))
    assert np.array_equal(found.toarray(), F.toarray()[:, 2:6].T)


def test_add_sums_adds_the_sums():
    F = random_counts(6)
    rows, columns = np.ones(F.shape[0], np.int64), np.ones(F.shape[1], np.int64)
    _run_loops.add_sums(F.indptr.astype(np.int64), F.indices, F.data, rows, columns)
    assert np.array_equal(rows, 1 + F.sum(axis=1))
    assert np.array_equal(columns, 1 + F.sum(axis=0))
