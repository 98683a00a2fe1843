"""`eigentext words fit|add`: from text to vectors, by the options a user has."""

import bz2
import gzip
import json
import lzma

import numpy as np
import pytest

import eigentext as et

SMALL = ("--dim", "8", "--window", "2")
NOUNS = {"cat", "dog", "horse", "sheep", "river", "mountain", "village", "teacher", "farmer"}


@pytest.fixture
def fit(cli, tmp_path):
    """Fit in this process; returns the model and what `--json` tells about it."""

    def run(*arguments, name="model"):
        result = cli("words", "fit", *arguments, *SMALL, "-o", tmp_path / name, "--json")
        assert result.status == 0, result.err
        assert result.err == ""
        return et.load(tmp_path / name), json.loads(result.out)

    return run


# fit.


def test_fit_is_the_estimator(fit, text):
    model, told = fit(text, "--min-count", "3", "--seed", "4")
    expected = et.Eigenwords(8, window=2, min_count=3, random_state=4).fit(text)
    assert np.array_equal(model.vectors_, expected.vectors_)
    assert model.parameters_ == expected.parameters_
    assert told["n_words"] == len(expected.vocabulary_)
    assert told["n_tokens"] == expected.provenance_["n_tokens"] == len(text.read_text().split())


def test_every_option_reaches_the_estimator(fit, text):
    options = {
        "min_count": 2,
        "count_transform": "log",
        "scaling": "ppmi",
        "alpha": 0.5,
        "beta": 0.25,
        "context": "list",
        "weighting": "distance",
        "max_size": 15,
        "keep_moments": "cut",
        "keep_pairs": 2,
        "oov": "characters",
        "spelling_weight": 0.25,
        "spelling_half_count": 3.0,
        "method": "one-step",
        "narrow": 3,
    }
    given = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    reading = ("--tokenizer", "simple", "--lowercase", "--unit", "document", "--seed", "9")
    model, _ = fit(text, *given, *reading)
    expected = options | {"n_components": 8, "window": 2, "random_state": 9}
    expected |= {"purpose": None, "narrow_weight": 0.15, "phrases": False}  # by default
    assert model.get_params() == expected
    read = {"tokenizer": "simple", "lowercase": True, "unit": "document"}
    assert model.provenance_["options"] == read
    corpus = et.TextCorpus(text, **read)
    assert np.array_equal(model.vectors_, et.Eigenwords(**expected).fit(corpus).vectors_)


def test_the_transform_goes_by_two_names(fit, text):
    for name in ("--transform", "--count-transform"):
        model, _ = fit(text, name, "log")
        assert model.parameters_.count_transform == "log"


def test_json_has_the_phases_with_their_times(fit, text):
    _, told = fit(text, "--no-cache")
    assert list(told["phases"])[:2] == ["read and encode", "count"]
    assert list(told["phases"])[-1] == "save"
    assert all(seconds >= 0 for seconds in told["phases"].values())
    assert sum(told["phases"].values()) <= told["seconds"] + 0.01
    assert told["peak_memory"] > 10e6


def test_the_summary_and_the_phases_for_people(process, text, tmp_path):
    result = process("words", "fit", text, "-o", "model", *SMALL, "--no-cache", cwd=tmp_path)
    assert result.status == 0
    assert result.out.startswith("model: 23 words in 8 dimensions from 4,000 tokens; ")
    assert result.err.startswith("read and encode: ")
    assert "/s)\ncount: " in result.err
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_quiet_says_nothing(cli, text, more_text, tmp_path):
    model = tmp_path / "model"
    for arguments in (
        ("fit", text, "-o", model, *SMALL, "--keep-moments", "whole"),
        ("add", model, more_text),
        ("export", model, "-o", tmp_path / "vectors"),
    ):
        result = cli("words", *arguments, "--quiet")
        assert (result.status, result.out, result.err) == (0, "", "")


@pytest.mark.filterwarnings("ignore:memory=10,000,000, but")
def test_threads_and_memory_change_no_byte(cli, long_text, tmp_path):
    files = []
    for threads, memory in ((1, "2GB"), (2, "2GB"), (2, "10MB")):
        files.append(tmp_path / f"{threads} {memory}")
        options = ("--dim", 20, "--max-size", 3000, "--threads", threads, "--memory", memory)
        assert cli("words", "fit", long_text, "-o", files[-1], *options).status == 0
    assert len({path.read_bytes() for path in files}) == 1


@pytest.mark.parametrize(("ending", "packed"), [("gz", gzip), ("xz", lzma), ("bz2", bz2)])
def test_packed_text(fit, model, text, tmp_path, ending, packed):
    path = tmp_path / f"text.{ending}"
    path.write_bytes(packed.compress(text.read_bytes()))
    expected = et.Eigenwords(8, window=2).fit(text)
    assert np.array_equal(fit(path)[0].vectors_, expected.vectors_)


