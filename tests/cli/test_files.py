"""Files and standard streams: what is read and written, and what must not be overwritten."""

import io
import sys
from pathlib import Path

import pytest

import eigentext as et
from eigentext.cli._files import check_not_read, destination, inputs, load_kind
from eigentext.errors import CorpusError, EigentextError, ParameterError


def test_files_are_passed_on_and_standard_input_is_kept(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a \xff b\n")))
    with inputs(["one.txt"], [], ["-", "two.txt"]) as ([one], none, [kept, two]):
        assert (one, none, two) == (Path("one.txt"), [], Path("two.txt"))
        assert kept.read_bytes() == b"a \xff b\n"
    assert not kept.parent.exists()


def test_errors_say_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    with (
        pytest.raises(CorpusError, match=r"^standard input, line 3: bad$"),
        inputs(["-"]) as [[path]],
    ):
        raise CorpusError(f"{path}, line 3: bad")
    with pytest.raises(CorpusError, match=r"^other\.txt: bad$"), inputs(["-"]):
        raise CorpusError("other.txt: bad")


def test_standard_output_gets_all_or_nothing(capfdbinary):
    with destination(Path("-")) as path:
        path.write_bytes(b"all\xff\n")
    assert capfdbinary.readouterr().out == b"all\xff\n"
    with pytest.raises(CorpusError), destination(Path("-")) as path:
        path.write_bytes(b"half")
        raise CorpusError("bad")
    assert capfdbinary.readouterr().out == b""
    with destination(Path("file")) as path:
        assert path == Path("file")


def test_no_input_is_written_over(tmp_path):
    text = tmp_path / "text"
    text.write_text("precious")
    (tmp_path / "link").symlink_to(text)
    check_not_read(tmp_path / "new", [text])
    for output in (text, tmp_path / "link", tmp_path / "." / "text"):
        with pytest.raises(ParameterError, match="choose another -o"):
            check_not_read(output, [tmp_path / "link"])


def test_standard_input_can_be_read_only_once():
    with pytest.raises(ParameterError, match="only once"), inputs(["-"], ["a", "-"]):
        pass


def test_models_of_another_kind_are_refused(model):
    assert isinstance(load_kind(model, et.Eigenwords, "word vectors"), et.Eigenwords)
    with pytest.raises(EigentextError, match=r"holds Eigenwords\(.*, not topics$"):
        load_kind(model, et.TopicModel, "topics")
