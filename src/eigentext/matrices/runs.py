"""Matrices of counts that are made and added by blocks of rows in parallel, in memory or on disk.

They are CSR with sorted columns and int64 counts, or functions of such counts. The entries of a
matrix on disk are in maps of files. Such a matrix is worked through by blocks of rows, and the
memory of each block is freed when it is done. `keep` is the most bytes of an answer that stay in
memory.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigentext import engine
from eigentext.matrices.disk import Growing, rows_of, scratch_file, write_at
from eigentext.storage.maps import forget, is_mapped

CSR = Any  # scipy.sparse ships no types
_BLOCK_WORK = 1 << 19  # tokens to count or entries to merge in one task
_FEWEST_ENTRIES = 1 << 20  # in a part of a transpose on disk
_MOST_PARTS = 256


def merge(
    runs: list[CSR],
    keep: float = math.inf,
    advance: Callable[[int], None] = lambda amount: None,
) -> CSR:
    """The sum of matrices of one shape, in memory or on disk, by blocks of rows."""
    from eigentext.matrices import _run_loops

    if len(runs) == 1:
        return runs[0]

    def merge_rows(rows: tuple[int, int]):
        sources = parts = [rows_of(run, *rows) for run in runs]
        while len(parts) > 1:  # neighbors in pairs: each entry is moved log(runs) times
            pairs = zip(parts[::2], parts[1::2])
            last = parts[-1:] if len(parts) % 2 else []
            parts = [_run_loops.add_rows(*a, *b) for a, b in pairs] + last
        for _, indices, data in sources:
            forget(indices, data)
        return parts[0]

    total = np.asarray(np.sum([run.indptr for run in runs], axis=0, dtype=np.int64))
    return assembled(merge_rows, total, runs[0].shape, advance, keep=keep)


def is_on_disk(matrix: CSR) -> bool:
    """Whether the entries of a matrix are in files."""
    return is_mapped(matrix.data)


def assembled(
    make_rows: Callable[[tuple[int, int]], tuple[np.ndarray, np.ndarray, np.ndarray]],
    work: np.ndarray,
    shape: tuple[int, int],
    advance: Callable[[int], None] = lambda amount: None,
    dtype: Any = np.int64,
    block_work: int = _BLOCK_WORK,
    keep: float = math.inf,
) -> CSR:
    """A matrix from blocks of its rows, made in parallel.

    `make_rows` takes a range of rows and returns their indptr (from 0), indices and data. `work` is
    the cumulative cost of the rows. If the entries take more than `keep` bytes, they are on disk.
    """
    blocks = engine.even_blocks(work, block_work)
    indptr = np.zeros(shape[0] + 1, np.int64)
    most = keep / (4 + np.dtype(dtype).itemsize)  # entries; both arrays or none
    indices, data = Growing(np.int32, 4 * most), Growing(dtype, np.dtype(dtype).itemsize * most)
    for (start, stop), block in zip(blocks, engine.current().map(make_rows, blocks)):
        indptr[start + 1 : stop + 1] = block[0][1:] + indptr[start]
        indices.append(block[1])
        data.append(block[2])
        advance(int(work[stop] - work[start]))
    return csr(data.finish(), indices.finish(), indptr, shape)


def spilled(run: CSR, folder: str, number: int) -> CSR:
    """The matrix with its entries in files, which take no memory until they are read."""
    parts = []
    for name in ("data", "indices"):
        path = Path(folder, f"{number}.{name}.npy")
        np.save(path, getattr(run, name))
        parts.append(np.load(path, mmap_mode="r"))
    return csr(parts[0], parts[1], run.indptr, run.shape)


def mirrored(
    F: CSR,
    function: Callable[[np.ndarray], np.ndarray],
    dtype: Any,
    advance: Callable[[int], None] = lambda amount: None,
    keep: float = math.inf,
) -> CSR:
    """A function of each entry of F + F', block by block: the sum itself is never in memory."""
    from eigentext.matrices import _run_loops

    indptr = F.indptr.astype(np.int64)
    if is_on_disk(F):
        back = transposed(F)

        def add(rows: tuple[int, int]):
            own, other = rows_of(F, *rows), rows_of(back, *rows)
            starts, indices, data = _run_loops.add_rows(*own, *other)
            forget(*own[1:], *other[1:])
            return starts, indices, function(data).astype(dtype, copy=False)

        return assembled(add, indptr + back.indptr, F.shape, advance, dtype, keep=keep)
    work = indptr + np.concatenate([[0], np.cumsum(np.bincount(F.indices, minlength=F.shape[1]))])

    def mirror(rows: tuple[int, int]):
        starts, indices, data = _run_loops.mirror_rows(indptr, F.indices, F.data, *rows)
        return starts, indices, function(data).astype(dtype, copy=False)

    # Every block reads every row, so there are few blocks.
    return assembled(mirror, work, F.shape, advance, dtype, 4 * _BLOCK_WORK, keep)


