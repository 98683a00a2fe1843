r"""Moments of bags of words, which are never made in full.

For a document with counts c and :math:`n = \sum_w c_w` words, the average of
:math:`x_1 x_2^\top` over pairs of *distinct* positions, and that of
:math:`x_1 \otimes x_2 \otimes x_3` over triples of them, are

.. math::

    \frac{c c^\top - \mathrm{diag}(c)}{n (n-1)}, \qquad
    \frac{c \otimes c \otimes c - \mathrm{sym}_3 \sum_w c_w\, e_w \otimes e_w \otimes c
    + 2 \sum_w c_w\, e_w \otimes e_w \otimes e_w}{n (n-1) (n-2)},

with :math:`\mathrm{sym}_3` the sum over the three places of c. Their weighted means over documents
estimate the moments of Anandkumar et al. (2014) without bias. The first is d x d and the second
d x d x d, so neither is ever made. The pair moment is multiplied by thin matrices. The triple
moment is contracted to :math:`T(W, W, W)` for a W of K columns. With :math:`y = W^\top c`, weights
:math:`\rho` over documents and :math:`Z = \sum \rho\, c\, y^\top`, this is

.. math::

    \sum \rho\, y \otimes y \otimes y
    - \mathrm{sym}_3 \sum_w W_w \otimes W_w \otimes
    \bigl(Z_w - \tfrac{2}{3} {\textstyle\sum} \rho\, c_w\, W_w\bigr).
"""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from eigentext import engine
from eigentext.matrices.products import sparse_times

_ROWS = 4096  # of a block of outer products


class BagMoments:
    """First, pair and triple moments of the rows of a count matrix.

    Each moment is a mean over the documents that are long enough to have it.

    Parameters
    ----------
    counts : array or scipy sparse matrix, shape (n, d)
        Documents by words. Counts are not negative.
    weights : array, shape (n,), optional
        The weights of the documents in every mean; by default all are equal.

    Examples
    --------
    >>> import numpy as np
    >>> bags = BagMoments(np.array([[2, 1], [0, 3]]))
    >>> bags.mean
    array([0.33333333, 0.66666667])
    >>> bags.pairs_times(np.eye(2))
    array([[0.16666667, 0.16666667],
           [0.16666667, 0.5       ]])
    >>> bags.triples(np.ones((2, 1)))
    array([[[1.]]])
    """

    def __init__(self, counts: Any, weights: np.ndarray | None = None):
        self.counts: Any = sp.csr_array(counts).astype(np.float64)
        self.transpose: Any = self.counts.T.tocsr()  # pays off with the third product
        self.lengths = self.counts.sum(axis=1)
        self._weigh(np.ones(len(self.lengths)) if weights is None else weights)

    def reweighted(self, weights: np.ndarray) -> Self:
        """The moments of the same documents with other weights."""
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        other._weigh(weights)
        return other

    def _weigh(self, weights: np.ndarray) -> None:
        self.weights = np.asarray(weights, np.float64)
        n = self.lengths
        # n > 2 is enough for whole counts. With fractions, 2.001 words would outweigh all others.
        self._ones, self._pairs, self._triples = (
            _normalized(self.weights, places, long_enough)
            for places, long_enough in (
                (n, n > 0),
                (n * (n - 1), n >= 2),
                (n * (n - 1) * (n - 2), n >= 3),
            )
        )
        columns = np.column_stack([self._ones, self._pairs, self._triples])
        self.mean, self._pair_diagonal, self._triple_diagonal = self._back(columns).T

    @property
    def n_words(self) -> int:
        """The number d of words."""
        return self.counts.shape[1]

    def pairs_times(self, B: np.ndarray) -> np.ndarray:
        """The pair moment times a thin matrix."""
        product = self._back(self._pairs[:, None] * sparse_times(self.counts, B))
        return product - self._pair_diagonal[:, None] * B

    def pair_shares(self, W: np.ndarray) -> np.ndarray:
        """The part of each document in the trace of W' (pair moment) W."""
        squares = sparse_times(self.counts, (W**2).sum(axis=1)[:, None])[:, 0]
        return self._pairs * ((sparse_times(self.counts, W) ** 2).sum(axis=1) - squares)

    def pair_values(self, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The diagonal of W' (pair moment) W, and its standard errors as a mean over documents."""
        shares = sparse_times(self.counts, W) ** 2 - sparse_times(self.counts, W**2)
        shares *= self._pairs[:, None]
        values = shares.sum(axis=0)
        parts = self._pairs * self.lengths * (self.lengths - 1)  # their sum is 1
        rest = shares - values * parts[:, None]
        return values, np.sqrt((rest**2).sum(axis=0))

    def triples(self, W: np.ndarray) -> np.ndarray:
        """The triple moment contracted with W on all sides, shape (K, K, K)."""
        Y = sparse_times(self.counts, W)
        R = self._triples[:, None] * Y
        Z = self._back(R) - 2 / 3 * self._triple_diagonal[:, None] * W
        with engine.one_blas_thread():  # for equal bits: see matrices.products
            cubes, ties = _thrice(Y, R), _thrice(W, Z)
        return cubes - ties - ties.transpose(0, 2, 1) - ties.transpose(2, 1, 0)

    def _back(self, Y: np.ndarray) -> np.ndarray:
        return sparse_times(self.transpose, Y)


def _normalized(weights: np.ndarray, places: np.ndarray, long_enough: np.ndarray) -> np.ndarray:
    """Weights of the documents that are long enough, with sum one, divided by their `places`."""
    kept = np.where(long_enough, weights, 0.0)
    total = kept.sum()
    return np.divide(kept, places * (total or 1.0), out=np.zeros_like(kept), where=long_enough)


def _thrice(Y: np.ndarray, R: np.ndarray) -> np.ndarray:
    """The sums over rows n of Y_nj Y_nk R_nl, shape (K, K, K)."""
    K = Y.shape[1]
    blocks = [slice(start, start + _ROWS) for start in range(0, len(Y), _ROWS)]
    total = np.zeros((K, K, K))

    def work(block: slice) -> np.ndarray:
        y, r = Y[block], R[block]
        part = np.zeros((K, K, K))
        for j in range(K):  # only pairs j <= k: the order of j and k does not matter
            np.matmul((y[:, j:] * y[:, j, None]).T, r, out=part[j, j:])
        return part

    for part in engine.current().map(work, blocks):
        total += part
    j, k = np.tril_indices(K, -1)
    total[j, k] = total[k, j]
    return total
