"""Kernels of structures: trees, tagged sequences, polynomials, and kernels made of kernels."""

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

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
# Names and modules of other rooms that this package also offers, with a DeprecationWarning.
_ELSEWHERE = {
    "KernelPerceptron": "eigentext.linear",
    "Perceptron": "eigentext.linear",
    "Reranker": "eigentext.reranking",
    "jackknife": "eigentext.reranking",
    "read_candidates": "eigentext.reranking",
    "write_candidates": "eigentext.reranking",
}
_MODULES_ELSEWHERE = {
    "candidates": "eigentext.reranking.candidates",
    "dual": "eigentext.linear.dual",
    "folds": "eigentext.reranking.folds",
    "linear": "eigentext.linear.perceptron",
    "measures": "eigentext.reranking.measures",
    "report": "eigentext.reranking.report",
    "reranker": "eigentext.reranking.reranker",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"eigentext.kernels.{_HOMES[name]}"), name)
    if name not in _ELSEWHERE and name not in _MODULES_ELSEWHERE:
        raise AttributeError(f"module 'eigentext.kernels' has no attribute {name!r}")
    home = _ELSEWHERE[name] + f".{name}" if name in _ELSEWHERE else _MODULES_ELSEWHERE[name]
    warnings.warn(
        f"eigentext.kernels.{name} is called {home} now", DeprecationWarning, stacklevel=2
    )
    if name in _ELSEWHERE:
        return getattr(import_module(_ELSEWHERE[name]), name)
    return import_module(home)
