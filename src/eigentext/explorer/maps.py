"""A map of words in two dimensions: words with similar vectors are near each other.

The map starts with the first two principal components. Then, in each of some steps, its nearest
neighbors attract a word, and random other words repel it. The forces are those of UMAP (McInnes,
Healy and Melville 2018) for a = b = 1. With squared distance d they are

    attraction 2 / (1 + d),    repulsion 2 / ((e + d) (1 + d)).

All words move in the same step, and sums have a fixed order. So the same vectors give the same map.
"""

import numpy as np

_NEIGHBORS = 10
_CLUSTERS = 12  # as many as there are colors that one can distinguish
_COMPONENTS = 50  # the principal components in which neighbors are sought
_STEPS = (150, 300)  # at least and at most
_WORK = 400_000  # words times steps; this takes seconds
_PUSHES = 6  # random words that repel a word in each step
_FARTHEST = 4.0  # the largest force
_EPSILON = 0.05
_BORDER = 0.005  # the share of the words that is cut off on each side
_SPREAD = 10.0  # of the first positions


def word_map(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return coordinates from -1 to 1, shape (n, 2), and the cluster of each row.

    The rows of `vectors` are in the order of falling frequency.
    """
    X = np.asarray(vectors, np.float32)
    start, components = _principal(X)
    at = _relaxed(start, _nearest(components)) if len(X) > _NEIGHBORS else start
    # Move the few words that are far from all others to the border, or they would need all room.
    low, high = np.quantile(at, [_BORDER, 1 - _BORDER], axis=0)
    scale = 0.52 * max(float((high - low).max()), 1e-12)
    return np.clip((at - (low + high) / 2) / scale, -1, 1), _clusters(X)


def _principal(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first two principal components of the rows, scaled, and the first fifty."""
    from eigentext.factor import svd

    rank = min(_COMPONENTS, *X.shape)
    U, s, _ = svd(X - X.mean(axis=0), rank, right=False)
    components = (U * s).astype(np.float32)
    two = np.zeros((len(X), 2))
    two[:, : min(rank, 2)] = components[:, :2]
    return _SPREAD * two / max(float(two.std()), 1e-12), components


def _nearest(components: np.ndarray) -> np.ndarray:
    from eigentext.words.neighbors import Neighbors

    own = np.arange(len(components))[:, None]
    rows, _ = Neighbors(components).search(components, _NEIGHBORS, leave_out=own)
    return np.where(rows < 0, own, rows)


def _relaxed(start: np.ndarray, nearest: np.ndarray) -> np.ndarray:
    n, k = nearest.shape
    least, most = _STEPS
    steps = int(np.clip(_WORK // n, least, most))
    rng = np.random.default_rng(0)
    tail, head = np.repeat(np.arange(n), k), nearest.ravel()
    degree = (k + np.bincount(head, minlength=n))[:, None]
    at = start.copy()
    for step in range(steps):
        apart = at[head] - at[tail]
        pull = apart * (2 / (1 + np.square(apart).sum(axis=1)))[:, None]
        move = (_sums(tail, pull, n) - _sums(head, pull, n)) / degree
        for _ in range(_PUSHES):
            apart = at - at[rng.integers(0, n, n)]
            squared = np.square(apart).sum(axis=1)
            push = apart * (2 / ((_EPSILON + squared) * (1 + squared)))[:, None]
            move += np.clip(push, -_FARTHEST, _FARTHEST)
        at += (1 - step / steps) * np.clip(move, -_FARTHEST, _FARTHEST)
    return at


def _sums(rows: np.ndarray, values: np.ndarray, n: int) -> np.ndarray:
    return np.stack([np.bincount(rows, values[:, c], n) for c in (0, 1)], axis=1)


def _clusters(X: np.ndarray) -> np.ndarray:
    from eigentext.words import WordClusters

    m = max(1, min(_CLUSTERS, len(X) // 5))
    return WordClusters(m).fit(X).labels_
