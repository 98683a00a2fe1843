r"""The spectral algorithm for hidden Markov models (Hsu, Kakade and Zhang 2009).

A sequence has the probability :math:`b_\infty^\top B_{x_T} \dots B_{x_1} b_1`. From windows of
three symbols, with :math:`P_{2,1}` and :math:`P_{3,x,1}` their probabilities,

.. math::
    B_x = (U^\top P_{3,x,1} V)(U^\top P_{2,1} V)^{-1}, \quad b_1 = U^\top P_1, \quad
    b_\infty^\top = P_1^\top V (U^\top P_{2,1} V)^{-1}

equal :math:`G A_x G^{-1}, G\pi, \mathbf 1^\top G^{-1}` with :math:`G = U^\top O`, if
:math:`U^\top P_{2,1} V` is invertible. All windows are used, and the start is counted apart; U
and V are the singular vectors of :math:`P_{2,1}`, whose rows and columns are first divided by the
roots of their sums ("cca") or not ("none").

What sampling does to this, and what is done about it:

*Rank.* Singular values that do not rise above those of noise make operators wild. The noise is
measured: each count is split into halves at random, and the difference of the halves is a matrix of
noise alone. The rank is the number of singular values above its norm.

*Rare symbols.* An operator of m x m numbers needs many windows. Bigrams alone give one of rank one,
:math:`a_x q_x^\top`: :math:`q_x^\top = e_x^\top P_{2,1} V (U^\top P_{2,1} V)^{-1}` predicts x, and
:math:`a_x = U^\top P(\cdot|x)` is the state after it, whatever came before. Both are mixed, with
the share of the second that James and Stein would give it: the variance of the first over the
square of their difference. It is 1 for most rare symbols, which then keep two vectors only.

*Negative probabilities.* In a state b, x has the probability :math:`q_x^\top b`, but at least a
fraction :math:`\epsilon` of its frequency, all divided by their sum. Where what was seen falls to
that floor, the past is forgotten and the state is :math:`a_x`. Of a few :math:`\epsilon` the one is
taken that gives third symbols of windows the highest likelihood.
"""

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from eigentext import engine
from eigentext.corpus.encoded import END
from eigentext.corpus.symbols import UNKNOWN
from eigentext.errors import ParameterError
from eigentext.factor import svd
from eigentext.matrices.runs import CSR
from eigentext.sequences._baum_welch import drawn
from eigentext.sequences._windows import Windows

Scaling = Literal["cca", "none"]
_RIDGE = 300.0  # windows added to each symbol in "cca", lest the rarest own the singular vectors
_FLOORS = (0.02, 0.05, 0.1, 0.2, 0.3)
_TRIED = 1 << 24  # probabilities to choose among them
_NUMBERS = 1 << 25  # in all operators together; symbols past that keep two vectors
_BLOCK = 1 << 22  # numbers of a block of predictions


