"""`eigentext kneser-ney fit`: from text to n-grams, by the options a user has."""

import json
from functools import partial

import numpy as np
import pytest

import eigentext as et


@pytest.fixture
def fit(fit_of):
    """Fit in this process; returns the model and what `--json` prints about it."""
    return partial(fit_of, "kneser-ney")


def test_fit_is_the_estimator(fit, seen, unseen):
    model, told = fit(seen)
    expected = et.KneserNey().fit(et.TextCorpus(seen))
    corpus = et.TextCorpus(unseen)
    assert np.array_equal(
        model.log_probabilities(corpus), expected.log_probabilities(corpus), equal_nan=True
    )
    assert model.get_params() == {"order": 3, "min_count": 1, "prune": ()}
    assert told["n_words"] == len(expected.vocabulary_) == 565
    assert told["n_tokens"] == len(seen.read_text().split())
    assert told["order"] == 3
    assert told["ngrams"] == expected.diagnostics_["ngrams"]
    assert list(told["phases"])[-1] == "save"
    assert sum(told["phases"].values()) <= told["seconds"] + 0.01
    assert told["peak_memory"] > 10e6


def test_every_option_reaches_the_estimator(fit, seen):
    reading = ("--tokenizer", "simple", "--lowercase", "--unit", "stream")
    model, _ = fit(seen, "--order", "2", "--min-count", "2", *reading, "--memory", "1GB")
    read = {"tokenizer": "simple", "lowercase": True, "unit": "stream"}
    assert model.get_params() == {"order": 2, "min_count": 2, "prune": ()}
    assert model.provenance_["options"] == read
    expected = et.KneserNey(2, min_count=2).fit(et.TextCorpus(seen, **read))
    assert 0 < len(model.vocabulary_) < 565
    assert np.array_equal(model.distribution("n0"), expected.distribution("n0"))


def test_threads_and_memory_change_no_byte(cli, long_text, tmp_path):
    files = []
    for threads, memory in ((1, "2GB"), (2, "2GB"), (2, "10MB")):
        files.append(tmp_path / f"{threads} {memory}")
        options = ("--min-count", 20, "--threads", threads, "--memory", memory, "--quiet")
        result = cli("kneser-ney", "fit", long_text, "-o", files[-1], *options)
        assert (result.status, result.out, result.err) == (0, "", "")
    assert len({path.read_bytes() for path in files}) == 1


def test_the_summary_and_the_phases_for_people(process, seen, tmp_path):
    result = process("kneser-ney", "fit", seen, "-o", "model", "--no-cache", cwd=tmp_path)
    assert result.status == 0
    n_ngrams = sum(et.load(tmp_path / "model").diagnostics_["ngrams"])
    assert result.out.startswith(
        f"model: {n_ngrams:,} n-grams of up to 3 over 565 words from 3,000 tokens; "
    )
    assert result.err.startswith("read and encode: ")
    assert "/s)\ncount: " in result.err
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_standard_input(fit, seen, unseen, standard_input):
    standard_input(seen)
    piped, _ = fit("-", unseen)
    named, _ = fit(seen, unseen)
    assert piped.provenance_["n_tokens"] == 4_200
    assert np.array_equal(piped.distribution("n0"), named.distribution("n0"))


def test_info_tells_all(cli, fit, seen, tmp_path):
    model, _ = fit(seen)
    shown = cli("info", tmp_path / "model")
    assert shown.status == 0
    assert "eigentext.kneser-ney.v1, written by" in shown.out
    for line in ("order                    3", "discount_rules", "n_words                  565"):
        assert line in shown.out
    told = json.loads(cli("info", tmp_path / "model", "--json").out)
    assert told["parameters"] == model.get_params() | {"prune": []}
    assert told["diagnostics"] == model.diagnostics_


def test_mistakes_are_one_line(cli, seen, tmp_path):
    output, own = tmp_path / "model", tmp_path / "own.txt"
    own.write_bytes(seen.read_bytes())
    empty = tmp_path / "empty.txt"
    empty.touch()
    for arguments, reason in (
        ((tmp_path / "missing", "-o", output), "missing: no such file; check the name"),
        ((empty, "-o", output), "empty.txt: contains no words; is the file empty?"),
        ((seen, "-o", tmp_path), "is a folder; name a file in it"),
        ((seen, "-o", "-"), "a model is a file, not a stream; name one with -o"),
        ((own, "-o", own), "would be written over what is read"),
        ((seen, "-o", output, "--order", 0), "order must be a whole number, 1 or more, not 0"),
        ((seen, "-o", output, "--min-count", 10_000), "no word occurs 10000 times or more"),
        ((seen, "-o", output, "--memory", "much"), "'much' is not a size"),
    ):
        assert reason in cli("kneser-ney", "fit", *arguments, "--quiet").mistake
    assert not output.exists()
    assert own.read_bytes() == seen.read_bytes()


# ARPA files.


