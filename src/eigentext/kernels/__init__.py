"""Kernels of structures, global linear models in both forms, and reranking."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eigentext.kernels.candidates import Candidate, read_candidates, write_candidates
    from eigentext.kernels.dual import KernelPerceptron
    from eigentext.kernels.kernel import Encoded, Kernel
    from eigentext.kernels.linear import Perceptron
    from eigentext.kernels.polynomial import LinearKernel, PolynomialKernel
    from eigentext.kernels.reranking import Reranker
    from eigentext.kernels.sequences import SequenceKernel
    from eigentext.kernels.trees import TreeKernel

__all__ = [
    "Candidate",
    "Encoded",
    "Kernel",
    "KernelPerceptron",
    "LinearKernel",
    "Perceptron",
    "PolynomialKernel",
    "Reranker",
    "SequenceKernel",
    "TreeKernel",
    "read_candidates",
    "write_candidates",
]

_HOMES = {
    "Candidate": "candidates",
    "Encoded": "kernel",
    "Kernel": "kernel",
    "KernelPerceptron": "dual",
    "LinearKernel": "polynomial",
    "Perceptron": "linear",
    "PolynomialKernel": "polynomial",
    "Reranker": "reranking",
    "SequenceKernel": "sequences",
    "TreeKernel": "trees",
    "read_candidates": "candidates",
    "write_candidates": "candidates",
}


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(import_module(f"eigentext.kernels.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'eigentext.kernels' has no attribute {name!r}")
