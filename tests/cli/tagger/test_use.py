"""`eigentext tagger tag` and `nbest`: sentences in, tags out."""

import json
import os
import re
import time

import pytest

import eigentext as et
from eigentext.cli.tagger import use
from eigentext.reranking import read_candidates

TEXT = "the small cat sees the river .\n\n \t\nthe\u00a0old dog hears the sailor ."


@pytest.fixture
def tag(cli):
    """Tag in this process; the lines written, and what people are told at the end."""

    def run(*arguments):
        result = cli("tagger", "tag", *arguments)
        assert result.status == 0, result.err
        return result.out.split("\n")[:-1], result.err

    return run


@pytest.fixture
def plain(tagged, tmp_path):
    """The file of sentences without labels."""
    et.write_conll(tagged[0], tmp_path / "plain.txt")
    return tmp_path / "plain.txt"


# Columns.


def test_tags_behind_the_columns(tag, chunker, plain, loaded, tagged):
    lines, told = tag(chunker, plain)
    expected = loaded[0].tag(tagged[0])
    assert lines == [row for one in expected for row in (*map(" ".join, one), "")]
    n = sum(map(len, tagged[0]))
    assert re.fullmatch(rf"{n} tokens in \d+\.\d s \([\d,]+/s\)\n", told)
    assert tag(chunker, plain, "--threads", 1, "-q") == (lines, "")


def test_lines_between_sentences_stay(tag, chunker, loaded, standard_input, tmp_path):
    sentences = [[("the", "DT"), ("big cat", "NN")], [("the", "DT"), ("dog", "NN")]]
    tabs, blanks = (
        [separator.join(token) for token in one]
        for separator, one in zip("\t ", loaded[0].tag(sentences))
    )
    text = "\ufeff-DOCSTART- -X-\n\n\nthe\tDT\r\n big cat \tNN\r\n \n\nthe DT\ndog NN"
    standard_input(text.encode())
    lines, told = tag(chunker)
    assert lines == ["-DOCSTART- -X-", "", "", *tabs, "", "", *blanks]
    assert told.startswith("4 tokens in ")
    (tmp_path / "one").write_text("the DT\ndog NN\n")
    (tmp_path / "two").write_text("\nthe DT\ndog NN\n\n")
    lines, _ = tag(chunker, tmp_path / "one", tmp_path / "one", tmp_path / "two")
    assert lines == [*blanks, "", *blanks, "", "", *blanks, ""]


def test_labels_and_other_columns_are_left_aside(tag, chunker, plain, dev, tagged, tmp_path):
    lines, _ = tag(chunker, plain)
    assert tag(chunker, dev, "--labelled")[0] == lines
    assert tag(chunker, dev, "--columns", "word,pos,label")[0] == lines
    (tmp_path / "four").write_text(
        "\n".join("".join(f"NN x {p} {w}\n" for w, p, _ in one) for one in tagged[1]) + "\n"
    )
    assert tag(chunker, tmp_path / "four", "--columns", "_,_,pos,word")[0] == lines


def test_confidences(tag, chunker, plain, loaded, tagged):
    lines, _ = tag(chunker, plain, "--confidence")
    expected = [
        f"{' '.join(token)} {p:.4f}"
        for one, sure in zip(loaded[0].tag(tagged[0]), loaded[0].confidences(tagged[0]))
        for token, p in zip(one, sure)
    ]
    assert [line for line in lines if line] == expected
    assert len({line.rpartition(" ")[2] for line in expected}) > 5
    told = [json.loads(line) for line in tag(chunker, plain, "--confidence", "--json")[0]]
    shown = [f"{p:.4f}" for one in told for p in one["confidences"]]
    assert shown == [line.rpartition(" ")[2] for line in expected]


def test_json_lines(tag, chunker, tagger, plain, loaded, tagged, standard_input):
    lines, _ = tag(chunker, plain, "--json")
    assert [json.loads(line) for line in lines] == [
        {"tokens": [list(token[:-1]) for token in one], "tags": [token[-1] for token in one]}
        for one in loaded[0].tag(tagged[0])
    ]
    standard_input(TEXT.encode())
    told = [json.loads(line) for line in tag(tagger, "--json", "--tokenized")[0]]
    assert [len(one["tokens"]) for one in told] == [7, 0, 0, 6]
    assert told[1] == {"tokens": [], "tags": []}
    assert told[3]["tokens"][0] == ["the\u00a0old"]  # other blanks than ASCII's are no borders


