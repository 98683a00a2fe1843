"""Taggers of chunks and of names: what plain text is worth, beside CRFsuite and word2vec.

Run it with ``.venv/bin/python benchmarks/tagging.py [--task chunk|ner ...] [--only NAME ...]
[--split dev|test] [--curve]``; names are those of CONTESTANTS.

chunk  CoNLL-2000: learned from the 8,936 training sentences, scored on the 2,012 test sentences;
       dev: the last 936 of the training sentences, learned from the others.
ner    WNUT17: 3,394 sentences, scored on the 1,287 of the test part, or the 1,009 of dev.

Sources (see `_tagging`) are learned once from the same 43 million tokens of plain text, on all
cores. The plain text contains the words of the test parts, without their labels. word2vec is that
of gensim, with the same dimension. Each contestant runs in its own process, on one thread.
Perceptrons run five times with different seeds (three times if each is the mean of five runs); the
table has the means, and the standard deviation of F1. "error removed" compares with the first row
of the same kind. "CRFsuite AP" is CRFsuite's averaged perceptron on the same sparse features, given
as strings. Training goes from tagged sentences in memory to the tagger; a pass is timed by the
phase "train"; tagging goes from tokens to tags, all in Python lists. Memory is the peak of the
process.

With ``--curve`` F1 is measured by the number of labeled sentences instead, with and without plain
text: means of three draws (for all sentences: three orders); chunks as "bilou".
``docs/_results.py`` draws docs/tagging-curve.svg from the kept run.
"""

import argparse
import time
from typing import Any

import numpy as np

import eigentext as et
from _grammars import in_a_process, serve
from _harness import peak_bytes, scratch
from _record import Table, fact, record, score
from _tagging import LEARN, cost, source, tagged
from eigentext import engine

SEEDS = 5
ALL = {"vectors": "eigenwords", "clusters": "clusters", "eigentokens": "eigentokens"}
BILOU = {"scheme": "bilou"}
CONTESTANTS: dict[str, dict[str, Any]] = {
    "CRFsuite AP": {"peer": True},
    "perceptron": {},
    "+ word2vec": {"vectors": "word2vec"},
    "+ eigenwords": {"vectors": "eigenwords"},
    "+ clusters": {"clusters": "clusters"},
    "+ eigentokens": {"eigentokens": "eigentokens"},
    "+ states": {"states": "states"},
    "+ eigenwords, clusters, eigentokens": ALL,
    "5 runs": {"n_runs": 5},
    "5 runs + word2vec": {"n_runs": 5, "vectors": "word2vec"},
    "5 runs + eigenwords": {"n_runs": 5, "vectors": "eigenwords"},
    "5 runs + eigenwords, clusters, eigentokens": {"n_runs": 5, **ALL},
    "bilou": BILOU,
    "bilou + word2vec": {**BILOU, "vectors": "word2vec"},
    "bilou + eigenwords": {**BILOU, "vectors": "eigenwords"},
    "bilou + eigenwords, clusters, eigentokens": {**BILOU, **ALL},
    "bilou, 5 runs": {**BILOU, "n_runs": 5},
    "bilou, 5 runs + word2vec": {**BILOU, "n_runs": 5, "vectors": "word2vec"},
    "bilou, 5 runs + eigenwords, clusters, eigentokens": {**BILOU, "n_runs": 5, **ALL},
    "crf": {"model": "crf"},
    "crf + word2vec": {"model": "crf", "vectors": "word2vec"},
    "crf + eigenwords": {"model": "crf", "vectors": "eigenwords"},
}
C2 = {"chunk": 1.0, "ner": 0.01}  # chosen on dev among 1, .1, .03 and .01
SIZES = (100, 500, 2000, None)


# -- tasks, each in its own process ----------------------------------------------------------------


def parts(task: str, split: str) -> tuple[list[Any], list[Any]]:
    train = tagged(task, "train")
    if task == "chunk" and split == "dev":
        return train[:-936], train[-936:]
    return train, tagged(task, split)


