"""One sweep of Gibbs sampling over the tokens of documents, with topics held fixed.

Every document draws from a generator of its own, seeded by its place, so how documents are dealt
out to threads never changes a bit. The two loops over topics are lines of LLVM's vector code, eight
topics at a time: a compiler makes little of loops that short. `padded` makes room for them; topics
of the padding have no chance and are never drawn.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

from eigentext.engine.compiled import njit

WIDTH = 8
_GOLDEN = 0x9E3779B97F4A7C15  # splitmix64's step from one document's generator to the next
_INT32, _INT64 = ir.IntType(32), ir.IntType(64)
_VECTOR = ir.VectorType(ir.FloatType(), WIDTH)
_ALIGNMENT = 4  # bytes; no more is known of rows
_FUSED = ("contract",)  # a multiplication and the addition after it may be one instruction


def padded(matrix: np.ndarray) -> np.ndarray:
    """The rows in float32, with zeros up to a multiple of `WIDTH`."""
    wide = np.zeros((len(matrix), matrix.shape[1] + -matrix.shape[1] % WIDTH), np.float32)
    wide[:, : matrix.shape[1]] = matrix
    return wide


def seed_from(seed: np.int64, place: int) -> np.int64:
    """The seed with which the first document has the generator that `seed` gives to `place`."""
    return np.uint64((int(seed) + place * _GOLDEN) % (1 << 64)).view(np.int64)


@njit(cache=True, nogil=True)
def sweep(indptr, words, first, times, phi, alpha, topics, seed, keep, expected, start, stop):
    """Draw the topic of each token of documents from start to stop anew, one after another.

    For a token of the word w in a document whose other tokens have topics m_k times, that is
    ``p = (m + alpha) * phi[w]; topic = choice(K, p=p / p.sum())``; where `keep`,
    ``expected[w] += times[document] * p / p.sum()``. Returns the sum of ``times * log(p.sum())``
    over tokens. The tokens of the entry e of the counts are those from ``first[e]`` up to
    ``first[e + 1]``. A token whose p is zero keeps its topic and counts for nothing.
    """
    K = phi.shape[1]
    m, p, lanes = np.empty(K, np.float32), np.empty(K, np.float32), np.empty(WIDTH, np.float32)
    one = np.float32(1)
    total = 0.0
    for document in range(start, stop):
        state = _seeded(seed, document)
        for k in range(K):
            m[k] = alpha[k]
        for i in range(first[indptr[document]], first[indptr[document + 1]]):
            m[topics[i]] += one
        weight = np.float32(times[document])
        chances, logarithm = 1.0, 0.0
        for e in range(indptr[document], indptr[document + 1]):
            w = np.int64(words[e])
            for i in range(first[e], first[e + 1]):
                # This token is one of m: out of p instead of m, which mostly stays as it is then.
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
def draw(indptr, words, first, phi, theta, topics, seed, start, stop):
    """Draw the topic of each token for itself, in proportion to ``theta[document] * phi[w]``."""
    K = phi.shape[1]
    p, lanes = np.empty(K, np.float32), np.empty(WIDTH, np.float32)
    for document in range(start, stop):
        state = _seeded(seed, document)
        m = theta[document]
        for e in range(indptr[document], indptr[document + 1]):
            mass = weigh(m, phi, p, lanes, np.int64(words[e]), K)
            for i in range(first[e], first[e + 1]):
                state = _next(state)
                topics[i] = _drawn(state, mass, p, lanes, K)


@njit(cache=True, nogil=True)
def _drawn(state, mass, p, lanes, K):
    """A topic drawn by p: first its lane, then its place in it, as eight lanes are soon passed."""
    u = np.float32(state >> np.uint64(40)) * np.float32(2.0**-24) * mass
    k = 0
    while u >= lanes[k] and k < WIDTH - 1:
        u -= lanes[k]
        k += 1
    while u >= p[k] and k < K - WIDTH:
        u -= p[k]
        k += WIDTH
    return k if p[k] > 0 else np.argmax(p)  # rounding may lead to one that has no chance


@njit(cache=True, nogil=True)
def _seeded(seed, document):
    """The finalizer of splitmix64, never zero."""
    state = np.uint64(seed) + np.uint64(document) * np.uint64(_GOLDEN)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (state ^ (state >> np.uint64(31))) | np.uint64(1)


@njit(cache=True, nogil=True)
def _next(state):
    """Marsaglia's xorshift."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    return state ^ (state << np.uint64(17))


