"""Grammars: one case for each way to learn, as each takes another path."""

from typing import Any

import numpy as np
import pandas as pd

import eigentext as et
from contract.case import Case
from eigentext.corpus.toy_treebank import sampled_trees

TREES = sampled_trees(25, seed=1)
OTHER = [
    "(S (NP (PRP she)) (VP (VBZ sees) (NP (NP (NNS birds)) (PP (IN near) (NP (NNS ferns))))))",
    "(S (NP (PRP she)) (VP (VBZ sees) (NP (NNS birds)) (PP (IN with) (NP (DT a) (NN lens)))))",
    "(S (NP (NNS ferns)) (VP (VBP grow)))",
] * 4
WORDS = ["the", "cat", "saw", "a", "dog", "of", "Every", "xyz"]
VECTORS = et.Eigenwords(4, min_count=1).fit([tree.leaves() for tree in TREES])
CLUSTERS = {word: f"{x % 8:03b}" for x, word in enumerate([*VECTORS.vocabulary_, "xyz"])}


ASKS = {
    "parse": lambda model: str(model.parse("the cat saw a dog")),
    "parses": lambda model: [
        (str(one.tree), one.log_probability, one.fallback)
        for one in model.parses(["the cat found a door of the river", WORDS, []])
    ],
    "parse_many": lambda model: [str(tree) for tree in model.parse_many([WORDS, "the cat"])],
    "k_best_many": lambda model: [
        (str(one.tree), one.log_probability)
        for best in model.k_best_many([WORDS, "the dog carried the cat of the farmer"], 3)
        for one in best
    ],
    "marginals": lambda model: [tuple(span) for span in model.marginals(WORDS[:5])],
    "log_probability": lambda model: [model.log_probability(tree) for tree in TREES[:3]],
    "score": lambda model: model.score(TREES[:5]),
    "parsing_with": lambda model: str(
        model.parsing_with(decoding="viterbi", prune=0).parse("the cat saw a dog")
    ),
}

FORMS = {
    "strings": lambda trees: [str(tree) for tree in trees],
    "series": lambda trees: pd.Series([str(tree) for tree in trees]),
    "array of strings": lambda trees: np.array([str(tree) for tree in trees]),
}


def _latent(name: str, **parameters: Any) -> Case:
    return Case(
        f"LatentPCFG, {name}",
        make=lambda: et.LatentPCFG(3, nodes_per_state=3, **parameters),
        data=lambda: (TREES,),
        other=lambda: (OTHER,),
        forms={"strings": FORMS["strings"]} if name != "spectral" else FORMS,
        grid={"n_states": [1, 2]},
        asks=ASKS,
    )


CASES = [
    Case(
        "PCFG",
        make=et.PCFG,
        data=lambda: (TREES,),
        other=lambda: (OTHER,),
        bad=lambda: (["(S (NP (NN cat))"],),
        forms=FORMS,
        grid={"vertical": [1, 2]},
        asks=ASKS,
    ),
    Case(
        "PCFG, viterbi",
        make=lambda: et.PCFG(decoding="viterbi", horizontal=None, prune=0, binarize="right"),
        data=lambda: (TREES,),
        other=lambda: (OTHER,),
        grid={"horizontal": [0, None]},
        asks=ASKS,
    ),
    _latent("spectral"),
    _latent("low rank", rank=2),
    _latent("plain text", method="spectral+em", n_smooth=2, vectors=VECTORS, clusters=CLUSTERS),
    _latent("spectral+em", method="spectral+em", n_smooth=2),
    _latent("pivot", method="pivot"),
    _latent("pivot+em", method="pivot+em", n_smooth=1),
    _latent("em", method="em", n_iter=2, n_smooth=2),
    _latent("split-merge", method="split-merge", n_iter=2),
    _latent("two that vote", n_grammars=2, negative="clip"),
]
