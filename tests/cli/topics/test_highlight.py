"""`eigentext topics highlight`: a text, a file, a page."""

import json

import eigentext as et


def test_texts_and_files(cli, topics, tmp_path, standard_input):
    text = "The ham, and the GOAL."
    expected = str(et.load(topics).highlight(text))
    assert cli("topics", "highlight", topics, text).out == expected + "\n"
    path = tmp_path / "post.txt"
    path.write_text(text, encoding="utf-16")
    assert cli("topics", "highlight", topics, path, "--encoding", "utf-16").out == expected + "\n"
    path.write_text(text)
    standard_input(path)
    assert cli("topics", "highlight", topics, "-").out == expected + "\n"
    assert json.loads(cli("topics", "highlight", topics, path, "--json").out)["text"] == text
    page = tmp_path / "post.html"
    assert cli("topics", "highlight", topics, path, "--html", "-o", page).out == ""
    assert page.read_text().startswith("<!DOCTYPE html>") and "GOAL</span>" in page.read_text()
    assert "\033[" in cli("topics", "highlight", topics, text, "--color").out


def test_bad_input(cli, topics, tmp_path):
    for arguments, message in (
        (["a", "--html", "--json"], "choose one"),
        (["no/such.txt"], "no such file"),
        (["ham", "-o", topics], str(topics)),
    ):
        result = cli("topics", "highlight", topics, *arguments)
        assert result.status == 2 and message in result.err
    path = tmp_path / "bad.txt"
    path.write_bytes(b"ham \xff")
    result = cli("topics", "highlight", topics, path)
    assert result.status == 2 and "bad.txt" in result.err
    assert cli("topics", "highlight", topics, "").out == "\n"
