"""Reranking of chunks and of parses: F1 before and after, F1 of the best candidate, time, memory.

Run it with ``.venv/bin/python benchmarks/reranking.py [--task chunks|jackknife|trees ...]
[--split dev|test] [--only NAME ...] [--lists FOLDER]``; the default is all tasks, and names are
those of CONTESTANTS. All lists have 20 candidates. Rerankers have their defaults (for chunks, joint
states of tags and parts of speech). They choose decay and beta, and nothing else, on lists that
neither they nor the base model learned from.

chunks     CoNLL-2000: the base model, an HMM tagger of words with parts of speech, learns from the
           first 5,000 training sentences. The reranker learns from the next 1,500 and chooses on
           the next 500. dev: the 1,936 training sentences after those, and the first 500 of them;
           test: the 2,012 test sentences, and the first 500.
jackknife  base model and reranker learn from the same 1,500 sentences, the first ones: the lists of
           each tenth come from a model of the other tenths. A fifth is held out to choose on, and
           then learned from too. dev: the next 500 sentences; test: the first 500 of the test part.
trees      the Penn sample: base model and reranker learn from the same 3,501 trees in ten folds.
           dev: chosen on a fifth of these; test: chosen on the development part. "parse" is the
           answer of the base model itself, by expected brackets and not by one tree.

Each contestant runs in its own process, on one thread. Lists are kept in a folder, since those of
trees take ten minutes; the CPU seconds for them are printed when they are made. Training goes from
lists in memory to the reranker, for all values tried; scoring is the choice for all lists of the
part. Memory is the peak of the process, with all lists.
"""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import eigentext as et
from _grammars import gold, in_a_process, serve
from _harness import Phases
from _record import Column, Table, fact, record, score
from _reranking import FOLDER, Lists, chunked, jackknifed, kept, lists_of
from eigentext import engine
from eigentext.evaluate import brackets
from eigentext.reranking.reranker import DECAYS

Part = tuple[Lists, list[Any]]
BASES = {
    "hmm": lambda: et.HMMTagger(classes="factor", scheme="bio", joint=False),
    "hmm-joint": lambda: et.HMMTagger(classes="factor", scheme="bio", joint=True),
    "pcfg": et.PCFG,
    "latent": lambda: et.LatentPCFG(16, method="spectral+em"),
}
CONTESTANTS = {
    "chunks": ("hmm", "hmm-joint"),
    "jackknife": ("hmm", "hmm-joint"),
    "trees": ("pcfg", "latent"),
}
COLUMNS: dict[str | Column, str] = {
    score("1-best", digits=2): "first",
    score("reranked", digits=2): "reranked",
    score("oracle", digits=2): "oracle",
    score("parse", digits=2): "parse",
    fact("changed"): "changed",
    fact("better"): "better",
    fact("worse"): "worse",
    fact("decay"): "decay",
    fact("beta"): "beta",
    fact("supports"): "support",
    "train CPU s": "train",
    "score CPU s": "score",
    "peak MB": "memory",
}


class Maker:
    """Makes lists on one thread, or finds them in a folder; adds up the seconds of making them."""

    def __init__(self, folder: str, base: str):
        engine.use(engine.ThreadEngine(1))
        self.folder, self.base, self.seconds = Path(folder), base, 0.0
        self._model = None

    def model(self, learned: list[Any]) -> Any:
        """The base model, fitted when it is first needed."""
        if self._model is None:
            self._model = BASES[self.base]().fit(learned)
        return self._model

    def by_model(self, name: str, learned: list[Any], examples: list[Any]) -> Part:
        """Lists for examples by the base model."""
        return self._kept(name, lambda: lists_of(self.model(learned), examples)), examples

    def by_folds(self, name: str, examples: list[Any]) -> Part:
        """Lists for each fold of the examples by a base model of the other folds."""
        return self._kept(name, lambda: jackknifed(BASES[self.base], examples, 10)), examples

    def _kept(self, name: str, make: Any) -> Lists:
        lists, seconds = kept(self.folder, f"{self.base}-{name}", make)
        self.seconds += seconds or 0.0
        return lists


# -- tasks, each in its own process ----------------------------------------------------------------


def chunks(base: str, split: str, folder: str) -> list[dict]:
    data, maker = chunked("train"), Maker(folder, base)
    learned = data[:5000]
    train = maker.by_model("chunks-train", learned, data[5000:6500])
    dev = maker.by_model("chunks-dev", learned, data[6500:7000])
    rest = data[7000:] if split == "dev" else chunked("test")
    lists, right = maker.by_model(f"chunks-rest-{split}", learned, rest)
    parts = {"500": (lists[:500], right[:500]), "all": (lists, right)}
    return list(rows(maker, chunk_reranker, train, dev, parts))


