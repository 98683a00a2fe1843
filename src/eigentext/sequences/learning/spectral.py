r"""The spectral algorithm for hidden Markov models (Hsu, Kakade and Zhang 2009).

A sequence has the probability :math:`b_\infty^\top B_{x_T} \dots B_{x_1} b_1`. Let :math:`P_1`,
:math:`P_{2,1}` and :math:`P_{3,x,1}` be the probabilities of windows of one to three symbols. Then

.. math::
    B_x = (U^\top P_{3,x,1} V)(U^\top P_{2,1} V)^{-1}, \quad b_1 = U^\top P_1, \quad
    b_\infty^\top = P_1^\top V (U^\top P_{2,1} V)^{-1}

equal :math:`G A_x G^{-1}, G\pi, \mathbf 1^\top G^{-1}` with :math:`G = U^\top O`, if
:math:`U^\top P_{2,1} V` is invertible. All windows of the text are used, and the starts of
sequences are counted separately. U and V are the singular vectors of :math:`P_{2,1}`. With the
scaling "cca", its rows and columns are first divided by the square roots of their sums.

Three steps keep sampling noise under control:

*Rank.* Directions whose singular values do not exceed those of noise give useless operators. The
noise is measured: each count is split into two halves at random, and the difference of the halves
is a matrix of pure noise. The rank is the number of singular values above the norm of that matrix.

*Rare symbols.* An operator has m x m numbers, which needs many windows. Bigrams alone give an
operator of rank one, :math:`a_x q_x^\top`. Here :math:`q_x^\top = e_x^\top P_{2,1} V (U^\top
P_{2,1} V)^{-1}` predicts x, and :math:`a_x = U^\top P(\cdot|x)` is the state after x, whatever came
before. The two operators are mixed. The share of the second one is the one of James and Stein: the
variance of the first operator, divided by the squared difference of the two. The share is 1 for
most rare symbols, and these keep two vectors only.

*Negative probabilities.* In a state b, the symbol x has the probability :math:`q_x^\top b`, but at
least a fraction :math:`\epsilon` of its frequency. Then all are divided by their sum. Of a few
values of :math:`\epsilon`, the best one gives the third symbols of windows the highest likelihood.
:mod:`eigentext.sequences.inference` does these repairs.
"""

import warnings
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from eigentext import engine
from eigentext.corpus.encoded import END
from eigentext.errors import ParameterError
from eigentext.factor import svd
from eigentext.matrices.runs import CSR
from eigentext.sequences.forms import Operators
from eigentext.sequences.inference import filtered_states
from eigentext.sequences.learning.windows import Windows

Scaling = Literal["cca", "none"]
_RIDGE = 300.0  # windows added to each symbol in "cca", so that rare ones do not dominate U and V
_FLOORS = (0.02, 0.05, 0.1, 0.2, 0.3)  # the values of epsilon that are tried
_TRIED = 1 << 24  # the probabilities that are computed to choose epsilon
_AT_ONCE = 1 << 19  # of these, as many are in memory at the same time
_NUMBERS = 1 << 25  # in all operators together; the other symbols keep two vectors


class SpectralFit(NamedTuple):
    """The result of the spectral algorithm."""

    operators: Operators
    profiles: np.ndarray  # for each symbol, the projected symbols after it and before it
    diagnostics: dict[str, Any]  # singular values, noise, rank, shares of rank-one operators


class _Projections(NamedTuple):
    U: np.ndarray
    V: np.ndarray
    singular_values: np.ndarray  # of P_21, some more than n_states
    noise: float  # the norm of the noise of P_21


