"""`eigentext topics merge`: one model of several."""

import json

import numpy as np
import pytest

import eigentext as et
from cli.topics.conftest import lines
from eigentext.topics import merge


@pytest.fixture
def fit(cli, tmp_path):
    """``fit(name, seed, *options)``: a model of 200 lines."""

    def run(name, seed, *options):
        text, path = tmp_path / f"{name}.txt", tmp_path / name
        text.write_text(lines(200, seed))
        options = options or ("--keep-moments", "whole")
        assert cli("topics", "fit", text, "-o", path, "-k", 3, "-q", *options).status == 0
        return path

    return run


def test_equal_to_python(cli, tmp_path, fit):
    a, b, c = fit("a", 1), fit("b", 2), fit("c", 3)
    shown = cli("topics", "merge", a, b, c, "-o", tmp_path / "merged", "--json")
    told = json.loads(shown.out)
    assert (told["n_documents_before"], told["n_documents"]) == (200, 600)
    merged = et.load(tmp_path / "merged")
    assert np.array_equal(merged.components_, merge(*map(et.load, (a, b, c))).components_)
    cli("topics", "merge", a, b, "-o", tmp_path / "again", "--restart", "-q")
    texts = [tmp_path / "a.txt", tmp_path / "b.txt"]
    whole = ("-k", 3, "--keep-moments", "whole", "-q")
    cli("topics", "fit", *texts, "-o", tmp_path / "all", *whole)
    again, fresh = et.load(tmp_path / "again"), et.load(tmp_path / "all")
    assert np.array_equal(again.components_, fresh.components_)
    assert again.moments_ == fresh.moments_


def test_mistakes_are_one_line(cli, tmp_path, fit):
    a, bare = fit("a", 1), fit("bare", 2, "--no-cache")
    simple = fit("simple", 3, "--keep-moments", "whole", "--tokenizer", "simple")
    cut = fit("cut", 4, "--keep-moments", "cut", "--max-words", 10)
    for models, reason in (
        ((a,), "two models or more"),
        ((a, bare), f"{bare}: keeps no moments"),
        ((bare, a), f"{bare}: keeps no moments"),
        ((a, simple), "tokenizer 'words' and 'simple'"),
        ((a, cut), "--fixed-vocabulary"),
        ((a, tmp_path / "a.txt"), "not an eigentext file"),
        ((a, tmp_path / "missing"), "cannot be read"),
    ):
        assert reason in cli("topics", "merge", *models, "-o", tmp_path / "out").mistake
    assert "written over what is read" in cli("topics", "merge", a, cut, "-o", a).mistake
    assert not (tmp_path / "out").exists()
    result = cli("topics", "merge", cut, a, "-o", tmp_path / "out", "--fixed-vocabulary", "-q")
    assert result.status == 0
    assert et.load(tmp_path / "out").vocabulary_.words == et.load(cut).vocabulary_.words
