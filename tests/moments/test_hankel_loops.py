"""Compiled walks over tries, compared with plain counting."""

import numpy as np

from eigentext.moments._hankel_loops import sum_children, walk
from eigentext.moments.hankel import basis_trie

# The n-grams of "0 1 #" (edge 2): the root, then 0, 1, 2, then 01, 12, 20, and 012 under 01.
BEGINS = np.array([1, 4, 5, 6, 7, 8, 8, 8, 8], np.int64)
SYMBOLS = np.array([0, 0, 1, 2, 1, 2, 0, 2], np.int32)
COUNTS = np.array([3, 1, 1, 1, 1, 1, 1, 1], np.int64)


def rows(roots, strings, *, anchored):
    text, roots = (BEGINS, SYMBOLS, COUNTS), np.array(roots)
    sizes = np.zeros(len(roots), np.int64)
    indices, data = np.zeros(99, np.int32), np.zeros(99, np.int64)
    walk(text, basis_trie(strings), roots, 2, anchored, 0, len(roots), sizes, indices, data, True)
    found = np.zeros((len(roots), len(strings)), int)
    begin = 0
    for k, size in enumerate(sizes):
        found[k, indices[begin : begin + size]] = data[begin : begin + size]
        begin += size
    counted = np.zeros(len(roots), np.int64)
    nothing = np.zeros(0, np.int32), np.zeros(0, np.int64)
    walk(text, basis_trie(strings), roots, 2, anchored, 0, len(roots), counted, *nothing, False)
    assert np.array_equal(counted, sizes)
    return found.tolist()


def test_strings_below_nodes():
    strings = [(), (0,), (1,), (0, 1), (1, 1)]
    assert rows([0, 1, 3], strings, anchored=False) == [
        [3, 1, 1, 1, 0],
        [1, 0, 1, 0, 0],
        [1, 1, 0, 0, 0],
    ]
    # Before an edge: the empty string after the root and after 01, and 1 after 0.
    assert rows([0, 1, 4], strings, anchored=True) == [
        [1, 0, 1, 1, 0],
        [0, 0, 1, 0, 0],
        [1, 0, 0, 0, 0],
    ]


def test_sums_of_children():
    counts = COUNTS.copy()
    sum_children(BEGINS, SYMBOLS, counts, 0, 4, 2)
    assert counts.tolist() == [2, 1, 0, 1, 1, 1, 1, 1]
