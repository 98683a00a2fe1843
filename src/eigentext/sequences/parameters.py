"""The tables of parameters of the models of sequences."""

from collections.abc import Iterable
from copy import copy
from typing import Any

from eigentext.parameters import (
    REQUIRED,
    Choice,
    Count,
    Flag,
    Given,
    Number,
    Seed,
    Table,
    is_whole,
)

_RARE = "Words that occur less often share one symbol."
_SPECTRAL = {"method": ("spectral", "spectral+em")}
_EM = {"method": ("em", "spectral+em")}
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

HMM = Table(
    "HMM",
    n_states=Count(10, flags="--states -m", help="The number of hidden states."),
    method=Choice(
        "spectral",
        of=("spectral", "em", "spectral+em"),
        help="spectral is fast and takes one pass; spectral+em fits best.",
    ),
    min_count=Count(1, help="Words that occur less often share one symbol with unknown words."),
    max_size=Count(None, help="The largest size of the vocabulary."),
    scaling=Choice(
        "cca", of=("cca", "none"), help="How the bigram matrix is scaled.", only=_SPECTRAL
    ),
    rank=Count(
        None, help="Directions to use.", shown="those that exceed the noise", only=_SPECTRAL
    ),
    n_init=Count(None, flags="--starts", help="The number of starts of EM.", shown="10", only=_EM),
    n_iter=Count(
        None,
        least=0,
        flags="--iterations",
        help="The largest number of passes of EM over the text.",
        shown="300, or 100 for spectral+em",
        only=_EM,
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
