"""Compiled loops over a symmetric matrix in tiles: see :mod:`eigentext.matrices.tiles`.

A *piece* is what one run of rows has in one strip of columns. Pieces are numbered run by run, and
within a run from its own strip to the last one.
"""

import numpy as np

from eigentext.engine.compiled import njit
from eigentext.engine.intrinsics import add_coded, spread_coded

MOST_CODES = 1 << 16  # of a piece
_SLOTS = 1 << 18  # of the table that finds the code of a number
_FACTOR = 0x9E3779B1  # spreads numbers over the slots (the golden ratio, Knuth 1973)
_LOW = 0x7FFFFFFF  # 31 bits: times the factor, they stay below 63 bits


@njit(cache=True, nogil=True)
def pack_pieces(indptr, indices, data, borders, strip):
    """Equivalent to cutting rows at `borders` and numbering the distinct numbers of each piece.

    The rows are a part of the strip, CSR with sorted columns and numbers above 0. Returns a success
    flag; the length of each row in each piece; columns, counted from the strip's first; codes; the
    distinct numbers of the pieces in the order of their codes; and where the entries and the
    distinct numbers of each piece end. It fails if a piece has more than `MOST_CODES` of them.
    """
    n_rows, n_pieces = len(indptr) - 1, len(borders) - 1 - strip
    lengths = np.empty(n_rows * n_pieces, np.uint16)
    columns = np.empty(len(indices), np.uint16)
    codes = np.empty(len(indices), np.uint16)
    distinct = np.empty(len(indices), np.int64)  # only the part that is written takes memory
    ends = np.zeros((n_pieces, 2), np.int64)
    slots = np.zeros(_SLOTS, np.int32)  # the place in `distinct`, plus 1; 0 is empty
    used = np.empty(MOST_CODES, np.int32)
    at = indptr[:-1].copy()
    n = t = q = 0
    for piece in range(n_pieces):
        first, last = borders[strip + piece], borders[strip + piece + 1]
        base = t
        for r in range(n_rows):
            p = at[r]
            while p < indptr[r + 1] and indices[p] < last:
                low = (data[p] ^ (data[p] >> 31)) & _LOW
                slot = ((low * _FACTOR) >> 14) & (_SLOTS - 1)
                while slots[slot] != 0 and distinct[slots[slot] - 1] != data[p]:
                    slot = (slot + 1) & (_SLOTS - 1)
                if slots[slot] == 0:
                    if t - base == MOST_CODES:
                        return False, lengths, columns, codes, distinct, ends
                    distinct[t] = data[p]
                    used[t - base] = slot
                    t += 1
                    slots[slot] = t
                columns[n] = indices[p] - first
                codes[n] = slots[slot] - 1 - base
                n += 1
                p += 1
            lengths[q] = p - at[r]
            at[r] = p
            q += 1
        for i in range(t - base):
            slots[used[i]] = 0
        ends[piece, 0], ends[piece, 1] = n, t
    return True, lengths, columns, codes, distinct[:t].copy(), ends


@njit(cache=True, nogil=True)
def tiles_times_panel(borders, runs, bounds, pieces, lengths, columns, codes, table, X, out, strip):
    """Equivalent to ``out[strip] = S[strip] @ X`` for a symmetric S in tiles; 32 columns.

    Strip i has the runs ``runs[i]`` to ``runs[i + 1]``, run k the rows ``bounds[k]`` to
    ``bounds[k + 1]`` and the pieces from ``pieces[k][0]``. ``pieces[k][1:]`` of all pieces follow:
    see :class:`eigentext.matrices.tiles.SymmetricTiles`. Each number of the answer is one sum in
    the order of the matrix's columns.
    """
    first_piece, entry, length, base = pieces
    start = borders[strip]
    for r in range(start, borders[strip + 1]):
        for k in range(X.shape[1]):
            out[r, k] = 0
    for other in range(len(borders) - 1):
        if other < strip:  # the columns of this strip in the rows of the other one
            for run in range(runs[other], runs[other + 1]):
                piece = first_piece[run] + strip - other
                p, q = entry[piece], length[piece]
                for r in range(bounds[run], bounds[run + 1]):
                    end = p + lengths[q]
                    if p < end:
                        spread_coded(columns, codes, table, X, out, p, end, r, start, base[piece])
                    p = end
                    q += 1
            continue
        shift = borders[other]
        for run in range(runs[strip], runs[strip + 1]):
            piece = first_piece[run] + other - strip
            p, q = entry[piece], length[piece]
            for r in range(bounds[run], bounds[run + 1]):
                end = p + lengths[q]
                if p < end:
                    add_coded(columns, codes, table, X, out, p, end, r, shift, base[piece])
                    if other == strip:  # what the row has in common with those below it
                        below = p + (columns[p] == r - shift)
                        spread_coded(
                            columns, codes, table, X, out, below, end, r, shift, base[piece]
                        )
                p = end
                q += 1
