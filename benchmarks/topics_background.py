"""Few documents and background knowledge: topics of newsgroups with and without word vectors.

Run it with ``.venv/bin/python benchmarks/topics_background.py``: ten minutes.

20 topics of random subsets of the training part of 20 newsgroups (headers, footers and quotes are
cut; stop words and words in more than a fifth of the documents are left out). The vectors are
Eigenwords with the purpose "topical", of 30 MB of Wikipedia (enwiki-30m) in lower case, learned
once. Subsets of 1,000, 2,500 and 5,000 documents are tested on the same 1,000 documents of the test
part, and all documents on the whole test part. The subsets (seeds 10 and up) were not used while
this was built; the test documents were, with other subsets.

Every figure but the stability is a mean over the two runs of a subset, and then over subsets, with
half the width of its 95% interval by Student's t. NMI and purity are those of the test documents'
largest topics and the 20 groups. Perplexity (by completion, alpha = 1/20), NPMI and diversity are
over the words in at least ten training documents, whatever words a system has learned: the others
are taken out of the topics, which are normalized. Stability is the best-matched overlap of ten top
words between two runs, with another seed and another order of documents. CPU seconds are those of
one fit, with the choice of the strength, and without learning the vectors.

k-means is scikit-learn's, on the documents' means of the same vectors, weighted by idf.
"""

import sys
import time
import warnings
from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from scipy.stats import t as student
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

import _harness
import eigentext as et
from _record import Table, fact, record, score
from eigentext.evaluate import coherence, completion_perplexity, distinct_words
from eigentext.moments import document_counts

K = 20
LIMITS = {"max_df": 0.2, "stop_words": "english"}
SIZES = {1000: 5, 2500: 5, 5000: 2, 0: 1}  # documents (0: all) and the number of subsets
SYSTEMS = {
    "words in 10 documents": {"min_df": 10},
    "words in 10 documents, vectors": {"min_df": 10, "vectors": True},
    "words in 2 documents": {"min_df": 2},
    "words in 2 documents, vectors": {"vectors": True},
}
FIGURES = ("NMI", "purity", "NPMI", "diversity", "perplexity", "CPU s")


def vectors() -> et.Eigenwords:
    """The vectors of Wikipedia, learned once and kept in the temporary folder."""
    path = _harness.scratch("topics-background") / "enwiki.model"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        corpus = et.TextCorpus(et.load_dataset("enwiki-30m").files, lowercase=True)
        et.Eigenwords(300, purpose="topical").fit(corpus).save(path)
    return et.load(path)


def subset(n: int, seed: int) -> SimpleNamespace:
    """Documents to learn from and to test on; the counts of the words by which all are judged."""
    parts = []
    for split in ("train", "test"):
        data = et.load_dataset("20news", split=split)
        texts, labels = list(data.texts), list(data.labels)
        rows = [i for i, text in enumerate(texts) if text.strip()]
        if n:
            size, draw = (n, seed) if split == "train" else (1000, 12345)
            rows = np.random.default_rng(draw).permutation(rows)[:size]
        parts.append(([texts[i] for i in rows], np.array([labels[i] for i in rows])))
    (train, _), (test, labels) = parts
    moments = et.DocumentMoments.from_corpus(train, min_df=10, **LIMITS)
    counts = [document_counts(part, moments.vocabulary, moments.options) for part in (train, test)]
    filled = np.flatnonzero(np.asarray(counts[1].sum(axis=1)).ravel())
    test, labels = [test[i] for i in filled], labels[filled]
    words = list(moments.vocabulary.words)
    return SimpleNamespace(
        train=train, test=test, labels=labels, words=words, X=counts[0], Y=counts[1][filled]
    )


def figures(data: SimpleNamespace, phi: np.ndarray | None, found: np.ndarray, cpu: float) -> dict:
    _, groups = np.unique(data.labels, return_inverse=True)
    table = np.zeros((found.max() + 1, groups.max() + 1))
    np.add.at(table, (found, groups), 1)
    scores = {
        "NMI": normalized_mutual_info_score(groups, found),
        "purity": table.max(axis=1).sum() / table.sum(),
        "CPU s": cpu,
    }
    if phi is None:
        return scores
    top = [[data.words[w] for w in np.argsort(-row, kind="stable")[:10]] for row in phi]
    return scores | {
        "NPMI": coherence(top, data.X, words=data.words).mean,
        "diversity": distinct_words(top),
        "perplexity": completion_perplexity(phi, data.Y, alpha=1 / K).perplexity,
        "top": top,
    }


