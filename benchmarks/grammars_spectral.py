"""Spectral and pivot learning of grammars beside EM: what each ingredient is worth.

Run it with ``.venv/bin/python benchmarks/grammars_spectral.py [--only SECTION ...] [--data penn
gum]``; the default is all of it, which takes hours. The sections:

* ladder: plain features, + absolute values, + scaling, + smoothing; simple features; no cut;
* states: spectral learning and EM with more and more states (``--em-up-to`` limits EM);
* table1: F1 by EM steps, from a random start, from pivots, from clusters (``--seeds``);
* cost: seconds and memory by the number of trees, and where the seconds go;
* final: contestants side by side, with ``--split test`` on the test part. No other section takes
  the test part: all constants are chosen on the development part. ``--contestants`` names others,
  such as 8-spectral-16 (votes, method, states).

``--small`` is a quick try on few trees. Rows are printed as they come. Each comes from its own
process, on one thread, with all loops loaded. Seconds to learn go from trees in memory to the
model, with the pruning grammar, whose 25 EM steps "final" counts too. "MB" is the peak of the
process. "failed" sentences have no parse by the grammar, but get a tree all the same. F1 is that of
``et.evaluate.brackets``, in percent. The columns "paper" have what [Cohen et al. 2013] (ladder and
states) and [Cohen and Collins 2014] (table1) report for section 22 of the whole Penn treebank; the
ladder has m = 32 there. Each section and treebank is recorded in its own file.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

import eigentext as et
from _grammars import factors, gold, in_a_process, serve, trees, warm_fit, warm_parse
from _harness import Phases
from _record import Column, Table, fact, ratio, record, score
from eigentext import engine
from eigentext.evaluate import brackets
from eigentext.grammars.learning.counts import CountedTrees
from eigentext.grammars.learning.em import pruning_level
from eigentext.grammars.learning.protocol import Task, method
from eigentext.grammars.learning.validation import held_out_f1
from eigentext.grammars.parameters import METHODS
from eigentext.parameters import Settings
from grammars import COLUMNS, CONTESTANTS, parse, train

DATA = {"penn": "penn-sample", "gum": "gum"}
SMALL = {"trees": 300, "sentences": 40}
NEGATIVE = ("none", "abs", "clip")

# The options, what to do with negative marginals, and the F1 of [Cohen et al. 2013].
PLAIN = {"kappa": float("inf"), "smoothing": 0.0}
LADDER = {
    "one state": ({"n_states": 1}, "abs", 68.62),
    "plain features": (PLAIN, "none", 55.09),
    "+ absolute values": (PLAIN, "abs", 80.23),
    "+ scaling": ({"smoothing": 0.0}, "abs", 86.47),
    "+ smoothing": ({}, "abs", 88.82),
    "all, but simple features": ({"features": "simple"}, "abs", 88.07),
    "all, but no cut of directions": ({"tolerance": 0.0, "nodes_per_state": 1}, "abs", None),
}
# [Cohen et al. 2013]: F1 of spectral learning and of EM, and the hours of both.
PAPER_STATES = {
    8: (85.60, 86.87, 3 + 32 / 60, 3.0),
    16: (87.77, 88.32, 5 + 19 / 60, 26 + 6 / 60),
    24: (88.53, 88.35, 7.25, 93.6),
    32: (88.82, 88.56, 9 + 52 / 60, 187.2),
}
EM_UP_TO = {"penn": 32, "gum": 16}
# The options, after how many EM steps F1 is measured, and whether the start is random.
LOOKS: dict[str, tuple[dict[str, Any], tuple[int, ...], bool]] = {
    "EM": ({"method": "em"}, tuple(range(5, 41, 5)), True),
    "EM, 8 steps": ({"method": "em", "n_iter": 0, "n_smooth": 8}, (1, 2, 4, 6, 8), True),
    "spectral": ({"method": "spectral"}, (), False),
    "spectral+EM": ({"method": "spectral+em"}, (0, 1, 2, 4), True),
    "pivot": ({"method": "pivot"}, (), False),
    "pivot+EM": ({"method": "pivot+em"}, (0, 1, 2), False),
}
# [Cohen and Collins 2014], table 1: m = 8, 16, 24, 32; F1 and, for EM, its steps.
PAPER_TABLE_1 = {
    "EM": ((86.69, 40), (88.32, 30), (88.35, 30), (88.56, 20)),
    "spectral": ((85.60, None), (87.77, None), (88.53, None), (88.82, None)),
    "pivot": ((83.56, None), (86.00, None), (86.87, None), (86.40, None)),
    "pivot+EM": ((86.83, 2), (88.14, 6), (88.64, 2), (88.55, 2)),
}
PARTS = (4, 2, 1)  # each part is one over this number of all trees
FINAL = (
    *("spectral-16", "spectral+em-16", "pivot-16", "pivot+em-16", "em-16", "split-merge-16"),
    *("4-spectral-16", "4-spectral+em-16", "4-pivot+em-16", "4-em-16", "4-split-merge-16"),
)


class Parts:
    """Measures the CPU seconds of each phase of a fit, with those of phases inside it."""

    def __init__(self):
        self.seconds: dict[str, float] = {}
        self._starts: list[float] = []

    def started(self, phase) -> None:
        """Start the clock."""
        self._starts.append(time.process_time())

    def advanced(self, phase) -> None:
        """Do nothing: only the ends of phases matter."""

    def finished(self, phase) -> None:
        """Add up; the grammars of an ensemble share the names of phases."""
        seconds = time.process_time() - self._starts.pop()
        if not self._starts:
            self.seconds[phase.name] = self.seconds.get(phase.name, 0.0) + seconds


# -- tasks, each in its own process ----------------------------------------------------------------


def cost(name: str, limit: int | None, options: dict[str, Any]) -> dict:
    """The cost of learning."""
    return _fitted(name, limit, options)[1]


def scored(
    name: str, limit: int | None, sentences: int | None, every: int, options: dict[str, Any]
) -> dict:
    """The cost of learning, and F1 on the development part."""
    model, row = _fitted(name, limit, options)
    warm_parse(model, trees(name, "train", 100))
    right = gold(name, "dev", sentences)[::every]
    words, phases = [tree.leaves() for tree in right], Phases()
    with phases("read"):
        readings = [model._read(sentence) for sentence in words]
    for negative in NEGATIVE:
        turned = model.parsing_with(negative=negative)
        found = [turned._decoder.tree(*pair) for pair in zip(readings, words)]
        row[negative] = 100 * brackets(right, found).f1
    signs = [(reading.items < 0).mean() for reading in readings]
    return row | {
        "negative_marginals": 100 * mean(map(float, signs)),
        "negative_sentences": 100 * mean(reading.sign < 0 for reading in readings),
        "failed": sum(reading.problem is not None for reading in readings),
        "speed": len(right) / phases.found["read"][1],
    }


def curves(
    name: str, limit: int | None, sentences: int | None, every: int, options: dict[str, Any],
    looks: tuple[int, ...], seeds: int,
) -> list[list[tuple[int, float]]]:  # fmt: skip
    """For each seed, F1 on the development part by the number of EM steps.

    Each number of steps is learned from the start. Development charts are pruned once.
    """
    engine.use(engine.ThreadEngine(1))
    settings = Settings(et.LatentPCFG(**options).get_params())
    task = Task.of(CountedTrees.by(settings, trees(name, "train", limit)), settings)
    right = gold(name, "dev", sentences)[::every]
    f1 = held_out_f1(task.counted, right, pruning_level(task), settings)
    plain = options.get("n_iter", 20 if options["method"] == "em" else 0)
    found = []
    for seed in range(seeds):
        curve = []
        for n in looks or (0,):
            steps = {"n_iter": min(n, plain), "n_smooth": max(n - plain, 0)} if looks else {}
            given = Settings({**settings, **steps, "random_state": seed})
            level = method(options["method"])(replace(task, settings=given), 0).level
            curve.append((n, 100 * f1(level)))
            print(f"  {options}, seed {seed}, {n} steps: {curve[-1][1]:.2f}", file=sys.stderr)
        found.append(curve)
    return found


def learn(contestant: str, **where: Any) -> dict:
    """Fit the contestant of this name."""
    CONTESTANTS[contestant] = named(contestant)
    return train(contestant, **where)


def named(contestant: str) -> dict[str, Any]:
    """The options that a name stands for: votes if several, method, states."""
    found = re.fullmatch(r"(?:(\d+)-)?([a-z+-]+)-(\d+)", contestant)
    if found is None or found[2] not in METHODS:
        raise SystemExit(
            f"{contestant!r} is not a contestant: write, for example, 4-spectral+em-16"
        )
    votes, method, states = found.groups()
    return {"n_states": int(states), "method": method, "n_grammars": int(votes or 1)}


def _fitted(name: str, limit: int | None, options: dict[str, Any]):
    engine.use(engine.ThreadEngine(1))
    model, examples = et.LatentPCFG(**options), trees(name, "train", limit)
    phases, parts = Phases(), Parts()
    warm_fit(model, examples)
    with engine.report_to(parts), phases("fit"):
        model.fit(examples)
    wall, cpu, memory = phases.found["fit"]
    shared = parts.seconds["treebank"] + parts.seconds["pruning em"]
    return model, {
        "trees": model.provenance_["n_trees"],
        "tokens": model.provenance_["n_tokens"],
        "states": model.diagnostics_["n_states"],
        "cpu": cpu,
        "wall": wall,
        "MB": memory,
        "alone": cpu - shared,
        "parts": parts.seconds,
    }


# -- the tables ------------------------------------------------------------------------------------


def f1(name: str = "F1") -> Column:
    """A column of F1 in percent."""
    return score(name, digits=2)


def show_ladder(data: str, asked: argparse.Namespace) -> list[Table]:
    treatments = (fact(f"F1, {x}") for x in NEGATIVE)
    signs = (fact("negative marginals %"), fact("negative sentences %"))
    costs = ("train CPU s", "train wall s", "train MB", fact("states"))
    table = Table(
        "ladder",
        f"The ladder: {DATA[data]}, dev, spectral, m = {asked.m}; negative marginals as they are, "
        "made absolute, cut off",
        (f1(), fact("paper"), *treatments, *signs, score("failed", "lower"), *costs),
    )
    found: dict[str, dict] = {}
    for title, (options, negative, paper) in LADDER.items():
        options = {"n_states": asked.m, "method": "spectral", **options}
        row = found[str(options)] = found.get(str(options)) or _scored(data, asked, options)
        table.row(
            title,
            *(row.get(negative, "stopped"), paper, *_of(row, *NEGATIVE)),
            *_of(row, "negative_marginals", "negative_sentences", "failed"),
            *_of(row, "cpu", "wall", "MB", "states"),
        )
    return [table]


def show_states(data: str, asked: argparse.Namespace) -> list[Table]:
    costs = ("CPU s", "wall s", "MB", fact("states"), "sentences/s")
    table = Table(
        "states",
        f"States: {DATA[data]}, dev, spectral learning and EM; CPU seconds of learning",
        (f1(), *costs, fact("paper")),
        ("m", "method"),
    )
    ratios = Table(
        "ratios",
        "CPU seconds of EM to those of spectral learning: in all, and without what both share (the "
        "treebank and the pruning grammar)",
        (ratio("EM / spectral"), ratio("learning alone"), fact("paper")),
        ("m",),
    )
    cells = "abs", "cpu", "wall", "MB", "states", "speed"
    bound = EM_UP_TO[data] if asked.em_up_to is None else asked.em_up_to
    compared = []
    for m in asked.states or PAPER_STATES:
        paper = PAPER_STATES.get(m, (None, None, None, None))
        first = _scored(data, asked, {"n_states": m, "method": "spectral"})
        table.row(m, "spectral", *_of(first, *cells), paper[0])
        other = _scored(data, asked, {"n_states": m, "method": "em"}) if m <= bound else {}
        if first and other:
            table.row(m, "EM", *_of(other, *cells), paper[1])
            hours = paper[3] / paper[2] if paper[2] and paper[3] else None
            compared.append((m, *(other[x] / first[x] for x in ("cpu", "alone")), hours))
    for row in compared:
        ratios.row(*row)
    return [table, ratios]


def show_table_1(data: str, asked: argparse.Namespace) -> list[Table]:
    """Means over seeds; a method with a random start has several seeds."""
    states = asked.states or (8, 16)
    table = Table(
        "table1",
        f"EM steps: {DATA[data]}, dev; the best F1 and the steps to it, mean over seeds",
        (
            f1("best F1"),
            *map(
                fact, ("steps", "seeds", "F1 by steps", "F1 of each seed", "paper", "paper steps")
            ),
        ),
        ("m", "method"),
    )
    for m in states:
        for title, (options, looks, is_random) in LOOKS.items():
            seeds = asked.seeds if is_random else 1
            arguments = {"options": {"n_states": m, **options}, "looks": looks, "seeds": seeds}
            found = _in_a_process("curves", **_where(data, asked), **arguments)
            if found is None:
                table.row(m, title, "stopped", None, seeds, *[None] * 4)
                continue
            curve = {n: mean(part[k][1] for part in found) for k, (n, _) in enumerate(found[0])}
            steps = max([n for n in curve if n] or curve, key=curve.__getitem__)
            then = ", ".join(f"{dict(part)[steps]:.2f}" for part in found if len(found) > 1)
            shown = ", ".join(f"{n}: {value:.2f}" for n, value in curve.items())
            paper = dict(zip(PAPER_STATES, PAPER_TABLE_1.get(title, ()))).get(m, (None, None))
            table.row(m, title, curve[steps], steps, seeds, shown, then or None, *paper)
    return [table]


def show_cost(data: str, asked: argparse.Namespace) -> list[Table]:
    parts = {
        "treebank": ("treebank",),
        "pruning": ("pruning em",),
        "features": ("features",),
        "SVDs": ("projections",),
        "averages": ("averages",),
        "clusters": ("clusters",),
        "pivots": ("pivots",),
        "their rules": ("rules",),
        "EM": ("em", "smoothed em"),
    }
    sizes = map(fact, ("trees", "tokens", "states"))
    columns = (*sizes, "CPU s", fact("factor"), "wall s", "peak MB")
    table = Table(
        "cost",
        f"Cost: {DATA[data]}, the first trees, m = {asked.m}; CPU s in all and of each part",
        (*columns, *map(fact, (*parts, "rest"))),
        ("method", "part"),
    )
    total = asked.trees or len(trees(DATA[data], "train"))
    for way in ("spectral", "pivot", "spectral+em", "pivot+em", "em"):
        times, options = factors(), {"n_states": asked.m, "method": way}
        for part in PARTS:
            row = _in_a_process("cost", name=DATA[data], limit=total // part, options=options)
            where = way, "all" if part == 1 else f"1/{part}"
            if row is None:
                table.row(*where, total // part, None, None, "stopped", *[None] * (4 + len(parts)))
                continue
            seconds = row["parts"]
            cells = [sum(seconds.get(x, 0.0) for x in names) for names in parts.values()]
            table.row(
                *where, *_of(row, "trees", "tokens", "states", "cpu"), times(row["cpu"]),
                *_of(row, "wall", "MB"), *(cell if cell > 1e-3 else None for cell in cells),
                row["cpu"] - sum(cells),
            )  # fmt: skip
    return [table]


def show_final(data: str, asked: argparse.Namespace) -> list[Table]:
    table = Table("final", f"{DATA[data]}, {asked.split}, one thread", list(COLUMNS))
    for contestant in asked.contestants:
        with tempfile.TemporaryDirectory() as folder:
            where = {"name": DATA[data], "path": str(Path(folder, "model"))}
            row = _in_a_process("learn", contestant=contestant, limit=asked.trees, **where)
            if row is not None:
                split = {"split": asked.split, "limit": asked.sentences}
                row |= _in_a_process("parse", **split, **where) or {}
        table.row(contestant, *_of(row or {"train_cpu": "stopped"}, *COLUMNS.values()))
    return [table]


def _where(data: str, asked: argparse.Namespace) -> dict[str, Any]:
    return {
        "name": DATA[data],
        "limit": asked.trees,
        "sentences": asked.sentences,
        "every": asked.every,
    }


def _scored(data: str, asked: argparse.Namespace, options: dict[str, Any]) -> dict:
    return _in_a_process("scored", **_where(data, asked), options=options) or {}


def _in_a_process(task: str, **arguments: Any) -> Any:
    """None if the task fails: its reason is on the terminal, and other rows follow."""
    try:
        return in_a_process(task, **arguments)
    except subprocess.CalledProcessError:
        return None


def _of(row: dict, *names: str) -> list[Any]:
    return [row.get(name) for name in names]


SECTIONS = {
    "ladder": show_ladder,
    "states": show_states,
    "table1": show_table_1,
    "cost": show_cost,
    "final": show_final,
}
TITLES = {
    "ladder": "What each ingredient of spectral learning is worth",
    "states": "Spectral learning and EM by states",
    "table1": "EM steps from several starts",
    "cost": "Cost of learning by trees",
    "final": "Spectral and pivot learning of parsers",
}
ABOUT = {
    "ladder": 'One thread, the development part. "paper" is F1 in [Cohen et al. 2013] on section '
    "22 of the Penn treebank with m = 32.",
    "states": 'One thread, the development part. "paper" is F1, or the ratio of hours, in '
    "[Cohen et al. 2013] on section 22 of the Penn treebank.",
    "table1": "The development part. F1 is measured after 5, 10, … of EM's 20 + 20 steps, and "
    'after the first 1, 2, 4 … of the others. "paper" is F1 and steps in [Cohen and Collins '
    "2014] on section 22 of the Penn treebank.",
    "cost": "Each fit in its own process, one thread. The rest is the loading of compiled code, "
    "the lexicon and the counting of negative marginals.",
    "final": "F1 of brackets in percent. One thread. EM steps include the 25 of the pruning "
    "grammar.",
}


def main() -> None:
    options = argparse.ArgumentParser(description="Spectral and pivot learning of grammars.")
    option = options.add_argument
    option("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS), metavar="SECTION")
    option("--data", nargs="+", choices=DATA, help="default: both, for cost gum")
    option("--split", choices=("dev", "test"), default="dev", help="test is for final only")
    option("-m", type=int, default=16, help="states, for ladder and cost")
    option("--states", type=int, nargs="+", help="for states (8 16 24 32) and table1 (8 16)")
    option("--em-up-to", type=int, help="for states: the most for EM (32; gum: 16)")
    option("--seeds", type=int, default=3, help="for table1: seeds of random starts")
    option("--contestants", nargs="+", default=FINAL, metavar="NAME", help="for final")
    option("--every", type=int, default=1, help="parse every n-th development sentence")
    option("--trees", type=int, help="learn from the first ones only")
    option("--sentences", type=int, help="parse the first ones only")
    option("--small", action="store_true", help="a quick try: 300 trees, 40 sentences")
    asked = options.parse_args()
    if asked.split == "test" and asked.only != ["final"]:
        options.error("--split test needs --only final: other sections use the development part")
    for contestant in asked.contestants:
        named(contestant)
    for name in SMALL if asked.small else ():
        setattr(asked, name, getattr(asked, name) or SMALL[name])
    for section in asked.only:
        for data in asked.data or (["gum"] if section == "cost" else DATA):
            name = f"grammars_spectral_{section}_{data}"
            if section == "final" and asked.split == "dev":
                name += "_dev"
            tables = SECTIONS[section](data, asked)
            record(name, f"{TITLES[section]}: {DATA[data]}", tables, about=ABOUT[section])


if __name__ == "__main__" and not serve(cost, scored, curves, learn, parse):
    main()
