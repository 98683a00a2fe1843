"""Weighted automata beside n-grams and hidden Markov models: tags and characters, held out.

Run it with ``.venv/bin/python benchmarks/automata.py [SET ...]``; all sets take about ten
minutes. SET is one of

- penn: the tags of the Penn Treebank sample, files 1 to 169 to learn from, 170 to 199 held out;
- brown: the tags of 50,000 sentences of Brown, the others held out. Tags that occur once share one
  symbol;
- characters: the first million characters of text8 as a stream, the next 100,000 held out.

Hidden Markov models have no ends, so a symbol for the end follows each of their sentences. All
figures are over the same events: every symbol, and the end of every sentence. EM makes at most 100
passes after a race of ten starts. An interval is twice the standard error of the mean difference of
two systems over sentences, or over pieces of 500 characters.
"""

import sys
import time
import warnings
import zipfile

import numpy as np

import _harness
from _record import Table, fact, record, score
from eigentext import HMM, KneserNey, WeightedAutomaton, load_dataset

END = "</s>"
SETS = ("penn", "brown", "characters")
STATES = {"penn": (20, 50), "brown": (20,), "characters": (30,)}
PIECE = 500


def data(name: str):
    """Training and held-out text: sentences of tags, or a stream of characters."""
    if name == "characters":
        with _harness.unpacked("text/text8-prefix.txt.xz").open() as file:
            text = file.read(1_100_000).replace(" ", "_")
        return list(text[:1_000_000]), list(text[1_000_000:])
    if name == "penn":
        path = _harness.data("nltk_data/corpora/treebank.zip")
        parts = [], []
        with zipfile.ZipFile(path) as archive:
            for number in range(1, 200):
                text = archive.read(f"treebank/tagged/wsj_{number:04d}.pos").decode()
                for paragraph in text.split("\n\n"):
                    tags = [one.rpartition("/")[2] for one in paragraph.split() if "/" in one]
                    if tags:
                        parts[number > 169].append(tags)
        return parts
    sentences = [[tag for _, tag in line] for line in load_dataset("brown", tagged=True)]
    train, test = sentences[:50_000], sentences[50_000:]
    tags, counts = np.unique([tag for line in train for tag in line], return_counts=True)
    kept = set(tags[counts > 1].tolist())
    return [[[t if t in kept else "RARE" for t in line] for line in part] for part in (train, test)]


def measured(name: str, make, *, ends: bool = False) -> dict:
    train, test = data(name)
    if ends and name != "characters":
        train, test = ([[*line, END] for line in part] for part in (train, test))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        few = train[:400] if name == "characters" else train[:40]
        make().fit(few)  # compile
        wall, cpu = time.perf_counter(), time.process_time()
        model = make().fit(train)
    cost = {
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "peak": _harness.peak_bytes(),
    }
    logs = model.log_probabilities(test, rare=True)
    logs = logs[np.isfinite(logs)]  # a few tags are new
    if name == "characters":
        sums, sizes = logs.reshape(-1, PIECE).sum(axis=1), [PIECE] * (len(logs) // PIECE)
    else:
        sizes = [len(line) + (not ends) for line in test]
        sums = np.add.reduceat(
            model.log_probabilities(test, rare=True), [0, *np.cumsum(sizes[:-1])]
        )
    mean = float(logs.mean())
    return cost | {
        "bits": -mean / np.log(2),
        "perplexity": float(np.exp(-mean)),
        "states": model.diagnostics_.get("rank"),
        "sums": np.where(np.isfinite(sums), sums, 0).round(6).tolist(),
        "sizes": sizes,
    }


def contestants(name: str) -> dict:
    found = {}

    def add(system: str, make, *, ends: bool = False) -> None:
        found[f"{name}: {system}"] = lambda: measured(name, make, ends=ends)

    for order in (2, 3, 4, 5):
        add(f"KneserNey({order})", lambda order=order: KneserNey(order))
    em = {"n_iter": 100}
    for m in STATES[name]:
        add(f"HMM({m}), spectral", lambda m=m: HMM(m), ends=True)
        add(f"HMM({m}), em", lambda m=m: HMM(m, method="em", **em), ends=True)
        add(f"HMM({m}), spectral+em", lambda m=m: HMM(m, method="spectral+em", **em), ends=True)
        add(f"automaton({m}), single symbols", lambda m=m: WeightedAutomaton(m, longest=1))
        add(f"automaton({m})", lambda m=m: WeightedAutomaton(m))
        add(f"automaton({m}), validation", lambda m=m: automaton(m))
        for statistics in ("prefix", "string") if name == "penn" else ():
            system = f"automaton({m}), {statistics}, validation"
            add(system, lambda m=m, s=statistics: automaton(m, statistics=s))
    if name != "penn":
        add("automaton(100), validation", lambda: automaton(100))
    if name == "characters":
        add("automaton(300), basis 3000", lambda: WeightedAutomaton(300, basis=3000))
    return found


def automaton(m: int, **settings) -> WeightedAutomaton:
    return WeightedAutomaton(m, selection="validation", **settings)


def difference(one: dict, other: dict) -> tuple[float, float]:
    """The mean gain of the first over the second, in bits an event, and twice its error."""
    sizes = np.array(one["sizes"])
    gains = (np.array(one["sums"]) - np.array(other["sums"])) / np.log(2)
    mean = gains.sum() / sizes.sum()
    errors = gains - mean * sizes
    return mean, 2 * np.sqrt((errors**2).sum()) / sizes.sum()


def main() -> None:
    asked = sys.argv[1:] or SETS
    labels = ("data", "system")
    columns = (fact("rank"), "CPU s", "peak MB", score("bits", "lower", digits=3))
    columns = (*columns, score("perplexity", "lower", digits=2))
    table = Table("automata", "Held-out symbols and ends", columns, labels)
    gains = Table(
        "gains",
        "What the automaton gains, in bits for each event, and twice the standard error",
        (fact("gain"), fact("2 errors")),
        ("data", "automaton", "other"),
    )
    for name in asked:
        found = {}
        for key in contestants(name):
            system = key.partition(": ")[2]
            run = _harness.measured(key)
            found[system] = figures = run["figures"]
            row = figures["states"], run["cpu"], run["peak"] / 1e6, figures["bits"]
            table.row(name, system, *row, figures["perplexity"])
        for m in STATES[name]:
            mine = f"automaton({m}), validation"
            for other in ("HMM({m}), spectral", "HMM({m}), em", "HMM({m}), spectral+em"):
                other = other.format(m=m)
                gains.row(name, mine, other, *difference(found[mine], found[other]))
        best = min((s for s in found if s.startswith("auto")), key=lambda s: found[s]["bits"])
        for order in (2, 3, 4, 5):
            other = f"KneserNey({order})"
            gains.row(name, best, other, *difference(found[best], found[other]))
    record(
        "automata",
        "Weighted automata beside n-grams and hidden Markov models",
        [table, gains],
        about="Tags of the Penn Treebank sample (4,448 sentences, 528 held out) and of Brown "
        "(50,000 sentences, 7,340 held out), and characters of text8 (a million, 100,000 held "
        "out). Every symbol and every end of a sentence is an event. The rank is the number of "
        "directions that a spectral model uses. Automata have a basis of 1,000 strings of up to "
        "three symbols unless stated. EM makes at most 100 passes after a race of ten starts.",
    )


if __name__ == "__main__" and not _harness.serve(
    {key: run for name in SETS for key, run in contestants(name).items()}
):
    main()
