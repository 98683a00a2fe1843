"""Models of words."""

import numpy as np
import pandas as pd

import eigentext as et
from contract.case import Case
from eigentext.estimators import check_is_fitted
from eigentext.words.subwords import CharacterRidge

TEXT = ["the cat sat here", "the dog sat there", "a cat ran here", "a dog ran there"] * 5
OTHER = ["one fox saw two birds", "two foxes saw one bird", "one bird ran", "two birds ran"] * 6
TOKENS = [line.split() for line in TEXT]
STEMS = ["walk", "talk", "jump", "cook", "kick", "bark"]
SPELLED = [stem + ending for stem in STEMS for ending in ("ed", "ing")]
VECTORS = np.random.default_rng(0).standard_normal((12, 4)) + np.tile(np.eye(4)[:2] * 4, (6, 1))

TEXTS = {"array": np.array, "series": pd.Series}
LISTS = {
    "arrays": lambda lines: [np.array(line) for line in lines],
    "series": pd.Series,
    "tuples": lambda lines: [tuple(line) for line in lines],
}


KNOWN = ["the", "cat", "sat", "one", "two", "saw"]  # of the one text, and of the other


def _known(model):
    return [word for word in KNOWN if word in model]


def _eigenwords(name, data=TEXT, other=OTHER, forms=TEXTS, **settings):
    return Case(
        f"Eigenwords, {name}",
        make=lambda: et.Eigenwords(3, window=2, min_count=1, **settings),
        data=lambda: (data,),
        other=lambda: (other,),
        bad=lambda: ([],),
        forms=forms,
        asks={
            "words": lambda model: [model[word] for word in _known(model)],
            "contains": lambda model: ["cat" in model, "zebra" in model],
            "nearest": lambda model: [model.most_similar(word, 3) for word in _known(model)],
            "analogy": lambda model: model.analogy(*_known(model), topn=2),
            "transform": lambda model: model.transform([["cat", "sat", "zebra"], ["bird"], []]),
            "names": lambda model: model.get_feature_names_out(),
            "similarity": lambda model: model.similarity(*_known(model)[:2]),
        },
    )


def _eigentokens(name, **settings):
    return Case(
        f"Eigentokens, {name}",
        make=lambda: et.Eigentokens(2, window=2, min_count=1, **settings),
        data=lambda: (TOKENS,),
        other=lambda: ([line.split() for line in OTHER],),
        bad=lambda: ([],),
        forms=LISTS,
        asks={
            "transform": lambda model: model.transform([["the", "cat"], [], ["a", "zebra", "ran"]]),
            "corpus": lambda model: model.transform_corpus(["the cat sat", "a dog"]),
            "names": lambda model: model.get_feature_names_out(),
        },
    )


def _clusters(method):
    return Case(
        f"WordClusters, {method}",
        make=lambda: et.WordClusters(3, method=method),
        data=lambda: (VECTORS,),
        other=lambda: (VECTORS[::-1, :3] * 2,),
        bad=lambda: (VECTORS[:2],),
        listed=False,
        forms={"list": lambda X: X.tolist(), "frame": lambda X: pd.DataFrame(X).to_numpy()},
        asks={
            "words": lambda model: [model.words("0"), model.labels_, model.bit_strings_],
            "path": lambda model: [model["1"], "1" in model, model.prefixes("1")],
            "most_frequent": lambda model: model.most_frequent(0, 2),
        },
    )


def _text_vectors(name, make, data=TEXT, other=OTHER, forms=TEXTS):
    return Case(
        f"TextVectors, {name}",
        make=make,
        data=lambda: (data,),
        other=lambda: (other,),
        bad=lambda: ([],),
        forms=forms,
        asks={
            "transform": lambda model: model.transform([["cat", "sat", "zebra"], ["bird"], []]),
            "names": lambda model: model.get_feature_names_out(),
            "learned": lambda model: [check_is_fitted(model), model.weights_, model.components_],
        },
    )


def _given_words():
    return et.Eigenwords.from_vectors([*SPELLED[:8], "cat", "sat", "bird", "saw"], VECTORS)


CASES = [
    _text_vectors("of words", lambda: et.TextVectors(et.Eigenwords(3, window=2, min_count=1))),
    _text_vectors("of given words", lambda: et.TextVectors(_given_words(), a=0.1, remove=2)),
    _text_vectors(
        "flat of lists",
        lambda: et.TextVectors(et.Eigenwords(3, min_count=1), weighting="flat", remove=0),
        TOKENS,
        [line.split() for line in OTHER],
        LISTS,
    ),
    _eigenwords("cca"),
    _eigenwords("ppmi", scaling="ppmi", alpha=0.75, weighting="flat"),
    _eigenwords("reg of lists", TOKENS, [line.split() for line in OTHER], LISTS, scaling="reg"),
    _eigenwords("by position", context="list", count_transform="log", beta=0.0),
    _eigenwords("with spelling", oov="characters", spelling_weight=1.0, spelling_half_count=4.0),
    _eigenwords("with all", oov="characters", keep_moments="whole", max_size=9),
    _eigenwords("with a purpose", purpose="functional", narrow=1),
    Case(
        "Phrases",
        make=lambda: et.Phrases(2, threshold=0.1, n_passes=2),
        data=lambda: (TEXT,),
        other=lambda: (OTHER,),
        bad=lambda: ([],),
        forms=TEXTS,
        asks={
            "transform": lambda model: model.transform([["the", "cat", "sat", "here"], []]),
            "join": lambda model: model.join(["the cat sat here"]).words,
        },
    ),
    _eigentokens("by position"),
    _eigentokens("left bag", side="left", context="bag", combine=True, count_transform="none"),
    _clusters("agglomerative"),
    _clusters("kmeans"),
    Case(
        "CharacterRidge",
        make=lambda: CharacterRidge(n_buckets=128, penalty=0.5),
        data=lambda: (SPELLED, VECTORS),
        other=lambda: (SPELLED[::-1], VECTORS[:, ::-1]),
        bad=lambda: (SPELLED[:3], VECTORS),
        forms=TEXTS,
        saves=False,
        grid={"penalty": [0.5, 2.0]},
        asks={
            "predict": lambda model: model.predict(["barked", "jumping", ""]),
            "score": lambda model: model.score(SPELLED, VECTORS),
        },
    ),
]
