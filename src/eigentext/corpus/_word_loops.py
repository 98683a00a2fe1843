"""Compiled loops that find words by their bytes, in a table of hashes that may be a map.

Nobody has checked the arrays of a map. So every offset is compared with its limits when it is used.
"""

import numpy as np

from eigentext.engine.compiled import njit


@njit(cache=True, nogil=True)
def hash_bytes(text, begin, end):
    """Return a hash of some bytes (that of Fowler, Noll and Vo), below 2^32."""
    h = np.int64(2166136261)
    for i in range(begin, end):
        h = ((h ^ np.int64(text[i])) * 16777619) & 0xFFFFFFFF
    h ^= h >> 15
    return (h * 2135587861) & 0xFFFFFFFF


@njit(cache=True, nogil=True)
def index_words(utf8, offsets, slots, bits):
    """Equivalent to ``slots[hash of word w] = w + 1``, in the next free slot.

    The upper ``32 - bits`` bits of a slot are some of the hash's. Return the most slots that a
    search looks at.
    """
    mask, most = len(slots) - 1, 1
    for w in range(len(offsets) - 1):
        h = hash_bytes(utf8, offsets[w], offsets[w + 1])
        at, n = (h ^ (h >> 16)) & mask, 1
        while slots[at] != 0:
            at, n = (at + 1) & mask, n + 1
        slots[at] = np.uint32((h >> bits << bits) | (w + 1))
        most = max(most, n + 1)
    return most


@njit(cache=True, nogil=True)
def find_words(text, separator, utf8, offsets, slots, bits, probes, unknown, found):
    """Equivalent to ``found[i] = place of the i-th word of text``, or `unknown`.

    The byte `separator` separates the words of the text; -1 if it is one word. Return the number of
    words; those beyond the length of `found` are not looked up.
    """
    mask, below = len(slots) - 1, (np.int64(1) << bits) - 1
    n_found = begin = 0
    for i in range(len(text) + 1):
        if i < len(text) and text[i] != separator:
            continue
        if n_found < len(found):
            found[n_found] = unknown
            h = hash_bytes(text, begin, i)
            at = (h ^ (h >> 16)) & mask
            for _ in range(probes):
                slot = np.int64(slots[at])
                if slot == 0:
                    break
                w = (slot & below) - 1
                if slot >> bits == h >> bits and 0 <= w < len(offsets) - 1:
                    start, stop = offsets[w], offsets[w + 1]
                    if 0 <= start <= stop <= len(utf8) and stop - start == i - begin:
                        same = True
                        for k in range(i - begin):
                            if utf8[start + k] != text[begin + k]:
                                same = False
                                break
                        if same:
                            found[n_found] = w
                            break
                at = (at + 1) & mask
        n_found += 1
        begin = i + 1
    return n_found
