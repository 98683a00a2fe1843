r"""EM for the mixture of conditionals :math:`p(g|f) = \sum_h r(h|f)\,s(g|h)` over sparse counts.

With ratios :math:`X_{fg} = C_{fg} / p(g|f)`, the expected counts of an E step are

.. math:: E[f, h] = r(h|f)\,(X s)_{fh}, \qquad E[g, h] = s(g|h)\,(X^\top r)_{gh},

and their normalisation is the M step. With s (or r) held fixed the likelihood is concave in the
other, and EM finds its global maximum (seed 003, figure 2 and section 8).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigentext import engine

_BLOCKS = 16  # tasks of a pass


class ConditionalMixture:
    """Counts C as EM sees them: by rows for r, by columns for s.

    Parameters
    ----------
    counts : array or scipy sparse matrix, shape (d, d')
        Not negative.
    dtype : numpy dtype
        In which passes work; sums of logarithms are in float64 all the same.

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
        places = sp.csr_array((np.arange(counts.nnz), counts.indices, counts.indptr), counts.shape)
        self._columns: Any = places.tocsc()

    def expect(
        self, r: np.ndarray, s: np.ndarray, *, right: bool = True
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """Expected counts E[f, h] (d, m) and E[g, h] (d', m), and the log-likelihood.

        Without `right`, E[g, h] is empty. Pairs of probability zero are passed over.
        """
        from eigentext.factor._mixture_kernels import expect_columns

        ratios, left, total = self.ratios(r, s)
        C, columns = self.counts, self._columns
        others = np.empty_like(s) if right else s[:0]

        def work(block: tuple[int, int]) -> None:
            expect_columns(
                columns.indptr, columns.indices, columns.data, ratios, r, s, others, *block
            )

        if right:
            _run(work, columns.indptr, C.nnz)
        return left, others, total

    def ratios(self, r: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """The entries of X in the order of `counts`, E[f, h], and the log-likelihood."""
        from eigentext.factor._mixture_kernels import expect_rows

        C = self.counts
        ratios, left = np.empty_like(C.data), np.empty_like(r)

        def work(block: tuple[int, int]) -> float:
            return expect_rows(C.indptr, C.indices, C.data, r, s, ratios, left, *block)

        return ratios, left, float(sum(_run(work, C.indptr, C.nnz)))


def pair_scores(fs: np.ndarray, gs: np.ndarray, r: np.ndarray, s: np.ndarray) -> np.ndarray:
    """The logarithm of p(g|f) for each pair of `fs` and `gs`; -inf where it is zero."""
    from eigentext.factor._mixture_kernels import pair_probabilities

    out = np.empty(len(fs), r.dtype)
    edges = np.arange(len(fs) + 1)
    _run(lambda block: pair_probabilities(fs, gs, r, s, out, *block), edges, len(fs))
    with np.errstate(divide="ignore"):
        return np.log(out, dtype=np.float64)


def _run(work: Callable[[tuple[int, int]], Any], indptr: np.ndarray, n_entries: int) -> list[Any]:
    return list(engine.current().map(work, engine.even_blocks(indptr, 1 + n_entries // _BLOCKS)))
