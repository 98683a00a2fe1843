"""`eigentext hmm fit|score|next`: from text to a model, and what it is asked."""

import json
import warnings

import numpy as np
import pytest

import eigentext as et
from eigentext.corpus.symbols import RARE


@pytest.fixture
def fit(cli, tmp_path):
    """Fit in this process; returns the model and what `--json` tells about it."""

    def run(*arguments, name="model"):
        result = cli("hmm", "fit", *arguments, "-o", tmp_path / name, "--json")
        assert result.status == 0, result.err
        return et.load(tmp_path / name), json.loads(result.out)

    return run


@pytest.fixture(scope="module")
def models(tmp_path_factory, seen):
    """Models of one text; the last knows no rare words."""
    folder = tmp_path_factory.mktemp("models")
    for name, settings in (
        ("spectral", {"min_count": 2}),
        ("em", {"min_count": 2, "method": "em", "n_init": 1, "n_iter": 10}),
        ("whole", {}),
    ):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*states asked for")
            et.HMM(2, **settings).fit(et.TextCorpus(seen)).save(folder / name)
    return folder


# fit


@pytest.mark.parametrize("method", ["spectral", "em", "spectral+em"])
def test_fit_is_the_estimator(fit, seen, unseen, method):
    model, told = fit(seen, "--states", 2, "--method", method)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*states asked for")
        expected = et.HMM(2, method=method).fit(et.TextCorpus(seen))
    corpus = et.TextCorpus(unseen)
    assert np.array_equal(model.score_samples(corpus), expected.score_samples(corpus))
    assert told["n_words"] == len(expected.vocabulary_)
    assert (told["n_tokens"], told["states"], told["method"]) == (3_000, 2, method)
    assert told.get("rank") == expected.diagnostics_.get("rank")
    assert told.get("passes") == expected.diagnostics_.get("passes")
    assert list(told["phases"])[-1] == "save"
    assert told["peak_memory"] > 10e6
    assert model.get_params() == expected.get_params()


def test_words_that_will_be_impossible_are_told_of(cli, seen, tmp_path):
    given = ("hmm", "fit", seen, "-o", tmp_path / "model", "-m", 1)
    result = cli(*given)
    assert "warning: the text has no rare words" in result.err
    assert "--min-count 2" in result.err
    assert json.loads(cli(*given, "--json").out)["knows_rare_words"] is False
    assert "warning" not in cli(*given, "--min-count", 2).err
    assert cli(*given, "--quiet").err == ""
    assert json.loads(cli(*given, "--min-count", 2, "--json").out)["knows_rare_words"] is True


def test_every_option_reaches_the_estimator(fit, seen):
    reading = ("--tokenizer", "simple", "--lowercase", "--unit", "stream")
    learning = ("--scaling", "none", "--rank", 1, "--starts", 2, "--iterations", 3)
    others = ("--smoothing", 0.5, "--seed", 7, "--memory", "1GB", "--max-size", 50)
    model, _ = fit(
        seen, "-m", 3, "--method", "spectral+em", "--min-count", 3, *reading, *learning, *others
    )
    assert model.get_params() == et.HMM().get_params() | {
        "n_states": 3,
        "method": "spectral+em",
        "min_count": 3,
        "max_size": 50,
        "scaling": "none",
        "rank": 1,
        "n_init": 2,
        "n_iter": 3,
        "smoothing": 0.5,
        "random_state": 7,
    }
    assert model.provenance_["options"] == {
        "tokenizer": "simple",
        "lowercase": True,
        "unit": "stream",
    }
    assert len(model.vocabulary_) == 50


@pytest.mark.parametrize("method", ["spectral", "spectral+em"])
def test_threads_and_memory_change_no_byte(cli, long_text, tmp_path, method):
    files = []
    for threads, memory in ((1, "2GB"), (2, "10MB")):
        files.append(tmp_path / f"{threads} {memory}")
        options = ("--min-count", 60, "--threads", threads, "--memory", memory, "--quiet")
        how = ["-m", 3, "--rank", 3, "--method", method]
        how += ["--iterations", 4, "--starts", 1] if method == "spectral+em" else []
        result = cli("hmm", "fit", long_text, "-o", files[-1], *how, *options)
        assert (result.status, result.out) == (0, "")
    assert len({path.read_bytes() for path in files}) == 1


def test_the_summary_and_the_warning_for_people(process, seen, tmp_path):
    output = tmp_path / "model"
    with seen.open() as text:
        result = process("hmm", "fit", "-", "-o", output, "-m", 50, "--no-cache", stdin=text)
    assert result.status == 0
    rank = et.load(output).diagnostics_["rank"]
    assert result.out.startswith(f"{output}: 50 states in {rank} dimensions over ")
    assert " words from 3,000 tokens; " in result.out
    assert f"warning: 50 states asked for, but only {rank} can be told from noise" in result.err
    assert "\ncount: " in result.err


