"""Compiled loops of refinement HMMs: expectation, inference over labels and states, averages.

Labels have the numbers from 0 to S - 1, and S stands before and after a sentence. A label a has
``sizes[a]`` states. All tables have room for the largest number of states, M.

The transition from label a to label b is the matrix ``flat[a, b] one[a] mean[b]^T + seen[a, b]
blocks[place[a, b]]``, where the second part is absent if ``place[a, b] < 0``.
"""

import numpy as np

from eigentext.engine.compiled import njit


@njit(cache=True, nogil=True)
def expect(first, last, begins, label, pair, into, after, sizes, o, t, shares, moves):
    """Add the expected counts of the sentences `first` to `last`, and return their log-likelihood.

    Equivalent to the sum, over all states h of a sentence's tokens, of p(h | words, labels) times
    the number of times that h emits the pair e of a word and a label (``shares[e, h_j]``) and goes
    through the bigram g of labels (``moves[g, h_i, h_j]``). For token j, ``pair[j]`` is its pair
    and ``into[j]`` the bigram that ends in it. ``after[s]`` is the last bigram of sentence s.
    """
    longest = 0
    for s in range(first, last):
        longest = max(longest, begins[s + 1] - begins[s])
    width = o.shape[1]
    alpha, scale = np.zeros((longest, width)), np.zeros(longest)
    beta, ahead = np.zeros(width), np.zeros(width)
    log_likelihood = 0.0
    for s in range(first, last):
        begin, length = begins[s], begins[s + 1] - begins[s]
        for i in range(length):
            j = begin + i
            n, g, e = sizes[label[j]], into[j], pair[j]
            before = 1 if i == 0 else sizes[label[j - 1]]
            total = 0.0
            for h in range(n):
                value = 0.0
                if i == 0:
                    value = t[g, 0, h]
                else:
                    for u in range(before):
                        value += alpha[i - 1, u] * t[g, u, h]
                alpha[i, h] = value * o[e, h]
                total += alpha[i, h]
            scale[i] = total
            for h in range(n):
                alpha[i, h] /= total
            log_likelihood += np.log(total)
        n, g = sizes[label[begin + length - 1]], after[s]
        total = 0.0
        for h in range(n):
            total += alpha[length - 1, h] * t[g, h, 0]
        log_likelihood += np.log(total)
        for h in range(n):
            beta[h] = t[g, h, 0] / total
            moves[g, h, 0] += alpha[length - 1, h] * beta[h]
        for i in range(length - 1, -1, -1):
            j = begin + i
            n, g, e = sizes[label[j]], into[j], pair[j]
            for h in range(n):
                shares[e, h] += alpha[i, h] * beta[h]
                ahead[h] = o[e, h] * beta[h] / scale[i]
            if i == 0:
                for h in range(n):
                    moves[g, 0, h] += t[g, 0, h] * ahead[h]
                continue
            for u in range(sizes[label[j - 1]]):
                value = 0.0
                for h in range(n):
                    value += t[g, u, h] * ahead[h]
                    moves[g, u, h] += alpha[i - 1, u] * t[g, u, h] * ahead[h]
                beta[u] = value
    return log_likelihood


