"""alpha0 and the number of topics, chosen: the grid, the moments and given values side by side.

Run it with ``.venv/bin/python benchmarks/topics_choice.py [SET-K ...]``, where a set is 20news,
reuters or drawn and K is 20 or 50 (the default is all of them), or "auto" for numbers of topics.
20 newsgroups and Reuters are those of `topics.py`. "drawn" has 10,000 documents of 60 words to
learn from and 2,000 to test on, drawn from K topics over 2,000 words, with alpha0 = 1. Perplexity
is that of document completion with the prior that the model learned. NPMI is that of ten top words.
"""

import sys
import time

import numpy as np
import scipy.sparse as sp

from _record import Table, fact, record, score
from eigentext import TopicModel
from eigentext.evaluate import coherence, completion_perplexity
from topics import prepared

SETS = [f"{name}-{K}" for name in ("drawn", "20news", "reuters") for K in (20, 50)]
WAYS = (0.1, 1.0, 10.0, "auto", "moments")


def drawn(K: int, n: int = 12_000, seed: int = 0):
    """Documents drawn from K topics, to learn from and to test on, and the words."""
    rng = np.random.default_rng([K, seed])
    topics = rng.dirichlet(np.full(2000, 0.1), K)
    shares = rng.dirichlet(rng.dirichlet(np.full(K, 5.0)), n)
    X = sp.csr_array(rng.multinomial(60, shares @ topics))
    return X[:-2000], X[-2000:], list(map(str, range(2000)))


def data(name: str, K: int):
    return drawn(K) if name == "drawn" else prepared(name)


def alpha0s(table: Table, name: str, K: int) -> None:
    train, test, words = data(name, K)
    TopicModel(5, refine=1).fit(train[:500])  # compiles
    for way in WAYS:
        start = time.process_time()
        model = TopicModel(K, alpha0=way).fit(train)
        cpu = time.process_time() - start
        top = [[words[w] for w in np.argsort(-row)[:10]] for row in model.components_]
        perplexity = completion_perplexity(model.components_, test, alpha=model.alpha_).perplexity
        npmi = coherence(top, train, words=words).mean
        table.row(name, K, str(way), round(model.alpha0_, 3), perplexity, npmi, cpu)


def numbers(table: Table) -> None:
    sets = [(f"drawn, K = {K}", drawn(K, 5000)[0]) for K in (5, 10, 20)]
    sets += [(name, prepared(name)[0]) for name in ("20news", "reuters")]
    for name, train in sets:
        start = time.process_time()
        model = TopicModel("auto").fit(train)
        cpu, choice = time.process_time() - start, model.diagnostics_["n_topics"]
        curve = ", ".join(f"{one['n_topics']}: {one['perplexity']:.0f}" for one in choice["tried"])
        table.row(name, model.n_topics_, choice["n_above_noise"], curve, cpu)


def main() -> None:
    asked = sys.argv[1:] or [*SETS, "auto"]
    if unknown := set(asked) - {*SETS, "auto"}:
        sys.exit(f"unknown: {unknown.pop()}. Sets: {', '.join(SETS)}, auto")
    columns = (fact("alpha0"), score("perplexity", "lower", digits=0))
    columns = (*columns, score("NPMI", digits=2, tolerance=0.05), "CPU s")
    by_alpha0 = Table("alpha0", "alpha0, given and chosen", columns, ("data", "K", "given"))
    columns = (fact("K"), fact("above noise"), fact("perplexities"), "CPU s")
    by_number = Table("n_topics", "The number of topics", columns, ("data",))
    for name in asked:
        if name == "auto":
            numbers(by_number)
        else:
            source, _, K = name.partition("-")
            alpha0s(by_alpha0, source, int(K))
    tables = [table for table in (by_alpha0, by_number) if table.rows]
    record("topics_choice", "alpha0 and the number of topics, chosen", tables, about=__doc__)


if __name__ == "__main__":
    main()
