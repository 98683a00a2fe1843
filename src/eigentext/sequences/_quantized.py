"""Probabilities and back-off weights in few bits (Federico and Bertoldi 2006).

The numbers of each order are divided into 2^q bins, and a number is replaced by the center of its
bin. Half of the borders begin at equal numbers of n-grams, as KenLM's do, and half at equal widths.
Then a few steps of Lloyd (1982) move them, so that the squared errors of the logarithms become
smaller. Zeros and ones keep
their own bins. The numbers of single symbols stay as they are.
"""

import numpy as np

from eigentext.parameters import Count
from eigentext.sequences._trie import Books, Tables

BITS = Count(None, least=2, most=16)
_STEPS = 12  # of Lloyd
_MOST = 1 << 22  # numbers of an order that decide its bins: every k-th of more


def quantized(tables: Tables, bits: int) -> Tables:
    """Return tables whose numbers beyond single symbols have `bits` bits."""
    trie, n = tables.trie, tables.trie.n_symbols
    kind = np.uint8 if bits <= 8 else np.uint16
    borders, order = trie.borders, trie.order
    p_book, b_book = np.zeros((2, order, 1 << bits))
    p = np.zeros(borders[-1] - n, kind)
    b = np.zeros(max(borders[-2] - n, 0), kind)
    for k in range(1, order):
        nodes = slice(borders[k], borders[k + 1])
        codes = slice(borders[k] - n, borders[k + 1] - n)
        p_book[k], p[codes] = encoded(tables.p_of(nodes, k + 1), bits)
        if k < order - 1:
            b_book[k], b[codes] = encoded(tables.b_of(nodes, k + 1), bits)
    symbols = slice(0, n)
    weights = tables.b_of(symbols, 1) if order > 1 else np.zeros(n)
    books = Books(tables.p_of(symbols, 1), weights, p_book, b_book)
    return Tables(trie, p, b, books, tables.saved_index)


def encoded(values: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the centers of 2^bits bins, and the bin of each value.

    Examples
    --------
    >>> import numpy as np
    >>> centers, codes = encoded(np.array([0.5, 0.25, 1.0, 0.5, 0.0]), 3)
    >>> centers[codes].round(6).tolist()
    [0.5, 0.25, 1.0, 0.5, 0.0]
    """
    book = np.zeros(1 << bits)
    if len(values) == 0:
        return book, np.zeros(0, np.uint16)
    with np.errstate(divide="ignore"):
        logs = np.log(values).astype(np.float32)
    some = np.sort(logs[:: -(-len(logs) // _MOST)])
    some = some[np.isfinite(some) & (some != 0)].astype(np.float64)
    free = len(book) - 2  # without those of 0 and of 1
    centers = _centers(some, free) if len(some) else np.zeros(0)
    # The code 0 is a probability or weight of 0, the last code is 1.
    book[1 : 1 + len(centers)] = np.exp(centers)
    book[-1] = 1.0
    middles = ((centers[1:] + centers[:-1]) / 2).astype(np.float32)
    kind = np.uint8 if bits <= 8 else np.uint16
    codes = np.empty(len(logs), kind)
    for start in range(0, len(logs), _MOST):
        part = logs[start : start + _MOST]
        found = np.searchsorted(middles, part, side="right") + 1
        found[part == 0] = len(book) - 1
        found[np.isneginf(part)] = 0
        codes[start : start + _MOST] = found
    return book, codes


def _centers(some: np.ndarray, n_bins: int) -> np.ndarray:
    """Return the means of bins of sorted numbers: equal in number first, then by Lloyd's steps."""
    distinct = np.unique(some)
    if len(distinct) <= n_bins:
        return distinct
    sums = np.concatenate([[0.0], np.cumsum(some)])
    # Half of the bins have equal numbers, the others equal widths: frequent n-grams are few, and
    # bins of equal numbers would be widest where most tokens are.
    half = n_bins // 2
    equal = np.linspace(0, len(some), n_bins - half + 1).round().astype(np.int64)
    wide = np.searchsorted(some, np.linspace(some[0], some[-1], half + 2)[1:-1])
    centers = _means(sums, np.append(equal, wide))
    for _ in range(_STEPS):
        cuts = np.searchsorted(some, (centers[1:] + centers[:-1]) / 2)
        centers = _means(sums, np.concatenate([[0], cuts, [len(some)]]))
    return centers


def _means(sums: np.ndarray, ends: np.ndarray) -> np.ndarray:
    ends = np.unique(ends)  # without empty bins
    return np.diff(sums[ends]) / np.diff(ends)