def test_the_summary_of_em(cli, seen, tmp_path, standard_input):
    standard_input(seen)
    output = tmp_path / "model"
    result = cli("hmm", "fit", "-", "-o", output, "-m", 2, "--method", "em", "--starts", 1)
    passes = et.load(output).diagnostics_["passes"]
    assert f": 2 states after {passes:.0f} passes of EM over " in result.out


def test_info_tells_all(cli, models):
    shown = cli("info", models / "spectral")
    assert shown.status == 0
    assert "eigentext.hmm.v1, written by" in shown.out
    for line in ("n_states                 2", "usable_rank", "singular_values", "operators.rows"):
        assert line in shown.out
    told = json.loads(cli("info", models / "em", "--json").out)
    model = et.load(models / "em")
    assert told["parameters"] == model.get_params()
    assert told["diagnostics"] == model.diagnostics_


# score


def test_a_score_for_each_line(cli, models, unseen):
    for name in ("spectral", "em"):
        model = et.load(models / name)
        result = cli("hmm", "score", models / name, unseen)
        assert result.status == 0
        rows = [line.split("\t") for line in result.out.splitlines()]
        lines = unseen.read_text().splitlines()
        assert [row[2] for row in rows] == lines
        assert [row[1] for row in rows] == ["6"] * 200
        scores = [float(row[0]) for row in rows]
        assert scores == pytest.approx(model.score_samples(et.TextCorpus(unseen)), abs=1e-4)
        perplexity = model.perplexity(et.TextCorpus(unseen))
        assert result.err.startswith("log-probability -")
        assert f" of 1,200 tokens in 200 sequences; perplexity {perplexity:.2f} " in result.err
        quiet = cli("hmm", "score", models / name, unseen, "-q")
        assert (quiet.out, quiet.err) == (result.out, "")


def test_batches_change_nothing(cli, models, unseen, monkeypatch):
    whole = cli("hmm", "score", models / "em", unseen, "--json")
    monkeypatch.setattr("eigentext.cli.sequences.hmm._BATCH", 25)
    parts = json.loads(cli("hmm", "score", models / "em", unseen, "--json").out)
    whole = json.loads(whole.out)
    assert parts["scores"] == whole["scores"]
    assert parts["log_probability"] == pytest.approx(whole["log_probability"])
    assert parts["perplexity"] == pytest.approx(whole["perplexity"])


def test_scores_as_json(cli, models, unseen, standard_input):
    standard_input(unseen)
    result = cli("hmm", "score", models / "spectral", "-", "--json")
    assert (result.status, result.err) == (0, "")
    told = json.loads(result.out)
    model, corpus = et.load(models / "spectral"), et.TextCorpus(unseen)
    scores = [line["log_probability"] for line in told["scores"]]
    assert scores == pytest.approx(model.score_samples(corpus))
    assert told["log_probability"] == pytest.approx(sum(scores))
    assert told["perplexity"] == pytest.approx(model.perplexity(corpus))
    assert (told["n_sequences"], told["n_tokens"], told["n_impossible"]) == (200, 1200, 0)
    words = unseen.read_text().split()
    assert told["n_left_out"] == sum(word not in model.vocabulary_ for word in words) > 0


def test_other_units(cli, models, seen, unseen):
    model = et.load(models / "em")
    for unit, n_rows in (("document", 2), ("stream", 1)):
        result = cli("hmm", "score", models / "em", seen, unseen, "--unit", unit)
        rows = [line.split("\t") for line in result.out.splitlines()]
        assert len(rows) == n_rows
        assert all(len(row) == 2 for row in rows)
        expected = model.score_samples(et.TextCorpus([seen, unseen], unit=unit))
        assert [float(row[0]) for row in rows] == pytest.approx(expected, abs=1e-3)


def test_unknown_words_without_rare_ones(cli, models, tmp_path):
    text = tmp_path / "text"
    text.write_text("n0 zebra\n\nn0 v1\n")
    told = json.loads(cli("hmm", "score", models / "whole", text, "--json").out)
    assert [line["log_probability"] is None for line in told["scores"]] == [True, False]
    assert told["log_probability"] is None
    assert told["perplexity"] > 1
    assert (told["n_left_out"], told["n_impossible"]) == (1, 1)
    shown = cli("hmm", "score", models / "whole", text)
    assert shown.out.startswith("-inf\t2\tn0 zebra\n-")
    assert "log-probability -inf of 4 tokens in 2 sequences; perplexity " in shown.err
    text.write_text("zebra\n")
    shown = cli("hmm", "score", models / "whole", text)
    assert shown.status == 0
    assert "the model knows none of the 1 tokens" in shown.err


# next


