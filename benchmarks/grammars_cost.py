"""How the time and memory of grammars grow: with sentences, trees, states and threads.

Run it with ``.venv/bin/python benchmarks/grammars_cost.py [length] [trees] [states] [threads]``,
all four by default. ``--trees`` and ``--sentences`` take the first ones only, to try it out. All
are LatentPCFG(method="em") in a process of its own with warm kernels, on one thread but in the
last table; seconds are CPU seconds but there. Of the steps of EM those of the grammar that prunes,
25 of two states, are in "fit" alone. Where only the cost matters, and not what is learned, the
grammars have 5 steps of either kind: a step costs what it costs, and so does a pass over a
sentence. A factor is that of a row to the one above.
"""

import argparse
import hashlib
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

import eigentext as et
from _grammars import (
    Steps,
    Table,
    factors,
    gold,
    in_a_process,
    joined,
    serve,
    trees,
    warm_fit,
    warm_parse,
)
from _harness import Phases
from eigentext import engine
from eigentext.grammars import _cascade

LENGTHS, REPEATS = (10, 20, 40, 80, 160), 10
STATES = (4, 8, 16, 32)
PARTS = (8, 4, 2, 1)  # one over so many
FEW = {"n_iter": 5, "n_smooth": 5}


def fitted(name: str, limit: int | None, **options: Any):
    """A grammar and what it took: [wall, CPU, MB], and the steps."""
    model, examples = et.LatentPCFG(method="em", **options), trees(name, "train", limit)
    phases, steps = Phases(), Steps()
    warm_fit(model, examples)
    with engine.report_to(steps), phases("fit"):
        model.fit(examples)
    warm_parse(model, examples)
    return model, phases.found["fit"], steps


class Passes:
    """CPU seconds of the steps of a parser: its functions, each with a clock around it."""

    NAMES = ("coarse chart", "forest", "middle", "fine", "tree")

    def __init__(self, model: Any):
        self.seconds: dict[str, float] = defaultdict(float)
        cascade = model._cascade
        for owner, function, name in (
            (_cascade, "prune", "coarse chart"),
            (_cascade, "refine", "forest"),
            (cascade, "_pruned_again", "middle"),
            *((level, "posteriors", "fine") for level in cascade.levels),
            (model, "_tree", "tree"),
        ):
            setattr(owner, function, self._timed(getattr(owner, function), name))

    def _timed(self, function: Callable, name: str) -> Callable:
        def call(*arguments, **options):
            start = time.process_time()
            try:
                return function(*arguments, **options)
            finally:
                self.seconds[name] += time.process_time() - start

        return call

    def parse(self, model: Any, sentences: list[list[str]]) -> dict:
        """Milliseconds a sentence, in all and of each step; what is left are words and Python."""
        phases = Phases()
        self.seconds.clear()
        with phases("parse"):
            found = list(model.parses(sentences, n_jobs=1))
        _, cpu, memory = phases.found["parse"]
        each = 1e3 / len(sentences)
        return {name: each * self.seconds[name] for name in self.NAMES} | {
            "all": each * cpu,
            "MB": memory,
            "fallbacks": sum(one.fallback is not None for one in found),
        }


# -- what runs in a process of its own -------------------------------------------------------------


def length(limit: int | None, repeats: int) -> list[dict]:
    engine.use(engine.ThreadEngine(1))
    model, *_ = fitted("penn-sample", limit, n_states=16, **FEW)
    passes, examples = Passes(model), trees("penn-sample", "test")
    return [passes.parse(model, list(joined(examples, n, repeats))) for n in LENGTHS]


def part(limit: int) -> dict:
    engine.use(engine.ThreadEngine(1))
    model, (_, cpu, memory), steps = fitted("gum", limit, n_states=8)
    words = [tree.leaves() for tree in gold("gum", "test", 200)]
    return {
        "tokens": model.provenance_["n_tokens"],
        "rules": model.diagnostics_["n_rules"],
        "parameters": model.diagnostics_["n_parameters"],
        "step": steps.seconds("em"),
        "smoothed step": steps.seconds("smoothed em"),
        "fit": cpu,
        "MB": memory,
        "parse": Passes(model).parse(model, words)["all"],
    }


def states(n_states: int, limit: int | None, sentences: int | None) -> dict:
    engine.use(engine.ThreadEngine(1))
    model, (_, _, memory), steps = fitted("penn-sample", limit, n_states=n_states, **FEW)
    words = [tree.leaves() for tree in gold("penn-sample", "test", sentences)]
    found = Passes(model).parse(model, words)
    return {
        "mean states": float(model.n_states_.mean()),
        "parameters": model.diagnostics_["n_parameters"],
        "step": steps.seconds("em"),
        "smoothed step": steps.seconds("smoothed em"),
        "fit MB": memory,
        "fine": found["fine"],
        "all": found["all"],
        "parse MB": found["MB"],
    }