def jackknife(base: str, split: str, folder: str) -> list[dict]:
    data, maker = chunked("train"), Maker(folder, base)
    train = maker.by_folds("jackknife-train", data[:1500])
    rest = data[1500:2000] if split == "dev" else chunked("test")[:500]
    part = maker.by_model(f"jackknife-{split}", data[:1500], rest)
    return list(rows(maker, chunk_reranker, train, None, {"500": part}))


def trees(base: str, split: str, folder: str) -> list[dict]:
    maker, learned = Maker(folder, base), gold("penn-sample", "train")
    train = maker.by_folds("trees-train", learned)
    parts = {
        name: maker.by_model(f"trees-{name}", learned, gold("penn-sample", name))
        for name in {"dev", split}
    }
    chosen_on = parts["dev"] if split == "test" else None
    (row,) = rows(maker, et.Reranker, train, chosen_on, {split: parts[split]})
    right = parts[split][1]
    parses = maker.model(learned).parses([tree.leaves() for tree in right], n_jobs=1)
    row["parse"] = 100 * brackets(right, [one.tree for one in parses]).f1
    return [row]


def chunk_reranker() -> et.Reranker:
    """A reranker whose states join chunk tags and parts of speech, as in the better base model."""
    return et.Reranker(et.SequenceKernel(match="factor", joint=True), decay=DECAYS)


def rows(
    maker: Maker,
    reranker: Callable[[], et.Reranker],
    train: Part,
    dev: Part | None,
    parts: dict[str, Part],
) -> Iterator[dict]:
    """A reranker learned from lists, and its figures on each part."""
    small = tuple(some[:20] for some in train)
    reranker().fit(*small).predict(small[0])  # compile and load all loops
    phases = Phases()
    with phases("train"):
        model = reranker().fit(*train, validation=dev)
    found = model.diagnostics_
    for name, part in parts.items():
        with phases("score"):
            model.predict(part[0])
        report = model.evaluate(*part)
        yield {
            "part": name,
            "inputs": report.n_inputs,
            "first": 100 * report.first,
            "reranked": 100 * report.reranked,
            "oracle": 100 * report.oracle,
            "parse": None,
            "changed": report.n_changed,
            "better": report.n_better,
            "worse": report.n_worse,
            "decay": found["decay"],
            "beta": found["beta"],
            "support": found["n_support"],
            "train": phases.found["train"][1],
            "score": phases.found["score"][1],
            "memory": max(memory for *_, memory in phases.found.values()),
            "lists": maker.seconds,
        }


TASKS = {"chunks": chunks, "jackknife": jackknife, "trees": trees}
TITLES = {
    "chunks": "Chunks of CoNLL-2000",
    "jackknife": "Chunks, base model and reranker from the same sentences",
    "trees": "Trees of the Penn sample",
}
ABOUT = (
    "20 candidates for each sentence. F1 of the base model's first candidate, of the reranker's "
    'choice, and of the best candidate ("oracle"). "changed" is the number of sentences with a new '
    'answer, "better" and "worse" how many of them gained or lost; "parse" is the answer of the '
    "base model itself (MBR). Base "
    'models: "hmm" has tags as states, "hmm-joint" tags with parts of speech, "latent" is '
    'LatentPCFG(16, method="spectral+em").'
)


def main() -> None:
    names = list(BASES)
    options = argparse.ArgumentParser(description="What reranking is worth.")
    options.add_argument("--task", nargs="+", choices=TASKS, default=list(TASKS))
    options.add_argument("--split", choices=("dev", "test"), default="dev")
    options.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME")
    options.add_argument("--lists", type=Path, default=FOLDER, help="where n-best lists are kept")
    asked = options.parse_args()
    tables, notes = [], []
    for task in asked.task:
        title = f"{TITLES[task]}, {asked.split}, F1 in percent, one thread"
        table = Table(task, title, list(COLUMNS), ("base model", "sentences"))
        tables.append(table)
        for base in (name for name in CONTESTANTS[task] if name in asked.only):
            where = {"split": asked.split, "folder": str(asked.lists)}
            for row in in_a_process(task, base=base, **where):
                table.row(base, row["inputs"], *(row[key] for key in COLUMNS.values()))
                if row["lists"]:
                    notes.append(f"{task}, {base}: making the lists took {row['lists']:.0f} CPU s.")
    print("", *notes, sep="\n")
    record(f"reranking_{asked.split}", "Reranking", tables, about=ABOUT, notes=notes)


if __name__ == "__main__" and not serve(*TASKS.values()):
    main()
