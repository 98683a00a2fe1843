"""`eigentext words merge`: one model of several, equal to that of all their text."""

import json

import numpy as np
import pytest

import eigentext as et

SMALL = ("--dim", "6", "--window", "2", "--min-count", "2")
WHOLE = ("--keep-moments", "whole")


@pytest.fixture
def fit(cli, tmp_path):
    """Fit in this process; returns the file."""

    def run(name, *arguments):
        path = tmp_path / name
        result = cli("words", "fit", *arguments, *SMALL, "-o", path, "--quiet")
        assert result.status == 0, result.err
        return path

    return run


@pytest.fixture
def third_text(tmp_path, more_text):
    path = tmp_path / "third.txt"
    path.write_text(more_text.read_text().replace("baker", "miller").replace("old", "new")[:3000])
    return path


@pytest.fixture
def refused(cli, tmp_path):
    """Run a merge that must fail: the line it prints; nothing is written."""

    def run(*arguments) -> str:
        line = cli("words", "merge", *arguments, "-o", tmp_path / "merged", "--quiet").mistake
        assert not (tmp_path / "merged").exists()
        return line

    return run


@pytest.mark.parametrize(
    "options", [(), ("--context", "list"), ("--weighting", "distance", "--lowercase")]
)
def test_merging_equals_fitting_all_text(cli, fit, tmp_path, text, more_text, third_text, options):
    texts = (text, more_text, third_text)
    parts = [fit(f"part {n}", path, *WHOLE, *options) for n, path in enumerate(texts)]
    expected = et.load(fit("expected", *texts, *WHOLE, *options))
    result = cli("words", "merge", *parts, "-o", tmp_path / "merged", "--json")
    assert (result.status, result.err) == (0, "")
    told = json.loads(result.out)
    merged = et.load(tmp_path / "merged")
    assert merged.vectors_.tobytes() == expected.vectors_.tobytes()
    assert merged.vocabulary_ == expected.vocabulary_
    assert merged.moments_ == expected.moments_
    assert merged.get_params() == expected.get_params()
    assert merged.provenance_["n_tokens"] == told["n_tokens"] == expected.moments_.n_tokens
    sources = [source for part in parts for source in et.load(part).moments_.sources]
    assert merged.provenance_["sources"] == sorted(sources)
    assert next(iter(told["phases"])) == "add up"
    assert list(told["phases"])[-1] == "save"
    assert told["n_words"] == len(expected.vocabulary_)


def test_threads_and_order_change_no_vector(cli, fit, tmp_path, text, more_text):
    a, b = fit("a", text, *WHOLE), fit("b", more_text, *WHOLE)
    vectors = set()
    for number, files in enumerate(((a, b), (b, a))):
        output = tmp_path / f"merged {number}"
        assert cli("words", "merge", *files, "-o", output, "--threads", number + 1).status == 0
        vectors.add(et.load(output).vectors_.tobytes())
    assert len(vectors) == 1


def test_the_first_models_parameters_are_used(cli, tmp_path, text, more_text):
    a, b = tmp_path / "a", tmp_path / "b"
    first = et.Eigenwords(4, window=2, min_count=3, beta=0.5, keep_moments="whole").fit(text)
    first.save(a)
    et.Eigenwords(5, window=2, min_count=1, scaling="ppmi", keep_moments="whole").fit(
        more_text
    ).save(b)
    cli("words", "merge", a, b, "-o", tmp_path / "merged", "-q")
    merged = et.load(tmp_path / "merged")
    assert merged.get_params() == et.load(a).get_params()
    assert merged.parameters_ == first.parameters_  # those that were used


def test_saved_moments_are_merged_too(cli, fit, tmp_path, text, more_text, refused):
    model = fit("model", text, *WHOLE)
    moments = tmp_path / "moments"
    et.CooccurrenceMoments.from_corpus(more_text, window=2).save(moments)
    expected = et.load(fit("expected", text, more_text))
    for files in ((model, moments), (moments, model)):
        output = tmp_path / "merged"
        assert cli("words", "merge", *files, "-o", output, "-q").status == 0
        assert np.array_equal(et.load(output).vectors_, expected.vectors_)
        output.unlink()
    line = refused(moments, moments)
    assert line.startswith(f"{moments}: holds only moments")
    assert "also name a model" in line


def test_summary_and_phases_for_people(cli, process, fit, tmp_path, text, more_text):
    a, b = fit("a", text, *WHOLE), fit("b", more_text, *WHOLE)
    result = process("words", "merge", a, b, "-o", "merged", cwd=tmp_path)
    assert result.status == 0
    assert result.out.startswith("merged: 24 words in 6 dimensions from 5,600 tokens; ")
    assert "add up: " in result.err
    result = cli("words", "merge", a, b, "-o", tmp_path / "merged", "--quiet")
    assert (result.status, result.out, result.err) == (0, "", "")


