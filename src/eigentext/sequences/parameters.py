"""The tables of parameters of the models of sequences."""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from os import PathLike
from typing import Any

from eigentext.parameters import REQUIRED, Choice, Count, Flag, Given, Number, Seed, Table, is_whole

_RARE = "Words that occur less often share one symbol."
_SPECTRAL = {"method": ("spectral", "spectral+em"), "repair": ("floor",)}
_EM = {"method": ("em", "spectral+em", "anchor")}
_STARTS = {"method": ("em", "spectral+em")}
_ANCHOR = {"method": ("anchor",)}
_PIVOT = {"method": ("pivot+em", "pivot")}
_SEED = Seed(0, flags="--seed", help="The random seed. The same seed gives the same result.")


def _are_thresholds(value: Any) -> bool:
    if not isinstance(value, (list, tuple)):
        return False
    found: list[Any] = list(value)
    if not all(is_whole(one) and one >= 0 for one in found):
        return False
    return found == sorted(found) and not any(found[:1])


KneserNey = Table(
    "KneserNey",
    order=Count(3, help="The number of words in the longest n-grams."),
    min_count=Count(1, help=_RARE),
    prune=Given(
        (),
        what="a list of whole numbers that never fall, one for each order; the first is 0",
        test=_are_thresholds,
        keep=lambda found: tuple(map(int, found)),
        parse=int,
        many=True,
        metavar="COUNTS",
        help="Leave out n-grams that occur at most this often: a number for each order, as in "
        "--prune 0 0 1.",
        shown="none",
    ),
)

BigramModel = Table(
    "BigramModel",
    renamed={"heldout_fraction": "validation_fraction"},
    n_states=Count(32, flags="--states -m", help="The number of hidden states."),
    method=Choice("pivot+em", of=("pivot+em", "pivot", "em"), help="How the model is learned."),
    min_count=Count(1, help=_RARE),
    n_iter=Count(100, least=0, flags="--iterations", help="The largest number of EM steps."),
    smoothing=Number(5.0, least=0, help="Tokens with the mean states added to every context."),
    validation_fraction=Number(
        0.05,
        least=0,
        below=1,
        help="Without validation text, the fraction of all pairs that takes its place.",
    ),
    init=Choice(
        "uniform",
        of=("uniform", "dirichlet"),
        help="The start of method em.",
        only={"method": ("em",)},
    ),
    n_candidates=Count(None, flags="", only=_PIVOT),
    random_state=_SEED,
)


def _are_classes(value: object) -> bool:
    if isinstance(value, (str, PathLike)):
        return str(value) != ""
    return isinstance(value, Mapping) or (
        hasattr(value, "vocabulary_")
        and (hasattr(value, "bit_strings_") or hasattr(value, "classes_"))
    )


ClassBigram = Table(
    "ClassBigram",
    clusters=Given(
        None,
        what="fitted WordClusters, a dictionary of words and classes, or the name of a paths file; "
        "a number of classes is n_classes",
        test=_are_classes,
        parse=str,
        metavar="FILE",
        help="A paths file of `words cluster` or wcluster: the class of each word.",
    ),
    n_classes=Count(1000, flags="--classes -k", help="The number of classes to learn."),
    init=Choice(
        "cca",
        of=("cca", "frequency", "brown"),
        help="Where learning starts: clusters of vectors, frequent words, or Brown's merges.",
    ),
    exchange=Flag(
        None,
        flags="--exchange/--no-exchange",
        help="Whether words move between classes while the text gets more likely.",
        shown="unless there are --clusters",
    ),
    n_iter=Count(20, least=0, flags="--iterations", help="The largest number of sweeps."),
    tol=Number(1e-4, least=0, flags=""),
    min_count=Count(1, help=_RARE),
    smoothing=Choice(
        "kneser-ney", of=("kneser-ney", "none"), help="How bigrams of classes are smoothed."
    ),
)

HMM = Table(
    "HMM",
    n_states=Count(10, flags="--states -m", help="The number of hidden states."),
    method=Choice(
        "spectral",
        of=("spectral", "em", "spectral+em", "anchor"),
        help="spectral is fast and takes one pass; spectral+em fits best; anchor finds tags.",
    ),
    min_count=Count(1, help="Words that occur less often share one symbol with unknown words."),
    max_size=Count(None, help="The largest size of the vocabulary."),
    scaling=Choice(
        "cca", of=("cca", "none"), help="How the bigram matrix is scaled.", only=_SPECTRAL
    ),
    rank=Count(
        None, help="Directions to use.", shown="those that exceed the noise", only=_SPECTRAL
    ),
    repair=Choice(
        "floor",
        of=("floor", "none"),
        help="none is the plain algorithm: no choice of rank, no shrinkage, no least probability.",
        only={"method": ("spectral",)},
    ),
    n_init=Count(
        None,
        flags="--starts",
        help="The number of starts of EM.",
        shown="10, or 6 for spectral+em",
        only=_STARTS,
    ),
    n_iter=Count(
        None,
        least=0,
        flags="--iterations",
        help="The largest number of passes of EM over the text.",
        shown="300; 100 for spectral+em, 0 for anchor",
        only=_EM,
    ),
    anchors=Choice(
        "groups",
        of=("groups", "corners"),
        help="What a tag is: a group of frequent words, or one word at a corner of all words.",
        only=_ANCHOR,
    ),
    n_candidates=Count(
        300,
        flags="--candidates",
        help="How many of the most frequent words may be anchors.",
        only=_ANCHOR,
    ),
    spelling=Number(
        None,
        least=0,
        help="The tokens that the spelling of a word counts for. 0 ignores it.",
        shown="30, or 0 for integers",
        only=_ANCHOR,
    ),
    tol=Number(1e-6, least=0, flags="", only=_EM),
    smoothing=Number(
        20.0, least=0, help="Tokens added to the expected emissions of each state.", only=_EM
    ),
    n_jobs=Count(None, flags="", only=_EM),
    random_state=_SEED,
)

