"""Topics of 20 newsgroups and Reuters beside peers: held-out perplexity, coherence, time, memory.

Run it with ``.venv/bin/python benchmarks/topics.py [SET-K ...] [SYSTEM ...]``, where a set is
20news or reuters and K is 20, 50 or 100 ("20news-20"). Systems are those of `_topics.py`
("eigentext", "tomotopy", …). The default is all of them: some hours, nearly all of them for the
peers.

Words are runs of three letters or more in lower case, without scikit-learn's English stop list.
They occur in at least 10 training documents and in at most a fifth of them; the 8,000 most frequent
are taken. Documents have at least 10 of these words. Perplexity is that of document completion on
the test part (`completion_perplexity`: the same halves for all, alpha = 1 / K, topics mixed with 1%
of the uniform distribution). NPMI is that of ten top words, over training documents. "distinct" is
the share of distinct words among the top words of all topics.
"""

import sys

import numpy as np
import scipy.sparse as sp

import _harness
from _record import Table, record, score
from _topics import SYSTEMS
from eigentext import load_dataset
from eigentext.evaluate import coherence, completion_perplexity, distinct_words

SETS = [f"{name}-{K}" for name in ("20news", "reuters") for K in (20, 50, 100)]


def prepared(name: str):
    """Training and test documents as counts, and the words; kept in the temporary folder."""
    folder = _harness.scratch(f"topics-{name}")
    if not (folder / "words.txt").exists():
        folder.mkdir(parents=True, exist_ok=True)
        train, test, words = counted(name)
        sp.save_npz(folder / "train.npz", train)
        sp.save_npz(folder / "test.npz", test)
        (folder / "words.txt").write_text("\n".join(words))
    train, test = (sp.csr_array(sp.load_npz(folder / f"{x}.npz")) for x in ("train", "test"))
    return train, test, (folder / "words.txt").read_text().split("\n")


def counted(name: str):
    from sklearn.feature_extraction.text import CountVectorizer

    train, test = (load_dataset(name, split=split).texts for split in ("train", "test"))
    vectorizer = CountVectorizer(
        token_pattern="[a-z]{3,}", stop_words="english", min_df=10, max_df=0.2, max_features=8000
    )
    counts = [sp.csr_array(vectorizer.fit_transform(train)), vectorizer.transform(test)]
    train, test = (sp.csr_array(X)[np.asarray(X.sum(axis=1)).ravel() >= 10] for X in counts)
    return train, test, vectorizer.get_feature_names_out().tolist()


def run(name: str, system: str) -> dict:
    source, K = name.split("-")
    train, test, words = prepared(source)
    phi, cost = SYSTEMS[system](train, int(K), 0)
    top_words = [[words[w] for w in np.argsort(-topic, kind="stable")[:10]] for topic in phi]
    return cost | {
        "perplexity": completion_perplexity(phi, test, alpha=1 / int(K)).perplexity,
        "NPMI": coherence(top_words, train, words=words).mean,
        "distinct": distinct_words(top_words),
    }


def contestants(name: str) -> dict:
    return {f"{name}: {x}": lambda name=name, x=x: run(name, x) for x in SYSTEMS}


def main() -> None:
    asked = sys.argv[1:]
    if unknown := set(asked) - {*SETS, *SYSTEMS}:
        sys.exit(f"unknown: {unknown.pop()}. Sets: {', '.join(SETS)}; systems: {list(SYSTEMS)}")
    for source in ("20news", "reuters"):
        prepared(source)
    columns = (
        *(score("perplexity", "lower", digits=0), score("NPMI", digits=2, tolerance=0.05)),
        *(score("distinct", digits=2, tolerance=0.03), "CPU s", "peak MB"),
    )
    table = Table("topics", "Topics of documents", columns, ("data", "K", "system"))
    for name in [x for x in asked if x in SETS] or SETS:
        for system in [x for x in asked if x in SYSTEMS] or SYSTEMS:
            found = _harness.measured(f"{name}: {system}")
            scores = (found["figures"][key] for key in ("perplexity", "NPMI", "distinct"))
            source, _, K = name.partition("-")
            table.row(source, int(K), system, *scores, found["cpu"], found["peak"] / 1e6)
    record(
        "topics",
        "Topics of newsgroups and Reuters",
        [table],
        about="20 newsgroups: 9,645 documents to learn from and 6,300 to test on (headers, footers "
        "and quotes are cut); Reuters: 8,374 and 2,779 (ModApte); 8,000 words at most. Held-out "
        "perplexity by document completion (alpha = 1/K for all), NPMI of ten top words on the "
        "training part, the share of distinct top words, CPU seconds of the fit.",
        peers=("tomotopy", "gensim"),
    )


if __name__ == "__main__" and not _harness.serve(
    {key: fit for name in SETS for key, fit in contestants(name).items()}
):
    main()
