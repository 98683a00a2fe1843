"""The parameters of grammars."""

from dataclasses import replace
from typing import Any

from eigentext.parameters import Choice, Count, Flag, Given, Number, Seed, Table, is_whole

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
_HORIZONTAL = Count(0, least=0, none=True, help="How many siblings such a branch remembers.")
_VERTICAL = Count(1, help="1: labels alone; 2: with their parents'; and so on.")

# How trees become binary, for all grammars, and for a treebank by itself.
BINARIZATION = Table(
    "Treebank",
    binarize=Choice("left", of=("left", "right"), help="Where nodes of many children branch."),
    horizontal=_HORIZONTAL,
    vertical=_VERTICAL,
    annotate_tags=Flag(False),
)

# What all grammars have, after the binarisation.
_COMMON = {
    "rare": Count(5, least=0, help="Words seen no more often share their class's statistics."),
    "beta": Number(1.0, least=0, help="What a word's class weighs, in tokens of the word."),
    "gamma": Number(3.0, least=0, help="What the tags of a word weigh, in tokens."),
    "prune": Number(
        5e-5, least=0, below=1, help="In parsing, leave out what is less probable; 0: nothing."
    ),
    "decoding": Choice(
        "mbr", of=DECODINGS, help="mbr: the most expected brackets; others: the best tree as one."
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
    n_states=Count(16, flags="--states -m", help="The most hidden states of a label."),
    method=Choice("spectral", of=METHODS, help="How hidden states are learned."),
    n_grammars=Count(
        1, flags="--grammars", help="Learn so many, from random starts, and let them vote."
    ),
    n_iter=Count(
        None,
        least=0,
        flags="--iterations",
        only={"method": (*_BY_EM, "split-merge")},
        shown="20; 0 after spectral or pivot",
        help="Steps of EM; for split-merge, in each cycle.",
    ),
    n_smooth=Count(
        None,
        least=0,
        flags="--smooth-steps",
        only={"method": _BY_EM},
        shown="20; 4 after spectral, 2 after pivot",
        help="For EM: further steps, with smoothing.",
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
        help="What spectral and pivot look at; simple: the rules above and below.",
    ),
    kappa=Number(
        5.0,
        least=0,
        infinite=True,
        only={"method": _BY_FEATURES},
        help="Features are scaled by sqrt(1 / (count + kappa)); inf: not.",
    ),
    tolerance=Number(
        0.01,
        least=0,
        below=1,
        only={"method": _BY_DIRECTIONS},
        help="Singular values below this share of the largest do not count.",
    ),
    noise=Number(
        0.2,
        least=0,
        only={"method": _BY_DIRECTIONS},
        help="Of the scales of features, where several --grammars vote.",
    ),
    negative=Choice(
        "abs",
        of=NEGATIVE,
        only={"method": ("spectral",)},
        help="For spectral: absolute values of negative marginals, zeros, neither.",
    ),
    nodes_per_state=Count(10, help="A state for so many nodes of a label at most."),
    early_stopping=Choice(
        "likelihood",
        of=MEASURES,
        only={"method": (*_BY_EM, "split-merge")},  # what "spectral" calls probability is none
        help="For EM: what is measured on --validation.",
    ),
    binarize=BINARIZATION["binarize"],
    horizontal=_HORIZONTAL,
    vertical=_VERTICAL,
    **_COMMON,
    random_state=Seed(0, flags="--seed", help="Equal seeds give equal bits."),
    n_jobs=N_JOBS,
)
