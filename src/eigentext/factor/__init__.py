"""Linear algebra that knows nothing about text: SVD, CCA, whitening, tensors, anchors."""

from typing import TYPE_CHECKING

from eigentext.factor.anchors import anchors, pivot_decomposition, simplex_weights
from eigentext.factor.descent import minimize_tensor
from eigentext.factor.svd import svd
from eigentext.factor.tensor import simultaneous_diagonalization, tensor_power
from eigentext.factor.whiten import Whitening, whiten
from eigentext.matrices.products import scaled_symmetric

if TYPE_CHECKING:
    from eigentext.factor.cca import CCA

__all__ = [
    "CCA",
    "Whitening",
    "anchors",
    "minimize_tensor",
    "pivot_decomposition",
    "scaled_symmetric",
    "simplex_weights",
    "simultaneous_diagonalization",
    "svd",
    "tensor_power",
    "whiten",
]


def __getattr__(name: str):
    if name == "CCA":  # it loads scikit-learn
        from eigentext.factor.cca import CCA

        return CCA
    raise AttributeError(f"module 'eigentext.factor' has no attribute {name!r}")
