"""Where the time of parsing goes: CPU seconds by phase, for grammars of 8, 16 and 32 states.

    python benchmarks/parse_phases.py [--treebank gum] [--states 8,16,32] [--sentences 600]

The grammars are learned from the training part and parse the first sentences of the development
part, with one thread. Functions of the parser are wrapped in clocks: a phase is what its functions
take, without those of other phases that they call. So all phases add up to the whole.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import eigentext as et
from _grammars import gold, in_a_process, serve, trees, warm_fit, warm_parse
from _record import Table, fact, record, score
from eigentext.grammars import parser
from eigentext.grammars.chart import (
    _build_loops,
    _chart_loops,
    _forest_loops,
    _sparse_forest_loops,
    cascade,
    decoding,
)

METHOD = "spectral+em"
PHASES = (
    "words", "coarse inside", "coarse outside", "forest", "middle inside", "middle outside",
    "prune again", "fine inside", "fine outside", "decoding", "trees", "other Python",
)  # fmt: skip


class Clock:
    """CPU seconds by phase. Time inside an inner phase does not count for the outer one."""

    def __init__(self):
        self.seconds: dict[str, float] = defaultdict(float)
        self.stack: list[str] = ["other Python"]
        self.level = "fine"  # the grammar whose forest is being passed over
        self.last = time.thread_time()

    def switch(self) -> None:
        """Give the time since the last switch to the phase on top."""
        now = time.thread_time()
        self.seconds[self.stack[-1]] += now - self.last
        self.last = now

    def wrapped(self, function: Callable[..., Any], phase: str) -> Callable[..., Any]:
        """The function, with its time counted for a phase; "{}" becomes the name of the level."""

        def timed(*args: Any, **options: Any) -> Any:
            self.switch()
            self.stack.append(phase.format(self.level))
            try:
                return function(*args, **options)
            finally:
                self.switch()
                self.stack.pop()

        return timed

    def watch(self, model: Any) -> None:
        """Wrap the functions of the parser."""
        for owner, name, phase in (
            (_chart_loops, "inside", "coarse inside"),
            (_chart_loops, "outside", "coarse outside"),
            (_build_loops, "build", "forest"),
            (_build_loops, "collect", "forest"),
            (_forest_loops, "inside_forest", "{} inside"),
            (_forest_loops, "outside_forest", "{} outside"),
            (_sparse_forest_loops, "inside_forest_sparse", "{} inside"),
            (_sparse_forest_loops, "outside_forest_sparse", "{} outside"),
            (cascade, "kept", "prune again"),
            (decoding, "minimum_bayes_risk", "decoding"),
            (decoding, "restore", "trees"),
            (parser, "pack", "trees"),
            (parser, "unpack", "trees"),
        ):
            setattr(owner, name, self.wrapped(getattr(owner, name), phase))
        grammars = model._cascade
        for level, name in ((grammars.middle, "middle"), (grammars.levels[0], "fine")):
            level.posteriors = self.naming(level.posteriors, name)
            level.leaf_scores = self.wrapped(level.leaf_scores, "words")
        grammars.coarse.words = self.wrapped(grammars.coarse.words, "words")

    def naming(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        """The function, which tells which level is at work."""

        def named(*args: Any) -> Any:
            self.level = name
            return function(*args)

        return named


def phases(treebank: str, m: int, n_sentences: int, saved: str | None) -> dict[str, Any]:
    """CPU milliseconds for a sentence by phase, the speed without clocks, and F1."""
    examples = trees(treebank, "train")
    if saved:
        model = et.load(saved.format(m))
    else:
        model = et.LatentPCFG(m, method=METHOD, n_jobs=1)
        warm_fit(model, examples)
        model.fit(examples)
    warm_parse(model, examples)
    right = gold(treebank, "dev", n_sentences)
    words = [tree.leaves() for tree in right]
    start = time.process_time()
    found = [parsed.tree for parsed in model.parses(words, n_jobs=1)]
    speed = len(words) / (time.process_time() - start)
    f1 = et.evaluate.brackets(right, found).f1
    clock = Clock()
    clock.watch(model)
    list(model.parses(words[:20], n_jobs=1))
    clock.seconds.clear()
    clock.last = time.thread_time()
    list(model.parses(words, n_jobs=1))
    clock.switch()
    each = {phase: 1e3 * clock.seconds[phase] / len(words) for phase in PHASES}
    return {"phases": each, "speed": speed, "f1": 100 * f1, "n": len(words)}


def main() -> None:
    """Print and record the table."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--treebank", default="gum", choices=("gum", "penn-sample"))
    options.add_argument("--states", default="8,16,32")
    options.add_argument("--sentences", type=int, default=600)
    options.add_argument("--saved", help="path of saved grammars, with {} for the states")
    given = options.parse_args()
    states = [int(m) for m in given.states.split(",")]
    runs = {
        m: in_a_process(
            "phases", treebank=given.treebank, m=m, n_sentences=given.sentences, saved=given.saved
        )
        for m in states
    }
    table = Table(
        "phases",
        f"CPU milliseconds for a sentence of {given.treebank}, by phase",
        [f"m = {m}, ms" for m in states],
        ["phase"],
    )
    for phase in PHASES:
        table.row(phase, *(runs[m]["phases"][phase] for m in states))
    table.row("all", *(sum(runs[m]["phases"].values()) for m in states))
    speeds = Table(
        "speed", "Without clocks", [fact("sentences"), "sentences/s", score("F1")], ["states"]
    )
    for m in states:
        speeds.row(str(m), runs[m]["n"], runs[m]["speed"], runs[m]["f1"])
    record(
        "parse_phases", "Where the time of parsing goes", [table, speeds],
        about="One thread. Clocks cost a few percent.",
    )  # fmt: skip


if __name__ == "__main__" and not serve(phases):
    main()
