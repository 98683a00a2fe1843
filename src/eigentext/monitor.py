"""One monitor for everything that learns step by step.

A :class:`Monitor` keeps the history of a loop, shows its progress, saves its state in the
checkpoint in use, and says when the loop is done. A :class:`HeldOut` scores models on validation
data and keeps the best one::

    monitor = Monitor("em", n_steps, problem=(counts, start), tol=1e-5)
    if kept := monitor.resume():
        theta = kept.arrays["theta"]
    with monitor:
        while not monitor.is_done:
            value, theta = step(theta)
            monitor.record(value)
            monitor.keep(partial(dict, theta=theta))
"""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Any, Generic, NamedTuple, Self, TypeVar

import numpy as np

from eigentext import engine
from eigentext.storage.checkpoints import Iteration

Model = TypeVar("Model")
Arrays = dict[str, Any]
_HISTORY, _HELD_OUT, _BEST = "monitor.history", "held_out.", "best."  # names in a checkpoint


class Kept(NamedTuple):
    """The state of a loop that was interrupted."""

    arrays: Arrays
    about: dict[str, Any]  # numbers and strings


class HeldOut(Generic[Model]):
    """Scores models on validation data, keeps the best one, and says when to stop.

    Parameters
    ----------
    score
        A function of a model. Higher is better.
    pack, unpack
        Functions from a model to named arrays, and back. A checkpoint keeps the best model.
    every
        Score only every n-th model that is shown.
    patience
        Stop after this many scores in a row without a new best one. None never stops.
    latest
        Which of several models with the best score is kept: the latest if True, the first if False.
    problem
        A description of the validation data, so that a checkpoint of other data is not used.

    Attributes
    ----------
    best : Model or None
        The model with the highest score so far.
    scores : list of float
        All scores so far.
    """

    def __init__(
        self,
        score: Callable[[Model], float],
        *,
        pack: Callable[[Model], Arrays],
        unpack: Callable[[Arrays], Model],
        every: int = 1,
        patience: int | None = None,
        latest: bool = False,
        problem: Any = "",
    ):
        self._score, self._pack, self._unpack = score, pack, unpack
        self._every, self._patience, self._latest = every, patience, latest
        self._n_shown = 0
        self.problem = every, patience, problem
        self.best: Model | None = None
        self.scores: list[float] = []

    def show(self, model: Model) -> bool:
        """Score a model, and return True if it is time to stop."""
        self._n_shown += 1
        if self._n_shown % self._every:
            return False
        score = self._score(model)
        if self.best is None or self._is_best(score):
            self.best = model
        self.scores.append(score)
        since_best = len(self.scores) - 1 - int(np.argmax(self.scores))
        return self._patience is not None and since_best >= self._patience

    def _is_best(self, score: float) -> bool:
        before = max(self.scores)
        return score > before or (self._latest and score == before)

    def state(self) -> Arrays:
        """Return what a checkpoint keeps."""
        best = {} if self.best is None else self._pack(self.best)
        found = {_BEST + name: array for name, array in best.items()}
        return found | {"scores": np.array(self.scores), "n_shown": np.array(self._n_shown)}

    def restore(self, arrays: Arrays) -> None:
        """Continue from a state."""
        self.scores, self._n_shown = arrays["scores"].tolist(), int(arrays["n_shown"])
        best = _with_prefix(arrays, _BEST)
        self.best = self._unpack(best) if best else None


