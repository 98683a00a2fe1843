"""Counting the upper half of F + F' at once, without F.

All pairs of a row come together, as in ``_loops``: here each position looks both ways, and only
pairs with a column from the row on are kept. Few positions are sorted at a time, so the memory is
that of the text.
"""

import numpy as np

from eigentext.engine.compiled import njit
from eigentext.engine.intrinsics import prefetch
from eigentext.matrices.row_loops import SHIFT, write_row

_AHEAD = 16  # positions


@njit(cache=True, nogil=True)
def word_counts(tokens, n_words):
    """Equivalent to ``np.bincount(tokens[tokens >= 0], minlength=n_words)``."""
    counts = np.zeros(n_words, np.int64)
    for p in range(len(tokens)):
        if tokens[p] >= 0:
            counts[tokens[p]] += 1
    return counts


@njit(cache=True, nogil=True)
def positions_of(tokens, starts, first, last):
    """Equivalent to the positions of the words `first` to `last`, word by word.

    Word w has ``starts[w + 1] - starts[w]`` of them.
    """
    free = starts[first:last] - starts[first]
    positions = np.empty(starts[last] - starts[first], np.int32)
    for p in range(len(tokens)):
        w = tokens[p]
        if first <= w < last:
            positions[free[w - first]] = p
            free[w - first] += 1
    return positions


@njit(cache=True, nogil=True)
def count_upper(tokens, starts, positions, begin, weights, n_words, first, last, totals):
    """Equivalent to rows `first` to `last` of ``np.triu(F + F.T)``, as CSR with sorted columns.

    ``F[tokens[p], tokens[p + d]] += weights[d]`` for all p and d; a pair stops at a negative id.
    `positions` are those of the words from `begin` on. ``totals[first:last]`` become the sums of
    the whole rows of ``F + F.T``.
    """
    window = len(weights) - 1
    buffer = np.zeros(n_words, np.int64)
    touched = np.empty(n_words, np.int32)
    flags = np.zeros((n_words >> SHIFT) + 1, np.uint8)
    # Only the part that is written takes memory.
    bound = 0
    for w in range(first, last):
        bound += min((starts[w + 1] - starts[w]) * 2 * window, n_words - w)
    indices = np.empty(bound, np.int32)
    data = np.empty(bound, np.int64)
    indptr = np.zeros(last - first + 1, np.int64)
    n_entries = 0
    for w in range(first, last):
        n_touched = 0
        total = np.int64(0)
        for q in range(starts[w] - starts[begin], starts[w + 1] - starts[begin]):
            p = np.int64(positions[q])
            if q + _AHEAD < len(positions):
                soon = np.int64(positions[q + _AHEAD])
                prefetch(tokens, soon - window)
                prefetch(tokens, soon + window)
            for side in range(2):
                step = 1 - 2 * side
                most = min(window, p) if side else window
                for d in range(1, most + 1):
                    c = tokens[p + step * d]
                    if c < 0:
                        break
                    total += weights[d]
                    if c >= w:
                        if buffer[c] == 0:
                            touched[n_touched] = c
                            n_touched += 1
                        buffer[c] += weights[d]
        n_entries = write_row(buffer, touched, n_touched, flags, indices, data, n_entries)
        indptr[w - first + 1] = n_entries
        totals[w] = total
    return indptr, indices[:n_entries], data[:n_entries]
