"""Checks of counts of pairs that come from a file or were made by hand.

Compiled loops rely on what is checked here.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from eigentext.errors import MomentsError
from eigentext.matrices.runs import CSR
from eigentext.moments.additive import read_counts
from eigentext.storage.schema import damage

_MOST = 2.0**62  # the sum of all counts, in both directions, must fit in 64 bits


def checked_counts(F: Any, shape: tuple[int, int]) -> CSR:
    """The counts as CSR with sorted columns and int64 entries of 1 or more.

    Raises a MomentsError if that is impossible.
    """
    if not sp.issparse(F):
        raise MomentsError(f"the counts are {type(F).__name__}; give a sparse matrix of integers")
    if F.shape != shape:
        raise MomentsError(f"counts of shape {F.shape}, but the words and the window need {shape}")
    if F.dtype.kind not in "iu":
        raise MomentsError(f"counts of type {F.dtype}; give integers")
    try:
        F = sp.csr_array(F)
        F.check_format(full_check=True)
    except (ValueError, TypeError) as error:
        raise MomentsError(f"the counts are not a valid sparse matrix: {error}") from error
    if F.dtype != np.int64 or not F.has_canonical_format or F.data.min(initial=1) < 1:
        F = F.astype(np.int64)  # a copy: what was given stays as it is
        F.sum_duplicates()
        F.eliminate_zeros()
    if F.data.min(initial=1) < 1:
        raise MomentsError(f"a count of {F.data.min()}; counts are 0 or more")
    check_total(F.data)
    return F


def check_total(counts: Any) -> None:
    """Raise a MomentsError if the sum of the counts does not fit in 64 bits."""
    if len(counts) and float(np.sum(counts, dtype=np.float64)) >= _MOST:
        raise MomentsError(
            "counts whose sum does not fit in 64 bits; use a smaller window or weighting='flat'"
        )


def unpacked_pairs(packed: np.ndarray, blocks: np.ndarray, shape: tuple[int, int]) -> CSR:
    """The counts of a file; raises a ModelFileError if they are damaged."""
    forward = read_counts(packed, blocks, shape)
    try:
        check_total(forward.data)
    except MomentsError as error:
        raise damage("packed", f"has {error}") from error
    return forward
