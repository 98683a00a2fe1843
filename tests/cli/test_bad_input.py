"""Bad input gets one line with the place and the remedy; nothing is lost or half written."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import eigentext as et


@pytest.fixture
def fit(cli, tmp_path):
    """Run a fit that must fail: the line it prints; nothing is written to the folder."""

    def run(*arguments) -> str:
        before = contents(tmp_path)
        line = cli("words", "fit", *arguments, "-o", tmp_path / "model", "--quiet").mistake
        assert contents(tmp_path) == before
        return line

    return run


def contents(folder) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b"(folder)"
        for path in folder.rglob("*")
    }


# The text.


def test_a_missing_file(fit, text, tmp_path):
    missing = tmp_path / "missing.txt"
    assert fit(text, missing) == f"{missing}: no such file; check the name"
    assert fit(tmp_path / "*.txt").startswith(f"{tmp_path}/*.txt: no file matches")
    assert "is a folder; name its files" in fit(tmp_path)


@pytest.mark.parametrize("content", ["", "\n", " \t\n\n  "])
def test_an_empty_file(fit, tmp_path, content):
    empty = tmp_path / "empty.txt"
    empty.write_text(content)
    assert fit(empty) == f"{empty}: contains no words; is the file empty?"


def test_one_token(fit, tmp_path):
    (tmp_path / "one.txt").write_text("alone\n")
    assert "one token" in fit(tmp_path / "one.txt", "--min-count", 1)


def test_no_word_is_frequent_enough(fit, tmp_path):
    (tmp_path / "rare.txt").write_text("all of these words occur once\n")
    line = fit(tmp_path / "rare.txt")
    assert "no word occurs 5 times" in line
    assert "the most frequent one: 1" in line
    assert "min_count" in line


def test_more_dimensions_than_the_text_has(fit, text, tmp_path):
    line = fit(text, "--dim", 300)
    assert "--dim" in line
    assert "300" in line
    assert "use 23 or less" in line
    (tmp_path / "alike.txt").write_text("a b\na c\n" * 9)  # b and c are used alike
    assert "rank 2; use 2 or less" in fit(tmp_path / "alike.txt", "--dim", 3, "--window", 1)


@pytest.mark.parametrize(
    ("byte", "reason"), [(b"\xff", "byte 0xff is not UTF-8"), (b"\0", "a NUL byte")]
)
def test_bytes_that_are_no_text(fit, cli, text, tmp_path, byte, reason):
    path = tmp_path / "bad.txt"
    lines = text.read_bytes().splitlines()
    path.write_bytes(b"\n".join([*lines[:200], b"caf" + byte, *lines[200:]]))
    line = fit(path)
    assert line.startswith(f"{path}, line 201: {reason}")
    assert "--errors replace" in line
    output = tmp_path / "model"
    replaced = cli("words", "fit", path, "-o", output, "--errors", "replace", "--dim", 4, "-q")
    assert replaced.status == 0
    assert et.load(output).provenance_["n_tokens"] == 4_001


def test_bytes_that_are_no_text_on_standard_input(process, tmp_path):
    result = process(
        *("words", "fit", "-", "-o", tmp_path / "model"),
        input="good\nb\udcffd\n",
        encoding="utf-8",
        errors="surrogateescape",
    )
    assert result.err.splitlines()[-1].startswith(
        "eigentext: standard input, line 2: byte 0xff is not UTF-8"
    )
    assert result.status == 2
    assert list(tmp_path.iterdir()) == []


def test_a_line_of_ten_million_characters(fit, cli, text, tmp_path):
    path = tmp_path / "long.txt"
    path.write_text("x" * 10_000_000)
    assert "one token" in fit(path)
    path.write_text(f"{text.read_text()}{'x' * 10_000_000}\n{text.read_text()}")
    options = ("--dim", 4, "--keep-moments", "whole", "--quiet")
    assert cli("words", "fit", path, "-o", tmp_path / "model", *options).status == 0
    model = et.load(tmp_path / "model")
    assert model.provenance_["n_tokens"] == 8_001
    assert max(map(len, model.moments_.vocabulary)) == 10_000_000  # a word like any other


def test_a_packed_file_that_is_cut_short(fit, tmp_path):
    (tmp_path / "text.gz").write_bytes(b"\x1f\x8b\x08\x00")
    assert "text.gz: not a complete .gz file" in fit(tmp_path / "text.gz")


# Options.


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--memory", "nonsense"),
        ("--memory", "1kB"),
        ("--threads", "0"),
        ("--dim", "many"),
        ("--errors", "ignore"),
        ("--keep-moments", "all"),
    ],
)
def test_options_that_are_none(fit, text, option, value):
    line = fit(text, f"{option}={value}")
    assert option in line
    assert line.endswith("; see eigentext words fit --help")


@pytest.mark.parametrize(
    ("option", "line"),
    [
        ("--dim=0", "n_components (--dim) must be a whole number, 1 or more, not 0"),
        ("--window=0", "window must be a whole number from 1 to 1000000, or None, not 0"),
        ("--min-count=0", "min_count must be a whole number, 1 or more, not 0"),
        ("--max-size=0", "max_size must be a whole number, 1 or more, or None, not 0"),
        ("--alpha=1.5", "alpha must be a number, 1 at most, not 1.5"),
        ("--beta=2", "beta must be a number, 1 at most, or None, not 2.0"),
    ],
)
def test_parameters_out_of_range(fit, text, option, line):
    assert fit(text, option) == line


# The output.


def test_an_output_that_is_a_folder(cli, text, tmp_path):
    line = cli("words", "fit", text, "-o", tmp_path).mistake
    assert line == f"{tmp_path}: is a folder; name a file in it, such as {tmp_path}/model"
    assert list(tmp_path.iterdir()) == []


def test_an_output_in_a_missing_folder(cli, text, tmp_path, model):
    output = tmp_path / "missing" / "model"
    for command in (("words", "fit", text), ("demo", text), ("words", "export", model)):
        line = cli(*command, "-o", output).mistake
        assert line.startswith(f"{output}: cannot be written (No such file or directory)")
        assert "-o" in line
    assert list(tmp_path.iterdir()) == []


def test_a_model_cannot_be_a_stream(fit, cli, text):
    for command in (("words", "fit", text), ("demo", text)):
        assert "name one with -o" in cli(*command, "-o", "-").mistake


def test_a_folder_that_may_not_be_written(process, text, tmp_path, without_privileges):
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(0o555)
    result = process("words", "fit", text, "-o", closed / "model", before=without_privileges)
    # One line, though not quiet: it failed before any phase of the work.
    assert result.mistake.startswith(f"{closed}/model: cannot be written (Permission denied)")
    assert list(closed.iterdir()) == []


def test_what_is_read_is_never_written_over(cli, fit, text, model, tmp_path):
    own = tmp_path / "text.txt"
    own.write_bytes(text.read_bytes())
    before = contents(tmp_path), model.read_bytes()
    for arguments in (
        ("words", "fit", own, "-o", own),
        ("words", "fit", text, tmp_path / "*.txt", "-o", own),
        ("demo", own, "-o", own),
        ("words", "add", model, own, "-o", own),
        ("words", "export", model, "-o", model),
    ):
        assert "would be written over what is read; choose another -o" in cli(*arguments).mistake
    assert (contents(tmp_path), model.read_bytes()) == before


def test_a_disk_that_fills_up_while_saving(process, text, tmp_path):
    output = tmp_path / "model"
    output.write_bytes(b"the old model")
    # No file may grow beyond 4 kB, which the model does: writing fails as on a full disk.
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))"
    options = ("--dim", 5, "--keep-moments", "whole", "--no-cache", "--quiet")
    result = process("words", "fit", text, "-o", output, *options, before=limit)
    assert result.mistake.startswith(f"{output}: cannot be written")
    assert contents(tmp_path) == {"model": b"the old model"}


@pytest.mark.parametrize("older", [True, False])
def test_a_killed_fit_leaves_the_old_model_or_none(
    long_text, model, tmp_path, tmp_path_factory, older
):
    output = tmp_path / "model"
    if older:
        output.write_bytes(model.read_bytes())
    before = contents(tmp_path)
    command = [sys.executable, "-m", "eigentext", "words", "fit", long_text, "-o", output]
    with subprocess.Popen(
        [*command, "--dim", "400", "--no-cache"],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(tmp_path_factory.mktemp("tmp"))},  # kill leaves it full
    ) as process:
        assert any(line.startswith("count") for line in process.stderr)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert contents(tmp_path) == before
    if older:
        assert np.array_equal(et.load(output).vectors_, et.load(model).vectors_)


# Models.


@pytest.fixture
def read(cli, tmp_path):
    """Run all commands that read a model: the line of each mistake."""

    def run(path) -> list[str]:
        vectors = tmp_path / "vectors"
        return [
            cli("words", "neighbors", path, "cat").mistake,
            cli("words", "analogy", path, "cat", "dog", "old").mistake,
            cli("words", "export", path, "-o", vectors).mistake,
            cli("words", "add", path, path, "-o", tmp_path / "added").mistake,
            cli("info", path).mistake,
        ]

    return run


@pytest.mark.parametrize("kept", [0, 5, 300, -1])
def test_a_model_file_that_is_cut_short(read, model, tmp_path, kept):
    cut = tmp_path / "cut"
    cut.write_bytes(model.read_bytes()[:kept])
    remedy = "fit -o" if kept < 300 and kept >= 0 else "copy it again or fit the model again"
    for line in read(cut):
        assert line.startswith(f"{cut}: ")
        assert remedy in line
    assert [path.name for path in tmp_path.iterdir()] == ["cut"]


def test_a_foreign_file(read, text):
    for line in read(text):
        assert line.startswith(f"{text}: not an eigentext file; ")


def test_a_missing_model(read, tmp_path):
    for line in read(tmp_path / "missing"):
        assert line.startswith(f"{tmp_path}/missing: cannot be read (No such file")


def test_a_newer_format(cli, model, tmp_path):
    arrays, about = et.storage.read_saved(model)
    about = {name: part for name, part in about.items() if name != "format"}
    newer = tmp_path / "newer"
    et.storage.write_saved(newer, "eigentext.words.v99", arrays, about)
    for command in (("neighbors", newer, "cat"), ("export", newer, "-o", tmp_path / "vectors")):
        line = cli("words", *command).mistake
        assert line.startswith(f"{newer}: format version 99, ")
        assert "pip install -U eigentext" in line
    assert not (tmp_path / "vectors").exists()


def test_statistics_are_no_vectors(cli, tmp_path):
    moments = tmp_path / "moments"
    et.CooccurrenceMoments.from_corpus(["a b", "b c"]).save(moments)
    line = cli("words", "neighbors", moments, "a").mistake
    assert line.startswith(f"{moments}: holds CooccurrenceMoments(")
    assert line.endswith("not word vectors")


def test_unknown_words(cli, model):
    line = cli("words", "neighbors", model, "cat", "vilage").mistake
    assert line.startswith("'vilage' is not in the vocabulary of 23 words; did you mean village")
    assert "did you mean the" in cli("words", "analogy", model, "cat", "dog", "The").mistake
