"""Compiled loops over sequences of symbols: filtering, expectation, best path, trigrams.

The ids are symbols. END (-1) ends a sequence, and UNKNOWN (-2) is a symbol that the model does not
know.
"""

import numpy as np

from eigentext.corpus.encoded import END
from eigentext.corpus.symbols import UNKNOWN
from eigentext.engine.compiled import njit
from eigentext.sequences._row_loops import (
    GROUP,
    add_multiple,
    add_products,
    add_times,
    dot,
    row_times,
    times,
)

_NOTHING = 1e-100  # of the largest number of a plain state; ratios to more than it are finite


@njit(cache=True, nogil=True)
def expect(ids, begins, ends, first, last, initial, transition, back, emission, counts, emitted):
    """Add the expected counts of the sequences `first` to `last`, and return their log-likelihood.

    Equivalent to the sum, over all paths h, of p(h | x) times the number of times that h goes from
    i to j (``counts[i, j]``, which the caller multiplies by ``transition[i, j]``), starts in i
    (``counts[-1, i]``), and emits x in i (``emitted[x, i]``). Columns are states, padded with
    zeros. `back` is the transposed `transition`, and `emission` has a row for each symbol.
    """
    m, width = transition.shape
    rows = -(-m // GROUP) * GROUP
    longest = 0
    for s in range(first, last):
        longest = max(longest, ends[s] - begins[s])
    alpha, ahead = np.zeros((2, longest, width))  # p(h_t, x_t | x_1 .. x_t-1), and what follows
    scale = np.empty(longest)  # 1 / p(x_t | x_1 .. x_t-1)
    beta, total, moves = np.zeros(width), np.zeros(width), np.zeros((rows, width))
    log_likelihood, product = 0.0, 1.0
    for s in range(first, last):
        begin, length = begins[s], ends[s] - begins[s]
        for t in range(length):
            if t == 0:
                total[:] = initial
            else:
                row_times(alpha[t - 1], transition, total, m, width)
            # The last step is divided by its sum only here, so that nothing waits for the division.
            now, o, share = alpha[t], emission[ids[begin + t]], scale[t - 1] if t else 1.0
            p = times(total, o, share, now, width)
            if p <= 0.0:
                return -np.inf
            scale[t] = 1 / p
            product *= p
            if product < 1e-200:
                log_likelihood += np.log(product)
                product = 1.0
        beta[:] = scale[length - 1]
        for t in range(length - 1, -1, -1):
            x = ids[begin + t]
            add_times(alpha[t], beta, emitted[x], width)
            if t > 0:
                times(emission[x], beta, scale[t - 1], ahead[t - 1], width)
                row_times(ahead[t - 1], back, beta, m, width)
        for t in range(0, length - 1, 64):  # as many as stay in the nearest cache
            add_products(alpha, ahead, moves, t, min(t + 64, length - 1), rows, width)
        for h in range(m):
            counts[m, h] += alpha[0, h] * beta[h]
    for h in range(m):
        for k in range(width):
            counts[h, k] += moves[h, k]
    return log_likelihood + np.log(product)


@njit(cache=True, nogil=True)
def expect_windows(
    indptr, indices, counts, firsts, seconds, first, last, front, middle, back, dF, dM, dB
):
    """Add to dF, dM, dB the slopes of the log-likelihood of windows, and return it.

    Equivalent to the slopes of the sum of ``count * log(p)`` over the windows (x, y, z) of rows
    `first` to `last`, with ``p = (front[x] * middle[y] * back[z]).sum()``. Row e of the CSR matrix
    counts the symbols z after x = firsts[e] and y = seconds[e]. Symbols without a row in `middle`
    are edges, and windows with edges do not count. The number of columns is a multiple of WIDTH.
    """
    n, width = middle.shape
    g, y = np.empty(width), np.empty(width)
    total = 0.0
    for e in range(first, last):
        x, second = firsts[e], seconds[e]
        if second >= n:
            continue
        times(front[x], middle[second], 1.0, g, width)
        y[:] = 0.0
        for place in range(indptr[e], indptr[e + 1]):
            z = indices[place]
            if z >= n:
                continue
            p = dot(g, back[z], width)
            if p <= 0.0:
                return -np.inf
            total += counts[place] * np.log(p)
            add_multiple(counts[place] / p, back[z], y, width)
            add_multiple(counts[place] / p, g, dB[z], width)
        add_times(y, middle[second], dF[x], width)
        add_times(y, front[x], dM[second], width)
    return total


@njit(cache=True, nogil=True)
def filter_parameters(ids, initial, transition, emission, logs, states):
    """Equivalent to ``logs[t] = log p(x_t | x_1 .. x_t-1); states[t] = p(h_t | x_1 .. x_t)``.

    A symbol that is unknown or impossible has -inf, and says nothing about its state.
    """
    m = len(initial)
    state, total = initial.copy(), np.empty(m)
    at_start = True
    for t in range(len(ids)):
        x = ids[t]
        if x == END:
            at_start = True
            continue
        if at_start:
            total[:] = initial
        else:
            total[:] = 0.0
            for h in range(m):
                a, row = state[h], transition[h]
                for k in range(m):
                    total[k] += a * row[k]
        at_start = False
        p = 0.0
        if x != UNKNOWN:
            o = emission[x]
            for k in range(m):
                p += total[k] * o[k]
        if p > 0.0:
            logs[t] = np.log(p)
            for k in range(m):
                total[k] *= emission[x, k] / p
        else:
            logs[t] = -np.inf
        state[:] = total
        states[t] = state


@njit(cache=True, nogil=True)
def filter_operators(
    ids, start, end, rows, after, places, operators, mean, floors, before, states, given
):
    """Find the states of an observable operator model, and ``given[t] = q_x b`` for x = x_t.

    ``before[t]`` is the state b before x_t, and ``states[t]`` is the state after it, both with
    ``end @ b == 1``. The past is forgotten, and the state is ``after[x]``, in three cases: if the
    model gives x_t no more than its floor, if the product with its operator would do so, and if a
    number in the state exceeds 1e50.
    """
    r = len(start)
    b, new = start.copy(), np.empty(r)
    for t in range(len(ids)):
        x = ids[t]
        if x == END:
            b[:] = start
            continue
        before[t] = b
        if x == UNKNOWN:
            q, operator, floor = 1.0, mean, 0.0
        else:
            q, floor = 0.0, floors[x]
            for i in range(r):
                q += rows[x, i] * b[i]
            operator = operators[places[x]] if places[x] >= 0 else mean
        given[t] = q
        z = 0.0
        if x == UNKNOWN or places[x] >= 0:
            for i in range(r):
                new[i] = 0.0
                for j in range(r):
                    new[i] += operator[i, j] * b[j]
                z += end[i] * new[i]
        is_sound = q > floor and z > floor
        if is_sound:
            for i in range(r):
                new[i] /= z
                is_sound = is_sound and abs(new[i]) < 1e50
        if is_sound:
            b[:] = new
        elif x == UNKNOWN:
            b[:] = start
        else:
            b[:] = after[x]
        states[t] = b


@njit(cache=True, nogil=True)
def filter_plain(ids, start, end, operators, stop, mean, ratios, states):
    """Equivalent to ``ratios[t] = p(x_1 .. x_t) / p(x_1 .. x_t-1)``, with ``p = end B .. B start``.

    ``ratios`` of the first symbol is p(x_1) itself. ``states[t]`` is the product of the operators
    and the start, divided by p(x_1 .. x_t). What follows a probability of zero has zero. So has an
    unknown symbol, but the symbols after it go on from the product with `mean`. Symbol n of models
    with ends, whose `stop` is not empty, has ``p = stop B .. B start``. A probability that is next
    to nothing beside the numbers of its state is zero.
    """
    r = len(start)
    b, new = start.copy(), np.empty(r)
    before = 1.0  # end @ b, or 1 at the start
    for t in range(len(ids)):
        x = ids[t]
        if x == END:
            b[:] = start
            before = 1.0
            continue
        if x == len(operators):
            value = 0.0
            for i in range(r):
                value += stop[i] * b[i]
            ratios[t] = 0.0 if before == 0.0 else value / before
            continue
        operator = mean if x == UNKNOWN else operators[x]
        value, largest = 0.0, 0.0
        for i in range(r):
            new[i] = 0.0
            for j in range(r):
                new[i] += operator[i, j] * b[j]
            value += end[i] * new[i]
            largest = max(largest, abs(new[i]))
        ratios[t] = 0.0 if x == UNKNOWN or before == 0.0 else value / before
        scale = 1.0 / largest if largest > _NOTHING else 1.0
        before = value * scale
        if abs(before) < _NOTHING:
            before = 0.0
        for i in range(r):
            b[i] = new[i] * scale
            states[t, i] = b[i] / before if before != 0.0 else b[i]


@njit(cache=True, nogil=True)
def best_path(ids, log_initial, log_transition, log_emission):
    """Return the most probable states of a sequence, and their log-probability (Viterbi)."""
    m, length = len(log_initial), len(ids)
    best, new = log_initial + log_emission[ids[0]], np.empty(m)
    came = np.empty((length, m), np.int32)
    for t in range(1, length):
        for k in range(m):
            top, source = -np.inf, 0
            for h in range(m):
                value = best[h] + log_transition[h, k]
                if value > top:
                    top, source = value, h
            new[k] = top + log_emission[ids[t], k]
            came[t, k] = source
        best[:] = new
    path = np.empty(length, np.int64)
    path[-1] = np.argmax(best)
    for t in range(length - 1, 0, -1):
        path[t - 1] = came[t, path[t]]
    return path, best[path[-1]]


@njit(cache=True, nogil=True)
def project_trigrams(trigrams, pairs, firsts, symbols, U, V, projected, noise):
    """Equivalent to ``projected[k] = U' P_3x1 V`` for x = symbols[k], with counts for P.

    `trigrams` are the indptr, indices and data of a CSR matrix. Its row e counts the symbols after
    the bigram e. `pairs` are the starts and numbers of the bigrams, sorted by their second symbol,
    and ``firsts[e]`` is their first symbol. ``noise[k]`` is the sum of |U_w|^2 |V_f|^2 over the
    same windows (f, x, w). Windows whose last symbol has no row in U do not count.
    """
    indptr, indices, data = trigrams
    starts, numbers = pairs
    r = U.shape[1]
    y = np.empty(r)
    for k in range(len(symbols)):
        x = symbols[k]
        for q in range(starts[x], starts[x + 1]):
            e = numbers[q]
            v = V[firsts[e]]
            y[:] = 0.0
            squares = 0.0
            for p in range(indptr[e], indptr[e + 1]):
                if indices[p] < len(U):
                    count, u = data[p], U[indices[p]]
                    square = 0.0
                    for i in range(r):
                        y[i] += count * u[i]
                        square += u[i] * u[i]
                    squares += count * square
            square = 0.0
            for j in range(r):
                square += v[j] * v[j]
            noise[k] += squares * square
            for i in range(r):
                for j in range(r):
                    projected[k, i, j] += y[i] * v[j]
