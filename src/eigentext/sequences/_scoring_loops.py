"""Compiled loops that score text with n-grams in a trie (see `_kneser_ney_loops` for its layout).

The tokens of a block are looked up order by order: first all bigrams, then all trigrams whose
beginning is a bigram of the model, and so on. Within an order no search waits for another one, so
what the next searches will read is prefetched. Bigrams have an index, a table of hashes: a frequent
word has a hundred thousand successors. Longer n-grams have few successors and are searched.

The arrays may be maps of a file that nobody has checked. So every range of children is compared
with the borders of its order, and every number with its limits, when it is used. Whoever finds
something else returns False.
"""

import numpy as np

from eigentext.engine.compiled import njit
from eigentext.engine.intrinsics import prefetch

_CHUNK = 256  # tokens that are looked up together
_NEAR, _FAR = 6, 12  # tokens ahead
_FEW = 8  # so many successors are searched one by one
_MOST_P = 1.001  # rounding may give a probability of slightly more than 1
_MOST_B = 1e31  # the largest back-off weight of an ARPA file is 1e30


@njit(cache=True, nogil=True)
def hash_of(r, s):
    """Return a hash of two numbers below 2^31, below 2^63. No product overflows."""
    h = np.int64(r) * 1640531527 + np.int64(s) * 1274126177
    return ((h ^ (h >> 31)) & 0xFFFFFFFF) * 2135587861


@njit(cache=True, nogil=True)
def index_bigrams(first, words, n_symbols, slots, bits):
    """Equivalent to ``slots[hash of (r, s)] = place of the bigram r s + 1``, in the next free slot.

    The upper ``32 - bits`` bits of a slot are some of the hash's. Return the most slots that a
    search looks at.
    """
    shift, mask, most = _shift(len(slots)), len(slots) - 1, 1
    for r in range(n_symbols):
        for c in range(np.int64(first[r]), np.int64(first[r + 1])):
            h = hash_of(r, words[c])
            at, n = h >> shift, 1
            while slots[at] != 0:
                at, n = (at + 1) & mask, n + 1
            slots[at] = np.uint32(_tag(h, bits) | (c - n_symbols + 1))
            most = max(most, n + 1)
    return most


@njit(cache=True, nogil=True)
def score(
    ids, first, words, slots, bits, probes, p, b, top_p, top_b, p_book, b_book, borders,
    starts, edges, unknown, begin, end, scores,
):  # fmt: skip
    """Equivalent to ``scores[i] = log p(ids[i] | up to order - 1 symbols before it in its unit)``.

    The id -1 ends a unit. If `edges`, it is an event with the last symbol, the edge, and this
    symbol is also the context in which a unit begins; for the first unit only if `starts`. Other
    negative ids are unknown words, with the symbol before the edge; if not `unknown`, their score
    is nan. The scores of ids that are not events do not change.

    Without books, `p` and `b` have the numbers of all nodes. With them, `top_p` and `top_b` have
    those of the symbols, and ``p_book[k, p[node - n_symbols]]`` is that of a node of depth k + 1.

    Return False if the arrays are no trie with probabilities.
    """
    order, n = len(borders) - 1, borders[1]
    lead = order - 1
    width = min(_CHUNK, end - begin) + lead
    nodes = np.empty((order, width), np.int64)  # of the k + 1 symbols up to here; or -1
    cut = np.empty(width, np.bool_)  # whether a unit ends here
    hashes = np.empty(width, np.int64)
    shift = _shift(len(slots)) if len(slots) else 0
    for start in range(begin, end, _CHUNK):
        stop = min(start + _CHUNK, end)
        m = stop - start + lead
        place = start - lead  # of the first token that is looked up
        for j in range(m):
            i = place + j
            nodes[0, j], cut[j] = -1, False
            if i < 0:
                if i == -1 and starts:
                    nodes[0, j] = n - 1
                continue
            s = np.int64(ids[i])
            cut[j] = s == -1
            if s == -1:
                s = n - 1
            elif s < 0 or s >= n - 2:
                s = n - 2
            nodes[0, j] = s
            if order > 1 and j > 0 and len(slots):
                hashes[j] = hash_of(max(nodes[0, j - 1], 0), s)
                prefetch(slots, hashes[j] >> shift)
                prefetch(first, s)
        for k in range(1, order):
            for j in range(min(k, m)):
                nodes[k, j] = -1
            if not _find(
                first, words, slots, bits, probes, shift, p, b, top_p, borders, k, edges, m,
                nodes, cut, hashes,
            ):  # fmt: skip
                return False
        for j in range(lead, m):
            i = place + j
            if ids[i] == -1:
                if not edges or i == 0 or ids[i - 1] == -1:
                    continue
            elif ids[i] < 0 and not unknown:
                scores[i] = np.nan
                continue
            k = lead
            weight = 1.0
            while k > 0 and nodes[k, j] < 0:
                r = nodes[k - 1, j - 1]
                if r >= 0 and not (cut[j - 1] and (k > 1 or not edges)):
                    if b_book is None:
                        value = b[r]
                    elif k == 1:
                        value = top_b[r]
                    else:
                        value = b_book[k - 1, b[r - n] & (b_book.shape[1] - 1)]
                    if not 0.0 <= value <= _MOST_B:
                        return False
                    weight *= value
                k -= 1
            r = nodes[k, j]
            if p_book is None:
                value = p[r]
            elif k == 0:
                value = top_p[r]
            else:
                value = p_book[k, p[r - n] & (p_book.shape[1] - 1)]
            if not 0.0 <= value <= _MOST_P:
                return False
            value *= weight
            scores[i] = np.log(value) if value > 0 else -np.inf
    return True


