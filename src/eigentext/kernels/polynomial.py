r"""Kernels of representations :math:`\Phi` that can be written out [Collins 2003].

The linear kernel is their inner product. The polynomial kernel,

.. math:: K(a, b) = (1 + \Phi(a) \cdot \Phi(b))^p,

is the inner product of a larger representation, which has every product of up to p features of
:math:`\Phi`. For p = 2 and two features it is :math:`1, \sqrt2\Phi_1, \sqrt2\Phi_2, \Phi_1^2,
\Phi_2^2, \sqrt2\Phi_1\Phi_2`.
"""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
from scipy.sparse import issparse

from eigentext import engine
from eigentext.kernels import parameters
from eigentext.kernels.candidate import marked_structure
from eigentext.kernels.features import FeatureMatrix
from eigentext.kernels.kernel import Kernel

_ENTRIES = 1 << 20  # entries of a Gram matrix that one task computes
_FEW = 1 << 19  # multiplications that take less time than setting BLAS to one thread


class LinearKernel(Kernel):
    r""":math:`\Phi(a) \cdot \Phi(b)`.

    Parameters
    ----------
    phi : callable, optional
        From a structure to its features: a dictionary {name: value}, a pair of arrays (places,
        values) or a vector. By default structures are features themselves.

    Examples
    --------
    >>> from collections import Counter
    >>> from eigentext.kernels import LinearKernel
    >>> LinearKernel(lambda text: Counter(text.split()))("a dog and a cat", "a cat")
    3.0
    """

    _table = parameters.LinearKernel
    _part = staticmethod(marked_structure)  # a plain pair may be features

    def __init__(self, phi: Callable[[Any], Any] | None = None):
        self.phi = phi

    def _coding(self) -> tuple[Any, ...]:
        return ("features", self.phi)

    def _encode(self, structures: list[Any]) -> FeatureMatrix:
        return FeatureMatrix.of(structures if self.phi is None else map(self.phi, structures))

    def _gram(self, a: FeatureMatrix, b: FeatureMatrix) -> np.ndarray:
        A, B = a.matrix, b.within(a).matrix
        gram = np.empty((len(a), len(b)))
        limits = nullcontext()
        if a.kind == "vector" and gram.size * A.shape[1] > _FEW:
            A, B, limits = A.toarray(), B.toarray(), engine.one_blas_thread()

        def multiply(block: tuple[int, int]) -> None:
            rows = slice(*block)
            # In this order, a sparse B is not transposed again for each block.
            product = (B @ A[rows].T).T
            gram[rows] = product.toarray() if issparse(product) else product

        work = np.arange(len(a) + 1) * len(b)
        with limits:
            for _ in engine.current().map(multiply, engine.even_blocks(work, _ENTRIES)):
                pass
        return gram

    def _diagonal(self, a: FeatureMatrix) -> np.ndarray:
        return a.matrix.multiply(a.matrix).sum(axis=1)

    def _scores(self, a: FeatureMatrix, alpha: np.ndarray, b: FeatureMatrix) -> np.ndarray:
        W = a.matrix.T @ alpha
        return b.within(a).matrix @ W


class PolynomialKernel(LinearKernel):
    r""":math:`(1 + \Phi(a) \cdot \Phi(b))^p`: all products of up to p features.

    Parameters
    ----------
    degree : int
        The power p, 1 or more.
    phi : callable, optional
        From a structure to its features: a dictionary {name: value}, a pair of arrays (places,
        values) or a vector. By default structures are features themselves.

    Examples
    --------
    >>> from eigentext import PolynomialKernel
    >>> PolynomialKernel(degree=2)([1, 3], [2, 4])  # (1 + 1 * 2 + 3 * 4) ** 2
    225.0
    >>> PolynomialKernel(2).gram([{"x": 1}, {"y": 2}])
    array([[ 4.,  1.],
           [ 1., 25.]])
    """

    _table = parameters.PolynomialKernel

    def __init__(self, degree: int = 2, *, phi: Callable[[Any], Any] | None = None):
        self.degree = degree
        self.phi = phi

    def _gram(self, a: FeatureMatrix, b: FeatureMatrix) -> np.ndarray:
        return self._lift(super()._gram(a, b))

    def _diagonal(self, a: FeatureMatrix) -> np.ndarray:
        return self._lift(super()._diagonal(a))

    def _scores(self, a: FeatureMatrix, alpha: np.ndarray, b: FeatureMatrix) -> np.ndarray:
        return Kernel._scores(self, a, alpha, b.within(a))

    def _lift(self, products: np.ndarray) -> np.ndarray:
        products += 1
        with np.errstate(over="ignore"):  # the caller checks that the values are finite
            return np.power(products, self.degree, out=products)
