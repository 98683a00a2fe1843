r"""Kernels made of kernels.

Sums, products and positive multiples of kernels are kernels. A kernel divided by the norms of its
arguments has ones on its diagonal. The log-probability L of a base model can be one more component,
with the weight :math:`\sqrt\beta` ([Collins 2003], "Refinements of the kernels"):

.. math:: K'(a, b) = \beta\, L(a) L(b) + K(a, b).
"""

from typing import Any

import numpy as np

from eigentext.errors import ParameterError
from eigentext.kernels import parameters
from eigentext.kernels.candidate import as_candidate
from eigentext.kernels.kernel import Encoded, Indices, Kernel, Structures


class _Composed(Kernel):
    """A kernel made of kernels. It gives these the candidates with their log-probabilities."""

    _part = staticmethod(lambda one: one)


class SumKernel(_Composed):
    """K1(a, b) + K2(a, b): the features of both."""

    _table = parameters.SumKernel

    def __init__(self, first: Kernel, second: Kernel):
        self.first, self.second = first, second

    def _encode(self, structures: list[Any]) -> "EncodedPair":
        return EncodedPair(self.first.encode(structures), self.second.encode(structures))

    def _coding(self) -> tuple[Any, ...]:
        return ("pair", self.first._coding(), self.second._coding())

    def _gram(self, a: "EncodedPair", b: "EncodedPair") -> np.ndarray:
        return self.first._gram(a.first, b.first) + self.second._gram(a.second, b.second)

    def _diagonal(self, a: "EncodedPair") -> np.ndarray:
        return self.first._diagonal(a.first) + self.second._diagonal(a.second)

    def _scores(self, a: "EncodedPair", alpha: np.ndarray, b: "EncodedPair") -> np.ndarray:
        first = self.first._scores(a.first, alpha, b.first)
        return first + self.second._scores(a.second, alpha, b.second)


class ProductKernel(_Composed):
    """K1(a, b) K2(a, b): all pairs of a feature of one with a feature of the other."""

    _table = parameters.ProductKernel

    def __init__(self, first: Kernel, second: Kernel):
        self.first, self.second = first, second

    _encode, _coding = SumKernel._encode, SumKernel._coding

    def _gram(self, a: "EncodedPair", b: "EncodedPair") -> np.ndarray:
        return self.first._gram(a.first, b.first) * self.second._gram(a.second, b.second)

    def _diagonal(self, a: "EncodedPair") -> np.ndarray:
        return self.first._diagonal(a.first) * self.second._diagonal(a.second)


class ScaledKernel(_Composed):
    """A positive multiple of a kernel."""

    _table = parameters.ScaledKernel

    def __init__(self, kernel: Kernel, scale: float):
        self.kernel = kernel
        self.scale = scale

    def _encode(self, structures: list[Any]) -> Encoded:
        return self.kernel.encode(structures)

    def _coding(self) -> tuple[Any, ...]:
        return self.kernel._coding()

    def _gram(self, a: Encoded, b: Encoded) -> np.ndarray:
        return self.scale * self.kernel._gram(a, b)

    def _diagonal(self, a: Encoded) -> np.ndarray:
        return self.scale * self.kernel._diagonal(a)

    def _scores(self, a: Encoded, alpha: np.ndarray, b: Encoded) -> np.ndarray:
        return self.scale * self.kernel._scores(a, alpha, b)


