"""The compiled loop that joins pairs of tokens into phrases."""

import numpy as np

from eigentext.engine.compiled import njit


@njit(cache=True, nogil=True)
def join_pairs(
    tokens: np.ndarray,
    starts: np.ndarray,
    seconds: np.ndarray,
    names: np.ndarray,
    out: np.ndarray,
) -> int:
    """Equivalent to a scan from left to right that replaces each pair (a, b) by its name.

    The pairs that begin with a are ``seconds[starts[a] : starts[a + 1]]``, sorted, and their names
    are in the same places of `names`. Negative tokens belong to no pair. `out` has room for all
    tokens. Returns how many were written.
    """
    n = len(tokens)
    i = 0
    written = 0
    while i < n:
        a = tokens[i]
        found = -1
        if a >= 0 and i + 1 < n:
            b = tokens[i + 1]
            low = starts[a]
            high = starts[a + 1]
            while low < high:
                middle = (low + high) // 2
                if seconds[middle] < b:
                    low = middle + 1
                else:
                    high = middle
            if low < starts[a + 1] and seconds[low] == b:
                found = low
        if found >= 0:
            out[written] = names[found]
            i += 2
        else:
            out[written] = a
            i += 1
        written += 1
    return written
