"""Topics from anchors, with and without weights of documents, rectification and EM.

Run it with ``.venv/bin/python benchmarks/topics_anchors.py [SET-K ...]``, where a set is 20news or
reuters and K is 20 or 50 ("20news-20"). The default is all four: about two minutes.

Documents, words, perplexity, NPMI and distinct top words are those of `topics.py`. NMI is the
normalized mutual information of the largest topic of a test document and its label (the newsgroup,
or the first topic of a Reuters story). "Arora" is the method of Arora et al. (2013), on points in K
dimensions. "before" is what `method="anchors"` was before: the same with three refits of
the corners.
"""

import sys
import warnings

import numpy as np
import scipy.sparse as sp

import _harness
from _record import Table, record, score
from _topics import Clock
from eigentext import TopicModel, load_dataset
from eigentext.evaluate import coherence, completion_perplexity, distinct_words
from topics import prepared

SETS = [f"{name}-{K}" for name in ("20news", "reuters") for K in (20, 50)]
_PLAIN = {"robust": 0.0, "rectify": False}
SYSTEMS = {
    "before": None,
    "Arora": {"refine": 0, **_PLAIN},
    "leverage": {"refine": 0, "rectify": False},
    "rectified": {"refine": 0, "robust": 0.0},
    "both": {"refine": 0},
    "Arora, EM": _PLAIN,
    "both, EM": {},
    "tensor": {"method": "tensor", "refine": 0},
    "tensor, EM": {"method": "tensor"},
}


def labels_of(name: str) -> np.ndarray:
    """The label of each test document of `topics.prepared`, which leaves short ones out."""
    from sklearn.feature_extraction.text import CountVectorizer

    _, _, words = prepared(name)
    split = load_dataset(name, split="test")
    counts = CountVectorizer(token_pattern="[a-z]{3,}", vocabulary=words).transform(split.texts)
    first = [one if isinstance(one, str) else (one[0] if one else "") for one in split.labels]
    return np.array(first)[np.asarray(counts.sum(axis=1)).ravel() >= 10]


def fitted(X: sp.csr_array, K: int, system: str):
    """The weights and the topics."""
    from eigentext.topics.anchors import anchor_topics

    options = SYSTEMS[system]
    if options is None:
        found = anchor_topics(X, K)
        return found.weights, found.components
    model = TopicModel(K, **{"method": "anchors"} | options).fit(X)
    return model.weights_, model.components_


def run(name: str, system: str) -> dict:
    """Fit, and score on the test part."""
    from sklearn.metrics import normalized_mutual_info_score

    from eigentext.topics.inference import topic_proportions

    warnings.simplefilter("ignore")
    source, K = name.split("-")
    train, test, words = prepared(source)
    fitted(sp.csr_array(np.random.default_rng(0).poisson(1.0, (50, 20))), 2, system)  # compile
    clock = Clock()
    weights, phi = fitted(train, int(K), system)
    cost = clock.read()
    top_words = [[words[w] for w in np.argsort(-topic, kind="stable")[:10]] for topic in phi]
    largest = topic_proportions(test, phi, weights, 1.0).argmax(axis=1)
    return cost | {
        "perplexity": completion_perplexity(phi, test, alpha=1 / int(K)).perplexity,
        "NPMI": coherence(top_words, train, words=words).mean,
        "distinct": distinct_words(top_words),
        "NMI": float(normalized_mutual_info_score(labels_of(source), largest)),
    }


def main() -> None:
    asked = sys.argv[1:] or SETS
    if unknown := set(asked) - set(SETS):
        sys.exit(f"unknown: {unknown.pop()}. Sets: {', '.join(SETS)}")
    for source in ("20news", "reuters"):
        prepared(source)
    columns = (
        *(score("perplexity", "lower", digits=0), score("NPMI", digits=3, tolerance=0.05)),
        *(score("distinct", digits=2, tolerance=0.03), score("NMI", digits=3, tolerance=0.03)),
        *("CPU s", "peak MB"),
    )
    table = Table("anchors", "Topics from anchors", columns, ("data", "K", "method"))
    for name in asked:
        for system in SYSTEMS:
            found = _harness.measured(f"{name}: {system}")
            scores = (found["figures"][x] for x in ("perplexity", "NPMI", "distinct", "NMI"))
            source, _, K = name.partition("-")
            table.row(source, int(K), system, *scores, found["cpu"], found["peak"] / 1e6)
    record(
        "topics_anchors",
        "Topics from anchors",
        [table],
        about="Documents, words and scores as in the table of newsgroups and Reuters above. NMI is "
        "that of the largest topic of a test document and its label. leverage: documents are "
        "weighted (robust); rectified: negative entries are removed from the part of rank K of the "
        "pair moment (rectify); both: the default without EM. Arora: the method of Arora et al. "
        "(2013); before: the same with three refits of corners, which was the default before.",
    )


if __name__ == "__main__" and not _harness.serve(
    {f"{x}: {y}": lambda x=x, y=y: run(x, y) for x in SETS for y in SYSTEMS}
):
    main()
