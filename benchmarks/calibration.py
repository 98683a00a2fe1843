"""Are probabilities right? Calibration of spans of parsers, tags of taggers, and next words.

Run it with ``.venv/bin/python benchmarks/calibration.py [spans|tags|words ...]``; all takes about
ten minutes on two cores. ECE is the expected calibration error with 15 bins of equal width, in
percent, on data that the model was not learned from.

spans  The labeled spans of parsers, on the dev and test parts of the Penn sample, and on the first
       300 trees of both parts of GUM. "scores" are outside times inside, as the grammar gives them,
       cut off at 0 and 1; "usual" are the marginals of a parser that nobody calibrated;
       "calibrated" are those after ``calibrate`` on the other half of these trees, every second
       one. Answers are the spans that one of the three gives at least 0.01, the same ones for all.
       "above 1" is the percentage of sentences with a score above 1.
tags   The confidences of taggers on the test parts of CoNLL-2000 and WNUT17. "scores" have the
       temperature 1; "usual" have the temperature of the fit; "calibrated" are those after
       ``calibrate`` on the dev part, for CoNLL-2000 the last 936 training sentences, which are not
       learned from.
words  The next words of hidden Markov models of Brown, those of probability 0.01 or more.
"""

import argparse
import warnings
from typing import Any

import numpy as np

import eigentext as et
from _grammars import gold, trees
from _record import Table, fact, record, score
from _tagging import tagged
from eigentext.evaluate import Calibration, calibration, next_word_pairs, tag_pairs
from eigentext.evaluate.calibration import gold_brackets
from eigentext.grammars.spans import LabeledSpans, posteriors

PARSERS: dict[str, Any] = {
    "PCFG": lambda: et.PCFG(),
    "em": lambda: et.LatentPCFG(method="em"),
    "spectral": lambda: et.LatentPCFG(),
    "pivot": lambda: et.LatentPCFG(method="pivot"),
    "spectral+em": lambda: et.LatentPCFG(method="spectral+em"),
    "4 spectral+em": lambda: et.LatentPCFG(method="spectral+em", n_grammars=4),
}
TAGGERS: dict[str, Any] = {"perceptron": {}, "crf": {"model": "crf"}}
TREEBANKS = {"penn-sample": None, "gum": 300}  # trees of the dev and of the test part
KINDS = ("scores", "usual", "calibrated")
LEAST = 0.01
HELD_OUT = 936  # sentences of CoNLL-2000
STATES, TRAIN, TEST = 20, 20_000, 200  # of the models of Brown: states, sentences

ECE = """
    ECE is the expected calibration error with 15 bins of equal width, in percent, on data that the
    model was not learned from.
"""
ABOUT = {
    "spans": (
        "spans of parsers",
        """
        "scores" are what the grammar gives, cut off at 0 and 1; "usual" are the marginals of a
        parser that nobody calibrated; "calibrated" are those after calibrate() on the other half of
        the trees. All three are measured on the same spans, those to which one of them gives 0.01
        or more. "above 1" is the percentage of sentences with a score above 1. T: temperatures.
        Two choices were made with these trees in sight: calibrate() takes the best Brier score
        instead of the best likelihood, and halves of both parts are used instead of the dev part
        for calibration and the test part for measurement.
        """,
    ),
    "tags": (
        "tags of taggers",
        """
        "scores" have the temperature 1, "usual" that of the fit, and "calibrated" that of
        calibrate() on the dev part (CoNLL-2000: the last 936 training sentences, which are not
        learned from).
        """,
    ),
    "words": (
        "next words of hidden Markov models",
        """
        Answers are all words of probability 0.01 or more at each place of 200 sentences of Brown,
        by models of 20 states from 20,000 other sentences. They have no temperature.
        """,
    ),
}


class Report:
    """A table of errors, and a hidden one with the bins for the plot."""

    def __init__(self, name: str, title: str, labels: list[str], facts: list[str]):
        errors = [score(f"ECE {kind}", "lower", digits=2, tolerance=0.2) for kind in KINDS]
        brier = [score(f"Brier {kind}", "lower", digits=4, tolerance=0.05) for kind in KINDS]
        self.table = Table(name, title, [*errors, *brier, *map(fact, facts)], labels)
        bins = [fact("answers"), fact("probability"), fact("right")]
        self.bins = Table(f"{name}_bins", f"{title}: bins", bins, [*labels, "kind", "bin"],
                          silent=True, hidden=True)  # fmt: skip

    def row(self, labels: list[str], found: dict[str, Calibration], *facts: Any) -> None:
        """Add one model; a kind that it does not have is empty."""
        errors = [100 * found[kind].error if kind in found else None for kind in KINDS]
        brier = [found[kind].brier if kind in found else None for kind in KINDS]
        self.table.row(*labels, *errors, *brier, *facts)
        for kind, one in found.items():
            for n, part in enumerate(one.bins):
                if part.n:
                    self.bins.row(*labels, kind, n, part.n, part.probability, part.right)


