"""`eigentext kneser-ney|bigram next`, `… generate`: the words that the models expect."""

import json

import pytest

import eigentext as et


@pytest.fixture(scope="module")
def models(tmp_path_factory, seen):
    """A model file of each kind."""
    folder = tmp_path_factory.mktemp("models")
    corpus = et.TextCorpus(seen)
    for group, model in (
        ("kneser-ney", et.KneserNey(2)),
        ("bigram", et.BigramModel(4)),
        ("hmm", et.HMM(3, method="em", n_init=1, n_iter=3)),
    ):
        model.fit(corpus).save(folder / group)
    return folder


@pytest.mark.parametrize("group", ["kneser-ney", "bigram"])
def test_next_is_the_model_s(cli, models, group):
    path = models / group
    expected = et.load(path).top_next(["n0", "v1"], 3)
    told = json.loads(cli(group, "next", path, "n0", "v1", "-n", 3, "--json").out)
    assert told["prefix"] == ["n0", "v1"]
    assert told["unknown"] == []
    assert told["next"] == [[word, pytest.approx(p)] for word, p in expected]
    shown = cli(group, "next", path, "n0 v1", "--top", 3)
    assert (shown.status, shown.err) == (0, "")
    assert shown.out == "".join(f"  {p:8.6f}  {word}\n" for word, p in expected)
    assert len(json.loads(cli(group, "next", path, "--json").out)["next"]) == 10


@pytest.mark.parametrize("group", ["kneser-ney", "bigram", "hmm"])
def test_generate_is_the_model_s(cli, models, group):
    path = models / group
    expected = et.load(path).generate(7, context=["n0"], random_state=5)
    arguments = (group, "generate", path, "n0", "-n", 7, "--seed", 5)
    assert json.loads(cli(*arguments, "--json").out) == {
        "prefix": ["n0"],
        "unknown": [],
        "words": expected,
        "seed": 5,
    }
    assert cli(*arguments).out == " ".join(["n0", *expected]) + "\n"


def test_unknown_words_are_told(cli, models):
    for command in ("next", "generate"):
        result = cli("kneser-ney", command, models / "kneser-ney", "zebra", "n0")
        assert result.status == 0
        assert "the model has not learned these words: zebra" in result.err


def test_mistakes_are_one_line(cli, models, tmp_path, seen):
    words = tmp_path / "words"
    et.Eigenwords(2, min_count=1).fit(et.TextCorpus(seen)).save(words)
    for arguments, reason in (
        (("next", tmp_path / "missing"), "missing: cannot be read"),
        (("next", seen), "not an eigentext file"),
        (("generate", words), "not a language model"),
        (("next", models / "kneser-ney", "-n", 0), "the least is 1"),
        (("generate", models / "kneser-ney", "--seed", -1), "the least is 0"),
    ):
        assert reason in cli("kneser-ney", *arguments).mistake
