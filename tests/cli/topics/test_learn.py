"""`eigentext topics fit`: from documents to topics, by the options a user has."""

import inspect
import json
import re
import warnings
from functools import partial

import numpy as np
import pytest

import eigentext as et
from eigentext.cli.topics.learn import fit as command
from eigentext.topics import parameters as tables

TOPICS = [{"ham", "eggs"}, {"goal", "team"}, {"court", "judge"}]
READ = {"tokenizer": "words", "lowercase": True, "unit": "line"}


@pytest.fixture
def fit(fit_of):
    """Fit in this process; returns the model and what `--json` prints about it."""
    return partial(fit_of, "topics")


def same(model, other) -> bool:
    return np.array_equal(model.components_, other.components_) and np.array_equal(
        model.weights_, other.weights_
    )


@pytest.mark.parametrize("method", ["tensor", "gradient", "anchors"])
def test_fit_is_the_estimator(fit, documents, method):
    model, told = fit(documents, "--topics", 3, "--method", method)
    expected = et.TopicModel(3, method=method)
    expected.fit(et.TextCorpus(documents, **READ))
    assert same(model, expected)
    assert model.get_params() == expected.get_params()
    assert model.provenance_["options"] == READ
    assert all(any(topic <= set(words[:4]) for words in told["top_words"]) for topic in TOPICS)
    assert (told["topics"], told["method"], told["alpha0"]) == (3, method, 1.0)
    assert (told["n_documents"], told["n_words"], told["n_empty"]) == (300, 30, 0)
    assert told["n_tokens"] == 300 * 17
    assert told["perplexity"] == expected.diagnostics_["perplexities"][-1]
    assert told["steps"] == len(expected.diagnostics_["perplexities"])
    assert list(told["phases"])[-1] == "save"
    assert told["peak_memory"] > 10e6


def test_defaults_are_the_estimator_s():
    options = {n: p.default for n, p in inspect.signature(command).parameters.items()}
    defaults = et.TopicModel().get_params()
    shared = [name for name, kind in tables.TopicModel.items() if kind.flags != ""]
    assert {name: options[name] for name in shared} == {name: defaults[name] for name in shared}
    assert {"alpha0", "min_df", "max_df", "stop_words", "refine", "method"} <= set(shared)


def test_limits_are_told(fit, documents, tmp_path):
    assert {"min_df": 3, "max_df": 1.0}.items() <= fit(documents, "-k", 3)[1].items()
    many = tmp_path / "many"
    many.write_text(documents.read_text() * 4)
    model, told = fit(many, "-k", 3)
    assert {"min_df": 5, "max_df": 0.5}.items() <= told.items()
    assert model.min_df == model.max_df == "auto"
    told = fit(documents, "-k", 3, "--min-df", 2, "--max-df", 0.9)[1]
    assert {"min_df": 2, "max_df": 0.9}.items() <= told.items()


def test_every_option_reaches_the_estimator(fit, documents, tmp_path):
    stop = tmp_path / "stop.txt"
    stop.write_text("ham\nEggs the\n")
    limits = ("--min-df", 0.01, "--max-df", 250, "--max-words", 25, "--stop-words", stop)
    learning = ("--alpha0", 0.5, "--refine", 3, "--seed", 7, "--method", "gradient")
    reading = ("--tokenizer", "simple", "--keep-case", "--unit", "document", "--errors", "replace")
    parts = []
    for number, line in enumerate(documents.read_text().splitlines()):
        parts.append(tmp_path / f"{number:03}.txt")
        parts[-1].write_text(line)
    model, _ = fit(tmp_path / "???.txt", "-k", 4, *limits, *learning, *reading)
    assert model.get_params() == et.TopicModel().get_params() | {
        "n_topics": 4,
        "method": "gradient",
        "alpha0": 0.5,
        "refine": 3,
        "min_df": 0.01,
        "max_df": 250,
        "max_size": 25,
        "stop_words": ["ham", "Eggs", "the"],
        "random_state": 7,
    }
    read = {"tokenizer": "simple", "lowercase": False, "unit": "document"}
    assert model.provenance_["options"] == read
    assert model.provenance_["n_documents"] == 300
    words = model.vocabulary_.words
    assert len(words) == 25
    assert {"eggs", "."} & set(words) == {"eggs"}  # a full stop is in all documents: max_df
    assert {"ham", "the", "The", "0"} & set(words) == set()
    corpus = et.TextCorpus(parts, **read)
    assert same(model, et.TopicModel(**model.get_params()).fit(corpus))


