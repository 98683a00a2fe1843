"""`eigentext bigram fit`: from text to bigrams through hidden states."""

import json
from functools import partial

import numpy as np
import pytest

import eigentext as et


@pytest.fixture
def fit(fit_of):
    """Fit in this process; returns the model and what `--json` prints about it."""
    return partial(fit_of, "bigram")


def same(model, other) -> bool:
    return np.array_equal(model.r_, other.r_) and np.array_equal(model.s_, other.s_)


def test_fit_is_the_estimator(fit, seen):
    model, told = fit(seen, "--states", "4")
    expected = et.BigramModel(4).fit(et.TextCorpus(seen))
    assert same(model, expected)
    assert model.get_params() == expected.get_params()
    assert told["n_words"] == 565
    assert told["n_tokens"] == 3_000
    assert told["states"] == 4
    assert told["n_iter"] == expected.n_iter_
    assert told["pivots"] == expected.diagnostics_["pivots"]
    assert told["heldout_perplexity"] == expected.diagnostics_["heldout_perplexity"]
    assert list(told["phases"])[-1] == "save"


def test_every_option_reaches_the_estimator(fit, seen):
    options = {
        "method": "em",
        "min_count": 2,
        "smoothing": 1.5,
        "validation_fraction": 0.1,
        "init": "dirichlet",
    }
    given = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    reading = ("--tokenizer", "simple", "--lowercase", "--unit", "stream", "--seed", "9")
    model, _ = fit(seen, *given, *reading, "-m", "3", "--iterations", "7")
    expected = et.BigramModel(3, n_iter=7, random_state=9, **options)
    assert model.get_params() == expected.get_params()
    read = {"tokenizer": "simple", "lowercase": True, "unit": "stream"}
    assert model.provenance_["options"] == read
    assert same(model, expected.fit(et.TextCorpus(seen, **read)))


def test_text_that_is_held_out(fit, seen, unseen):
    read = ("--unit", "stream", "--min-count", "2")
    model, told = fit(seen, "-m", "4", "--validation", unseen, *read)
    held = et.TextCorpus(unseen, unit="stream")
    corpus = et.TextCorpus(seen, unit="stream")
    assert same(model, et.BigramModel(4, min_count=2).fit(corpus, validation=held))
    assert told["heldout"] == "given"
    assert told["heldout_perplexity"] == pytest.approx(model.perplexity(held), rel=1e-5)


def test_threads_and_memory_change_no_byte(cli, long_text, tmp_path):
    files = []
    for threads, memory in ((1, "2GB"), (2, "10MB")):
        files.append(tmp_path / f"{threads} {memory}")
        options = ("--min-count", 20, "--threads", threads, "--memory", memory, "--quiet")
        result = cli("bigram", "fit", long_text, "-o", files[-1], "-m", 8, *options)
        assert (result.status, result.out, result.err) == (0, "", "")
    assert len({path.read_bytes() for path in files}) == 1


def test_the_summary_for_people(cli, seen, tmp_path, standard_input):
    standard_input(seen)
    result = cli("bigram", "fit", "-", "-o", tmp_path / "model", "-m", "4", "--no-cache")
    assert result.status == 0
    model = et.load(tmp_path / "model")
    assert result.out.startswith(
        f"{tmp_path}/model: 4 states after {model.n_iter_} steps of EM (held-out "
    )
    assert " over 565 words from 3,000 tokens; " in result.out
    assert "\nem: " in result.err


def test_info_tells_all(cli, fit, seen, tmp_path):
    model, _ = fit(seen, "-m", "4")
    shown = cli("info", tmp_path / "model")
    assert shown.status == 0
    assert "eigentext.bigram.v1, written by" in shown.out
    for line in ("n_states                 4", "heldout_perplexity", "pivots", "567 x 4"):
        assert line in shown.out
    told = json.loads(cli("info", tmp_path / "model", "--json").out)
    assert told["parameters"] == model.get_params()
    assert told["diagnostics"] == model.diagnostics_


def test_mistakes_are_one_line(cli, seen, tmp_path):
    output, own = tmp_path / "model", tmp_path / "own.txt"
    own.write_bytes(seen.read_bytes())
    foreign = tmp_path / "foreign.txt"
    foreign.write_text("kein Wort davon\n")
    for arguments, reason in (
        ((tmp_path / "missing", "-o", output), "missing: no such file; check the name"),
        ((seen, "-o", output, "--validation", tmp_path / "missing"), "missing: no such file"),
        (
            (seen, "-o", output, "--validation", foreign, "--unit", "stream"),
            "no word of the held-out",
        ),
        ((seen, "-o", own, "--validation", own), "would be written over what is read"),
        ((seen, "-o", output, "--states", 0), "n_states (--states) must be a whole number, 1 or"),
        ((seen, "-o", output, "--states", 1000), "--states"),
        ((seen, "-o", output, "--method", "svd"), "see eigentext bigram fit --help"),
        (
            (seen, "-o", output, "--validation-fraction", 1),
            "validation_fraction must be a number, 0",
        ),
    ):
        assert reason in cli("bigram", "fit", *arguments, "--quiet").mistake
    assert not output.exists()
    assert own.read_bytes() == seen.read_bytes()
