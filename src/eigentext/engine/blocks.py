"""Cutting rows into tasks of about equal work."""

from itertools import pairwise

import numpy as np


def even_blocks(work: np.ndarray, size: int) -> list[tuple[int, int]]:
    """Row ranges of about `size` work each, given the cumulative work (such as a CSR's indptr).

    The ranges depend on the work alone, not on who does it.

    Examples
    --------
    >>> even_blocks(np.array([0, 5, 6, 7, 12]), 6)
    [(0, 2), (2, 4)]
    """
    edges = np.searchsorted(work, np.arange(0, work[-1], size))
    edges = np.unique([0, *edges, len(work) - 1]).tolist()
    return list(pairwise(edges))
