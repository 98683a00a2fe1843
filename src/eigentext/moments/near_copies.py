r"""Rows of a count matrix that are nearly copies of each other, by MinHash.

Two multisets a and b, such as the bags of words of two documents, have the share

.. math:: J(a, b) = \frac{\sum_w \min(a_w, b_w)}{\sum_w \max(a_w, b_w)}

in common (the index of Jaccard). To compare all pairs of n rows would take n² steps. So each row
gets a signature of 128 numbers: the least hash of its columns, for 128 hash functions. The share of
columns that two rows have in common is the probability that they have the same number (Broder
1997). The signature is cut into 32 bands of four numbers, and only rows that agree in a whole band
are compared. This misses a pair of sets with J = .8 once in ten million times, and one with J = .5
once in eight times. Every pair that is compared is counted exactly, so no pair below the limit is
joined. (Two rows with few columns in common may be missed, even if these have nearly all counts.)

Groups are chains: if a is nearly b, and b is nearly c, all three are one group.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from eigentext import engine
from eigentext.errors import ParameterError
from eigentext.matrices.runs import CSR

_BANDS, _IN_BAND = 32, 4
_WORK = 1 << 18  # entries, or pairs, of one task


def near_copies(X: Any, least: float = 0.8, *, least_columns: int = 1) -> np.ndarray:
    """Return a group for each row, numbered by the first row of each; single rows have -1.

    Parameters
    ----------
    X : array or scipy sparse matrix, shape (n, d)
        Counts, such as those of words in documents. They are not negative.
    least : float
        Rows are copies if they have at least this share in common, above 0 and up to 1.
    least_columns : int
        Rows with fewer columns are in no group. Short documents are often equal by chance.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[3, 1, 1, 1, 0], [0, 0, 1, 0, 2], [3, 1, 1, 1, 1], [1, 1, 0, 0, 0]])
    >>> near_copies(X).tolist()
    [0, -1, 0, -1]
    """
    if not 0 < least <= 1:
        raise ParameterError(f"least must be above 0 and at most 1, not {least}")
    counts: Any = sp.csr_array(X)
    counts.sum_duplicates()
    counts.eliminate_zeros()
    rows = np.flatnonzero(np.diff(counts.indptr) >= max(least_columns, 1))
    groups = np.full(counts.shape[0], -1)
    if len(rows) > 1:
        groups[rows] = _chains(counts[rows], least)
    return groups


def _chains(X: CSR, least: float) -> np.ndarray:
    """Groups of rows that are not empty."""
    first, second = _candidates(_signatures(X))
    alike = _overlaps(X, first, second) >= least
    n = X.shape[0]
    links = sp.csr_array((np.ones(alike.sum()), (first[alike], second[alike])), (n, n))
    _, found = connected_components(links, directed=False)
    sizes = np.bincount(found)
    _, starts = np.unique(found, return_index=True)
    joined = np.flatnonzero(sizes > 1)
    joined = joined[np.argsort(starts[joined])]
    numbers = np.full(len(sizes), -1)
    numbers[joined] = np.arange(len(joined))
    return numbers[found]


def _signatures(X: CSR) -> np.ndarray:
    from eigentext.moments._minhash_loops import signatures

    seeds = np.random.default_rng(0).integers(1 << 63, size=_BANDS * _IN_BAND).astype(np.uint64)
    out = np.empty((X.shape[0], len(seeds)), np.uint64)

    def work(block: tuple[int, int]) -> None:
        signatures(X.indptr, X.indices, seeds, out, *block)

    for _ in engine.current().map(work, engine.even_blocks(X.indptr, _WORK)):
        pass
    return out


def _candidates(found: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of rows that agree in a band: each row, and the first and the previous row like it.

    All pairs of a band would be too many if thousands of rows are alike. The first and the previous
    one are enough to join them all, if they are copies.
    """
    first, second = [], []
    for band in np.split(found, _BANDS, axis=1):
        keys = band[:, 0].copy()
        for column in band.T[1:]:  # a hash of the band; a collision costs one comparison
            keys = (keys * np.uint64(0x9E3779B97F4A7C15)) ^ column
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.append(True, np.diff(keys[order]) != 0))
        leaders = order[np.repeat(starts, np.diff(np.append(starts, len(order))))]
        previous = np.append(order[:1], order[:-1])
        is_first = leaders == order
        for other in (leaders, np.where(is_first, leaders, previous)):
            first.append(other[~is_first])
            second.append(order[~is_first])
    pairs = np.unique(
        np.sort(np.column_stack([np.concatenate(first), np.concatenate(second)])), axis=0
    )
    return pairs[:, 0], pairs[:, 1]


def _overlaps(X: CSR, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    from eigentext.moments._minhash_loops import overlaps

    data, out = X.data.astype(np.float64), np.empty(len(first))

    def work(start: int) -> None:
        stop = min(start + _WORK, len(first))
        overlaps(X.indptr, X.indices, data, first, second, out, start, stop)

    for _ in engine.current().map(work, range(0, len(first), _WORK)):
        pass
    return out