# Words.


def test_a_sentence_a_line(tag, tagger, loaded, standard_input):
    standard_input(TEXT.encode())
    lines, told = tag(tagger, "--tokenized")
    first, second = loaded[1].tag([line.split(" ") for line in TEXT.split("\n")[::3]])
    expected = [*map(" ".join, first), "", "", "", *map(" ".join, second), ""]
    assert lines == expected
    assert told.startswith("13 tokens in ")
    standard_input(TEXT.encode())
    assert tag(tagger, "-", "--input", "words", "--tokenized")[0] == expected
    standard_input(TEXT.encode())
    assert tag(tagger, "-", "--format", "words", "--tokenized")[0] == expected  # the old name
    standard_input("\n".join(word for word, _ in first).encode())
    assert tag(tagger, "--format", "conll", "-q")[0] == expected[:7]


def test_a_token_a_line_is_noticed(tag, tagger, words, standard_input):
    lines, told = tag(tagger, words)
    warning, _ = told.splitlines()
    assert warning.startswith(f"eigentext: warning: {words}: each line is read as a sentence; if")
    tokens, told = tag(tagger, words, "--labelled", "-q")
    assert told == ""
    assert len(tokens) == len(words.read_text().splitlines()) < len(lines)
    standard_input(b"yes\n" * 9 + b"oh no\nyes\n")
    assert "warning" not in tag(tagger)[1]


# Blocks, files and streams.


def test_blocks_change_nothing(tag, cli, chunker, plain, monkeypatch):
    whole, listed = tag(chunker, plain)[0], cli("tagger", "nbest", chunker, plain, "-q").out
    for size in (1, 4):
        monkeypatch.setattr(use, "_BLOCK", size)
        assert tag(chunker, plain)[0] == whole
        assert cli("tagger", "nbest", chunker, plain, "-q").out == listed


@pytest.mark.parametrize("ending", ["txt", "gz", "bz2", "xz", "zst"])
def test_into_files_of_all_kinds_and_back(tag, chunker, plain, loaded, tagged, tmp_path, ending):
    path = tmp_path / f"tags.{ending}"
    lines, told = tag(chunker, plain, "-o", path)
    assert lines == []
    assert " tokens in " in told
    assert list(et.read_conll(path)) == loaded[0].tag(tagged[0])
    first = path.read_bytes()
    tag(chunker, plain, "-o", path, "--threads", 1, "--quiet")
    assert path.read_bytes() == first
    assert sorted(tmp_path.iterdir()) == sorted([path, plain])


def test_a_pipe_shows_results_early_and_may_be_closed(start, tagger):
    """The first sentences are tagged before the last are there; `head` is not a mistake."""
    with start("tagger", "tag", tagger) as process:
        process.stdin.write("the cat sees the dog .\n" * 1500)
        process.stdin.flush()
        assert process.stdout.readline() == "the DT\n"
        process.stdout.close()
        process.stdin.write("the cat sees the dog .\n" * 1500)
        process.stdin.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0


def test_what_is_typed_is_answered_at_once(start, tagger, loaded):
    pty = pytest.importorskip("pty", reason="no pseudo-terminals here")
    ours, theirs = pty.openpty()
    typed, answers = ["the cat", "the dog"], []
    with start("tagger", "tag", tagger, stdin=theirs) as process:
        os.close(theirs)
        with open(ours, "wb", buffering=0) as keyboard:  # noqa: PTH123 - a descriptor
            for line in typed:
                keyboard.write(f"{line}\n".encode())
                answers += [process.stdout.readline() for _ in range(3)]
            keyboard.write(b"\x04")
            out, err = process.communicate()
    expected = [row for one in loaded[1].tag(typed) for row in (*map(" ".join, one), "")]
    assert answers == [f"{row}\n" for row in expected]
    assert (process.returncode, out) == (0, "")
    assert err.startswith("4 tokens in ")


