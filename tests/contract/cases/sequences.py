"""The cases of the contract for models of sequences."""

import warnings
from dataclasses import replace
from itertools import chain

import numpy as np
import pandas as pd

import eigentext as et
from contract.case import Case
from eigentext.sequences import Interpolation

LINES = [line.split() for line in ("the cat sat", "a dog ran", "the dog sat", "a cat ran")] * 8
OTHER = [line.split() for line in ("the fox saw two dogs", "two dogs ran", "a dog sat")] * 9
STREAM, OTHER_STREAM = ([*chain(*lines), "once", "a"] for lines in (LINES, OTHER))
# Any word follows any other, so that no probability is negative.
DRAWN = np.random.default_rng(0).choice(["the", "a", "cat", "dog", "sat", "ran"], 600).tolist()
TAGS = {"the": "D", "a": "D", "cat": "N", "dog": "N", "sat": "V", "ran": "V"}
TAGGED = [[(f"{word}|{TAGS[word]}", f"B-{TAGS[word]}") for word in line] for line in LINES]
OTHER_TAGGED = [[(f"{word}|X", "B-X") for word in line] for line in OTHER]

FORMS = {
    "arrays": lambda lines: [np.array(line) for line in lines],
    "series": lambda lines: pd.Series(lines),
    "tuples": lambda lines: [tuple(line) for line in lines],
    "generators": lambda lines: [iter(line) for line in lines],
}
ASKED = [["the", "dog"], ["x"]]
PREDICTS = {
    "log_probabilities": lambda model: model.log_probabilities(ASKED),
    "perplexity": lambda model: model.perplexity(LINES[:3]),
    "score": lambda model: model.score(LINES[:3]),
    "perplexity, unknown": lambda model: model.perplexity([*LINES[:3], ["x"]], unknown="count"),
    "top_next": lambda model: model.top_next(["the"], 3),
    "generate": lambda model: model.generate(5, random_state=1),
}
HMM_ASKS = {
    **PREDICTS,
    "log_probability": lambda model: model.log_probability(["the", "dog"]),
    "score_samples": lambda model: model.score_samples([["the"], [], ["dog", "x"]]),
    "predict_next": lambda model: model.predict_next(["a"]),
    "filter": lambda model: model.filter(["a", "cat", "x"]),
    "transform": lambda model: model.transform([["a", "cat"], []]),
    "sample": lambda model: model.sample(2, 4),
    "scoring_diagnostics": lambda model: model.scoring_diagnostics(ASKED),
    "start and end": lambda model: [model.start_, model.end_, model.operator("cat")],
    "moments": lambda model: model.moments().levels,
    "symbols": lambda model: (model.predict_next(), model.symbols_),
}
DECODES = {
    "viterbi": lambda model: model.viterbi(["a", "cat", "x"]),
    "k_best": lambda model: model.k_best(["the", "dog"], 3),
    "tag": lambda model: model.tag([["a", "cat", "x"], []]),
    "parameters": lambda model: [model.initial_, model.transition_, model.emission_],
}


def hmm(name, make, data=LINES, other=OTHER, grid="n_states"):
    return Case(
        name,
        make=make,
        data=lambda: (data,),
        other=lambda: (other,),
        bad=lambda: ([[]],),
        forms={} if isinstance(data[0], str) else FORMS,
        grid={grid: [1, 2]},
        asks=HMM_ASKS if name.startswith("HMM, spectral,") else HMM_ASKS | DECODES,
    )


def automaton(name, make, data=LINES, other=OTHER):
    return Case(
        name,
        make=make,
        data=lambda: (data,),
        other=lambda: (other,),
        bad=lambda: ([[]],),
        forms={} if isinstance(data[0], str) else FORMS,
        grid={"n_states": [3, 5]},
        asks={name: ask for name, ask in HMM_ASKS.items() if name != "moments"}
        | {
            "beginning": lambda model: model.log_probability(["a"], end=False),
            "basis": lambda model: (
                model.stop_ if model.stop_ is None else model.stop_ @ model.start_
            ),
        },
    )


def bigram(name, make):
    return Case(
        name,
        make=make,
        data=lambda: (LINES,),
        other=lambda: (OTHER,),
        bad=lambda: (["alone"],),
        forms=FORMS,
        grid={"n_states": [1, 2]},
        asks={
            **PREDICTS,
            "distribution": lambda model: model.distribution("the"),
            "probability": lambda model: model.states("a"),
        },
    )


def class_bigram(name, make, data=LINES, other=OTHER):
    return Case(
        name,
        make=make,
        data=lambda: (data,),
        other=lambda: (other,),
        bad=lambda: (["alone"],),
        forms={} if isinstance(data[0], str) else FORMS,
        grid={"n_classes": [1, 2]},
        asks={
            **PREDICTS,
            "distribution": lambda model: model.distribution("the"),
            "probability": lambda model: model.probability("dog", given="the"),
            "classes": lambda model: (model.words(0), model.classes_, model.emission_),
            "class_of": lambda model: [model.class_of("dog"), model.transition_matrix()],
            "to_hmm": lambda model: model.to_hmm().log_probability(["the", "dog"]),
        },
    )


def tagger(name, make, data=TAGGED, other=OTHER_TAGGED, saves=True):
    words = [[word for word, _ in line] for line in data[:3]]
    return Case(
        name,
        make=make,
        data=lambda: (data,),
        other=lambda: (other,),
        bad=lambda: ([[("word", None)]],),
        forms={
            "tuples": lambda lines: [tuple(line) for line in lines],
            "series": lambda lines: pd.Series(lines),
            "generators": lambda lines: [iter(line) for line in lines],
        },
        grid={"rare": [0, 30]},
        saves=saves,
        asks={
            "tag": lambda model: model.tag(["the|D", "Fox|N", "99|X"]),
            "tag_many": lambda model: model.tag_many([*words, []]),
            "k_best": lambda model: model.k_best(words[0], 5),
            "log_probability": lambda model: model.log_probability(data[0]),
            "score": lambda model: model.score(data[:5]),
        },
    )


