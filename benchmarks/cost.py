"""What doubling costs: tokens, vocabulary, window and dimension, one at a time.

Run it with ``.venv/bin/python benchmarks/cost.py`` (two minutes). Each row is a fit in its own
process, on two threads: CPU seconds of each phase, peak memory, and the number of pairs counted.
"""

import json
import subprocess
import sys
from pathlib import Path

from _harness import Phases, scratch, unpacked
from _record import Column, Table, fact, record

CORPUS = "text/enwiki-30m.tok.txt.xz"
BASE = {"millions": 7.5, "words": 20_000, "window": 5, "dim": 150}
ROWS = {
    "base": {},
    "tokens x 2": {"millions": 15},
    "tokens x 4": {"millions": 30},
    "vocabulary x 2": {"words": 40_000},
    "vocabulary x 4": {"words": 80_000},
    "window x 2": {"window": 10},
    "window x 4": {"window": 20},
    "dimension x 2": {"dim": 300},
    "dimension x 4": {"dim": 600},
}
PHASES = ("read and encode", "count", "mirror", "factor")


def prefix(millions: float) -> Path:
    """The first lines of the corpus, up to this number of tokens."""
    path = scratch(f"prefix-{millions}.txt")
    if not path.exists():
        with unpacked(CORPUS).open() as whole, path.open("w") as part:
            left = millions * 1e6
            for line in whole:
                left -= line.count(" ") + 1
                if left < 0:
                    break
                part.write(line)
    return path


def run(millions: float, words: int, window: int, dim: int) -> dict:
    import eigentext as et

    phases = Phases()
    model = et.Eigenwords(dim, window=window, max_size=words, min_count=1)
    with et.engine.use(et.engine.ThreadEngine(2)), et.engine.report_to(phases):
        model.fit(str(prefix(millions)))
    return {"phases": phases.found, "pairs": model.diagnostics_["pairs"]}


def main() -> None:
    if sys.argv[1:2] == ["--run"]:
        print(json.dumps(run(**json.loads(sys.argv[2]))))
        return
    phases = [Column(phase, "time", "lower", 2) for phase in PHASES]
    columns = (fact("million pairs"), *phases, "CPU s in all", "peak MB")
    table = Table("cost", "CPU seconds of each phase", columns, ("changed",))
    for name, change in ROWS.items():
        options = BASE | change
        prefix(options["millions"])
        command = [sys.executable, sys.argv[0], "--run", json.dumps(options)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        result = json.loads(done.stdout)
        cpu = [result["phases"][phase][1] for phase in PHASES]
        peak = max(phase[2] for phase in result["phases"].values())
        table.row(name, result["pairs"] / 1e6, *cpu, sum(cpu), peak)
    record(
        "cost",
        "What doubling costs",
        [table],
        about="The base is enwiki's first 7.5 million tokens, 20,000 words, window 5 and 150 "
        "dimensions. Each other row doubles one of them, or doubles it twice.",
    )


if __name__ == "__main__":
    main()