# Refusals.


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--window", "3"), "window 2 and 3"),
        (("--context", "list"), "context 'bag' and 'list'"),
        (("--weighting", "flat"), "weighting 'distance' and 'flat'"),
        (("--tokenizer", "simple"), "tokenizer 'whitespace' and 'simple'"),
        (("--lowercase",), "lowercase False and True"),
        (("--unit", "document"), "unit 'line' and 'document'"),
    ],
)
def test_settings_that_differ(cli, fit, refused, tmp_path, text, more_text, options, named):
    a, ok, b = fit("a", text, *WHOLE), fit("ok", text, *WHOLE), tmp_path / "b"
    assert cli("words", "fit", more_text, *SMALL, *WHOLE, *options, "-o", b, "-q").status == 0
    for files in ((a, b), (a, ok, b)):
        line = refused(*files)
        assert line.startswith(f"{a} and {b}: ")
        assert named in line
        assert "count both texts with the same settings" in line


def test_models_without_moments(fit, refused, text, more_text):
    whole, bare = fit("whole", text, *WHOLE), fit("bare", more_text)
    for files in ((whole, bare), (bare, whole)):
        line = refused(*files)
        assert line.startswith(f"{bare}: ")
        assert "--keep-moments whole" in line


def test_cut_moments(cli, fit, refused, tmp_path, text, more_text):
    cut = fit("cut", text, "--keep-moments", "cut", "--max-size", "20")
    whole = fit("whole", more_text, *WHOLE)
    for files in ((whole, cut), (cut, whole)):
        line = refused(*files)
        assert line.startswith(f"{cut}: its moments are cut to 20 words")
        assert "--keep-moments whole" in line
        assert "--fixed-vocabulary" in line
    grown = et.load(cut).partial_fit(et.TextCorpus(more_text), fixed_vocabulary=True)
    for number, files in enumerate(((cut, whole), (whole, cut))):
        output = tmp_path / f"merged {number}"
        arguments = ("words", "merge", *files, "-o", output, "--fixed-vocabulary", "--quiet")
        assert cli(*arguments).status == 0
        merged = et.load(output)
        assert np.array_equal(merged.vectors_, grown.vectors_)
        assert merged.moments_ == grown.moments_
    other = fit("other", more_text, "--keep-moments", "cut", "--max-size", "15")
    line = refused(whole, cut, other, "--fixed-vocabulary")
    assert line.startswith(f"{cut} and {other}: moments cut to different vocabularies")


def test_files_that_hold_no_moments(fit, refused, tmp_path, text):
    model = fit("model", text, *WHOLE)
    assert refused(model, text).startswith(f"{text}: not an eigentext file")
    assert refused(model, tmp_path / "missing").startswith(f"{tmp_path}/missing: cannot be read")
    damaged = tmp_path / "damaged"
    damaged.write_bytes(model.read_bytes()[:-1])
    assert refused(model, damaged).startswith(f"{damaged}: damaged")
    assert "two models or more" in refused(model)
    assert "see eigentext words merge --help" in refused()


def test_counts_that_were_flipped(fit, refused, tmp_path, text):
    model, damaged = fit("model", text, *WHOLE), tmp_path / "damaged"
    arrays, about = et.storage.read_saved(model)
    arrays["moments.packed"] = np.array(arrays["moments.packed"])
    arrays["moments.packed"][7] ^= 1
    et.storage.write_saved(damaged, about.pop("format"), arrays, about)
    reason = "packed cannot be unpacked (a wrong checksum)"
    told = refused(model, damaged)
    assert told.startswith(f"{damaged}: damaged or made by something else: {reason}")


def test_the_output(cli, fit, tmp_path, text, more_text):
    a, b = fit("a", text, *WHOLE), fit("b", more_text, *WHOLE)
    before = b.read_bytes()
    assert "would be written over what is read" in cli("words", "merge", a, b, "-o", b).mistake
    assert b.read_bytes() == before
    assert "name one with -o" in cli("words", "merge", a, b, "-o", "-").mistake
    line = cli("words", "merge", a, b, "-o", tmp_path / "missing" / "model").mistake
    assert "cannot be written" in line


# Warnings.


def test_text_that_counts_twice(cli, fit, tmp_path, text, more_text):
    a, b, c = fit("a", text, *WHOLE), fit("b", more_text, *WHOLE), fit("c", text, *WHOLE)
    result = cli("words", "merge", a, b, c, "-o", tmp_path / "merged", "--quiet")
    assert result.status == 0
    assert result.err == (
        f"eigentext: warning: {c}: holds text that {a} also holds; that text counts twice\n"
    )
    assert et.load(tmp_path / "merged").provenance_["n_tokens"] == 9_600


def test_moments_that_lack_rare_pairs(cli, fit, tmp_path, text, more_text):
    a, b = fit("a", text, *WHOLE), tmp_path / "b"
    et.CooccurrenceMoments.from_corpus(more_text, window=2).thresholded(3).save(b)
    result = cli("words", "merge", a, b, "-o", tmp_path / "merged", "--quiet")
    assert result.status == 0
    (line,) = result.err.splitlines()
    assert line.startswith(f"eigentext: warning: {b}: its moments are thresholded: pairs counted")
    assert et.load(tmp_path / "merged").moments_.min_pairs == 3
