r"""Two-step CCA: first the contexts, then the words (Dhillon, Foster and Ungar 2015).

One-step CCA relates a word to the thousands of words around it, of which a rare word has seen few.
Two-step CCA first learns what the words on the left, L, and on the right, R, have in common. Then
it relates a word to this small hidden state:

1. CCA of L and R gives :math:`\Phi_L` and :math:`\Phi_R` of m columns and the correlations
   :math:`\sigma`; the state of a token is :math:`S = [L\,\Phi_L,\; R\,\Phi_R]`;
2. CCA of S and the words W gives the vectors, a row of :math:`U \Sigma^\beta` for each word.

Counts by distance are enough. Let :math:`F_d[u, v]` count how often v stands d places after u, let
a side have h words with weights :math:`k_1, \dots, k_h`, and let there be a word between L and R:

.. math:: C_{LR} = \sum_{i, j \le h} k_i k_j F_{i+j}, \qquad C_{WR} = \sum_{i \le h} k_i F_i
          = C_{WL}^\top .

As in the template, counts are transformed, and the covariance of contexts is its diagonal. With
h = 1 that is exact. With whitened contexts, the SVD :math:`\Omega_{LR} = U_1 \Sigma_1 V_1^\top`
makes :math:`\Phi_L` of :math:`U_1` and :math:`\Phi_R` of :math:`V_1`, and

.. math:: C_{SS} = \begin{pmatrix} I & \Sigma_1 \\ \Sigma_1 & I \end{pmatrix}

has the eigenvalues :math:`1 \pm \sigma_i`, so that step 2 is the SVD of the thin matrix

.. math:: \Big[ \frac{\Omega_{WL} U_1 + \Omega_{WR} V_1}{\sqrt{2 (1 + \Sigma_1)}},\;
          \frac{\Omega_{WL} U_1 - \Omega_{WR} V_1}{\sqrt{2 (1 - \Sigma_1)}} \Big] .

The constant direction has :math:`\sigma_1 = 1` and no second part. After a transform the largest
singular value is not 1, so all are divided by it.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from eigentext.errors import ParameterError
from eigentext.matrices.products import sparse_times
from eigentext.moments import CooccurrenceMoments
from eigentext.words.template import Transform, decomposed, scaled_counts

_NOTHING = 1e-6  # 1 - sigma below this is zero
_DROPPED = 5  # singular values after the kept ones, to show the gap
Factors = tuple[np.ndarray, np.ndarray, dict[str, Any]]


def two_step(
    moments: CooccurrenceMoments, m: int, *, transform: Transform = "sqrt", random_state: int = 0
) -> Factors:
    """U and s of step 2 from position-sensitive moments, and the diagnostics of both spectra.

    A side has half of the window of the moments. U has a row for `RARE` too if they have one.
    """
    weights = [1 / d if moments.weighting == "distance" else 1.0 for d in _sides(moments.window)]
    C, G = joint_counts(_by_distance(moments), weights)
    return factored(C, G, m, transform=transform, random_state=random_state)


def joint_counts(by_distance: list[sp.csr_array], weights: list[float]) -> tuple[Any, Any]:
    r"""The matrices :math:`C_{WR}` and :math:`C_{LR}` from those of distances 1 to 2h."""
    h = len(weights)
    C = sum(k * F for k, F in zip(weights, by_distance))
    G = sum(
        weights[i - 1] * weights[j - 1] * by_distance[i + j - 1]
        for i in range(1, h + 1)
        for j in range(1, h + 1)
    )
    return C, G


def factored(
    C: Any,
    G: Any,
    m: int,
    *,
    transform: Transform = "sqrt",
    dtype: DTypeLike = np.float32,
    random_state: int = 0,
) -> Factors:
    r"""Both steps, given :math:`C_{WR}` and :math:`C_{LR}`, in this precision."""
    how: dict[str, Any] = {"transform": transform, "scaling": "cca", "dtype": dtype}
    Omega = scaled_counts(G, **how)
    U1, s1, Vt1, _ = decomposed(Omega, m, random_state=random_state, right=True)
    del Omega
    sigma = np.minimum(s1 / s1[0], 1).astype(dtype)
    R = _times(scaled_counts(C, **how), Vt1.T)
    L = _times(scaled_counts(sp.csr_array(C.T), **how), U1)
    apart = 1 - sigma > _NOTHING
    S = np.hstack(
        [
            (L + R) / np.sqrt(2 * (1 + sigma)),
            (L - R)[:, apart] / np.sqrt(2 * (1 - sigma[apart])),
        ]
    )
    U, s, spectrum = _thin_svd(S, m)
    return U, s, spectrum | {"context_correlations": (s1 / s1[0]).tolist()}


def _times(Omega: sp.csr_array, X: np.ndarray) -> np.ndarray:
    X = np.ascontiguousarray(X)
    return sparse_times(Omega, X) if X.dtype == np.float32 else Omega @ X


def _thin_svd(S: np.ndarray, m: int) -> Factors:
    """The first m left singular vectors and values of a tall matrix, by its small Gram matrix."""
    _, Q = np.linalg.eigh((S.T @ S).astype(np.float64))
    Q = Q[:, ::-1]
    U = S @ Q[:, : m + _DROPPED].astype(S.dtype)
    s = np.linalg.norm(U.astype(np.float64), axis=0)
    rank = int((s > s[0] * np.sqrt(len(S)) * np.finfo(S.dtype).eps).sum())
    if rank < m:
        raise ParameterError(
            f"n_components (--dim) is {m}, but the states of contexts have rank {rank}; use "
            f"{rank} or less, or give more text"
        )
    U = U[:, :m] / s[:m].astype(S.dtype)
    U *= np.where(U[np.abs(U).argmax(axis=0), np.arange(m)] < 0, -1, 1).astype(S.dtype)
    spectrum = {
        "singular_values": s[:m].tolist(),
        "dropped_singular_values": s[m:].tolist(),
        "condition": float(s[0] / s[m - 1]),
    }
    return U, s[:m].astype(S.dtype), spectrum


def _sides(window: int) -> range:
    """The distances of the words of one side."""
    return range(1, window // 2 + 1)


def _by_distance(moments: CooccurrenceMoments) -> list[sp.csr_array]:
    """The counts at each distance, without the weights of the moments."""
    F = moments.forward
    n = F.shape[0]
    found = []
    for d in range(1, 2 * (moments.window // 2) + 1):
        block = sp.csr_array(F[:, (d - 1) * n : d * n], dtype=np.float64)
        if moments.weighting == "distance":
            block.data *= d / moments.unit
        found.append(block)
    return found
