"""Parsers learned from Penn's sample and from GUM: accuracy, time, memory, side by side.

Run it with ``.venv/bin/python benchmarks/grammars.py [SET ...] [--split dev] [--only NAME ...]
[--json]``, where a set is penn-sample or gum (both by default), and names are those of
CONTESTANTS, or nltk. ``--trees`` and ``--sentences`` take the first ones only, to try it out.

Each contestant learns in one process, saves its model, and parses in another, both on one thread.
Seconds are CPU seconds, from trees in memory to the model and from words to trees; kernels have
been compiled and loaded by then. Steps of EM include the 25 of the grammar that prunes; states and
parameters are those of the grammars that decide, all of an ensemble's. Memory is the peak of the
process meanwhile, with Python, Numba and the treebank. Fallbacks are sentences without a parse by
the grammar; they have trees and are scored like all others. Scores are in percent.

"nltk" is NLTK's ViterbiParser beside our PCFG with the same kind of grammar (to the left, one
sibling, unary chains joined), on the first ten sentences of 5 to 12 words, all of them seen in
training: it takes no others, and seconds for each.
"""

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import eigentext as et
from _grammars import Steps, Table, gold, in_a_process, serve, trees, warm_fit, warm_parse
from _harness import Phases
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
COLUMNS = {
    "train CPU s": "train_cpu",
    "EM steps": "steps",
    "states": "states",
    "parameters": "parameters",
    "train MB": "train_mb",
    "P": "precision",
    "R": "recall",
    "F1": "f1",
    "exact": "exact",
    "fallbacks": "fallbacks",
    "sentences/s": "speed",
    "parse MB": "parse_mb",
    "file MB": "file_mb",
}
SHORT, FEW = range(5, 13), 10  # words, sentences: NLTK's time grows faster than their cube
REPEATS = 20  # for ours, which would otherwise be done too soon to be timed

# shared/peers/parsing.md, section 3: those that parsed the whole test part.
PEER_COLUMNS = "train CPU s", "train MB", "P", "R", "F1", "failed", "sentences/s", "parse MB"
PEERS = {
    "penn-sample": """
        PCFG h=0, dense Numba CKY, Viterbi | 2.7 | | 62.5 | 60.4 | 61.4 | 1 | 140 |
        PCFG h=0, dense Numba CKY, MBR | 2.7 | | 67.1 | 65.8 | 66.4 | 1 | 35 |
        PCFG h=1, dense Numba CKY, Viterbi | 2.8 | | 72.6 | 68.7 | 70.6 | 4 | 96 |
        PCFG h=1, dense Numba CKY, MBR | 2.8 | | 72.9 | 71.3 | 72.1 | 4 | 32 |
        Berkeley, 1 state | 3.2 | 282 | 65.7 | 59.3 | 62.4 | 0 | 17.1 | 185
        Berkeley, EM m=2 | 22 | <485 | 74.8 | 74.5 | 74.6 | 0 | 15.2 | 187
        Berkeley, EM m=4 | in m=8 | | 80.6 | 79.8 | 80.2 | 0 | 11.3 | 203
        Berkeley, EM m=8 | 78 | 471 | 83.3 | 83.0 | 83.1 | 0 | 9.3 | 217
        Berkeley, 1 split-merge cycle | 31 | 485 | 75.5 | 75.3 | 75.4 | 0 | 16.3 | 190
        Berkeley, 2 cycles | 56 | 485 | 79.5 | 78.9 | 79.2 | 0 | 12.8 | 200
        Berkeley, 3 cycles | 101 | 485 | 83.9 | 83.8 | 83.8 | 0 | 12.4 | 206
        Berkeley, 4 cycles | 211 | 485 | 85.3 | 85.7 | 85.5 | 0 | 12.1 | 215
        Berkeley, 5 cycles | 507 | 485 | 86.0 | 86.6 | 86.3 | 0 | 7.8 | 265
        Berkeley, 5 cycles, accurate | 507 | 485 | 86.1 | 86.7 | 86.4 | 0 | 7.2 | 252
        Rainbow, EM m=8, 6 steps | 125 | | 76.0 | 76.1 | 76.1 | 1 | 1.9 | 163
        Rainbow, EM m=8, 10 steps | 205 | 1,041 | 81.1 | 82.0 | 81.5 | 1 | 1.8 | 167
        Spectral-Parser, as shipped | 30.1 | 501 | 56.6 | 60.9 | 58.7 | 0 | 0.69 | 577
        Spectral-Parser, its PCFG, MBR | 2 | | 76.6 | 78.0 | 77.3 | 0 | 0.72 |
        Spectral-Parser, tuned | 30.4 | 500 | 81.7 | 82.5 | 82.1 | 0 | 0.64 |
    """,
    "gum": """
        PCFG h=0, dense Numba CKY, Viterbi | 6.0 | | 64.6 | 64.1 | 64.3 | 4 | 50 |
        PCFG h=0, dense Numba CKY, MBR | 6.0 | | 66.7 | 67.4 | 67.1 | 4 | 15 |
        PCFG h=1, dense Numba CKY, Viterbi | 6.0 | | 71.7 | 70.0 | 70.8 | 7 | 30 |
        PCFG h=1, dense Numba CKY, MBR | 6.0 | | 72.5 | 73.0 | 72.8 | 7 | 10 |
        Berkeley, 1 split-merge cycle | 52 | 483 | 70.8 | 68.8 | 69.8 | 0 | 9.9 | 271
        Berkeley, 2 cycles | 108 | 483 | 79.1 | 78.2 | 78.6 | 0 | 9.9 | 294
        Berkeley, 3 cycles | 211 | 483 | 82.4 | 81.5 | 82.0 | 0 | 8.5 | 350
        Berkeley, 4 cycles | 432 | 483 | 83.5 | 82.6 | 83.1 | 0 | 7.7 | 366
    """,
}


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
    """The right trees of a few short sentences, every word of which was seen in training."""
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
    # It gives up after five seconds unless told otherwise.
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


