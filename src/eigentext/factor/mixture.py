r"""EM for the mixture of conditionals :math:`p(g|f) = \sum_h r(h|f)\,s(g|h)` over sparse counts.

With ratios :math:`X_{fg} = C_{fg} / p(g|f)`, the expected counts of an E step are

.. math:: E[f, h] = r(h|f)\,(X s)_{fh}, \qquad E[g, h] = s(g|h)\,(X^\top r)_{gh},

and their normalization is the M step. With s (or r) held fixed the likelihood is concave in the
other, and EM finds its global maximum (Cohen and Collins 2014, figure 2 and section 8).
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigentext import engine
from eigentext.matrices.products import sparse_times

_BLOCKS = 16  # tasks of a pass


class ConditionalMixture:
    """Counts C as EM sees them: by rows for r, by columns for s.

    Parameters
    ----------
    counts : array or scipy sparse matrix, shape (d, d')
        Counts of 0 or more.
    dtype : numpy dtype
        The type of the passes. Sums of logarithms are always in float64.

    Examples
    --------
    >>> import numpy as np
    >>> mixture = ConditionalMixture(np.array([[3, 1], [1, 3]]))
    >>> r, s = np.full((2, 1), 1.0), np.full((2, 1), 0.5)
    >>> left, right, log_likelihood = mixture.expect(r, s)
    >>> left.ravel(), right.ravel(), round(log_likelihood, 3)
    (array([4., 4.]), array([4., 4.]), -5.545)
    """

    def __init__(self, counts: Any, dtype: Any = np.float64):
        counts = sp.csr_array(counts).astype(dtype)
        counts.sum_duplicates()
        self.counts: Any = counts

    @cached_property
    def _columns(self) -> Any:
        C = self.counts
        return sp.csr_array((np.arange(C.nnz), C.indices, C.indptr), C.shape).tocsc()

    def expect(
        self, r: np.ndarray, s: np.ndarray, *, right: bool = True
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """Expected counts E[f, h] (d, m) and E[g, h] (d', m), and the log-likelihood.

        Without `right`, E[g, h] is empty. Pairs of probability zero are left out.
        """
        from eigentext.factor._mixture_loops import expect_columns

        ratios, left, total = self.ratios(r, s)
        if not right:
            return left, s[:0], total
        columns = self._columns
        others = np.empty_like(s)

        def work(block: tuple[int, int]) -> None:
            expect_columns(
                columns.indptr, columns.indices, columns.data, ratios, r, s, others, *block
            )

        _run(work, columns.indptr, self.counts.nnz)
        return left, others, total

    def ratios(self, r: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """The entries of X in the order of `counts`, E[f, h], and the log-likelihood."""
        from eigentext.factor._mixture_loops import expect_rows

        C = self.counts
        ratios, left = np.empty_like(C.data), np.empty_like(r)

        def work(block: tuple[int, int]) -> float:
            return expect_rows(C.indptr, C.indices, C.data, r, s, ratios, left, *block)

        return ratios, left, float(sum(_run(work, C.indptr, C.nnz)))


def proportions(
    X: Any, phi: np.ndarray, alpha: np.ndarray, *, n_iter: int = 200, tol: float = 1e-3
) -> np.ndarray:
    r"""Each row's proportions :math:`\theta`, (n, K), of fixed distributions phi, (K, d).

    They maximize :math:`\sum_w x_w \log \sum_k \theta_k \phi_{kw} + \sum_k \alpha_k \log \theta_k`,
    a concave function: the posterior's mode under a Dirichlet(:math:`\alpha`) prior in the softmax
    basis, which exists for :math:`\alpha_k < 1` too (MacKay, *Choice of basis for Laplace
    approximation*, 1998). The steps are EM first and then Newton's method, at most `n_iter`. They
    stop when the maximum is certainly no more than `tol` for each token of the row above what is
    reached. The answer for a row does not depend on the others. An empty row gets the prior's mean.
    See :mod:`eigentext.factor._proportion_loops`.
    """
    from eigentext.factor._proportion_loops import fit_documents, padded

    X = sp.csr_array(X).astype(np.float64, copy=False)
    s = padded(np.asarray(phi).T)
    prior = np.ascontiguousarray(alpha, np.float64)
    start = prior / prior.sum() if prior.any() else np.full(len(phi), 1 / len(phi))
    theta = np.zeros((X.shape[0], s.shape[1]))
    theta[:, : len(phi)] = start

    def work(block: tuple[int, int]) -> None:
        fit_documents(X.indptr, X.indices, X.data, s, prior, theta, n_iter, tol, *block)

    _run(work, X.indptr, X.nnz)
    return np.ascontiguousarray(theta[:, : len(phi)])


def posteriors(X: Any, phi: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""Posteriors, (n, K), of rows that each come from one distribution, and log-likelihoods.

    They are :math:`r_k \propto w_k \prod_w \phi_{kw}^{x_w}`, or the prior if no k is possible.
    """
    with np.errstate(divide="ignore"):
        logs, prior = np.ascontiguousarray(np.log(phi).T), np.log(weights)
    scores = sparse_times(sp.csr_array(X).astype(np.float64), logs) + prior
    best = scores.max(axis=1, keepdims=True)
    impossible = best[:, 0] == -np.inf
    scores[impossible] = prior
    best[impossible] = 0.0
    scores = np.exp(scores - best)
    sums = scores.sum(axis=1, keepdims=True)
    likelihoods = (best + np.log(sums))[:, 0]
    likelihoods[impossible] = -np.inf
    return scores / sums, likelihoods


def pair_scores(fs: np.ndarray, gs: np.ndarray, r: np.ndarray, s: np.ndarray) -> np.ndarray:
    """The logarithm of p(g|f) for each pair of `fs` and `gs`; -inf where it is zero."""
    from eigentext.factor._mixture_loops import pair_probabilities

    out = np.empty(len(fs), r.dtype)
    edges = np.arange(len(fs) + 1)
    _run(lambda block: pair_probabilities(fs, gs, r, s, out, *block), edges, len(fs))
    with np.errstate(divide="ignore"):
        return np.log(out, dtype=np.float64)


def _run(work: Callable[[tuple[int, int]], Any], indptr: np.ndarray, n_entries: int) -> list[Any]:
    return list(engine.current().map(work, engine.even_blocks(indptr, 1 + n_entries // _BLOCKS)))
