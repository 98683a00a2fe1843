"""What the back-off of parsers is worth: F1, fallbacks and speed, without it and with it.

Run it with ``.venv/bin/python benchmarks/backoff.py``; it takes about ten minutes. Without the
back-off, a sentence that the grammar cannot parse gets a tree by the plain PCFG, or the largest
pieces side by side. Both columns come from the same fitted model and the same run. Sentences are
those of the dev and test parts (GUM: the first 600 of dev), and seconds are CPU seconds on one
thread.
"gain" is the difference of F1 with its 95% interval by the paired bootstrap.

- all: every sentence, learned from all trees;
- helped: only sentences that the grammar cannot parse, learned from the first 100, 300 and 1,000
  trees, because there are almost none with all trees. Milliseconds are those of the whole parse.
"""

import time
import warnings
from typing import Any

import eigentext as et
from _grammars import gold, trees, warm_parse
from _record import Table, fact, ratio, record, score
from eigentext import engine
from eigentext.evaluate import brackets, compare

MODELS: dict[str, Any] = {
    "PCFG": lambda: et.PCFG(),
    "spectral": lambda: et.LatentPCFG(n_jobs=1),
    "pivot": lambda: et.LatentPCFG(method="pivot", n_jobs=1),
    "em": lambda: et.LatentPCFG(method="em", n_jobs=1),
    "spectral+em": lambda: et.LatentPCFG(method="spectral+em", n_jobs=1),
}
FEW, FEW_MODELS = (100, 300, 1000), ("PCFG", "spectral", "em")
LIMIT = 600
CHOICES = ("without", "with")


def parsed(model: Any, sentences: list[list[str]]) -> dict[str, tuple[list[Any], float]]:
    """The parses without and with the back-off, and the CPU seconds of each."""
    found, cascade = {}, model._cascade
    chains = cascade.chains
    for choice in CHOICES:
        cascade.chains = chains if choice == "with" else None
        start = time.process_time()
        parses = list(model.parses(sentences, n_jobs=1))
        found[choice] = parses, time.process_time() - start
    return found


def gain(right: list[et.Tree], found: dict[str, tuple[list[Any], float]]) -> str:
    """The difference of F1 in percent, with its interval."""
    before, after = ([one.tree for one in found[choice][0]] for choice in CHOICES)
    told = compare(right, before, after)
    low, high = told.interval
    return f"{100 * told.difference:+.2f} ({100 * low:+.2f} to {100 * high:+.2f})"


def main() -> None:
    warnings.simplefilter("ignore")
    engine.use(engine.ThreadEngine(1))
    f1 = [score(f"F1 {choice}", digits=2) for choice in CHOICES]
    exact = [score(f"exact {choice}", digits=1, tolerance=0.05) for choice in CHOICES]
    every = Table("all", "All sentences", [
        fact("sentences"), *f1, fact("gain"), *exact,
        *(score(f"fallbacks {choice}", "lower", digits=0) for choice in CHOICES),
        "sentences/s", ratio("time with/without", "lower"),
    ], ["treebank", "parser"])  # fmt: skip
    helped = Table("helped", "Sentences that the grammar cannot parse", [
        fact("sentences"), *f1, fact("gain"), *exact,
        *(fact(f"ms {choice}") for choice in CHOICES),
    ], ["treebank", "trees", "parser"])  # fmt: skip
    for name in ("penn-sample", "gum"):
        right = [tree for split in ("dev", "test") for tree in gold(name, split)][:LIMIT]
        sentences, train = [tree.leaves() for tree in right], trees(name, "train")
        for size in (None, *FEW):
            for parser in MODELS if size is None else FEW_MODELS:
                model = MODELS[parser]().fit(train[:size])
                warm_parse(model, train[:100])
                found = parsed(model, sentences)
                if size is None:
                    every.row(name, parser, *_all(right, found))
                    continue
                lost = [n for n, one in enumerate(found["without"][0]) if one.fallback is not None]
                if lost:
                    some = [right[n] for n in lost]
                    again = parsed(model, [sentences[n] for n in lost])
                    ms = [1e3 * again[choice][1] / len(lost) for choice in CHOICES]
                    helped.row(name, size, parser, *_scores(some, again), *ms)
    about = (
        "Without the back-off, a sentence that the grammar cannot parse has a tree by the plain "
        "PCFG or in pieces. Both columns are of the same model in the same run. Sentences: dev and "
        f"test parts together, GUM: the first {LIMIT} of dev. In brackets: the 95% interval of the "
        "gain in F1 by the paired bootstrap. CPU seconds on one thread of a busy machine."
    )
    record("backoff", "The back-off of parsers", [every, helped], about=about)


def _scores(right: list[et.Tree], found: dict[str, tuple[list[Any], float]]) -> list[Any]:
    results = [brackets(right, [one.tree for one in found[choice][0]]) for choice in CHOICES]
    f1, exact = ([100 * getattr(one, name) for one in results] for name in ("f1", "exact"))
    return [len(right), *f1, gain(right, found), *exact]


def _all(right: list[et.Tree], found: dict[str, tuple[list[Any], float]]) -> list[Any]:
    fallbacks = [sum(one.fallback is not None for one in found[c][0]) for c in CHOICES]
    before, after = (found[choice][1] for choice in CHOICES)
    return [*_scores(right, found), *fallbacks, len(right) / after, after / before]


if __name__ == "__main__":
    main()
