"""What all ways to learn hidden states have in common.

Each way has a file in this folder, and in it a function ``learn(task, k)``:

=============  ==================  ===============================================================
file           method              how it learns
=============  ==================  ===============================================================
counts         (the PCFG)          relative frequencies; no hidden states
em             "em"                expectation-maximization from a random start
split_merge    "split-merge"       EM while states are split in two and useless splits are undone
spectral       "spectral"          averages of projected features
clusters       "spectral+em"       clusters of the projected nodes, then EM
pivot          "pivot","pivot+em"  features that occur in one state only; then EM
=============  ==================  ===============================================================

A method *needs* a :class:`Task`. It *gives* a :class:`Learned`: one grammar with its words. What it
*tells* about the way there is in the history of that object.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from eigentext.grammars import parameters as tables
from eigentext.grammars.chart.cascade import Level
from eigentext.grammars.learning.training import Smoothing
from eigentext.parameters import Settings

if TYPE_CHECKING:
    from eigentext.grammars.learning.counts import CountedTrees
    from eigentext.grammars.learning.spectral import Evidence

_FILES = {
    "em": "em",
    "split-merge": "split_merge",
    "spectral": "spectral",
    "spectral+em": "clusters",
    "pivot": "pivot",
    "pivot+em": "pivot",
}
WITHOUT_FEATURES = ("em", "split-merge")


class LevelScore(NamedTuple):
    """How well a grammar does on the validation trees. Higher is better."""

    function: Callable[[Level], float]
    problem: str  # a fingerprint of the trees, for checkpoints

    def __call__(self, level: Level) -> float:
        """The score of a grammar."""
        return self.function(level)


@dataclass(frozen=True)
class Task:
    """What a method learns from.

    Attributes
    ----------
    counted
        The trees, read and counted.
    settings
        The parameters of :class:`~eigentext.LatentPCFG`.
    evidence
        The features of the nodes; None for the methods that use none.
    score
        The score on the validation trees; None without such trees.
    directions
        How many directions the projections have, if not `n_states`. A search over several numbers
        of states computes the projections once, for the largest number.
    allocated
        The largest number of states of each label, if it is not that of `settings`
        (``allocation.py``).
    useful
        How many directions of each label are more than chance, if that was looked at
        (``allocation.py``). Clusters use no others.
    """

    counted: "CountedTrees"
    settings: Settings
    evidence: "Evidence | None" = None
    score: LevelScore | None = None
    directions: int | None = None
    allocated: np.ndarray | None = None
    useful: np.ndarray | None = None

    @classmethod
    def of(cls, counted: "CountedTrees", settings: Settings, n_kept: int = 1) -> "Task":
        """The task of a method, with the features if the method uses any.

        `n_kept` is the number of projections to keep (:class:`Evidence`).
        """
        if settings.method in WITHOUT_FEATURES and not uses_spectra(settings):
            return cls(counted, settings)
        from eigentext.grammars.learning.spectral import Evidence

        return cls(counted, settings, Evidence(counted, settings.features, n_kept))

    def rng(self, k: int) -> np.random.Generator:
        """The random numbers of the k-th grammar."""
        return np.random.default_rng([self.settings.random_state, k])

    @property
    def most_states(self) -> int:
        """The largest number of states that any label may have."""
        return tables.largest(self.settings.n_states)

    @property
    def limits(self) -> np.ndarray:
        """The largest number of states of each label."""
        if self.allocated is not None:
            return self.allocated
        n_states, symbols = self.settings.n_states, self.counted.treebank.symbols
        if isinstance(n_states, int):
            return np.full(len(symbols), n_states)
        others = n_states.get(tables.OTHERS, tables.LatentPCFG["n_states"].default)
        return np.array([n_states.get(str(symbol), others) for symbol in symbols], np.int64)

    @property
    def room(self) -> np.ndarray:
        """The same, and at most one state for each `nodes_per_state` nodes of the label."""
        limits, label = self.limits, self.counted.treebank.label
        counts = np.bincount(label, minlength=len(limits))
        return np.clip(counts // self.settings.nodes_per_state, 1, limits)

    @property
    def smoothing(self) -> Smoothing | None:
        """How probabilities are smoothed at the end of a step of EM; None for not at all."""
        known = tables.constants(self.settings.smoothing, "factor", tables.SMOOTHING)
        if not known["factor"]:
            return None
        names = ("states", "words", "dependent", "independent")
        return Smoothing(*(known[name] for name in names)).times(known["factor"])


def uses_spectra(settings: Settings) -> bool:
    """Whether the numbers of states need the singular values, whatever the method."""
    return settings.allocation != "uniform" and settings.method != "split-merge"


class Learned(NamedTuple):
    """What a method gives.

    Attributes
    ----------
    level
        A grammar, with the words of its states.
    history
        What happened on the way. Each method says in its docstring what it tells here. With
        validation trees, "validation" has the scores on them.
    """

    level: Level
    history: dict[str, Any]


class Method(Protocol):
    """A way to learn hidden states."""

    def __call__(self, task: Task, k: int) -> Learned:
        """Learn the k-th of several grammars. They differ by their random numbers."""
        ...


def method(name: str) -> Method:
    """The function that learns by the method of this name."""
    return import_module(f"eigentext.grammars.learning.{_FILES[name]}").learn