def topics(data: SimpleNamespace, model: et.Eigenwords, run: int, **options) -> dict:
    if options.pop("vectors", False):
        options["vectors"] = model
    order = np.random.default_rng(run).permutation(len(data.train))
    texts = [data.train[i] for i in order]
    start = time.process_time()
    learned = et.TopicModel(K, random_state=run, **LIMITS, **options).fit(texts)
    cpu = time.process_time() - start
    phi = learned.components_[:, learned.vocabulary_.ids_of(data.words)]
    phi = phi / phi.sum(axis=1, keepdims=True)
    scores = figures(data, phi, learned.transform(data.test).argmax(axis=1), cpu)
    used = learned.diagnostics_.get("background")
    return scores | {"strength": used["strength"] if used else None}


def clusters(data: SimpleNamespace, model: et.Eigenwords, run: int) -> dict:
    start = time.process_time()
    rows = model.vocabulary_.ids_of(data.words)
    V = np.where(rows[:, None] >= 0, np.asarray(model.vectors_)[rows], 0)
    idf = np.log(data.X.shape[0] / np.bincount(data.X.indices, minlength=len(rows)))
    means = []
    for X in (data.X, data.Y):
        M = sp.csr_array(X * idf[None]) @ V
        M /= np.maximum(np.linalg.norm(M, axis=1, keepdims=True), 1e-9)
        means.append(M)
    A, B = (M - means[0].mean(axis=0) for M in means)
    A, B = (M / np.maximum(np.linalg.norm(M, axis=1, keepdims=True), 1e-9) for M in (A, B))
    km = KMeans(K, n_init=3, random_state=run).fit(A)
    return figures(data, None, km.predict(B), time.process_time() - start)


def overlap(a: list[list[str]], b: list[list[str]]) -> float:
    shared = np.array([[len(set(x) & set(y)) / len(x) for y in b] for x in a])
    return float(shared[linear_sum_assignment(-shared)].mean())


def interval(values: list[float]) -> tuple[float | None, float | None]:
    """The mean, and half the width of its 95% interval."""
    if not values:
        return None, None
    if len(values) < 3:  # too few for an interval
        return float(np.mean(values)), None
    half = student.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    return float(np.mean(values)), float(half)


def main() -> None:
    warnings.simplefilter("ignore")
    sizes = [int(size) for size in sys.argv[1:]] or list(SIZES)
    model = vectors()
    et.TopicModel(2).fit(["ham eggs cheese", "goal team match"] * 20)  # compile
    columns = (
        *(score("NMI", digits=3, tolerance=0.03), fact("± NMI")),
        *(score("purity", digits=3, tolerance=0.03), score("NPMI", digits=3, tolerance=0.1)),
        *(score("diversity", digits=2, tolerance=0.05), score("perplexity", "lower", digits=0)),
        *(score("stability", digits=2, tolerance=0.1), fact("± stability")),
        *(fact("strengths"), "CPU s"),
    )
    table = Table("topics_background", "Topics of few documents", columns, ("documents", "system"))
    for size in sizes:
        subsets = [subset(size, 10 + seed) for seed in range(SIZES[size])]
        for name, options in (*SYSTEMS.items(), ("k-means on vectors", None)):
            runs = [
                [topics(d, model, run, **options) if options else clusters(d, model, run)
                 for run in (0, 1)]
                for d in subsets
            ]  # fmt: skip
            means = {}
            for key in FIGURES:
                values = [[one[key] for one in pair if key in one] for pair in runs]
                means[key] = interval([float(np.mean(pair)) for pair in values if pair])
            stable = interval([overlap(a["top"], b["top"]) for a, b in runs if "top" in a])
            strengths = {
                one["strength"] for pair in runs for one in pair if one.get("strength") is not None
            }
            told = ", ".join(f"{one:g}" for one in sorted(strengths)) or None
            middle = (means[key][0] for key in ("purity", "NPMI", "diversity", "perplexity"))
            table.row(
                f"{size:,}" if size else "all",
                name,
                *means["NMI"],
                *middle,
                *stable,
                told,
                means["CPU s"][0],
            )
    record(
        "topics_background",
        "Topics with background knowledge",
        [table],
        about="20 topics of random subsets of 20 newsgroups (five subsets of 1,000 and of 2,500 "
        "documents, two of 5,000), two runs of each with another seed and order of documents. "
        "Vectors: Eigenwords (topical, 300 dimensions) of enwiki-30m. NMI and purity: the largest "
        "topics of 1,000 test documents (7,532 for all) and the 20 groups. Perplexity, NPMI and "
        "diversity are over the words in ten training documents or more. ±: half of the 95% "
        "interval of the mean over subsets. Strengths: those that held-out text chose.",
    )


if __name__ == "__main__":
    main()
