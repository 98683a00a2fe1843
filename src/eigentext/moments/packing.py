r"""Counts in few bytes: how a sparse integer matrix is saved in a file.

Most counts of words are small, many are equal, and the columns of a row rise. So a block of rows
is written as numbers that mostly take one byte (see ``_packing_loops``):

- a column as its gap, the number of empty columns since the one before;
- a count as its place in a list of the block's distinct counts, the most frequent first. With
  weights 1/d, which are the integers lcm(1..ρ)/d, counts are large, but a few of them are frequent.

Zstandard compresses these bytes. On text8 an entry takes 9 bits with flat weights, and 13 with
weights 1/d in a window of 10.

Blocks are packed and unpacked in parallel. Each has a checksum, so that damage is noticed.
"""

import zlib
from typing import Any

import numpy as np

from eigentext import engine
from eigentext.matrices.runs import CSR, csr
from eigentext.storage.maps import forget

_BLOCK_ENTRIES = 1 << 19
_LEVEL = 1  # of Zstandard; level 9 saves at most 2 %, in seven times the time
_MAX_RATIO = 1 << 15  # of a Zstandard frame: 4 bytes hold at most 128 kB
_COLUMNS = 5  # of the table: rows, entries, bytes before compression, bytes after, checksum


def pack(F: CSR) -> tuple[np.ndarray, np.ndarray]:
    """A matrix with sorted columns and counts of 1 or more as bytes and the table of its blocks.

    The table has a row for each block: how many rows, entries, bytes before compression and bytes
    after, and a checksum of all that.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from eigentext.moments.packing import pack, unpack
    >>> F = sp.csr_array([[0, 5, 5], [0, 0, 0], [5, 0, 1]])
    >>> packed, blocks = pack(F)
    >>> unpack(packed, blocks, F.shape).toarray()
    array([[0, 5, 5],
           [0, 0, 0],
           [5, 0, 1]])
    """
    import pyarrow as pa

    from eigentext.moments import _packing_loops

    def pack_block(rows: tuple[int, int]) -> tuple[pa.Buffer, list[int]]:
        start, stop = rows
        indptr = F.indptr[start : stop + 1].astype(np.int64)
        entries = slice(indptr[0], indptr[-1])
        data = np.asarray(F.data[entries], np.int64)
        if len(data) and data.min() < 1:
            raise ValueError("only counts of 1 or more can be packed")
        counts, times = np.unique(data, return_counts=True)
        order = np.argsort(-times, kind="stable")
        codes = np.empty(len(counts), np.int64)
        codes[order] = np.arange(len(counts))
        raw = _packing_loops.pack_rows(
            indptr - indptr[0], np.asarray(F.indices[entries]), data, counts, codes, counts[order]
        )
        forget(F.data[entries], F.indices[entries], F.indptr[start : stop + 1])
        packed = pa.Codec("zstd", _LEVEL).compress(pa.py_buffer(raw))
        sizes = [stop - start, len(data), len(raw), packed.size]
        return packed, [*sizes, _checksum(sizes, packed)]

    tasks = engine.even_blocks(F.indptr.astype(np.int64), _BLOCK_ENTRIES)
    done = list(engine.current().map(pack_block, tasks))
    blocks = np.array([entry for _, entry in done], np.int64).reshape(-1, _COLUMNS)
    return np.frombuffer(b"".join(part for part, _ in done), np.uint8), blocks


def unpack(packed: np.ndarray, blocks: np.ndarray, shape: tuple[int, int]) -> CSR:
    """The matrix that was packed. Raises a ValueError if the bytes hold no matrix of that shape.

    The memory depends on what the bytes really hold, not on what they claim.
    """
    import pyarrow as pa

    from eigentext.moments import _packing_loops

    check_packed(packed, blocks, shape)

    def unpack_block(task: tuple[memoryview, list[int]]):
        part, (n_rows, n_entries, n_raw, *_) = task
        try:
            raw = pa.Codec("zstd").decompress(pa.py_buffer(part), n_raw)
        except OSError as error:
            raise ValueError(str(error)) from error
        raw = np.frombuffer(raw, np.uint8)
        return _packing_loops.unpack_rows(raw, n_rows, shape[1], n_entries)

    indptr = np.zeros(shape[0] + 1, np.int64)
    indices, data = np.empty(0, np.int32), np.empty(0, np.int64)
    row = filled = 0
    for block in engine.current().map(unpack_block, _parts(packed, blocks)):
        n_rows, n_entries = len(block[0]) - 1, len(block[1])
        indptr[row + 1 : row + n_rows + 1] = block[0][1:] + filled
        # It grows in place: the system moves pages, not bytes.
        indices.resize(filled + n_entries, refcheck=False)
        data.resize(filled + n_entries, refcheck=False)
        indices[filled:], data[filled:] = block[1:]
        row, filled = row + n_rows, filled + n_entries
    return csr(data, indices, indptr, shape)


def check_packed(packed: np.ndarray, blocks: np.ndarray, shape: tuple[int, int]) -> None:
    """Raise a ValueError if the bytes were damaged, or the table does not describe them."""
    if packed.dtype != np.uint8 or packed.ndim != 1:
        raise ValueError("packed counts are no bytes")
    if blocks.dtype != np.int64 or blocks.ndim != 2 or blocks.shape[1] != _COLUMNS:
        raise ValueError("no table of blocks")
    # Python's integers never overflow.
    n_rows, n_bytes = (sum(blocks[:, column].tolist()) for column in (0, 3))
    if blocks.min(initial=0) < 0 or n_rows != shape[0] or n_bytes != len(packed):
        raise ValueError("blocks do not fit the matrix")
    for part, (*sizes, checksum) in _parts(packed, blocks):
        _, n_entries, n_raw, n_packed = sizes
        if 2 * n_entries > n_raw or n_raw > _MAX_RATIO * n_packed:
            raise ValueError("blocks claim what they cannot hold")
        if _checksum(sizes, part) != checksum:
            raise ValueError("a wrong checksum")


def _parts(packed: np.ndarray, blocks: np.ndarray):
    """The bytes of each block, with its row of the table."""
    begin = 0
    for entry in blocks.tolist():
        yield packed[begin : begin + entry[3]].data, entry
        begin += entry[3]


def _checksum(sizes: list[int], part: Any) -> int:
    return zlib.crc32(part, zlib.crc32(np.array(sizes, "<i8").tobytes()))
