"""Compiled loops of the distribution over the trees of a forest: weights upwards, shares downwards.

``bounds[i]:bounds[i + 1]`` are the edges of item i. An item without edges is a leaf. Children come
before parents.
"""

from math import exp, log

import numpy as np

from eigentext.engine.compiled import njit


@njit(cache=True, nogil=True)
def log_weights(bounds, left, right, scores, beta, shares):
    """Equivalent to ``shares[e] = log c(e)`` of each edge, and the sum ``Z`` of each item, as logs.

    With ``q(e) = scores[e] / sum(scores[bounds[i]:bounds[i + 1]])``, and equal shares if that sum
    is zero: ``Z(i) = sum(q(e) ** beta * Z(left[e]) * Z(right[e]))``, ``Z = 1`` at leaves, and
    ``c(e) = q(e) ** beta * Z(left[e]) * Z(right[e]) / Z(i)``. Scores are zero or more. Returns Z.
    """
    n = len(bounds) - 1
    sums = np.zeros(n)
    for i in range(n):
        first, end = bounds[i], bounds[i + 1]
        if first == end:
            continue
        total = 0.0
        for e in range(first, end):
            total += scores[e]
        top = -np.inf
        for e in range(first, end):
            if total > 0.0:
                q = log(scores[e]) - log(total) if scores[e] > 0.0 else -np.inf
            else:
                q = -log(end - first)
            shares[e] = beta * q + (sums[left[e]] + sums[right[e]])
            top = max(top, shares[e])
        z = 0.0
        for e in range(first, end):
            z += exp(shares[e] - top)
        sums[i] = top + log(z)
        for e in range(first, end):
            shares[e] -= sums[i]
    return sums


@njit(cache=True, nogil=True)
def push_down(bounds, left, right, shares, posteriors):
    """Equivalent to adding ``posteriors[i] * exp(shares[e])`` to both children of each edge of i.

    Items are visited from the last to the first. The posteriors of the roots are given.
    """
    for i in range(len(bounds) - 2, -1, -1):
        if posteriors[i] > 0.0:
            for e in range(bounds[i], bounds[i + 1]):
                p = posteriors[i] * exp(shares[e])
                posteriors[left[e]] += p
                posteriors[right[e]] += p
