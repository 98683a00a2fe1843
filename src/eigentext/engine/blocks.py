"""Cut rows into tasks of about equal work."""

from itertools import pairwise

import numpy as np


def even_blocks(work: np.ndarray, size: int) -> list[tuple[int, int]]:
    """Ranges of rows with about `size` units of work each.

    `work` is cumulative, like the indptr of a CSR matrix. The ranges depend on `work` alone, not on
    the number of workers.

    Examples
    --------
    >>> even_blocks(np.array([0, 5, 6, 7, 12]), 6)
    [(0, 2), (2, 4)]
    """
    edges = np.searchsorted(work, np.arange(0, work[-1], size))
    edges = np.unique([0, *edges, len(work) - 1]).tolist()
    return list(pairwise(edges))
