"""The best parser that we can make of a treebank, on its test part: one look.

Run ``.venv/bin/python benchmarks/parsers_best.py penn-sample --vectors MODEL --clusters MODEL``, or
gum. Four grammars of "spectral+em" vote, with word vectors and clusters of plain text. A
``TreeReranker``, which learns from the candidates of five such ensembles by jack-knife, chooses
among their candidates. Both learn from the training part. The development part decides whether the
reranker is used. Only the choice is measured on the test part, and the ensemble itself beside it.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import eigentext as et
from _grammars import gold
from _record import Table, fact, record, score
from eigentext import engine
from eigentext.evaluate import brackets, compare
from eigentext.reranking import jackknife
from eigentext.reranking.folds import words_of

N_INNER, K = 5, 25


def main() -> None:
    options = argparse.ArgumentParser(description="The best parser, on the test part.")
    options.add_argument("treebank", choices=("penn-sample", "gum"))
    options.add_argument("--vectors", type=Path, required=True)
    options.add_argument("--clusters", type=Path, required=True)
    options.add_argument("--grammars", type=int, default=4)
    asked = options.parse_args()
    engine.use(engine.ThreadEngine(1))
    text = {"vectors": et.load(asked.vectors), "clusters": et.load(asked.clusters)}

    def fitted(trees: list[et.Tree]) -> et.LatentPCFG:
        made = et.LatentPCFG(method="spectral+em", n_grammars=asked.grammars, n_jobs=1, **text)
        return made.fit(trees)

    def proposed(model: et.LatentPCFG, trees: list[et.Tree]) -> list[list[Any]]:
        return list(model.candidates_many([words_of(tree) for tree in trees], K, n_jobs=1))

    learned = gold(asked.treebank, "train")
    start = time.process_time()
    parser = fitted(learned)
    of_parser = time.process_time() - start
    lists = jackknife(fitted, proposed, learned, N_INNER)
    reranker = et.TreeReranker(clusters=text["clusters"]).fit(lists, learned)
    of_reranker = time.process_time() - start - of_parser
    columns = [score("F1", digits=2), fact("gain"), fact("p"), fact("sentences"), "train CPU s"]
    table = Table("best", f"The best parser of {asked.treebank}", columns, ("part", "system"))
    use = False
    for part in ("dev", "test"):
        right = gold(asked.treebank, part)
        plain = [one.tree for one in parser.parses([words_of(tree) for tree in right], n_jobs=1)]
        table.row(
            part, "ensemble", 100 * brackets(right, plain).f1, None, None, len(right), of_parser
        )
        if part == "dev" or use:
            chosen = reranker.best(proposed(parser, right))
            found = compare(right, plain, chosen)
            use = found.difference > 0
            total = of_parser + of_reranker
            facts = f"{100 * found.difference:+.2f}", found.p, len(right)
            table.row(part, "reranked", 100 * found.b, *facts, total)
    name = asked.treebank.removesuffix("-sample")
    record(
        f"parsers_best_{name}", f"The best parser of {asked.treebank}", [table], about=__doc__ or ""
    )


if __name__ == "__main__":
    main()
