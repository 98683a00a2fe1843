"""Which words of a topic to show: coherence, distinct words and intruders of each ranking.

Run it with ``.venv/bin/python benchmarks/topics_ranking.py [SET-K ...]``, where a set is 20news or
reuters and K is 20, 50 or 100 ("20news-20"). It takes a few minutes.

Words occur in at least 10 training documents and in at most a fifth of them, without English stop
words. All rankings show the same topics, those of ``TopicModel(K)`` and of
``TopicModel(K, method="anchors")``. Words are looked up in one half of the test documents (the odd
ones), which played no part in learning. The ranking "distinctive" and its two constants were chosen
on the other half (``--chosen``), among about a hundred.

NPMI is that of ten words. "distinct" is the share of distinct words among the ten words of all
topics. "intruders" is the share of the words of another topic that are recognized among five words
of a topic (`word_intrusion`). "merged" is the default of ``top_words``: "distinctive", with the
forms of a word shown as one, under its most frequent form. NMF is scikit-learn's, of tf-idf, with
its own topics, for K = 20.
"""

import sys
import warnings

import numpy as np

from _record import Table, fact, record, score
from eigentext import DocumentMoments, TopicModel, load_dataset
from eigentext.evaluate import coherence, distinct_words, word_intrusion
from eigentext.moments import document_counts
from eigentext.topics import ranking
from eigentext.topics.parameters import RANK

SETS = [f"{name}-{K}" for name in ("20news", "reuters") for K in (20, 50, 100)]
_LIMITS = {"min_df": 10, "max_df": 0.2, "stop_words": "english"}
_LISTED = 50  # words that are too near to a topic to be its intruders
_NMF = "NMF of tf-idf"


def shown(moments: DocumentMoments, K: int):
    """The words of the topics, by method and ranking."""
    for method in ("tensor", "anchors"):
        model = TopicModel(K, method=method).fit_moments(moments)
        for rank in RANK.of:
            yield method, rank, model.top_words(_LISTED, rank=rank)
        yield method, "merged", model.top_words(_LISTED)


def nmf(moments: DocumentMoments, K: int) -> list[list[str]]:
    from sklearn.decomposition import NMF
    from sklearn.feature_extraction.text import TfidfTransformer

    weighted = TfidfTransformer().fit_transform(moments.counts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it stops after 200 steps
        found = NMF(K, init="nndsvd", random_state=0).fit(weighted).components_
    order = ranking.order(found, np.ones(K), np.ones(found.shape[1]), _LISTED, "probability")
    return [[moments.vocabulary.words[word] for word in topic] for topic in order.tolist()]


def scores(top: list[list[str]], X, words: list[str]) -> list[float]:
    ten = [topic[:10] for topic in top]
    found = word_intrusion(top, X, words=words)
    return [coherence(ten, X, words=words).mean, distinct_words(ten), found.mean]


def main() -> None:
    asked = [name for name in sys.argv[1:] if name != "--chosen"] or SETS
    half = 0 if "--chosen" in sys.argv else 1
    if unknown := set(asked) - set(SETS):
        sys.exit(f"unknown: {unknown.pop()}. Sets: {', '.join(SETS)}")
    columns = (
        *(score("NPMI", digits=3, tolerance=0.05), score("distinct", digits=2, tolerance=0.03)),
        score("intruders", digits=2, tolerance=0.05),
    )
    table = Table("rankings", "Rankings of words", columns, ("data", "K", "method", "ranking"))
    every: dict[tuple[str, str], list[list[float]]] = {}
    for name in asked:
        source, _, K = name.partition("-")
        train, test = (load_dataset(source, split=split).texts for split in ("train", "test"))
        moments = DocumentMoments.from_corpus(train, **_LIMITS)
        X = document_counts(test, moments.vocabulary, moments.options)
        X, words = X[np.flatnonzero(X.sum(axis=1))][half::2], moments.vocabulary.words
        rows = [*shown(moments, int(K))]
        if K == "20":
            rows.append(("NMF", _NMF, nmf(moments, int(K))))
        for method, rank, top in rows:
            found = scores(top, X, words)
            table.row(source, int(K), method, rank, *found)
            every.setdefault((method, rank), []).append(found)
    means = Table("means", "Means over data and K", (fact("fits"), *columns), ("method", "ranking"))
    for (method, rank), found in every.items():
        means.row(method, rank, len(found), *np.mean(found, axis=0))
    record(
        "topics_ranking",
        "Which words of a topic to show",
        [means, table],
        about="The same topics, with the words that each ranking shows. 20 newsgroups and Reuters "
        "(ModApte); words in 10 to a fifth of the training documents, without English stop words. "
        "NPMI of ten words, the share of distinct words among them, and the share of intruders "
        "that are recognized beside five words, all by one half of the test documents. The ranking "
        '"distinctive" was chosen on the other half.',
    )


if __name__ == "__main__":
    main()
