"""`eigentext words evaluate`: one tidy table for any number of files, and honest about coverage."""

import io
import json
import sys

import pytest

import eigentext as et
from eigentext.evaluate import analogies, half, read_pairs, read_questions, similarity

PAIRS = "cat dog 9\ncat river 5\nsees hears 8\nsmall Large 7\nteacher sees 1\ncat unicorn 6\n"
QUESTIONS = """: animals
cat dog sees hears
cat dog small unicorn
: gram1
cat dog Old young
small large cat dog
"""


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.txt"
    path.write_text(PAIRS)
    return path


@pytest.fixture
def questions(tmp_path):
    path = tmp_path / "questions.txt"
    path.write_text(QUESTIONS)
    return path


@pytest.fixture
def evaluate(cli, model):
    """Evaluate `model` in this process; the words of each line of what is printed."""

    def run(*arguments):
        result = cli("words", "evaluate", model, *arguments)
        assert result.status == 0, result.err
        return [line.split() for line in result.out.splitlines()]

    return run


# The table.


def test_the_table_has_every_file_and_its_coverage(evaluate, model, pairs, questions):
    words = et.load(model)
    rho, answered = similarity(words, pairs).rho, analogies(words, questions)
    mul, add = (f"{answered.accuracy[method]:.1%}" for method in ("mul", "add"))
    lines = evaluate(pairs, questions)
    assert lines[0] == ["Spearman's", "rho", "3CosMul", "3CosAdd", "covered"]
    assert lines[1] == ["pairs.txt", f"{rho:.3f}", "5/6"]
    assert lines[2] == ["questions.txt", mul, add, "3/4"]
    assert [line[0] for line in lines[3:5]] == ["semantic", "syntactic"]
    assert [line[-1] for line in lines[3:5]] == ["1/2", "2/2"]
    assert lines[5] == f"{pairs}: 1 words found in another case (--case exact forbids it)".split()
    assert len(lines) == 7


def test_only_the_columns_that_are_needed(evaluate, pairs, questions):
    assert evaluate(pairs)[0] == ["Spearman's", "rho", "covered"]
    assert evaluate(questions, "--method", "add")[0] == ["3CosAdd", "covered"]
    assert evaluate(questions, "--method", "mul")[0] == ["3CosMul", "covered"]


def test_sections_on_request(evaluate, questions):
    first = [line[0] for line in evaluate(questions, "--by-section")]
    assert first[1:6] == ["questions.txt", "semantic", "syntactic", "animals", "gram1"]
    questions.write_text("cat dog sees hears\n")
    assert len(evaluate(questions, "--by-section")) == 2  # no sections: the total is all


def test_names_that_are_not_unique_or_look_like_markup(evaluate, tmp_path):
    (tmp_path / "x").mkdir()
    for name in ("a.txt", "x/a.txt", "[bold].txt"):
        (tmp_path / name).write_text(PAIRS)
    shown = "".join(map("".join, evaluate(tmp_path / "a.txt", tmp_path / "x" / "a.txt")))
    assert f"{tmp_path}/x/a.txt" in shown.replace("\n", "")
    assert evaluate(tmp_path / "[[]bold].txt")[1][0] == "[bold].txt"


def test_missing_words_on_request(evaluate, pairs, tmp_path):
    assert [str(pairs) + ":", "1", "missing:", "unicorn"] in evaluate(pairs, "--missing")
    many = tmp_path / "many.txt"
    many.write_text(PAIRS + "".join(f"cat x{i:02} 1\n" for i in range(30)))
    line = " ".join(evaluate(many, "--missing")[-1])
    assert line.startswith(f"{many}: 31 missing: unicorn, x00, x01, ")
    assert line.endswith(", x18, and 11 more (--json has all)")


def test_case(evaluate, pairs):
    lines = evaluate(pairs, "--case", "exact")
    assert lines[1][-1] == "4/6"
    assert len(lines) == 2


def test_unseen_words_are_predicted_on_request(cli, text, pairs, tmp_path):
    model = tmp_path / "model"
    options = ("--dim", 4, "--window", 1, "--oov", "characters", "--no-cache", "--quiet")
    assert cli("words", "fit", text, "-o", model, *options).status == 0

    def covered(*options):
        told = json.loads(cli("words", "evaluate", model, pairs, "--json", *options).out)
        return told["files"][0]["n_covered"]

    assert covered() == 5
    assert covered("--unseen") == 6  # a unicorn


def test_unseen_words_take_a_model_that_predicts_them(cli, model, pairs):
    line = cli("words", "evaluate", model, pairs, "--unseen").mistake
    assert "fit it with --oov characters" in line