def test_stop_words(fit, documents, tmp_path):
    assert "the" not in fit(documents, "-k", 3, "--max-df", 1.0)[0].vocabulary_
    model, _ = fit(documents, "-k", 3, "--max-df", 1.0, "--stop-words", "none")
    assert "the" in model.vocabulary_
    assert model.stop_words is None
    (tmp_path / "own").write_text("The Ham")
    model, _ = fit(documents, "-k", 3, "--stop-words", tmp_path / "own")
    assert model.stop_words == ["the", "ham"]  # in lower case, as the text
    assert "ham" not in model.vocabulary_


def test_the_chosen_alpha0_is_told_and_each_phase_has_one_line(cli, documents, tmp_path):
    fit = ("topics", "fit", documents, "-o", tmp_path / "model", "-k", 3, "--no-cache")
    done = cli(*fit, "--alpha0", "0.3,1")
    assert done.status == 0, done.err
    assert re.search(r"alpha0 \S+ was chosen, by perplexity .*: 0.3 \d+, 1.0 \d+", done.out)
    lines = [line for line in done.err.splitlines() if not line.startswith("eigentext: warning")]
    starts = [line.partition(":")[0] for line in lines]
    assert "factor" in starts
    assert len(starts) == len(set(starts))


@pytest.mark.parametrize(
    ("given", "alpha0"), [("0", 0.0), ("2", 2.0), ("auto", "auto"), ("0.3,1", [0.3, 1.0])]
)
def test_alpha0(fit, documents, given, alpha0):
    model, told = fit(documents, "-k", 3, "--refine", 2, "--alpha0", given)
    assert model.alpha0 == alpha0
    assert told["alpha0"] == model.alpha0_
    if isinstance(alpha0, float):
        assert told["alpha0"] == alpha0
        assert "alpha0_perplexities" not in told
    else:
        tried = told["alpha0_perplexities"]
        assert told["alpha0"] == float(min(tried, key=tried.get))


def test_threads_change_no_byte(cli, documents, tmp_path):
    files = []
    for threads in (1, 2):
        files.append(tmp_path / str(threads))
        options = ("-k", 3, "--threads", threads, "--quiet")
        result = cli("topics", "fit", documents, "-o", files[-1], *options)
        assert (result.status, result.out, result.err) == (0, "", "")
    assert len({path.read_bytes() for path in files}) == 1


def test_the_cache_spares_the_second_reading(fit, documents, tmp_path):
    own = tmp_path / "own"
    first, told = fit(documents, "-k", 3, "--cache", own)
    assert "read and encode" in told["phases"]
    second, told = fit(documents, "-k", 3, "--cache", own)
    assert "read and encode" not in told["phases"]
    assert same(first, second)
    assert "read and encode" in fit(documents, "-k", 3, "--no-cache")[1]["phases"]


def test_what_people_read(process, documents, tmp_path):
    output = tmp_path / "model"
    with documents.open() as text:
        result = process("topics", "fit", "-", "-o", output, "-k", 3, "--no-cache", stdin=text)
    assert result.status == 0
    first, *listed, left_out = result.out.splitlines()
    assert first.startswith(f"{output}: 3 topics over 30 words, each in 3 to 300 of 300 ")
    assert left_out == "  left out: 1 English stop word (no language was recognized)"
    for line, words in zip(listed, et.load(output).top_words(8), strict=True):
        _, share, *shown = line.split()
        assert shown == words
        assert share.endswith("%")
    assert "\nrefine: " in result.err
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_many_topics_are_not_all_listed(cli, tmp_path):
    rng = np.random.default_rng(0)
    letters = np.array([chr(97 + i) * 2 for i in range(26)])
    text = tmp_path / "text"
    text.write_text("".join(" ".join([letters[i % 26]] * 9) + "\n" for i in rng.permutation(260)))
    options = ("-k", 24, "--alpha0", 0, "--stop-words", "none", "--no-cache")
    result = cli("topics", "fit", text, "-o", tmp_path / "model", *options)
    assert result.status == 0
    assert len(result.out.splitlines()) == 22
    assert result.out.endswith("  and 4 more; see eigentext topics show\n")


