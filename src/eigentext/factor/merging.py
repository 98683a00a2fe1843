r"""Merging clusters by the inertia that it costs, up to a binary tree.

Two clusters with sizes n, and means :math:`\mu`, merge if
:math:`d(a, b) = \frac{n_a n_b}{n_a + n_b} \| \mu_a - \mu_b \|^2` is the least of all pairs (Ward
1963). Sizes are numbers of members or any weights. The costs of the merges of a whole tree never
fall, and their sum is the inertia around the mean of all. See `_merging_loops`.
"""

from typing import Any

import numpy as np

from eigentext import engine

_ROWS = 64  # rows for one thread


def running_set(sums: np.ndarray, sizes: np.ndarray) -> Any:
    """A running set of these clusters, with their nearest clusters and one free slot."""
    from eigentext.factor._merging_loops import Running, look_around

    m, d = sums.shape
    running = Running(
        sums=np.zeros((m + 1, d)),
        products=np.zeros((m + 1, m + 1)),
        squares=np.zeros(m + 1),
        sizes=np.ones(m + 1),
        first=np.append(np.arange(m), -1),
        least=np.full(m + 1, np.inf),
        nearest=np.full(m + 1, -1),
    )
    running.sums[:m], running.sizes[:m] = sums, sizes
    running.products[:m, :m] = products(sums, sums)
    running.squares[:] = running.products.diagonal()
    look_around(running)
    return running


def add_words(*arguments: Any) -> tuple[int, int]:
    """See :func:`eigentext.factor._merging_loops.add_words`, which compiles at the first call."""
    from eigentext.factor import _merging_loops

    return _merging_loops.add_words(*arguments)


def merge_all(running: Any, merges: np.ndarray, heights: np.ndarray) -> int:
    """See :func:`eigentext.factor._merging_loops.merge_all`."""
    from eigentext.factor import _merging_loops

    return _merging_loops.merge_all(running, merges, heights)


def products(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """``X @ Y.T`` by blocks of rows, with the same bits on any number of threads."""
    blocks = [X[start : start + _ROWS] for start in range(0, len(X), _ROWS)]
    return np.vstack(list(engine.current().map(lambda block: block @ Y.T, blocks)))


def merge_to_root(running: Any, m: int) -> np.ndarray:
    """The tree of the running clusters, which are named 0 to m - 1, as SciPy's `linkage` has it.

    A row has two nodes, the cost of their merge, and the number of clusters below.
    """
    merges, heights = np.empty((m - 1, 2), np.int64), np.empty(m - 1)
    merge_all(running, merges, heights)
    tree = np.empty((m - 1, 4))
    node, below = np.arange(m), np.ones(m)
    for step, (left, right) in enumerate(merges):
        below[left] += below[right]
        tree[step] = node[left], node[right], heights[step], below[left]
        node[left] = m + step
    return tree


def bit_strings(tree: np.ndarray) -> list[str]:
    """The paths from the root to the leaves; 0 leads to the cluster that came first."""
    m = len(tree) + 1
    paths = [""] * (2 * m - 1)
    for step in reversed(range(m - 1)):
        for bit, child in zip("01", tree[step, :2].astype(int)):
            paths[child] = paths[m + step] + bit
    return paths[:m]
