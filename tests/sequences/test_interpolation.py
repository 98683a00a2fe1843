"""Mixtures of language models: the best weights, and models that do not match."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from eigentext import KneserNey
from eigentext.corpus import encode_sequences
from eigentext.errors import CorpusError, ParameterError
from eigentext.sequences import Interpolation
from eigentext.sequences.interpolation import _bins, _em, _mixed


def fitted(tokens, order, **settings):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "too little text")
        return KneserNey(order, **settings).fit(tokens)


@pytest.fixture
def units(zipf_lines):
    return [line.split() for line in zipf_lines(400)]


def test_em_finds_the_best_weights():
    rng = np.random.default_rng(0)
    P = rng.random((500, 3)) * [1, 1.2, 0.3]
    even = np.full(3, 1 / 3)
    weights, _, gap = _em(P, even, 0.0, 1e-7, 10_000)
    assert weights.sum() == pytest.approx(1)
    assert gap <= 1e-7
    best = np.log(P @ weights).mean()
    for other in rng.dirichlet([1, 1, 1], 2000):
        assert np.log(P @ other).mean() <= best + gap


def test_a_prior_holds_where_there_is_no_data():
    prior = np.array([0.2, 0.8])
    assert np.allclose(_em(np.empty((0, 2)), prior, 5.0, 1e-9, 1000)[0], prior)
    few = _em(np.array([[1.0, 0.1]]), prior, 50.0, 1e-9, 1000)[0]
    many = _em(np.tile([[1.0, 0.1]], (5000, 1)), prior, 50.0, 1e-9, 10_000)[0]
    assert 0.2 < few[0] < 0.25
    assert many[0] > 0.95


@pytest.mark.parametrize("by_count", [False, True])
def test_a_mixture_is_no_worse_than_its_best_model(units, by_count):
    models = [fitted(units[:200], order) for order in (1, 2, 3)]
    mixture = Interpolation(models, by_count=by_count).fit(units[200:])
    facts = mixture.diagnostics_
    assert facts["model_perplexities"] == pytest.approx([m.perplexity(units[200:]) for m in models])
    assert mixture.perplexity(units[200:]) == facts["perplexity"]
    assert facts["perplexity"] <= min(facts["model_perplexities"]) * 1.0001
    assert np.allclose(mixture.weights_.sum(axis=-1), 1)
    scores = np.column_stack([np.exp(m.log_probabilities(units[:20])) for m in models])
    if not by_count:
        expected = np.log(scores @ mixture.weights_)
        assert np.allclose(mixture.log_probabilities(units[:20]), expected, equal_nan=True)


def test_weights_follow_the_count_of_the_previous_word():
    train = ["a"] * 5 + ["b", "a", "c", "a", "b"]
    models = [fitted(train, order) for order in (1, 2)]
    mixture = Interpolation(models, by_count=True).fit(train)
    # Nothing comes before the first token. a occurs 7 times (3 digits), b twice (2), c once (1).
    text = encode_sequences(["a", "b", "c", "zzz", "a"])
    assert _bins(models, text).tolist() == [0, 3, 2, 1, 0]
    assert mixture.weights_.shape == (4, 2)
    p, q = (np.exp(model.log_probabilities(["b", "a"])[1]) for model in models)
    expected = mixture.weights_[2] @ [p, q]
    assert np.exp(mixture.log_probabilities(["b", "a"])[1]) == pytest.approx(expected)
    unseen = Interpolation(models, by_count=True).fit(["b", "c"])  # all contexts are rare
    assert unseen.perplexity(train) > 1


class Constant:
    """A model that gives every token the same log-probability."""

    def __init__(self, model, score):
        self.score, self.model = score, model

    def log_probabilities(self, tokens):
        return np.full(len(self.model.log_probabilities(tokens)), self.score)


def test_impossible_events_stay_impossible():
    model = fitted(["a", "b", "a"], 1)
    never = Constant(model, -np.inf)
    mixture = Interpolation([model, never]).fit(["a", "b"])
    assert mixture.weights_ == pytest.approx([1, 0], abs=1e-4)
    even = np.array([0.5, 0.5])
    assert _mixed(np.full((1, 2), -np.inf), even, None).tolist() == [-np.inf]


def test_it_keeps_its_models_as_they_were(units):
    models = [fitted(units[:200], order) for order in (1, 2)]
    mixture = Interpolation(models).fit(units[200:])
    answers = mixture.log_probabilities(units[:9])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models[0].fit([["other", "words"]])
    assert np.array_equal(mixture.log_probabilities(units[:9]), answers, equal_nan=True)


def test_a_clone_has_the_fitted_models(units):
    models = [fitted(units, order) for order in (1, 2)]
    mixture = Interpolation(models, by_count=True)
    twin = clone(mixture.fit(units))
    assert not hasattr(twin, "weights_")
    assert twin.models[1] is models[1]
    assert np.array_equal(twin.fit(units).weights_, mixture.weights_)


@pytest.mark.parametrize("by_count", [False, True])
def test_text_is_read_once(units, by_count):
    models = [fitted(units[:200], order) for order in (1, 2)]
    mixture = Interpolation(models, by_count=by_count).fit(units[200:])
    once = Interpolation(models, by_count=by_count).fit(iter(unit) for unit in units[200:])
    assert np.array_equal(once.weights_, mixture.weights_)
    assert once.perplexity(iter(units)) == mixture.perplexity(units)


def test_counts_are_those_of_the_first_model(units):
    model = fitted(units, 1)
    with pytest.raises(ParameterError, match="Constant has none; put another first"):
        Interpolation([Constant(model, -1.0), model], by_count=True).fit(units)


def test_bad_input(units):
    model = fitted(units, 2)
    for models in ([model], [], None, [model, "model"]):
        with pytest.raises(ParameterError, match="models must be a list of two fitted language"):
            Interpolation(models).fit(units)
    stream = fitted([word for unit in units for word in unit], 2)
    with pytest.raises(ParameterError, match=r"model 2 .*; learn all from streams or all from"):
        Interpolation([model, stream]).fit(units)
    with pytest.raises(ParameterError, match="know different words"):
        Interpolation([model, fitted(units, 2, min_count=20)]).fit(units)
    with pytest.raises(CorpusError, match="no word of the held-out text is known"):
        Interpolation([stream, stream]).fit(["zzz"])
    mixture = Interpolation([stream, stream]).fit(["w0", "w1"])
    with pytest.raises(CorpusError, match="no word of this text is in the vocabulary"):
        mixture.perplexity(["zzz"])
    with pytest.raises(Exception, match="not fitted yet"):
        Interpolation([model, model]).perplexity(units)
    with pytest.warns(UserWarning, match="raise n_iter or tol"):
        Interpolation([model, fitted(units, 1)], n_iter=1, tol=1e-12).fit(units)


SENTENCE = "a rose is a rose is a rose said she and he said a rose by any name is a rose"
TEXT = SENTENCE.split()


def test_the_old_name_of_validation_still_works():
    models = [KneserNey(order).fit(TEXT) for order in (1, 2)]
    expected = Interpolation(models).fit(TEXT[:20]).weights_
    with pytest.warns(DeprecationWarning, match="'heldout' is called 'validation' now"):
        assert np.array_equal(Interpolation(models).fit(heldout=TEXT[:20]).weights_, expected)


def test_findings():
    mixture = Interpolation([KneserNey(order).fit(TEXT) for order in (1, 2)]).fit(TEXT[:20])
    assert "so mixing gains" in mixture.findings()[0].sentence
    mixture.weights_ = np.array([0.001, 0.999])
    assert any("Model 1 has less than 1%" in one.sentence for one in mixture.findings())
    mixture.diagnostics_["gap"] = 0.1
    assert mixture.findings()[0].severity == "warning"
    assert mixture.findings()[0].remedy == "Raise n_iter or tol."
