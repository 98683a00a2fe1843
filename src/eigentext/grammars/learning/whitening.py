r"""How the features of the nodes of a label are scaled before the SVD of their cross-moments.

A canonical correlation analysis multiplies features by the inverse square root of their covariance:
:math:`\phi \mapsto C^{-1/2} \phi` with :math:`C = E[\phi \phi^\top]`. The features of a template
are exclusive, so that C is diagonal within a template, but not between templates. Two ways:

* "diagonal" takes the diagonal of C alone: each feature is multiplied by sqrt(M / (count + kappa))
  for a label of M nodes. This is what [Cohen et al. 2013] do.
* "exact" takes all of C for the features that most nodes have, up to `MOST` of them, and the
  diagonal for the others. The ridge kappa / M keeps C invertible: the features of each template add
  up to one, so that C has a zero direction for each further template.

Any square root of C serves, as two of them differ by a rotation, which the SVD undoes. "exact"
takes the factor of Cholesky, :math:`C = L L^\top`, and multiplies by :math:`L^{-1}`.

[Cohen et al. 2013] S. Cohen, K. Stratos, M. Collins, D. Foster and L. Ungar, Experiments with
spectral learning of latent-variable PCFGs, NAACL 2013.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cholesky, solve_triangular
from scipy.sparse.linalg import LinearOperator

from eigentext.factor.svd import svd

MOST = 1500  # features whose covariances count: their factor takes 18 MB, and a second to compute
_LEAST = 1e-9  # the least ridge, as a share of the number of nodes


class Whitening(NamedTuple):
    """The matrix T with which features are multiplied from the right.

    Attributes
    ----------
    block
        The features that are whitened together.
    factor
        Their L, so that their part of T is the transpose of its inverse.
    scale
        What each feature is multiplied by before that. With `factor`, one for those in the block.
    after
        What each row of the result is multiplied by.
    """

    block: np.ndarray
    factor: np.ndarray
    scale: np.ndarray
    after: np.ndarray

    def times(self, X: np.ndarray) -> np.ndarray:
        """T X."""
        found = (self.scale * self.after)[:, None] * X
        found[self.block] = solve_triangular(
            self.factor, found[self.block], lower=True, trans=1, check_finite=False
        )
        return found

    def transposed_times(self, X: np.ndarray) -> np.ndarray:
        """T^T X."""
        found = X.copy()
        found[self.block] = solve_triangular(
            self.factor, X[self.block], lower=True, check_finite=False
        )
        return (self.scale * self.after)[:, None] * found


def whitening(
    features: sp.csr_array,
    weights: np.ndarray,
    kappa: float,
    noise: float = 0.0,
    rng: np.random.Generator | None = None,
    most: int = MOST,
) -> Whitening:
    """The exact whitening of features with these weights of the nodes.

    Parameters
    ----------
    features
        A row for each node.
    weights
        How often each node occurs.
    kappa
        What is added to the counts on the diagonal of C. With infinity nothing is scaled.
    noise, rng
        The result is multiplied by normal variables of mean one and this standard deviation.
    most
        How many features to whiten together, at most. Of equally frequent ones, the first.
    """
    total, counts = weights.sum(), features.T @ weights
    n = len(counts)
    after = np.ones(n) if rng is None else 1 + noise * rng.standard_normal(n)
    if not np.isfinite(kappa):
        return Whitening(np.empty(0, np.int64), np.empty((0, 0)), np.ones(n), after)
    ridge = max(kappa, _LEAST * total)
    block = np.sort(np.argsort(-counts, kind="stable")[:most])
    scale = np.sqrt(total / (counts + ridge))
    scale[block] = 1.0
    some = features[:, block]
    C = (some.T @ sp.diags_array(weights) @ some).toarray()
    C[np.diag_indices_from(C)] += ridge
    return Whitening(block, cholesky(C / total, lower=True, overwrite_a=True), scale, after)


def canonical_directions(
    phi: sp.csr_array,
    psi: sp.csr_array,
    weights: np.ndarray,
    left: Whitening,
    right: Whitening,
    most: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """U, s and V of the whitened cross-moments, so that phi U and psi V are the projections.

    There are at most as many directions as either side has features.
    """
    omega = sp.csr_array((sp.diags_array(weights / weights.sum()) @ phi).T @ psi)
    U, s, Vt = svd(_Whitened(omega, left, right), min(most, len(left.scale), len(right.scale)))
    return left.times(U), s, right.times(Vt.T)


class _Whitened(LinearOperator):
    """The transpose of a whitening, times a sparse matrix, times another whitening."""

    def __init__(self, omega: sp.csr_array, left: Whitening, right: Whitening):
        super().__init__(np.float64, omega.shape)
        self._omega, self._back = omega, sp.csr_array(omega.T)
        self._left, self._right = left, right

    def _matmat(self, X: np.ndarray) -> np.ndarray:
        return self._left.transposed_times(self._omega @ self._right.times(X))

    def _rmatmat(self, X: np.ndarray) -> np.ndarray:
        return self._right.transposed_times(self._back @ self._left.times(X))
