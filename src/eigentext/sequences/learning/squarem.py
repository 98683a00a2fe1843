r"""Accelerated fixed-point steps for hidden Markov models: SQUAREM (Varadhan and Roland 2008).

From :math:`\theta_0` and two EM steps :math:`\theta_1, \theta_2`, with
:math:`r = \theta_1 - \theta_0`, :math:`v = \theta_2 - \theta_1 - r` and
:math:`\alpha = -|r|/|v|`, the next start is :math:`\theta_0 - 2\alpha r + \alpha^2 v`, for the
square roots of probabilities. A jump that lowers the likelihood is undone. SQUAREM needs about 30
passes over the data where plain EM needs 100.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigentext.monitor import Kept, Monitor
from eigentext.sequences.forms import HMMParameters

_FIRST_JUMP, _LARGEST_JUMP = 4.0, 256.0
_PARTS = ("initial", "transition", "emission")
Step = Callable[[HMMParameters], tuple[float, HMMParameters]]


def climb(
    start: HMMParameters, step: Step, monitor: Monitor, *, n_iter: int, amount: int
) -> "Search":
    """Run accelerated steps of EM from one start, at most `n_iter`. `monitor` says when to stop.

    ``step(model)`` returns the value of the model, and the model after one step of EM. `amount` is
    what a step adds to the progress.
    """
    search = Search(start)
    if kept := monitor.resume():
        search = Search.resumed(kept)

    def counted(model: HMMParameters) -> tuple[float, HMMParameters]:
        search.n_passes += 1
        monitor.advance(amount)
        return step(model)

    with monitor:
        for _ in range(search.n_passes):
            monitor.advance(amount)
        while not monitor.is_done:
            value, one = counted(search.theta)
            if search.has_lost(value):
                search.undo()
            elif search.n_passes == n_iter:
                monitor.record(value, may_converge=False)
                search.accept(one)
            else:
                value, two = counted(one)
                monitor.record(value)
                if monitor.has_converged:
                    search.accept(two)
                else:
                    search.jump(value, one, two)
            if search.n_passes >= n_iter:
                monitor.stop()
            monitor.keep(search.arrays, search.about())
    return search


@dataclass
class Search:
    """Where SQUAREM is: the parameters of the next step, and those from which it jumped there."""

    theta: HMMParameters
    longest: float = _FIRST_JUMP
    n_passes: int = 0
    origin: tuple[float, HMMParameters] | None = None  # before the last jump; with its value

    @property
    def best(self) -> HMMParameters:
        """The parameters that are known to be good: those before a jump that was not tried."""
        return self.origin[1] if self.origin else self.theta

    def has_lost(self, value: float) -> bool:
        """Whether the last jump lowered the likelihood. If the value is nan, it did."""
        return self.origin is not None and not value >= self.origin[0]

    def undo(self) -> None:
        """Go back to where the last jump began, and make the next jumps shorter."""
        self.accept(self.best)
        self.longest = max(1.0, self.longest / 2)

    def accept(self, theta: HMMParameters) -> None:
        """Go to parameters that no jump leads to."""
        self.theta, self.origin = theta, None

    def jump(self, value: float, one: HMMParameters, two: HMMParameters) -> None:
        """Extrapolate from theta and the two steps after it."""
        self.theta, length = _jump(self.theta, one, two, self.longest)
        self.origin = value, two
        if length >= self.longest:
            self.longest = min(4 * self.longest, _LARGEST_JUMP)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return what a checkpoint keeps."""
        arrays = {f"theta.{name}": part for name, part in vars(self.theta).items()}
        if self.origin is not None:
            arrays |= {f"origin.{name}": part for name, part in vars(self.origin[1]).items()}
        return arrays

    def about(self) -> dict[str, Any]:
        """Return the numbers that a checkpoint keeps."""
        value = None if self.origin is None else self.origin[0]
        return {"n_passes": self.n_passes, "longest": self.longest, "value": value}

    @classmethod
    def resumed(cls, kept: Kept) -> "Search":
        """Continue from a checkpoint."""

        def taken(prefix: str) -> HMMParameters:
            return HMMParameters(*(kept.arrays[prefix + name] for name in _PARTS))

        about = kept.about
        origin = None if about["value"] is None else (about["value"], taken("origin."))
        return cls(taken("theta."), about["longest"], about["n_passes"], origin)


def _jump(
    zero: HMMParameters, one: HMMParameters, two: HMMParameters, longest: float
) -> tuple[HMMParameters, float]:
    """The extrapolated parameters, and the length of the jump (1 is `two` itself)."""
    parts = [[np.sqrt(getattr(theta, name)) for theta in (zero, one, two)] for name in _PARTS]
    r = [b - a for a, b, _ in parts]
    v = [c - 2 * b + a for a, b, c in parts]
    bend = sum(float((x**2).sum()) for x in v)
    length = np.sqrt(sum(float((x**2).sum()) for x in r) / bend) if bend > 0 else 1.0
    length = min(float(length), longest)
    if length <= 1:
        return two, 1.0
    initial, transition, emission = (
        # A root keeps at least a tenth of its size: EM cannot leave a zero.
        np.maximum(a + 2 * length * x + length**2 * y, 0.1 * c) ** 2
        for (a, _, c), x, y in zip(parts, r, v)
    )
    emission /= emission.sum(axis=0)
    return (
        HMMParameters(
            initial / initial.sum(), transition / transition.sum(axis=1, keepdims=True), emission
        ),
        length,
    )
