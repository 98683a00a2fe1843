"""What the benchmarks of grammars share: treebanks, warm kernels, a process for each run, tables.

A script has tasks, functions of plain arguments that return plain data; :func:`in_a_process` runs
one of them, and :func:`serve` is how the script answers there.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, cast

import eigentext as et
from _harness import DATA

WARM = 20  # trees to compile and load the kernels with
_ONE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def trees(name: str, split: str, limit: int | None = None) -> list[et.Tree]:
    """The first trees of a part of a treebank, as its files have them."""
    os.environ.setdefault("EIGENTEXT_DATA", str(DATA))
    return et.load_dataset(cast(Any, name), split=cast(Any, split))[:limit]


def gold(name: str, split: str, limit: int | None = None) -> list[et.Tree]:
    """The same as they are scored."""
    return [et.normalize_tree(tree) for tree in trees(name, split, limit)]


def warm_fit(model: Any, examples: list[et.Tree]) -> None:
    """Learn such a model from a few trees in a few steps, and parse with it."""
    parameters = model.get_params()
    few = {"n_states": 4, "n_grammars": 1, "n_iter": 2, "n_smooth": 2}
    small = type(model)(**parameters | {key: few[key] for key in few if key in parameters})
    warm_parse(small.fit(examples[:WARM]), examples)


def warm_parse(model: Any, examples: list[et.Tree]) -> None:
    """Parse a few sentences, forwards and backwards: the latter have less often a parse."""
    words = [et.normalize_tree(tree).leaves() for tree in examples[:WARM]]
    list(model.parses([*words, *(sentence[::-1] for sentence in words)], n_jobs=1))


class Steps:
    """Listens to the phases of a fit: how many steps of EM, in how many CPU seconds."""

    def __init__(self):
        self.found: dict[str, tuple[int, float]] = {}

    def started(self, phase) -> None:
        """Look at the clock."""
        self._start = time.process_time()

    def advanced(self, phase) -> None:
        """Nothing to note."""

    def finished(self, phase) -> None:
        """Add up what has steps; the grammars of an ensemble have phases of the same names."""
        if phase.unit == "steps":
            n, seconds = self.found.get(phase.name, (0, 0.0))
            seconds += time.process_time() - self._start
            self.found[phase.name] = n + phase.done, seconds

    def total(self) -> int:
        """All steps, those of the grammar that prunes included."""
        return sum(n for n, _ in self.found.values())

    def seconds(self, name: str) -> float:
        """CPU seconds a step, of a phase."""
        n, seconds = self.found[name]
        return seconds / n


def in_a_process(task: str, *, one_thread: bool = True, **arguments: Any) -> Any:
    """What a task of this script returns in a process of its own."""
    command = [sys.executable, sys.argv[0], "--run", task, json.dumps(arguments)]
    environment = os.environ | (_ONE if one_thread else {})
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return json.loads(done.stdout)


def serve(*tasks: Callable[..., Any]) -> bool:
    """Run the task that the command line names, if it does, and print what it returns."""
    if sys.argv[1:2] != ["--run"]:
        return False
    task = {task.__name__: task for task in tasks}[sys.argv[2]]
    print(json.dumps(task(**json.loads(sys.argv[3]))))
    return True


class Table:
    """Markdown, row by row as they come; the first column is the name of the row."""

    def __init__(self, title: str, *columns: str):
        print(f"\n{title}\n")
        self._line("", *columns)
        print("|---" * (len(columns) + 1) + "|", flush=True)

    def row(self, *cells: Any) -> None:
        """Numbers are rounded to what is worth reading."""
        self._line(*map(figure, cells))

    def _line(self, *cells: str) -> None:
        print("|" + "|".join(f" {cell} " for cell in cells) + "|", flush=True)


def figure(value: Any) -> str:
    """Three digits, but whole numbers as they are; nothing for None."""
    if isinstance(value, float) and abs(value) < 100:
        return f"{value:.2f}" if abs(value) >= 1 else f"{value:.3g}"
    return "" if value is None else f"{value:,.0f}" if isinstance(value, float) else _text(value)


def _text(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def factors() -> Callable[[float], str]:
    """A function that says how many times its argument is what it was the last time."""
    before: list[float] = []

    def times(value: float) -> str:
        before.append(value)
        return f"x {value / before[-2]:.2f}" if len(before) > 1 else ""

    return times


def joined(examples: list[et.Tree], length: int, how_many: int) -> Iterator[list[str]]:
    """Sentences of so many words, cut one after another from those of trees, again and again."""
    words = list(chain.from_iterable(et.normalize_tree(tree).leaves() for tree in examples))
    words *= -(-length * how_many // len(words))
    for start in range(0, length * how_many, length):
        yield words[start : start + length]
