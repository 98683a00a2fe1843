"""Kneser-Ney of order 2 on Brown beside NLTK's: time, memory, microseconds to score a token.

Run it with ``.venv/bin/python benchmarks/kneser_ney.py``. NLTK scores 100 tokens, eigentext all
100,000 of the second half of the development part.
"""

import time
from itertools import pairwise

from _harness import main
from _record import Column, score
from bigram import split


def data():
    train, _, dev2, _ = split()
    counts: dict[str, int] = {}
    for word in train:
        counts[word] = counts.get(word, 0) + 1
    return train, dev2, {word for word, count in counts.items() if count > 1}


def ours() -> dict:
    from eigentext import KneserNey

    train, dev2, _ = data()
    KneserNey(2).fit(train[:1000])  # compile
    wall, cpu = time.perf_counter(), time.process_time()
    model = KneserNey(2, min_count=2).fit(train)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    started = time.perf_counter()
    perplexity = model.perplexity(dev2)
    each = 1e6 * (time.perf_counter() - started) / len(dev2)
    return {"wall": wall, "cpu": cpu, "µs for a token": each, "perplexity": perplexity}


def nltk() -> dict:
    from nltk.lm import KneserNeyInterpolated, Vocabulary
    from nltk.util import everygrams

    train, dev2, known = data()
    words = [word if word in known else "<UNK>" for word in train]
    wall, cpu = time.perf_counter(), time.process_time()
    model = KneserNeyInterpolated(2, vocabulary=Vocabulary(known))
    model.fit([list(everygrams(words, max_len=2))])
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    started = time.perf_counter()
    for before, word in pairwise(dev2[:101]):
        model.logscore(word, [before])
    each = 1e6 * (time.perf_counter() - started) / 100
    return {"wall": wall, "cpu": cpu, "µs for a token": each}


if __name__ == "__main__":
    main(
        "kneser_ney",
        "Kneser-Ney beside NLTK",
        {"NLTK KneserNeyInterpolated": nltk, "eigentext KneserNey": ours},
        (Column("µs for a token", "time", "lower"), score("perplexity", "lower")),
        repeats=1,
        about="Order 2, 800,000 tokens of Brown; perplexity on the second half of the development "
        "part.",
        peers=("nltk",),
    )
