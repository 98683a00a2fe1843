"""The parameters of kernels, of global linear models and of rerankers."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from eigentext.parameters import REQUIRED, Choice, Count, Flag, Given, Number, Seed, Table

BETAS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 20.0, 50.0)
AVERAGES = ("mean", "vote")
MATCHES = ("exact", "capitalization", "factor")
_decay = Number(1.0, above=0, most=1)
_weight = Number(0.0, least=0)


def _is_kernel(value: Any) -> bool:
    return hasattr(value, "gram") and hasattr(value, "encode") and not isinstance(value, type)


def several(values: Any) -> list[Any]:
    """A list of what may be one: a number, a name or None."""
    if hasattr(values, "tolist"):  # an array
        values = values.tolist()
    return list(values) if isinstance(values, (list, tuple)) else [values]


def _all(test: Any) -> Any:
    return lambda values: bool(several(values)) and all(map(test, several(values)))


def _kernel(default: Any, **options: Any) -> Given:
    # A deep copy: kernels are made of kernels, whose parameters may be set later.
    what = "a kernel, as TreeKernel(decay=0.4)"
    return Given(default, what=what, test=_is_kernel, keep=deepcopy, **options)


def _function(what: str) -> Given:
    return Given(None, what=f"a function {what}", test=callable, keep=lambda function: function)


def _is_match(value: Any) -> bool:
    return isinstance(value, Mapping) or callable(value) or Choice("", of=MATCHES).allows(value)


TreeKernel = Table("TreeKernel", decay=_decay)

SequenceKernel = Table(
    "SequenceKernel",
    decay=_decay,
    match=Given(
        "exact",
        what="'exact', 'capitalization', 'factor', a mapping of words to classes, or a function "
        "of a word",
        test=_is_match,
    ),
    joint=Flag(False),
)

LinearKernel = Table("LinearKernel", phi=_function("from a structure to its features"))

PolynomialKernel = Table("PolynomialKernel", degree=Count(2), phi=LinearKernel["phi"])

SumKernel = Table("SumKernel", first=_kernel(REQUIRED), second=_kernel(REQUIRED))
ProductKernel = Table("ProductKernel", first=_kernel(REQUIRED), second=_kernel(REQUIRED))
ScaledKernel = Table("ScaledKernel", kernel=_kernel(REQUIRED), scale=Number(REQUIRED, above=0))
NormalizedKernel = Table("NormalizedKernel", kernel=_kernel(REQUIRED))
BaselineKernel = Table("BaselineKernel", kernel=_kernel(REQUIRED), beta=Number(REQUIRED, least=0))

Perceptron = Table(
    "Perceptron",
    phi=_function("from a candidate to its features"),
    gen=_function("from an input to its candidates"),
    n_epochs=Count(10),
    average=Flag(True),
)

KernelPerceptron = Table(
    "KernelPerceptron",
    kernel=_kernel(REQUIRED),
    n_epochs=Count(10),
    average=Choice("mean", of=AVERAGES, none=True),
    baseline=Number(None, least=0),
)


def _average(text: str) -> str | None:
    return None if text == "none" else text


Reranker = Table(
    "Reranker",
    kernel=_kernel(None, flags=""),
    decay=Given(
        None,
        what="one or several numbers, above 0 and 1 at most",
        test=_all(_decay.allows),
        keep=several,
        parse=float,
        many=True,
        help="What each part of a fragment multiplies its weight by; several times: values to "
        "choose from.",
        shown="0.2, 0.3, 0.4, 0.5",
    ),
    beta=Given(
        BETAS,
        what="one or several numbers, 0 or more",
        test=_all(_weight.allows),
        keep=several,
        parse=float,
        many=True,
        help="What the log-probability weighs; several times: values to choose from.",
        shown="from 0 to 50",
    ),
    training_beta=Number(0.3, least=0, help="What the log-probability weighs in training."),
    margin=Number(0.4, least=0, help="How far the right one must be ahead in training."),
    n_epochs=Count(5, flags="--epochs", help="Passes over the lists."),
    average=Given(
        "mean",
        none=True,
        what="'mean', 'vote' or None, or several of them",
        test=_all(lambda one: one is None or Choice("", of=AVERAGES).allows(one)),
        keep=lambda given: given if isinstance(given, str) else several(given),
        parse=_average,
        metavar="mean|vote|none",
        help="What decides: the mean of all weights on the way, their votes, or the last.",
    ),
    closest=Flag(True, flags="--closest/--no-closest", help="Let the nearest candidate stand in."),
    dev_share=Number(0.2, above=0, below=1, help="Share of the inputs held out, without --dev."),
    random_state=Seed(0, flags="--seed", help="Equal seeds give equal bits."),
)