def test_ctrl_c_leaves_nothing_behind(interrupted, tagger, tmp_path):
    out = tmp_path / "out"
    with interrupted("tagger", "tag", tagger, "-o", out / "tags") as process:
        process.stdin.write("the cat sees the dog .\n" * 3000)
        process.stdin.flush()
        while not any(path.stat().st_size for path in out.iterdir()):
            time.sleep(0.05)  # until the first tags are in the temporary file


# The k best.


def test_the_k_best_are_candidates(cli, chunker, tagger, plain, loaded, tagged, tmp_path):
    result = cli("tagger", "nbest", chunker, plain, "-k", 3)
    assert result.status == 0
    assert " tokens in " in result.err
    (tmp_path / "best").write_text(result.out)
    expected = loaded[0].k_best_many(tagged[0], 3)
    assert read_candidates(tmp_path / "best") == expected
    assert {len(one) for one in expected} == {3}
    assert result.out.split("\t")[1].startswith("the|DT/B-NP ")
    path = tmp_path / "best.gz"
    assert cli("tagger", "nbest", chunker, plain, "-k", 3, "-o", path, "-q").out == ""
    assert read_candidates(path) == expected
    (tmp_path / "text").write_text(TEXT)
    shown = cli("tagger", "nbest", tagger, tmp_path / "text", "-q")
    (tmp_path / "best").write_text(shown.out)
    found = read_candidates(tmp_path / "best")
    assert [len(one) for one in found] == [10, 0, 0, 10]
    assert found[0] == loaded[1].k_best(TEXT.split("\n")[0], 10)


def test_the_k_best_as_json(cli, tagger, loaded, standard_input):
    standard_input(b"the cat .\n\nsees\n")
    shown = cli("tagger", "nbest", tagger, "-k", 100, "--json", "-q")
    told = [json.loads(line) for line in shown.out.splitlines()]
    assert told[1] == {"tokens": [], "taggings": []}
    expected = loaded[1].k_best("the cat .", 100)
    assert told[0]["tokens"] == [["the"], ["cat"], ["."]]
    assert told[0]["taggings"] == [
        {"tags": [tag for _, tag in tagging], "log_probability": log} for tagging, log in expected
    ]
    assert len(told[2]["taggings"]) == 5  # no more there are


def test_lists_for_a_reranker(cli, chunker, plain, loaded, tagged, tmp_path):
    """From `tagger nbest` through `rerank fit` and `apply`, over the same words."""
    assert cli("tagger", "nbest", chunker, plain, "-o", tmp_path / "best", "-q").status == 0
    gold = [" ".join(f"{w}|{p}/{y}" for w, p, y in one) for one in tagged[1]]
    (tmp_path / "gold").write_text("\n".join(gold))
    options = ("--decay", 0.3, "--beta", 1, "--gold", tmp_path / "gold", "-q")
    fitted = cli("rerank", "fit", tmp_path / "best", "-o", tmp_path / "reranker", *options)
    assert fitted.status == 0, fitted.err
    lines = cli("rerank", "apply", tmp_path / "reranker", tmp_path / "best", "-q").out.splitlines()
    assert [[token.rpartition("/")[0] for token in line.split()] for line in lines] == [
        ["|".join(token) for token in one] for one in tagged[0]
    ]


def test_what_no_list_can_hold(cli, tmp_path):
    et.Tagger().fit([[("a", "x/y"), ("b", "z")]] * 2).save(tmp_path / "tagger")
    (tmp_path / "text").write_text("b\na b\n")
    shown = cli("tagger", "nbest", tmp_path / "tagger", tmp_path / "text", "-q")
    assert "text, line 1: the tag 'x/y' contains a slash" in shown.mistake
    assert cli("tagger", "nbest", tmp_path / "tagger", tmp_path / "text", "--json").status == 0


# Mistakes.


