"""`eigentext class-bigram`: from text to bigrams of classes, and files that other tools read."""

import json
from functools import partial

import numpy as np
import pytest

import eigentext as et


@pytest.fixture
def fit(fit_of):
    """Fit in this process; returns the model and what `--json` prints about it."""
    return partial(fit_of, "class-bigram")


def same(model, other) -> bool:
    return np.array_equal(model.classes_, other.classes_) and model.history_ == other.history_


def test_fit_is_the_estimator(fit, seen):
    model, told = fit(seen, "--classes", "20")
    expected = et.ClassBigram(n_classes=20).fit(et.TextCorpus(seen))
    assert same(model, expected)
    assert model.get_params() == expected.get_params()
    assert told["n_tokens"] == 3_000
    assert told["n_classes"] == 20
    assert told["average_mutual_information"] == expected.average_mutual_information_
    assert told["n_iter"] == expected.n_iter_


def test_every_option_reaches_the_estimator(fit, seen):
    options = {"init": "brown", "min_count": 2, "smoothing": "none"}
    given = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    reading = ("--tokenizer", "simple", "--lowercase", "--unit", "stream")
    model, _ = fit(seen, *given, *reading, "-k", "7", "--iterations", "3", "--no-exchange")
    expected = et.ClassBigram(n_classes=7, n_iter=3, exchange=False, **options)
    assert model.get_params() == expected.get_params()
    read = {"tokenizer": "simple", "lowercase": True, "unit": "stream"}
    assert same(model, expected.fit(et.TextCorpus(seen, **read)))


def test_clusters_from_a_file(fit, seen, tmp_path):
    words = et.Vocabulary.from_corpus(et.TextCorpus(seen)).words
    paths = tmp_path / "paths"
    paths.write_text("".join(f"{len(word) % 3:02b}\t{word}\t1\n" for word in words))
    kept, told = fit(seen, "--clusters", str(paths))
    assert told["n_classes"] == 3
    assert told["n_iter"] == 0
    moved, told = fit(seen, "--clusters", str(paths), "--exchange")
    assert told["n_iter"] > 0
    assert moved.average_mutual_information_ > kept.average_mutual_information_


def test_perplexity_and_mixtures(cli, seen, unseen, tmp_path):
    for command in (("class-bigram", "fit", "--classes", 10), ("kneser-ney", "fit", "--order", 2)):
        out = tmp_path / command[0]
        assert cli(*command, seen, "-o", out, "--min-count", 2, "-q").status == 0
    model = tmp_path / "class-bigram"
    found = cli("class-bigram", "perplexity", model, unseen, "--json")
    expected = et.load(model).perplexity(et.TextCorpus(unseen))
    assert json.loads(found.out)["perplexity"] == pytest.approx(expected)
    other = ("--interpolate", tmp_path / "kneser-ney", "--validation", unseen)
    found = json.loads(cli("class-bigram", "perplexity", model, unseen, *other, "--json").out)
    assert found["perplexity"] <= min(found["alone"].values())


def test_export_and_import(cli, seen, tmp_path):
    model, arpa, again = (tmp_path / name for name in ("model", "m.arpa", "again"))
    assert cli("class-bigram", "fit", seen, "-o", model, "-k", 10, "-q").status == 0
    told = cli("class-bigram", "export", model, "-o", arpa)
    assert told.status == 0
    assert "bigrams of 10 classes" in told.out
    assert (tmp_path / "m.arpa.classes").exists()
    assert cli("class-bigram", "import", arpa, "-o", again).status == 0
    corpus = et.TextCorpus(seen)
    one, two = et.load(model), et.load(again)
    assert one.perplexity(corpus) == pytest.approx(two.perplexity(corpus), rel=1e-6)
    told = json.loads(cli("class-bigram", "export", again, "-o", arpa, "--json").out)
    assert told["n_classes"] == 10


def test_next_and_info(cli, seen, tmp_path):
    model = tmp_path / "model"
    cli("class-bigram", "fit", seen, "-o", model, "-k", 10, "-q")
    word = et.load(model).vocabulary_.words[0]
    assert len(cli("class-bigram", "next", model, word, "-n", 3).out.splitlines()) == 3
    assert cli("class-bigram", "generate", model, word).status == 0
    assert "10" in cli("info", model).out


def test_refusals(cli, seen, tmp_path):
    found = cli("class-bigram", "fit", seen, "-o", tmp_path / "m", "--clusters", "no/such")
    assert found.status == 2
    assert "no/such" in found.err
    cli("kneser-ney", "fit", seen, "-o", tmp_path / "n", "-q")
    found = cli("class-bigram", "export", tmp_path / "n", "-o", tmp_path / "m.arpa")
    assert found.status == 2
