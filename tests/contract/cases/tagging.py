"""Taggers and two-view models."""

import numpy as np
import pandas as pd

import eigentext as et
from contract.case import Case


def _tagged(nouns, verbs):
    lines = [f"the {noun} {verb}" for noun in nouns for verb in verbs]
    return [list(zip(line.split(), ("D", "N", "V"))) for line in lines]


TAGGED = _tagged(("dog", "cat", "fern", "bird"), ("barks", "sleeps", "grows"))
OTHER = _tagged(("house", "tree"), ("stands", "falls", "barks"))
CHUNK = {"D": "B-NP", "N": "I-NP", "V": "O"}
CHUNKS = [[(word, tag, CHUNK[tag]) for word, tag in one] for one in TAGGED]
LINES = [[word for word, _ in one] for one in TAGGED] * 3
NEW = [["the", "otter", "sleeps"], [], ["birds"]]


def _sources():
    vectors = et.Eigenwords(2, window=1, min_count=1).fit(LINES)
    return {
        "vectors": vectors,
        "clusters": et.WordClusters(3).fit(vectors),
        "eigentokens": et.Eigentokens(2, window=1, min_count=1).fit(LINES),
        "states": et.HMM(2, method="em", n_init=1, n_iter=3).fit(LINES),
    }


ASKS = {
    "tag": lambda model: model.tag(NEW),
    "confidences": lambda model: model.confidences(NEW),
    "marginals": lambda model: model.marginals(NEW[0]),
    "k_best": lambda model: model.k_best_many(NEW, 2),
    "evaluate": lambda model: model.evaluate(TAGGED).f1,
    "score": lambda model: model.score(TAGGED),
    "top": lambda model: [model.top_features(tag, 3) for tag in getattr(model, "tags_", ["N"])],
}
FORMS = {
    "series": pd.Series,
    "lists": lambda tagged: [[list(token) for token in one] for one in tagged],
}


def _tagger(name, **given):
    return Case(
        f"Tagger, {name}",
        make=lambda: et.Tagger(n_epochs=3, **given) if "model" not in given else et.Tagger(**given),
        data=lambda: (TAGGED,),
        other=lambda: (OTHER,),
        bad=lambda: ([[("one", "two", "N")], [("word", "N")]],),
        forms=FORMS,
        grid={"min_count": [1, 2]},
        asks=ASKS,
    )


RNG = np.random.default_rng(0)
HIDDEN = RNG.normal(size=(60, 1))
X = np.hstack([HIDDEN + RNG.normal(size=(60, 3)) / 2, HIDDEN + RNG.normal(size=(60, 3)) / 2])
Y = HIDDEN[:, 0]


def _two_view(make, y, **asks):
    return Case(
        type(make()).__name__,
        make=make,
        data=lambda: (X[:40], y[:40]),
        other=lambda: (X[20:, ::-1], y[20:]),
        bad=lambda: (X[:1], y[:1]),
        listed=False,
        forms={"lists": lambda rows: rows.tolist()},
        grid={"n_components": [1, 2]},
        asks={
            "predict": lambda model: model.predict(X[40:]),
            "transform": lambda model: model.transform(X[40:]),
            "score": lambda model: model.score(X[40:], y[40:]),
            **asks,
        },
    )


CASES = [
    _tagger("perceptron"),
    _tagger("crf", model="crf", n_iter=5),
    _tagger("all sources", **_sources(), n_runs=2, margin=0.5),
    Case(
        "Tagger, chunks",
        make=lambda: et.Tagger(n_epochs=3, scheme="bilou"),
        data=lambda: (CHUNKS,),
        other=lambda: (CHUNKS[::2],),
        bad=lambda: ([],),
        forms={"series": pd.Series},
        grid={"n_epochs": [1, 2]},
        asks={
            "tag": lambda model: model.tag([[token[:2] for token in one] for one in CHUNKS]),
            "score": lambda model: model.score(CHUNKS),
        },
    ),
    _two_view(
        lambda: et.TwoViewClassifier(2, use="first"),
        np.where(Y > 0, "warm", "cold"),
        proba=lambda model: model.predict_proba(X[40:]),
    ),
    _two_view(lambda: et.TwoViewRegressor(2), Y),
]
