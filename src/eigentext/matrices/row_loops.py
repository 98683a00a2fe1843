"""Compiled loops that other loops call: rows from a dense buffer, positions by word."""

import numpy as np

from eigentext.engine.compiled import njit

_FEW = 40  # a row of up to this many entries is sorted by insertion
SHIFT = 6  # a longer row by scanning the touched blocks of 64 columns


@njit(cache=True, nogil=True)
def sort_positions(tokens, n_positions, n_words):
    """Equivalent to a stable argsort of the ids >= 0 in ``tokens[:n_positions]``, with row starts.

    Returns ``starts`` (n_words + 1) and ``positions``: those of word w are
    ``positions[starts[w]:starts[w + 1]]``.
    """
    starts = np.zeros(n_words + 1, np.int64)
    for p in range(n_positions):
        if tokens[p] >= 0:
            starts[tokens[p] + 1] += 1
    for w in range(n_words):
        starts[w + 1] += starts[w]
    free = starts.copy()
    positions = np.empty(starts[n_words], np.int32)
    for p in range(n_positions):
        w = tokens[p]
        if w >= 0:
            positions[free[w]] = p
            free[w] += 1
    return starts, positions


@njit(cache=True, nogil=True)
def write_row(buffer, touched, n_touched, flags, indices, data, n_entries):
    """Append the touched entries in the order of their columns, and clear the buffer.

    Equivalent to ``indices[n:], data[n:] = flatnonzero(buffer), buffer[buffer != 0]``.
    """
    if n_touched <= _FEW:
        for i in range(1, n_touched):
            column = touched[i]
            j = i
            while j > 0 and touched[j - 1] > column:
                touched[j] = touched[j - 1]
                j -= 1
            touched[j] = column
        for i in range(n_touched):
            column = touched[i]
            indices[n_entries] = column
            data[n_entries] = buffer[column]
            buffer[column] = 0
            n_entries += 1
        return n_entries
    for i in range(n_touched):
        flags[touched[i] >> SHIFT] = 1
    for block in range(len(flags)):
        if flags[block] == 0:
            continue
        flags[block] = 0
        first = block << SHIFT
        for column in range(first, min(first + (1 << SHIFT), len(buffer))):
            if buffer[column] != 0:
                indices[n_entries] = column
                data[n_entries] = buffer[column]
                buffer[column] = 0
                n_entries += 1
    return n_entries
