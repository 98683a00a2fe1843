r"""Steps 1 and 2 of seed 002's figure 2: counts -> the matrix :math:`\Omega` to be decomposed.

Step 1 transforms all of #(w, c), #(w) and #(c); step 2 scales, with
:math:`N(\alpha) = \sum_c \#(c)^\alpha`:

.. math::

    \Omega_{w,c} =
    \#(w,c)
    \;\Big|\; \frac{\#(w,c)}{\#(w)}
    \;\Big|\; \max\!\Big(\log\frac{\#(w,c)\,N(\alpha)}{\#(w)\,\#(c)^\alpha},\,0\Big)
    \;\Big|\; \frac{\#(w,c)}{\sqrt{\#(w)\,\#(c)^\alpha}}\sqrt{\frac{N(\alpha)}{N(1)}}

for ``none``, ``reg``, ``ppmi`` and ``cca``.
"""

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from eigentext import engine
from eigentext.errors import ParameterError

Transform = Literal["none", "log", "two-thirds", "sqrt"]
Scaling = Literal["none", "reg", "ppmi", "cca"]

TRANSFORMS = {
    "none": lambda x: x,
    "log": np.log1p,
    "two-thirds": lambda x: np.cbrt(x) ** 2,
    "sqrt": np.sqrt,
}
SCALINGS = ("none", "reg", "ppmi", "cca")
_ENTRIES = 1 << 19


def scaled_counts(
    counts: Any,
    *,
    transform: Transform = "sqrt",
    scaling: Scaling = "cca",
    alpha: float = 0.75,
    unit: int = 1,
    dtype: Any = np.float32,
) -> sp.csr_array:
    """Omega, as sparse as the counts.

    Parameters
    ----------
    counts : sparse matrix, shape (words, contexts)
        #(w, c) times `unit`; integers, or real numbers such as exact probabilities.
    transform, scaling, alpha
        As in the template. A word or context without counts has an empty row or column.
    unit : int
        What the counts are to be divided by first.
    dtype : float type of the result
        The marginal counts are always summed exactly and worked on in float64.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from eigentext.words import scaled_counts
    >>> counts = sp.csr_array([[4, 0], [1, 4]])
    >>> scaled_counts(counts, transform="none", scaling="reg").toarray()
    array([[1. , 0. ],
           [0.2, 0.8]], dtype=float32)
    """
    if transform not in TRANSFORMS:
        raise ParameterError(f"transform must be one of {', '.join(TRANSFORMS)}, not {transform!r}")
    if scaling not in SCALINGS:
        raise ParameterError(f"scaling must be one of {', '.join(SCALINGS)}, not {scaling!r}")
    if alpha > 1:
        raise ParameterError(f"alpha must be at most 1, not {alpha}")
    t = TRANSFORMS[transform]
    counts = counts.tocsr()
    word = t(counts.sum(axis=1) / unit)
    context = t(counts.sum(axis=0) / unit)
    row, column = _factors(word, context, scaling, alpha)
    row, column = row.astype(dtype), column.astype(dtype)
    data = np.empty(counts.nnz, dtype)

    def scale(rows: tuple[int, int]) -> int:
        start, stop = rows
        lengths = np.diff(counts.indptr[start : stop + 1])
        entries = slice(counts.indptr[start], counts.indptr[stop])
        values = t((counts.data[entries] / unit).astype(dtype))
        values *= np.repeat(row[start:stop], lengths)
        values *= column[counts.indices[entries]]
        if scaling == "ppmi":
            with np.errstate(divide="ignore"):
                np.maximum(np.log(values), 0, out=values)
        data[entries] = values
        return len(values)

    with engine.phase("scale", counts.nnz, "entries") as advance:
        for done in engine.current().map(scale, engine.even_blocks(counts.indptr, _ENTRIES)):
            advance(done)
    Omega = sp.csr_array((data, counts.indices, counts.indptr), shape=counts.shape)
    if scaling == "ppmi":
        Omega.eliminate_zeros()
    return Omega


def _factors(
    word: np.ndarray, context: np.ndarray, scaling: Scaling, alpha: float
) -> tuple[np.ndarray, np.ndarray]:
    """Row and column factors of step 2 (for PPMI, of the ratio inside the logarithm)."""
    smoothed = np.where(context > 0, context, 0) ** alpha if alpha else (context > 0) * 1.0
    match scaling:
        case "none":
            return np.ones(len(word)), np.ones(len(context))
        case "reg":
            return _inverse(word), np.ones(len(context))
        case "ppmi":
            return _inverse(word), smoothed.sum() * _inverse(smoothed)
        case "cca":
            constant = np.sqrt(smoothed.sum() / context.sum())
            return np.sqrt(_inverse(word)), constant * np.sqrt(_inverse(smoothed))


def _inverse(x: np.ndarray) -> np.ndarray:
    return np.divide(1.0, x, out=np.zeros(len(x)), where=x > 0)