@pytest.mark.parametrize("command", ["tag", "nbest"])
def test_mistakes_are_one_line(cli, chunker, tagger, model, dev, standard_input, tmp_path, command):
    own, output = tmp_path / "own.txt", tmp_path / "tags"
    own.write_text("the DT\ncat NN\n")
    (tmp_path / "empty").touch()
    (tmp_path / "blank").write_text("\n \n\n")
    (tmp_path / "bytes").write_bytes(b"the DT\n\nb\xffd NN\n")
    (tmp_path / "nul").write_bytes(b"h\0m\n")
    (tmp_path / "cut.gz").write_bytes(b"\x1f\x8b\x08\x00")
    (tmp_path / "ragged").write_text("the DT\n\ncat\n")
    standard_input(b"")
    for arguments, reason in (
        ((), "MODEL"),
        ((tmp_path / "none", own), "none: cannot be read (No such file or directory)"),
        ((model, own), "not a tagger that `tagger fit` wrote"),
        ((own, own), "not an eigentext file"),
        ((chunker, tmp_path / "missing"), "missing: no such file; check the name"),
        ((chunker, tmp_path), "is a folder; name its files"),
        ((chunker, tmp_path / "empty"), "empty: contains no words; is the file empty?"),
        ((tagger, tmp_path / "blank"), "blank: contains no words"),
        ((chunker, tmp_path / "blank"), "blank: contains no words"),
        (
            (chunker, tmp_path / "bytes", "-o", output),
            "line 3: byte 0xff is not UTF-8; it looks like cp1",
        ),
        ((tagger, tmp_path / "bytes", "-o", output), "bytes, line 3: byte 0xff is not UTF-8; it l"),
        ((tagger, tmp_path / "nul"), "nul, line 1: a NUL byte"),
        ((chunker, tmp_path / "nul"), "nul, line 1: a NUL byte"),
        ((chunker, tmp_path / "cut.gz"), "cut.gz: not a complete .gz file"),
        (
            (chunker, tmp_path / "ragged", "-o", output),
            "ragged, line 3: 'cat' has 1 column, not 2",
        ),
        ((chunker, dev), "has 3 columns, not 2; the model uses word, pos: correct it, or name"),
        ((chunker, dev), "or give --labelled if the last column is a label"),
        ((tagger, dev, "--format", "conll"), "has 3 columns, not 1; the model uses word: correct"),
        ((chunker, own, "--labelled"), "'the DT' has 2 columns, not 3"),
        (
            (chunker, own, "--format", "words"),
            "--input words is for words alone, but the model uses word, ",
        ),
        ((tagger, own, "--format", "words", "--labelled"), "--input words is for words alone"),
        ((chunker, dev, "--columns", "word,_,label"), "the model needs word, pos; name them all"),
        ((chunker, dev, "--columns", "word,pos,_", "--labelled"), "leave --labelled out"),
        ((chunker, "-", "-"), "standard input (-) can be read only once"),
        ((chunker, own, "-o", own), "would be written over what is read"),
        ((chunker, own, "-o", chunker), "would be written over what is read"),
        ((chunker, own, "-o", tmp_path), "is a folder"),
        ((chunker, own, "-o", tmp_path / "no" / "tags"), "cannot be written"),
        ((chunker, own, "--format", "trees"), f"see eigentext tagger {command} --help"),
        ((chunker,), "-: contains no words"),
    ):
        assert reason in cli("tagger", command, *arguments).mistake
    assert own.read_text() == "the DT\ncat NN\n"
    assert not output.exists()
    assert "-k" in cli("tagger", "nbest", chunker, own, "-k", 0).mistake


# Raw text and tokens.


def test_raw_lines_are_split_like_the_training_sentences(tag, tagger, standard_input):
    standard_input(b"the river sees the cat.\n\n")
    raw, _ = tag(tagger, "-q")
    standard_input(b"the river sees the cat .\n\n")
    assert tag(tagger, "-q", "--tokenized")[0] == raw
    assert " ".join(line.split(" ")[0] for line in raw) == "the river sees the cat .  "


@pytest.mark.filterwarnings("default::eigentext.corpus.raw_text.RawTextWarning")
def test_tokens_that_look_raw_are_told_once(cli, tagger, standard_input):
    standard_input(b"the cat.\nthe river sees the cat.\n")
    result = cli("tagger", "tag", tagger, "--tokenized", "--confidence", "-q")
    (warning,) = result.err.splitlines()
    assert warning.startswith("eigentext: warning: 2 of 2 sentences end in a word with a sign att")
    assert "cat. " in result.out
