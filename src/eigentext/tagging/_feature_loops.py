"""Features as 64-bit keys, and a hash table from keys to features.

A key mixes the number of the template with the symbols of its parts. The probability that two
features out of a million have the same key is 5e-8. The table itself is exact.
"""

import numpy as np

from eigentext.engine.compiled import njit

_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio, the factor of Fibonacci hashing
_SHIFT = np.uint64(32)
BEFORE, AFTER = 0, 1  # symbols for positions outside the sentence; unknown symbols are -1


@njit(cache=True, nogil=True)
def template_keys(symbols, borders, parts, number, keys):
    """Equivalent to ``keys[t] = mix(number, [symbols[t + offset, a] for a, offset in parts])``.

    Here ``mix(key, [s, *rest]) = mix(h ^ (h >> 32), rest)`` with ``h = (key ^ s) * MIX``. Sentence
    s has the tokens from ``borders[s]`` to ``borders[s + 1] - 1``. Positions outside it have the
    symbols BEFORE and AFTER. If a symbol is unknown, the key is 0.
    """
    for s in range(len(borders) - 1):
        first, last = borders[s], borders[s + 1]
        for t in range(first, last):
            key = (np.uint64(number) + np.uint64(1)) * _MIX
            known = True
            for p in range(len(parts)):
                place = t + parts[p, 1]
                if place < first:
                    symbol = BEFORE
                elif place >= last:
                    symbol = AFTER
                else:
                    symbol = symbols[place, parts[p, 0]]
                if symbol < 0:
                    known = False
                    break
                key = (key ^ np.uint64(symbol)) * _MIX
                key ^= key >> _SHIFT
            keys[t] = key | np.uint64(1) if known else np.uint64(0)


@njit(cache=True, nogil=True)
def fill_table(keys, table, values):
    """Put key i into the table with the value i.

    Equivalent to ``dict(zip(keys, range(len(keys))))``. The length of `table` is a power of two.
    Free places are 0.
    """
    mask = np.uint64(len(table) - 1)
    for i in range(len(keys)):
        place = (keys[i] >> _SHIFT) & mask
        while table[place] != 0:
            place = (place + np.uint64(1)) & mask
        table[place] = keys[i]
        values[place] = i


@njit(cache=True, nogil=True)
def look_up(keys, table, values, found):
    """Equivalent to ``found[i] = dictionary.get(keys[i], -1)``. A key of 0 is never found."""
    mask = np.uint64(len(table) - 1)
    for i in range(len(keys)):
        key = keys[i]
        found[i] = -1
        if key == 0:
            continue
        place = (key >> _SHIFT) & mask
        while table[place] != 0:
            if table[place] == key:
                found[i] = values[place]
                break
            place = (place + np.uint64(1)) & mask
