"""Few labels and many unlabeled pairs: TwoViewClassifier beside peers, on naive Bayes and Reuters.

Run it with ``.venv/bin/python benchmarks/two_view.py [SET ...]``, half an hour for all of the
sets "synthetic", "reuters" and "titles". Figures are accuracies in percent, mean and standard
deviation over draws of labeled rows, macro F1, and CPU seconds of one fit with the projection.

Synthetic: 5 hidden classes. Each view is a bag of words (or one word) of a vocabulary of 200. A
third of the words come from the class, the rest from a background. 5 draws of model and data. A
peer gets the best of three penalties (and LSA the best of 5, 20 and 50 components), chosen on the
test data.

Reuters ("titles": the same, but only titles are known when topics are predicted): stories with one
topic, of the ten most frequent, 10 draws of labels. All stories of the training part that have a
body are unlabeled pairs. Tf-idf of the 1,000 most frequent words of titles and 2,000 of bodies. LSA
is the SVD of both views side by side (of titles alone for "titles"), on the same unlabeled rows,
and logistic regression. C and the number of components of peers were chosen on the last 30% of the
training part, as were those of "tuned" (for both views). The test part was then run once.
"""

import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from itertools import product

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline

from _record import Table, fact, record, score
from eigentext import load_dataset
from eigentext.tagging.two_view import TwoViewClassifier

N_TITLE, N_BODY = 1000, 2000
TUNED = {"n_components": 100, "regularization": 3.0, "C": 10.0}


def logistic(C: float) -> LogisticRegression:
    return LogisticRegression(C=C, max_iter=5000)


def timed(fit: Callable):
    start = time.process_time()
    model = fit()
    return model, time.process_time() - start


def figures_of(name: str, title: str) -> Table:
    accuracy = score("accuracy", digits=1, tolerance=0.02)
    columns = (accuracy, fact("sd"), score("macro F1", digits=1, tolerance=0.05), "CPU s")
    return Table(name, title, columns, ("system", "labels"))


def add(table: Table, name: str, figures: dict) -> None:
    """Add rows: `figures` has (accuracy, macro F1, seconds) of each draw for each label count."""
    for n, draws in figures.items():
        accuracy, f1, seconds = np.array(draws).T
        scores = 100 * accuracy.mean(), 100 * accuracy.std(), 100 * f1.mean()
        table.row(name, n, *scores, seconds.mean())


# Synthetic.


def bags(seed: int, n: int, length: int, k: int = 5, d: int = 200):
    """Both views side by side, the classes, and the guesses of Bayes' rule with the true model."""
    rng = np.random.default_rng(seed)
    h = rng.integers(k, size=n)
    views, evidence = [], 0.0
    for _ in range(2):
        own, common = rng.dirichlet(np.full(d, 0.1), k), rng.dirichlet(np.full(d, 0.5))
        p = 0.35 * own + 0.65 * common
        views.append(rng.multinomial(length, p[h]).astype(float))
        evidence = evidence + views[-1] @ np.log(p.T)
    return sp.csr_array(np.hstack(views)), h, np.argmax(evidence, axis=1)


def synthetic(length: int) -> Table:
    labels, n_test = (10, 25, 50, 100, 400), 5000
    title = f"Naive Bayes, words in a view: {length}; 4 components"
    shown = figures_of(f"synthetic {length}", title)
    contestants = {f"two views, {u:,} pairs": u for u in (0, 500, 2000, 20_000)}
    tables: dict = {name: {n: [] for n in labels} for name in contestants}
    peers: dict = {}
    for seed in range(5):
        X, y, bayes = bags(seed, 20_400 + n_test, length)
        test = slice(20_400, None)

        def score(model, y=y[test], X=X[test]):
            predicted = model.predict(X)
            return np.mean(predicted == y), f1_score(y, predicted, average="macro")

        for n in labels:
            for name, u in contestants.items():
                fit = TwoViewClassifier(min(4, n - 1)).fit
                model, cpu = timed(lambda: fit(X[:n], y[:n], unlabeled=X[400 : 400 + u]))  # noqa: B023
                tables[name][n].append((*score(model), cpu))
            for C in (0.1, 1, 10):
                model, cpu = timed(lambda: logistic(C).fit(X[:n], y[:n]))  # noqa: B023
                found = peers.setdefault("raw", {}).setdefault(C, {m: [] for m in labels})
                found[n].append((*score(model), cpu))
            for m, C in product((5, 20, 50), (1, 10, 100)):
                lsa = make_pipeline(TruncatedSVD(m, random_state=0), logistic(C))
                start = time.process_time()
                lsa[0].fit(X[:20_400])
                lsa[1].fit(lsa[0].transform(X[:n]), y[:n])
                cpu = time.process_time() - start
                found = peers.setdefault("lsa", {}).setdefault((m, C), {m: [] for m in labels})
                found[n].append((*score(lsa), cpu))
            f1 = f1_score(y[test], bayes[test], average="macro")
            found = (np.mean(bayes[test] == y[test]), f1, 0.0)
            tables.setdefault("Bayes' rule, knowing the model", {m: [] for m in labels})[n].append(
                found
            )
    names = {"raw": "logistic regression", "lsa": "LSA, 20,000 unlabeled"}
    for peer, by_penalty in peers.items():
        tables[names[peer]] = {
            n: max(
                (by_penalty[C][n] for C in by_penalty), key=lambda x: np.mean([a for a, *_ in x])
            )
            for n in labels
        }
    for name, table in tables.items():
        add(shown, name, table)
    return shown