@njit(cache=True, nogil=True)
def infer(
    active, border, weight, emitted, sizes, one, mean, flat, seen, place, blocks,
    alpha, beta, marginals, pairs,
):  # fmt: skip
    """Fill in the forward and backward vectors and the marginals. Return log p(words), and a sign.

    Equivalent to the sum of the weights of all sequences of labels and states, where position t has
    the labels ``active[k]`` for k from ``border[t]`` to ``border[t + 1] - 1``, and label k emits by
    the matrix ``weight[k] * emitted[k]``, or the diagonal matrix if ``emitted.shape[2]`` is 1.
    ``marginals[k]`` is the share of the sequences through k, and `pairs` that of each k and each
    label after it. If all weights are zero, the sign is 0. Operators can have negative sums. Then
    the sign is -1.
    """
    n, width, is_diagonal = len(border) - 1, one.shape[1], emitted.shape[2] == 1
    end = len(sizes) - 1
    plain = np.zeros(len(active))  # alpha one; then mean ahead
    ahead = np.zeros((len(active), width))
    scale = np.ones(n)
    vector = np.zeros(width)
    log_total = 0.0
    for t in range(n):
        total = 0.0
        for k in range(border[t], border[t + 1]):
            b = active[k]
            m = sizes[b]
            for j in range(m):
                vector[j] = 0.0
            rest = 0.0
            if t == 0:
                rest = flat[end, b]
                if place[end, b] >= 0:
                    for j in range(m):
                        vector[j] = seen[end, b] * blocks[place[end, b], 0, j]
            else:
                for l in range(border[t - 1], border[t]):  # noqa: E741
                    a = active[l]
                    rest += flat[a, b] * plain[l]
                    g = place[a, b]
                    if g >= 0:
                        for i in range(sizes[a]):
                            value = seen[a, b] * alpha[l, i]
                            for j in range(m):
                                vector[j] += value * blocks[g, i, j]
            for j in range(m):
                vector[j] += rest * mean[b, j]
            value = 0.0
            for j in range(m):
                if is_diagonal:
                    alpha[k, j] = weight[k] * vector[j] * emitted[k, j, 0]
                else:
                    alpha[k, j] = 0.0
                    for i in range(m):
                        alpha[k, j] += weight[k] * vector[i] * emitted[k, i, j]
                value += alpha[k, j] * one[b, j]
            plain[k] = value
            total += abs(value)
        if not total > 0.0:
            return -np.inf, 0
        scale[t] = total
        log_total += np.log(total)
        for k in range(border[t], border[t + 1]):
            plain[k] /= total
            for j in range(sizes[active[k]]):
                alpha[k, j] /= total
    z = 0.0
    for k in range(border[n - 1], border[n]):
        a = active[k]
        for i in range(sizes[a]):
            beta[k, i] = flat[a, end] * one[a, i]
            if place[a, end] >= 0:
                beta[k, i] += seen[a, end] * blocks[place[a, end], i, 0]
            z += alpha[k, i] * beta[k, i]
    if z == 0.0 or not np.isfinite(z):
        return -np.inf, 0
    for k in range(border[n - 1], border[n]):
        for i in range(sizes[active[k]]):
            beta[k, i] /= z
    p = len(pairs)
    for t in range(n - 1, -1, -1):
        for k in range(border[t], border[t + 1]):
            b = active[k]
            m = sizes[b]
            marginals[k] = 0.0
            for j in range(m):
                marginals[k] += alpha[k, j] * beta[k, j]
            value = 0.0
            for i in range(m):
                if is_diagonal:
                    ahead[k, i] = emitted[k, i, 0] * beta[k, i]
                else:
                    ahead[k, i] = 0.0
                    for j in range(m):
                        ahead[k, i] += emitted[k, i, j] * beta[k, j]
                ahead[k, i] *= weight[k] / scale[t]
                value += mean[b, i] * ahead[k, i]
            plain[k] = value  # alpha one is not needed any more
        if t == 0:
            break
        p -= (border[t + 1] - border[t]) * (border[t] - border[t - 1])
        q = p
        for l in range(border[t - 1], border[t]):  # noqa: E741
            a = active[l]
            through = 0.0  # alpha one
            for i in range(sizes[a]):
                beta[l, i] = 0.0
                through += alpha[l, i] * one[a, i]
            for k in range(border[t], border[t + 1]):
                b, g = active[k], place[a, active[k]]
                rest = flat[a, b] * plain[k]
                share = rest * through
                for i in range(sizes[a]):
                    value = rest * one[a, i]
                    if g >= 0:
                        product = 0.0
                        for j in range(sizes[b]):
                            product += blocks[g, i, j] * ahead[k, j]
                        product *= seen[a, b]
                        value += product
                        share += alpha[l, i] * product
                    beta[l, i] += value
                pairs[q] = share
                q += 1
    return log_total + np.log(abs(z)), 1 if z > 0.0 else -1


