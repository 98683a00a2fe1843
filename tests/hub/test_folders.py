"""A folder with a model, its card and its summary: written once, opened as a model."""

import json

import pytest

import eigentext as et
from eigentext.errors import EigentextError, ModelFileError, ParameterError

TEXT = ["the cat sat here", "the dog sat there", "a cat ran here", "a dog ran there"] * 5


@pytest.fixture(scope="module")
def words():
    return et.Eigenwords(3, window=2).fit(TEXT)


def test_a_folder_is_opened_as_its_model(words, tmp_path):
    folder = et.hub.save(words, tmp_path / "models" / "words", license="mit")
    assert sorted(path.name for path in folder.iterdir()) == [
        "README.md",
        "config.json",
        "model.safetensors",
    ]
    for place in (folder, str(folder), folder / "model.safetensors"):
        assert et.load(place).most_similar("cat") == words.most_similar("cat")
    words.save(tmp_path / "file")
    assert (folder / "model.safetensors").read_bytes() == (tmp_path / "file").read_bytes()


def test_other_libraries_open_the_arrays(words, tmp_path):
    from safetensors.numpy import load_file

    folder = et.hub.save(words, tmp_path / "words")
    assert load_file(folder / "model.safetensors")["vectors"].shape == words.vectors_.shape


def test_the_summary_is_json(words, tmp_path):
    summary = json.loads((et.hub.save(words, tmp_path / "a") / "config.json").read_text())
    assert summary["library_name"] == "eigentext"
    assert summary["format"] == "eigentext.words.v2"
    assert summary["parameters"] == dict(words.parameters_)
    assert summary["provenance"]["n_tokens"] == 80


def test_cards_are_not_overwritten_by_accident(words, tmp_path):
    folder = et.hub.save(words, tmp_path / "words")
    (folder / "README.md").write_text("my own card")
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(EigentextError, match=r"has model\.safetensors and README\.md and"):
        et.hub.save(words, folder)
    assert (folder / "README.md").read_text() == "my own card"
    et.hub.save(words, folder, overwrite=True)
    assert (folder / "README.md").read_text().startswith("---\n")
    assert (folder / "notes.txt").read_text() == "mine"


def test_nothing_is_written_for_a_card_that_is_refused(words, tmp_path):
    with pytest.raises(ParameterError, match="results must be"):
        et.hub.save(words, tmp_path / "words", results=3)
    assert not (tmp_path / "words").exists()


def test_what_cannot_be_a_folder(words, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(EigentextError, match="cannot be made a folder"):
        et.hub.save(words, tmp_path / "file")
    with pytest.raises(EigentextError, match="dict has no file format"):
        et.hub.save({}, tmp_path / "words")
    with pytest.raises(ModelFileError, match=r"is a folder without model\.safetensors"):
        et.load(tmp_path)


def test_the_command_line_opens_folders(words, tmp_path):
    from typer.testing import CliRunner

    from eigentext.cli.main import app

    folder = et.hub.save(words, tmp_path / "words")
    for arguments in (["info", str(folder)], ["words", "neighbors", str(folder), "cat"]):
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, result.output