def spectral_operators(
    windows: Windows,
    n_states: int,
    *,
    scaling: Scaling = "cca",
    rank: int | None = None,
    random_state: int | None = 0,
) -> SpectralFit:
    """Learn the operators of a hidden Markov model from windows of three symbols."""
    found = _projections(windows, n_states, scaling, random_state)
    usable, r = _usable_rank(found, windows, n_states, rank)
    U, V = (np.ascontiguousarray(part[:, :r]) for part in (found.U, found.V))
    n, P12 = windows.n, windows.pairs
    N = P12.sum()
    first, second = (np.asarray(P12.sum(axis=axis)) for axis in (1, 0))
    inverse = np.linalg.inv(U.T @ (P12.T @ V) / N)
    rows = (P12.T @ V) @ inverse / N
    end = (first @ V) @ inverse / N
    after = (windows.follow @ U) / np.maximum(windows.follow.sum(axis=1), 1e-300)[:, None]
    past = (windows.follow.T @ V) / np.maximum(windows.follow.sum(axis=0), 1e-300)[:, None]
    profiles = np.hstack([after, past])
    after = _normalized(after, end, second @ U / N)
    start = _normalized((windows.start @ U / windows.start.sum())[None], end, second @ U / N)[0]
    chosen, operators, shares = _operators(windows, U, V, inverse, rows, after)
    places = np.full(n, -1, np.int32)
    places[chosen] = np.arange(len(chosen))
    model = Operators(start, end, rows, after, places, operators, np.zeros(n))
    epsilon = 0.0
    if windows.sampled:
        usual = windows.frequencies / windows.frequencies.sum()
        epsilon = _best_floor(model, windows, usual, np.random.default_rng(random_state))
        model.floors = epsilon * usual
    diagnostics = {
        "singular_values": found.singular_values,
        "noise": float(found.noise),
        "usable_rank": usable,
        "rank": r,
        "windows": float(N),
        "full_operators": len(chosen),
        "mean_share_of_rank_one": float(shares.mean()) if len(shares) else 1.0,
        "floor": float(epsilon),
        "negative_mass": model.negative_mass(),
    }
    return SpectralFit(model, profiles, diagnostics)


# The steps, in their order.


def _projections(
    windows: Windows, n_states: int, scaling: Scaling, random_state: int | None
) -> _Projections:
    P12 = windows.pairs
    first, second = (np.asarray(P12.sum(axis=axis)) for axis in (1, 0))
    N = P12.sum()
    left = right = np.ones(windows.n)
    if scaling == "cca":
        ridge = _RIDGE if windows.sampled else 0.0
        left, right = (np.sqrt(N / np.maximum(c + ridge, 1e-300)) for c in (second, first))
        left[second == 0] = right[first == 0] = 0.0

    def scaled(counts: CSR) -> CSR:
        return sp.csr_array(sp.diags_array(left) @ counts.T @ sp.diags_array(right)) / N

    U, s, Vt = svd(scaled(P12), min(n_states + 3, windows.n), random_state=random_state)
    if windows.sampled:
        counts = P12.data.astype(np.int64)
        rng = np.random.default_rng(random_state)
        halves = P12.copy()
        halves.data = 2.0 * rng.binomial(counts, 0.5) - counts
        noise = svd(scaled(halves), 1, random_state=random_state)[1][0]
    else:
        noise = 0.0
    noise = max(noise, _rounding(s, windows.n))
    return _Projections(left[:, None] * U, right[:, None] * Vt.T, s, noise)


def _rounding(s: np.ndarray, n: int) -> float:
    """The largest value that rounding may give a singular value that is zero."""
    return float(s[0] * n * np.finfo(float).eps)


def _usable_rank(
    found: _Projections, windows: Windows, n_states: int, rank: int | None
) -> tuple[int, int]:
    """The number of singular values above the noise, and the rank to use."""
    s, noise, n = found.singular_values, found.noise, windows.n
    usable = max(1, int((s[:n_states] > noise).sum()))
    if usable < n_states and rank is None:
        warnings.warn(_advice(n_states, usable, s, noise, windows.sampled), stacklevel=7)
    if rank is not None and not (rank <= len(s) and s[rank - 1] > _rounding(s, n)):
        most = int((s > _rounding(s, n)).sum())
        raise ParameterError(f"rank {rank} asked for, but P21 has rank {most}; ask for no more")
    return usable, rank or usable


