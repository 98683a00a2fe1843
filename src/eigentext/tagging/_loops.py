"""Compiled loops of linear models of tag sequences.

They compute local scores, the best tags and marginals, and run one pass of the perceptron. With
tags y and features Phi, a tagging has the score

    sum over t of  sum_k W[features[t, k], y_t] + sum_p D[rows of p, y_t] . x_p + T[y_t-1, y_t].

Before the first token, y is m, the last row of T. Forbidden transitions are -inf in T.
"""

import numpy as np

from eigentext.engine.compiled import njit


@njit(cache=True, nogil=True)
def local_scores(first, last, features, values, starts, places, widths, W, D, begin, out):
    """Equivalent, for the tokens t of the sentence from `first` to ``last - 1``, to

    ``out[t - begin] = sum(W[f] for f in features[t] if f >= 0)
    + sum(x(t, p) @ D[row : row + len(x(t, p))] for p, (source, offset, row) in places)``,

    where x(t, p) is the vector of the token at t + offset, ``values[start:start + width]``. Nothing
    is added for positions outside the sentence and for tokens without a vector (start -1).
    """
    m = W.shape[1]
    for t in range(first, last):
        row = out[t - begin]
        for y in range(m):
            row[y] = 0
        for k in range(features.shape[1]):
            f = features[t, k]
            if f >= 0:
                weights = W[f]
                for y in range(m):
                    row[y] += weights[y]
        for p in range(len(places)):
            place = t + places[p, 1]
            if place < first or place >= last:
                continue
            start = starts[place, places[p, 0]]
            if start < 0:
                continue
            for j in range(widths[places[p, 0]]):
                x = values[start + j]
                weights = D[places[p, 2] + j]
                for y in range(m):
                    row[y] += x * weights[y]


@njit(cache=True, nogil=True)
def all_scores(borders, features, values, starts, places, widths, W, D, out):
    """Equivalent to :func:`local_scores` of every sentence."""
    for s in range(len(borders) - 1):
        first, last = borders[s], borders[s + 1]
        local_scores(first, last, features, values, starts, places, widths, W, D, 0, out)


@njit(cache=True, nogil=True)
def viterbi(scores, n, T, end, best, back, tags):
    """Equivalent to ``tags[:n] = argmax`` of the sum of local scores, transitions and ``end``.

    `best` (2 x m) and `back` (n x m) are working arrays. Of equal scores the first tag wins,
    beginning with the last token.
    """
    m = scores.shape[1]
    for y in range(m):
        best[0, y] = T[m, y] + scores[0, y]
    for t in range(1, n):
        old, new = best[(t - 1) % 2], best[t % 2]
        origin = back[t]
        for y in range(m):
            new[y] = -np.inf
            origin[y] = 0
        for a in range(m):
            before, row = old[a], T[a]
            if before == -np.inf:
                continue
            for y in range(m):
                value = before + row[y]
                if value > new[y]:
                    new[y] = value
                    origin[y] = a
        for y in range(m):
            new[y] += scores[t, y]
    final = best[(n - 1) % 2]
    z, most = 0, -np.inf
    for y in range(m):
        if final[y] + end[y] > most:
            z, most = y, final[y] + end[y]
    for t in range(n - 1, -1, -1):
        tags[t] = z
        z = back[t, z]
    return most


@njit(cache=True, nogil=True)
def best_tags(scores, borders, T, end, tags):
    """Equivalent to :func:`viterbi` for every sentence."""
    m, longest = scores.shape[1], 0
    for s in range(len(borders) - 1):
        longest = max(longest, borders[s + 1] - borders[s])
    best, back = np.empty((2, m), scores.dtype), np.zeros((longest, m), np.int32)
    for s in range(len(borders) - 1):
        first, last = borders[s], borders[s + 1]
        if last > first:
            viterbi(scores[first:last], last - first, T, end, best, back, tags[first:last])