@njit(cache=True, nogil=True)
def _find(
    first, words, slots, bits, probes, shift, p, b, top_p, borders, k, edges, m, nodes, cut, hashes
):
    """Find the nodes of depth k + 1 from those of depth k. Return False if there is no trie."""
    n, lowest, highest = borders[1], borders[k], borders[k + 1]
    n_contexts = len(first) - 1
    codes = len(p) - len(words)  # minus the number of symbols, if they have no codes
    mask = len(slots) - 1
    for j in range(k, m):
        ahead = j + _FAR
        if k > 1 and ahead < m and nodes[k - 1, ahead - 1] >= 0:
            prefetch(first, nodes[k - 1, ahead - 1])
        ahead = j + _NEAR
        if k > 1 and ahead < m and nodes[k - 1, ahead - 1] >= 0:
            low = np.int64(first[nodes[k - 1, ahead - 1]])
            if lowest <= low < highest:
                prefetch(words, low)
        r, s = nodes[k - 1, j - 1], nodes[0, j]
        nodes[k, j] = -1
        if r < 0 or s < 0 or (cut[j - 1] and (k > 1 or not edges)):
            continue
        low, high = np.int64(first[r]), np.int64(first[r + 1])
        if low < lowest or high > highest or high < low:
            return False
        child = np.int64(-1)
        if k == 1 and mask >= 0 and high - low > _FEW:
            h = hashes[j]
            at, tag, below = h >> shift, _tag(h, bits), (np.int64(1) << bits) - 1
            for _ in range(probes):
                slot = np.int64(slots[at])
                if slot == 0:
                    break
                if slot - (slot & below) == tag:
                    c = (slot & below) - 1 + n
                    if low <= c < high and words[c] == s:
                        child = c
                        break
                at = (at + 1) & mask
        else:
            high = min(high, low + s + 1)  # they rise: the one of symbol s has at most s before it
            while high - low > _FEW:
                middle = (low + high) // 2
                if words[middle] < s:
                    low = middle + 1
                else:
                    high = middle + 1
            while low < high and words[low] < s:
                low += 1
            if low < high and words[low] == s:
                child = low
        if child >= 0:
            nodes[k, j] = child
            prefetch(p, child + codes)
            if child < n_contexts:
                prefetch(first, child)
                prefetch(b, child + codes)
    return True


@njit(cache=True, nogil=True)
def _shift(n_slots):
    """Return 63 minus the logarithm of the number of slots."""
    shift = 63
    while n_slots > 1:
        n_slots //= 2
        shift -= 1
    return shift


@njit(cache=True, nogil=True)
def _tag(h, bits):
    """Return the part of a hash that a slot has above its place."""
    return ((h >> 5) & ((np.int64(1) << (32 - bits)) - 1)) << bits