def _operators(
    windows: Windows,
    U: np.ndarray,
    V: np.ndarray,
    inverse: np.ndarray,
    rows: np.ndarray,
    after: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The symbols that have operators, their operators, and the shares of rank one of all."""
    from eigentext.matrices.row_loops import sort_positions
    from eigentext.sequences._hmm_loops import project_trigrams

    n, r = U.shape
    N = windows.pairs.sum()
    counts = np.asarray(windows.pairs.sum(axis=0))
    symbols = np.argsort(-counts, kind="stable")[: max(1, _NUMBERS // r**2)]
    symbols = np.sort(symbols[counts[symbols] > 0])
    inside = np.where(windows.seconds < n, windows.seconds, -1).astype(np.int32)
    pairs = sort_positions(inside, len(inside), n)
    T = windows.trigrams
    trigrams = T.indptr, T.indices, T.data
    past = rows @ np.linalg.inv(inverse)

    def project(block: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        some = symbols[slice(*block)]
        projected, noise = np.zeros((len(some), r, r)), np.zeros(len(some))
        project_trigrams(trigrams, pairs, windows.firsts, some, U, V, projected, noise)
        alone = after[some][:, :, None] * past[some][:, None, :]
        difference = projected / N - alone
        shares = np.zeros(len(some))
        if windows.sampled:
            squares = (difference**2).sum(axis=(1, 2))
            shares = np.minimum(1, noise / N**2 / np.maximum(squares, 1e-300))
        own = shares < 1
        alone[own] += (1 - shares[own])[:, None, None] * difference[own]
        return alone[own] @ inverse, shares

    work = np.concatenate([[0], np.cumsum(np.diff(pairs[0])[symbols])])
    parts = []
    with engine.phase("project trigrams", len(symbols), "symbols") as advance:
        blocks = engine.even_blocks(work, max(1, int(work[-1]) // 64))
        for (a, z), part in zip(blocks, engine.current().map(project, blocks)):
            parts.append(part)
            advance(z - a)
    shares = np.concatenate([shares for _, shares in parts])
    return symbols[shares < 1], np.concatenate([operators for operators, _ in parts]), shares


def _best_floor(
    model: Operators, windows: Windows, usual: np.ndarray, rng: np.random.Generator
) -> float:
    """The epsilon with which a sample of windows has the highest likelihood."""
    T = windows.trigrams
    counts = np.cumsum(T.data[: T.indptr[len(windows.firsts)]])
    n_tried = min(max(500, _TRIED // windows.n), 5000)
    chosen = np.searchsorted(counts, rng.integers(counts[-1], size=n_tried), side="right")
    chosen = chosen[T.indices[chosen] < windows.n]  # ends of sequences do not count
    pair = np.searchsorted(T.indptr, chosen, side="right") - 1
    third = T.indices[chosen]
    ends = np.full(len(chosen), END, np.int32)
    ids = np.column_stack([windows.firsts[pair], windows.seconds[pair], ends]).ravel()
    model.floors = _FLOORS[0] * usual
    states = filtered_states(model, ids)[1::3]
    gains = np.zeros(len(_FLOORS))
    step = max(1, _AT_ONCE // windows.n)
    for begin in range(0, len(third), step):
        some = slice(begin, begin + step)
        p = states[some] @ model.rows.T
        for k, epsilon in enumerate(_FLOORS):
            repaired = np.maximum(p, epsilon * usual)
            given = repaired[np.arange(len(p)), third[some]]
            gains[k] += np.log(given / repaired.sum(axis=1)).sum()
    return _FLOORS[int(np.argmax(gains))]


def _normalized(states: np.ndarray, end: np.ndarray, usual: np.ndarray) -> np.ndarray:
    """States with ``end @ b == 1``. The usual state replaces those where that is impossible."""
    z = states @ end
    states = np.where((z > 0)[:, None], states, usual)
    return states / np.where(z > 0, z, usual @ end)[:, None]


def _advice(n_states: int, usable: int, s: np.ndarray, noise: float, sampled: bool) -> str:
    if not sampled or usable == len(s):
        return f"{n_states} states asked for, but P21 has rank {usable}: using {usable} states"
    return (
        f"{n_states} states asked for, but only {usable} can be told from noise: the singular "
        f"value {usable + 1} of P21, {s[usable]:.2g}, is not above {noise:.2g}, that of its noise; "
        f"using rank {usable}. Give more text, ask for {usable} states, or use "
        "method='spectral+em'"
    )