def test_the_most_probable_next_words(cli, models):
    model = et.load(models / "em")
    for prefix in ((), ("n0",), ("n0", "v0", "n1")):
        told = json.loads(cli("hmm", "next", models / "em", *prefix, "--json", "-n", 5).out)
        p = model.predict_next(list(prefix))
        best = np.argsort(-p, kind="stable")[:5]
        assert told["prefix"] == list(prefix)
        assert told["unknown"] == []
        assert told["next"] == [[model.symbols_[x], pytest.approx(p[x])] for x in best]
    shown = cli("hmm", "next", models / "em", "n0 v0", "n1", "--top", 2)
    (first, word), _ = (line.split() for line in shown.out.splitlines())
    assert float(first) == pytest.approx(told["next"][0][1], abs=1e-6)
    assert word == told["next"][0][0]
    assert shown.err == ""


def test_words_never_learned_are_named(cli, models):
    shown = cli("hmm", "next", models / "spectral", "n0", "zebra")
    assert shown.status == 0
    assert len(shown.out.splitlines()) == 10
    assert shown.err == "eigentext: warning: the model has not learned these words: zebra\n"
    told = json.loads(cli("hmm", "next", models / "spectral", "zebra", "--json").out)
    assert told["unknown"] == ["zebra"]
    everything = json.loads(cli("hmm", "next", models / "spectral", "--top", 9999, "--json").out)
    assert RARE in dict(everything["next"])
    assert sum(dict(everything["next"]).values()) == pytest.approx(1)


def test_words_are_read_as_the_text_was(cli, tmp_path):
    corpus = et.TextCorpus(["a b. a b.", "b a. a b."] * 9, lowercase=True, tokenizer="simple")
    et.HMM(1).fit(corpus).save(tmp_path / "model")
    told = json.loads(cli("hmm", "next", tmp_path / "model", "A", "B.", "--json").out)
    assert told["prefix"] == ["a", "b", "."]


# Mistakes.


def test_mistakes_in_fitting_are_one_line(cli, seen, tmp_path):
    output, own = tmp_path / "model", tmp_path / "own.txt"
    own.write_bytes(seen.read_bytes())
    short, empty = tmp_path / "short.txt", tmp_path / "empty.txt"
    short.write_text("a b\nb a\na b\n")
    empty.touch()
    for arguments, reason in (
        ((tmp_path / "missing", "-o", output), "missing: no such file; check the name"),
        ((empty, "-o", output), "empty.txt: contains no words; is the file empty?"),
        ((short, "-o", output), "no sequence has three symbols"),
        ((own, "-o", own), "would be written over what is read"),
        ((seen, "-o", "-"), "a model is a file, not a stream; name one with -o"),
        ((seen, "-o", output, "--states", 0), "n_states (--states) must be a whole number, 1 or"),
        ((seen, "-o", output, "--method", "gibbs"), "see eigentext hmm fit --help"),
        ((seen, "-o", output, "-m", 2, "--rank", 3), "rank 3 is above n_states, 2"),
        ((seen, "-o", output, "--smoothing", -1), "smoothing must be a number, 0 or more, not -1"),
        ((seen, "-o", output, "--min-count", 10_000), "no word occurs 10000 times or more"),
    ):
        assert reason in cli("hmm", "fit", *arguments, "--quiet").mistake
    assert not output.exists()
    assert own.read_bytes() == seen.read_bytes()


def test_mistakes_in_asking_are_one_line(cli, model, models, seen, tmp_path):
    (tmp_path / "empty").touch()
    (tmp_path / "bytes").write_bytes(b"n1 v\xff")
    numbers = [[0, 1, 0, 1]] * 9
    et.HMM(1).fit(numbers).save(tmp_path / "numbers")
    hmm = models / "em"
    for arguments, reason in (
        (("score", model, seen), "not a hidden Markov model"),
        (("next", model), "not a hidden Markov model"),
        (("next", seen), "not an eigentext file"),
        (("next", tmp_path / "no"), "cannot be read"),
        (("next", hmm, "-n", 0), "see eigentext hmm next --help"),
        (("score", hmm, tmp_path / "empty"), "empty: contains no words; is the file empty?"),
        (("score", hmm, tmp_path / "missing"), "missing: no such file"),
        (("score", hmm, tmp_path / "bytes"), "line 1: byte 0xff is not UTF-8"),
        (("score", tmp_path / "numbers", seen), "'integers', which the command line does not have"),
    ):
        assert reason in cli("hmm", *arguments).mistake


def test_given_parameters_can_be_asked(cli, tmp_path):
    hmm = et.HMM.from_parameters([1], [[1]], [[0.25, 0.75]], symbols=["a", "b"])
    hmm.save(tmp_path / "model")
    told = json.loads(cli("hmm", "next", tmp_path / "model", "a", "--json").out)
    assert told["next"] == [["b", 0.75], ["a", 0.25]]