@njit(cache=True, nogil=True)
def posteriors(scores, borders, T, end, out, totals):
    """Equivalent to ``out[t, y] = p(y_t = y)`` under p(tagging) = exp(score - total).

    ``totals[s]`` is the logarithm of the sum of exp(score) over all taggings of sentence s.
    """
    m, longest = scores.shape[1], 1
    for s in range(len(borders) - 1):
        longest = max(longest, borders[s + 1] - borders[s])
    alpha, beta, sums = np.empty((longest, m)), np.empty((longest, m)), np.empty(m)
    for s in range(len(borders) - 1):
        first, n = borders[s], borders[s + 1] - borders[s]
        for y in range(m):
            alpha[0, y] = T[m, y] + scores[first, y]
            beta[n - 1, y] = end[y]
        for t in range(1, n):
            for y in range(m):
                for a in range(m):
                    sums[a] = alpha[t - 1, a] + T[a, y]
                alpha[t, y] = _log_sum(sums) + scores[first + t, y]
        for t in range(n - 2, -1, -1):
            for a in range(m):
                for y in range(m):
                    sums[y] = T[a, y] + scores[first + t + 1, y] + beta[t + 1, y]
                beta[t, a] = _log_sum(sums)
        for y in range(m):
            sums[y] = alpha[n - 1, y] + end[y]
        totals[s] = _log_sum(sums)
        for t in range(n):
            for y in range(m):
                out[first + t, y] = np.exp(alpha[t, y] + beta[t, y] - totals[s])


@njit(cache=True, nogil=True)
def backward(scores, borders, T, end, out):
    """Equivalent to ``out[t, y] =`` log of the sum of exp(score) over all tags after t, if y_t = y.

    The score of tags after t has no part of y_t but the transition from it. The last token of a
    sentence has ``end``.
    """
    m = scores.shape[1]
    sums = np.empty(m)
    for s in range(len(borders) - 1):
        first, last = borders[s], borders[s + 1]
        for t in range(last - 1, first - 1, -1):
            for a in range(m):
                out[t, a] = end[a]
                if t < last - 1:
                    for y in range(m):
                        sums[y] = T[a, y] + scores[t + 1, y] + out[t + 1, y]
                    out[t, a] = _log_sum(sums)


@njit(cache=True, nogil=True)
def _log_sum(x):
    """Equivalent to ``np.logaddexp.reduce(x)``."""
    top = -np.inf
    for i in range(len(x)):
        top = max(top, x[i])
    if top == -np.inf:
        return top
    total = 0.0
    for i in range(len(x)):
        total += np.exp(x[i] - top)
    return top + np.log(total)


@njit(cache=True, nogil=True)
def perceptron_epoch(
    order, borders, features, values, starts, places, widths, gold, margin,
    W, D, T, end, W_sum, D_sum, T_sum, step,
):  # fmt: skip
    """Make one pass over the sentences in `order`; return the numbers of wrong sentences and tags.

    Let y be the right tags of a sentence, and z the best tags if each wrong tag gets `margin` more.
    Equivalent to ``weights += Phi(y) - Phi(z)`` and ``sum += step * (Phi(y) - Phi(z))`` for each
    sentence, where step is the number of sentences before it. The mean of the weights after each
    sentence is then ``weights - sum / steps``.
    """
    m, longest = W.shape[1], 0
    for s in range(len(borders) - 1):
        longest = max(longest, borders[s + 1] - borders[s])
    scores, best = np.empty((longest, m), W.dtype), np.empty((2, m), W.dtype)
    back, tags = np.zeros((longest, m), np.int32), np.empty(longest, np.int32)
    n_wrong, n_wrong_tags = 0, 0
    for i in range(len(order)):
        s, seen = order[i], step + i
        first, last = borders[s], borders[s + 1]
        n = last - first
        local_scores(first, last, features, values, starts, places, widths, W, D, first, scores)
        if margin > 0:
            for t in range(n):
                for y in range(m):
                    scores[t, y] += margin
                scores[t, gold[first + t]] -= margin
        viterbi(scores, n, T, end, best, back, tags)
        wrong = 0
        for t in range(n):
            wrong += tags[t] != gold[first + t]
        if wrong == 0:
            continue
        n_wrong += 1
        n_wrong_tags += wrong
        y_before, z_before = m, m
        for t in range(first, last):
            y, z = gold[t], tags[t - first]
            if y != z or y_before != z_before:
                T[y_before, y] += 1
                T[z_before, z] -= 1
                T_sum[y_before, y] += seen
                T_sum[z_before, z] -= seen
            y_before, z_before = y, z
            if y == z:
                continue
            for k in range(features.shape[1]):
                f = features[t, k]
                if f >= 0:
                    W[f, y] += 1
                    W[f, z] -= 1
                    W_sum[f, y] += seen
                    W_sum[f, z] -= seen
            for p in range(len(places)):
                place = t + places[p, 1]
                if place < first or place >= last:
                    continue
                start = starts[place, places[p, 0]]
                if start < 0:
                    continue
                for j in range(widths[places[p, 0]]):
                    x, row = values[start + j], places[p, 2] + j
                    D[row, y] += x
                    D[row, z] -= x
                    D_sum[row, y] += seen * x
                    D_sum[row, z] -= seen * x
    return n_wrong, n_wrong_tags
