"""Padding for `row_times` and its kin: a matrix must have a multiple of `WIDTH` columns."""

import numpy as np

from eigentext.engine.intrinsics import ROW_GROUP as GROUP
from eigentext.engine.intrinsics import ROW_WIDTH as WIDTH
from eigentext.engine.intrinsics import (
    add_multiple,
    add_products,
    add_times,
    dot,
    row_times,
    times,
)

__all__ = [
    "GROUP",
    "WIDTH",
    "add_multiple",
    "add_products",
    "add_times",
    "dot",
    "padded",
    "row_times",
    "times",
]


def padded(matrix: np.ndarray) -> np.ndarray:
    """Return the matrix with columns of zeros up to a multiple of `WIDTH`."""
    return np.pad(matrix, ((0, 0), (0, -matrix.shape[1] % WIDTH)))
