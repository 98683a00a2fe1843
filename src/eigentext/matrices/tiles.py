"""A symmetric sparse matrix in a quarter of the memory of CSR, with the same products.

Four things save memory, and none of them changes a bit of a product:

- Only the upper half is kept. An entry serves its row and, in another pass, its column.
- Rows and columns are cut into *strips*, at the same borders. A column is 16 bits, counted from the
  border of its strip.
- Numbers are codes of 16 bits. They stand for the distinct numbers of the piece, which are few:
  most words occur together a few times only.
- Pieces are packed as soon as their rows are there, so no other form of the whole is ever made.

A tile is what a strip of rows has in a strip of columns. A product reads the tiles in such an order
that each number of the answer is one sum in the order of columns, as with CSR. The strips of the
answer are independent, so threads share them.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from eigentext import engine
from eigentext.matrices.disk import Growing

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]  # indptr (from 0), indices and data
_WIDEST = 1 << 12  # rows of a strip: a panel of 32 columns of it fits in the second cache
_MOST_STRIPS = 32  # beyond, strips get wider: the lengths of rows would take too much memory
_LONGEST = 1 << 15  # rows of a strip at most, since columns have 16 bits
_FEWEST_STRIPS = 16  # to share among threads
_RUN = 1 << 19  # entries to be packed at once, about


class Packed:
    """The rows of a run as :func:`pack_run` leaves them; see there."""

    def __init__(self, rows: tuple[int, int], parts: tuple[Any, ...], diagonal: int):
        self.rows, self.parts, self.diagonal = rows, parts, diagonal


class SymmetricTiles:
    """A symmetric matrix whose upper half is packed; see the module.

    Parameters
    ----------
    borders : int64 array, shape (strips + 1,)
        The first row (and column) of each strip, and the number of rows.
    runs : iterable of Packed
        The rows from first to last.
    function : callable
        What becomes of the packed integers.
    dtype
        The type of the results of `function`.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from eigentext.matrices.tiles import tiled
    >>> S = sp.csr_array([[4, 1, 0], [1, 0, 9], [0, 9, 0]])
    >>> tiled(S, np.sqrt, np.float32).times(np.eye(3, dtype=np.float32))
    array([[2., 1., 0.],
           [1., 0., 3.],
           [0., 3., 0.]], dtype=float32)
    """

    def __init__(
        self,
        borders: np.ndarray,
        runs: Iterable[Packed],
        function: Callable[[np.ndarray], np.ndarray],
        dtype: Any = np.float32,
    ):
        n = int(borders[-1])
        self.shape, self.dtype = (n, n), np.dtype(dtype)
        self._borders = borders
        lengths, columns, codes = (Growing(np.uint16) for _ in range(3))
        table, ends, bounds, first_pieces = Growing(dtype), [], [0], []
        n_entries = n_lengths = n_distinct = n_diagonal = n_pieces = 0
        for run in runs:
            own_lengths, own_columns, own_codes, distinct, own_ends = run.parts
            lengths.append(own_lengths)
            columns.append(own_columns)
            codes.append(own_codes)
            table.append(function(distinct).astype(dtype, copy=False))
            starts = np.zeros((len(own_ends), 3), np.int64)
            starts[1:, :2] = own_ends[:-1]
            starts[:, :2] += n_entries, n_distinct
            n_rows = run.rows[1] - run.rows[0]
            starts[:, 2] = n_lengths + n_rows * np.arange(len(own_ends))
            ends.append(starts)
            first_pieces.append(n_pieces)
            bounds.append(run.rows[1])
            n_entries, n_distinct = n_entries + len(own_columns), n_distinct + len(distinct)
            n_lengths, n_pieces = n_lengths + len(own_lengths), n_pieces + len(own_ends)
            n_diagonal += run.diagonal
        self.nnz = 2 * n_entries - n_diagonal
        self._bounds = np.array(bounds, np.int64)
        self._runs = np.searchsorted(self._bounds, borders)
        starts = np.concatenate(ends) if ends else np.zeros((0, 3), np.int64)
        entry, base, length = np.ascontiguousarray(starts.T)
        self._pieces = np.array(first_pieces, np.int64), entry, length, base
        self._lengths, self._columns = lengths.finish(), columns.finish()
        self._codes, self._table = codes.finish(), table.finish()

    @property
    def nbytes(self) -> int:
        """The memory of the entries."""
        parts = self._lengths, self._columns, self._codes, self._table, *self._pieces
        return sum(part.nbytes for part in parts)

    def times(self, X: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """``S @ X`` for a thin X: the bits of the same product with CSR.

        The answer may be in the memory of `out`, which has its shape and is not X.
        """
        from eigentext.engine.intrinsics import PANEL
        from eigentext.matrices._tile_loops import tiles_times_panel

        result = np.empty((self.shape[0], X.shape[1]), self.dtype) if out is None else out
        for first in range(0, X.shape[1], PANEL):
            panel = X[:, first : first + PANEL]
            width = panel.shape[1]
            whole = width == X.shape[1] == PANEL
            product = result if whole else np.empty((self.shape[0], PANEL), self.dtype)
            if width < PANEL:
                panel = np.pad(panel, ((0, 0), (0, PANEL - width)))
            panel = np.ascontiguousarray(panel, self.dtype)

            def work(strip: int, panel=panel, product=product) -> None:
                tiles_times_panel(
                    self._borders, self._runs, self._bounds, self._pieces, self._lengths,
                    self._columns, self._codes, self._table, panel, product, strip,
                )  # fmt: skip

            for _ in engine.current().map(work, range(len(self._borders) - 1)):
                pass
            if not whole:
                result[:, first : first + PANEL] = product[:, :width]
        return result


def strips_of(work: np.ndarray) -> np.ndarray:
    """Borders of strips of about equal work, but not too wide; `work` is cumulative.

    Examples
    --------
    >>> import numpy as np
    >>> strips_of(np.arange(33)).tolist()[:4]
    [0, 2, 4, 6]
    """
    n = len(work) - 1
    widest = min(max(_WIDEST, -(-n // _MOST_STRIPS)), _LONGEST)
    n_strips = max(_FEWEST_STRIPS, -(-n // widest))
    shares = np.linspace(0, work[-1], n_strips + 1)[1:-1]
    edges = np.unique([0, *np.searchsorted(work, shares), n])
    parts = [
        np.linspace(start, stop, -(-(stop - start) // widest) + 1).astype(np.int64)[:-1]
        for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist())
    ]
    return np.append(np.concatenate(parts), n) if parts else np.zeros(1, np.int64)


def runs_of(borders: np.ndarray, work: np.ndarray) -> list[tuple[int, int]]:
    """The runs of rows to be packed at once: parts of strips with about equal work."""
    runs: list[tuple[int, int]] = []
    for start, stop in zip(borders[:-1].tolist(), borders[1:].tolist()):
        own = work[start : stop + 1] - work[start]
        if own[-1] == 0:
            runs.append((start, stop))
        else:
            runs += [(start + a, start + b) for a, b in engine.even_blocks(own, _RUN)]
    return runs


def pack_run(rows: tuple[int, int], upper: Rows, borders: np.ndarray) -> list[Packed]:
    """Pack the upper half of some rows of one strip, CSR with sorted columns and counts above 0.

    If they have too many distinct counts for codes of 16 bits, they become several runs.
    """
    from eigentext.matrices import _tile_loops

    indptr, indices, data = upper
    strip = int(np.searchsorted(borders, rows[0], side="right")) - 1
    fits, *parts = _tile_loops.pack_pieces(indptr, indices, data, borders, strip)
    if fits:
        return [Packed(rows, tuple(parts), _diagonal(rows, upper))]
    middle = (rows[0] + rows[1]) // 2
    half = middle - rows[0]
    cut = indptr[half]
    first = indptr[: half + 1], indices[:cut], data[:cut]
    second = indptr[half:] - cut, indices[cut:], data[cut:]
    return [
        *pack_run((rows[0], middle), first, borders),
        *pack_run((middle, rows[1]), second, borders),
    ]


def _diagonal(rows: tuple[int, int], upper: Rows) -> int:
    """How many rows have an entry on the diagonal, which is then their first."""
    indptr, indices, _ = upper
    filled = np.flatnonzero(np.diff(indptr))
    return int((indices[indptr[filled]] == rows[0] + filled).sum())


def tiled(S: Any, function: Callable[[np.ndarray], np.ndarray], dtype: Any) -> SymmetricTiles:
    """The tiles of a function of a symmetric CSR matrix with sorted columns and counts above 0."""
    from eigentext.matrices.disk import rows_of

    work = S.indptr.astype(np.int64)
    borders = strips_of(work)

    def pack(rows: tuple[int, int]) -> list[Packed]:
        indptr, indices, data = rows_of(S, *rows)
        numbers = np.repeat(np.arange(*rows), np.diff(indptr))
        upper = indices >= numbers
        starts = np.concatenate([[0], np.cumsum(upper)])[indptr]
        kept = starts, indices[upper], data[upper].astype(np.int64)
        return pack_run(rows, kept, borders)

    packed = engine.current().map(pack, runs_of(borders, work))
    return SymmetricTiles(borders, (run for runs in packed for run in runs), function, dtype)
