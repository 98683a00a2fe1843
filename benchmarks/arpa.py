"""ARPA files beside KenLM: time and memory to read one, and microseconds to score a token.

Run it with ``.venv/bin/python benchmarks/arpa.py``. It needs the module kenlm (``pip install
kenlm``). The model has trigrams of the first five million words of text8-prefix, in lines of 50
words. All contestants score the next 100,000 words. The model is made once, in a process of its own
(a process counts the peak memory of the one that started it as its own), and kept in the temporary
folder.
"""

import math
import subprocess
import sys
import time
import warnings

from _harness import main, scratch, unpacked
from _record import Column, score

TEXT = "text/text8-prefix.txt.xz"
TRAINED, SCORED, LINE = 5_000_000, 100_000, 50


ARPA, SAVED, UNSEEN = map(scratch, ("text8-5m.arpa", "text8-5m.kneser-ney", "text8-5m.unseen"))


def prepare() -> None:
    """Write the model as an ARPA file and as a file of ours, and the text to score."""
    from eigentext import KneserNey

    with unpacked(TEXT).open() as file:
        words = file.read(8 * (TRAINED + SCORED)).split()[: TRAINED + SCORED]
    lines = [words[place : place + LINE] for place in range(0, len(words), LINE)]
    n = TRAINED // LINE
    UNSEEN.write_text("".join(" ".join(line) + "\n" for line in lines[n:]))
    KneserNey(3).fit(lines[:n]).to_arpa(ARPA)
    KneserNey.from_arpa(ARPA).save(SAVED)


def scored(load, log_probability) -> dict:
    """The cost of loading, of scoring all lines, and the mean base-10 logarithm of an event."""
    unseen = [line.split() for line in UNSEEN.read_text().splitlines()]
    wall, cpu = time.perf_counter(), time.process_time()
    model = load()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    started = time.perf_counter()
    total = log_probability(model, unseen)
    each = 1e6 * (time.perf_counter() - started) / SCORED
    mean = total / (SCORED + len(unseen))
    return {"wall": wall, "cpu": cpu, "µs for a token": each, "mean log10": mean}


def kenlm() -> dict:
    import kenlm

    def total(model, unseen):
        return sum(model.score(" ".join(line)) for line in unseen)

    return scored(lambda: kenlm.Model(str(ARPA)), total)


def ours(load) -> dict:
    from eigentext import KneserNey

    def total(model, unseen):
        return float(model.log_probabilities(unseen, rare=True).sum()) / math.log(10)

    with warnings.catch_warnings(action="ignore"):  # too little text
        KneserNey(3).fit([["to", "be"]]).log_probabilities([["to"]])  # compile
    return scored(load, total)


def from_arpa() -> dict:
    from eigentext import KneserNey

    return ours(lambda: KneserNey.from_arpa(ARPA))


def load() -> dict:
    import eigentext as et

    return ours(lambda: et.load(SAVED))


def to_arpa() -> dict:
    import eigentext as et

    model = et.load(SAVED)
    wall, cpu = time.perf_counter(), time.process_time()
    model.to_arpa(scratch("text8-5m.again.arpa"))
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


if __name__ == "__main__":
    about = "Trigrams of 5,000,000 words of text8 in lines of 50 words. Wall and CPU: to read the "
    about += "model, or to write it."
    if sys.argv[1:] == ["--prepare"]:
        prepare()
        sys.exit()
    if sys.argv[1:2] != ["--run"]:
        if not (ARPA.exists() and SAVED.exists() and UNSEEN.exists()):
            subprocess.run([sys.executable, __file__, "--prepare"], check=True)
        sizes = [f"{path.stat().st_size / 1e6:,.0f} MB" for path in (ARPA, SAVED)]
        about += f" The ARPA file has {sizes[0]}, the model file {sizes[1]}."
    main(
        "arpa",
        "ARPA files beside KenLM",
        {
            "kenlm.Model of an ARPA file": kenlm,
            "KneserNey.from_arpa": from_arpa,
            "eigentext.load": load,
            "KneserNey.to_arpa": to_arpa,
        },
        (Column("µs for a token", "time", "lower"), score("mean log10", "higher", digits=5)),
        repeats=3,
        about=about,
        peers=("kenlm",),
    )
