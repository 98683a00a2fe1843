r"""Steps 1 to 3 of the spectral template: counts -> the matrix :math:`\Omega` -> its factors.

Figure 2 of Stratos, Collins and Hsu (2015).

Step 1 transforms all of #(w, c), #(w) and #(c); step 2 scales, with
:math:`N(\alpha) = \sum_c \#(c)^\alpha`:

.. math::

    \Omega_{w,c} =
    \#(w,c)
    \;\Big|\; \frac{\#(w,c)}{\#(w)}
    \;\Big|\; \max\!\Big(\log\frac{\#(w,c)\,N(\alpha)}{\#(w)\,\#(c)^\alpha},\,0\Big)
    \;\Big|\; \frac{\#(w,c)}{\sqrt{\#(w)\,\#(c)^\alpha}}\sqrt{\frac{N(\alpha)}{N(1)}}

for ``none``, ``reg``, ``ppmi`` and ``cca``. Step 3 is the SVD of rank m.
"""

from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from eigentext import engine
from eigentext.errors import ParameterError
from eigentext.factor import svd
from eigentext.matrices import budget
from eigentext.matrices.budget import give_back
from eigentext.matrices.disk import Growing, rows_of
from eigentext.matrices.products import Factorable, row_blocks, scaled_symmetric, with_transpose
from eigentext.matrices.runs import assembled, is_on_disk, sums, transposed
from eigentext.matrices.tiles import SymmetricTiles
from eigentext.moments import CooccurrenceMoments
from eigentext.moments.uncounted import Uncounted, uncounted
from eigentext.parameters import Choice, Count, Number, argument
from eigentext.storage.maps import forget

Transform = Literal["none", "log", "two-thirds", "sqrt"]
Scaling = Literal["none", "reg", "ppmi", "cca"]

TRANSFORMS = {
    "none": lambda x: x,
    "log": np.log1p,
    "two-thirds": lambda x: np.cbrt(x) ** 2,
    "sqrt": np.sqrt,
}
SCALINGS = ("none", "reg", "ppmi", "cca")
_TRANSFORM = Choice("sqrt", of=tuple(TRANSFORMS))
_SCALING = Choice("cca", of=SCALINGS)
_ALPHA = Number(1.0, most=1)
_LARGEST = 1e30  # of counts: the largest number of single precision is 3e38
_ENTRIES = 1 << 19  # that one task scales
_THIN = 4 * 8 * 32  # bytes of a row of the thin matrices that are in memory during the SVD
_LARGE = 64_000_000  # bytes of a basis in single precision
_DROPPED = 5  # how many singular values after the kept ones are computed, to show the gap