def test_a_report(fit, documents, tmp_path, standard_input):
    page = tmp_path / "page.html"
    model, told = fit(documents, "-k", 3, "--report", page)
    assert told["report"] == str(page)
    assert list(told["phases"])[-2:] == ["save", "report"]
    assert page.read_text() == et.topics.report.report(model, et.TextCorpus(documents, **READ))
    assert "<blockquote" in page.read_text()
    standard_input(documents)
    fit("-", documents, "-k", 3, "--report", page)
    assert " of standard input, line " in page.read_text()
    assert "eigentext-" not in page.read_text().partition("<body>")[2]


def test_info_tells_all(cli, topics):
    shown = cli("info", topics)
    assert shown.status == 0
    assert "eigentext.topics.v1, written by" in shown.out
    for line in ("n_topics                 3", "perplexities", "eigenvalues", "3 x 30"):
        assert line in shown.out
    told = json.loads(cli("info", topics, "--json").out)
    model = et.load(topics)
    assert told["parameters"] == model.get_params()
    assert told["diagnostics"] == model.diagnostics_


def test_the_command_and_python_learn_the_same(fit, generated, tmp_path):
    """One set of defaults: the same text gives the same model, and the same words are left out."""
    texts = generated.reviews(600)[0]
    (tmp_path / "reviews.txt").write_text("\n".join(texts))
    model, told = fit(tmp_path / "reviews.txt", "-k", 10)
    expected = et.TopicModel(10).fit(texts)
    assert same(model, expected)
    assert model.vocabulary_.words == expected.vocabulary_.words
    assert told["left_out"] == expected.diagnostics_["left_out"]
    assert told["left_out"]["language"] == "english"
    assert told["alpha0"] == expected.alpha0_ == 1
    assert model.findings() == expected.findings()
    firsts = {genre: set(words.split()) for genre, words in generated.GENRES.items()}
    found = [
        [genre for genre in firsts if set(words) <= firsts[genre]] for words in model.top_words(5)
    ]
    assert sorted(genres[0] for genres in found) == sorted(firsts)


@pytest.mark.parametrize("seed", range(3))
def test_lines_of_a_log(cli, generated, tmp_path, seed):
    """Once: weights of 100 %, 0 %, …, and a weight_sum of 4e307, which `info` called Infinity."""
    log, output = tmp_path / "dpkg.log", tmp_path / "m"
    log.write_text("\n".join(generated.log_lines(5000, seed)[0]))
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        result = cli("topics", "fit", log, "-k", 12, "--refine", 0, "-o", output, "--no-cache")
    assert result.status == 0
    assert (result.out + result.err).count("Ask for fewer topics") <= 1  # not told twice
    model = et.load(output)
    assert model.weights_.sum() == pytest.approx(1)
    assert 0.01 < model.weights_.min() < model.weights_.max() < 0.5
    firsts = [words[0] for words in model.top_words(1)]
    families = {"python", "fonts", "java", "perl", "postgresql", "gir", "alsa", "libxcb"}
    assert len(families & set(firsts)) >= 7
    shown = cli("info", output, "--json")
    told = json.loads(shown.out, parse_constant=pytest.fail)
    assert told["diagnostics"] == model.diagnostics_
    assert 0 < told["diagnostics"]["weight_sum"] < 24


# Mistakes.