def refined(name, make, data=TAGGED, other=OTHER_TAGGED, saves=True):
    case = tagger(name, make, data, other, saves)
    words = [[word for word, _ in line] for line in data[:3]]
    asks = {
        **{name: ask for name, ask in case.asks.items() if name != "k_best"},
        "marginals": lambda model: model.marginals(["the|D", "Fox|N", "99|X"]),
        "words": lambda model: model.log_probability(words[0]),
        "transform": lambda model: model.transform([*words, []]),
    }
    return replace(case, asks=asks, grid={"n_states": [1, 2]})


def last_letter(word):
    return word[-1]


def _mixture(**settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = [et.KneserNey(order).fit(LINES) for order in (1, 2)]
        models.append(et.BigramModel(2, n_iter=3).fit(LINES))
    return Interpolation(models, **settings)


def mixture(name, **settings):
    return Case(
        name,
        make=lambda: _mixture(**settings),
        data=lambda: (LINES[:5],),
        other=lambda: ([["the", "cat"], ["x", "ran"]],),
        bad=lambda: ([["x"] * 3, 3],),
        forms=FORMS,
        grid={"by_count": [False, True]},
        saves=False,
        asks={**PREDICTS, "weights": lambda model: model.score(LINES) * model.weights_},
    )


CASES = [
    Case(
        "KneserNey",
        make=lambda: et.KneserNey(2),
        data=lambda: (LINES,),
        other=lambda: (OTHER,),
        bad=lambda: ([],),
        forms=FORMS,
        grid={"order": [1, 2]},
        asks={
            **PREDICTS,
            "distribution": lambda model: model.distribution("the"),
            "probability": lambda model: model.probability("dog", given="the", start=True),
        },
    ),
    hmm("HMM, spectral, units", lambda: et.HMM(2)),
    hmm(
        "HMM, spectral, stream",
        lambda: et.HMM(2, min_count=2, scaling="none"),
        STREAM,
        OTHER_STREAM,
        grid="min_count",
    ),
    hmm(
        "HMM, spectral, plain",
        lambda: et.HMM(1, repair="none"),
        DRAWN[:300],
        DRAWN[200:],
        grid="random_state",
    ),
    hmm("HMM, em", lambda: et.HMM(2, method="em", n_init=2, n_iter=5)),
    hmm(
        "HMM, em, stream",
        lambda: et.HMM(2, method="em", n_init=1, n_iter=5, n_jobs=2),
        STREAM,
        OTHER_STREAM,
    ),
    hmm("HMM, anchor", lambda: et.HMM(2, method="anchor", n_iter=2)),
    hmm("HMM, anchor, corners", lambda: et.HMM(2, method="anchor", anchors="corners")),
    hmm("HMM, spectral+em", lambda: et.HMM(2, method="spectral+em", n_init=1, n_iter=5)),
    automaton("WeightedAutomaton", lambda: et.WeightedAutomaton(4, basis=30)),
    automaton(
        "WeightedAutomaton, stream",
        lambda: et.WeightedAutomaton(3, basis=20, longest=2, min_count=2, rank=2, n_jobs=2),
        STREAM,
        OTHER_STREAM,
    ),
    automaton(
        "WeightedAutomaton, validation",
        lambda: et.WeightedAutomaton(4, statistics="prefix", longest=1, selection="validation"),
    ),
    automaton(
        "WeightedAutomaton, strings",
        lambda: et.WeightedAutomaton(
            3,
            statistics="string",
            basis=[[(), ("the",), ("a", "dog")], [(), ("sat",), ("ran",)]],
            scaling="none",
        ),
    ),
    bigram("BigramModel", lambda: et.BigramModel(2, n_iter=5)),
    bigram("BigramModel, pivot", lambda: et.BigramModel(2, method="pivot", n_iter=5)),
    bigram("BigramModel, em", lambda: et.BigramModel(2, method="em", n_iter=5)),
    class_bigram("ClassBigram", lambda: et.ClassBigram(n_classes=3)),
    class_bigram("ClassBigram, brown", lambda: et.ClassBigram(n_classes=2, init="brown")),
    class_bigram(
        "ClassBigram, clusters",
        lambda: et.ClassBigram({"the": 0, "a": 0, "cat": 1, "dog": 1}, exchange=True, min_count=2),
        STREAM,
        OTHER_STREAM,
    ),
    tagger("HMMTagger", lambda: et.HMMTagger()),
    tagger("HMMTagger, order 1", lambda: et.HMMTagger(1, classes=None)),
    tagger("HMMTagger, factor", lambda: et.HMMTagger(classes="factor", scheme="bio", rare=2)),
    tagger("HMMTagger, function", lambda: et.HMMTagger(classes=last_letter), saves=False),
    refined("RefinementHMM", lambda: et.RefinementHMM(2, n_iter=5)),
    refined("RefinementHMM, spectral", lambda: et.RefinementHMM(2, method="spectral")),
    refined(
        "RefinementHMM, em, factor",
        lambda: et.RefinementHMM(
            2, method="em", decoding="viterbi", classes="factor", scheme="bio", n_iter=5
        ),
    ),
    refined(
        "RefinementHMM, function",
        lambda: et.RefinementHMM(2, classes=last_letter, decoding="pairs", n_iter=3),
        saves=False,
    ),
    mixture("Interpolation"),
    mixture("Interpolation, by count", by_count=True),
]
