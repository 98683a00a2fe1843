"""The tables of the parameters of grammars."""

from dataclasses import replace
from typing import Any

from eigentext.parameters import (
    CLUSTERS,
    VECTORS,
    Choice,
    Count,
    Flag,
    Given,
    Number,
    Seed,
    Table,
    is_whole,
)

METHODS = ("spectral", "spectral+em", "pivot", "pivot+em", "em", "split-merge")
DECODINGS = ("mbr", "max-rule", "viterbi")
NEGATIVE = ("abs", "clip", "none")
MEASURES = ("likelihood", "f1")
FEATURE_SETS = ("full", "simple")
_BY_FEATURES = ("spectral", "spectral+em", "pivot", "pivot+em")
_BY_EM = ("spectral+em", "pivot+em", "em")
_BY_DIRECTIONS = ("spectral", "pivot", "pivot+em")


def _is_features(value: Any) -> bool:
    return callable(value) or (isinstance(value, str) and value in FEATURE_SETS)


def _is_n_jobs(value: Any) -> bool:
    return is_whole(value) and (value == -1 or value >= 1)


N_JOBS = Given(
    None,
    what="a whole number, 1 or more, or -1 for one thread on each core",
    test=_is_n_jobs,
    keep=int,
    flags="",  # --threads
)
_HORIZONTAL = Count(0, least=0, none=True, help="How many siblings such a node remembers.")
_VERTICAL = Count(1, help="1: labels alone; 2: labels with that of the parent; and so on.")

# How trees are binarized, for all grammars and for a treebank by itself.
BINARIZATION = Table(
    "Treebank",
    binarize=Choice(
        "left", of=("left", "right"), help="The side on which nodes with many children branch."
    ),
    horizontal=_HORIZONTAL,
    vertical=_VERTICAL,
    annotate_tags=Flag(False),
)

# The parameters of all grammars, after those of the binarization.
_COMMON = {
    "rare": Count(
        5, least=0, help="Words seen at most this often share the statistics of their class."
    ),
    "beta": Number(1.0, least=0, help="The weight of the class of a word, in tokens of the word."),
    "gamma": Number(3.0, least=0, help="The weight of the tags of a word, in tokens of the word."),
    "vectors": VECTORS,
    "clusters": CLUSTERS,
    "prune": Number(
        5e-5,
        least=0,
        below=1,
        help="In parsing, leave out labels less probable than this; 0: none.",
    ),
    "decoding": Choice(
        "mbr", of=DECODINGS, help="mbr: the most expected brackets; others: the best whole tree."
    ),
    "tau": Number(
        0.45, least=0, only={"decoding": ("mbr",)}, help="For mbr: how probable a bracket must be."
    ),
}

PCFG = Table(
    "PCFG",
    binarize=BINARIZATION["binarize"],
    horizontal=replace(_HORIZONTAL, default=2),
    vertical=replace(_VERTICAL, default=2),
    **_COMMON,
)

LatentPCFG = Table(
    "LatentPCFG",
    n_states=Count(16, flags="--states -m", help="The largest number of hidden states of a label."),
    method=Choice("spectral", of=METHODS, help="How hidden states are learned."),
    n_grammars=Count(
        1, flags="--grammars", help="How many grammars to learn, from random starts; they vote."
    ),
    n_iter=Count(
        None,
        least=0,
        flags="--iterations",
        only={"method": (*_BY_EM, "split-merge")},
        shown="20; 0 after spectral or pivot",
        help="Steps of EM; for split-merge, steps in each cycle.",
    ),
    n_smooth=Count(
        None,
        least=0,
        flags="--smooth-steps",
        only={"method": _BY_EM},
        shown="20; 4 after spectral, 2 after pivot",
        help="For EM: the number of further steps with smoothing.",
    ),
    smoothing=Number(1.0, least=0, help="How far rules and words move towards simpler models."),
    merge=Number(
        0.5,
        least=0,
        below=1,
        only={"method": ("split-merge",)},
        help="For split-merge: the share of splits to undo.",
    ),
    features=Given(
        "full",
        what="'full', 'simple' or a function",
        test=_is_features,
        metavar="[full|simple]",
        only={"method": _BY_FEATURES},
        help="The features of spectral and pivot; simple: the rules above and below.",
    ),
    kappa=Number(
        5.0,
        least=0,
        infinite=True,
        only={"method": _BY_FEATURES},
        help="Features are scaled by sqrt(1 / (count + kappa)); inf: not scaled.",
    ),
    tolerance=Number(
        0.01,
        least=0,
        below=1,
        only={"method": _BY_DIRECTIONS},
        help="Leave out singular values below this share of the largest.",
    ),
    noise=Number(
        0.2,
        least=0,
        only={"method": _BY_DIRECTIONS},
        help="Noise on the scales of features, if several --grammars vote.",
    ),
    negative=Choice(
        "abs",
        of=NEGATIVE,
        only={"method": ("spectral",)},
        help="For spectral: negative marginals become absolute values, zeros, or stay.",
    ),
    nodes_per_state=Count(10, help="A label has at most one state for so many of its nodes."),
    early_stopping=Choice(
        "likelihood",
        of=MEASURES,
        only={"method": (*_BY_EM, "split-merge")},  # "spectral" has no probabilities
        help="For EM: the score on the trees of --validation.",
    ),
    binarize=BINARIZATION["binarize"],
    horizontal=_HORIZONTAL,
    vertical=_VERTICAL,
    **_COMMON,
    random_state=Seed(
        0, flags="--seed", help="The random seed. The same seed gives the same result."
    ),
    n_jobs=N_JOBS,
)
