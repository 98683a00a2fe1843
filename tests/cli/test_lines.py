"""Lines in step with their answers, whatever is read ahead; lines out, all or none."""

import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext.cli._lines import (
    Line,
    ReadingOptions,
    in_step,
    input_paths,
    line_writer,
    raw_lines,
    read_lines,
)
from eigentext.engine import ThreadEngine
from eigentext.errors import CorpusError


@given(st.lists(st.integers(0, 3), max_size=40), st.integers(1, 3))
def test_answers_are_in_step_with_lines(lengths, n_threads):
    lines = [Line(str(n), [f"w{n}"] * length) for n, length in enumerate(lengths)]

    def parse(sentences):
        return ThreadEngine(n_threads).map(tuple, sentences)  # reads ahead

    answers = in_step(parse, iter(lines), ["a", "b"])
    if any(lengths):
        expected = [(line.place, tuple(line.words) or None) for line in lines]
        assert list(answers) == expected
    else:
        with pytest.raises(CorpusError, match=r"^a, b: contains no words; is the file empty\?$"):
            list(answers)


@given(lines=st.lists(st.text(st.characters(exclude_characters="\n", codec="utf-8"), max_size=5)))
def test_lines_of_files_are_those_of_streams(lines, tmp_path_factory):
    data = "\n".join(lines).encode()
    path = tmp_path_factory.mktemp("text") / "lines"
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        streamed = [line.removesuffix(b"\n") for line in raw_lines(None)]
    assert list(raw_lines(path)) == streamed
    if not data.startswith("\ufeff".encode()):
        assert streamed == (data.removesuffix(b"\n").split(b"\n") if data else [])


def test_places(tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("one ( two\n\nthree")
    paths = input_paths([str(tmp_path / "a.txt")])
    assert list(read_lines(paths, ReadingOptions(tokenized=True))) == [
        ("1", ["one", "-LRB-", "two"]),
        ("2", []),
        ("3", ["three"]),
    ]
    paths = input_paths([str(tmp_path / "*.txt")])
    places = [line.place for line in read_lines(paths, ReadingOptions())]
    assert places == [f"{tmp_path}/{name}:{n}" for name in ("a.txt", "b.txt") for n in (1, 2, 3)]


def test_a_file_gets_all_lines_or_none(tmp_path, capfd):
    path = tmp_path / "lines"
    path.write_text("precious")
    with pytest.raises(CorpusError), line_writer(path) as write:
        write("half")
        raise CorpusError("bad")
    assert path.read_text() == "precious"
    with line_writer(path) as write:
        write("é")
        write("")
        assert path.read_text() == "precious"
    assert path.read_bytes() == "é\n\n".encode()
    assert list(tmp_path.iterdir()) == [path]
    assert capfd.readouterr().out == ""
