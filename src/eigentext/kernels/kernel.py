r"""What a kernel is: an inner product of representations that are never written out,

.. math:: K(a, b) = \Phi(a) \cdot \Phi(b)

(seed 001). ``composed`` makes kernels of kernels.
"""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from eigentext.errors import ParameterError
from eigentext.estimators import Estimator
from eigentext.kernels.candidate import structure_of

Structures = Any  # a sequence of structures, or one encoded
_BLOCK = 256  # rows of a Gram matrix that only its product with weights is wanted of


class Encoded(ABC):
    """Structures made ready for a kernel once, so that repeated use costs nothing.

    ``encoded[indices]`` are some of them; `identity` numbers them, equal structures alike;
    `coding` says which kernels they are for: those with the same ``_coding``.
    """

    coding: Any = None

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, indices: Any) -> "Encoded":
        """Those at a slice, a list or an array of positions."""

    @property
    @abstractmethod
    def identity(self) -> np.ndarray:
        """A number for each, the same for equal structures."""


class Kernel(Estimator, ABC):
    """An inner product of structures; all kernels share this interface.

    Subclasses define :meth:`_encode` and :meth:`_gram`, and the rest where there is a faster way.
    """

    def encode(self, structures: Structures) -> Encoded:
        """The structures as arrays. Log-probabilities that come with them are left aside."""
        self._check()
        if isinstance(structures, Encoded):
            if structures.coding != self._coding():
                raise ParameterError(
                    "these structures were encoded by a kernel that reads them in another way "
                    f"than {self!r:.80}; encode them with this one"
                )
            return structures
        if isinstance(structures, str):
            raise ParameterError(f"give a list of structures, not one: [{structures[:40]!r}]")
        encoded = self._encode([self._part(one) for one in structures])
        encoded.coding = self._coding()
        return encoded

    def __call__(self, a: Any, b: Any) -> float:
        """K(a, b)."""
        return float(self.gram([a], [b])[0, 0])

    def gram(self, a: Structures, b: Structures | None = None) -> np.ndarray:
        """K of each of `a` with each of `b` (by default `a` itself): a matrix."""
        first = self.encode(a)
        return _finite(self._gram(first, first if b is None else self.encode(b)))

    def diagonal(self, a: Structures) -> np.ndarray:
        """K of each with itself."""
        return _finite(self._diagonal(self.encode(a)))

    def scores(self, a: Structures, alpha: Any, b: Structures) -> np.ndarray:
        r""":math:`\sum_i \alpha_i K(a_i, b)` for each of `b`, without the matrix."""
        first, second = self.encode(a), self.encode(b)
        alpha = np.asarray(alpha, dtype=np.float64)
        if alpha.shape != (len(first),):
            raise ParameterError(f"{len(first)} structures need as many weights, not {alpha.shape}")
        return _finite(self._scores(first, alpha, second))

    def with_baseline(self, beta: float) -> "Kernel":
        """Beta times the product of log-probabilities, added to this kernel."""
        from eigentext.kernels.composed import BaselineKernel

        return BaselineKernel(self, beta)._check()

    def normalized(self) -> "Kernel":
        """K(a, b) over the root of K(a, a) K(b, b)."""
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
        """Itself, if its parameters are allowed; they may be set at any time."""
        if hasattr(self, "_table"):  # a user's own kernel may have none
            self._table.checked(self.get_params(deep=False))
        return self

    def _coding(self) -> tuple[Any, ...]:
        """What encoding depends on: kernels of the same coding may use each other's."""
        return (type(self), self.get_params(deep=False))

    # What a kernel has to define.

    _part = staticmethod(structure_of)  # of what is given, what it looks at

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
        total = values.sum()  # quicker, and nearly always enough
    if not np.isfinite(total) and not np.isfinite(values).all():
        raise ParameterError(
            "the kernel's values are beyond floating point, as those of large structures that are "
            "nearly equal can be; lower its decay or degree, or scale its features down"
        )
    return values