def test_half(evaluate, cli, model, tmp_path):
    path = tmp_path / "pairs.txt"
    nouns = ("cat", "dog", "horse", "sheep", "river", "village")
    path.write_text("".join(f"{a} {b} {len(a + b)}\n" for a in nouns for b in nouns))
    sizes = {}
    for which in ("dev", "test"):
        expected = similarity(et.load(model), half(read_pairs(path), which))
        assert evaluate(path, "--half", which)[1][1] == f"{expected.rho:.3f}"
        sizes[which] = expected.n_pairs
        told = json.loads(cli("words", "evaluate", model, path, "--half", which, "--json").out)
        assert told["half"] == which
        assert told["files"][0]["rho"] == pytest.approx(expected.rho)
    assert sum(sizes.values()) == 36
    assert all(sizes.values())


# Where there is no score.


def test_files_that_are_not_covered(evaluate, tmp_path):
    path = tmp_path / "alien.txt"
    path.write_text("ein Hund 3\nzwei Katzen 4\n")
    lines = evaluate(path)
    assert lines[1] == ["alien.txt", "—", "0/2"]
    assert " ".join(lines[2]).startswith(
        f"{path}: not scored, because the model has none of its words."
    )
    path.write_text("ein Hund zwei Katzen\n")
    lines = evaluate(path)
    assert lines[1] == ["alien.txt", "—", "—", "0/1"]
    assert len(lines) == 3


def test_pairs_with_equal_scores(evaluate, tmp_path):
    path = tmp_path / "alike.txt"
    path.write_text("cat dog 3\ncat river 3\n")
    lines = evaluate(path)
    assert lines[1] == ["alike.txt", "—", "2/2"]
    reason = "all covered pairs have the same score"
    assert " ".join(lines[2]) == f"{path}: not scored, because {reason}"


# JSON, streams, threads.


def test_json_is_the_library(cli, model, pairs, questions):
    result = cli("words", "evaluate", model, pairs, questions, "--json", "--method", "mul")
    assert (result.status, result.err) == (0, "")
    told = json.loads(result.out)
    words = et.load(model)
    answered = analogies(words, read_questions(questions), method="mul")
    assert told == {
        "model": str(model),
        "half": None,
        "case": "fold",
        "files": [
            {"file": str(pairs), "kind": "pairs", **similarity(words, pairs).to_dict()},
            {"file": str(questions), "kind": "questions", **answered.to_dict()},
        ],
    }


def test_globs_and_standard_input(evaluate, pairs, questions, tmp_path, monkeypatch):
    by_name = evaluate(pairs, questions)
    assert evaluate(tmp_path / "*.txt") == by_name
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PAIRS.encode())))
    lines = evaluate("-", questions)
    assert lines[1] == ["standard", "input", *by_name[1][1:]]
    assert lines[2] == by_name[2]


def test_threads_change_nothing(evaluate, questions):
    assert evaluate(questions, "--threads", "1") == evaluate(questions, "--threads", "2")


# Mistakes.


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "has no pairs"),
        ("cat dog 1\ncat dog\n", "line 2: 'cat dog' is not two words and a score"),
        ("cat dog 1\ncat dog ?\n", "line 2: the score '?' is not a number"),
        ("cat dog 1\ncat dog nan\n", "line 2: the score is nan"),
        (": x\ncat dog horse\n", "line 2: 'cat dog horse' is not four words"),
        (b"cat dog 1\n\xff\n", "line 2: byte 0xff is not UTF-8"),
    ],
)
def test_bad_files_are_one_line(cli, model, pairs, tmp_path, content, says):
    path = tmp_path / "bad.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    line = cli("words", "evaluate", model, pairs, path).mistake  # and nothing of the good file
    assert line.startswith(str(path))
    assert says in line


def test_bad_standard_input(cli, model, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"cat dog\n")))
    assert cli("words", "evaluate", model, "-").mistake.startswith("standard input, line 1: ")


def test_other_mistakes(cli, model, pairs, tmp_path):
    assert "no such file" in cli("words", "evaluate", model, tmp_path / "none").mistake
    assert str(pairs) in cli("words", "evaluate", pairs, pairs).mistake  # no model
    for option in (("--half", "train"), ("--method", "cos"), ("--case", "lower")):
        line = cli("words", "evaluate", model, pairs, *option).mistake
        assert option[1] in line
        assert "--help" in line
    assert "--help" in cli("words", "evaluate", model).mistake