@njit(cache=True, nogil=True)
def best_states(
    active, border, weight, emitted, sizes, one, mean, flat, seen, place, blocks, labels, states
):  # fmt: skip
    """Fill in the most probable labels and states. Return the log-probability, or -inf.

    Equivalent to the best of all sequences whose sum :func:`infer` returns, for proper
    probabilities. The emissions are diagonal.
    """
    n, width, end = len(border) - 1, one.shape[1], len(sizes) - 1
    delta, back = np.zeros((len(active), width)), np.zeros((len(active), width), np.int64)
    log_total = 0.0
    for t in range(n):
        largest = 0.0
        for k in range(border[t], border[t + 1]):
            b = active[k]
            for j in range(sizes[b]):
                best, where = 0.0, 0
                if t == 0:
                    best = flat[end, b] * mean[b, j]
                    if place[end, b] >= 0:
                        best += seen[end, b] * blocks[place[end, b], 0, j]
                else:
                    for l in range(border[t - 1], border[t]):  # noqa: E741
                        a = active[l]
                        g = place[a, b]
                        for i in range(sizes[a]):
                            value = flat[a, b] * one[a, i] * mean[b, j]
                            if g >= 0:
                                value += seen[a, b] * blocks[g, i, j]
                            value *= delta[l, i]
                            if value > best:
                                best, where = value, l * width + i
                delta[k, j] = best * weight[k] * emitted[k, j, 0]
                back[k, j] = where
                largest = max(largest, delta[k, j])
        if not largest > 0.0:
            return -np.inf
        log_total += np.log(largest)
        for k in range(border[t], border[t + 1]):
            for j in range(sizes[active[k]]):
                delta[k, j] /= largest
    best, where = 0.0, -1
    for k in range(border[n - 1], border[n]):
        a = active[k]
        for i in range(sizes[a]):
            value = flat[a, end] * one[a, i]
            if place[a, end] >= 0:
                value += seen[a, end] * blocks[place[a, end], i, 0]
            value *= delta[k, i]
            if value > best:
                best, where = value, k * width + i
    if where < 0:
        return -np.inf
    for t in range(n - 1, -1, -1):
        labels[t], states[t] = active[where // width], where % width
        where = back[where // width, where % width]
    return log_total + np.log(best)


@njit(cache=True, nogil=True)
def best_pairs(active, border, marginals, pairs, allowed, path):
    """Fill in the labels whose pairs have the largest sum of marginals. Return this sum, or -inf.

    Equivalent to the best of all sequences of labels, each after one that allows it
    (``allowed[a, b]``; the last row and column are for the start and the end), by the sum of
    `pairs`, and of ``marginals`` if there is one word only.
    """
    n, end = len(border) - 1, len(allowed) - 1
    score, back = np.full(len(active), -np.inf), np.zeros(len(active), np.int64)
    for k in range(border[0], border[1]):
        if allowed[end, active[k]]:
            score[k] = marginals[k] if n == 1 else 0.0
    p = 0
    for t in range(1, n):
        for l in range(border[t - 1], border[t]):  # noqa: E741
            for k in range(border[t], border[t + 1]):
                value = score[l] + pairs[p]
                if value > score[k] and allowed[active[l], active[k]]:
                    score[k], back[k] = value, l
                p += 1
    best, where = -np.inf, -1
    for k in range(border[n - 1], border[n]):
        if allowed[active[k], end] and score[k] > best:
            best, where = score[k], k
    if where < 0:
        return -np.inf
    for t in range(n - 1, -1, -1):
        path[t] = active[where]
        where = back[where]
    return best


@njit(cache=True, nogil=True)
def add_products(group, weights, left, right, sums):
    """Add outer products to sums by groups.

    Equivalent to ``sums[group[j]] += weights[j] * np.outer(left[j], right[j])`` for every j whose
    group is 0 or more.
    """
    for j in range(len(group)):
        g = group[j]
        if g < 0:
            continue
        for i in range(left.shape[1]):
            value = weights[j] * left[j, i]
            for k in range(right.shape[1]):
                sums[g, i, k] += value * right[j, k]
