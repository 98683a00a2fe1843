"""How long a service waits for one answer, and how many answers it gets in a batch.

Run it with ``.venv/bin/python benchmarks/latency.py [--quick]``, two minutes. It learns a chunker
of words (CoNLL-2000) and two grammars (the Penn treebank sample), saves and loads them, and asks
about sentences that they have not seen, as raw text. The median and the 95th percentile are those
of many calls with one sentence, on one thread. A batch has all of the sentences in one call, on all
cores. All times are CPU times, which other programs on the machine hardly change.
"""

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import eigentext as et
from _record import Column, Table, record
from eigentext.engine import ThreadEngine

COLUMNS = [
    "median ms",
    "95th percentile ms",
    Column("batch, sentences a second and core", "rate", "higher"),
]


def measured(
    texts: list[str], one: Callable[[str], Any], batch: Callable[[list[str]], Any]
) -> tuple[float, float, float]:
    """The median and 95th percentile of single calls, and sentences a second in a batch."""
    one(texts[0])  # loops are compiled or loaded here
    batch(texts[:4])
    times = []
    with et.use(ThreadEngine(1)):
        for text in texts:
            start = time.process_time()
            one(text)
            times.append(time.process_time() - start)
    start = time.process_time()
    batch(texts)
    rate = len(texts) / (time.process_time() - start)
    return 1000 * float(np.median(times)), 1000 * float(np.quantile(times, 0.95)), rate


def reloaded(model: Any) -> Any:
    """The model as a service has it."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder, "model"))
        return et.load(Path(folder, "model"))


def raw(tokens: list[str]) -> str:
    """Tokens as a person would write them, as far as this matters here."""
    text = " ".join(tokens)
    for sign in (".", ",", ";", ":", "?", "!", "n't", "'s"):
        text = text.replace(f" {sign}", sign)
    return text


def taggers(table: Table, n: int) -> None:
    """Spans of chunks."""
    train = [
        [(word, label) for word, _, label in sentence]
        for sentence in et.load_dataset("conll2000", split="train")
    ]
    test = [[token[0] for token in one] for one in et.load_dataset("conll2000", split="test")]
    texts = [raw(one) for one in test[:n]]
    size = float(np.mean([len(one) for one in test[:n]]))
    tagger = reloaded(et.Tagger(n_epochs=5).fit(train))
    ways: dict[str, tuple[Callable[[str], Any], Callable[[list[str]], Any]]] = {
        "Tagger.tag": (lambda text: tagger.tag([text]), tagger.tag),
        "Tagger.spans": (tagger.spans, tagger.spans_many),
    }
    for name, way in ways.items():
        table.row(name, f"{size:.0f} on average", *measured(texts, *way))


def parsers(table: Table, n: int) -> None:
    """Trees of short, usual and long sentences."""
    trees = et.load_dataset("penn-sample")
    train, test = trees[:-400], [et.normalize_tree(tree).leaves() for tree in trees[-400:]]
    models = {
        "PCFG.parse": et.PCFG(),
        "LatentPCFG(8).parse": et.LatentPCFG(8, method="spectral"),
    }
    for name, model in models.items():
        parser = reloaded(model.fit(train))
        for low, high in ((1, 10), (11, 25), (26, 40)):
            texts = [raw(one) for one in test if low <= len(one) <= high][:n]
            many = partial(_parsed, parser)
            table.row(name, f"{low} to {high}", *measured(texts, lambda x, f=many: f([x]), many))


def _parsed(parser: Any, texts: list[str]) -> list[Any]:
    return list(parser.parses(texts))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="a few sentences, to see if it runs")
    quick = options.parse_args().quick
    warnings.simplefilter("ignore")
    table = Table(
        "latency",
        "Latency of one sentence, and throughput of a batch",
        COLUMNS,
        labels=("call", "tokens of a sentence"),
    )
    taggers(table, 20 if quick else 1000)
    parsers(table, 4 if quick else 100)
    about = (
        "A chunker of words (CoNLL-2000, perceptron) and grammars of the Penn treebank sample, "
        "loaded from files. The median and the 95th percentile of calls with one sentence of raw "
        "text, on one thread. Batch: one call with all sentences. CPU times."
    )
    record("latency", "Latency of services", [table], about=about)


if __name__ == "__main__":
    main()
