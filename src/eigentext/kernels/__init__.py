"""Kernels of structures: trees, tagged sequences, polynomials, and kernels made of kernels."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eigentext.kernels.candidate import Candidate
    from eigentext.kernels.kernel import Encoded, Kernel
    from eigentext.kernels.polynomial import LinearKernel, PolynomialKernel
    from eigentext.kernels.sequences import SequenceKernel
    from eigentext.kernels.trees import TreeKernel

__all__ = [
    "Candidate",
    "Encoded",
    "Kernel",
    "LinearKernel",
    "PolynomialKernel",
    "SequenceKernel",
    "TreeKernel",
]

_HOMES = {
    "Candidate": "candidate",
    "Encoded": "kernel",
    "Kernel": "kernel",
    "LinearKernel": "polynomial",
    "PolynomialKernel": "polynomial",
    "SequenceKernel": "sequences",
    "TreeKernel": "trees",
}


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(import_module(f"eigentext.kernels.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'eigentext.kernels' has no attribute {name!r}")
