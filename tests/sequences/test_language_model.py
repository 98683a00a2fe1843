"""Known perplexities, for any object with log-probabilities."""

from typing import ClassVar

import numpy as np
import pytest

from eigentext import Vocabulary
from eigentext.errors import CorpusError, EigentextError, ParameterError
from eigentext.sequences import HMM, BigramModel, Interpolation, KneserNey
from eigentext.sequences._language_model import LanguageModel


class Halves(LanguageModel):
    """Each token has probability 1/2, and an unknown one, 0, has 1/8 if it counts."""

    def log_probabilities(self, tokens, *, rare=False):
        unknown = np.log(1 / 8) if rare else np.nan
        return np.array([np.log(0.5) if token else unknown for token in tokens])


class Rule(LanguageModel):
    """a b a b …, ended after the fourth word; in one of two places a rare word may follow."""

    vocabulary_ = Vocabulary(["a", "b"], [1, 1])
    provenance_: ClassVar = {"options": {"tokenizer": "none"}}

    def _next(self, context):
        p = np.zeros(4)
        p[3 if len(context) == 4 else len(context) % 2] = 0.75
        p[2] = 0.25
        return p


LINES = [line.split() for line in ("the cat sat", "a dog ran", "the dog sat", "a cat ran")] * 8
LINES.append(["once", "sat"])
STREAM = [word for line in LINES for word in line]


def models(tokens):
    """One of each kind."""
    n_grams = KneserNey(3, min_count=2).fit(tokens)
    states = BigramModel(2, n_iter=3, min_count=2).fit(tokens)
    yield n_grams
    yield states
    yield HMM(2, method="em", n_init=1, n_iter=5, min_count=2).fit(tokens)
    yield Interpolation([n_grams, states]).fit(tokens)
    yield Interpolation([states, n_grams], by_count=True).fit(tokens)


def test_unknown_words_are_left_out():
    assert Halves().perplexity([1, 0, 1, 1]) == pytest.approx(2)


def test_unknown_words_count_if_asked():
    assert Halves().perplexity([1, 0, 1, 1], unknown="count") == pytest.approx(64**0.25)
    assert Halves().perplexity([1, 0, 1, 1], unknown="skip") == pytest.approx(2)
    with pytest.raises(ParameterError, match="unknown must be 'skip' or 'count', not 'leave'"):
        Halves().perplexity([1], unknown="leave")


def test_nothing_but_unknown_words():
    with pytest.raises(CorpusError, match="no word of this text is in the vocabulary"):
        Halves().perplexity([0, 0])


@pytest.mark.parametrize("model", [HMM, BigramModel, Interpolation, KneserNey])
def test_all_models_have_it(model):
    assert issubclass(model, LanguageModel)
    assert "perplexity" not in vars(model)


def test_the_words_that_a_rule_draws():
    model = Rule()
    assert model.generate(10) == ["a", "b", "a", "b"]
    assert model.generate(3) == ["a", "b", "a"]
    assert model.generate(10, context=["x"]) == ["b", "a", "b"]
    assert model.generate(10, context="x") == ["b", "a", "b"]
    assert model.generate(0) == []
    assert model.top_next("a", 5) == [("b", 0.75), ("<rare>", 0.25)]
    assert model.top_next(["a"] * 4, 1) == [("<end>", 0.75)]
    for settings in ({"n": -1}, {"n": 2.5}, {"n": 1, "random_state": "x"}):
        with pytest.raises(ParameterError):
            model.generate(**settings)
    with pytest.raises(ParameterError, match="k must be a whole number, 1 or more"):
        model.top_next("a", 0)


def test_a_model_that_knows_no_word():
    class Nothing(Rule):
        def _next(self, context):
            return np.array([0.0, 0.0, 1.0, 0.0])

    with pytest.raises(EigentextError, match="gives no known word a probability"):
        Nothing().generate(1)


@pytest.mark.parametrize("tokens", [LINES, STREAM], ids=["units", "stream"])
def test_all_models_predict_what_they_score(tokens):
    for model in models(tokens):
        names = model._names()
        prefix = ["the", "dog", "x", "a"]
        for t in range(len(prefix) + 1):
            if isinstance(model, HMM) and t > 2:  # after a rare word, scores may be repaired
                continue
            found = dict(model.top_next(prefix[:t], 10))
            assert sum(found.values()) == pytest.approx(1, abs=1e-5)
            assert set(found) <= set(names)
            text = [*prefix[:t], "cat"]
            last = model.log_probabilities([text] if tokens is LINES else text)[t]
            assert np.log(found["cat"]) == pytest.approx(last, abs=1e-5), (model, t)


@pytest.mark.parametrize("tokens", [LINES, STREAM], ids=["units", "stream"])
def test_all_models_generate(tokens):
    for model in models(tokens):
        drawn = model.generate(50, random_state=3)
        assert set(drawn) <= set(model.vocabulary_)
        assert drawn == model.generate(50, random_state=np.random.default_rng(3))
        if tokens is STREAM:
            assert len(drawn) == 50
            assert drawn != model.generate(50, random_state=4)


def test_what_is_drawn_has_its_probability():
    model = KneserNey(2).fit(LINES)
    rng = np.random.default_rng(0)
    drawn = [(*model.generate(1, context="the", random_state=rng), "<end>")[0] for _ in range(2000)]
    p = dict(model.top_next("the", 10))
    for word, expected in p.items():
        if word != "<rare>":
            share = drawn.count(word) / len(drawn)
            assert share == pytest.approx(expected / (1 - p["<rare>"]), abs=0.05)


def test_integers_are_drawn_as_integers():
    sequences = [[0, 1, 2], [2, 1, 0]] * 9
    for model in (KneserNey(2), BigramModel(2, n_iter=3), HMM(2, method="em")):
        model.fit(sequences)
        assert all(isinstance(x, int) for x in model.generate(9))
        assert {x for x, _ in model.top_next([0], 9)} <= {0, 1, 2, "<rare>", "<end>"}


def test_rare_words_have_one_probability_in_all_models():
    text = [["the", "zebra", "ran"], ["x", "x"]]
    for model in models(LINES):
        some, all_of_them = model.log_probabilities(text), model.log_probabilities(text, rare=True)
        unknown = np.isnan(some)
        assert unknown.sum() == 3
        assert not np.isnan(all_of_them).any()
        assert np.array_equal(some[~unknown], all_of_them[~unknown])
        assert model.perplexity(text, unknown="count") == pytest.approx(np.exp(-all_of_them.mean()))
