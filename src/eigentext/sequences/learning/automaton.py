r"""Weighted automata from Hankel matrices (Balle, Carreras, Luque and Quattoni 2014).

Let f be a statistic of strings, and let a *basis* have prefixes p and suffixes s. With the Hankel
matrices :math:`H[p, s] = f(ps)` and :math:`H_x[p, s] = f(pxs)`, and with the singular vectors of
:math:`H \approx U \Lambda V^\top`,

.. math::
    B_x^\top = \Lambda^{-1} U^\top H_x V, \quad b_1 = V^\top h_1, \quad
    b_\infty = \Lambda^{-1} U^\top h_\infty, \quad b_\# = \Lambda^{-1} U^\top h_\# .

Here :math:`h_1[s]` is f(s) at the start of a sequence, :math:`h_\infty[p]` is how often p occurs,
and :math:`h_\#[p]` is how often a sequence ends after p. If H has the rank of f, then

.. math::
    p(x_1 \dots x_T \dots) = b_\infty^\top B_{x_T} \dots B_{x_1} b_1, \quad
    p(x_1 \dots x_T) = b_\#^\top B_{x_T} \dots B_{x_1} b_1

are the probabilities that a sequence begins with :math:`x_1 \dots x_T`, and that this is all of it,
with any of the three statistics of :mod:`eigentext.moments.hankel`. The paper finds :math:`b_1`,
:math:`b_\infty` and :math:`b_\#` of one statistic from those of another by sums
:math:`(I - \sum_x B_x)^{-1}`. We count them, which is exact as well and needs no inverse. If all
prefixes and suffixes are single symbols, this is the spectral algorithm for hidden Markov models
(:mod:`eigentext.sequences.learning.spectral`), with the same repairs:

*Scaling.* With "cca", the rows and columns of H are divided by the square roots of how often p and
s occur.

*Rank.* The singular values must exceed those of a matrix of noise: the difference of two random
halves of all counts. Or held-out text decides. The directions of a smaller rank are the first ones
of a larger rank, and so are the entries of the operators. One SVD serves all ranks.

*Shrinkage.* :math:`B_x` is mixed with an operator of rank one, :math:`a_x q_x^\top`, as in hidden
Markov models. A window adds to the entries of all p that end where x begins, and of all s that
begin where it ends. Let :math:`u_t` and :math:`v_t` be the sums of their rows of U and V. Then the
variance of :math:`U^\top H_x V` is :math:`\sum_t |u_t|^2 |v_t|^2` over the windows. It is summed
over the entries :math:`H_x[p, s]`, with the increments of both squares along p and s.

*Floor.* Each symbol has at least a fraction of its frequency.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp

from eigentext import engine
from eigentext.factor import svd
from eigentext.matrices.runs import CSR
from eigentext.moments.hankel import Basis, Hankel, Statistics, String
from eigentext.sequences.forms import Operators, PlainOperators

Scaling = Literal["cca", "none"]
_RIDGE = 300.0  # occurrences added to each string in "cca", so that rare ones do not dominate
_ROWS = 1 << 16  # rows that are projected together


@dataclass
class Projected:
    """A Hankel matrix in its R leading directions.

    :meth:`operators` makes an automaton of the first r of them.

    Attributes
    ----------
    hankel, basis, statistics
        What was projected.
    U, V : arrays, shapes (P, R) and (S, R)
        The directions, with the scaling.
    singular_values : array
        Those of the R directions, and a few more.
    noise : float
        The norm of the noise of H.
    M : array, shape (k, R, R)
        V' H_x' U for the k symbols x of `chosen`.
    """

    hankel: Hankel
    basis: Basis
    statistics: Statistics
    U: np.ndarray
    V: np.ndarray
    singular_values: np.ndarray
    noise: float
    chosen: np.ndarray
    M: np.ndarray

    @property
    def size(self) -> int:
        """The number R of directions."""
        return self.U.shape[1]

    @property
    def usable_rank(self) -> int:
        """The number of directions whose singular values exceed the noise, at least 1."""
        return max(1, int((self.singular_values[: self.size] > self.noise).sum()))

    def operators(self, r: int) -> tuple[Operators, np.ndarray]:
        """Return the shrunk operators of the first r directions, and the shares of rank one.

        Their floors are zero.
        """
        hankel, s = self.hankel, self.singular_values[:r]
        N, U, V = self._N, self.U[:, :r], self.V[:, :r]
        end = hankel.totals @ U / N / s
        past = self._nexts @ U  # U' h_x
        follow = hankel.follow @ V
        usual = follow.sum(axis=0)
        after = normalized(follow, end, usual)
        start = normalized((hankel.starts @ V)[None], end, usual)[0]
        alone = after[self.chosen][:, :, None] * past[self.chosen][:, None, :]
        difference = self.M[:, :r, :r] - alone
        shares = np.zeros(len(self.chosen))
        if hankel.sampled:
            squares = (difference**2).sum(axis=(1, 2))
            shares = np.minimum(1, self._variances(r) / np.maximum(squares, 1e-300))
        own = shares < 1
        alone[own] += (1 - shares[own])[:, None, None] * difference[own]
        rows = past / s
        if not hankel.stream:  # the last symbol is the end, which nothing follows
            rows = np.vstack([rows, hankel.stops @ U / N / s])
            after = np.vstack([after, np.zeros(r)])
        places = np.full(len(rows), -1, np.int32)
        places[self.chosen[own]] = np.arange(own.sum())
        model = Operators(start, end, rows, after, places, alone[own] / s, np.zeros(len(rows)))
        return model, shares

    def plain(self, r: int) -> PlainOperators:
        """Return the operators of the first r directions as they are."""
        hankel, s = self.hankel, self.singular_values[:r]
        U, V = self.U[:, :r], self.V[:, :r]
        operators = np.zeros((len(hankel.frequencies), r, r))
        operators[self.chosen] = self.M[:, :r, :r] / s
        stop = np.zeros(0) if hankel.stream else hankel.stops @ U / self._N / s
        start, end = hankel.starts @ V / hankel.n_units, hankel.totals @ U / self._N / s
        return PlainOperators(start, end, operators, stop)

    @property
    def usual(self) -> np.ndarray:
        """The frequencies of all symbols and, if sequences end, of the end."""
        counts = self.hankel.frequencies.astype(np.float64)
        if not self.hankel.stream:
            counts = np.append(counts, self.hankel.n_units)
        return counts / counts.sum()

    def _variances(self, r: int) -> np.ndarray:
        """The variance of each matrix of M in r directions."""
        hankel = self.hankel
        du, dv = ((part[:, :r] ** 2).sum(axis=1) for part in (self.U, self.V))
        if self.statistics == "substring":
            du = _increments(self.U[:, :r], self.basis.prefixes, 1)
        if self.statistics != "string":
            dv = _increments(self.V[:, :r], self.basis.suffixes, -1)
        squares = (hankel.middles @ dv) * du[hankel.pair_prefixes] / self._N**2
        sums = np.bincount(hankel.pair_symbols, squares, len(hankel.frequencies))
        return np.maximum(sums[self.chosen], 0)

    @property
    def _N(self) -> float:  # noqa: N802 - the letter of the mathematics
        return float(self.hankel.n_windows)

    @property
    def _nexts(self) -> CSR:
        hankel = self.hankel
        places = hankel.pair_symbols, hankel.pair_prefixes
        shape = len(hankel.frequencies), len(hankel.totals)
        return sp.csr_array((hankel.nexts / self._N, places), shape)


def projected(
    hankel: Hankel,
    basis: Basis,
    statistics: Statistics,
    n_directions: int,
    *,
    scaling: Scaling = "cca",
    random_state: int | None = 0,
) -> Projected:
    """Factor H, and project all matrices H_x on its leading singular vectors."""
    N = float(hankel.n_windows)
    left, right = np.ones(len(hankel.totals)), np.ones(len(hankel.masses))
    if scaling == "cca":
        ridge = _RIDGE if hankel.sampled else 0.0
        left, right = (
            np.where(c > 0, np.sqrt(N / np.maximum(c + ridge, 1e-300)), 0.0)
            for c in (hankel.totals, hankel.masses)
        )

    def scaled(counts: CSR) -> CSR:
        return sp.csr_array(sp.diags_array(left) @ counts @ sp.diags_array(right)) / N

    U, s, Vt = svd(
        scaled(hankel.H), min(n_directions + 3, *hankel.H.shape), random_state=random_state
    )
    rounding = float(s[0] * max(hankel.H.shape) * np.finfo(float).eps)
    noise = rounding
    if hankel.sampled:
        counts = hankel.H.data.astype(np.int64)
        halves = hankel.H.astype(np.float64)
        halves.data = 2.0 * np.random.default_rng(random_state).binomial(counts, 0.5) - counts
        noise = max(noise, float(svd(scaled(halves), 1, random_state=random_state)[1][0]))
    R = max(1, min(n_directions, int((s > rounding).sum())))
    U, V = left[:, None] * U[:, :R], right[:, None] * Vt[:R].T
    chosen, M = _middles(hankel, U, V)
    return Projected(hankel, basis, statistics, U, V, s, noise, chosen, M / N)


def _middles(hankel: Hankel, U: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The symbols that stand between a prefix and a suffix, and V' H_x' U of each."""
    R = U.shape[1]
    chosen, begins = np.unique(hankel.pair_symbols, return_index=True)
    begins = np.append(begins, len(hankel.pair_symbols))

    def project(block: tuple[int, int]) -> np.ndarray:
        a, z = begins[block[0]], begins[block[1]]
        Y = hankel.middles[a:z].astype(np.float64) @ V
        before = U[hankel.pair_prefixes[a:z]]
        M = np.empty((block[1] - block[0], R, R))
        for k in range(*block):
            here = slice(begins[k] - a, begins[k + 1] - a)
            M[k - block[0]] = Y[here].T @ before[here]
        return M

    with engine.one_blas_thread():
        parts = list(engine.current().map(project, engine.even_blocks(begins, _ROWS)))
    return chosen, np.concatenate([np.zeros((0, R, R)), *parts])


def _increments(rows: np.ndarray, strings: Sequence[String], side: int) -> np.ndarray:
    """|the sum of the rows of a string and its parents|^2, minus that of its parents alone.

    The parents of a string are the strings of the basis that it ends with (side 1) or begins with
    (side -1).
    """
    place = {string: k for k, string in enumerate(strings)}
    sums = np.zeros_like(rows)
    found = np.zeros(len(strings))
    for string in sorted(strings, key=len):
        k, parent, shorter = place[string], None, string
        while shorter and parent is None:
            shorter = shorter[1:] if side == 1 else shorter[:-1]
            parent = place.get(shorter)
        before = np.zeros(rows.shape[1]) if parent is None else sums[parent]
        sums[k] = before + rows[k]
        found[k] = sums[k] @ sums[k] - before @ before
    return found


def normalized(states: np.ndarray, end: np.ndarray, usual: np.ndarray) -> np.ndarray:
    """Return states with ``end @ b == 1``. The usual one replaces those that cannot have it."""
    z = states @ end
    if not usual @ end > 0:
        usual = end if end.any() else np.ones_like(end)
    states = np.where((z > 0)[:, None], states, usual)
    return states / np.where(z > 0, z, usual @ end)[:, None]
