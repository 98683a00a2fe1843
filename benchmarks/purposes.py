"""Which windows serve which purpose: similarity, rare words, analogies and hubs of word vectors.

Run it with ``.venv/bin/python benchmarks/purposes.py [--simlex FILE]``, some ten minutes. The
presets were chosen on the first ten million tokens of enwiki-30m and the half "dev" of WordSim353,
MEN, the rare words and Google's analogies. This benchmark learns from the other 20 million tokens,
in lower case, and from text8, and scores on the half "test". SimLex-999 (Hill, Reichart and
Korhonen 2015) is not among the corpora of this project. With ``--simlex`` all its pairs are scored.
It was in sight when the presets were chosen.

Similarity is Spearman's correlation; analogies are percent right by 3CosMul. The intervals are of
the difference from the default, by 500 paired bootstrap samples of the pairs or questions.
"""

import argparse
import json
import lzma
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from _harness import data, scratch, unpacked
from _record import Table, fact, record, score

ROWS: dict[str, dict[str, Any]] = {
    "default": {},
    "topical": {"purpose": "topical"},
    "balanced": {"purpose": "balanced"},
    "functional": {"purpose": "functional"},
    "default, 600 dimensions": {"n_components": 600},
    "balanced, 600 dimensions": {"purpose": "balanced", "n_components": 600},
    "balanced, 600, half of them narrow": {
        "purpose": "balanced",
        "n_components": 600,
        "narrow": 300,
        "narrow_weight": 0.5,
    },
    "default with phrases": {"phrases": True},
    "default with spelling": {"oov": "characters"},
    "balanced with spelling": {"purpose": "balanced", "oov": "characters"},
}
SETS = {"WS": "wordsim353", "MEN": "men3000", "RW": "rareword2034"}
_SKIPPED = 10_000_000  # tokens of enwiki-30m that decided
_SAMPLES = 500


def later_text() -> Path:
    """The tokens of enwiki-30m after the first ten million, in lower case."""
    path = scratch("enwiki-later.txt")
    if not path.exists():
        part, seen = path.with_suffix(".part"), 0
        packed = data("text/enwiki-30m.tok.txt.xz")
        with (
            lzma.open(packed, "rt", encoding="utf-8") as lines,
            part.open("w", encoding="utf-8") as file,
        ):
            for line in lines:
                if seen >= _SKIPPED:
                    file.write(line.lower())
                seen += len(line.split())
        part.rename(path)
    return path


CORPORA = {
    "text8": lambda: unpacked("text/text8-prefix.txt.xz"),
    "enwiki, 20 million": later_text,
}


def learn(corpus: str, name: str, folder: Path) -> None:
    """Fit one row in this process, and write its vectors and costs."""
    import eigentext as et

    path = CORPORA[corpus]()
    et.Eigenwords(2, min_count=1, narrow=1).fit(["a b a c b a c"] * 20)  # compiles
    begin = time.process_time()
    words = et.Eigenwords(**ROWS[name]).fit(et.TextCorpus(path))
    seconds = time.process_time() - begin
    # ru_maxrss would include the memory of the process that started this one.
    status = Path("/proc/self/status").read_text()
    peak = int(status.partition("VmHWM:")[2].split()[0]) / 1024
    words.save(folder / "words")
    (folder / "cost.json").write_text(json.dumps({"s": seconds, "MB": peak}))


def rho(cosines: np.ndarray, scores: np.ndarray) -> float:
    """Spearman's correlation."""
    from scipy.stats import spearmanr

    return float(spearmanr(cosines, scores).statistic)


def measured(words: Any, simlex: Path | None) -> dict[str, Any]:
    """For each set: cosines and scores of its covered pairs; for analogies which are right."""
    from eigentext import evaluate

    found: dict[str, Any] = {}
    files = {name: data(f"words/{file}.txt") for name, file in SETS.items()}
    if simlex:
        files["SimLex"] = simlex
    for name, file in files.items():
        pairs = evaluate.read_pairs(file)
        pairs = pairs if name == "SimLex" else evaluate.half(pairs, "test")
        rows = [(a.lower(), b.lower(), y) for a, b, y in pairs]
        found[name] = {
            (a, b): (words.similarity(a, b), y) for a, b, y in rows if a in words and b in words
        }
    questions = evaluate.half(evaluate.read_questions(data("words/google-analogies.txt")), "test")
    for name, is_kind in (("semantic", False), ("syntactic", True)):
        asked = [q for q in questions if q.section.startswith("gram") == is_kind]
        parts = evaluate.analogies(words, asked, method="mul")
        found[name] = 100 * parts.accuracy["mul"], parts.n_covered
    found["hubs"] = evaluate.hubness(words).skewness
    return found


def interval(mine: dict, base: dict) -> str:
    """The difference of the correlations on the pairs of both, and its interval of 95 %."""
    both = sorted(mine.keys() & base.keys())
    x = np.array([mine[pair][0] for pair in both])
    y = np.array([base[pair][0] for pair in both])
    gold = np.array([mine[pair][1] for pair in both])
    rng = np.random.default_rng(0)
    draws = [rng.integers(len(both), size=len(both)) for _ in range(_SAMPLES)]
    found = [rho(x[d], gold[d]) - rho(y[d], gold[d]) for d in draws]
    low, high = np.quantile(found, [0.025, 0.975])
    return f"{rho(x, gold) - rho(y, gold):+.3f} ({low:+.3f} to {high:+.3f})"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--simlex", type=Path)
    parser.add_argument("--learn", nargs=3)
    parser.add_argument("--again", action="store_true", help="take fits of an earlier run")
    parser.add_argument("--corpora", nargs="*", default=list(CORPORA))
    given = parser.parse_args()
    if given.learn:
        learn(given.learn[0], given.learn[1], Path(given.learn[2]))
        return
    import eigentext as et

    names = [*SETS, *(["SimLex"] if given.simlex else [])]
    columns = [score(name, digits=3) for name in names]
    columns += [score("semantic", digits=1), score("syntactic", digits=1)]
    tables = []
    for corpus in given.corpora:
        CORPORA[corpus]()
        labels = ("vectors",)
        scores = Table(
            f"scores_{corpus}", corpus, ("CPU s", "peak MB", *columns, fact("skewness")), labels
        )
        gains = Table(
            f"gains_{corpus}",
            f"{corpus}: difference from the default, with its interval",
            tuple(fact(name) for name in names),
            labels,
        )
        base: dict[str, Any] | None = None
        for name in ROWS:
            folder = scratch(f"purposes-{len(corpus)}-{list(ROWS).index(name)}")
            folder.mkdir(exist_ok=True)
            if not (given.again and (folder / "cost.json").exists()):
                subprocess.run(
                    [sys.executable, __file__, "--learn", corpus, name, str(folder)], check=True
                )
            cost = json.loads((folder / "cost.json").read_text())
            found = measured(et.load(folder / "words"), given.simlex)
            base = base or found
            values = [rho(*np.array(list(found[one].values())).T) for one in names]
            scores.row(
                name,
                cost["s"],
                cost["MB"],
                *values,
                found["semantic"][0],
                found["syntactic"][0],
                round(found["hubs"], 2),
            )
            if found is not base:
                gains.row(name, *[interval(found[one], base[one]) for one in names])
        tables += [scores, gains]
    about = (__doc__ or "").partition("some ten minutes. ")[2]
    record("purposes", "Purposes of word vectors", tables, about=about)


if __name__ == "__main__":
    main()
