"""Padding for `row_times` and `add_outer`: a matrix must have a multiple of `WIDTH` columns."""

import numpy as np

from eigentext.engine.intrinsics import ROW_WIDTH as WIDTH
from eigentext.engine.intrinsics import add_outer, row_times

__all__ = ["WIDTH", "add_outer", "padded", "row_times"]


def padded(matrix: np.ndarray) -> np.ndarray:
    """Return the matrix with columns of zeros up to a multiple of `WIDTH`."""
    return np.pad(matrix, ((0, 0), (0, -matrix.shape[1] % WIDTH)))
