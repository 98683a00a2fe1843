"""The parameters of models of sequences."""

from collections.abc import Iterable
from copy import copy
from typing import Any

from eigentext.parameters import REQUIRED, Choice, Count, Flag, Given, Number, Seed, Table

_RARE = "Rarer words share one symbol."
_SPECTRAL = {"method": ("spectral", "spectral+em")}
_EM = {"method": ("em", "spectral+em")}
_PIVOT = {"method": ("pivot+em", "pivot")}
_SEED = Seed(0, flags="--seed", help="Equal seeds give equal bits.")

KneserNey = Table(
    "KneserNey",
    order=Count(3, help="Words in the longest n-gram."),
    min_count=Count(1, help=_RARE),
)

BigramModel = Table(
    "BigramModel",
    n_states=Count(32, flags="--states -m", help="Hidden states."),
    method=Choice("pivot+em", of=("pivot+em", "pivot", "em"), help="How it is learned."),
    min_count=Count(1, help=_RARE),
    n_iter=Count(100, least=0, flags="--iterations", help="The most steps of EM."),
    smoothing=Number(5.0, least=0, help="Tokens added to every context, with the mean's states."),
    heldout_fraction=Number(
        0.05, least=0, below=1, help="Without held-out text, the part of all pairs in its place."
    ),
    init=Choice(
        "uniform",
        of=("uniform", "dirichlet"),
        help="Where EM alone starts.",
        only={"method": ("em",)},
    ),
    n_candidates=Count(None, flags="", only=_PIVOT),
    random_state=_SEED,
)

HMM = Table(
    "HMM",
    n_states=Count(10, flags="--states -m", help="Hidden states."),
    method=Choice(
        "spectral",
        of=("spectral", "em", "spectral+em"),
        help="spectral: one pass, fast; spectral+em: fits best.",
    ),
    min_count=Count(1, help="Rarer words share one symbol, and so do unseen ones."),
    max_size=Count(None, help="Largest vocabulary."),
    scaling=Choice(
        "cca", of=("cca", "none"), help="Of the bigrams that are factored.", only=_SPECTRAL
    ),
    rank=Count(None, help="Directions to use; those above noise by default.", only=_SPECTRAL),
    n_init=Count(None, flags="--starts", help="Starts of EM.", shown="10", only=_EM),
    n_iter=Count(
        None,
        least=0,
        flags="--iterations",
        help="The most passes of EM over the text.",
        shown="300; 100 if spectral",
        only=_EM,
    ),
    tol=Number(1e-6, least=0, flags="", only=_EM),
    smoothing=Number(20.0, least=0, help="Tokens added to what EM has each state emit.", only=_EM),
    n_jobs=Count(None, flags="", only=_EM),
    random_state=_SEED,
)

HMMTagger = Table(
    "HMMTagger",
    order=Choice(2, of=(1, 2), help="States that the next one depends on."),
    classes=Given(
        "shape",
        what="'shape', 'factor', None or a function from a word to its class",
        test=lambda one: callable(one) or (isinstance(one, str) and one in ("shape", "factor")),
        none=True,
    ),
    joint=Flag(None),
    rare=Count(30, least=0, help="Words seen at most so often are rare."),
    scheme=Choice(None, of=("bio",), help="Of the tags; with bio, none that breaks it is given."),
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
        keep=lambda models: list(map(copy, models)),  # fitted again elsewhere, they are others
    ),
    by_count=Flag(False),
    tol=Number(1e-5, least=0),
    n_iter=Count(1000, least=0),
)