def scaled_counts(
    counts: Any,
    *,
    transform: Transform = "sqrt",
    scaling: Scaling = "cca",
    alpha: float = 1.0,
    unit: int = 1,
    dtype: DTypeLike = np.float32,
) -> sp.csr_array:
    """Omega, as sparse as the counts.

    Parameters
    ----------
    counts : sparse matrix, shape (words, contexts)
        #(w, c) times `unit`: integers, or real numbers such as exact probabilities.
    transform, scaling, alpha
        Those of the template. A word or context without counts has an empty row or column.
    unit : int
        The number by which the counts are divided first.
    dtype : float type of the result
        The sums of rows and columns are always exact and in float64.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from eigentext.words import scaled_counts
    >>> counts = sp.csr_array([[4, 0], [1, 4]])
    >>> scaled_counts(counts, transform="none", scaling="reg").toarray()
    array([[1. , 0. ],
           [0.2, 0.8]], dtype=float32)
    """
    t = _checked(transform, scaling, alpha)
    counts = _counts(counts, single=np.dtype(dtype).itemsize < 8)
    unit = argument("unit", Count(1), unit)
    word, context = sums(counts)
    left, right = _factors(t(word / unit), t(context / unit), scaling, alpha)
    left, right = left.astype(dtype), right.astype(dtype)

    def scaled(rows: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        starts, indices, numbers = rows_of(counts, *rows)
        values = t((numbers / unit).astype(dtype))
        values *= np.repeat(left[slice(*rows)], np.diff(starts))
        values *= right[indices]
        if scaling == "ppmi":
            with np.errstate(divide="ignore"):
                np.maximum(np.log(values), 0, out=values)
        return starts, indices, values

    if is_on_disk(counts):
        with engine.phase("scale", counts.nnz, "entries") as advance:
            work = counts.indptr.astype(np.int64)
            return assembled(
                lambda rows: _nonzero(*scaled(rows)), work, counts.shape, advance, dtype, keep=0
            )
    data = np.empty(counts.nnz, dtype)

    def scale(rows: tuple[int, int]) -> int:
        values = scaled(rows)[2]
        data[counts.indptr[rows[0]] : counts.indptr[rows[1]]] = values
        return len(values)

    with engine.phase("scale", counts.nnz, "entries") as advance:
        for done in engine.current().map(scale, engine.even_blocks(counts.indptr, _ENTRIES)):
            advance(done)
    parts = data, counts.indices, counts.indptr
    Omega = sp.csr_array(parts, shape=counts.shape, copy=scaling == "ppmi")
    if scaling == "ppmi":
        Omega.eliminate_zeros()
    return Omega


def _nonzero(
    starts: np.ndarray, indices: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rows without the zeros that PPMI makes; frees the memory that reading them took."""
    kept = values != 0
    rows = np.concatenate([[0], np.cumsum(kept)])[starts], indices[kept], values[kept]
    forget(indices)
    return rows


def scaled_moments(
    moments: CooccurrenceMoments,
    *,
    transform: Transform = "sqrt",
    scaling: Scaling = "cca",
    alpha: float = 1.0,
) -> tuple[Factorable | sp.csr_array, int]:
    """Steps 1 and 2: Omega in the form that :func:`decomposed` takes, and the number of pairs.

    Where the memory budget has no room for Omega, it is on disk.
    """
    steps = {"transform": transform, "scaling": scaling, "alpha": alpha}
    n_words = len(moments.vocabulary)
    remedy = "raise the memory (--memory), or min_count for fewer words"
    with budget.reserving(_THIN * n_words, f"{n_words:,} words", remedy):  # for the SVD
        if moments.context == "bag" and scaling != "ppmi":
            if text := uncounted(moments):
                left, T, right = factored_text(moments, text, **steps)
            else:
                left, T, right = factored_counts(moments, **steps)
            return scaled_symmetric(left, T, right), int(T.nnz)
        with budget.shared_by(3):  # the counts, Omega and its transpose
            counts = moments.counts()
        Omega = scaled_counts(counts, **steps, unit=moments.unit)
        if is_on_disk(Omega):
            return with_transpose(Omega, transposed(Omega)), int(counts.nnz)
        return Omega, int(counts.nnz)


def factored_counts(
    moments: CooccurrenceMoments,
    *,
    transform: Transform = "sqrt",
    scaling: Scaling = "cca",
    alpha: float = 1.0,
    dtype: DTypeLike = np.float32,
) -> tuple[np.ndarray, sp.csr_array, np.ndarray]:
    """Omega in three parts, ``diag(left) T diag(right)``, from moments.

    T, the transformed counts, is symmetric for bags of contexts. PPMI has no such parts. The other
    parameters are those of :func:`scaled_counts`. T is on disk if the memory budget has no room for
    it.
    """
    t = _checked(transform, scaling, alpha)
    if scaling == "ppmi":
        raise ParameterError("the logarithm of PPMI cannot be split; use scaled_counts")
    unit = moments.unit
    word, context = (t(total / unit) for total in moments.totals())
    T = moments.counts(lambda counts: t((counts / unit).astype(dtype)), dtype)
    left, right = _factors(word, context, scaling, alpha)
    return left.astype(dtype), T, right.astype(dtype)


def factored_text(
    moments: CooccurrenceMoments,
    text: Uncounted,
    *,
    transform: Transform = "sqrt",
    scaling: Scaling = "cca",
    alpha: float = 1.0,
    dtype: DTypeLike = np.float32,
) -> tuple[np.ndarray, SymmetricTiles, np.ndarray]:
    """What :func:`factored_counts` returns, with T in tiles, from the text of uncounted moments."""
    t = _checked(transform, scaling, alpha)
    unit = moments.unit
    T, total = text.symmetric(lambda counts: t((counts / unit).astype(dtype)), dtype)
    word = t(total / unit)
    left, right = _factors(word, word, scaling, alpha)
    return left.astype(dtype), T, right.astype(dtype)


def _checked(transform: Transform, scaling: Scaling, alpha: float) -> Any:
    """The function of a transform; raises a ParameterError if a step is unknown."""
    argument("scaling", _SCALING, scaling)
    argument("alpha", _ALPHA, alpha)
    return TRANSFORMS[argument("transform", _TRANSFORM, transform)]


def _counts(counts: Any, single: bool) -> sp.csr_array:
    """The counts as CSR; raises a ParameterError unless they are numbers of 0 or more.

    If Omega is to have `single` precision, they must not leave its range.
    """
    try:
        counts = counts.tocsr() if sp.issparse(counts) else sp.csr_array(np.asarray(counts))
    except (TypeError, ValueError) as error:
        raise ParameterError(f"counts must be a matrix of numbers: {error}") from error
    if counts.ndim != 2 or counts.dtype.kind not in "iuf":
        raise ParameterError(
            f"counts must be a matrix of numbers, not {counts.dtype} of shape {counts.shape}"
        )
    if not is_on_disk(counts) and counts.nnz:
        least, most = counts.data.min(), counts.data.max()
        if not (least >= 0 and most < np.inf):
            raise ParameterError("counts must be finite and 0 or more")
        if single and counts.dtype.kind == "f" and most:
            smallest = counts.data[counts.data > 0].min()
            if most > _LARGEST or smallest < 1 / _LARGEST:
                raise ParameterError(
                    f"counts from {smallest:.1g} to {most:.1g} are beyond single precision; "
                    f"give counts from {1 / _LARGEST:g} to {_LARGEST:g}"
                )
    return counts


def decomposed(
    Omega: Any,
    m: int,
    *,
    random_state: int = 0,
    right: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
    """Step 3: U, s and Vt of rank m, and the diagnostics of the spectrum.

    Without `right`, Vt has no rows. Raises a ParameterError if the rank of Omega is less than m.
    """
    most = min(Omega.shape)
    if m > most:
        raise ParameterError(_too_many(m, f"there {_only(most)}", most))
    rank = min(m + _DROPPED, most)
    # The directions at the cut are half noise. A basis of more than twice the rank comes closer to
    # the exact ones, but the vectors do not get better (docs/results.md).
    # In 16 bits, a large basis takes half the memory, and the vectors are as good.
    compact = 4 * 2 * rank * most > _LARGE
    settings: dict[str, Any] = {"random_state": random_state, "right": right, "compact": compact}
    U, s, Vt = svd(Omega, rank, n_oversamples=rank, **settings)
    # Rounding errors add up like a random walk, so this takes the root of max(Omega.shape). Without
    # it, a tenth of s[0] would count as zero in single precision and a million columns.
    rank = int((s > s[0] * np.sqrt(max(Omega.shape)) * np.finfo(s.dtype).eps).sum())
    if m > rank:
        raise ParameterError(_too_many(m, f"the counts have rank {rank}", rank))
    diagnostics = {
        "singular_values": s[:m].tolist(),
        "dropped_singular_values": s[m:].tolist(),
        "condition": float(s[0] / s[m - 1]),
    }
    return U[:, :m], s[:m], Vt[:m], diagnostics


def unit_rows(U: np.ndarray, scale: np.ndarray, n_words: int) -> tuple[np.ndarray, int]:
    """Step 4: the first `n_words` rows of ``U * scale`` as unit vectors, and how many are zero.

    They are on disk where the memory budget has no room for them.
    """
    vectors = Growing(np.float32, budget.current().left / 2, (len(scale),))
    n_zero = 0

    def unit(rows: slice) -> tuple[np.ndarray, int]:
        part = U[rows] * scale
        forget(U[rows])
        norms = np.linalg.norm(part, axis=1, keepdims=True)
        is_zero = norms[:, 0] <= np.finfo(np.float32).tiny
        norms[is_zero] = 1
        return (part / norms).astype(np.float32, copy=False), int(is_zero.sum())

    with engine.phase("normalize", n_words, "words") as advance:
        for part, zero in engine.current().map(unit, row_blocks(n_words)):
            vectors.append(part)
            n_zero += zero
            advance(len(part))
    return vectors.finish(), n_zero


class VectorPart(NamedTuple):
    """Unit vectors from the counts of one window, and what is known about them."""

    rows: np.ndarray
    s: np.ndarray
    spectrum: dict[str, Any]
    n_zero: int
    n_pairs: int


def vectors_of(
    parts: list[CooccurrenceMoments],
    m: int,
    *,
    beta: float,
    random_state: int,
    two_step: bool = False,
    **how: Any,
) -> VectorPart:
    """Steps 1 to 4 for the first counts of a list.

    They are taken off the list, so that nothing keeps them in memory during the factorization.
    """
    moments = parts.pop(0)
    n_words = len(moments.vocabulary)
    if two_step:
        from eigentext.words import two_step as cca

        n_pairs, transform = moments.n_pairs, how["transform"]
        U, s, spectrum = cca.two_step(moments, m, transform=transform, random_state=random_state)
    else:
        Omega, n_pairs = scaled_moments(moments, **how)
        del moments
        give_back()
        U, s, _, spectrum = decomposed(Omega, m, random_state=random_state)
        del Omega
        give_back()
    # U has one more row than there are words if rare words share one.
    rows, n_zero = unit_rows(U, s**beta, n_words)
    return VectorPart(rows, s, spectrum, n_zero, n_pairs)


def side_by_side(blocks: list[np.ndarray], weights: list[float]) -> np.ndarray:
    """Unit rows made of the unit rows of several blocks.

    The cosine of two rows is the mean of the cosines of the blocks, by their weights. A row whose
    blocks are all zero stays zero.
    """
    if len(blocks) == 1:
        return blocks[0]
    n_words, total = len(blocks[0]), sum(weights)
    width = sum(block.shape[1] for block in blocks)
    vectors = Growing(np.float32, budget.current().left / 2, (width,))
    for rows in row_blocks(n_words):
        parts = [block[rows] * np.float32(np.sqrt(w / total)) for block, w in zip(blocks, weights)]
        vectors.append(np.hstack(parts))
    return vectors.finish()


def _only(n_words: int) -> str:
    return "is only one word" if n_words == 1 else f"are only {n_words} words"


def _too_many(m: int, why: str, most: int) -> str:
    return (
        f"n_components (--dim) is {m}, but {why}; "
        f"use {most} or less, lower min_count (--min-count), or give more text"
    )


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