class NormalizedKernel(_Composed):
    """K(a, b) divided by the root of K(a, a) K(b, b), or 0 if a norm is 0."""

    _table = parameters.NormalizedKernel

    def __init__(self, kernel: Kernel):
        self.kernel = kernel

    def encode(self, structures: Structures) -> Encoded:
        """Encode structures, or what the inner kernel encoded, and compute their norms."""
        self._check()
        if isinstance(structures, Encoded) and structures.coding == self.kernel._coding():
            encoded = self._encode(structures)
            encoded.coding = self._coding()
            return encoded
        return super().encode(structures)

    def _coding(self) -> tuple[Any, ...]:
        # Norms depend on all parameters of the kernel, not only on its coding.
        given = {"": self.kernel, **self.kernel.get_params()}
        plain = {n: type(v).__name__ if isinstance(v, Kernel) else v for n, v in given.items()}
        return ("normalized", self.kernel._coding(), plain)

    def _encode(self, structures: Structures) -> "Weighted":
        inner = self.kernel.encode(structures)
        norms = np.sqrt(self.kernel.diagonal(inner))
        return Weighted(inner, np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0))

    def _gram(self, a: "Weighted", b: "Weighted") -> np.ndarray:
        return a.weights[:, None] * self.kernel._gram(a.inner, b.inner) * b.weights

    def _diagonal(self, a: "Weighted") -> np.ndarray:
        return (a.weights > 0).astype(np.float64)

    def _scores(self, a: "Weighted", alpha: np.ndarray, b: "Weighted") -> np.ndarray:
        return self.kernel._scores(a.inner, alpha * a.weights, b.inner) * b.weights


class BaselineKernel(_Composed):
    """Beta L(a) L(b) + K(a, b), for structures that come with their log-probabilities L."""

    _table = parameters.BaselineKernel

    def __init__(self, kernel: Kernel, beta: float):
        self.kernel = kernel
        self.beta = beta

    def _encode(self, structures: list[Any]) -> "Weighted":
        candidates = [as_candidate(one) for one in structures]
        logs = np.array([np.nan if one is None else one.log_probability for one in candidates])
        if not np.isfinite(logs).all():
            wrong = int(np.flatnonzero(~np.isfinite(logs))[0])
            said = "no" if np.isnan(logs[wrong]) else "an infinite"
            raise ParameterError(
                f"structure {wrong} has {said} log-probability; give Candidate(structure, "
                "log_probability) with a finite one, or take a kernel without a baseline"
            )
        return Weighted(self.kernel.encode(structures), logs)

    def _coding(self) -> tuple[Any, ...]:
        return ("logs", self.kernel._coding())

    def _gram(self, a: "Weighted", b: "Weighted") -> np.ndarray:
        return self.beta * np.outer(a.weights, b.weights) + self.kernel._gram(a.inner, b.inner)

    def _diagonal(self, a: "Weighted") -> np.ndarray:
        return self.beta * a.weights**2 + self.kernel._diagonal(a.inner)

    def _scores(self, a: "Weighted", alpha: np.ndarray, b: "Weighted") -> np.ndarray:
        baseline = self.beta * (alpha @ a.weights) * b.weights
        return baseline + self.kernel._scores(a.inner, alpha, b.inner)


class EncodedPair(Encoded):
    """Structures, each encoded for two kernels."""

    def __init__(self, first: Encoded, second: Encoded):
        self.first, self.second = first, second

    def __len__(self) -> int:
        return len(self.first)

    def __getitem__(self, indices: Indices) -> "EncodedPair":
        some = EncodedPair(self.first[indices], self.second[indices])
        some.coding = self.coding
        return some

    @property
    def identity(self) -> np.ndarray:
        """A number for each, the same for equal structures."""
        return _paired(self.first.identity, self.second.identity)


class Weighted(Encoded):
    """Structures, each with a number."""

    def __init__(self, inner: Encoded, weights: np.ndarray):
        self.inner, self.weights = inner, weights

    def __len__(self) -> int:
        return len(self.inner)

    def __getitem__(self, indices: Indices) -> "Weighted":
        some = Weighted(self.inner[indices], self.weights[indices])
        some.coding = self.coding
        return some

    @property
    def identity(self) -> np.ndarray:
        """A number for each, the same for equal structures."""
        return _paired(self.inner.identity, np.unique(self.weights, return_inverse=True)[1])


def _paired(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return one number for each pair of numbers, the same for equal pairs."""
    both = np.stack([first, second], axis=1)
    return np.unique(both, axis=0, return_inverse=True)[1].ravel()
