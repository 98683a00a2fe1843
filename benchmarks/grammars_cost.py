"""How the time and memory of grammars grow: with sentence length, trees, states and threads.

Run it with ``.venv/bin/python benchmarks/grammars_cost.py [length] [trees] [states] [threads]``;
the default is all four. ``--trees`` and ``--sentences`` take only the first ones, for a quick try.
All grammars are LatentPCFG(method="em"), each in its own process with all loops loaded. They run on
one thread, and seconds are CPU seconds; the last table compares threads by wall seconds. The 25 EM
steps of the pruning grammar, which has two states, count in "fit" alone. Where only the cost
matters, and not what is learned, the grammars have 5 steps of each kind. A factor compares a row
with the row above.
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
from _record import Column, Table, fact, record, score
from eigentext import engine
from eigentext.grammars.chart import cascade
from eigentext.grammars.chart.decoding import Decoder

LENGTHS, REPEATS = (10, 20, 40, 80, 160), 10
STATES = (4, 8, 16, 32)
PARTS = (8, 4, 2, 1)  # each part is one over this number of all trees
FEW = {"n_iter": 5, "n_smooth": 5}


def fitted(name: str, limit: int | None, **options: Any):
    """A grammar, its cost [wall, CPU, MB], and the steps."""
    model, examples = et.LatentPCFG(method="em", **options), trees(name, "train", limit)
    phases, steps = Phases(), Steps()
    warm_fit(model, examples)
    with engine.report_to(steps), phases("fit"):
        model.fit(examples)
    warm_parse(model, examples)
    return model, phases.found["fit"], steps


class Passes:
    """Measures the CPU seconds of each step of a parser, with a clock around its functions."""

    NAMES = ("coarse chart", "forest", "middle", "fine", "tree")

    def __init__(self, model: Any):
        self.seconds: dict[str, float] = defaultdict(float)
        grammars = model._cascade
        for owner, function, name in (
            (cascade, "prune", "coarse chart"),
            (cascade, "refine", "forest"),
            (grammars, "_pruned_again", "middle"),
            *((level, "posteriors", "fine") for level in grammars.levels),
            (Decoder, "tree", "tree"),
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
        """Milliseconds for a sentence, in all and for each step; the rest is lookup and Python."""
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


# -- tasks, each in its own process ----------------------------------------------------------------


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
    """Wall seconds, and digests of the model and of its parses."""
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


def ms(name: str) -> Column:
    """A column of CPU milliseconds for a sentence."""
    return Column(name, "time", "lower")


def show_length(asked: argparse.Namespace) -> Table:
    repeats = asked.sentences or REPEATS
    costs = map(ms, (*Passes.NAMES, "all"))
    table = Table(
        "length",
        f"Sentence length: test sentences of the Penn sample joined and cut, {repeats} of each "
        "length, 16 states; CPU ms for a sentence",
        (*costs, fact("factor"), "peak MB", score("fallbacks", "lower", digits=0)),
        ("words",),
    )
    times = factors()
    for n, row in zip(LENGTHS, in_a_process("length", limit=asked.trees, repeats=repeats)):
        passes = (row[name] for name in Passes.NAMES)
        table.row(n, *passes, row["all"], times(row["all"]), row["MB"], row["fallbacks"])
    return table


def show_trees(asked: argparse.Namespace) -> Table:
    sizes = map(fact, ("trees", "tokens", "rules", "parameters"))
    costs = ("step, s", fact("step factor"), "smoothed step, s", "fit, s", fact("fit factor"))
    table = Table(
        "trees",
        "Trees: the first ones of GUM, 8 states, 20 + 20 steps; CPU s, CPU ms for a sentence",
        (*sizes, *costs, "peak MB", "parse, ms", fact("parse factor")),
        ("part",),
    )
    total = asked.trees or len(trees("gum", "train"))
    step, fit, parse = factors(), factors(), factors()
    for parts in PARTS:
        row = in_a_process("part", limit=total // parts)
        numbers = (row[name] for name in ("tokens", "rules", "parameters"))
        table.row(
            "all" if parts == 1 else f"1/{parts}", total // parts, *numbers,
            row["step"], step(row["step"]), row["smoothed step"],
            row["fit"], fit(row["fit"]), row["MB"], row["parse"], parse(row["parse"]),
        )  # fmt: skip
    return table


def show_states(asked: argparse.Namespace) -> Table:
    costs = ("step, s", fact("step factor"), "smoothed step, s", "fit MB")
    parsing = ("fine pass, ms", fact("fine factor"), "parse, ms", fact("parse factor"), "parse MB")
    table = Table(
        "states",
        "States: the Penn sample; CPU s for a step, CPU ms for a sentence",
        (fact("mean states"), fact("parameters"), *costs, *parsing),
        ("m",),
    )
    step, fine, parse = factors(), factors(), factors()
    for m in STATES:
        row = in_a_process("states", n_states=m, limit=asked.trees, sentences=asked.sentences)
        table.row(
            m, row["mean states"], row["parameters"],
            row["step"], step(row["step"]), row["smoothed step"], row["fit MB"],
            row["fine"], fine(row["fine"]), row["all"], parse(row["all"]), row["parse MB"],
        )  # fmt: skip
    return table


def show_threads(asked: argparse.Namespace) -> Table:
    same = (fact("same grammar"), fact("same trees"))
    table = Table(
        "threads",
        "Threads: the Penn sample, 16 states; wall s",
        ("fit, s", "parse the test part, s", *same),
        ("threads",),
    )
    first = None
    for n in (1, 2):
        arguments = {"n_threads": n, "limit": asked.trees, "sentences": asked.sentences}
        row = in_a_process("on_threads", one_thread=False, **arguments)
        first = first or row["digests"]
        equal = [None if n == 1 else a == b for a, b in zip(row["digests"], first)]
        table.row(n, row["fit"], row["parse"], *equal)
    return table


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
    options.add_argument("--sentences", type=int, help="parse the first ones only")
    asked = options.parse_intermixed_args()
    if unknown := set(asked.tables) - set(TABLES):
        options.error(f"unknown table {unknown.pop()!r}: use {', '.join(TABLES)}")
    record(
        "grammars_cost",
        "How the cost of parsers grows",
        [TABLES[name](asked) for name in asked.tables or TABLES],
        about='LatentPCFG(method="em") on one thread, 5 + 5 steps (on GUM 20 + 20).',
    )


if __name__ == "__main__" and not serve(length, part, states, on_threads):
    main()
