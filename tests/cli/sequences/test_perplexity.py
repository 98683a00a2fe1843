"""`eigentext kneser-ney|bigram perplexity`: the figure, and what it is over."""

import json

import numpy as np
import pytest

import eigentext as et
from eigentext.sequences import Interpolation


@pytest.fixture(scope="module")
def models(tmp_path_factory, seen):
    """A bigram model and n-grams of the same text, by the unit it was read in."""
    folder = tmp_path_factory.mktemp("models")
    paths = {}
    for unit in ("line", "stream"):
        corpus = et.TextCorpus(seen, unit=unit)
        for kind, model in (("ngrams", et.KneserNey(2)), ("states", et.BigramModel(4))):
            paths[kind, unit] = folder / f"{kind}-{unit}"
            model.fit(corpus).save(paths[kind, unit])
    return paths


@pytest.fixture
def perplexity(cli):
    """What `--json` tells of a model and a text."""

    def run(*arguments, group="kneser-ney") -> dict:
        result = cli(group, "perplexity", *arguments, "--json")
        assert result.status == 0, result.err
        assert result.err == ""
        return json.loads(result.out)

    return run


@pytest.mark.parametrize(("kind", "group"), [("ngrams", "kneser-ney"), ("states", "bigram")])
@pytest.mark.parametrize("unit", ["line", "stream"])
def test_it_is_the_model_s(perplexity, models, unseen, kind, group, unit):
    path = models[kind, unit]
    told = perplexity(path, unseen, group=group)
    expected = et.load(path).perplexity(et.TextCorpus(unseen, unit=unit))
    assert told == {
        "model": str(path),
        "perplexity": pytest.approx(expected, rel=1e-12),
        "n_scored": 1_095,
        "n_left_out": 105,
        "n_ends": 200 if unit == "line" else 0,
        "n_impossible": 0,
        "n_unknown": 105,
    }


def test_several_files_and_standard_input(perplexity, models, seen, unseen, standard_input):
    model = models["ngrams", "line"]
    together = perplexity(model, seen, unseen)
    assert together["n_scored"] + together["n_left_out"] == 4_200
    standard_input(seen)
    assert perplexity(model, "-", unseen) == together


def test_what_people_read(cli, models, unseen):
    model = models["ngrams", "line"]
    expected = et.load(model).perplexity(et.TextCorpus(unseen))
    shown = cli("kneser-ney", "perplexity", model, unseen)
    assert shown.status == 0
    first, scored, left_out = shown.out.splitlines()
    assert first == f"perplexity   {expected:.2f}"
    assert scored.endswith(" tokens and 200 ends of units")
    assert left_out.endswith(" tokens, unknown to the model")
    assert "\nscore: " in shown.err
    quiet = cli("kneser-ney", "perplexity", model, unseen, "--quiet")
    assert (quiet.out, quiet.err) == (f"{expected:.2f}\n", "")


def test_an_interpolation(cli, perplexity, models, seen, unseen):
    paths = models["states", "line"], models["ngrams", "line"]
    given = (*paths[:1], seen, "--interpolate", paths[1], "--validation", unseen)
    told = perplexity(*given, group="bigram")
    mixture = Interpolation([et.load(path) for path in paths]).fit(et.TextCorpus(unseen))
    assert told["perplexity"] == pytest.approx(mixture.perplexity(et.TextCorpus(seen)))
    assert np.allclose(told["weights"], mixture.weights_)
    alone = {str(path): et.load(path).perplexity(et.TextCorpus(seen)) for path in paths}
    assert told["alone"] == pytest.approx(alone)
    shown = cli("bigram", "perplexity", *given).out.splitlines()[0]
    assert shown.startswith(f"perplexity   {told['perplexity']:.2f}  ({paths[0]} alone ")


def test_an_infinite_perplexity_is_no_json(cli, perplexity, tmp_path, seen):
    model = et.BigramModel(2, method="em", smoothing=0, n_iter=1).fit(et.TextCorpus(seen))
    model.s_[model.vocabulary_["n1"]] = 0
    model.save(tmp_path / "model")
    told = perplexity(tmp_path / "model", seen, group="bigram")
    assert told["perplexity"] is None
    assert told["n_impossible"] == seen.read_text().split().count("n1")
    shown = cli("bigram", "perplexity", tmp_path / "model", seen).out
    assert shown.startswith("perplexity   inf\n")
    assert f"impossible   {told['n_impossible']:,} of those scored" in shown


def test_text_is_read_as_the_model_s_was(perplexity, tmp_path, seen):
    capitals = tmp_path / "capitals.txt"
    capitals.write_text(seen.read_text().replace("\n", ".\n").upper())
    read = {"tokenizer": "simple", "lowercase": True}
    et.KneserNey(2).fit(et.TextCorpus(seen, **read)).save(tmp_path / "model")
    told = perplexity(tmp_path / "model", capitals)
    assert (told["n_scored"], told["n_left_out"]) == (3_000, 500)