def listed(
    F: CSR,
    window: int,
    function: Callable[[np.ndarray], np.ndarray],
    dtype: Any,
    advance: Callable[[int], None] = lambda amount: None,
    keep: float = math.inf,
) -> CSR:
    """A function of each entry of ``[F_window' ... F_1' F_1 ... F_window]``, block by block.

    F is ``[F_1 ... F_window]``, of square matrices.
    """
    n = F.shape[0]
    back = transposed(F)
    ends = back.indptr.astype(np.int64)
    work = F.indptr.astype(np.int64) - ends[: n * window : n].sum()
    for d in range(window):
        work += ends[d * n : (d + 1) * n + 1]

    def join(rows: tuple[int, int]):
        start, stop = rows
        parts = [rows_of(back, d * n + start, d * n + stop) for d in reversed(range(window))]
        shapes = [(stop - start, n)] * window + [(stop - start, F.shape[1])]
        parts.append(rows_of(F, start, stop))
        row = sp.hstack(
            [csr(part[2], part[1], part[0], shape) for part, shape in zip(parts, shapes)],
            format="csr",
        )
        for part in parts:
            forget(*part[1:])
        return (
            row.indptr.astype(np.int64),
            row.indices,
            function(row.data).astype(dtype, copy=False),
        )

    return assembled(join, work, (n, 2 * F.shape[1]), advance, dtype, keep=keep)


def sums(F: CSR) -> tuple[np.ndarray, np.ndarray]:
    """The sums of rows and of columns."""
    if not is_on_disk(F):
        return F.sum(axis=1), F.sum(axis=0)
    from eigentext.matrices import _run_loops

    rows, columns = np.zeros(F.shape[0], np.int64), np.zeros(F.shape[1], np.int64)
    for start, stop in engine.even_blocks(F.indptr.astype(np.int64), _BLOCK_WORK):
        block = rows_of(F, start, stop)
        _run_loops.add_sums(*block, rows[start:stop], columns)
        forget(*block[1:])
    return rows, columns


def relabeled(F: CSR, places: np.ndarray, shape: tuple[int, int]) -> CSR:
    """F with row and column w moved to ``places[w]``; entries that meet are added.

    If F has several blocks of columns, columns move within their block.
    """
    from eigentext.matrices import _run_loops, row_loops

    n_old, n_new = F.shape[0], shape[0]
    places = places[:n_old].astype(np.int32)
    starts, sources = row_loops.sort_positions(places, n_old, n_new)
    indptr = F.indptr.astype(np.int64)
    work = np.concatenate([[0], np.cumsum(np.diff(indptr)[sources])])[starts]

    def relabel(rows: tuple[int, int]):
        return _run_loops.relabel_rows(
            indptr, F.indices, F.data, starts, sources, places, n_new, shape[1], *rows
        )

    return assembled(relabel, work, shape)


def transposed(F: CSR) -> CSR:
    """The transpose of F, on disk if F is."""
    from eigentext.matrices import _run_loops

    if is_on_disk(F):
        return _transposed_on_disk(F)
    indptr, indices, data = _run_loops.transpose(
        F.indptr.astype(np.int64), F.indices, F.data, F.shape[1]
    )
    return csr(data, indices, indptr, F.shape[::-1])


def _transposed_on_disk(F: CSR) -> CSR:
    """The transpose in two passes: entries go to ranges of columns, and each range is sorted."""
    from eigentext.matrices import _run_loops

    n_columns = F.shape[1]
    blocks = engine.even_blocks(F.indptr.astype(np.int64), _BLOCK_WORK)
    ends = np.zeros(n_columns + 1, np.int64)  # where the columns (rows of the transpose) end
    with engine.phase("transpose", 3 * F.nnz, "entries") as advance:
        for start, stop in blocks:
            indices = np.asarray(F.indices[F.indptr[start] : F.indptr[stop]])
            ends[1:] += np.bincount(indices, minlength=n_columns)
            forget(indices)
            advance(len(indices))
        np.cumsum(ends, out=ends)
        part_work = max(_FEWEST_ENTRIES, F.nnz // _MOST_PARTS)
        ranges = engine.even_blocks(ends, part_work)
        parts = np.repeat(np.arange(len(ranges), dtype=np.int32), [b - a for a, b in ranges])
        filled = np.array([ends[first] for first, _ in ranges])  # how far each range is filled

        def deal_out(rows: tuple[int, int]):
            block = rows_of(F, *rows)
            dealt = _run_loops.deal_out(*block, rows[0], parts, len(ranges))
            forget(*block[1:])
            return dealt

        places_file, values_file = scratch_file(), scratch_file()
        with places_file, values_file:
            for starts, places, values in engine.current().map(deal_out, blocks):
                for part in np.flatnonzero(np.diff(starts)).tolist():
                    mine = slice(starts[part], starts[part + 1])
                    write_at(places_file, places[mine], 8 * int(filled[part]))
                    write_at(values_file, values[mine], values.itemsize * int(filled[part]))
                filled += np.diff(starts)
                advance(len(values))
            places = np.memmap(places_file, np.int32, "r+", shape=(F.nnz, 2))
            values = np.memmap(values_file, F.dtype, "r+", shape=(F.nnz,))

        def sort(columns: tuple[int, int]):
            mine = slice(ends[columns[0]], ends[columns[1]])
            part = np.asarray(places[mine]), np.asarray(values[mine])
            found = _run_loops.sort_part(*part, *columns)
            forget(*part)
            return found

        shape = F.shape[::-1]
        return assembled(sort, ends, shape, advance, F.dtype, part_work, keep=0)


def csr(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: Any) -> CSR:
    """A CSR matrix with sorted columns; its indices are int32, or int64 if it is too large."""
    index = np.int32 if max(indptr[-1], *shape) < 2**31 else np.int64
    # The constructor would check every index and make them all int64.
    matrix = sp.csr_array(shape, dtype=data.dtype)
    matrix.data = data
    # A map stays a map: our own loops take either type of index.
    matrix.indices = indices if is_mapped(indices) else indices.astype(index, copy=False)
    matrix.indptr = indptr.astype(index, copy=False)
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix
