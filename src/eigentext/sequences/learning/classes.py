r"""Classes of words that make a class bigram likely: starts, exchange steps, and Brown's merges.

*Exchange* (Kneser and Ney 1993; Martin, Liermann and Ney 1998; the program mkcls): each word in
turn, the most frequent first, moves to the class that raises the likelihood of the class bigram
most. A pass over all words is a sweep, and sweeps go on until one gains less than `tol`. No step
lowers the likelihood, and equal input gives equal classes.

The result depends on the start:

``cca``
    Under a Brown model, the CCA vectors of the words of one class are one direction (Stratos,
    Collins and Hsu 2015). The square roots of the counts of pairs are scaled by the square roots of
    the counts of words, and the leading singular vectors of both sides are a word's vector, scaled
    to length 1. The centers are words far from each other, then a few steps of k-means.
``frequency``
    The most frequent words have a class each, and all others share the last one, as in mkcls.
``brown``
    The greedy merges of Brown et al. (1992); see `_brown_loops`.
"""

from functools import partial
from typing import Literal, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from eigentext import engine
from eigentext.factor import svd
from eigentext.matrices.budget import check_room
from eigentext.matrices.runs import CSR
from eigentext.monitor import Monitor

Init = Literal["cca", "frequency", "brown"]
Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]
FIXED = 2  # the rare word and the edge of a unit are classes of their own
_RANK = 50  # the dimensions of the vectors
_MOST = 5000  # the frequent words that decide the centers, or five for each class
_FREQUENCY = 0.25  # a word counts as its number of tokens to this power
_LLOYD = 10  # the steps of k-means
_TABLE = 1 << 20  # x log x is looked up for smaller x
_WHOLE = 2.0**40  # the total of the moments of a distribution, as whole numbers
_SMALL = 2000  # up to this many words, vectors have double precision


class Settings(Protocol):
    """The parameters of :class:`eigentext.ClassBigram` that learning uses."""

    n_classes: int
    init: Init
    n_iter: int
    tol: float


class Classes(NamedTuple):
    """Classes of words, and how they were found."""

    labels: np.ndarray  # the class of each symbol; the rare word and the edge have the last two
    history: list[float]  # log-likelihood per event before the first sweep and after each one
    has_converged: bool


def starting_classes(C: CSR, counts: np.ndarray, settings: Settings) -> np.ndarray:
    """Return the class of each word before the first sweep.

    Parameters
    ----------
    C : sparse array, shape (n_words + 2, n_words + 2)
        The counts of pairs of words, the rare word and the edge.
    counts : array, shape (n_words,)
        The number of tokens of each word.
    settings
        The number of classes and how to start. If there are fewer words, each has its own class.
    """
    n, K = len(counts), settings.n_classes
    order = np.argsort(-counts, kind="stable")
    if n <= K:
        return np.arange(n)
    if settings.init == "brown":
        return _merged(whole(C), order, K)
    labels = np.full(n, K - 1)
    labels[order[: K - 1]] = np.arange(K - 1)
    if settings.init == "cca":
        labels = _clustered(C, counts, order, K)
    return labels


def exchanged(C: CSR, labels: np.ndarray, counts: np.ndarray, settings: Settings) -> Classes:
    """Improve classes by sweeps over all words; none of the K classes becomes empty."""
    from eigentext.sequences import _exchange_loops as loops

    C, K = whole(C), int(labels.max()) + 1
    n_classes, table = K + FIXED, _table(C)
    kind = np.int32 if C.data.sum() < 2**31 else np.int64
    check_room(
        2.0 * np.dtype(kind).itemsize * n_classes**2,
        f"the pairs of {n_classes:,} classes (n_classes, --classes)",
        "ask for fewer",
    )
    order = np.argsort(-counts, kind="stable")
    labels = np.append(labels, [K, K + 1]).astype(np.int32)
    after, before = _rows(C, kind), _rows(C.T.tocsr(), kind)
    monitor = Monitor(
        "exchange",
        settings.n_iter + 1,  # the start is measured, too
        problem=(C.data, C.indices, C.indptr, labels),
        tol=settings.tol,
        unit="sweeps",
    )
    if kept := monitor.resume():
        labels = kept.arrays["labels"]
    N = class_pairs(C, labels, n_classes).toarray().astype(kind)
    T, left, right = np.ascontiguousarray(N.T), N.sum(axis=1), N.sum(axis=0)
    left, right = left.astype(kind), right.astype(kind)
    sizes = np.bincount(labels, minlength=n_classes)[:K]
    with monitor:
        if not monitor.history:
            monitor.record(log_likelihood(C, N))
        while not monitor.is_done:
            moved = loops.sweep(after, before, labels, order, N, T, left, right, sizes, table)
            monitor.record(log_likelihood(C, N))
            if not moved:
                monitor.has_converged = True
                monitor.stop()
            monitor.keep(partial(dict, labels=labels))
    return Classes(labels, monitor.history, monitor.has_converged)


def log_likelihood(C: CSR, N: np.ndarray | CSR) -> float:
    """Return the mean log-likelihood of the second words of all pairs, without smoothing.

    `C` has the counts of pairs of words, and `N` those of their classes.
    """
    cells = np.asarray(N.data if isinstance(N, sp.csr_array) else N)
    total = C.data.sum(dtype=np.float64)
    parts = _h(cells) - _h(N.sum(axis=0)) - _h(N.sum(axis=1)) + _h(C.sum(axis=0))
    return float(parts / total)


def class_pairs(C: CSR, labels: np.ndarray, n_classes: int) -> CSR:
    """Return the counts of pairs of classes."""
    n = len(labels)
    S = sp.csr_array((np.ones(n, C.dtype), (np.arange(n), labels)), shape=(n, n_classes))
    found = sp.csr_array(S.T @ C @ S)
    found.sort_indices()
    return found


def whole(C: CSR) -> CSR:
    """Return counts as they are, and the moments of a distribution as large whole numbers."""
    if np.issubdtype(C.dtype, np.integer):
        return C
    C = sp.csr_array(C * (_WHOLE / C.sum()))
    C.data = np.rint(C.data)
    return C.astype(np.int64)


def in_order(labels: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Number the classes by their most frequent words, without gaps."""
    order = np.argsort(-counts, kind="stable")
    used, first = np.unique(labels[order], return_index=True)
    numbers = np.empty(used.max(initial=0) + 1, np.int32)
    numbers[used[np.argsort(first)]] = np.arange(len(used))
    return numbers[labels]


# The starts.


def _clustered(C: CSR, counts: np.ndarray, order: np.ndarray, K: int) -> np.ndarray:
    X = _vectors(C)[: len(counts)]
    top = order[: max(_MOST, 5 * K)]
    with engine.one_blas_thread():
        centers = _k_means(X[top], counts[top].astype(np.float64) ** _FREQUENCY, K)
        labels = np.concatenate(
            [_nearest(block, centers) for block in np.array_split(X, len(X) // 10_000 + 1)]
        )
    return _without_gaps(labels, order, K)


def _vectors(C: CSR) -> np.ndarray:
    """The CCA vectors of all symbols from the words after and before them, of length 1 or 0."""
    P = sp.csr_array(C, dtype=np.float64, copy=True)
    sides = [np.sqrt(np.asarray(P.sum(axis=axis))) for axis in (1, 0)]
    P.data = np.sqrt(P.data)
    left, right = (
        np.divide(1, np.sqrt(side), out=np.zeros(len(side)), where=side > 0) for side in sides
    )
    scaled = sp.csr_array(sp.diags_array(left) @ P @ sp.diags_array(right))
    if len(left) > _SMALL:
        scaled = scaled.astype(np.float32)
    U, s, Vt = svd(scaled, min(_RANK, len(left)))
    X = np.hstack([U * s, Vt.T * s])
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return np.divide(X, lengths, out=np.zeros_like(X), where=lengths > 0)


def _k_means(X: np.ndarray, weights: np.ndarray, K: int) -> np.ndarray:
    """K centers: each start is far from those before it, and then Lloyd's steps."""
    squares = np.einsum("ij,ij->i", X, X)
    distances = np.full(len(X), np.inf)
    chosen = [int(np.argmax(weights))]
    while len(chosen) < K:
        new = squares - 2 * X @ X[chosen[-1]] + squares[chosen[-1]]
        distances = np.minimum(distances, np.maximum(new, 0))
        distances[chosen[-1]] = 0
        chosen.append(int(np.argmax(weights * distances)))
    centers = X[chosen]
    for _ in range(_LLOYD):
        nearest = _nearest(X, centers)
        shares = sp.csr_array((weights, (nearest, np.arange(len(X)))), shape=(K, len(X)))
        size = np.asarray(shares.sum(axis=1))
        used = size > 0
        centers[used] = (shares @ X)[used] / size[used, None]
    return centers


def _nearest(X: np.ndarray, centers: np.ndarray) -> np.ndarray:
    return np.argmax(X @ centers.T - np.einsum("ij,ij->i", centers, centers) / 2, axis=1)


def _without_gaps(labels: np.ndarray, order: np.ndarray, K: int) -> np.ndarray:
    """Give each empty class the most frequent word that is not alone in its own class."""
    sizes = np.bincount(labels, minlength=K)
    words = iter(order.tolist())
    for empty in np.flatnonzero(sizes == 0):
        word = next(one for one in words if sizes[labels[one]] > 1)
        sizes[labels[word]] -= 1
        labels[word], sizes[empty] = empty, 1
    return labels


def _merged(C: CSR, order: np.ndarray, K: int) -> np.ndarray:
    """The classes of Brown's greedy merges."""
    from eigentext.sequences import _brown_loops as loops

    S, n = K + 1, len(order)
    size = S + FIXED
    check_room(
        8.0 * (2 * size**2 + 3 * S**2),
        f"Brown's losses of {K:,} classes (n_classes, --classes)",
        "ask for fewer, or use init='cca'",
    )
    slots = np.append(np.full(n, -1), [S, S + 1]).astype(np.int64)

    def side() -> loops.Side:
        counts, sums = np.zeros((2, S), np.int64), np.zeros((2, S))
        N, A = np.zeros((size, size), np.int64), np.zeros((S, S))
        return loops.Side(N, A, sums[0], counts[0], counts[1], sums[1])

    with engine.phase("merge"):
        after, before = _rows(C, np.int64), _rows(C.T.tocsr(), np.int64)
        losses = np.full((S, S), np.inf)
        loops.add_words(order, after, before, slots, side(), side(), losses, _table(C))
    return np.unique(slots[:n], return_inverse=True)[1]


# Small parts.


def _rows(C: CSR, kind: type) -> Pairs:
    return C.indptr.astype(np.int64), C.indices.astype(np.int32), C.data.astype(kind)


def _table(C: CSR) -> np.ndarray:
    x = np.arange(min(int(C.data.sum()) + 2, _TABLE), dtype=np.float64)
    return x * np.log(np.maximum(x, 1))


def _h(x: np.ndarray) -> float:
    x = np.asarray(x, np.float64)
    return float((x * np.log(np.where(x > 0, x, 1))).sum())