def test_a_model_of_token_lists_reads_blanks(perplexity, tmp_path, seen):
    lists = [line.split() for line in seen.read_text().splitlines()]
    model = et.KneserNey(2).fit(lists)
    model.save(tmp_path / "model")
    told = perplexity(tmp_path / "model", seen)
    assert told["perplexity"] == pytest.approx(model.perplexity(lists))
    assert told["n_ends"] == 500


# Mistakes.


@pytest.fixture
def refused(cli):
    def run(*arguments) -> str:
        return cli("kneser-ney", "perplexity", *arguments, "--quiet").mistake

    return run


def test_models_that_are_none(refused, models, model, tmp_path, seen):
    assert refused(model, seen) == f"{model}: holds {et.load(model)!r}, not a language model"
    assert refused(seen, seen).startswith(f"{seen}: not an eigentext file")
    assert refused(tmp_path / "no", seen).startswith(f"{tmp_path}/no: cannot be read")
    whole = models["ngrams", "line"].read_bytes()
    (tmp_path / "cut").write_bytes(whole[:-1])
    assert refused(tmp_path / "cut", seen).startswith(f"{tmp_path}/cut: damaged or incomplete")


def test_models_that_the_command_line_cannot_read_for(refused, tmp_path, seen):
    et.KneserNey(2).fit(et.TextCorpus(seen, tokenizer=str.split)).save(tmp_path / "function")
    assert "str.split" in refused(tmp_path / "function", seen)
    numbers = [int(word[1:]) for word in seen.read_text().split()]
    et.KneserNey(2).fit(numbers).save(tmp_path / "numbers")
    assert "in Python with perplexity" in refused(tmp_path / "numbers", seen)


def test_texts_that_are_none(refused, models, tmp_path):
    path = models["ngrams", "stream"]
    (tmp_path / "empty").touch()
    (tmp_path / "foreign").write_text("kein Wort davon\n")
    assert refused(path, tmp_path / "empty").endswith("contains no words; is the file empty?")
    assert "the model knows no word of this text" in refused(path, tmp_path / "foreign")
    assert refused(path, tmp_path / "missing").endswith("no such file; check the name")
    (tmp_path / "bytes").write_bytes(b"n1 v\xff")
    assert "line 1: byte 0xff is not UTF-8" in refused(path, tmp_path / "bytes")


def test_interpolations_that_make_no_sense(refused, models, tmp_path, seen, unseen):
    line, stream = models["ngrams", "line"], models["states", "stream"]
    for lacking in (("--interpolate", models["states", "line"]), ("--validation", unseen)):
        assert "--interpolate MODEL and --validation FILE go together" in refused(
            line, seen, *lacking
        )
    mixed = refused(line, seen, "--interpolate", stream, "--validation", unseen)
    assert mixed.startswith(f"{line} and {stream} were learned from text read differently (unit: ")
    et.KneserNey(2).fit(et.TextCorpus(unseen)).save(tmp_path / "other")
    mixed = refused(line, seen, "--interpolate", tmp_path / "other", "--validation", unseen)
    assert "know different words" in mixed


@pytest.mark.parametrize(("kind", "group"), [("ngrams", "kneser-ney"), ("states", "bigram")])
def test_unknown_words_count_if_asked(perplexity, cli, models, unseen, kind, group):
    path = models[kind, "line"]
    told = perplexity(path, unseen, "--unknown", "count", group=group)
    model, corpus = et.load(path), et.TextCorpus(unseen)
    expected = model.perplexity(corpus, unknown="count")
    if kind == "states":  # no word of its text was rare
        assert expected == np.inf
        assert told["perplexity"] is None
        assert told["n_impossible"] == 105
    else:
        assert told["perplexity"] == pytest.approx(expected)
    assert (told["n_scored"], told["n_left_out"], told["n_unknown"]) == (1_200, 0, 105)
    shown = cli(group, "perplexity", path, unseen, "--unknown", "count").out
    assert "unknown      105 of those scored, as the rare word" in shown
    assert ("impossible   105 of those scored; leave unknown words out" in shown) == (
        kind == "states"
    )


def test_mixtures_count_unknown_words(perplexity, models, seen, unseen):
    paths = [models[kind, "line"] for kind in ("ngrams", "states")]
    told = perplexity(
        paths[0], unseen, "--interpolate", paths[1], "--validation", seen, "--unknown", "count"
    )
    mixture = Interpolation([et.load(path) for path in paths]).fit(et.TextCorpus(seen))
    expected = mixture.perplexity(et.TextCorpus(unseen), unknown="count")
    assert told["perplexity"] == pytest.approx(expected)
