"""`eigentext words neighbors|analogy|export`: what a user asks of a model."""

import io
import json
import sys

import numpy as np
import pytest
from gensim.models import KeyedVectors

import eigentext as et

NOUNS = {"cat", "dog", "horse", "sheep", "river", "mountain", "village", "teacher", "farmer"}


# Questions.


def test_neighbors(cli, model):
    loaded = et.load(model)
    result = cli("words", "neighbors", model, "cat", "sees", "-n", "3")
    assert result.status == 0
    expected = []
    for word in ("cat", "sees"):
        near = loaded.most_similar(word, 3)
        expected += [word, *(f"  {score:6.3f}  {other}" for other, score in near)]
    assert result.out.splitlines() == expected
    assert {line.split()[1] for line in expected[1:4]} <= NOUNS
    told = json.loads(cli("words", "neighbors", model, "cat", "--json").out)
    assert [tuple(pair) for pair in told["cat"]] == loaded.most_similar("cat", 10)


@pytest.mark.parametrize("method", ["mul", "add"])
def test_analogy(cli, model, method):
    expected = et.load(model).analogy("cat", "dog", "old", 2, method)
    arguments = ("words", "analogy", model, "cat", "dog", "old", "-n", "2", "--method", method)
    assert cli(*arguments).out.splitlines() == [
        "cat : dog = old :",
        *(f"  {score:6.3f}  {word}" for word, score in expected),
    ]
    assert [tuple(pair) for pair in json.loads(cli(*arguments, "--json").out)] == expected


def test_words_that_look_like_markup_and_emoji(cli, tmp_path):
    odd = [":cat:", "[/b]", "[bold]", "\\", "é"]
    path = tmp_path / "a [bold] :dog:"
    et.Eigenwords(2, min_count=1).fit([odd[i:] + odd[:i] for i in range(5)]).save(path)
    shown = cli("words", "neighbors", path, *odd).out
    assert all(f"\n{word}\n" in f"\n{shown}" for word in odd)
    assert ":cat: : [/b] = \\ :\n" in cli("words", "analogy", path, ":cat:", "[/b]", "\\").out
    assert f"{path}  eigentext" in cli("info", path).out
    out = tmp_path / "[bold]"
    assert cli("words", "export", path, "-o", out).out.startswith(f"{out}: 5 vectors of 2")


def test_a_terminal_that_lacks_letters(cli, tmp_path, monkeypatch):
    et.Eigenwords(2, min_count=1).fit([["é", "b", "猫"]] * 3).save(tmp_path / "model")
    shown = []
    for option in ("--topn=2", "--json"):
        terminal = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
        monkeypatch.setattr(sys, "stdout", terminal)
        assert cli("words", "neighbors", tmp_path / "model", "b", option).status == 0
        terminal.seek(0)
        shown.append(terminal.read())
    assert {"\\xe9", "\\u732b"} <= set(shown[0].split())
    assert {word for word, _ in json.loads(shown[1])["b"]} == {"é", "猫"}


# export.


@pytest.mark.parametrize(
    ("format", "opener"),
    [("word2vec", {}), ("word2vec-binary", {"binary": True}), ("glove", {"no_header": True})],
)
# gensim leaves a file without a header (glove) open.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_gensim_opens_every_export(cli, model, tmp_path, format, opener):
    vectors, loaded = tmp_path / "vectors", et.load(model)
    result = cli("words", "export", model, "-o", vectors, "--format", format)
    assert result.out == f"{vectors}: 23 vectors of 4 dimensions, {format} format\n"
    opened = KeyedVectors.load_word2vec_format(vectors, **opener)
    assert opened.index_to_key == loaded.vocabulary_.words
    assert np.array_equal(opened.vectors, loaded.vectors_)
    told = json.loads(cli("words", "export", model, "-o", vectors, "--json").out)
    assert told == {"output": str(vectors), "format": "word2vec", "n_words": 23, "dim": 4}


def test_export_to_standard_output(cli, model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cli("words", "export", model, "-o", "vectors")
    assert cli("words", "export", model, "-o", "-").out == (tmp_path / "vectors").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["vectors"]