def spans() -> list[Table]:
    labels, facts = ["treebank", "parser"], ["answers", "above 1", "usual T", "calibrated T"]
    report = Report("spans", "Spans of parsers", labels, facts)
    for name, limit in TREEBANKS.items():
        test = [tree for split in ("dev", "test") for tree in gold(name, split, limit)]
        for parser, make in PARSERS.items():
            model = make().fit(trees(name, "train"))
            usual, best = model.temperature_, []
            halves = []
            for first in (0, 1):
                best.append(model.calibrate(test[1 - first :: 2]).temperature_)
                halves.append(span_answers(model, test[first::2], usual))
            p, right = (np.concatenate(part, axis=-1) for part in list(zip(*halves))[:2])
            above = 100 * sum(half[2] for half in halves) / len(test)
            found = {kind: calibration(p[k], right) for k, kind in enumerate(KINDS)}
            report.row([name, parser], found, len(right), above, usual, float(np.mean(best)))
    return [report.table, report.bins]


def span_answers(
    model: Any, test: list[et.Tree], usual: float
) -> tuple[np.ndarray, np.ndarray, int]:
    """The probabilities of spans by kind, which spans are right, and sentences with a score > 1."""
    p, right, above = [], [], 0
    for tree in test:
        reading = model._read(tree.leaves())
        labeled = LabeledSpans.of(reading)
        kept = ~labeled.is_tag & [key[0] not in et.corpus.trees.ROOTS for key in labeled.keys]
        raw = labeled.sums(model._decoder.signed(reading.items, reading.sign))
        above += bool((raw > 1 + 1e-6).any())
        by_kind = np.stack([raw, *(
            labeled.sums(posteriors(reading, model._decoder, temperature))
            for temperature in (usual, model.temperature_)
        )])  # fmt: skip
        by_kind = np.clip(by_kind, 0.0, 1.0)
        kept &= (by_kind >= LEAST).any(axis=0)
        brackets = gold_brackets(tree)
        p.append(by_kind[:, kept])
        right += [key in brackets for key, use in zip(labeled.keys, kept) if use]
    return np.concatenate(p, axis=1), np.array(right), above


def tags() -> list[Table]:
    labels, facts = ["task", "tagger"], ["answers", "accuracy", "usual T", "calibrated T"]
    report = Report("tags", "Tags of taggers", labels, facts)
    for task in ("chunk", "ner"):
        train = tagged(task, "train")
        dev = train[-HELD_OUT:] if task == "chunk" else tagged(task, "dev")
        train = train[:-HELD_OUT] if task == "chunk" else train
        for name, parameters in TAGGERS.items():
            model = et.Tagger(**parameters).fit(train)
            temperatures = {"usual": model.temperature_, "scores": 1.0}
            temperatures["calibrated"] = model.calibrate(dev).temperature_
            found = {}
            for kind in KINDS:
                model.temperature_ = temperatures[kind]
                found[kind] = calibration(*tag_pairs(model, tagged(task, "test")))
            one = found["usual"]
            t = temperatures["usual"], temperatures["calibrated"]
            report.row([task, name], found, one.n, 100 * one.right, *t)
    return [report.table, report.bins]


def words() -> list[Table]:
    report = Report("words", "Next words of hidden Markov models", ["text", "method"], ["answers"])
    sentences = list(et.load_dataset("brown"))
    train, test = sentences[:TRAIN], sentences[TRAIN:][:TEST]
    for method in ("spectral", "em"):
        model = et.HMM(STATES, method=method).fit(train)
        one = calibration(*next_word_pairs(model, test, least=LEAST))
        report.row(["Brown", method], {"usual": one}, one.n)
    return [report.table, report.bins]


def main() -> None:
    sections = {"spans": spans, "tags": tags, "words": words}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("section", nargs="*", choices=[[], *sections])
    chosen = parser.parse_args().section or list(sections)
    warnings.simplefilter("ignore")
    for name in chosen:
        title, about = ABOUT[name]
        about = " ".join(f"{ECE} {about}".split())
        record(f"calibration_{name}", f"Calibration: {title}", sections[name](), about=about)


if __name__ == "__main__":
    main()
