"""One law for every estimator: data with almost nothing in them have a finite answer, or an error.

The data repeat one line, or have one word, fewer kinds of documents than topics, constant columns.
Methods that invert or divide must see it: no number of the model, of its diagnostics and of its
file may be infinite or NaN. If a model is smaller than asked for, a warning names the remedy.
"""

import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
from typer.testing import CliRunner

import eigentext as et
from eigentext.cli.main import app
from eigentext.errors import EigentextError
from eigentext.factor import CCA
from eigentext.storage import read_saved

_MOST = 1e9  # no figure of a model of small data is larger
_FORBIDDEN = ("transition", "end")  # of taggers: forbidden transitions have the weight -inf
_REMEDIES = ("give", "lower", "use", "raise", "ask", "learn", "read", "divide", "scale")


class Case(NamedTuple):
    """A model of data with almost nothing in them."""

    make: Callable[[], Any]
    data: tuple[Any, ...]
    asks: Callable[[Any, Any], Any]  # what the model answers about the data: finite numbers


RANDOM = np.random.default_rng(0)
LINES = {
    "one line": ["the cat sat on the mat"],
    "one line, often": ["the cat sat on the mat"] * 50,
    "one word": ["ham"] * 30,
    "one word, in a row": ["ham ham ham ham"] * 30,
    "two words": ["ham eggs"] * 20,
    "two words in turns": ["ham eggs ham eggs ham eggs"] * 10,
    "two words at random": [" ".join(RANDOM.choice(["ham", "eggs"], 8)) for _ in range(40)],
    "two lines": ["ham eggs and bread", "goal match of teams"] * 20,
    "each word once": [" ".join(f"w{i}-{j}" for j in range(5)) for i in range(20)],
}
SENTENCES = {name: [line.split() for line in lines] for name, lines in LINES.items()}
TAGGED = {
    name: [[(word, "DN"[place > 0]) for place, word in enumerate(line)] for line in lines]
    for name, lines in SENTENCES.items()
}
THREE = [
    "knead dough bake bread oven",
    "goal team match keeper ball",
    "court judge jury trial lawyer",
]
DOCUMENTS = {
    "one document": ["knead the dough and bake the bread in the hot oven"],
    "one document, often": ["knead the dough and bake the bread"] * 50,
    "one document in most": ["knead the dough and bake the bread"] * 600,
    "three kinds": THREE * 30,
    "three kinds in many": THREE * 300,
    "one word": ["ham ham ham"] * 30,
    "two words": ["ham eggs ham", "eggs eggs ham"] * 20,
    "no common word": [" ".join(f"{a}{b}{c}" for c in "xyz") for a in "abcde" for b in "fghij"],
}
TREE = "(S (NP (D the) (N dog)) (VP (V saw) (NP (D the) (N cat))))"
TREES = {"one tree": [TREE], "one tree, often": [TREE] * 50, "one leaf": ["(S (N dog))"] * 10}
COLUMNS = {
    "constant": np.ones((20, 4)),
    "zero": np.zeros((20, 4)),
    "one direction": np.outer(np.arange(20.0), np.ones(4)),
    "huge": RANDOM.normal(size=(20, 4)) * 1e160,
    "tiny": RANDOM.normal(size=(20, 4)) * 1e-160,
}
POINTS = {
    "zero": np.zeros((8, 3)),
    "one point": np.ones((8, 3)),
    "two points": np.repeat(np.eye(2), 4, axis=0),
    "huge": np.eye(4) * 1e200,
    "tiny": np.eye(4) * 1e-200,
}


# What models are asked about their training data.


def _predicts(model: Any, lines: Any) -> Any:
    return [model.perplexity(lines), model.score(lines)]


def _maps(model: Any, X: Any) -> Any:
    return model.transform(X)


def _shares(model: Any, texts: Any) -> Any:
    return [model.transform(texts), model.perplexity(texts)]


def _clusters(model: Any, points: Any) -> Any:
    return model.labels_


def _parses(model: Any, trees: Any) -> Any:
    spans = model.marginals("the dog saw the cat")
    return [model.score(trees), [span[-1] for span in spans], model.log_probability(trees[0])]


def _tags(model: Any, tagged: Any) -> Any:
    words = [word for word, _ in tagged[0]]
    if isinstance(model, et.Tagger):
        return [model.score(tagged), *(list(map(float, one)) for one in model.confidences([words]))]
    return [model.score(tagged), model.log_probability(tagged[0])]


def _ranks(model: Any, lists: Any) -> Any:
    return model.scores(lists)


# The cases.


def _sequences() -> Iterator[tuple[str, Case]]:
    for name, lines in SENTENCES.items():
        for k in (1, 2, 5):
            for method in ("spectral", "em", "spectral+em", "anchor"):
                make = partial(et.HMM, k, method=method, n_iter=5)
                yield f"HMM, {method}, {k}: {name}", Case(make, (lines,), _predicts)
            for method in ("pivot", "em", "pivot+em"):
                make = partial(et.BigramModel, k, method=method, n_iter=5)
                yield f"BigramModel, {method}, {k}: {name}", Case(make, (lines,), _predicts)
            for init in ("cca", "frequency", "brown"):
                make = partial(et.ClassBigram, n_classes=k, init=init)
                yield f"ClassBigram, {init}, {k}: {name}", Case(make, (lines,), _predicts)
        for order in (1, 2, 3):
            make = partial(et.KneserNey, order)
            yield f"KneserNey, {order}: {name}", Case(make, (lines,), _predicts)


