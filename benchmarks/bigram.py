"""Table 2 of seed 003 on Brown, remade: the Saul-Pereira model by EM, by pivots, and by both.

Run it with ``.venv/bin/python benchmarks/bigram.py [m ...]``. Brown in the order of its files, case
kept, no borders of sentences: 800,000 tokens to learn from, 200,000 for development, the rest is
the test; words seen once are one rare word, which is not scored. The first half of development
chooses the step of EM, and of three random starts the best; the second half and the test are
reported. "smoothing 0" is plain EM, as in the paper; the same prior is given to all.

The constants of the pivot start (ridge, candidates, shrinkage, tempering) and `smoothing` were
chosen on the first half of development of this very corpus, with the second half in sight, among
about a thousand runs; EM has its three seeds. On other text expect a smaller difference.
"""

import os
import sys
import time
from itertools import pairwise

from _harness import DATA
from eigentext import BigramModel, KneserNey, NgramMoments, load_dataset
from eigentext.sequences import Interpolation

STATES = (2, 4, 8, 16, 32, 128, 256)
PAPER = {  # perplexity on the second half of development, and iterations
    "EM": dict(zip(STATES, ("737/14", "599/14", "488/19", "468/12", "430/10", "388/9", "365/8"))),
    "pivot": dict(zip(STATES, ("852", "718", "605", "559", "537", "426", "597"))),
    "pivot+EM": dict(zip(STATES, ("758/2", "582/3", "502/2", "425/1", "374/1", "310/1", "327/1"))),
}
SYSTEMS = {
    "EM, Dirichlet start": {"method": "em", "init": "dirichlet"},
    "EM, near-uniform start": {"method": "em", "init": "uniform"},
    "pivot": {"method": "pivot"},
    "pivot+EM": {"method": "pivot+em"},
}


def split():
    os.environ.setdefault("EIGENTEXT_DATA", str(DATA))
    tokens = [word for sentence in load_dataset("brown") for word in sentence]
    borders = (0, 800_000, 900_000, 1_000_000, len(tokens))
    return [tokens[a:b] for a, b in pairwise(borders)]


def run(moments, dev1, dev2, test, options: dict) -> dict:
    started = time.perf_counter()
    model = BigramModel(min_count=2, **options).fit_moments(moments, heldout=dev1)
    return {
        "seconds": time.perf_counter() - started,
        "dev1": min(model.history_["heldout_perplexity"]),
        "dev2": model.perplexity(dev2),
        "test": model.perplexity(test),
        "steps": model.n_iter_,
    }


def show(m, name, smoothing, runs: list[dict]) -> None:
    best = min(runs, key=lambda found: found["dev1"])
    paper = PAPER.get(name.split(",")[0], {}).get(m, "")
    others = " ".join(f"{found['dev2']:.0f}" for found in runs) if len(runs) > 1 else ""
    print(
        f"| {m:3} | {name:22} | {smoothing:9g} | {best['dev1']:5.1f} | {best['dev2']:5.1f} "
        f"| {best['test']:5.1f} | {best['steps']:5} | {best['seconds']:5.1f} | {others:11} "
        f"| {paper:6} |",
        flush=True,
    )


def main() -> None:
    states = [int(m) for m in sys.argv[1:]] or STATES
    train, *held = split()
    moments = NgramMoments.from_corpus(train, order=3, min_count=2)
    for order in (2, 3):
        started = time.perf_counter()
        model = KneserNey(order, min_count=2).fit_moments(moments)
        seconds = time.perf_counter() - started
        figures = "  ".join(f"{model.perplexity(text):.1f}" for text in held)
        print(f"Kneser-Ney, order {order}: dev1, dev2, test {figures}  ({seconds:.1f} s)")
    # Compile.
    for method in ("em", "pivot"):
        BigramModel(2, method=method, min_count=2).fit_moments(moments)
    print(
        "|   m | system                 | smoothing | dev1  | dev2  | test  | steps | s     ",
        end="",
    )
    print("| dev2, seeds | paper  |")
    print("|" + "---|" * 10)
    default = BigramModel().smoothing
    for m in states:
        for smoothing in (0, default):
            for name, options in SYSTEMS.items():
                seeds = range(3) if options["method"] == "em" else [0]
                runs = [
                    run(
                        moments,
                        *held,
                        {"n_states": m, "smoothing": smoothing, "random_state": seed, **options},
                    )
                    for seed in seeds
                ]
                show(m, name, smoothing, runs)
    mixture(moments, *held)


def mixture(moments, dev1, dev2, test) -> None:
    """The best latent model and n-grams together, with weights from the first half."""
    bigram = BigramModel(128, min_count=2).fit_moments(moments, heldout=dev1)
    for order in (2, 3):
        ngrams = KneserNey(order, min_count=2).fit_moments(moments)
        for by_count in (False, True):
            both = Interpolation([ngrams, bigram], by_count=by_count).fit(dev1)
            print(
                f"Kneser-Ney of order {order} and pivot+EM with 128 states"
                f"{', weights by count' if by_count else ''}: "
                f"dev2 {both.perplexity(dev2):.1f}, test {both.perplexity(test):.1f}"
            )


if __name__ == "__main__":
    main()
