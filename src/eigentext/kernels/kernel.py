r"""A kernel is an inner product of representations that are never written out [Collins 2003]:

.. math:: K(a, b) = \Phi(a) \cdot \Phi(b)

The module ``composed`` makes kernels of kernels.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from eigentext.errors import ParameterError
from eigentext.estimators import Estimator
from eigentext.kernels.candidate import structure_of

Structures = Any  # a sequence of structures, or an Encoded
Indices = slice | Sequence[int] | np.ndarray  # of some structures
_BLOCK = 256  # rows of a Gram matrix that are multiplied by weights at a time


class Encoded(ABC):
    """Structures in the form that a kernel computes with, for repeated use.

    ``encoded[indices]`` selects structures. `identity` has a number for each, the same for equal
    structures. `coding` says which kernels can use them: kernels with an equal ``_coding``.
    """

    coding: Any = None

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, indices: Indices) -> "Encoded":
        """Return the structures at a slice, a list or an array of positions."""

    @property
    @abstractmethod
    def identity(self) -> np.ndarray:
        """A number for each structure, the same for equal structures."""


class Kernel(Estimator, ABC):
    """An inner product of structures. All kernels share this interface.

    Subclasses define :meth:`_encode` and :meth:`_gram`. They may define :meth:`_diagonal` and
    :meth:`_scores` if there is a faster way.
    """

    def encode(self, structures: Structures) -> Encoded:
        """Encode structures for this kernel. Log-probabilities of candidates are ignored."""
        self._check()
        if isinstance(structures, Encoded):
            if structures.coding != self._coding():
                raise ParameterError(
                    "these structures were encoded by a kernel that reads them in another way "
                    f"than {self!r:.80}; encode them with this kernel"
                )
            return structures
        if isinstance(structures, str):
            raise ParameterError(f"give a list of structures, not one: [{structures[:40]!r}]")
        encoded = self._encode([self._part(one) for one in structures])
        encoded.coding = self._coding()
        return encoded

    def __call__(self, a: Any, b: Any) -> float:
        """Return K(a, b)."""
        return float(self.gram([a], [b])[0, 0])

    def gram(self, a: Structures, b: Structures | None = None) -> np.ndarray:
        """Return the matrix of K between all of `a` and all of `b` (by default `a` itself)."""
        first = self.encode(a)
        return _finite(self._gram(first, first if b is None else self.encode(b)))

    def diagonal(self, a: Structures) -> np.ndarray:
        """Return K of each structure with itself."""
        return _finite(self._diagonal(self.encode(a)))

    def scores(self, a: Structures, alpha: Any, b: Structures) -> np.ndarray:
        r"""Return :math:`\sum_i \alpha_i K(a_i, b)` for each of `b`, without the whole matrix."""
        first, second = self.encode(a), self.encode(b)
        alpha = np.asarray(alpha, dtype=np.float64)
        if alpha.shape != (len(first),):
            raise ParameterError(f"{len(first)} structures need as many weights, not {alpha.shape}")
        return _finite(self._scores(first, alpha, second))

    def with_baseline(self, beta: float) -> "Kernel":
        """Return the sum of this kernel and beta times the product of the log-probabilities."""
        from eigentext.kernels.composed import BaselineKernel

        return BaselineKernel(self, beta)._check()

    def normalized(self) -> "Kernel":
        """Return the kernel that is K(a, b) divided by the root of K(a, a) K(b, b)."""
        from eigentext.kernels.composed import NormalizedKernel

        return NormalizedKernel(self)

    def __add__(self, other: "Kernel") -> "Kernel":
        from eigentext.kernels.composed import SumKernel

        return SumKernel(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: "Kernel | float") -> "Kernel":
        from eigentext.kernels.composed import ProductKernel, ScaledKernel

        if isinstance(other, Kernel):
            return ProductKernel(self, other)
        return ScaledKernel(self, other)._check()

    __rmul__ = __mul__

    def _check(self) -> Self:
        """Return this kernel, or raise ParameterError if a parameter is not allowed."""
        if hasattr(self, "_table"):  # the kernel of a user may have no table
            self._table.checked(self.get_params(deep=False))
        return self

    def _coding(self) -> tuple[Any, ...]:
        """What encoding depends on. Kernels with equal codings can use the same `Encoded`."""
        return (type(self), self.get_params(deep=False))

    # What a kernel has to define.

    _part = staticmethod(structure_of)  # the part of a given thing that the kernel encodes

    @abstractmethod
    def _encode(self, structures: list[Any]) -> Encoded: ...

    @abstractmethod
    def _gram(self, a: Any, b: Any) -> np.ndarray: ...

    def _diagonal(self, a: Any) -> np.ndarray:
        return np.array([self._gram(a[[i]], a[[i]])[0, 0] for i in range(len(a))])

    def _scores(self, a: Any, alpha: np.ndarray, b: Any) -> np.ndarray:
        total = np.zeros(len(b))
        for start in range(0, len(a), _BLOCK):
            rows = slice(start, start + _BLOCK)
            total += alpha[rows] @ self._gram(a[rows], b)
        return total


def _finite(values: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        total = values.sum()  # faster than a look at each value, and nearly always enough
    if not np.isfinite(total) and not np.isfinite(values).all():
        raise ParameterError(
            "the kernel's values are beyond floating point, which happens if large structures "
            "are nearly equal; lower its decay or degree, or scale its features down"
        )
    return values