@dataclass
class Operators:
    """An observable operator model: a vector for the start, one for the end, an operator a symbol.

    Attributes
    ----------
    start, end : arrays, shape (r,)
        b_1 and b_inf.
    rows, after : arrays, shape (n, r)
        q_x and a_x, scaled so that ``after @ end == 1``.
    places : int32 array, shape (n,)
        Where the operator of a symbol is; -1 if it is ``after[x] rows[x]'``.
    operators : array, shape (k, r, r)
    floors : array, shape (n,)
        The least probability of a symbol, before all are divided by their sum.
    """

    start: np.ndarray
    end: np.ndarray
    rows: np.ndarray
    after: np.ndarray
    places: np.ndarray
    operators: np.ndarray
    floors: np.ndarray

    def operator(self, symbol: int) -> np.ndarray:
        """B_x."""
        place = self.places[symbol]
        if place >= 0:
            return self.operators[place]
        return np.outer(self.after[symbol], self.rows[symbol])

    @cached_property
    def mean(self) -> np.ndarray:
        """The sum of all operators: a step of which nothing is seen."""
        alone = self.places < 0
        return self.operators.sum(axis=0) + self.after[alone].T @ self.rows[alone]

    def filtered(
        self, ids: np.ndarray, state: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, dict[str, int]]:
        """For each id log p(x_t | x_1 .. x_t-1), the state after it, and what had to be repaired.

        By default from the start on. Ids may be of many sequences, with END after each: there both
        are meaningless.
        """
        before, states, given = self._states(ids, state)
        known = ids >= 0
        seen, given = ids[known], given[known]
        logs = np.full(len(ids), -np.inf)
        probabilities, sums = np.maximum(given, self.floors[seen]), self._sums(before[known])
        np.divide(probabilities, sums, out=probabilities, where=sums > 0)
        with np.errstate(divide="ignore"):
            logs[known] = np.log(probabilities)
        repairs = {
            "tokens": int((ids != END).sum()),
            "unknown": int((ids == UNKNOWN).sum()),
            "negative": int((given <= 0).sum()),
            "floored": int((given <= self.floors[seen]).sum()),
        }
        return logs, states, repairs

    def states(self, ids: np.ndarray) -> np.ndarray:
        """The states of :meth:`filtered` alone, in a fraction of the time."""
        return self._states(ids)[1]

    def distribution(self, state: np.ndarray | None = None) -> np.ndarray:
        """p(x | state) of every symbol, repaired; by default at the start."""
        p = np.maximum(self.rows @ (self.start if state is None else state), self.floors)
        total = p.sum()
        return p / total if total > 0 else np.full(len(p), 1 / len(p))

    def sample(self, n_sequences: int, length: int, rng: np.random.Generator) -> np.ndarray:
        """Ids of sequences, drawn from the repaired distributions one symbol at a time."""
        ids = np.empty((n_sequences, length), np.int32)
        for row in ids:
            state = self.start
            for t in range(length):
                row[t] = drawn(np.cumsum(self.distribution(state)), rng.random())
                state = self._states(row[t : t + 1], state)[1][0]
        return ids.astype(np.int64)

    def negative_mass(self) -> float:
        """The sum of the negative p(x' | x), over all x' and the average x before it."""
        frequency = self.floors / self.floors.sum() if self.floors.any() else None
        chosen = np.arange(len(self.after))[:1000]
        mass = -np.minimum(self.after[chosen] @ self.rows.T, 0).sum(axis=1)
        return float(np.average(mass, weights=None if frequency is None else frequency[chosen]))

    def _states(self, ids: np.ndarray, state: np.ndarray | None = None):
        """The state before and after each id, and what the one before gives it."""
        from eigentext.sequences._hmm_loops import filter_operators

        before, states = np.zeros((2, len(ids), len(self.start)))
        given = np.zeros(len(ids))
        filter_operators(
            ids,
            self.start if state is None else state,
            self.end,
            self.rows,
            self.after,
            self.places,
            self.operators,
            self.mean,
            self.floors,
            before,
            states,
            given,
        )
        return before, states, given

    def _sums(self, states: np.ndarray) -> np.ndarray:
        size = max(1, _BLOCK // len(self.rows))
        blocks = [states[p : p + size] for p in range(0, len(states), size)]

        def sums(block: np.ndarray) -> np.ndarray:
            return np.maximum(block @ self.rows.T, self.floors).sum(axis=1)

        return np.concatenate([*engine.current().map(sums, blocks), np.zeros(0)])


def spectral_operators(
    windows: Windows,
    n_states: int,
    *,
    scaling: Scaling = "cca",
    rank: int | None = None,
    random_state: int | None = 0,
) -> tuple[Operators, np.ndarray, dict[str, Any]]:
    """Learn the operators of a hidden Markov model from windows of three symbols.

    Returns them; what stands after and before each symbol, projected: its profile; and
    diagnostics: singular values, noise, rank, shares of the rank-one operators.
    """
    n, P12 = windows.n, windows.pairs
    N = P12.sum()
    first, second = (np.asarray(P12.sum(axis=axis)) for axis in (1, 0))
    U, V, s, noise = _projections(windows, n_states, scaling, random_state)
    usable = max(1, int((s[:n_states] > noise).sum()))
    if usable < n_states and rank is None:
        warnings.warn(_advice(n_states, usable, s, noise, windows.sampled), stacklevel=6)
    if rank is not None and not (rank <= len(s) and s[rank - 1] > _rounding(s, n)):
        most = int((s > _rounding(s, n)).sum())
        raise ParameterError(f"rank {rank} asked for, but P21 has rank {most}; ask for no more")
    r = rank or usable
    U, V = np.ascontiguousarray(U[:, :r]), np.ascontiguousarray(V[:, :r])
    inverse = np.linalg.inv(U.T @ (P12.T @ V) / N)
    rows = (P12.T @ V) @ inverse / N
    end = (first @ V) @ inverse / N
    after = (windows.follow @ U) / np.maximum(windows.follow.sum(axis=1), 1e-300)[:, None]
    past = (windows.follow.T @ V) / np.maximum(windows.follow.sum(axis=0), 1e-300)[:, None]
    profiles = np.hstack([after, past])
    after = _normalised(after, end, second @ U / N)
    start = _normalised((windows.start @ U / windows.start.sum())[None], end, second @ U / N)[0]
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
        "singular_values": s,
        "noise": float(noise),
        "usable_rank": usable,
        "rank": r,
        "windows": float(N),
        "full_operators": len(chosen),
        "mean_share_of_rank_one": float(shares.mean()) if len(shares) else 1.0,
        "floor": float(epsilon),
        "negative_mass": model.negative_mass(),
    }
    return model, profiles, diagnostics


# The steps, in their order.


def _projections(windows: Windows, n_states: int, scaling: Scaling, random_state: Any):
    """U, V, singular values of P_21 (some more than asked for), and the norm of its noise."""
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
    return left[:, None] * U, right[:, None] * Vt.T, s, max(noise, _rounding(s, windows.n))


def _rounding(s: np.ndarray, n: int) -> float:
    """What singular values that are zero may come out as."""
    return float(s[0] * n * np.finfo(float).eps)


def _operators(windows: Windows, U, V, inverse, rows, after):
    """The symbols with operators of their own, these, and the share of rank one in them."""
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
    """The fraction of frequencies as a floor under which some windows are the most probable."""
    T = windows.trigrams
    counts = np.cumsum(T.data[: T.indptr[len(windows.firsts)]])
    n_tried = min(max(500, _TRIED // windows.n), 5000)
    chosen = np.searchsorted(counts, rng.integers(counts[-1], size=n_tried), side="right")
    chosen = chosen[T.indices[chosen] < windows.n]  # not the ends of sequences
    pair = np.searchsorted(T.indptr, chosen, side="right") - 1
    third = T.indices[chosen]
    ends = np.full(len(chosen), END, np.int32)
    ids = np.column_stack([windows.firsts[pair], windows.seconds[pair], ends]).ravel()
    model.floors = _FLOORS[0] * usual
    states = model._states(ids)[1][1::3]
    p = states @ model.rows.T
    gains = []
    for epsilon in _FLOORS:
        repaired = np.maximum(p, epsilon * usual)
        gains.append(np.log(repaired[np.arange(len(third)), third] / repaired.sum(axis=1)).sum())
    return _FLOORS[int(np.argmax(gains))]


def _normalised(states: np.ndarray, end: np.ndarray, usual: np.ndarray) -> np.ndarray:
    """States with ``end @ b == 1``; the usual state where that cannot be."""
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
