"""What a grammar of many states costs: learning, memory, file and parsing, and how it grows.

    python benchmarks/grammars_size.py [--before PATH] [--states 16,32] [--sentences 600]

Learns LatentPCFG(m, method="spectral+em") from GUM's training part, or from a half or a quarter of
its trees, and parses the first sentences of the development part. Each row is a process of its own,
with one thread and all loops loaded; seconds are CPU seconds. `--before` is a checkout of an older
revision of this repository. Then each grammar is learned by both revisions, by turns, and the
difference of F1 comes from a paired bootstrap.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import eigentext as et
from _grammars import gold, serve, trees, warm_fit, warm_parse
from _record import Column, Table, fact, record, score

METHOD = "spectral+em"
PARTS = (4, 2, 1)  # each part is one over this number of all trees
HERE = Path(__file__).parent.parent


def cost(m: int, part: int, n_sentences: int) -> dict[str, Any]:
    """Learn, save, load and parse; the figures, and the parses."""
    examples = trees("gum", "train")[::part]
    model = et.LatentPCFG(m, method=METHOD, n_jobs=1)
    warm_fit(model, examples)
    start = time.process_time()
    model.fit(examples)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        model.save(path)
        files = [path] if path.is_file() else path.rglob("*")
        size = sum(one.stat().st_size for one in files if one.is_file()) / 1e6
        model = et.load(path)
    warm_parse(model, examples)
    right = gold("gum", "dev", n_sentences or None)
    start = time.process_time()
    found = [parsed.tree for parsed in model.parses([t.leaves() for t in right], n_jobs=1)]
    speed = len(right) / (time.process_time() - start)
    f1 = 100 * et.evaluate.brackets(right, found).f1
    figures = [len(examples), seconds, peak, size, speed, f1]
    return {"figures": figures, "parses": [str(tree) for tree in found]}


def run(source: Path, **arguments: Any) -> dict[str, Any]:
    """Run `cost` with the library of a checkout."""
    command = [sys.executable, sys.argv[0], "--run", "cost", json.dumps(arguments)]
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    environment = os.environ | one | {"PYTHONPATH": str(source / "src")}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return json.loads(done.stdout)


def main() -> None:
    """Print and record the tables."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--before", type=Path, help="a checkout of an older revision")
    options.add_argument("--states", default="16,32")
    options.add_argument("--sentences", type=int, default=600, help="0: all")
    given = options.parse_args()
    columns: list[Any] = [
        fact("trees"), "train CPU s", "train MB", "file MB", "sentences/s", score("F1"),
    ]  # fmt: skip
    table = Table("cost", "GUM, before and after", columns, ["states", "revision"])
    growth = Table("growth", "How it grows with trees and states", columns, ["states", "part"])
    gain = Table(
        "gain", "F1 after, less F1 before",
        [score("difference"), fact("low"), fact("high"), Column("p", "fact")], ["states"],
    )  # fmt: skip
    right = gold("gum", "dev", given.sentences or None)
    for m in map(int, given.states.split(",")):
        how = {"m": m, "n_sentences": given.sentences}
        found = {}
        revisions = {"before": given.before, "after": HERE} if given.before else {"after": HERE}
        for name, source in revisions.items():
            found[name] = run(source, part=1, **how)
            table.row(str(m), name, *found[name]["figures"])
        if len(found) == 2:
            before, after = (
                [et.Tree.parse(one) for one in found[name]["parses"]] for name in revisions
            )
            both = et.evaluate.compare(right, before, after)
            gain.row(str(m), *(100 * x for x in (both.difference, *both.interval)), both.p)
        for part in PARTS:
            figures = found["after"] if part == 1 else run(HERE, part=part, **how)
            growth.row(str(m), f"1/{part}" if part > 1 else "all", *figures["figures"])
    record(
        "grammars_size", "What a grammar of many states costs", [table, gain, growth],
        about=f'GUM, LatentPCFG(m, method="{METHOD}"), one thread, CPU seconds.',
    )  # fmt: skip


if __name__ == "__main__" and not serve(cost):
    main()
