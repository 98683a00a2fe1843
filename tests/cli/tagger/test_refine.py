"""`eigentext tagger refine`: a tagger with hidden states, and the commands that use it."""

import json

import pytest

import eigentext as et


@pytest.fixture
def refine(cli, tmp_path):
    def run(*arguments):
        path = tmp_path / "refined"
        result = cli("tagger", "refine", *arguments, "-o", path, "--json")
        assert result.status == 0, result.err
        return path, et.load(path), json.loads(result.out)

    return run


def test_the_model_is_that_of_the_library(refine, words):
    _, model, told = refine(words, "--states", 2, "--method", "em", "--iterations", 4)
    tagged = et.read_conll(words, columns=("word", "label"))
    again = et.RefinementHMM(2, method="em", n_iter=4).fit(tagged)
    assert model.history_ == again.history_ == told["history"]
    assert model.tag("the cat sees a dog") == again.tag("the cat sees a dog")
    assert told["states"] == model.states_
    _, model, _ = refine(words, "--states", "NN=3,*=1", "--method", "spectral")
    assert model.parameters_.n_states == {"NN": 3, "*": 1}


def test_a_column_between_is_the_class(refine, cli, train, dev):
    path, model, _ = refine(train, "--states", 2, "--scheme", "bio")
    assert model.parameters_.classes == "factor"
    scores = json.loads(cli("tagger", "evaluate", path, dev, "--json").out)
    assert scores["f1"] > 0.5
    shown = cli("tagger", "tag", path, dev, "--labelled", "--confidence", "-q").out
    first = shown.splitlines()[0].split()
    assert first[:3] == ["the", "DT", "B-NP"]
    assert 0.5 < float(first[3]) <= 1.0


def test_what_it_cannot_do(refine, cli, words, train, tmp_path):
    path, _, _ = refine(words, "--states", 2, "--iterations", 2)
    found = cli("tagger", "nbest", path, words, "--labelled", "-q")
    assert found.status == 2
    assert "use `tagger tag`" in found.err.splitlines()[-1]
    many = tmp_path / "many.txt"
    many.write_text("a b c d\n\n")
    found = cli("tagger", "refine", many, "--columns", "word,x,y,label", "-o", tmp_path / "m")
    assert "name them with --columns" in found.mistake
    found = cli("tagger", "refine", words, "--states", "x", "-o", tmp_path / "m")
    assert "--states" in found.mistake
    wrong = ("--method", "spectral", "--decoding", "viterbi", "-o", tmp_path / "m", "-q")
    assert "marginals" in cli("tagger", "refine", words, *wrong).mistake