def test_globs_and_many_files(fit, text, more_text, tmp_path):
    for name, source in (("part-1.txt", text), ("part-2.txt", more_text)):
        (tmp_path / name).write_text(source.read_text())
    by_name, _ = fit(text, more_text)
    by_glob, _ = fit(tmp_path / "part-*.txt")
    assert np.array_equal(by_glob.vectors_, by_name.vectors_)
    assert by_glob.provenance_["n_tokens"] == 5_600


def test_standard_input(fit, text, more_text, standard_input):
    standard_input(text.read_bytes())
    mixed, _ = fit("-", more_text)
    expected, _ = fit(text, more_text)
    assert np.array_equal(mixed.vectors_, expected.vectors_)


# The cache of encoded text.


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "default-cache"
    monkeypatch.setenv("EIGENTEXT_CACHE", str(folder))
    return folder


def test_the_cache_spares_the_second_reading(fit, text, cache):
    first, told = fit(text)
    assert "read and encode" in told["phases"]
    assert len(list(cache.iterdir())) == 1
    second, told = fit(text)
    assert "read and encode" not in told["phases"]
    assert np.array_equal(first.vectors_, second.vectors_)
    _, told = fit(text, "--lowercase")  # read in another way: not the same integers
    assert "read and encode" in told["phases"]


def test_no_cache(fit, text, cache):
    for _ in range(2):
        assert "read and encode" in fit(text, "--no-cache")[1]["phases"]
    assert not cache.exists()


def test_a_cache_of_ones_own(fit, text, cache, tmp_path):
    own = tmp_path / "own"
    assert "read and encode" in fit(text, "--cache", own)[1]["phases"]
    assert "read and encode" not in fit(text, "--cache", own)[1]["phases"]
    assert len(list(own.iterdir())) == 1
    assert not cache.exists()


# add.


def test_adding_equals_fitting_all(cli, fit, text, more_text, tmp_path):
    fit(text, "--keep-moments", "whole", name="grown")
    together, _ = fit(text, more_text, "--keep-moments", "whole", name="together")
    told = json.loads(cli("words", "add", tmp_path / "grown", more_text, "--json").out)
    grown = et.load(tmp_path / "grown")
    assert np.array_equal(grown.vectors_, together.vectors_)
    assert grown.vocabulary_ == together.vocabulary_
    assert grown.moments_ == together.moments_
    assert "baker" in grown
    assert told["n_tokens"] == 5_600


def test_adding_into_another_file_leaves_the_first(cli, fit, text, more_text, tmp_path):
    fit(text, "--keep-moments", "whole", "--tokenizer", "simple", "--lowercase")
    before = (tmp_path / "model").read_bytes()
    cli("words", "add", tmp_path / "model", more_text, "-o", tmp_path / "new", "--quiet")
    assert (tmp_path / "model").read_bytes() == before
    grown = et.load(tmp_path / "new")
    assert "baker" in grown
    assert grown.provenance_["options"]["tokenizer"] == "simple"  # read as the first text was


def test_adding_standard_input(cli, fit, text, more_text, tmp_path, standard_input):
    fit(text, "--keep-moments", "whole")
    standard_input(more_text.read_bytes())
    assert cli("words", "add", tmp_path / "model", "-").status == 0
    assert "baker" in et.load(tmp_path / "model")


def test_adding_needs_whole_moments(cli, fit, text, more_text, tmp_path):
    for keep, remedy in (("none", "--keep-moments whole"), ("cut", "--fixed-vocabulary")):
        fit(text, "--keep-moments", keep, "--max-size", "20")
        before = (tmp_path / "model").read_bytes()
        line = cli("words", "add", tmp_path / "model", more_text, "--quiet").mistake
        assert remedy in line
        assert (tmp_path / "model").read_bytes() == before


def test_adding_to_a_fixed_vocabulary(cli, fit, text, more_text, tmp_path):
    old, _ = fit(text, "--keep-moments", "cut", "--max-size", "20")
    result = cli("words", "add", tmp_path / "model", more_text, "--fixed-vocabulary", "--quiet")
    assert result.status == 0
    new = et.load(tmp_path / "model")
    assert set(new.vocabulary_) == set(old.vocabulary_)
    assert new.provenance_["n_tokens"] == 5_600
    assert not np.array_equal(new.vectors_, old.vectors_)


def test_adding_to_a_model_with_a_tokenizer_of_python(cli, tmp_path, text, more_text):
    corpus = et.TextCorpus(text, tokenizer=str.split)
    et.Eigenwords(4, keep_moments="whole").fit(corpus).save(tmp_path / "model")
    line = cli("words", "add", tmp_path / "model", more_text).mistake
    assert "str.split" in line
    assert "partial_fit" in line


def test_adding_to_fewer_pairs_is_done_with_a_warning(process, fit, text, more_text, tmp_path):
    fit(text, "--keep-moments", "whole", "--keep-pairs", "50")
    result = process("words", "add", tmp_path / "model", more_text, "--no-cache", "--quiet")
    assert result.status == 0
    (line,) = result.err.splitlines()
    assert line.startswith("eigentext: warning: the moments of the text so far are thresholded")
