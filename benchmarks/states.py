"""Where hidden states pay: numbers by label, exact whitening, and what steps of EM add.

Run ``.venv/bin/python benchmarks/states.py [--only SECTION ...] [--data penn gum] [--folds 0 1]``.
The sections:

* states: the same number of states for all labels (``--states``) beside numbers by the spectrum and
  by trying, for spectral and spectral+em;
* whitening: features scaled one by one, and whitened exactly;
* gap: spectral beside clusters with 0, 1, 2 and 4 steps of EM, with all trees and with parts.

Folds are runs of consecutive trees of the *training* part (``--n-folds``), so that no test part is
looked at. A grammar is learned from all other folds. ``--sentences`` limits the sentences of a fold
that are parsed. Each row is compared with the first of its section by the paired bootstrap over all
sentences of all folds (``et.evaluate.compare``). Times are CPU seconds of one thread, as means over
folds, with loops loaded.
"""

import argparse
import time
import warnings
from collections.abc import Iterator
from statistics import mean
from typing import Any, NamedTuple

import eigentext as et
from _grammars import in_a_process, serve, trees, warm_fit
from _record import Table, fact, record, score

NAMES = {"penn": "penn-sample", "gum": "gum"}
SECTIONS = ("states", "whitening", "gap")
STEPS = (0, 1, 2, 4)
PARTS = (4, 2, 1)  # each part is one over this number of all trees


class Row(NamedTuple):
    """A system: its name, its parameters, and one over the share of the trees it learns from."""

    name: str
    parameters: dict[str, Any]
    part: int = 1


def rows(section: str, states: list[int], most: int) -> Iterator[Row]:
    """The systems of a section. Others are compared with the first."""
    match section:
        case "states":
            for method in ("spectral+em", "spectral"):
                for m in sorted(states, key=lambda m: m != 16):
                    yield Row(f"{method}, all {m}", {"method": method, "n_states": m})
                for kind in ("spectrum", "held-out"):
                    parameters = {"method": method, "n_states": most, "allocation": kind}
                    yield Row(f"{method}, {kind}", parameters)
        case "whitening":
            for method in ("spectral+em", "spectral"):
                for kind, kappa in (("diagonal", 5.0), ("exact", 5.0), ("exact", 20.0)):
                    parameters = {"method": method, "whitening": kind, "kappa": kappa}
                    yield Row(f"{method}, {kind}, kappa {kappa:g}", parameters)
        case _:
            for part in reversed(PARTS):
                of = "all trees" if part == 1 else f"1/{part} of the trees"
                yield Row(f"spectral, {of}", {"method": "spectral"}, part)
                for n in STEPS:
                    parameters = {"method": "spectral+em", "n_smooth": n}
                    yield Row(f"clusters, {n} steps of EM, {of}", parameters, part)


def measured(
    name: str, fold: int, n_folds: int, sentences: int | None, part: int, parameters: dict[str, Any]
) -> dict[str, Any]:
    """Learn from all folds but one, and parse that one."""
    warnings.simplefilter("ignore")
    every = trees(name, "train")
    first, last = len(every) * fold // n_folds, len(every) * (fold + 1) // n_folds
    held, others = every[first:last], [*every[:first], *every[last:]][::part]
    gold = [et.normalize_tree(tree) for tree in held]
    if sentences is not None:
        gold = gold[:: -(-len(gold) // sentences)]
    model = et.LatentPCFG(**parameters, n_jobs=1)
    warm_fit(model.set_params(allocation="uniform"), others)
    start = time.process_time()
    model = et.LatentPCFG(**parameters, n_jobs=1).fit(others)
    learned = time.process_time() - start
    start = time.process_time()
    found = [str(one.tree) for one in model.parses([tree.leaves() for tree in gold], n_jobs=1)]
    parsed = time.process_time() - start
    return {
        "trees": found,
        "gold": [str(tree) for tree in gold],
        "states": int(model.n_states_.sum()),
        "numbers": int(model.diagnostics_["n_parameters"]),
        "train": learned,
        "rate": len(gold) / parsed,
    }


def table_of(section: str, data: str, given: argparse.Namespace) -> Table:
    """Measure all systems of a section."""
    table = Table(
        f"{section}_{data}",
        f"{section}, {data}: {len(given.folds)} of {given.n_folds} folds of the training part",
        [
            *(score("F1", digits=2), score("difference", digits=2), fact("p"), fact("states")),
            *(fact("parameters, thousands"), "train CPU s", "sentences/s"),
        ],
    )
    base: list[str] | None = None
    for row in rows(section, given.states, given.most):
        found = [
            in_a_process(
                "measured", name=NAMES[data], fold=fold, n_folds=given.n_folds,
                sentences=given.sentences, part=row.part, parameters=row.parameters,
            )
            for fold in given.folds
        ]  # fmt: skip
        gold, parses = ([tree for one in found for tree in one[key]] for key in ("gold", "trees"))
        base = parses if base is None else base
        compared = et.evaluate.compare(gold, base, parses)
        same = parses is base
        table.row(
            row.name,
            100 * et.evaluate.brackets(gold, parses).f1,
            None if same else 100 * compared.difference,
            None if same else compared.p,
            round(mean(one["states"] for one in found)),
            round(mean(one["numbers"] for one in found) / 1000),
            mean(one["train"] for one in found),
            mean(one["rate"] for one in found),
        )
    return table


def main() -> None:
    """Measure what the options name, and write the figures down."""
    parser = argparse.ArgumentParser(description="Where hidden states pay.")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--data", nargs="+", choices=list(NAMES), default=["penn"])
    parser.add_argument("--folds", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--n-folds", type=int, default=5)
    parser.add_argument("--sentences", type=int, default=None, help="of each fold")
    parser.add_argument("--states", nargs="+", type=int, default=[8, 16, 24, 32])
    parser.add_argument("--most", type=int, default=32, help="states of a label, if by label")
    parser.add_argument("--name", default="states", help="of the file with the figures")
    given = parser.parse_args()
    tables = [table_of(section, data, given) for section in given.only for data in given.data]
    about = (
        "Folds are runs of consecutive trees of the training part. Differences and p are against "
        "the first row, by the paired bootstrap. Times are CPU seconds of one thread."
    )
    record(given.name, "States where they pay", tables, about=about)


if __name__ == "__main__" and not serve(measured):
    main()
