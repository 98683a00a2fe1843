"""Compiled loops over two tries: that of a text's n-grams, and that of a basis."""

import numpy as np

from eigentext.engine.compiled import njit


@njit(cache=True, nogil=True)
def walk(text, basis, roots, edge, anchored, first, last, sizes, indices, data, fill):
    """Equivalent to ``row[s] = c(path of the root, then s)`` for every s of the basis.

    This is done for the nodes ``roots[first:last]`` of the text's trie. `text` are the begins,
    symbols and counts of its nodes: the children of node v are begins[v] to begins[v + 1], with
    rising symbols. `basis` are the begins, symbols and places of the nodes of the basis; a node
    that is no string of the basis has the place -1. If `anchored`, s must be followed by the edge.
    ``sizes[k]`` gets the number of entries of row k. With `fill`, the entries are written to
    `indices` and `data`, row after row.
    """
    begins, symbols, counts = text
    basis_begins, basis_symbols, places = basis
    stack = np.empty((len(basis_symbols) + 1, 2), np.int64)
    written = 0
    for k in range(first, last):
        size = 0
        stack[0, 0], stack[0, 1] = roots[k], 0
        height = 1
        while height > 0:
            height -= 1
            v, b = stack[height, 0], stack[height, 1]
            if places[b] >= 0:
                count = counts[v]
                if anchored:
                    # The edge is the largest symbol, so it is the last child.
                    count = counts[v] * 0
                    z = begins[v + 1] - 1
                    if z >= begins[v] and symbols[z] == edge:
                        count = counts[z]
                if count != 0:
                    if fill:
                        indices[written] = places[b]
                        data[written] = count
                        written += 1
                    size += 1
            p, p_end = begins[v], begins[v + 1]
            q, q_end = basis_begins[b], basis_begins[b + 1]
            while p < p_end and q < q_end:
                if symbols[p] < basis_symbols[q]:
                    p += 1
                elif symbols[p] > basis_symbols[q]:
                    q += 1
                else:
                    stack[height, 0], stack[height, 1] = p, q
                    height += 1
                    p += 1
                    q += 1
        sizes[k] = size


@njit(cache=True, nogil=True)
def sum_children(begins, symbols, counts, first, last, edge):
    """Equivalent to ``counts[v] = sum of counts of v's children, without the edge``, in place."""
    for v in range(first, last):
        total = counts[v] * 0
        for p in range(begins[v], begins[v + 1]):
            if symbols[p] != edge:
                total += counts[p]
        counts[v] = total
