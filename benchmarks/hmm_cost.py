"""What hidden Markov models cost: passes, CPU seconds, memory, and what they reach.

Run it with ``.venv/bin/python benchmarks/hmm_cost.py [SET ...]``; all sets take about four minutes
of one core, most of it for hmmlearn. SET is one of

- wiki: 50,000 sentences of Wikipedia (enwiki-30m, cut after ``.``, ``!`` and ``?``), the 5,000 most
  frequent words, 20 states; 5,000 more sentences are held out, and rare words count;
- words, tags, singular, well: those of ``hmm.py``, 10 states.

Every system has a process of its own and one thread. hmmlearn makes 20 passes, on wiki only. Memory
is the peak of the process, with the text. "counts alone" is ``spectral+em`` with ``n_iter=0``: it
never sees the sequences. "one pass" has ``n_iter=1``.
"""

import lzma
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import _harness
import hmm as base
from _record import Table, fact, record, score
from eigentext import HMM, engine

SETS = ("wiki", "words", "tags", "singular", "well")
SYSTEMS = {
    "spectral": {"method": "spectral"},
    "spectral+em, counts alone": {"method": "spectral+em", "n_iter": 0},
    "spectral+em, one pass": {"method": "spectral+em", "n_iter": 1},
    "spectral+em": {"method": "spectral+em"},
    "em": {"method": "em"},
}
N_TRAIN, N_TEST = 50_000, 5_000
PASSES = 20  # of hmmlearn


def sentences(n: int) -> list[str]:
    """The first sentences of Wikipedia."""
    found: list[str] = []
    with lzma.open(_harness.data("text/enwiki-30m.tok.txt.xz"), "rt", encoding="utf-8") as lines:
        for line in lines:
            sentence: list[str] = []
            for word in line.split():
                sentence.append(word)
                if word in (".", "!", "?"):
                    found.append(" ".join(sentence))
                    sentence = []
            if sentence:
                found.append(" ".join(sentence))
            if len(found) >= n:
                return found[:n]
    return found


def wiki() -> tuple[str, list[list[str]]]:
    """A file with the sentences to learn from, and the held-out sentences."""
    train, test = _harness.scratch("hmm-cost-train.txt"), _harness.scratch("hmm-cost-test.txt")
    if not test.exists():
        all_ = sentences(N_TRAIN + N_TEST)
        train.write_text("\n".join(all_[:N_TRAIN]) + "\n", encoding="utf-8")
        test.write_text("\n".join(all_[N_TRAIN:]) + "\n", encoding="utf-8")
    return str(train), [line.split() for line in test.read_text(encoding="utf-8").splitlines()]


def ours(name: str, system: str) -> dict:
    warnings.simplefilter("ignore")
    m, limits = (20, {"max_size": 5000}) if name == "wiki" else (base.M, {})
    train, test = wiki() if name == "wiki" else base.data(name)
    with engine.use(engine.ThreadEngine(1)):
        HMM(2, **SYSTEMS[system]).fit([[0, 1, 0, 1, 1, 0]] * 30)  # compile
        wall, cpu = time.perf_counter(), time.process_time()
        fitted = HMM(m, **SYSTEMS[system], **limits).fit(train)
        cost = base.since(wall, cpu)
        if name == "wiki":
            logs = fitted.log_probabilities(test, rare=True)
            found = {"log-likelihood": float(np.mean(logs))}
        else:
            found = base.figures(fitted, name, test)
    about = fitted.diagnostics_
    facts = {"passes": about.get("passes", 0.0), "trained": about.get("log_likelihood")}
    return cost | facts | {key: found.get(key) for key in ("log-likelihood", "L1 triples")}


def numbers() -> Path:
    """A file with the words as numbers, which hmmlearn needs. The clock starts after it."""
    file = _harness.scratch("hmm-cost-ids.npz")
    if not file.exists():
        path, test = wiki()
        train = [line.split() for line in Path(path).read_text(encoding="utf-8").splitlines()]
        words, counts = np.unique([word for s in train for word in s], return_counts=True)
        top = words[np.argsort(-counts, kind="stable")[:5000]].tolist()
        ids = {word: i for i, word in enumerate(top)}
        parts = {}
        for name, part in (("train", train), ("test", test)):
            parts[name] = np.array([ids.get(word, len(ids)) for s in part for word in s])
            parts[f"{name}_lengths"] = np.array([len(s) for s in part])
        np.savez(file, **parts)
    return file


def hmmlearn() -> dict:
    """One random start of hmmlearn."""
    from hmmlearn.hmm import CategoricalHMM

    with np.load(numbers()) as file:
        given = dict(file)
    wall, cpu = time.perf_counter(), time.process_time()
    options = {"implementation": "scaling", "tol": 0, "random_state": 0}
    peer = CategoricalHMM(20, n_features=5001, n_iter=PASSES, **options)
    peer.fit(given["train"][:, None], given["train_lengths"])
    cost = base.since(wall, cpu)
    value = peer.score(given["test"][:, None], given["test_lengths"]) / len(given["test"])
    return cost | {"passes": PASSES, "log-likelihood": float(value)}


def contestants(name: str) -> dict:
    found = {f"{name}: {s}": (lambda s=s: ours(name, s)) for s in SYSTEMS}
    if name == "wiki":
        found["wiki: hmmlearn"] = hmmlearn
    return found


def main() -> None:
    asked = sys.argv[1:] or SETS
    columns = (
        *("CPU s", "peak MB", fact("passes")),
        score("trained", digits=4, tolerance=0.002),
        score("held out", digits=4, tolerance=0.002),
        score("L1 triples", "lower", digits=3),
    )
    table = Table("cost", "Cost and log-likelihood per token", columns, ("data", "system"))
    for name in asked:
        if name == "wiki":
            numbers()
        for key in contestants(name):
            try:
                found = _harness.measured(key)
            except Exception as error:  # hmmlearn may not be installed
                print(key, "failed:", error)
                continue
            figures = found["figures"]
            cost = found["cpu"], found["peak"] / 1e6, figures.get("passes")
            keys = ("trained", "log-likelihood", "L1 triples")
            table.row(name, key.partition(": ")[2], *cost, *map(figures.get, keys))
    record(
        "hmm_cost",
        "What hidden Markov models cost",
        [table],
        about="wiki: 50,000 sentences of Wikipedia, 5,000 words and one for the rare ones, 20 "
        "states. words, tags: 50,000 sentences of Brown, 10 states; held-out words leave out the "
        "rare ones. singular, well: drawn from models of 10 states. One thread. The memory is the "
        "peak of a process, with the text.",
        peers=("hmmlearn",),
    )


if __name__ == "__main__" and not _harness.serve(
    {key: run for name in SETS for key, run in contestants(name).items()}
):
    main()