def on_threads(n_threads: int, limit: int | None, sentences: int | None) -> dict:
    """Wall seconds, and digests of all that was learned and found."""
    engine.use(engine.ThreadEngine(n_threads))
    model, (fit, *_), _ = fitted("penn-sample", limit, n_states=16, **FEW)
    words, phases = [tree.leaves() for tree in gold("penn-sample", "test", sentences)], Phases()
    with phases("parse"):
        found = list(model.parses(words))
    arrays = model._to_saved()[0]
    learned = b"".join(np.asarray(arrays[key]).tobytes() for key in sorted(arrays))
    answers = "\n".join(f"{one.tree} {one.log_probability.hex()}" for one in found)
    return {
        "fit": fit,
        "parse": phases.found["parse"][0],
        "digests": [hashlib.sha256(x).hexdigest() for x in (learned, answers.encode())],
    }


# -- the tables ------------------------------------------------------------------------------------


def show_length(asked: argparse.Namespace) -> None:
    repeats = asked.sentences or REPEATS
    table = Table(
        f"**Words**: Penn's test sentences joined and cut, {repeats} of each length, 16 states; "
        "CPU ms a sentence",
        *Passes.NAMES, "all", "factor", "peak MB", "fallbacks",
    )  # fmt: skip
    times = factors()
    for n, row in zip(LENGTHS, in_a_process("length", limit=asked.trees, repeats=repeats)):
        passes = (row[name] for name in Passes.NAMES)
        table.row(n, *passes, row["all"], times(row["all"]), row["MB"], row["fallbacks"])


def show_trees(asked: argparse.Namespace) -> None:
    table = Table(
        "**Trees**: the first ones of GUM, 8 states, 20 + 20 steps; CPU s, CPU ms a sentence",
        "trees", "tokens", "rules", "parameters", "a step", "factor", "a smoothed step", "fit",
        "factor", "peak MB", "parse", "factor",
    )  # fmt: skip
    total = asked.trees or len(trees("gum", "train"))
    step, fit, parse = factors(), factors(), factors()
    for parts in PARTS:
        row = in_a_process("part", limit=total // parts)
        sizes = (row[name] for name in ("tokens", "rules", "parameters"))
        table.row(
            "all" if parts == 1 else f"1/{parts}", total // parts, *sizes,
            row["step"], step(row["step"]), row["smoothed step"],
            row["fit"], fit(row["fit"]), row["MB"], row["parse"], parse(row["parse"]),
        )  # fmt: skip


def show_states(asked: argparse.Namespace) -> None:
    table = Table(
        "**States**: Penn's sample; CPU s a step, CPU ms a sentence",
        "mean", "parameters", "a step", "factor", "a smoothed step", "fit MB",
        "fine pass", "factor", "parse", "factor", "parse MB",
    )  # fmt: skip
    step, fine, parse = factors(), factors(), factors()
    for m in STATES:
        row = in_a_process("states", n_states=m, limit=asked.trees, sentences=asked.sentences)
        table.row(
            f"m = {m}", row["mean states"], row["parameters"],
            row["step"], step(row["step"]), row["smoothed step"], row["fit MB"],
            row["fine"], fine(row["fine"]), row["all"], parse(row["all"]), row["parse MB"],
        )  # fmt: skip


def show_threads(asked: argparse.Namespace) -> None:
    table = Table(
        "**Threads**: Penn's sample, 16 states; wall s",
        "fit", "factor", "parse the test part", "factor", "same grammar", "same trees",
    )  # fmt: skip
    fit, parse, first = factors(), factors(), None
    for n in (1, 2):
        arguments = {"n_threads": n, "limit": asked.trees, "sentences": asked.sentences}
        row = in_a_process("on_threads", one_thread=False, **arguments)
        first = first or row["digests"]
        same = ["" if n == 1 else "yes" if a == b else "NO" for a, b in zip(row["digests"], first)]
        table.row(n, row["fit"], fit(row["fit"]), row["parse"], parse(row["parse"]), *same)


TABLES = {
    "length": show_length,
    "trees": show_trees,
    "states": show_states,
    "threads": show_threads,
}


def main() -> None:
    options = argparse.ArgumentParser(description="How the cost of grammars grows.")
    options.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    options.add_argument("--trees", type=int, help="learn from the first ones only")
    options.add_argument("--sentences", type=int, help="parse so many only")
    asked = options.parse_intermixed_args()
    if unknown := set(asked.tables) - set(TABLES):
        options.error(f"no table {unknown.pop()!r}: they are {', '.join(TABLES)}")
    for name in asked.tables or TABLES:
        TABLES[name](asked)


if __name__ == "__main__" and not serve(length, part, states, on_threads):
    main()
