"""The parameters of taggers and of two-view models."""

from collections.abc import Sequence
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
)

PERCEPTRON, CRF = {"model": ("perceptron",)}, {"model": ("crf",)}


def _gives_vectors(value: object) -> bool:
    return hasattr(value, "transform") and not isinstance(value, type)


def _are_features(value: object) -> bool:
    if isinstance(value, str):
        return value in ("auto", "chunk", "ner", "pos")
    return _are_names(value)


def _are_names(value: Any) -> bool:
    is_list = isinstance(value, Sequence) and not isinstance(value, (str, bytes)) and bool(value)
    return is_list and all(isinstance(one, str) for one in value)


def _listed(value: Any) -> Any:
    return value if isinstance(value, str) else list(value)


Tagger = Table(
    "Tagger",
    model=Choice(
        "perceptron",
        of=("perceptron", "crf"),
        help="crf is a probabilistic model. It takes longer, and needs python-crfsuite.",
    ),
    features=Given(
        "auto",
        what="'auto', 'chunk', 'ner', 'pos' or a list of templates such as 'word[-1]|word[0]'",
        test=_are_features,
        keep=_listed,
        metavar="auto|chunk|ner|pos",
        help="The set of features. auto chooses it by the tags.",
    ),
    vectors=VECTORS,
    clusters=CLUSTERS,
    eigentokens=Given(
        None, what="a fitted model with transform(sentences)", test=_gives_vectors, flags=""
    ),
    states=Given(
        None, what="a fitted model with transform(sentences)", test=_gives_vectors, flags=""
    ),
    parser=Given(
        None, what="a fitted model with transform(sentences)", test=_gives_vectors, flags=""
    ),
    columns=Given(
        None,
        what="a list of names, the word's first",
        test=lambda value: isinstance(value, str) or _are_names(value),
        keep=_listed,
        flags="",
    ),
    scheme=Choice(
        "auto",
        of=("auto", "bio", "bilou"),
        none=True,
        help="The scheme of valid taggings. bilou also learns which tokens are the first, the last "
        "or the only one of a chunk.",
    ),
    scale=Number(
        0.3, least=0, help="The size of the coordinates of vectors. Other features are 1."
    ),
    min_count=Count(1, help="Features that occur less often are left out."),
    n_epochs=Count(
        10, flags="--epochs", help="The number of passes of the perceptron.", only=PERCEPTRON
    ),
    n_runs=Count(
        1,
        flags="--runs",
        help="The number of perceptrons, each with another order of the sentences. The tagger "
        "uses their mean.",
        only=PERCEPTRON,
    ),
    margin=Number(
        0.0,
        least=0,
        help="How far the right tagging must be ahead of others.",
        only=PERCEPTRON,
    ),
    c1=Number(0.0, least=0, help="The penalty of the CRF for absolute weights.", only=CRF),
    c2=Number(1.0, least=0, help="The penalty of the CRF for squared weights.", only=CRF),
    n_iter=Count(
        100, flags="--iterations", help="The largest number of iterations of the CRF.", only=CRF
    ),
    random_state=Seed(
        0,
        flags="--seed",
        help="The random seed. The same seed gives the same result.",
        only=PERCEPTRON,
    ),
)

_VIEWS = {
    "n_components": Count(50),
    "n_first": Count(None),
    "regularization": Number(1.0, least=0),
    "use": Choice("both", of=("both", "first", "second")),
    "shrink": Flag(True),
}

TwoViewClassifier = Table(
    "TwoViewClassifier", **_VIEWS, C=Number(1.0, above=0), random_state=Seed(0)
)
TwoViewRegressor = Table(
    "TwoViewRegressor", **_VIEWS, alpha=Number(1.0, above=0), random_state=Seed(0)
)