def compare(name: str, asked: argparse.Namespace) -> list[dict]:
    """All contestants, a row for each; and then their figures."""
    contestants, rows = [x for x in asked.only if x in CONTESTANTS], []
    if not contestants:
        return rows
    table = Table(f"**{name}, {asked.split}**, one thread", *COLUMNS)
    for contestant in contestants:
        with tempfile.TemporaryDirectory() as folder:
            where: dict[str, Any] = {"name": name, "path": str(Path(folder, "model"))}
            try:
                row = in_a_process("train", contestant=contestant, limit=asked.trees, **where)
                row |= in_a_process("parse", split=asked.split, limit=asked.sentences, **where)
            except subprocess.CalledProcessError:  # its reason is on the terminal
                table.row(contestant, "failed", *[None] * (len(COLUMNS) - 1))
                continue
        table.row(contestant, *(row[key] for key in COLUMNS.values()))
        rows.append({"set": name, "split": asked.split, "contestant": contestant, **row})
    return rows


def compare_with_nltk(name: str, asked: argparse.Namespace) -> list[dict]:
    where: dict[str, Any] = {"name": name, "split": asked.split, "limit": asked.trees}
    if not short(*where.values()):
        print(f"\n{name}: no short sentence to compare with NLTK; learn from more trees")
        return []
    found = {who: in_a_process(who, **where) for who in ("nltk", "ours")}
    peer = found["nltk"]
    table = Table(
        f"**{name}: NLTK**, {peer['sentences']} sentences, {peer['words']} words, Viterbi, h=1",
        "binary rules", "train CPU s", "F1", "failed", "sentences/s", "ratio",
    )  # fmt: skip
    for title, row in zip(("NLTK's ViterbiParser", "pcfg-h1-viterbi"), found.values()):
        shown = (row[key] for key in ("rules", "train_cpu", "f1", "failed", "speed"))
        table.row(title, *shown, f"x {row['speed'] / peer['speed']:,.0f}")
    return [{"set": name, "split": asked.split, "contestant": k, **v} for k, v in found.items()]


def main() -> None:
    names = [*CONTESTANTS, "nltk"]
    options = argparse.ArgumentParser(description="Parsers side by side.")
    options.add_argument("sets", nargs="*", metavar="SET", help=", ".join(SETS))
    options.add_argument("--split", choices=("dev", "test"), default="test")
    options.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME")
    options.add_argument("--trees", type=int, help="learn from the first ones only")
    options.add_argument("--sentences", type=int, help="parse the first ones only")
    options.add_argument("--json", action="store_true", help="then print all figures, line by line")
    asked = options.parse_intermixed_args()
    if unknown := set(asked.sets) - set(SETS):
        options.error(f"no set {unknown.pop()!r}: they are {', '.join(SETS)}")
    rows = []
    for name in asked.sets or SETS:
        rows += compare(name, asked)
        if "nltk" in asked.only:
            rows += compare_with_nltk(name, asked)
        table = Table(
            f"**{name}, test: measured elsewhere by the team, not in this run** "
            "(shared/peers/parsing.md, section 3: a busy machine, one thread)",
            *PEER_COLUMNS,
        )
        for line in PEERS[name].strip().splitlines():
            table.row(*(cell.strip() for cell in line.split("|")))
    if asked.json:
        print()
        for row in rows:
            print(json.dumps(row))


if __name__ == "__main__" and not serve(train, parse, nltk, ours):
    main()
