"""Compiled loops of Gibbs sampling over the tokens of documents, with fixed topics.

Every document has its own random generator, seeded by the document's key (see
:mod:`eigentext.topics.content`), so neither its place nor the number of threads changes a bit. The
two loops over topics (`weigh`, `add_scaled`) work on eight topics at a time. `padded` adds topics
up to a multiple of eight; these have no chance and are never drawn.
"""

import numpy as np
from numba import config

from eigentext.engine.compiled import njit
from eigentext.engine.intrinsics import TOPIC_WIDTH as WIDTH
from eigentext.engine.intrinsics import add_scaled, weigh

_GOLDEN = 0x9E3779B97F4A7C15  # the step of splitmix64


def padded(matrix: np.ndarray) -> np.ndarray:
    """Return the rows in float32, with zeros up to a multiple of `WIDTH`."""
    wide = np.zeros((len(matrix), matrix.shape[1] + -matrix.shape[1] % WIDTH), np.float32)
    wide[:, : matrix.shape[1]] = matrix
    return wide


@njit(cache=True, nogil=True)
def sweep(indptr, words, first, keys, times, phi, alpha, topics, seed, keep, expected, start, stop):
    """Draw the topic of each token of the documents `start` to `stop` again, one after another.

    For a token with the word w, let ``m[k]`` be the number of other tokens in the document with the
    topic k. Equivalent to ``p = (m + alpha) * phi[w]; topic = choice(K, p=p / p.sum())`` and, if
    `keep`, ``expected[w] += times[document] * p / p.sum()``. Return the sum of
    ``times * log(p.sum())`` over tokens. The tokens of entry e of the counts are ``first[e]`` to
    ``first[e + 1]``. A token whose p is zero keeps its topic and does not count.
    """
    K = phi.shape[1]
    m, p, lanes = np.empty(K, np.float32), np.empty(K, np.float32), np.empty(WIDTH, np.float32)
    one = np.float32(1)
    total = 0.0
    for document in range(start, stop):
        state = _seeded(seed, keys[document])
        for k in range(K):
            m[k] = alpha[k]
        for i in range(first[indptr[document]], first[indptr[document + 1]]):
            m[topics[i]] += one
        weight = np.float32(times[document])
        chances, logarithm = 1.0, 0.0
        for e in range(indptr[document], indptr[document + 1]):
            w = np.int64(words[e])
            for i in range(first[e], first[e + 1]):
                # m includes this token. It is taken out of p, because m usually stays the same.
                before = topics[i]
                mass = weigh(m, phi, p, lanes, w, K)
                own = min(phi[w, before], p[before])
                p[before] -= own
                lanes[before % WIDTH] -= own
                mass -= own
                state = _next(state)
                if mass <= 0:
                    continue
                topic = _drawn(state, mass, p, lanes, K)
                if topic != before:
                    topics[i] = topic
                    m[before] -= one
                    m[topic] += one
                chances *= np.float64(mass)
                if not 1e-200 < chances < 1e200:
                    logarithm += np.log(chances)
                    chances = 1.0
                if keep:
                    add_scaled(weight / mass, p, expected, w, K)
        total += weight * (logarithm + np.log(chances))
    return total


@njit(cache=True, nogil=True)
def fit_proportions(indptr, words, first, phi, alpha, theta, n_steps, start, stop):
    """Equivalent to ``theta[start:stop] = proportions(X[start:stop], phi.T, alpha, n_steps)``.

    The proportions are those of :mod:`eigentext.factor.mixture`.
    """
    K = phi.shape[1]
    p, lanes = np.empty(K, np.float32), np.empty(WIDTH, np.float32)
    expected = np.empty((1, K), np.float32)
    alpha0 = np.float32(0)
    for k in range(K):
        alpha0 += alpha[k]
    for document in range(start, stop):
        m = theta[document]
        for k in range(K):
            m[k] = alpha[k] / alpha0
        for _ in range(n_steps):
            for k in range(K):
                expected[0, k] = alpha[k]
            n = alpha0
            for e in range(indptr[document], indptr[document + 1]):
                mass = weigh(m, phi, p, lanes, np.int64(words[e]), K)
                if mass > 0:
                    count = np.float32(first[e + 1] - first[e])
                    add_scaled(count / mass, p, expected, 0, K)
                    n += count
            for k in range(K):
                m[k] = expected[0, k] / n


@njit(cache=True, nogil=True)
def draw(indptr, words, first, keys, phi, theta, topics, seed, start, stop):
    """Draw the topic of each token independently, in proportion to ``theta[document] * phi[w]``."""
    K = phi.shape[1]
    p, lanes = np.empty(K, np.float32), np.empty(WIDTH, np.float32)
    for document in range(start, stop):
        state = _seeded(seed, keys[document])
        m = theta[document]
        for e in range(indptr[document], indptr[document + 1]):
            mass = weigh(m, phi, p, lanes, np.int64(words[e]), K)
            for i in range(first[e], first[e + 1]):
                state = _next(state)
                topics[i] = _drawn(state, mass, p, lanes, K)


@njit(cache=True, nogil=True)
def _drawn(state, mass, p, lanes, K):
    """Draw a topic by p: first its lane, which takes at most eight steps, then its place in it."""
    u = np.float32(state >> np.uint64(40)) * np.float32(2.0**-24) * mass
    k = 0
    while u >= lanes[k] and k < WIDTH - 1:
        u -= lanes[k]
        k += 1
    while u >= p[k] and k < K - WIDTH:
        u -= p[k]
        k += WIDTH
    return k if p[k] > 0 else np.argmax(p)  # rounding may lead to a topic with p = 0


@njit(cache=True, nogil=True)
def _seeded(seed, key):
    """Return the state of a document's generator: the finalizer of splitmix64, never zero."""
    state = np.uint64(seed) + np.uint64(key) * np.uint64(_GOLDEN)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (state ^ (state >> np.uint64(31))) | np.uint64(1)


@njit(cache=True, nogil=True)
def _next(state):
    """Return the next state (Marsaglia's xorshift)."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    return state ^ (state << np.uint64(17))


if config.DISABLE_JIT:  # NumPy warns of an overflow that is intended
    _seeded = np.errstate(over="ignore")(_seeded)
