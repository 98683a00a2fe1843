"""Matrices and tensors -> factors: pure linear algebra that knows nothing of text."""

from typing import TYPE_CHECKING

from eigentext.factor.anchors import anchors, pivot_decomposition, simplex_weights
from eigentext.factor.products import scaled_symmetric
from eigentext.factor.svd import svd

if TYPE_CHECKING:
    from eigentext.factor.cca import CCA

__all__ = [
    "CCA",
    "anchors",
    "pivot_decomposition",
    "scaled_symmetric",
    "simplex_weights",
    "svd",
]


def __getattr__(name: str):
    if name == "CCA":  # it brings scikit-learn along
        from eigentext.factor.cca import CCA

        return CCA
    raise AttributeError(f"module 'eigentext.factor' has no attribute {name!r}")
