"""One monitor for everything that learns step by step.

A :class:`Monitor` keeps the history of a loop, shows its progress, saves its state in the
checkpoint in use, and says when the loop is done. A :class:`HeldOut` scores each step on
validation data and keeps the best one::

    monitor = Monitor("em", n_steps, problem=(counts, start), tol=1e-5)
    if kept := monitor.resume():
        theta = kept.arrays["theta"]
    with monitor:
        while not monitor.is_done:
            value, theta = step(theta)
            monitor.record(value)
            monitor.keep(lambda: {"theta": theta})
"""

from collections.abc import Callable, Iterable
from typing import Any, Generic, NamedTuple, Self, TypeVar

import numpy as np

from eigentext import engine
from eigentext.storage.checkpoints import Iteration

Model = TypeVar("Model")
Arrays = dict[str, Any]


class Kept(NamedTuple):
    """The state of a loop that was interrupted."""

    arrays: Arrays
    about: dict[str, Any]  # numbers and strings


class HeldOut(Generic[Model]):
    """Scores models on validation data, keeps the best, and says when no better one comes.

    Parameters
    ----------
    score
        A function of a model. Higher is better.
    pack, unpack
        From a model to named arrays, and back. A checkpoint keeps the best model with them.
    every
        Score only every n-th model that is shown.
    patience
        Stop after this many scores in a row without a new best one; None never stops.
    problem
        A description of the validation data, so that a checkpoint notices other data.
    """

    def __init__(
        self,
        score: Callable[[Model], float],
        *,
        pack: Callable[[Model], Arrays],
        unpack: Callable[[Arrays], Model],
        every: int = 1,
        patience: int | None = None,
        problem: Any = "",
    ):
        self._score, self._pack, self._unpack = score, pack, unpack
        self._every, self._patience = every, patience
        self._n_shown = 0
        self.problem = every, patience, problem
        self.best: Model | None = None
        self.scores: list[float] = []

    def show(self, model: Model) -> bool:
        """Score a model; return True if it is time to stop."""
        self._n_shown += 1
        if self._n_shown % self._every:
            return False
        score = self._score(model)
        if self.best is None or score > max(self.scores):
            self.best = model
        self.scores.append(score)
        since_best = len(self.scores) - 1 - int(np.argmax(self.scores))
        return self._patience is not None and since_best >= self._patience

    def state(self) -> Arrays:
        """What a checkpoint keeps."""
        best = {} if self.best is None else self._pack(self.best)
        found = {f"best.{name}": array for name, array in best.items()}
        return found | {"scores": np.array(self.scores), "n_shown": np.array(self._n_shown)}

    def restore(self, arrays: Arrays) -> None:
        """Continue from a state."""
        self.scores, self._n_shown = arrays["scores"].tolist(), int(arrays["n_shown"])
        best = {name[5:]: array for name, array in arrays.items() if name.startswith("best.")}
        self.best = self._unpack(best) if best else None


class Monitor:
    """The history, progress, checkpoint and end of one loop.

    Parameters
    ----------
    name
        The name of the loop, which progress bars and checkpoints show.
    n_steps
        The largest number of steps.
    problem
        Everything that the outcome depends on: arrays, numbers, strings, or functions that return
        them. A checkpoint of another problem is not used.
    tol
        Stop when a step raises the recorded value by less than this; None never stops.
    relative
        Whether `tol` is a share of the value.
    falls
        Whether learning lowers the value (perplexity) instead of raising it (likelihood).
    amount, unit
        How far a step advances the progress bar, and in what unit.
    held_out
        Scores the models that :meth:`show` gets.
    """

    def __init__(
        self,
        name: str,
        n_steps: int,
        *,
        problem: Iterable[Any] = (),
        tol: float | None = None,
        relative: bool = False,
        falls: bool = False,
        amount: int = 1,
        unit: str = "steps",
        held_out: HeldOut[Any] | None = None,
    ):
        self._name, self._n_steps, self._amount, self._unit = name, n_steps, amount, unit
        self._tol, self._relative, self._sign = tol, relative, -1.0 if falls else 1.0
        self._held_out = held_out
        limits = n_steps, tol, relative, None if held_out is None else held_out.problem
        self._iteration = Iteration(name, *problem, *limits)
        self.history: list[float] = []
        self.is_done = n_steps == 0
        self.has_converged = False

    def resume(self) -> Kept | None:
        """The state to continue from, if the checkpoint has one of this problem."""
        found = self._iteration.kept()
        if found is None:
            return None
        arrays, about = found
        self.history = arrays.pop("monitor.history").tolist()
        self.is_done, self.has_converged = about["is_done"], about["has_converged"]
        if self._held_out is not None:
            prefix = "held_out."
            own = {n[len(prefix) :]: a for n, a in arrays.items() if n.startswith(prefix)}
            self._held_out.restore(own)
        return Kept(arrays, about)

    def __enter__(self) -> Self:
        self._phase = engine.phase(self._name, self._n_steps * self._amount, self._unit)
        self._advance = self._phase.__enter__()
        if self.history:
            self._advance(len(self.history) * self._amount)
        return self

    def __exit__(self, *error: Any) -> None:
        self._phase.__exit__(*error)

    def record(self, value: float) -> None:
        """Note the value of a step; the loop is done after `n_steps` or when values stop rising."""
        self.history.append(value)
        self._advance(self._amount)
        if self._tol is not None and len(self.history) > 1:
            before = self.history[-2]
            gain = self._sign * (value - before)
            self.has_converged = gain < self._tol * (abs(before) if self._relative else 1.0)
        self.is_done = self.has_converged or len(self.history) >= self._n_steps

    def show(self, model: Any) -> None:
        """Let the held-out data judge a model; the loop may be done afterwards."""
        if self._held_out is not None and self._held_out.show(model):
            self.is_done = True

    def stop(self) -> None:
        """End the loop for a reason of its own."""
        self.is_done = True

    def keep(self, state: Callable[[], Arrays], about: dict[str, Any] | None = None) -> None:
        """Save the state of the loop in the checkpoint, if the last save was long enough ago."""

        def whole() -> tuple[Arrays, dict[str, Any]]:
            arrays = {**state(), "monitor.history": np.array(self.history)}
            if self._held_out is not None:
                held = self._held_out.state().items()
                arrays |= {f"held_out.{name}": array for name, array in held}
            ends = {"is_done": self.is_done, "has_converged": self.has_converged}
            return arrays, (about or {}) | ends

        self._iteration.keep(whole, is_last=self.is_done)
