r"""The forms of a hidden Markov model: parameters, operators, and plain operators.

Parameters are the probabilities :math:`\pi(h)`, :math:`t(h'|h)` and :math:`o(x|h)`. Operators are
:math:`b_1`, :math:`b_\infty` and a matrix :math:`B_x` for each symbol, with

.. math:: p(x_1 \dots x_T) = b_\infty^\top B_{x_T} \dots B_{x_1} b_1

(an observable operator model). :class:`Operators` come with what repairs their probabilities.
:class:`PlainOperators` are never repaired. :mod:`eigentext.sequences.inference` answers questions
about all of them.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from eigentext.errors import ParameterError


@dataclass
class HMMParameters:
    """The probabilities of a hidden Markov model with m states and n symbols.

    Attributes
    ----------
    initial : array, shape (m,)
        pi(h).
    transition : array, shape (m, m)
        t(h'|h), in row h and column h'.
    emission : array, shape (n, m)
        o(x|h), with a row for each symbol x.
    """

    initial: np.ndarray
    transition: np.ndarray
    emission: np.ndarray

    @classmethod
    def checked(cls, initial: ArrayLike, transition: ArrayLike, emission: ArrayLike) -> Self:
        """Make parameters from arrays in which `emission` has a row for each state.

        Raise ParameterError if shapes do not match or rows are not probabilities.
        """
        try:
            initial, transition, emission = (
                np.array(part, np.float64) for part in (initial, transition, emission)
            )
        except (TypeError, ValueError) as error:
            raise ParameterError(f"parameters must be arrays of numbers: {error}") from error
        m = len(np.atleast_1d(initial))
        if initial.shape != (m,) or transition.shape != (m, m) or emission.shape[:-1] != (m,):
            raise ParameterError(
                "shapes must be (m,), (m, m) and (m, n) for m states and n symbols, not "
                f"{initial.shape}, {transition.shape} and {emission.shape}"
            )
        for name, rows in (
            ("initial", initial[None]),
            ("transition", transition),
            ("emission", emission),
        ):
            if not (rows >= 0).all() or not np.allclose(rows.sum(axis=1), 1, rtol=0, atol=1e-6):
                raise ParameterError(f"{name}: every row must hold probabilities that sum to 1")
        return cls(initial, transition, np.ascontiguousarray(emission.T))

    @property
    def start(self) -> np.ndarray:
        """The vector b_1: the initial probabilities."""
        return self.initial

    @property
    def end(self) -> np.ndarray:
        """The vector b_inf: ones."""
        return np.ones_like(self.initial)

    def operator(self, symbol: int) -> np.ndarray:
        """Return A_x, which has a column for each state before x."""
        return self.transition.T * self.emission[symbol]


@dataclass
class Operators:
    """An observable operator model with r dimensions and n symbols.

    Attributes
    ----------
    start, end : arrays, shape (r,)
        b_1 and b_inf.
    rows, after : arrays, shape (n, r)
        q_x, which predicts x, and a_x, the state after x. They are scaled so that
        ``after @ end == 1``. In models with ends, the last row is that of the end of a sequence.
        It has no state after it, which is zero.
    places : int32 array, shape (n,)
        The index of each symbol's operator in `operators`. It is -1 if the operator is
        ``outer(after[x], rows[x])``.
    operators : array, shape (k, r, r)
        B_x of k symbols.
    floors : array, shape (n,)
        The least probability of each symbol, before all are divided by their sum.
    """

    start: np.ndarray
    end: np.ndarray
    rows: np.ndarray
    after: np.ndarray
    places: np.ndarray
    operators: np.ndarray
    floors: np.ndarray

    def operator(self, symbol: int) -> np.ndarray:
        """Return B_x."""
        place = self.places[symbol]
        if place >= 0:
            return self.operators[place]
        return np.outer(self.after[symbol], self.rows[symbol])

    @cached_property
    def mean(self) -> np.ndarray:
        """The sum of all operators: a step whose symbol is not known."""
        alone = self.places < 0
        return self.operators.sum(axis=0) + self.after[alone].T @ self.rows[alone]

    def negative_mass(self) -> float:
        """Return the mean, over symbols x, of the sum of all negative p(x' | x)."""
        frequency = self.floors / self.floors.sum() if self.floors.any() else None
        chosen = np.arange(len(self.after))[:1000]
        step = max(1, (1 << 19) // len(self.rows))  # so many rows are in memory at the same time
        blocks = (self.after[chosen[k : k + step]] @ self.rows.T for k in chosen[::step])
        mass = -np.concatenate([np.minimum(block, 0).sum(axis=1) for block in blocks])
        return float(np.average(mass, weights=None if frequency is None else frequency[chosen]))


@dataclass
class PlainOperators:
    """An observable operator model that is used as it is: its probabilities may be negative.

    Attributes
    ----------
    start, end : arrays, shape (r,)
        b_1 and b_inf.
    operators : array, shape (n, r, r)
        B_x of each symbol.
    stop : array, shape (r,) or (0,)
        In models with ends, b_# predicts the end of a sequence, which is symbol n.
    """

    start: np.ndarray
    end: np.ndarray
    operators: np.ndarray
    stop: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def operator(self, symbol: int) -> np.ndarray:
        """Return B_x."""
        return self.operators[symbol]

    @cached_property
    def rows(self) -> np.ndarray:
        """The vectors b_inf B_x, which predict each symbol and the end, shape (n, r)."""
        rows = self.end @ self.operators
        return np.vstack([rows, self.stop]) if len(self.stop) else rows

    @cached_property
    def mean(self) -> np.ndarray:
        """The sum of all operators: a step whose symbol is not known."""
        return self.operators.sum(axis=0)

    def negative_mass(self) -> float:
        """Return the mean, over first symbols x, of the sum of all negative p(x' | x)."""
        states = self.operators[:1000] @ self.start
        states = states[states @ self.end > 0]
        if not len(states):
            return 0.0
        values = states @ self.end
        mass = -np.minimum(states @ self.rows.T, 0).sum(axis=1)
        return float(mass.sum() / values.sum())


Form: TypeAlias = HMMParameters | Operators | PlainOperators