def test_mistakes_are_one_line(cli, documents, tmp_path):
    output, own = tmp_path / "model", tmp_path / "own.txt"
    own.write_bytes(documents.read_bytes())
    (tmp_path / "empty.txt").touch()
    (tmp_path / "numbers.txt").write_text("1 2 3\n4 5\n")
    (tmp_path / "short.txt").write_text("ham eggs\nham\neggs\n" * 9)
    (tmp_path / "rare.txt").write_text("all words of this text occur once in it\n")
    (tmp_path / "bytes.txt").write_bytes(b"ham\neggs\xff\n")
    for arguments, reason in (
        ((), "FILE"),
        ((tmp_path / "missing", "-o", output), "missing: no such file; check the name"),
        ((tmp_path, "-o", output), "is a folder; name its files"),
        ((tmp_path / "empty.txt", "-o", output), "empty.txt: contains no words; is the file"),
        ((tmp_path / "numbers.txt", "-o", output), "digits and signs (1, 2, 3, 4, 5) are dropped"),
        ((tmp_path / "bytes.txt", "-o", output), "line 2: byte 0xff is not UTF-8"),
        ((tmp_path / "rare.txt", "-o", output, "--min-df", 2), "lower min_df"),
        ((tmp_path / "short.txt", "-o", output, "--max-df", 1.0), "three words or more"),
        ((documents, "-o", output, "--unit", "document", "--min-df", 2), "of the 1 documents"),
        ((own, "-o", own), "would be written over what is read"),
        ((own, "-o", output, "--report", own), "would be written over what is read"),
        ((documents, "-o", output, "--report", output), "choose another --report"),
        ((documents, "-o", output, "--report", tmp_path), "is a folder"),
        ((documents, "-o", output, "--report", tmp_path / "no" / "page"), "cannot be written"),
        ((documents, "-o", "-"), "a model is a file, not a stream; name one with -o"),
        ((documents, "-o", output, "--topics", 0), "n_topics (--topics) must be"),
        ((documents, "-o", output, "--method", "gibbs"), "see eigentext topics fit --help"),
        ((documents, "-o", output, "--alpha0", "x"), "a number, 0 or more, 'auto', 'moments', or"),
        ((documents, "-o", output, "--alpha0", -1), "alpha0 must be"),
        ((documents, "-o", output, "--refine", -1), "refine must be"),
        ((documents, "-o", output, "--min-df", "few"), "min_df must be a number of documents"),
        ((documents, "-o", output, "--min-df", 1.5), "min_df must be"),
        ((documents, "-o", output, "--min-df", 9999), "lower min_df"),
        (
            (documents, "-o", output, "--stop-words", "latin"),
            "a language such as english, or a file",
        ),
        ((documents, "-o", output, "--stop-words", tmp_path / "empty.txt", "-k", 0), "--topics"),
    ):
        assert reason in cli("topics", "fit", *arguments, "--quiet").mistake
    assert not output.exists()
    assert own.read_bytes() == documents.read_bytes()


@pytest.fixture
def warned(cli, tmp_path):
    """Fit with a warning: its line, and the model."""

    def run(*arguments):
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            result = cli("topics", "fit", *arguments, "-o", tmp_path / "model", "--quiet")
        assert (result.status, result.out) == (0, "")
        (line,) = result.err.splitlines()
        assert line.startswith("eigentext: warning: ")
        return line, et.load(tmp_path / "model")

    return run


def test_more_topics_than_there_are(warned, documents):
    line, model = warned(documents, "-k", 100)
    assert model.n_topics_ < 100
    assert "n_topics is 100, but the pairs of words in these documents support only" in line
    assert line.endswith(f"(--topics {model.n_topics_}).")


def test_a_vocabulary_of_one_word(warned, tmp_path):
    (tmp_path / "text").write_text("ham ham ham\n" * 9)
    line, model = warned(tmp_path / "text", "-k", 2, "--max-df", 1.0)
    assert "support only 1, and no more were learned" in line
    assert model.top_words() == [["ham"]]


def test_vectors_of_other_text(cli, documents, tmp_path):
    words = et.Eigenwords(4, window=5, min_count=1).fit(et.TextCorpus(documents, lowercase=True))
    words.save(tmp_path / "words")
    options = ("-k", 3, "--vectors", tmp_path / "words", "--background", 3)
    result = cli("topics", "fit", documents, "-o", tmp_path / "model", *options, "--json")
    assert result.status == 0
    told = json.loads(result.out)["background"]
    assert told["strength"] == 3
    model = et.load(tmp_path / "model")
    assert model.diagnostics_["background"] == told
    assert model.parameters_.background == 3
    shown = cli("topics", "fit", documents, "-o", tmp_path / "model", *options)
    assert "of the words in the text have vectors; background 3" in shown.out


def test_a_model_that_is_no_vectors(cli, documents, topics, tmp_path):
    result = cli("topics", "fit", documents, "-o", tmp_path / "model", "--vectors", topics)
    assert result.status == 2
    assert "--vectors wants word vectors" in result.err