class Monitor:
    """The history, the progress, the checkpoint and the end of one loop.

    Parameters
    ----------
    name
        The name of the loop in checkpoints, and on the progress bar unless there is a `title`.
    n_steps
        The largest number of recorded steps.
    problem
        Everything that the outcome depends on: arrays, numbers, strings, or functions that return
        one of these. A checkpoint of another problem is not used.
    tol
        Stop when a step gains less than this. None never stops.
    relative
        Whether `tol` is a fraction of the value before the step.
    falls
        Whether learning lowers the value, as with perplexity, instead of raising it.
    amount, unit
        How far :meth:`record` advances the progress bar, and in what unit. If `amount` is 0, the
        loop calls :meth:`advance` itself, also for the steps before it was interrupted.
    held_out
        Scores the models that are given to :meth:`show`.
    title
        The name on the progress bar, if it is not `name`.
    total
        The length of the progress bar, if it is not ``n_steps * amount``.
    progress
        A function that is called with each amount. It takes the place of the progress bar.

    Attributes
    ----------
    history : list of float
        The recorded values.
    is_done : bool
        Whether the loop must end.
    has_converged : bool
        Whether the last step gained less than `tol`.
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
        title: str | None = None,
        total: int | None = None,
        progress: Callable[[int], object] | None = None,
    ):
        self._n_steps, self._amount = n_steps, amount
        self._tol, self._relative, self._sign = tol, relative, -1.0 if falls else 1.0
        self._held_out = held_out
        self._bar: AbstractContextManager[Callable[[int], object]]
        if progress is None:
            length = n_steps * amount if total is None else total
            self._bar = engine.phase(title or name, length, unit)
        else:
            self._bar = nullcontext(progress)
        self._advance: Callable[[int], object] = lambda amount: None  # until the bar is shown
        limits = n_steps, tol, relative, None if held_out is None else held_out.problem
        self._iteration = Iteration(name, *problem, *limits)
        self.history: list[float] = []
        self.is_done = n_steps == 0
        self.has_converged = False

    def resume(self) -> Kept | None:
        """Return the state to continue from, or None if the checkpoint has none of this problem."""
        found = self._iteration.kept()
        if found is None:
            return None
        arrays, about = found
        self.history = arrays.pop(_HISTORY).tolist()
        self.is_done, self.has_converged = about["is_done"], about["has_converged"]
        if self._held_out is not None:
            self._held_out.restore(_with_prefix(arrays, _HELD_OUT))
        return Kept(arrays, about)

    def __enter__(self) -> Self:
        self._advance = self._bar.__enter__()
        self.advance(len(self.history) * self._amount)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.__exit__(kind, error, traceback)

    def advance(self, amount: int) -> None:
        """Advance the progress bar."""
        if amount:
            self._advance(amount)

    def record(self, value: float, *, may_converge: bool = True) -> None:
        """Append the value of a step to the history.

        The loop is done after `n_steps` values, or when a step gains less than `tol`. With
        `may_converge` False, `tol` does not apply to this step.
        """
        self.history.append(value)
        self.advance(self._amount)
        if self._tol is not None and may_converge:
            self.has_converged = self.gains_less_than(self._tol)
        if self.has_converged or len(self.history) >= self._n_steps:
            self.is_done = True

    def gains_less_than(self, tol: float) -> bool:
        """Whether the last recorded step gained less than `tol`. A first step never does."""
        if len(self.history) < 2:
            return False
        before, value = self.history[-2:]
        gain = self._sign * (value - before)
        return bool(gain < tol * (abs(before) if self._relative else 1.0))

    def show(self, model: Any) -> None:
        """Score a model on the validation data. The loop may be done afterwards."""
        if self._held_out is not None and self._held_out.show(model):
            self.is_done = True

    def stop(self) -> None:
        """End the loop for a reason that the monitor does not know."""
        self.is_done = True

    def keep(self, state: Callable[[], Arrays], about: dict[str, Any] | None = None) -> None:
        """Save the state of the loop in the checkpoint, if the last save was long enough ago.

        `state` returns named arrays. `about` has numbers and strings.
        """

        def whole() -> tuple[Arrays, dict[str, Any]]:
            arrays = {**state(), _HISTORY: np.array(self.history)}
            if self._held_out is not None:
                held = self._held_out.state().items()
                arrays |= {_HELD_OUT + name: array for name, array in held}
            ends = {"is_done": self.is_done, "has_converged": self.has_converged}
            return arrays, (about or {}) | ends

        self._iteration.keep(whole, is_last=self.is_done)


def _with_prefix(arrays: Arrays, prefix: str) -> Arrays:
    """The arrays whose names begin with the prefix, without it."""
    return {n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)}