def _weigh(typingctx, m, phi, p, lanes, w, K):
    """Equivalent to ``p[:] = m * phi[w]; lanes[:] = p.reshape(-1, 8).sum(axis=0)``.

    Returns ``p.sum()``.
    """

    def generate(context, builder, signature, args):
        m, phi, p, lanes = _starts(context, builder, signature.args[:4], args[:4])
        w, K = args[4:]

        def block(k, total):
            row = _eight(builder, phi, builder.add(builder.mul(w, K), k))
            chances = builder.fmul(_load(builder, _eight(builder, m, k)), _load(builder, row))
            builder.store(chances, _eight(builder, p, k), align=_ALIGNMENT)
            return builder.fadd(total, chances)

        total = _loop(builder, K, block, ir.Constant(_VECTOR, [0.0] * WIDTH))
        builder.store(total, _eight(builder, lanes, ir.Constant(_INT64, 0)), align=_ALIGNMENT)
        half = WIDTH // 2
        while half:  # the upper half onto the lower
            upper = [half + lane for lane in range(half)] + [0] * (WIDTH - half)
            places = ir.Constant(ir.VectorType(_INT32, WIDTH), upper)
            total = builder.fadd(total, builder.shuffle_vector(total, total, places))
            half //= 2
        return builder.extract_element(total, ir.Constant(_INT32, 0))

    return types.float32(m, phi, p, lanes, types.int64, types.int64), generate


def _add_scaled(typingctx, factor, p, expected, w, K):
    """Equivalent to ``expected[w] += factor * p``."""

    def generate(context, builder, signature, args):
        p, expected = _starts(context, builder, signature.args[1:3], args[1:3])
        factor, w, K = args[0], *args[3:]
        undefined = ir.Constant(_VECTOR, ir.Undefined)
        single = builder.insert_element(undefined, factor, ir.Constant(_INT32, 0))
        places = ir.Constant(ir.VectorType(_INT32, WIDTH), [0] * WIDTH)
        factors = builder.shuffle_vector(single, undefined, places)

        def block(k, _):
            row = _eight(builder, expected, builder.add(builder.mul(w, K), k))
            product = builder.fmul(factors, _load(builder, _eight(builder, p, k)), flags=_FUSED)
            more = builder.fadd(_load(builder, row), product, flags=_FUSED)
            builder.store(more, row, align=_ALIGNMENT)

        _loop(builder, K, block)
        return context.get_dummy_value()

    return types.void(types.float32, p, expected, types.int64, types.int64), generate


def _starts(context, builder, kinds, arrays):
    """Where the numbers of arrays begin."""
    return [
        context.make_array(kind)(context, builder, array).data for kind, array in zip(kinds, arrays)
    ]


def _eight(builder, numbers, first):
    """Where the eight from `first` on begin."""
    return builder.bitcast(builder.gep(numbers, [first]), _VECTOR.as_pointer())


def _load(builder, place):
    return builder.load(place, align=_ALIGNMENT)


def _loop(builder, stop, body, value=None):
    """``for i in range(0, stop, WIDTH): value = body(i, value)``; returns the last value."""
    before = builder.block
    head, inside, done = (builder.append_basic_block(name) for name in ("head", "body", "done"))
    builder.branch(head)
    builder.position_at_end(head)
    i = builder.phi(_INT64)
    carried = None if value is None else builder.phi(value.type)
    builder.cbranch(builder.icmp_signed("<", i, stop), inside, done)
    builder.position_at_end(inside)
    new = body(i, carried)
    i.add_incoming(ir.Constant(_INT64, 0), before)
    i.add_incoming(builder.add(i, ir.Constant(_INT64, WIDTH)), builder.block)
    if carried is not None:
        carried.add_incoming(value, before)
        carried.add_incoming(new, builder.block)
    builder.branch(head)
    builder.position_at_end(done)
    return carried


def _plain_weigh(m, phi, p, lanes, w, K):
    p[:] = m * phi[w]
    lanes[:] = p.reshape(-1, WIDTH).sum(axis=0)
    return p.sum()


def _plain_add_scaled(factor, p, expected, w, K):
    expected[w] += factor * p


if config.DISABLE_JIT:  # where NumPy warns of what is meant
    _seeded = np.errstate(over="ignore")(_seeded)
weigh: Any = _plain_weigh if config.DISABLE_JIT else intrinsic(_weigh)
add_scaled: Any = _plain_add_scaled if config.DISABLE_JIT else intrinsic(_add_scaled)
