"""Topics of 20 newsgroups and Reuters beside peers: held-out perplexity, coherence, time, memory.

Run it with ``.venv/bin/python benchmarks/topics.py [SET-K ...] [SYSTEM ...]``, where a set is
20news or reuters and K one of 20, 50 and 100 ("20news-20"); systems are those of `_topics.py`
("ours", "tomotopy", …), all by default: some hours, nearly all of them the peers'.

Words are runs of three letters or more in lower case without scikit-learn's English stop list,
those of 10 training documents or more and of at most a fifth of them, the 8,000 most frequent;
documents have 10 such words or more. Perplexity is that of document completion on the test part
(`completion_perplexity`: the same halves for all, alpha = 1 / K, topics mixed with 1% of the
uniform distribution). NPMI is of ten top words, over training documents; "distinct" is the share
of distinct words among the top words of all topics.
"""

import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import _harness
from _harness import DATA
from _topics import SYSTEMS
from eigentext import load_dataset
from eigentext.evaluate import coherence, completion_perplexity, distinct_words

SETS = [f"{name}-{K}" for name in ("20news", "reuters") for K in (20, 50, 100)]


def prepared(name: str):
    """Training and test documents as counts, and the words; kept in the temporary folder."""
    folder = Path(tempfile.gettempdir(), "eigentext-benchmarks", f"topics-{name}")
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

    os.environ.setdefault("EIGENTEXT_DATA", str(DATA))
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


def contestants(name: str, systems=tuple(SYSTEMS)) -> dict:
    return {f"{name}: {x}": lambda name=name, x=x: run(name, x) for x in systems}


if __name__ == "__main__":
    everybody = {key: fit for name in SETS for key, fit in contestants(name).items()}
    if len(sys.argv) > 1 and sys.argv[1] in everybody:
        _harness.main(everybody)
    else:
        asked, sys.argv = sys.argv[1:], sys.argv[:1]
        for source in ("20news", "reuters"):
            prepared(source)
        for name in [x for x in asked if x in SETS] or SETS:
            systems = [x for x in asked if x in SYSTEMS] or list(SYSTEMS)
            _harness.main(contestants(name, systems), repeats=1)
