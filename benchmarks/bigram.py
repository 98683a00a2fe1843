"""The Saul-Pereira bigram model on Brown by EM, by pivots, and by both: table 2 of the paper.

Run it with ``.venv/bin/python benchmarks/bigram.py [m ...]``. The paper is [Cohen and Collins
2014]. Brown is read in the order of its files, with case and without sentence boundaries: 800,000
tokens to learn from, 200,000 for development, the rest for the test. Words seen once become one
rare word, which is not scored. The first half of the development part chooses the number of EM
steps, and the best of three random starts. The second half and the test are reported. "smoothing 0"
is plain EM, as in the paper; all systems get the same prior.

The constants of the pivot start (ridge, candidates, shrinkage, tempering) and `smoothing` were
chosen on the first half of the development part of this very corpus, with the second half in sight,
among about a thousand runs. EM has three random seeds. Expect a smaller difference on other text.
"""

import sys
import time
from itertools import pairwise

from _record import Table, fact, record, score
from eigentext import BigramModel, KneserNey, NgramMoments, load_dataset
from eigentext.sequences import Interpolation

STATES = (2, 4, 8, 16, 32, 128, 256)
PAPER = {  # perplexity on the second half of development, and iterations
    "EM": dict(zip(STATES, ("737/14", "599/14", "488/19", "468/12", "430/10", "388/9", "365/8"))),
    "pivot": dict(zip(STATES, ("852", "718", "605", "559", "537", "426", "597"))),
    "pivot+EM": dict(zip(STATES, ("758/2", "582/3", "502/2", "425/1", "374/1", "310/1", "327/1"))),
}
PERPLEXITIES = (score("dev2", "lower", digits=1), score("test", "lower", digits=1))
SYSTEMS = {
    "EM, Dirichlet start": {"method": "em", "init": "dirichlet"},
    "EM, near-uniform start": {"method": "em", "init": "uniform"},
    "pivot": {"method": "pivot"},
    "pivot+EM": {"method": "pivot+em"},
}


def split():
    tokens = [word for sentence in load_dataset("brown") for word in sentence]
    borders = (0, 800_000, 900_000, 1_000_000, len(tokens))
    return [tokens[a:b] for a, b in pairwise(borders)]


def run(moments, dev1, dev2, test, options: dict) -> dict:
    started = time.perf_counter()
    model = BigramModel(min_count=2, **options).fit_moments(moments, validation=dev1)
    return {
        "seconds": time.perf_counter() - started,
        "dev1": min(model.history_["heldout_perplexity"]),
        "dev2": model.perplexity(dev2),
        "test": model.perplexity(test),
        "steps": model.n_iter_,
    }


def main() -> None:
    states = [int(m) for m in sys.argv[1:]] or STATES
    train, *held = split()
    moments = NgramMoments.from_corpus(train, order=3, min_count=2)
    ngrams = Table("ngrams", "N-grams and mixtures", (*PERPLEXITIES, "s"))
    for order in (2, 3):
        started = time.perf_counter()
        model = KneserNey(order, min_count=2).fit_moments(moments)
        seconds = time.perf_counter() - started
        ngrams.row(f"Kneser-Ney, order {order}", *(model.perplexity(x) for x in held[1:]), seconds)
    for method in ("em", "pivot"):  # compile
        BigramModel(2, method=method, min_count=2).fit_moments(moments)
    columns = (*PERPLEXITIES, fact("EM steps"), "s", fact("dev2 of each seed"), fact("paper"))
    table = Table("states", "Perplexity by states", columns, ("m", "system", "smoothing"))
    default = BigramModel().smoothing
    for m in states:
        for smoothing in (0, default):
            for name, options in SYSTEMS.items():
                seeds = range(3) if options["method"] == "em" else [0]
                given = {"n_states": m, "smoothing": smoothing, **options}
                runs = [run(moments, *held, {**given, "random_state": seed}) for seed in seeds]
                add(table, m, name, smoothing, runs)
    mixture(ngrams, moments, *held)
    record(
        "bigram",
        "The bigram model of Saul and Pereira",
        [table, ngrams],
        about="Brown: 800,000 tokens to learn from, 24,537 words. Perplexity on the second half of "
        'the development part ("dev2") and on the test. The first half chooses the number of EM '
        'steps and, for EM, the best of three seeds. "paper" is what [Cohen and Collins 2014] '
        "report for dev2 and the steps.",
    )


def add(table: Table, m: int, name: str, smoothing: float, runs: list[dict]) -> None:
    """Add the best run, by the first half of the development part."""
    best = min(runs, key=lambda found: found["dev1"])
    paper = PAPER.get(name.split(",")[0], {}).get(m)
    others = " ".join(f"{found['dev2']:.0f}" for found in runs) if len(runs) > 1 else None
    figures = (best[key] for key in ("dev2", "test", "steps", "seconds"))
    table.row(m, name, f"{smoothing:g}", *figures, others, paper)


def mixture(table: Table, moments, dev1, dev2, test) -> None:
    """Add mixtures of the best latent model and n-grams; their weights come from the first half."""
    bigram = BigramModel(128, min_count=2).fit_moments(moments, validation=dev1)
    for order in (2, 3):
        ngrams = KneserNey(order, min_count=2).fit_moments(moments)
        for by_count in (False, True):
            both = Interpolation([ngrams, bigram], by_count=by_count).fit(dev1)
            name = f"order {order} and pivot+EM (m = 128)"
            name += ", weights by the count of the previous word" if by_count else ""
            table.row(name, both.perplexity(dev2), both.perplexity(test), None)


if __name__ == "__main__":
    main()
