"""Counting co-occurrences: rows accumulated one at a time in a dense buffer.

The positions of tokens are sorted by word (a counting sort). So all pairs of a row come together,
and one buffer as long as a row is enough: there is no hashing and no sorting of pairs. But the text
is then read in jumps, and each jump waits for memory. `prefetch` asks for tokens some positions
ahead, which saves 16 to 48 % of the time.
"""

import numpy as np

from eigentext.engine.compiled import njit
from eigentext.engine.intrinsics import prefetch
from eigentext.matrices.row_loops import SHIFT, write_row

_AHEAD = 16  # positions


@njit(cache=True, nogil=True)
def count_pairs(tokens, starts, positions, weights, stride, n_columns, first, last):
    """Equivalent to ``F[tokens[p], (d - 1) * stride + tokens[p + d]] += weights[d]`` for all p, d.

    A pair stops at a negative id (the end of a unit). Returns the rows `first` to `last` of F as
    CSR with sorted columns: indptr, indices, data.
    """
    buffer = np.zeros(n_columns, np.int64)
    touched = np.empty(n_columns, np.int32)
    flags = np.zeros((n_columns >> SHIFT) + 1, np.uint8)
    # Only the part that is written takes memory.
    bound = 0
    for w in range(first, last):
        bound += min((starts[w + 1] - starts[w]) * (len(weights) - 1), n_columns)
    indices = np.empty(bound, np.int32)
    data = np.empty(bound, np.int64)
    indptr = np.zeros(last - first + 1, np.int64)
    n_entries = 0
    for w in range(first, last):
        n_touched = 0
        for q in range(starts[w], starts[w + 1]):
            p = positions[q]
            if q + _AHEAD < len(positions):
                soon = np.int64(positions[q + _AHEAD])
                prefetch(tokens, soon)
                prefetch(tokens, soon + len(weights))
            for d in range(1, len(weights)):
                c = tokens[p + d]
                if c < 0:
                    break
                column = c + (d - 1) * stride
                if buffer[column] == 0:
                    touched[n_touched] = column
                    n_touched += 1
                buffer[column] += weights[d]
        n_entries = write_row(buffer, touched, n_touched, flags, indices, data, n_entries)
        indptr[w - first + 1] = n_entries
    return indptr, indices[:n_entries], data[:n_entries]
