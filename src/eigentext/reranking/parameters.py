"""The parameters of rerankers."""

from typing import Any

from eigentext.kernels.parameters import DECAY, a_kernel
from eigentext.linear.parameters import AVERAGES
from eigentext.parameters import CLUSTERS, VECTORS, Choice, Count, Flag, Given, Number, Seed, Table

BETAS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 20.0, 50.0)
_weight = Number(0.0, least=0)


def several(values: Any) -> list[Any]:
    """Return a list of values that were given as a list or as a single value."""
    if hasattr(values, "tolist"):  # an array
        values = values.tolist()
    return list(values) if isinstance(values, (list, tuple)) else [values]


def _all(test: Any) -> Any:
    return lambda values: bool(several(values)) and all(map(test, several(values)))


def _average(text: str) -> str | None:
    return None if text == "none" else text


Reranker = Table(
    "Reranker",
    renamed={"dev_share": "validation_share"},
    kernel=a_kernel(None, flags=""),
    decay=Given(
        None,
        what="one or several numbers, above 0 and 1 at most",
        test=_all(DECAY.allows),
        keep=several,
        parse=float,
        many=True,
        help="Each part of a fragment multiplies its weight by this number. Give the option "
        "several times for values to choose from.",
        shown="0.2, 0.3, 0.4, 0.5",
    ),
    beta=Given(
        BETAS,
        what="one or several numbers, 0 or more",
        test=_all(_weight.allows),
        keep=several,
        parse=float,
        many=True,
        help="The weight of the log-probability. Give the option several times for values to "
        "choose from.",
        shown="from 0 to 50",
    ),
    training_beta=Number(0.3, least=0, help="The weight of the log-probability in training."),
    margin=Number(0.4, least=0, help="By how much the right candidate must win in training."),
    n_epochs=Count(5, flags="--epochs", help="The number of passes over the lists."),
    average=Given(
        "mean",
        none=True,
        what="'mean', 'vote' or None, or several of them",
        test=_all(lambda one: one is None or Choice("", of=AVERAGES).allows(one)),
        keep=lambda given: given if isinstance(given, str) else several(given),
        parse=_average,
        metavar="mean|vote|none",
        help="What decides: the mean of the weights after each step, their votes, or the last "
        "weights.",
    ),
    closest=Flag(
        True,
        flags="--closest/--no-closest",
        help="If the gold structure is not in a list, use the closest candidate in its place.",
    ),
    validation_share=Number(
        0.2,
        above=0,
        below=1,
        flags="--validation-share --dev-share",
        help="The share of the inputs that is held out if there is no --validation.",
    ),
    random_state=Seed(
        0, flags="--seed", help="The random seed. The same seed gives the same result."
    ),
)

MODELS = ("log-linear", "perceptron")
FAMILIES = (
    *("rules", "ngrams", "heads", "biheads", "edges", "heavy", "right", "words", "splits"),
    *("parallel", "clusters", "vectors"),
)
_LOG_LINEAR, _PERCEPTRON = {"model": ("log-linear",)}, {"model": ("perceptron",)}


TreeReranker = Table(
    "TreeReranker",
    model=Choice(
        "log-linear",
        of=MODELS,
        help="log-linear: how probable each bracket is; perceptron: whole trees.",
    ),
    features=Given(
        FAMILIES,
        what=f"one or several of {', '.join(FAMILIES)}",
        test=_all(lambda one: isinstance(one, str) and one in FAMILIES),
        keep=several,
        parse=str,
        many=True,
        metavar="FAMILY",
        help="Families of features. Give the option several times.",
        shown="all",
    ),
    clusters=CLUSTERS,
    vectors=VECTORS,
    penalty=Given(
        (10.0, 20.0, 40.0),
        what="one or several numbers above 0",
        test=_all(Number(1.0, above=0).allows),
        keep=several,
        parse=float,
        many=True,
        only=_LOG_LINEAR,
        help="The penalty for squared weights. Give the option several times for values to choose "
        "from.",
        shown="10, 20, 40",
    ),
    n_iter=Count(
        40, flags="--iterations", only=_LOG_LINEAR, help="The largest number of steps of L-BFGS."
    ),
    beta=Number(
        20.0, least=0, only=_PERCEPTRON, help="The weight of the base model's score in training."
    ),
    margin=Number(
        50.0, least=0, only=_PERCEPTRON, help="By how much the right tree must win in training."
    ),
    n_epochs=Count(
        5, flags="--epochs", only=_PERCEPTRON, help="The number of passes over the lists."
    ),
    min_count=Count(5, help="Features of fewer brackets are left out."),
    validation_share=Number(
        0.2,
        above=0,
        below=1,
        help="The share of the inputs that is held out if there is no --validation.",
    ),
    random_state=Seed(
        0, flags="--seed", help="The random seed. The same seed gives the same result."
    ),
)