def _words() -> Iterator[tuple[str, Case]]:
    for name, lines in SENTENCES.items():
        for scaling in ("cca", "ppmi", "reg", "none"):
            make = partial(et.Eigenwords, 2, min_count=1, scaling=scaling)
            yield f"Eigenwords, {scaling}: {name}", Case(make, (lines,), _maps)
        make = partial(et.Eigentokens, 2, min_count=1)
        yield f"Eigentokens: {name}", Case(make, (lines,), _maps)
    for name, points in POINTS.items():
        for method in ("agglomerative", "kmeans"):
            make = partial(et.WordClusters, 3, method=method)
            yield f"WordClusters, {method}: {name}", Case(make, (points,), _clusters)


def _topics() -> Iterator[tuple[str, Case]]:
    choices = product(("tensor", "gradient", "anchors"), (0, 5), (0, 1), (1, 5))
    for (name, texts), (method, steps, alpha0, k) in product(DOCUMENTS.items(), list(choices)):
        make = partial(et.TopicModel, k, method=method, alpha0=alpha0, refine=steps)
        title = f"TopicModel, {method}, {steps} steps, alpha0 {alpha0}, {k}: {name}"
        yield title, Case(make, (texts,), _shares)


def _others() -> Iterator[tuple[str, Case]]:
    for name, trees in TREES.items():
        yield f"PCFG: {name}", Case(et.PCFG, (trees,), _parses)
        for method in ("spectral", "pivot", "em"):
            make = partial(et.LatentPCFG, 4, method=method)
            yield f"LatentPCFG, {method}: {name}", Case(make, (trees,), _parses)
    for name, tagged in TAGGED.items():
        yield f"HMMTagger: {name}", Case(et.HMMTagger, (tagged,), _tags)
        for method in ("spectral", "em", "spectral+em"):
            make = partial(et.RefinementHMM, 4, method=method)
            yield f"RefinementHMM, {method}: {name}", Case(make, (tagged,), _tags)
        for model in ("perceptron", "crf"):
            make = partial(et.Tagger, model=model)
            yield f"Tagger, {model}: {name}", Case(make, (tagged,), _tags)
    y = np.arange(20)
    for name, X in COLUMNS.items():
        make = partial(et.TwoViewRegressor, 2)
        yield f"TwoViewRegressor: {name}", Case(make, (X, y), _maps)
        make = partial(et.TwoViewClassifier, 2)
        yield f"TwoViewClassifier: {name}", Case(make, (X, y % 2), _maps)
        for r in (0.0, 0.1):
            make = partial(CCA, 2, regularization=r)
            yield f"CCA, {r}: {name}", Case(make, (X, X), _maps)
    for name, candidate in {"equal candidates": {"a": 1.0}, "no features": {}}.items():
        data = ([[candidate, candidate]] * 5, [0] * 5)
        yield f"Perceptron: {name}", Case(et.Perceptron, data, _ranks)


CASES = {name: case for all_of in (_sequences, _words, _topics, _others) for name, case in all_of()}


def not_finite(value: Any, where: str) -> Iterator[str]:
    """Yield the places of numbers that are not finite, or far too large."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from not_finite(part, f"{where}.{name}")
    elif isinstance(value, (list, tuple)):
        for place, part in enumerate(value):
            yield from not_finite(part, f"{where}[{place}]")
    elif isinstance(value, (float, np.floating, np.ndarray)):
        numbers = np.asarray(value)
        if numbers.dtype.kind == "f" and not (np.abs(numbers) <= _MOST).all():
            yield where


def strict(text: str) -> Any:
    """Read JSON, and refuse NaN and Infinity, which Python's reader takes."""

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("name", CASES)
def test_models_are_finite_or_refused_with_a_remedy(name, tmp_path):
    case = CASES[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = case.make().fit(*case.data)
        except EigentextError as error:
            assert any(remedy in str(error) for remedy in _REMEDIES), error
            return
    told = [str(one.message) for one in caught]
    assert not [one for one in caught if issubclass(one.category, RuntimeWarning)], told
    learned = {key: value for key, value in vars(model).items() if key.endswith("_")}
    assert not list(not_finite(learned, ""))
    assert not list(not_finite(case.asks(model, case.data[0]), "answers"))
    if isinstance(model, et.TopicModel):
        _check_topics(model, told)
    if not hasattr(model, "save"):
        return
    model.save(tmp_path / "model")
    arrays, about = read_saved(tmp_path / "model")
    arrays = {key: part for key, part in arrays.items() if key not in _FORBIDDEN}
    assert not list(not_finite([arrays, about], "file"))
    shown = CliRunner().invoke(app, ["info", "--json", str(tmp_path / "model")])
    assert shown.exit_code == 0
    assert strict(shown.stdout)["format"] == about["format"]
    assert CliRunner().invoke(app, ["info", str(tmp_path / "model")]).exit_code == 0


def _check_topics(model: et.TopicModel, told: list[str]) -> None:
    """Topics are distributions, none has all the weight, and a smaller number is told."""
    assert model.weights_.sum() == pytest.approx(1)
    assert np.allclose(model.components_.sum(axis=1), 1)
    assert model.n_topics_ == 1 or model.weights_.max() < 0.99
    if model.n_topics_ < model.n_topics:
        assert any("(--topics " in line for line in told)