def tagger(task: str, settings: dict[str, Any], seed: int = 0) -> et.Tagger:
    given = {name: source(value) if value in LEARN else value for name, value in settings.items()}
    return et.Tagger(**given, c2=C2[task], random_state=seed)


def figures(data: str, split: str, settings: dict[str, Any]) -> dict[str, Any]:
    engine.use(engine.ThreadEngine(1))
    train, test = parts(data, split)
    if settings.get("peer"):
        return crfsuite(train, test)
    models = [tagger(data, settings, seed) for seed in range(SEEDS)]
    if settings.get("model") == "crf":
        models = models[:1]
    if "n_runs" in settings:
        models = models[:3]
    models[0].__sklearn_clone__().set_params(model="perceptron").fit(train[:20]).evaluate(test[:20])
    rows = []
    for model in models:
        clock = Clock()
        start = time.process_time()
        with engine.report_to(clock):
            model.fit(train)
        fitted = time.process_time() - start
        words = [[token[:-1] for token in one] for one in test]
        start = time.process_time()
        model.tag(words)
        seconds = time.process_time() - start
        result = model.evaluate(test)
        n_passes = len(model.diagnostics_.get("wrong_tags", model.diagnostics_.get("loss", [])))
        speed = sum(map(len, words)) / seconds
        shares = (100 * result.f1, 100 * result.precision, 100 * result.recall)
        rows.append((*shares, fitted, clock.seconds["train"] / n_passes, speed))
    means = np.mean(rows, axis=0).tolist()
    deviation = float(np.std([row[0] for row in rows], ddof=1)) if len(rows) > 1 else None
    return {"means": means, "deviation": deviation, "MB": peak_bytes() / 1e6}


def crfsuite(train: list[Any], test: list[Any]) -> dict[str, Any]:
    """CRFsuite on the same templates as strings, ten passes; our own work is not timed."""
    import pycrfsuite

    from eigentext.evaluate import chunks

    model = et.Tagger().fit(train[:200])
    templates, columns = model._features.sparse, model._features

    def items(sentences: list[Any]) -> list[Any]:
        return [strings(one, templates, columns) for one in sentences]

    xs, ys = items(train), [[token[-1] for token in one] for one in train]
    n_epochs = 10
    start = time.process_time()
    trainer = pycrfsuite.Trainer("averaged-perceptron", {"max_iterations": n_epochs}, verbose=False)
    for x, y in zip(xs, ys):
        trainer.append(x, y)
    handed = time.process_time()
    path = str(scratch("ap.crfsuite"))
    trainer.train(path)
    trained = time.process_time()
    found = pycrfsuite.Tagger()
    found.open(path)
    test_items = items(test)
    begun = time.process_time()
    result = chunks(test, [found.tag(x) for x in test_items])
    speed = sum(map(len, test)) / (time.process_time() - begun)
    shares = [100 * result.f1, 100 * result.precision, 100 * result.recall]
    means = [*shares, trained - start, (trained - handed) / n_epochs, speed]
    return {"means": means, "deviation": None, "MB": peak_bytes() / 1e6}


def strings(sentence: Any, templates: list[Any], features: Any) -> list[list[str]]:
    """The features of each token as "number=value|value"."""
    names = dict(zip(features.symbols, features._attributes))
    value = {
        name: [function(token[column]) for token in sentence]
        for name, (column, function) in names.items()
    }
    n = len(sentence)

    def at(name: str, place: int) -> str:
        return value[name][place] if 0 <= place < n else "<s>" if place < 0 else "</s>"

    return [
        [
            f"{k}={'|'.join(at(name, t + offset) for name, offset in template)}"
            for k, template in enumerate(templates)
        ]
        for t in range(n)
    ]


def curve(data: str, settings: dict[str, Any]) -> list[float]:
    """F1 by the number of labeled sentences, drawn three times."""
    train, test = parts(data, "test")
    found = []
    for size in SIZES:
        scores = []
        for seed in range(3):
            order = np.random.default_rng(seed).permutation(len(train))[:size]
            model = tagger(data, settings, seed).fit([train[i] for i in order])
            scores.append(100 * model.evaluate(test).f1)
        found.append(float(np.mean(scores)))
    return found


