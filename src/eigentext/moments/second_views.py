r"""Moments of documents with a second view: of words and of a row of numbers for each document.

A document has counts c over d words, :math:`n = \sum_w c_w`, and a row z of q numbers: rates of the
words of its title, or any measured numbers. The means over documents of

.. math::

    \frac{c\, z^\top}{n}, \qquad
    \frac{c \otimes c - \mathrm{diag}(c)}{n (n-1)} \otimes z

estimate :math:`E[x_1 z^\top]` and :math:`E[x_1 \otimes x_2 \otimes z]` without bias, where
:math:`x_1, x_2` are the words at two distinct positions. The second is d x d x q. It is never made,
but contracted with thin matrices W and P. With :math:`y = W^\top c` and weights :math:`\rho`, it is

.. math::

    \sum \rho\, y \otimes y \otimes P^\top z
    - \sum_w W_w \otimes W_w \otimes \sum \rho\, c_w P^\top z.
"""

from typing import Any

import numpy as np

from eigentext import engine
from eigentext.matrices.products import rows_times, sparse_times, transposed_times
from eigentext.moments.bags import BagMoments

_ROWS = 4096  # of a block of outer products


class SecondView:
    """The moments of the rows of a count matrix together with the rows of another matrix.

    Parameters
    ----------
    bags : BagMoments
        The documents, and their weights.
    rows : array or CSR matrix, shape (n, q)
        The second view, in float64.
    present : array of bool, shape (n,)
        Which documents have a second view. The others are left out of all means here.

    Examples
    --------
    >>> import numpy as np
    >>> bags = BagMoments(np.array([[2, 1], [0, 3]]))
    >>> view = SecondView(bags, np.array([[1.0], [-1.0]]), np.ones(2, bool))
    >>> view.cross(np.ones((1, 1))).round(3)
    array([[ 0.333],
           [-0.333]])
    >>> view.triples(np.eye(2), np.ones((1, 1)))[:, :, 0].round(3)
    array([[ 0.167,  0.167],
           [ 0.167, -0.5  ]])
    """

    def __init__(self, bags: BagMoments, rows: Any, present: np.ndarray):
        self._bags, self._rows = bags, rows
        self._transpose = None if isinstance(rows, np.ndarray) else rows.T.tocsr()
        n = bags.lengths
        self._ones = _normalized(bags.weights, n, present & (n > 0))
        self._pairs = _normalized(bags.weights, n * (n - 1), present & (n >= 2))

    @property
    def n_columns(self) -> int:
        """The number q of columns of the second view."""
        return self._rows.shape[1]

    def cross(self, B: np.ndarray) -> np.ndarray:
        """E[x z'] times a thin matrix, shape (d, any)."""
        return sparse_times(self._bags.transpose, self._ones[:, None] * self._times(B))

    def cross_back(self, B: np.ndarray) -> np.ndarray:
        """E[z x'] times a thin matrix, shape (q, any)."""
        Y = self._ones[:, None] * sparse_times(self._bags.counts, B)
        if self._transpose is None:
            return transposed_times(self._rows, Y)
        return sparse_times(self._transpose, Y)

    def triples(self, W: np.ndarray, P: np.ndarray) -> np.ndarray:
        """E[x1 x2 z](W, W, P), shape (K, K, m)."""
        Y = sparse_times(self._bags.counts, W)
        Z = self._pairs[:, None] * self._times(P)
        tied = sparse_times(self._bags.transpose, Z)
        with engine.one_blas_thread():  # for equal bits: see matrices.products
            return _outer(Y, Z) - _outer(W, tied)

    def _times(self, B: np.ndarray) -> np.ndarray:
        B = np.ascontiguousarray(B)
        return rows_times(self._rows, B) if self._transpose is None else sparse_times(self._rows, B)


def _normalized(weights: np.ndarray, places: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Weights of the kept documents, with sum one, divided by their `places`."""
    weights = np.where(kept, weights, 0.0)
    total = weights.sum() or 1.0
    return np.divide(weights, places * total, out=np.zeros_like(weights), where=kept)


def _outer(Y: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """The sums over rows n of Y_nj Y_nk Z_nl, shape (K, K, m)."""
    K, m = Y.shape[1], Z.shape[1]
    total = np.zeros((K, K, m))
    for start in range(0, len(Y), _ROWS):
        y, z = Y[start : start + _ROWS], Z[start : start + _ROWS]
        for j in range(K):  # only pairs j <= k: the order of j and k does not matter
            total[j, j:] += (y[:, j:] * y[:, j, None]).T @ z
    j, k = np.tril_indices(K, -1)
    total[j, k] = total[k, j]
    return total
