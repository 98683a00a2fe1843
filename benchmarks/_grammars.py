"""What the benchmarks of grammars share: treebanks, loading of compiled code, tasks in processes.

A script has tasks: functions of plain arguments that return plain data. :func:`in_a_process` runs a
task in its own process, and :func:`serve` is how the script answers there.
"""

import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, cast

import eigentext as et

WARM = 20  # trees that are enough to compile and load all loops
_ONE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def trees(name: str, split: str, limit: int | None = None) -> list[et.Tree]:
    """The first trees of a part of a treebank, as its files have them."""
    return et.load_dataset(cast(Any, name), split=cast(Any, split))[:limit]


def gold(name: str, split: str, limit: int | None = None) -> list[et.Tree]:
    """The same trees as they are scored: normalized."""
    return [et.normalize_tree(tree) for tree in trees(name, split, limit)]


def warm_fit(model: Any, examples: list[et.Tree]) -> None:
    """Load compiled code: fit a model like this one to a few trees, and parse with it."""
    parameters = model.get_params(deep=False)
    few = {"n_states": 4, "n_grammars": 1, "n_iter": 2, "n_smooth": 2}
    small = type(model)(**parameters | {key: few[key] for key in few if key in parameters})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few trees, and of steps that a method does not have
        warm_parse(small.fit(examples[:WARM]), examples)


def warm_parse(model: Any, examples: list[et.Tree]) -> None:
    """Parse a few sentences forwards and backwards; reversed ones often have no parse."""
    words = [et.normalize_tree(tree).leaves() for tree in examples[:WARM]]
    list(model.parses([*words, *(sentence[::-1] for sentence in words)], n_jobs=1))


class Steps:
    """Counts the EM steps of a fit and their CPU seconds, phase by phase."""

    def __init__(self):
        self.found: dict[str, tuple[int, float]] = {}

    def started(self, phase) -> None:
        """Start the clock."""
        self._start = time.process_time()

    def advanced(self, phase) -> None:
        """Do nothing: only the ends of phases matter."""

    def finished(self, phase) -> None:
        """Add up phases that have steps; the grammars of an ensemble share their names."""
        if phase.unit == "steps":
            n, seconds = self.found.get(phase.name, (0, 0.0))
            seconds += time.process_time() - self._start
            self.found[phase.name] = n + phase.done, seconds

    def total(self) -> int:
        """The number of all steps, with those of the pruning grammar."""
        return sum(n for n, _ in self.found.values())

    def seconds(self, name: str) -> float:
        """CPU seconds for a step of this phase."""
        n, seconds = self.found[name]
        return seconds / n


def in_a_process(task: str, *, one_thread: bool = True, **arguments: Any) -> Any:
    """Run a task of this script in its own process, and return what it returns."""
    command = [sys.executable, sys.argv[0], "--run", task, json.dumps(arguments)]
    environment = os.environ | (_ONE if one_thread else {})
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return json.loads(done.stdout)


def serve(*tasks: Callable[..., Any]) -> bool:
    """Run the task that the command line names, if it names one, and print its answer."""
    if sys.argv[1:2] != ["--run"]:
        return False
    task = {task.__name__: task for task in tasks}[sys.argv[2]]
    print(json.dumps(task(**json.loads(sys.argv[3]))))
    return True


def factors() -> Callable[[float], float | None]:
    """A function that divides its argument by the argument of the call before."""
    before: list[float] = []

    def times(value: float) -> float | None:
        before.append(value)
        return value / before[-2] if len(before) > 1 else None

    return times


def joined(examples: list[et.Tree], length: int, how_many: int) -> Iterator[list[str]]:
    """Sentences of this length, cut one after another from the words of all trees."""
    words = list(chain.from_iterable(et.normalize_tree(tree).leaves() for tree in examples))
    words *= -(-length * how_many // len(words))
    for start in range(0, length * how_many, length):
        yield words[start : start + length]
