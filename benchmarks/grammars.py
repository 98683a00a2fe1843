"""Parsers learned from the Penn sample and from GUM: accuracy, time and memory, side by side.

Run it with ``.venv/bin/python benchmarks/grammars.py [SET ...] [--split dev] [--only NAME ...]``,
where a set is penn-sample or gum (default: both), and names are those of CONTESTANTS, or nltk.
``--trees`` and ``--sentences`` take only the first ones, for a quick try.

Each contestant learns in one process, saves its model, and parses in another process, both on one
thread. Seconds are CPU seconds, from trees in memory to the model and from words to trees; all
loops have been compiled and loaded before. EM steps include the 25 steps of the pruning grammar.
States and parameters are those of the grammars that decide, all of them for an ensemble. Memory is
the peak of the process, with Python, Numba and the treebank. Fallbacks are sentences that the
grammar cannot parse; they get a tree all the same and are scored like all others. Scores are in
percent.

"nltk" is NLTK's ViterbiParser beside our PCFG with the same kind of grammar (binarized to the left,
one sibling, unary chains joined). Both parse the first ten sentences of 5 to 12 words that were all
seen in training: NLTK takes no other words, and needs seconds for each sentence.
"""

import argparse
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import eigentext as et
from _grammars import Steps, gold, in_a_process, serve, trees, warm_fit, warm_parse
from _harness import Phases
from _record import Column, Table, fact, ratio, record, score
from eigentext import engine
from eigentext.evaluate import brackets

SETS = ("penn-sample", "gum")
CONTESTANTS = {
    "pcfg-h0-viterbi": {"horizontal": 0, "vertical": 1, "decoding": "viterbi"},
    "pcfg-h0-mbr": {"horizontal": 0, "vertical": 1},
    "pcfg-h1-viterbi": {"horizontal": 1, "vertical": 1, "decoding": "viterbi"},
    "pcfg-h1-mbr": {"horizontal": 1, "vertical": 1},
    "pcfg-h2-v2-mbr": {},
    **{f"em-{m}": {"n_states": m, "method": "em"} for m in (2, 4, 8, 16, 32)},
    **{f"split-merge-{m}": {"n_states": m, "method": "split-merge"} for m in (4, 8, 16, 32)},
    "4-em-16": {"n_states": 16, "method": "em", "n_grammars": 4},
    "4-split-merge-16": {"n_states": 16, "method": "split-merge", "n_grammars": 4},
}
COLUMNS: dict[str | Column, str] = {
    "train CPU s": "train_cpu",
    "train wall s": "train_wall",
    fact("EM steps"): "steps",
    fact("states"): "states",
    fact("parameters"): "parameters",
    "train MB": "train_mb",
    score("P", digits=2): "precision",
    score("R", digits=2): "recall",
    score("F1", digits=2): "f1",
    score("exact", digits=1, tolerance=0.05): "exact",
    score("fallbacks", "lower", digits=0): "fallbacks",
    "sentences/s": "speed",
    "parse MB": "parse_mb",
    "file MB": "file_mb",
}
SHORT, FEW = range(5, 13), 10  # words, sentences: the time of NLTK grows faster than their cube
REPEATS = 20  # of our parser, which is too fast to be timed otherwise


def model(contestant: str):
    options = CONTESTANTS[contestant]
    return et.LatentPCFG(**options, n_jobs=1) if "n_states" in options else et.PCFG(**options)


def train(contestant: str, name: str, limit: int | None, path: str) -> dict:
    parser, examples = model(contestant), trees(name, "train", limit)
    phases, steps = Phases(), Steps()
    engine.use(engine.ThreadEngine(1))
    warm_fit(parser, examples)
    with engine.report_to(steps), phases("train"):
        parser.fit(examples)
    parser.save(path)
    wall, cpu, memory = phases.found["train"]
    grammars = [level.grammar for level in parser._cascade.levels]
    return {
        "train_wall": wall,
        "train_cpu": cpu,
        "train_mb": memory,
        "steps": steps.total(),
        "states": sum(int(grammar.n_states.sum()) for grammar in grammars),
        "parameters": sum(len(grammar.tensor) for grammar in grammars),
        "file_mb": Path(path).stat().st_size / 1e6,
    }


def parse(name: str, split: str, limit: int | None, path: str) -> dict:
    parser, phases = et.load(path), Phases()
    warm_parse(parser, trees(name, "train", 100))
    right = gold(name, split, limit)
    sentences = [tree.leaves() for tree in right]
    with phases("parse"):
        found = list(parser.parses(sentences, n_jobs=1))
    wall, cpu, memory = phases.found["parse"]
    scores = brackets(right, [one.tree for one in found])
    percent = {x: 100 * getattr(scores, x) for x in ("precision", "recall", "f1", "exact")}
    return percent | {
        "sentences": len(right),
        "fallbacks": sum(one.fallback is not None for one in found),
        "parse_wall": wall,
        "parse_cpu": cpu,
        "parse_mb": memory,
        "speed": len(right) / cpu,
    }


def short(name: str, split: str, limit: int | None) -> list[et.Tree]:
    """The gold trees of a few short sentences whose words were all seen in training."""
    words = {word for tree in gold(name, "train", limit) for word in tree.leaves()}
    right = [tree for tree in gold(name, split) if len(tree.leaves()) in SHORT]
    return [tree for tree in right if words.issuperset(tree.leaves())][:FEW]


