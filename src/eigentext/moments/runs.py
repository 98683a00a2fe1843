"""Integer matrices made by blocks of rows in parallel, and added up, in memory or from disk.

Matrices here are CSR with sorted columns and int64 counts, but for functions of these.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigentext import engine

CSR = Any  # scipy.sparse ships no types
_BLOCK_WORK = 1 << 19  # tokens to count or entries to merge that make a task


def merge(runs: list[CSR]) -> CSR:
    """The sum of matrices of one shape, in memory or on disk, by blocks of rows."""
    from eigentext.moments import _kernels

    if len(runs) == 1:
        return runs[0]

    def rows_of(run: CSR, start: int, stop: int):
        p = run.indptr[start : stop + 1].astype(np.int64)
        entries = slice(p[0], p[-1])
        return p - p[0], np.asarray(run.indices[entries]), np.asarray(run.data[entries])

    def merge_rows(rows: tuple[int, int]):
        parts = [rows_of(run, *rows) for run in runs]
        while len(parts) > 1:  # neighbours two by two: each entry is moved log(runs) times
            pairs = zip(parts[::2], parts[1::2])
            last = parts[-1:] if len(parts) % 2 else []
            parts = [_kernels.add_rows(*a, *b) for a, b in pairs] + last
        return parts[0]

    total = np.asarray(np.sum([run.indptr for run in runs], axis=0, dtype=np.int64))
    return assembled(merge_rows, total, runs[0].shape)


def assembled(
    make_rows: Callable[[tuple[int, int]], tuple[np.ndarray, np.ndarray, np.ndarray]],
    work: np.ndarray,
    shape: tuple[int, int],
    advance: Callable[[int], None] = lambda amount: None,
    dtype: Any = np.int64,
    block_work: int = _BLOCK_WORK,
) -> CSR:
    """A matrix from blocks of its rows, made in parallel.

    `make_rows` takes a range of rows and returns their indptr (from 0), indices and data; `work` is
    the cumulative cost of the rows.
    """
    blocks = engine.even_blocks(work, block_work)
    indptr = np.zeros(shape[0] + 1, np.int64)
    indices, data = np.empty(0, np.int32), np.empty(0, dtype)
    for (start, stop), block in zip(blocks, engine.current().map(make_rows, blocks)):
        filled, end = indptr[start], indptr[start] + block[0][-1]
        indptr[start + 1 : stop + 1] = block[0][1:] + filled
        # Grown in place (the system moves pages, not bytes): two copies never exist at once.
        indices.resize(end, refcheck=False)
        data.resize(end, refcheck=False)
        indices[filled:], data[filled:] = block[1:]
        advance(int(work[stop] - work[start]))
    return csr(data, indices, indptr, shape)


def spilled(run: CSR, folder: str, number: int) -> CSR:
    """The run with its entries in files: mapped, so that they take no memory until merged."""
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
) -> CSR:
    """A function of each entry of F + F', block by block: the sum itself never stands in memory."""
    from eigentext.moments import _kernels

    indptr = F.indptr.astype(np.int64)
    work = indptr + np.concatenate([[0], np.cumsum(np.bincount(F.indices, minlength=F.shape[1]))])

    def mirror(rows: tuple[int, int]):
        starts, indices, data = _kernels.mirror_rows(indptr, F.indices, F.data, *rows)
        return starts, indices, function(data).astype(dtype, copy=False)

    # Every block looks at every row: few blocks.
    return assembled(mirror, work, F.shape, advance, dtype, block_work=4 * _BLOCK_WORK)


def relabelled(F: CSR, places: np.ndarray, shape: tuple[int, int]) -> CSR:
    """F with row and column w moved to ``places[w]``, within each block of columns if it has many.

    What meets in one place is added up.
    """
    from eigentext.moments import _kernels

    n_old, n_new = F.shape[0], shape[0]
    places = places[:n_old].astype(np.int32)
    starts, sources = _kernels.sort_positions(places, n_old, n_new)
    indptr = F.indptr.astype(np.int64)
    work = np.concatenate([[0], np.cumsum(np.diff(indptr)[sources])])[starts]

    def relabel(rows: tuple[int, int]):
        return _kernels.relabel_rows(
            indptr, F.indices, F.data, starts, sources, places, n_new, shape[1], *rows
        )

    return assembled(relabel, work, shape)


def transposed(F: CSR) -> CSR:
    """F'."""
    from eigentext.moments import _kernels

    indptr, indices, data = _kernels.transpose(
        F.indptr.astype(np.int64), F.indices, F.data, F.shape[1]
    )
    return csr(data, indices, indptr, F.shape[::-1])


def csr(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: Any) -> CSR:
    """A CSR matrix with sorted columns: int32 indices, or int64 where so many entries need them."""
    index = np.int32 if max(indptr[-1], *shape) < 2**31 else np.int64
    # Set one by one: the constructor would check every index, and widen them all to int64.
    matrix = sp.csr_array(shape, dtype=data.dtype)
    matrix.data = data
    matrix.indices = indices.astype(index, copy=False)
    matrix.indptr = indptr.astype(index, copy=False)
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix
