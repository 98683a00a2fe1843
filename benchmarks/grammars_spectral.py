"""Spectral and pivot learning of grammars: what each ingredient is worth, and EM beside.

Run it with ``.venv/bin/python benchmarks/grammars_spectral.py [--only SECTION ...] [--data penn
gum]``; without, all of it, which takes hours. The sections:

* ladder: plain features, + absolute values, + scaling, + smoothing; simple features; no cut;
* states: spectral learning and EM with more and more states (``--em-up-to`` bounds EM's);
* table1: F1 by steps of EM, from its random start, from pivots, from clusters (``--seeds``);
* cost: seconds and memory by the number of trees, and where the seconds go;
* final: contestants side by side, on the test part with ``--split test``, which no other section
  takes: numbers are chosen on the development part. ``--contestants`` names others, such as
  8-spectral-16 (votes, method, states).

``--small`` tries it out on few trees. Rows are printed as they come, each from a process of its
own, on one thread, with warm kernels: a run may be cut off or a section repeated at any time.
Seconds to learn go from trees in memory to the model, the grammar that prunes included, whose 25
steps of EM "final" counts too; "MB" is the peak of the process meanwhile. "Failed" sentences have
no parse by the grammar, but trees all the same. F1 is that of ``et.evaluate.brackets``, in percent.
Columns "seed" have what seed 000 (slides) and seed 003 (table 1) report of section 22 of the whole
Penn treebank, m = 32 if not said.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import mean
from typing import Any

import eigentext as et
from _grammars import Table, factors, gold, in_a_process, serve, trees, warm_fit, warm_parse
from _harness import Phases
from eigentext import engine
from eigentext.evaluate import brackets
from eigentext.grammars._em import em
from eigentext.grammars.parameters import METHODS
from grammars import CONTESTANTS, PEER_COLUMNS, PEERS, parse, train

DATA = {"penn": "penn-sample", "gum": "gum"}
SMALL = {"trees": 300, "sentences": 40}
NEGATIVE = ("none", "abs", "clip")

# What to learn with, what to do with negative marginals, and seed 000's F1.
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
# Seed 000: F1 by spectral learning and EM; hours for the same.
SLIDES = {
    8: (85.60, 86.87, 3 + 32 / 60, 3.0),
    16: (87.77, 88.32, 5 + 19 / 60, 26 + 6 / 60),
    24: (88.53, 88.35, 7.25, 93.6),
    32: (88.82, 88.56, 9 + 52 / 60, 187.2),
}
EM_UP_TO = {"penn": 32, "gum": 16}
# What is looked at after how many steps of EM, and whether it begins at random.
LOOKS: dict[str, tuple[dict[str, Any], tuple[int, ...], bool]] = {
    "EM": ({"method": "em"}, tuple(range(5, 41, 5)), True),
    "EM, 8 steps": ({"method": "em", "n_iter": 0, "n_smooth": 8}, (1, 2, 4, 6, 8), True),
    "spectral": ({"method": "spectral"}, (), False),
    "spectral+EM": ({"method": "spectral+em"}, (0, 1, 2, 4, 6, 8), True),
    "pivot": ({"method": "pivot"}, (0,), False),
    "pivot+EM": ({"method": "pivot+em"}, (0, 1, 2, 4, 6, 8), False),
}
# Seed 003, table 1: m = 8, 16, 24, 32; F1 and, of EM, the steps to it.
TABLE_1 = {
    "EM": ("86.69 (40)", "88.32 (30)", "88.35 (30)", "88.56 (20)"),
    "spectral": ("85.60", "87.77", "88.53", "88.82"),
    "pivot": ("83.56", "86.00", "86.87", "86.40"),
    "pivot+EM": ("86.83 (2)", "88.14 (6)", "88.64 (2)", "88.55 (2)"),
}
PARTS = (4, 2, 1)  # one over so many
FINAL = (
    *("spectral-16", "spectral+em-16", "pivot-16", "pivot+em-16", "em-16", "split-merge-16"),
    *("4-spectral-16", "4-spectral+em-16", "4-pivot+em-16", "4-em-16", "4-split-merge-16"),
)
COLUMNS = {
    "train CPU s": "train_cpu",
    "wall s": "train_wall",
    "EM steps": "steps",
    "states": "states",
    "train MB": "train_mb",
    "P": "precision",
    "R": "recall",
    "F1": "f1",
    "exact": "exact",
    "failed": "fallbacks",
    "sentences/s": "speed",
    "parse MB": "parse_mb",
    "file MB": "file_mb",
}


class Parts:
    """Listens to the phases of a fit: CPU seconds of each, with those of phases inside it."""

    def __init__(self):
        self.seconds: dict[str, float] = {}
        self._starts: list[float] = []

    def started(self, phase) -> None:
        """Look at the clock."""
        self._starts.append(time.process_time())

    def advanced(self, phase) -> None:
        """Nothing to note."""

    def finished(self, phase) -> None:
        """Add up; the grammars of an ensemble have phases of the same names."""
        seconds = time.process_time() - self._starts.pop()
        if not self._starts:
            self.seconds[phase.name] = self.seconds.get(phase.name, 0.0) + seconds


class Watched(et.LatentPCFG):
    """One whose steps of EM are looked at on the way, with development charts pruned but once."""

    def prepare(self, name: str, limit: int | None, right: list[et.Tree]) -> None:
        """All that grammars share, whatever their number of states and their seed."""
        self._trees = self._learner(trees(name, "train", limit))
        self._features = self._evidence(self._trees)
        self._f1: Any = self._score(self._trees, self._middle(self._trees), right)

    def curve(self, looks: tuple[int, ...], seed: int) -> dict[int, float]:
        """F1 after these numbers of steps; after none, of what has no steps."""
        self._looks, self._steps_so_far, self._curve = looks, 0, {}
        self.set_params(random_state=seed)
        level, _ = self._grammar(self._trees, self._features, 0, None)
        if not self._curve:
            self._curve[0] = self._f1(level)
        return self._curve

    def _steps(self, learner, start, score):
        if 0 in self._looks:
            self._curve[0] = self._f1(learner.level(start))
        n_iter, n_smooth = self._n_steps()
        parameters, _ = em(learner.trees, start, n_iter, stop=self._look)
        parameters, _ = em(
            learner.trees, parameters, n_smooth, smoothing=self._smoothing(), stop=self._look
        )
        return learner.level(parameters), {}

    def _look(self, parameters) -> bool:
        self._steps_so_far += 1
        if self._steps_so_far in self._looks:
            f1 = self._curve[self._steps_so_far] = self._f1(self._trees.level(parameters))
            print(f"    after {self._steps_so_far}: {100 * f1:.2f}", file=sys.stderr, flush=True)
        return False


# -- what runs in a process of its own -------------------------------------------------------------


def cost(name: str, limit: int | None, options: dict[str, Any]) -> dict:
    """What it takes to learn."""
    return _fitted(name, limit, options)[1]


def score(
    name: str, limit: int | None, sentences: int | None, every: int, options: dict[str, Any]
) -> dict:
    """What it takes to learn, and how well the development part is parsed then."""
    model, row = _fitted(name, limit, options)
    warm_parse(model, trees(name, "train", 100))
    right = gold(name, "dev", sentences)[::every]
    words, phases = [tree.leaves() for tree in right], Phases()
    with phases("read"):
        readings = [model._read(sentence) for sentence in words]
    for negative in NEGATIVE:
        turned = model.parsing_with(negative=negative)
        found = [turned._tree(*pair) for pair in zip(readings, words)]
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
    """For each seed, F1 of the development part after so many steps of EM."""
    engine.use(engine.ThreadEngine(1))
    model = Watched(**options, early_stopping="f1")
    model.prepare(name, limit, gold(name, "dev", sentences)[::every])
    found = []
    for seed in range(seeds):
        print(f"  {options}, seed {seed}", file=sys.stderr, flush=True)
        found.append([(n, 100 * f1) for n, f1 in model.curve(looks, seed).items()])
    return found


def learn(contestant: str, **where: Any) -> dict:
    """One of the contestants' fit, of whatever name."""
    CONTESTANTS[contestant] = named(contestant)
    return train(contestant, **where)


def named(contestant: str) -> dict[str, Any]:
    """The options that a name stands for: votes, if several, method, states."""
    found = re.fullmatch(r"(?:(\d+)-)?([a-z+-]+)-(\d+)", contestant)
    if found is None or found[2] not in METHODS:
        raise SystemExit(f"{contestant!r} is no contestant: name them as 4-spectral+em-16")
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


def show_ladder(data: str, asked: argparse.Namespace) -> None:
    table = Table(
        f"**The ladder: {DATA[data]}, dev**, spectral, m = {asked.m}; negative marginals left as "
        "they are, made absolute, cut off",
        "F1", "seed", "none / abs / clip", "negative marginals %", "negative sentences %",
        "failed", "train CPU s", "wall s", "MB", "states",
    )  # fmt: skip
    found: dict[str, dict] = {}
    for title, (options, negative, slides) in LADDER.items():
        options = {"n_states": asked.m, "method": "spectral", **options}
        row = found[str(options)] = found.get(str(options)) or _scored(data, asked, options)
        table.row(
            title,
            *(row.get(negative, "stopped"), slides),
            " / ".join(f"{row[x]:.2f}" for x in NEGATIVE if x in row),
            *_of(row, "negative_marginals", "negative_sentences", "failed"),
            *_of(row, "cpu", "wall", "MB", "states"),
        )


