"""`eigentext automaton fit|score|next`: from text to a model, and what it is asked."""

import json

import numpy as np
import pytest

import eigentext as et


@pytest.fixture(scope="module")
def model(tmp_path_factory, seen):
    path = tmp_path_factory.mktemp("automaton") / "model"
    et.WeightedAutomaton(5, basis=50, min_count=2).fit(et.TextCorpus(seen)).save(path)
    return path


def test_fit_is_the_estimator(cli, seen, unseen, tmp_path):
    settings = ("-m", 4, "--basis", 40, "--longest", 2, "--statistics", "prefix")
    result = cli("automaton", "fit", seen, "-o", tmp_path / "model", *settings, "--json")
    assert result.status == 0, result.err
    told, found = json.loads(result.out), et.load(tmp_path / "model")
    expected = et.WeightedAutomaton(4, basis=40, longest=2, statistics="prefix")
    expected.fit(et.TextCorpus(seen))
    assert found.get_params() == expected.get_params()
    corpus = et.TextCorpus(unseen)
    assert np.array_equal(found.score_samples(corpus), expected.score_samples(corpus))
    assert told["rank"] == told["states"] == expected.diagnostics_["rank"]


def test_scores_are_those_of_whole_lines(cli, model, unseen):
    automaton = et.load(model)
    result = cli("automaton", "score", model, unseen, "--json")
    assert result.status == 0, result.err
    told = json.loads(result.out)
    expected = automaton.score_samples(et.TextCorpus(unseen))
    found = [one["log_probability"] for one in told["scores"]]
    assert found == pytest.approx(expected.tolist())
    assert told["n_tokens"] == sum(one["n_tokens"] for one in told["scores"])
    assert told["perplexity"] == pytest.approx(automaton.perplexity(et.TextCorpus(unseen)))


def test_next_words_and_the_end(cli, model):
    result = cli("automaton", "next", model, "-n", 3, "--json")
    assert result.status == 0, result.err
    p = et.load(model).predict_next()
    assert [value for _, value in json.loads(result.out)["next"]] == sorted(p, reverse=True)[:3]


def test_another_kind_of_model_is_refused(cli, tmp_path, seen):
    et.KneserNey(2).fit(et.TextCorpus(seen)).save(tmp_path / "kn")
    result = cli("automaton", "next", tmp_path / "kn")
    assert result.status == 2
    assert "weighted automaton" in result.err