class Clock:
    """Measures the CPU seconds of each phase."""

    def __init__(self):
        self.seconds: dict[str, float] = {}

    def started(self, phase) -> None:
        """Start the clock."""
        self._start = time.process_time()

    def advanced(self, phase) -> None:
        """Do nothing: only the ends of phases matter."""

    def finished(self, phase) -> None:
        """Keep what the phase took."""
        self.seconds[phase.name] = time.process_time() - self._start


# -- the tables ------------------------------------------------------------------------------------


def show(task: str, split: str, only: list[str]) -> Table:
    # F1 varies with the seed: by 0.05 points for chunks, by 0.7 for names.
    noise = {"chunk": 0.003, "ner": 0.06}[task]
    scores = [score(x, digits=2, tolerance=noise) for x in ("F1", "P", "R")]
    columns = (scores[0], fact("sd"), fact("error removed %"), *scores[1:])
    columns = (*columns, "train CPU s", "pass, CPU s", "tokens/s", "peak MB")
    table = Table(task, f"{TITLES[task]}, {split}, one thread", columns)
    base: dict[Any, float] = {}
    for name in only:
        settings = CONTESTANTS[name]
        row = in_a_process("figures", data=task, split=split, settings=settings)
        f1, precision, recall, fitted, a_pass, speed = row["means"]
        kind = tuple(settings.get(key) for key in ("model", "scheme", "n_runs"))
        removed = None
        if not settings.get("peer"):
            removed = 100 * (f1 - base[kind]) / (100 - base[kind]) if kind in base else None
            base.setdefault(kind, f1)
        cells = (f1, row["deviation"], removed, precision, recall, fitted, a_pass, speed, row["MB"])
        table.row(name, *cells)
    return table


def show_curves() -> Table:
    columns = [score(str(size or "all"), digits=2, tolerance=0.03) for size in SIZES]
    title = "F1 on the test part by labeled sentences"
    table = Table("curve", title, columns, ("task", "learned from"))
    for task in TITLES:
        scheme = BILOU if task == "chunk" else {}
        for name, settings in (("labels alone", {}), ("labels and plain text", ALL)):
            table.row(task, name, *in_a_process("curve", data=task, settings=scheme | settings))
    return table


def show_sources() -> Table:
    table = Table("sources", "Sources, all cores", ("wall s", "CPU s", "peak MB"), ("source",))
    for name in LEARN:
        in_a_process("learned", one_thread=False, name=name)
        table.row(name, *cost(name).values())
    return table


TITLES = {"chunk": "CoNLL-2000 chunks", "ner": "WNUT17 names"}
ABOUT = (
    "CoNLL-2000 chunks: 8,936 sentences to learn from and 2,012 to test on, with automatic parts "
    "of speech; WNUT17 names: 3,394 and 1,287, words alone. The plain text has 43 million tokens: "
    "text8-prefix, enwiki-30m, and the words of both tasks, test parts included, without labels."
)


def main() -> None:
    names = list(CONTESTANTS)
    options = argparse.ArgumentParser(description="What plain text is worth to taggers.")
    options.add_argument("--task", nargs="+", choices=C2, default=list(C2))
    options.add_argument("--split", choices=("dev", "test"), default="test")
    options.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME")
    options.add_argument("--curve", action="store_true", help="measure learning curves instead")
    asked = options.parse_args()
    sources = show_sources()
    peers = ("gensim", "python-crfsuite")
    if asked.curve:
        record("tagging_curve", "Learning curves", [show_curves()], about=ABOUT, peers=peers)
        return
    tables = [show(task, asked.split, asked.only) for task in asked.task]
    name = "tagging" if asked.split == "test" else "tagging_dev"
    record(name, "Tagging", [sources, *tables], about=ABOUT, peers=peers)


def learned(name: str) -> None:
    source(name)


if __name__ == "__main__" and not serve(figures, curve, learned):
    main()