# Reuters.


def stories(part: str) -> list:
    """(title, body, topics) of the stories that have a body."""
    loaded = load_dataset("reuters", split=part)
    split = (text.partition("\n\n")[::2] for text in loaded.texts)
    return [(*text, topics) for text, topics in zip(split, loaded.labels) if text[1].strip()]


def reuters(only_titles: bool, part: str = "test") -> Table:
    train = stories("train")
    border = int(0.7 * len(train))
    train, test = (train, stories("test")) if part == "test" else (train[:border], train[border:])
    frequent = Counter(topics[0] for *_, topics in train if len(topics) == 1).most_common(10)
    known = {topic for topic, _ in frequent}

    def labels_of(some):
        return np.array([t[0] if len(t) == 1 and t[0] in known else "" for *_, t in some])

    words = {"token_pattern": "[a-z]{2,}", "stop_words": "english", "sublinear_tf": True}
    views = []
    for view, size in enumerate((N_TITLE, N_BODY)):
        vectorizer = TfidfVectorizer(max_features=size, min_df=3, **words)
        vectorizer.fit([story[view] for story in train])
        views.append([vectorizer.transform([s[view] for s in some]) for some in (train, test)])
    X, X_test = (sp.csr_array(sp.hstack(both)) for both in zip(*views))
    y, y_test = labels_of(train), labels_of(test)
    X_test, y_test, pool = X_test[y_test != ""], y_test[y_test != ""], np.flatnonzero(y != "")
    used = slice(N_TITLE) if only_titles else slice(None)
    use = "first" if only_titles else "both"

    def ours(few, rest, **options):
        model = TwoViewClassifier(**{"n_first": N_TITLE, "use": use} | options)
        return model.fit(X[few], y[few], unlabeled=X[rest])

    def lsa(few, rest, m=100, C=100 if only_titles else 1000):
        pipeline = make_pipeline(TruncatedSVD(m, random_state=0), logistic(C))
        pipeline[0].fit(X[:, used])
        pipeline[1].fit(pipeline[0].transform(X[few][:, used]), y[few])
        return pipeline

    contestants: dict[str, Callable] = {
        "two views": ours,
        "two views, tuned": lambda few, rest: ours(few, rest, **TUNED),
        "two views, no unlabeled pairs": lambda few, rest: ours(few, rest[:0]),
        "two views, shrink=False": lambda few, rest: ours(few, rest, shrink=False),
        "LSA, logistic regression": lsa,
        "logistic regression": lambda few, rest: logistic(1000).fit(X[few][:, used], y[few]),
    }
    sizes = (50, 100, 200, 500)
    title = "titles alone" if only_titles else "titles and bodies"
    title = f"Reuters, {title}: {len(train):,} pairs, {len(y_test):,} test stories"
    shown = figures_of("titles" if only_titles else "reuters", title)
    for name, fit in contestants.items():
        table: dict = {n: [] for n in sizes}
        for n in sizes:
            for seed in range(10):
                few = np.random.default_rng(seed).choice(pool, n, replace=False)
                rest = np.setdiff1d(np.arange(len(y)), few)
                model, cpu = timed(lambda: fit(few, rest))  # noqa: B023
                predicted = model.predict(X_test[:, used])
                f1 = f1_score(y_test, predicted, average="macro", zero_division=0)
                table[n].append((np.mean(predicted == y_test), f1, cpu))
        add(shown, name, table)
    return shown


SETS = {
    "synthetic": lambda: [synthetic(length) for length in (5, 1)],
    "reuters": lambda: [reuters(False)],
    "titles": lambda: [reuters(True)],
}

if __name__ == "__main__":
    warnings.simplefilter("ignore")  # few rows do not support all components
    record(
        "two_view",
        "Two views and few labels",
        [table for name in sys.argv[1:] or SETS for table in SETS[name]()],
        about="Accuracy in percent with its standard deviation over draws of the labeled rows, "
        "macro F1, and CPU seconds of one fit on one core.",
    )