def nltk(name: str, split: str, limit: int | None) -> dict:
    from nltk import Nonterminal, induce_pcfg
    from nltk import Tree as Peer
    from nltk.parse import ViterbiParser

    examples, right = gold(name, "train", limit), short(name, split, limit)
    start, productions = time.process_time(), []
    for example in examples:
        tree = Peer("TOP", [example.to_nltk()])
        tree.collapse_unary(collapsePOS=True)
        tree.chomsky_normal_form(factor="left", horzMarkov=1)
        productions += tree.productions()
    grammar = induce_pcfg(Nonterminal("TOP"), productions)
    learned = time.process_time()
    # Its default is to stop after five seconds.
    parser = ViterbiParser(grammar, max_time=float("inf"))
    found = [next(iter(parser.parse(tree.leaves())), None) for tree in right]
    seconds = time.process_time() - learned
    for tree in found:
        if tree is not None:
            tree.un_chomsky_normal_form()
    rules = sum(len(rule.rhs()) == 2 for rule in grammar.productions())
    return _short_figures(right, found, learned - start, seconds, rules)


def ours(name: str, split: str, limit: int | None) -> dict:
    parser, examples = model("pcfg-h1-viterbi"), gold(name, "train", limit)
    right = short(name, split, limit)
    engine.use(engine.ThreadEngine(1))
    warm_fit(parser, examples)
    start = time.process_time()
    parser.fit(examples)
    learned = time.process_time()
    sentences = [tree.leaves() for tree in right] * REPEATS
    found = list(parser.parses(sentences, n_jobs=1))[: len(right)]
    seconds = (time.process_time() - learned) / REPEATS
    rules = parser.diagnostics_["n_rules"]
    return _short_figures(right, [one.tree for one in found], learned - start, seconds, rules)


def _short_figures(right, found, learning: float, seconds: float, rules: int) -> dict:
    return {
        "rules": rules,
        "train_cpu": learning,
        "sentences": len(right),
        "words": sum(len(tree.leaves()) for tree in right),
        "failed": sum(tree is None for tree in found),
        "f1": 100 * brackets(right, found).f1,
        "speed": len(right) / seconds,
    }


def compare(name: str, asked: argparse.Namespace) -> Table:
    """The rows of all contestants."""
    table = Table(name, f"{name}, {asked.split}", list(COLUMNS))
    for contestant in (x for x in asked.only if x in CONTESTANTS):
        with tempfile.TemporaryDirectory() as folder:
            where: dict[str, Any] = {"name": name, "path": str(Path(folder, "model"))}
            try:
                row = in_a_process("train", contestant=contestant, limit=asked.trees, **where)
                row |= in_a_process("parse", split=asked.split, limit=asked.sentences, **where)
            except subprocess.CalledProcessError:  # the reason is on the terminal
                table.row(contestant, "failed", *[None] * (len(COLUMNS) - 1))
                continue
        table.row(contestant, *(row[key] for key in COLUMNS.values()))
    return table


def compare_with_nltk(table: Table, name: str, asked: argparse.Namespace) -> None:
    where: dict[str, Any] = {"name": name, "split": asked.split, "limit": asked.trees}
    if not short(*where.values()):
        print(f"\n{name}: no short sentence to compare with NLTK; learn from more trees")
        return
    peer, ours = (in_a_process(who, **where) for who in ("nltk", "ours"))
    for title, row in (("NLTK ViterbiParser", peer), ("pcfg-h1-viterbi", ours)):
        keys = ("sentences", "words", "rules", "train_cpu", "f1", "failed", "speed")
        table.row(name, title, *(row[key] for key in keys), row["speed"] / peer["speed"])


def main() -> None:
    names = [*CONTESTANTS, "nltk"]
    options = argparse.ArgumentParser(description="Parsers side by side.")
    options.add_argument("sets", nargs="*", metavar="SET", help=", ".join(SETS))
    options.add_argument("--split", choices=("dev", "test"), default="test")
    options.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME")
    options.add_argument("--trees", type=int, help="learn from the first ones only")
    options.add_argument("--sentences", type=int, help="parse the first ones only")
    asked = options.parse_intermixed_args()
    if unknown := set(asked.sets) - set(SETS):
        options.error(f"unknown set {unknown.pop()!r}: use {', '.join(SETS)}")
    facts = (fact(x) for x in ("sentences", "words", "binary rules"))
    scores = (score("F1", digits=2), score("failed", "lower"))
    columns = (*facts, "train CPU s", *scores, "sentences/s", ratio("ratio"))
    nltk_table = Table("nltk", "NLTK beside a PCFG", columns, ("data", "system"))
    tables = [compare(name, asked) for name in asked.sets or SETS]
    for name in asked.sets or SETS if "nltk" in asked.only else ():
        compare_with_nltk(nltk_table, name, asked)
    record(
        "grammars" if asked.split == "test" else "grammars_dev",
        "Parsers",
        [*tables, nltk_table],
        about="Learned from the training part; F1 of brackets (EVALB's rules, COLLINS.prm) in "
        "percent on the test part: 196 sentences of the Penn sample, 1,464 of GUM, whose trees are "
        "those of an automatic parser. One thread. EM steps include the 25 of the pruning grammar.",
        peers=("nltk",),
    )


if __name__ == "__main__" and not serve(train, parse, nltk, ours):
    main()