def test_export_and_import(cli, fit, seen, unseen, tmp_path):
    model, _ = fit(seen, "--lowercase")
    path, arpa, again = tmp_path / "model", tmp_path / "model.arpa.gz", tmp_path / "again"
    told = json.loads(cli("kneser-ney", "export", path, "-o", arpa, "--json").out)
    ngrams = model.diagnostics_["ngrams"]
    assert told == {"output": str(arpa), "order": 3, "ngrams": ngrams}
    told = json.loads(cli("kneser-ney", "import", arpa, "-o", again, "--lowercase", "--json").out)
    assert told["n_words"] == 565
    assert told["order"] == 3
    assert list(told["phases"]) == ["read", "save"]
    corpus, loaded = et.TextCorpus(unseen), et.load(again)
    assert loaded.provenance_["options"] == model.provenance_["options"]
    assert np.allclose(
        loaded.log_probabilities(corpus), model.log_probabilities(corpus), equal_nan=True
    )
    perplexities = [
        json.loads(cli("kneser-ney", "perplexity", one, unseen, "--json").out)["perplexity"]
        for one in (path, again)
    ]
    assert perplexities[0] == pytest.approx(perplexities[1])
    assert "The model was read from an ARPA file" in cli("info", again).out


def test_arpa_through_standard_streams(process, fit, seen, tmp_path):
    fit(seen)
    written = process("kneser-ney", "export", tmp_path / "model", "-o", "-")
    assert written.out.startswith("\\data\\\nngram 1=568\n")
    (tmp_path / "model.arpa").write_text(written.out)
    shown = process("kneser-ney", "export", tmp_path / "model", "-o", tmp_path / "second.arpa")
    assert shown.out.endswith("n-grams of up to 3, ARPA format\n")
    assert (tmp_path / "second.arpa").read_text() == written.out


def test_import_from_standard_input(cli, fit, seen, tmp_path, standard_input):
    model, _ = fit(seen)
    model.to_arpa(tmp_path / "model.arpa")
    standard_input(tmp_path / "model.arpa")
    shown = cli("kneser-ney", "import", "-", "-o", tmp_path / "again")
    assert shown.status == 0
    assert "n-grams of up to 3 over 565 words; " in shown.out


def test_mistakes_with_arpa_files_are_one_line(cli, fit, seen, tmp_path):
    fit(seen)
    model, output = tmp_path / "model", tmp_path / "output"
    cut = tmp_path / "cut.arpa"
    cut.write_text("\\data\\\nngram 1=2\n\\1-grams:\n-1 a\n")
    for arguments, reason in (
        (("export", seen, "-o", output), "not an eigentext file"),
        (("export", model, "-o", model), "would be written over what is read"),
        (("import", seen, "-o", output), "has no line \\data\\; is this an ARPA file?"),
        (("import", cut, "-o", output), "cut.arpa: ends before its line \\end\\"),
        (("import", tmp_path / "missing", "-o", output), "no such file"),
        (("import", cut, "-o", cut), "would be written over what is read"),
        (("import", cut, "-o", "-"), "a model is a file, not a stream"),
    ):
        assert reason in cli("kneser-ney", *arguments).mistake
    assert not output.exists()


def test_models_for_a_service(cli, seen, unseen, tmp_path):
    def run(*arguments):
        result = cli("kneser-ney", *arguments)
        assert (result.status, result.err) == (0, "")
        return result.out

    counts, mapped, small = (tmp_path / name for name in ("counts", "mapped", "small"))
    run("fit", seen, "-o", counts, "--prune", 0, 0, 1, "--quiet")
    run("fit", "--prune", 0, 0, 1, "-o", mapped, "--mapped", "--quiet", "--", seen)
    expected = et.KneserNey(prune=(0, 0, 1)).fit(et.TextCorpus(seen))
    text = et.TextCorpus(unseen)
    for path in (counts, mapped):
        model = et.load(path)
        assert model.get_params()["prune"] == (0, 0, 1)
        assert model.perplexity(text) == expected.perplexity(text)
    assert "mapped" in run("export", counts, "-o", small, "--quantize", 8)
    told = json.loads(run("export", counts, "-o", tmp_path / "again", "--mapped", "--json"))
    assert told["ngrams"] == expected.diagnostics_["ngrams"]
    assert np.isclose(et.load(small).perplexity(text), expected.perplexity(text), rtol=0.02)
    assert et.load(tmp_path / "again").perplexity(text) == expected.perplexity(text)
    run("fit", seen, "-o", small, "--quantize", 6, "--quiet")
    assert et.load(small)._tables.books.p.shape == (3, 64)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--prune", 0, 2, 1), "never fall"),
        (("--prune", 0, 0, 0, 1), "4 numbers, but order=3"),
        (("--prune", 0, 0, 999999), "no 3-gram occurs more than"),
        (("--quantize", 1), "the least is 2"),
        (("--quantize", 20), "the most is 16"),
    ],
)
def test_bad_options_of_a_service(cli, seen, tmp_path, options, why):
    result = cli("kneser-ney", "fit", seen, "-o", tmp_path / "model", *options)
    assert result.status != 0
    assert why in result.err.replace("\n", " ")
    assert not (tmp_path / "model").exists()


def test_a_mapped_file_is_no_stream(cli, seen, tmp_path):
    cli("kneser-ney", "fit", seen, "-o", tmp_path / "model", "--quiet")
    result = cli("kneser-ney", "export", tmp_path / "model", "-o", "-", "--mapped")
    assert result.status != 0
    assert "name a file with -o" in result.err
