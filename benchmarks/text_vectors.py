"""Posts of 20 newsgroups classified by vectors of texts: plain means, and weighted ones.

Run it with ``.venv/bin/python benchmarks/text_vectors.py``, some five minutes. The words are
Eigenwords of 100 dimensions, learned from the 11,314 posts for training, without headers,
signatures and quotes. The classifier is logistic regression. Its penalty is chosen, for each row of
the table, on a fifth of the training posts (C of 1, 10 or 100); it then learns from all of them.
Accuracies are of the 7,532 later posts, whose standard error is 0.6 points.
"""

from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import eigentext as et
from _record import Table, fact, record, score

PENALTIES = (1.0, 10.0, 100.0)
KINDS = {
    "plain mean": {"weighting": "flat", "remove": 0},
    "plain mean, a common direction removed": {"weighting": "flat", "remove": 1},
    "weighted (SIF)": {"weighting": "sif", "remove": 0},
    "weighted, a common direction removed": {"weighting": "sif", "remove": 1},
}


def accuracy(model: Any, C: float, train: tuple[Any, Any], test: tuple[Any, Any]) -> float:
    """Percent of the test rows that a classifier of the training rows gets right."""
    X, Z = model.fit_transform(train[0]), model.transform(test[0])
    return 100 * LogisticRegression(C=C, max_iter=500).fit(X, train[1]).score(Z, test[1])


def main() -> None:
    posts = [et.load_dataset("20news", split=split) for split in ("train", "test")]
    train, test = [(list(one.texts), np.array(one.labels)) for one in posts]
    corpus = et.TextCorpus(train[0], kind="texts", tokenizer="simple", lowercase=True)
    words = et.Eigenwords(100).fit(corpus)
    split = train_test_split(*train, test_size=0.2, random_state=0)
    first, held_out = (split[0], split[2]), (split[1], split[3])
    columns = (score("held-out accuracy", digits=1), fact("C"), score("accuracy", digits=1))
    table = Table("news", "20 newsgroups", columns)
    models = {name: et.TextVectors(words, **settings) for name, settings in KINDS.items()}
    models["tf-idf of all words (scikit-learn)"] = TfidfVectorizer(min_df=2, sublinear_tf=True)
    for name, model in models.items():
        found = {C: accuracy(model, C, first, held_out) for C in PENALTIES}
        C = max(found, key=lambda one: found[one])
        table.row(name, found[C], C, accuracy(model, C, train, test))
    about = (__doc__ or "").partition("some five minutes. ")[2]
    record("text_vectors", "Texts as vectors", [table], about=about)


if __name__ == "__main__":
    main()
