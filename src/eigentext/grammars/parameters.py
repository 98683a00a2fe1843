"""The tables of the parameters of grammars."""

from collections.abc import Callable, Mapping
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
    is_number,
    is_whole,
)

METHODS = ("spectral", "spectral+em", "pivot", "pivot+em", "em", "split-merge")
DECODINGS = ("mbr", "max-rule", "viterbi")
NEGATIVE = ("abs", "clip", "none")
MEASURES = ("likelihood", "f1")
FEATURE_SETS = ("full", "simple")
RIGHT_BY = ("bracket", "node", "symbol")
WHITENINGS = ("diagonal", "exact")
ALLOCATIONS = ("uniform", "spectrum", "held-out")
OTHERS = "*"  # in a mapping of labels to numbers of states: all labels that it does not name
# The constants of smoothing, with the values that smoothing=1 stands for. Those of "spectral" are
# the C of averages of one, two and three vectors of a rule and of the vector of a word. The others
# are those of EM and pivots (``Smoothing`` of ``learning/training.py``).
SMOOTHING = {
    "factor": 1.0, "one": 2.5, "two": 10.0, "three": 40.0, "word": 3.0,
    "states": 0.03, "words": 0.2, "dependent": 5.0, "independent": 2.0,
}  # fmt: skip
# Of pivots: the steps of EM for each rule, when they end, and how many nodes must have a feature.
PIVOTS = {"steps": 5, "tol": 1e-9, "least": 10.0}
_BY_FEATURES = ("spectral", "spectral+em", "pivot", "pivot+em")
_BY_EM = ("spectral+em", "pivot+em", "em")
_BY_DIRECTIONS = ("spectral", "pivot", "pivot+em")


def _is_features(value: Any) -> bool:
    return callable(value) or (isinstance(value, str) and value in FEATURE_SETS)


def _is_n_jobs(value: Any) -> bool:
    return is_whole(value) and (value == -1 or value >= 1)


def _is_states(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return is_whole(value) and value >= 1
    return bool(value) and all(isinstance(k, str) and k and _is_states(v) for k, v in value.items())


def _take_states(value: Any) -> int | dict[str, int]:
    if isinstance(value, Mapping):
        return {label: int(m) for label, m in value.items()}
    return int(value)


def _pairs(text: str, number: Callable[[str], Any]) -> Any:
    """Read "3" as a number, and "NP=3,VP=4" as a mapping; what is neither stays a text."""
    try:
        if "=" not in text:
            return number(text)
        pairs = (part.rsplit("=", 1) for part in text.split(","))
        return {name.strip(): number(value) for name, value in pairs}
    except ValueError:
        return text


def _constants(main: str, known: Mapping[str, float], **options: Any) -> Given:
    """One number, which is the constant `main`, or a mapping of some of the known constants."""

    def allows(value: Any) -> bool:
        if isinstance(value, Mapping):
            return bool(value) and all(
                k in known and not isinstance(v, Mapping) and allows(v) for k, v in value.items()
            )
        return is_number(value) and 0 <= value < float("inf")

    def take(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: take(number) for name, number in value.items()}
        return int(value) if is_whole(value) else float(value)

    return Given(
        known[main],
        what=f"a number, 0 or more, or a mapping of some of {', '.join(known)} to such numbers",
        test=allows,
        keep=take,
        parse=lambda text: _pairs(text, float),
        metavar="NUMBER|NAME=NUMBER,…",
        **options,
    )


def constants(value: Any, main: str, known: Mapping[str, float]) -> dict[str, float]:
    """All constants of a parameter that is one number (the constant `main`) or a mapping."""
    return {**known, **(value if isinstance(value, Mapping) else {main: value})}


def largest(n_states: int | Mapping[str, int]) -> int:
    """The largest number of states that the parameter `n_states` allows any label."""
    return max(n_states.values()) if isinstance(n_states, Mapping) else n_states


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
    "mbr": Choice(
        "bracket",
        of=RIGHT_BY,
        only={"decoding": ("mbr",)},
        help="For mbr: what must be right: brackets, whole unary chains, or binarized symbols.",
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
    n_states=Given(
        16,
        what="a whole number, 1 or more, or a mapping of labels to such numbers",
        test=_is_states,
        keep=_take_states,
        parse=lambda text: _pairs(text, int),
        metavar="NUMBER|LABEL=NUMBER,…",
        flags="--states -m",
        help="The largest number of hidden states of a label; NP=24,*=8: of NP, and of all others.",
    ),
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
    allocation=Choice(
        "uniform",
        of=ALLOCATIONS,
        only={"method": (*_BY_FEATURES, "em")},
        help="How many states labels have: all that --states allows, by spectra, or by trying.",
    ),
    smoothing=_constants(
        "factor", SMOOTHING, help="How far rules and words move towards simpler models."
    ),
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
    whitening=Choice(
        "diagonal",
        of=WHITENINGS,
        only={"method": _BY_FEATURES},
        help="Scale features one by one, or by the inverse square root of their covariances.",
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
    rank=Count(
        None,
        only={"method": ("spectral",)},
        shown="full tensors",
        help="For spectral: write the tensor of a rule as a sum of so many products of vectors.",
    ),
    pivots=_constants(
        "steps",
        PIVOTS,
        only={"method": ("pivot", "pivot+em")},
        help="For pivots: the steps of EM for each rule.",
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