HMMTagger = Table(
    "HMMTagger",
    order=Choice(2, of=(1, 2), help="How many states the next state depends on."),
    classes=Given(
        "shape",
        what="'shape', 'factor', None or a function from a word to its class",
        test=lambda one: callable(one) or (isinstance(one, str) and one in ("shape", "factor")),
        none=True,
    ),
    joint=Flag(None),
    rare=Count(30, least=0, help="Words that occur at most this often are rare."),
    scheme=Choice(None, of=("bio",), help="The scheme that all taggings follow."),
)


def _is_states(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return is_whole(value) and value >= 1
    return bool(value) and all(isinstance(k, str) and k and _is_states(v) for k, v in value.items())


def _read_states(text: str) -> Any:
    """Read "3" as a number, and "NN=3,VB=4" as a mapping; what is neither stays a text."""
    try:
        if "=" not in text:
            return int(text)
        return {tag: int(m) for tag, m in (part.rsplit("=", 1) for part in text.split(","))}
    except ValueError:
        return text


RefinementHMM = Table(
    "RefinementHMM",
    n_states=Given(
        8,
        what="a whole number, 1 or more, or a mapping of tags to such numbers",
        test=_is_states,
        keep=lambda given: dict(given) if isinstance(given, Mapping) else int(given),
        parse=_read_states,
        metavar="NUMBER|TAG=NUMBER,…",
        flags="--states -m",
        help="The largest number of hidden states of a tag; NN=8,*=2: of NN, and of all others.",
    ),
    method=Choice(
        "spectral+em",
        of=("spectral+em", "em", "spectral"),
        help="How hidden states are learned; spectral+em fits best.",
    ),
    decoding=Choice(
        "marginals",
        of=("marginals", "pairs", "viterbi"),
        help="How tags are chosen: by each token, by each two tokens, or all with their states.",
    ),
    classes=replace(HMMTagger["classes"], flags=""),
    joint=Flag(None, help="States belong to a tag together with the class of its word."),
    rare=HMMTagger["rare"],
    scheme=HMMTagger["scheme"],
    smoothing=Number(10.0, least=0, help="Tokens of its tag that are added to each state."),
    n_iter=Count(
        30, least=0, flags="--iterations", help="The largest number of EM steps.", only=_EM
    ),
    tol=Number(1e-5, least=0, flags="", only=_EM),
    random_state=_SEED,
)


def _are_models(value: Any) -> bool:
    models = list(value) if isinstance(value, Iterable) else []
    return len(models) > 1 and all(hasattr(one, "log_probabilities") for one in models)


Interpolation = Table(
    "Interpolation",
    models=Given(
        REQUIRED,
        what="a list of two fitted language models or more",
        test=_are_models,
        keep=lambda models: list(map(copy, models)),  # the mixture keeps them as they are now
    ),
    by_count=Flag(False),
    tol=Number(1e-5, least=0),
    n_iter=Count(1000, least=0),
)


def _is_basis(value: Any) -> bool:
    if is_whole(value):
        return value >= 1
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence) or len(value) != 2:
        return False
    return all(
        isinstance(strings, Sequence)
        and not isinstance(strings, (str, bytes))
        and len(strings) > 0
        and all(map(_is_string, strings))
        for strings in value
    )


def _is_string(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(
        isinstance(one, str) or is_whole(one) for one in value
    )


def _kept_basis(value: Any) -> Any:
    """The basis as built-in types that a model file can hold."""
    if is_whole(value):
        return int(value)
    return [
        [[one if isinstance(one, str) else int(one) for one in string] for string in strings]
        for strings in value
    ]


WeightedAutomaton = Table(
    "WeightedAutomaton",
    n_states=Count(100, flags="--states -m", help="The largest number of states."),
    basis=Given(
        1000,
        what="a whole number, 1 or more, or two lists of strings (prefixes and suffixes), each "
        "string a list or tuple of symbols, possibly empty",
        test=_is_basis,
        keep=_kept_basis,
        parse=int,
        metavar="INTEGER",
        help="How many of the most frequent strings are prefixes, and how many are suffixes.",
    ),
    longest=Count(3, help="The number of symbols in the longest prefixes and suffixes."),
    statistics=Choice(
        "substring",
        of=("substring", "prefix", "string"),
        help="What is counted: strings anywhere, at the start of sequences, or whole sequences.",
    ),
    selection=Choice(
        "noise",
        of=("noise", "validation"),
        help="How many states are used: those that exceed the noise, or as held-out text says.",
        only={"repair": ("floor",)},
    ),
    rank=Count(
        None,
        help="Directions to use.",
        shown="those that exceed the noise",
        only={"selection": ("noise",), "repair": ("floor",)},
    ),
    min_count=Count(1, help="Words that occur less often share one symbol with unknown words."),
    max_size=Count(None, help="The largest size of the vocabulary."),
    scaling=Choice(
        "cca",
        of=("cca", "none"),
        help="How the Hankel matrix is scaled.",
        only={"repair": ("floor",)},
    ),
    repair=Choice(
        "floor",
        of=("floor", "none"),
        help="none is the plain algorithm: no choice of rank, no shrinkage, no least probability.",
    ),
    validation_fraction=Number(
        0.1,
        above=0,
        below=1,
        help="The fraction of the text that is held out to choose the number of states.",
        only={"selection": ("validation",), "repair": ("floor",)},
    ),
    n_jobs=Count(None, flags=""),
    random_state=_SEED,
)