def show_states(data: str, asked: argparse.Namespace) -> None:
    table = Table(
        f"**States: {DATA[data]}, dev**, spectral learning and EM; CPU s to learn, and the ratio "
        "of these, in all and without what both share (the treebank and the grammar that prunes); "
        "seed: hours",
        "spectral F1", "CPU s", "wall s", "MB", "states", "sentences/s",
        "EM F1", "CPU s", "wall s", "MB", "states", "sentences/s",
        "EM / spectral", "learning alone", "seed: spectral", "EM", "ratio",
    )  # fmt: skip
    cells = "abs", "cpu", "wall", "MB", "states", "speed"
    bound = EM_UP_TO[data] if asked.em_up_to is None else asked.em_up_to
    for m in asked.states or SLIDES:
        first = _scored(data, asked, {"n_states": m, "method": "spectral"})
        other = _scored(data, asked, {"n_states": m, "method": "em"}) if m <= bound else {}
        ratios: list[str | None] = [None, None]
        if first and other:
            ratios = [f"x {other[x] / first[x]:.1f}" for x in ("cpu", "alone")]
        slides = SLIDES.get(m)
        shown = (*slides[:2], f"x {slides[3] / slides[2]:.1f}") if slides else [None] * 3
        table.row(f"m = {m}", *_of(first, *cells), *_of(other, *cells), *ratios, *shown)


def show_table_1(data: str, asked: argparse.Namespace) -> None:
    """Means over seeds; a start alone has no steps, and what begins at random has three seeds."""
    states = asked.states or (8, 16)
    table = Table(
        f"**Steps of EM: {DATA[data]}, dev**, F1 after so many, mean over seeds",
        "m", "seeds", "F1", "best", "after", "of each seed then",
    )  # fmt: skip
    best: dict[tuple[str, int], str] = {}
    for m in states:
        for title, (options, looks, is_random) in LOOKS.items():
            seeds = asked.seeds if is_random else 1
            arguments = {"options": {"n_states": m, **options}, "looks": looks, "seeds": seeds}
            found = _in_a_process("curves", **_where(data, asked), **arguments)
            if found is None:
                table.row(title, m, seeds, "stopped", *[None] * 3)
                continue
            curve = {n: mean(part[k][1] for part in found) for k, (n, _) in enumerate(found[0])}
            steps = max([n for n in curve if n] or curve, key=curve.__getitem__)
            then = ", ".join(f"{dict(part)[steps]:.2f}" for part in found if len(found) > 1)
            told = ", ".join(f"{n}: {f1:.2f}" for n, f1 in curve.items())
            table.row(title, m, seeds, told, curve[steps], steps or None, then)
            best[title, m] = f"{curve[steps]:.2f}" + (f" ({steps})" if steps else "")
    titles = [f"m = {m}" for m in states]
    table = Table(f"**Table 1 on {DATA[data]}, dev**: F1 (steps of EM to it)", *titles)
    for title in LOOKS:
        table.row(title, *(best.get((title, m)) for m in states))
    for title, figures in TABLE_1.items() if set(states) & set(SLIDES) else ():
        there = dict(zip(SLIDES, figures))
        table.row(f"{title}, in seed 003 (section 22)", *(there.get(m) for m in states))


def show_cost(data: str, asked: argparse.Namespace) -> None:
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
    table = Table(
        f"**Cost: {DATA[data]}**, the first trees, m = {asked.m}; CPU s, and those of each part",
        "trees", "tokens", "states", "CPU s", "factor", "wall s", "peak MB", *parts, "rest",
    )  # fmt: skip
    total = asked.trees or len(trees(DATA[data], "train"))
    for method in ("spectral", "pivot", "spectral+em", "pivot+em", "em"):
        times, options = factors(), {"n_states": asked.m, "method": method}
        for part in PARTS:
            row = _in_a_process("cost", name=DATA[data], limit=total // part, options=options)
            title = f"{method}, {'all' if part == 1 else f'1/{part}'}"
            if row is None:
                table.row(title, total // part, "stopped", *[None] * (5 + len(parts) + 1))
                continue
            seconds = row["parts"]
            cells = [sum(seconds.get(x, 0.0) for x in names) for names in parts.values()]
            table.row(
                title, *_of(row, "trees", "tokens", "states", "cpu"), times(row["cpu"]),
                *_of(row, "wall", "MB"), *(cell if cell > 1e-3 else None for cell in cells),
                row["cpu"] - sum(cells),
            )  # fmt: skip


def show_final(data: str, asked: argparse.Namespace) -> None:
    table = Table(f"**{DATA[data]}, {asked.split}**, one thread", *COLUMNS)
    for contestant in asked.contestants:
        with tempfile.TemporaryDirectory() as folder:
            where = {"name": DATA[data], "path": str(Path(folder, "model"))}
            row = _in_a_process("learn", contestant=contestant, limit=asked.trees, **where)
            if row is not None:
                split = {"split": asked.split, "limit": asked.sentences}
                row |= _in_a_process("parse", **split, **where) or {}
        table.row(contestant, *_of(row or {"train_cpu": "stopped"}, *COLUMNS.values()))
    table = Table(
        f"**{DATA[data]}, test: measured elsewhere by the team, not in this run** "
        "(shared/peers/parsing.md, section 3: a busy machine, one thread)",
        *PEER_COLUMNS,
    )
    for line in PEERS[DATA[data]].strip().splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if not cells[0].startswith("PCFG"):
            table.row(*cells)


def _where(data: str, asked: argparse.Namespace) -> dict[str, Any]:
    return {
        "name": DATA[data],
        "limit": asked.trees,
        "sentences": asked.sentences,
        "every": asked.every,
    }


def _scored(data: str, asked: argparse.Namespace, options: dict[str, Any]) -> dict:
    return _in_a_process("score", **_where(data, asked), options=options) or {}


def _in_a_process(task: str, **arguments: Any) -> Any:
    """None if it fails: its reason is on the terminal, and other rows go on."""
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


def main() -> None:
    options = argparse.ArgumentParser(description="Spectral and pivot learning of grammars.")
    option = options.add_argument
    option("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS), metavar="SECTION")
    option("--data", nargs="+", choices=DATA, help="both; of cost gum")
    option("--split", choices=("dev", "test"), default="dev", help="test: of final only")
    option("-m", type=int, default=16, help="states, of ladder and cost")
    option("--states", type=int, nargs="+", help="of states (8 16 24 32) and table1 (8 16)")
    option("--em-up-to", type=int, help="of states: the most for EM (32; gum: 16)")
    option("--seeds", type=int, default=3, help="of table1, for what begins at random")
    option("--contestants", nargs="+", default=FINAL, metavar="NAME", help="of final")
    option("--every", type=int, default=1, help="parse each so-manieth development sentence only")
    option("--trees", type=int, help="learn from the first ones only")
    option("--sentences", type=int, help="parse the first ones only")
    option("--small", action="store_true", help="300 trees and 40 sentences, to try it out")
    asked = options.parse_args()
    if asked.split == "test" and asked.only != ["final"]:
        options.error("--split test is for --only final: other sections are of development data")
    for contestant in asked.contestants:
        named(contestant)
    for name in SMALL if asked.small else ():
        setattr(asked, name, getattr(asked, name) or SMALL[name])
    for section in asked.only:
        for data in asked.data or (["gum"] if section == "cost" else DATA):
            SECTIONS[section](data, asked)


if __name__ == "__main__" and not serve(cost, score, curves, learn, parse):
    main()
