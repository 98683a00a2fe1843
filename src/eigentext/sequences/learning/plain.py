r"""The plain algorithm of Hsu, Kakade and Zhang (2009), without any repair.

From the probabilities

.. math::
    [P_1]_i = p(x_1 = i), \quad [P_{2,1}]_{ij} = p(x_2 = i, x_1 = j), \quad
    [P_{3,x,1}]_{ij} = p(x_3 = i, x_2 = x, x_1 = j),

and the m largest singular values and vectors :math:`U, \Sigma, V` of :math:`P_{2,1}`,

.. math::
    b_1 = U^\top P_1, \quad b_\infty^\top = P_1^\top V \Sigma^{-1}, \quad
    B_x = U^\top P_{3,x,1} V \Sigma^{-1} .

The probabilities are relative frequencies of windows of three. :math:`P_1` in :math:`b_1` are those
of the first symbols of sequences. In :math:`b_\infty` they are those of the first symbols of the
windows, so that :math:`b_\infty` belongs to the same windows as :math:`\Sigma`. In a stream, both
are the same.

There are as many directions as states, whatever the noise. Nothing makes :math:`p(x_1 \dots x_T)`
positive. :mod:`eigentext.sequences.learning.spectral` is the algorithm with repairs.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from eigentext import engine
from eigentext.errors import ParameterError
from eigentext.factor import svd
from eigentext.matrices.budget import check_room
from eigentext.sequences.forms import PlainOperators
from eigentext.sequences.learning.windows import Windows


def plain_operators(
    windows: Windows, m: int, *, random_state: int | None = 0
) -> tuple[PlainOperators, dict[str, Any]]:
    """Return the operators, and the singular values."""
    from eigentext.matrices.row_loops import sort_positions
    from eigentext.sequences._hmm_loops import project_trigrams

    n, N = windows.n, windows.pairs.sum()
    check_room(24.0 * n * m * m, f"{m} x {m} numbers for each of {n:,} symbols", _REMEDY)
    P21 = sp.csr_array(windows.pairs.T) / N
    U, s, Vt = svd(P21, min(m + 3, n), random_state=random_state)
    check_rank(m, s, n)
    U, V = np.ascontiguousarray(U[:, :m]), np.ascontiguousarray(Vt[:m].T)
    inside = np.where(windows.seconds < n, windows.seconds, -1).astype(np.int32)
    pairs = sort_positions(inside, len(inside), n)
    trigrams = windows.trigrams.indptr, windows.trigrams.indices, windows.trigrams.data

    def project(block: tuple[int, int]) -> np.ndarray:
        some = np.arange(*block)
        found, noise = np.zeros((len(some), m, m)), np.zeros(len(some))
        project_trigrams(trigrams, pairs, windows.firsts, some, U, V, found, noise)
        return found

    work = np.append(0, np.cumsum(np.diff(pairs[0])[:n]))
    blocks = engine.even_blocks(work, max(1, int(work[-1]) // 64))
    parts = list(engine.current().map(project, blocks))
    P1 = np.asarray(windows.pairs.sum(axis=1)) / N
    start = windows.start / windows.start.sum() @ U
    model = PlainOperators(start, P1 @ V / s[:m], np.concatenate(parts) / N / s[:m])
    return model, {
        "singular_values": s,
        "rank": m,
        "windows": float(N),
        "negative_mass": model.negative_mass(),
    }


def check_rank(m: int, s: np.ndarray, n: int, name: str = "P21") -> None:
    """Raise ParameterError if a matrix with the singular values s has not the rank m."""
    rank = int((s > s[0] * n * np.finfo(float).eps).sum())
    if rank < m:
        raise ParameterError(
            f"{m} states asked for, but {name} has rank {rank}, and the plain algorithm "
            f"(repair='none') divides by singular value {m}; ask for {rank} states or fewer"
        )


_REMEDY = "ask for fewer states, or raise min_count (--min-count) for fewer symbols"
