"""What tensors of low rank cost and save, for spectral grammars.

    python benchmarks/grammars_rank.py [--states 16] [--ranks 16,8,4] [--sentences 0]

Learns LatentPCFG(m, rank=r) from the training part of the Penn sample, and parses its development
part after saving and loading. Each row is a process of its own, with one thread and all loops
loaded; seconds are CPU seconds. The difference of F1 to full tensors comes from a paired bootstrap.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import eigentext as et
from _grammars import gold, in_a_process, serve, trees, warm_fit, warm_parse
from _record import Column, Table, fact, record, score

TREEBANK = "penn-sample"
_REPEATS = 3  # of parsing: the fastest counts


def cost(m: int, rank: int | None, n_sentences: int | None) -> dict[str, Any]:
    """Learn, save, load and parse; the figures, and the parses."""
    examples = trees(TREEBANK, "train")
    model = et.LatentPCFG(m, rank=rank, n_jobs=1)
    warm_fit(model, examples)
    start = time.process_time()
    model.fit(examples)
    seconds = time.process_time() - start
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        model.save(path)
        files = [path] if path.is_file() else path.rglob("*")
        size = sum(one.stat().st_size for one in files if one.is_file()) / 1e6
        model = et.load(path)
    warm_parse(model, examples)
    sentences = [tree.leaves() for tree in gold(TREEBANK, "dev", n_sentences)]
    found, times = [], []
    for _ in range(_REPEATS):
        start = time.process_time()
        found = [parsed.tree for parsed in model.parses(sentences, n_jobs=1)]
        times.append(time.process_time() - start)
    told = model.history_[0]
    return {
        "figures": [
            100 * told.get("rank_error", 0.0), 100 * told.get("rank_share", 1.0), seconds, size,
            len(sentences) / min(times),
        ],
        "negative": 100 * model.diagnostics_["negative_marginals"],
        "parses": [str(tree) for tree in found],
    }  # fmt: skip


def main() -> None:
    """Print and record the table."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--states", default="16")
    options.add_argument("--ranks", default="16,8,4")
    options.add_argument("--sentences", type=int, default=0, help="0: all")
    given = options.parse_args()
    table = Table(
        "rank", "Penn sample, development part: full tensors and low rank",
        [
            fact("error %"), fact("numbers %"), "learn CPU s", "file MB", "sentences/s",
            fact("negative %"), score("F1"), fact("difference"), fact("low"), fact("high"),
            Column("p", "fact"),
        ],
        ["states", "rank"],
    )  # fmt: skip
    n_sentences = given.sentences or None
    right = gold(TREEBANK, "dev", n_sentences)
    for m in map(int, given.states.split(",")):
        full: list[et.Tree] = []
        for rank in (None, *map(int, given.ranks.split(","))):
            told = in_a_process("cost", m=m, rank=rank, n_sentences=n_sentences)
            found = [et.Tree.parse(one) for one in told["parses"]]
            f1 = 100 * et.evaluate.brackets(right, found).f1
            beside: list[float | None] = [None] * 4
            if rank is None:
                full = found
            else:
                both = et.evaluate.compare(right, full, found)
                beside = [*(100 * x for x in (both.difference, *both.interval)), both.p]
            name = "full" if rank is None else str(rank)
            table.row(str(m), name, *told["figures"], told["negative"], f1, *beside)
    record(
        "grammars_rank", "Tensors of low rank", [table],
        about='LatentPCFG(m, method="spectral", rank=r), one thread, CPU seconds.',
    )  # fmt: skip


if __name__ == "__main__" and not serve(cost):
    main()
