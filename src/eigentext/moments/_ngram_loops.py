"""Counting n-grams: positions grouped by their first word, then by their second, and so on.

The positions of one node of the trie (the places where its n-gram begins) are together. A pass over
them counts the next symbol in a dense buffer, which gives the node's children in order. It also
puts the positions of each child together, ready for the next level. There is no hashing, and only
the distinct symbols are sorted. Tokens are prefetched as in `_loops`.
"""

import numpy as np

from eigentext.engine.compiled import njit
from eigentext.engine.intrinsics import prefetch

_FEW = 40  # up to this many symbols are sorted by insertion
_SHIFT = 6  # more of them by scanning the touched blocks of 64 symbols
_AHEAD = 16  # positions


@njit(cache=True, nogil=True)
def count_next(tokens, positions, starts, lengths, ends_in, depth, n_symbols, keep, first, last):
    """Equivalent to ``F[r, tokens[p + depth]] += 1`` for the positions p of node r, for all r.

    Those of node r are the ``lengths[r]`` positions from ``starts[r]``; with `keep` they are put in
    the order of the next symbol. A negative token is the last symbol, the edge of a unit; a node
    that ends in it (`ends_in`, beyond depth 1) has no next symbol. Returns the rows `first` to
    `last` of F as CSR with sorted columns: indptr, indices, data.
    """
    edge = n_symbols - 1
    buffer = np.zeros(n_symbols, np.int64)
    touched = np.empty(n_symbols, np.int32)
    flags = np.zeros((n_symbols >> _SHIFT) + 1, np.uint8)
    bound = largest = np.int64(0)
    for r in range(first, last):
        bound += lengths[r]
        largest = max(largest, lengths[r])
    # Only the part that is written takes memory.
    indices = np.empty(bound, np.int32)
    data = np.empty(bound, np.int64)
    indptr = np.zeros(last - first + 1, np.int64)
    symbols = np.empty(largest, np.int32)
    moved = np.empty(largest if keep else 0, np.int32)
    n_entries = 0
    for r in range(first, last):
        begin, end = starts[r], starts[r] + lengths[r]
        if depth == 1 or ends_in[r] != edge:
            n_touched = 0
            for q in range(begin, end):
                if q + _AHEAD < len(positions):
                    prefetch(tokens, np.int64(positions[q + _AHEAD]) + depth)
                s = tokens[positions[q] + depth]
                if s < 0:
                    s = edge
                symbols[q - begin] = s
                if buffer[s] == 0:
                    touched[n_touched] = s
                    n_touched += 1
                buffer[s] += 1
            _sort(touched, n_touched, buffer, flags)
            free = np.int64(0)
            for i in range(n_touched):
                s = touched[i]
                indices[n_entries] = s
                data[n_entries] = buffer[s]
                n_entries += 1
                buffer[s] = free
                free += data[n_entries - 1]
            if keep and n_touched > 1:
                for q in range(begin, end):
                    s = symbols[q - begin]
                    moved[buffer[s]] = positions[q]
                    buffer[s] += 1
                for q in range(begin, end):
                    positions[q] = moved[q - begin]
            for i in range(n_touched):
                buffer[touched[i]] = 0
        indptr[r - first + 1] = n_entries
    return indptr, indices[:n_entries], data[:n_entries]


@njit(cache=True, nogil=True)
def mark_present(indptr, indices, part_indptr, part_indices, first, last, present):
    """Equivalent to ``present[e] = the e-th entry of A is in B``, for B's columns among A's."""
    for r in range(first, last):
        p = indptr[r]
        for q in range(part_indptr[r], part_indptr[r + 1]):
            while indices[p] < part_indices[q]:
                p += 1
            present[p] = True


@njit(cache=True, nogil=True)
def relabel_nodes(indptr, indices, data, starts, sources, places, n_symbols, first, last):
    """Equivalent to ``B[new[r], places[c]] += A[r, c]``, for ``new[r] == w`` on the r of w.

    ``sources[starts[w]:starts[w + 1]]`` are the rows of A that make row w of B. Returns the rows
    `first` to `last` of B as CSR with sorted columns: indptr, indices, data.
    """
    buffer = np.zeros(n_symbols, np.int64)
    touched = np.empty(n_symbols, np.int32)
    flags = np.zeros((n_symbols >> _SHIFT) + 1, np.uint8)
    bound = 0
    for q in range(starts[first], starts[last]):
        bound += indptr[sources[q] + 1] - indptr[sources[q]]
    out_indices = np.empty(bound, np.int32)
    out_data = np.empty(bound, np.int64)
    out_indptr = np.zeros(last - first + 1, np.int64)
    n_entries = 0
    for w in range(first, last):
        n_touched = 0
        for q in range(starts[w], starts[w + 1]):
            r = sources[q]
            for p in range(indptr[r], indptr[r + 1]):
                s = places[indices[p]]
                if buffer[s] == 0:
                    touched[n_touched] = s
                    n_touched += 1
                buffer[s] += data[p]
        _sort(touched, n_touched, buffer, flags)
        for i in range(n_touched):
            out_indices[n_entries] = touched[i]
            out_data[n_entries] = buffer[touched[i]]
            buffer[touched[i]] = 0
            n_entries += 1
        out_indptr[w - first + 1] = n_entries
    return out_indptr, out_indices[:n_entries], out_data[:n_entries]


@njit(cache=True, nogil=True)
def find_entries(indptr, indices, rows, places, new_indptr, new_indices, first, last, found):
    """Equivalent to ``found[e] = f`` for entry e of A and the entry f of B it moved to.

    What is at (r, c) in A is at ``(rows[r], places[c])`` in B; for the rows `first` to `last` of A.
    """
    for r in range(first, last):
        for p in range(indptr[r], indptr[r + 1]):
            column = places[indices[p]]
            low, high = new_indptr[rows[r]], new_indptr[rows[r] + 1] - 1
            while low < high:
                middle = (low + high) // 2
                if new_indices[middle] < column:
                    low = middle + 1
                else:
                    high = middle
            found[p] = low


@njit(cache=True, nogil=True)
def _sort(touched, n_touched, buffer, flags):
    """Put the touched symbols in order: those with a count in `buffer`."""
    if n_touched <= _FEW:
        for i in range(1, n_touched):
            s = touched[i]
            j = i
            while j > 0 and touched[j - 1] > s:
                touched[j] = touched[j - 1]
                j -= 1
            touched[j] = s
        return
    for i in range(n_touched):
        flags[touched[i] >> _SHIFT] = 1
    n_touched = 0
    for block in range(len(flags)):
        if flags[block]:
            flags[block] = 0
            begin = block << _SHIFT
            for s in range(begin, min(begin + (1 << _SHIFT), len(buffer))):
                if buffer[s] != 0:
                    touched[n_touched] = s
                    n_touched += 1
