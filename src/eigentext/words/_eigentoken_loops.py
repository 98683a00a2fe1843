"""Summing rows of context vectors over a window: the eigentokens of a text."""

from eigentext.engine.compiled import njit


@njit(cache=True, nogil=True)
def sum_contexts(ids, start, stop, places, B, out, row):
    """Equivalent to ``out[row + i] = sum(B[block, ids[p + offset]] for offset, block in places)``.

    p is the i-th word (id >= 0) among the positions `start` to `stop`. A negative id ends a unit,
    and places outside the unit of p are left out. Sums are in the order of `places`.
    """
    width = B.shape[2]
    farthest_left, farthest_right = 0, 0
    for k in range(len(places)):
        farthest_left = max(farthest_left, -places[k, 0])
        farthest_right = max(farthest_right, places[k, 0])
    for p in range(start, stop):
        if ids[p] < 0:
            continue
        left = 0
        while left < farthest_left and p > left and ids[p - left - 1] >= 0:
            left += 1
        right = 0
        while right < farthest_right and p + right + 1 < len(ids) and ids[p + right + 1] >= 0:
            right += 1
        for j in range(width):
            out[row, j] = 0
        for k in range(len(places)):
            offset, block = places[k, 0], places[k, 1]
            if -left <= offset <= right:
                c = ids[p + offset]
                for j in range(width):
                    out[row, j] += B[block, c, j]
        row += 1
