"""`eigentext topics add`: more documents for a model on disk."""

import json
import shutil

import numpy as np
import pytest

import eigentext as et
from cli.topics.conftest import lines

FOURTH = ["planet", "star", "orbit", "moon", "rocket", "shuttle", "launch", "comet", "telescope"]


@pytest.fixture
def more(tmp_path):
    path = tmp_path / "more.txt"
    path.write_text(lines(150, seed=5))
    return path


@pytest.fixture
def space(tmp_path):
    path, rng = tmp_path / "space.txt", np.random.default_rng(0)
    path.write_text("".join(" ".join(rng.choice(FOURTH, 15)) + "\n" for _ in range(150)))
    return path


@pytest.fixture
def kept(cli, tmp_path, documents):
    path = tmp_path / "kept"
    options = ("-k", 3, "--keep-moments", "whole", "--no-cache", "-q")
    assert cli("topics", "fit", documents, "-o", path, *options).status == 0
    return path


def test_equal_to_python_and_to_a_fit_of_all(cli, tmp_path, documents, more, kept):
    before = kept.read_bytes()
    shown = cli("topics", "add", kept, more, "-o", tmp_path / "grown", "--no-cache")
    assert (shown.status, kept.read_bytes()) == (0, before)
    assert "3 topics over" in shown.out
    assert "450 documents, 150 of them added" in shown.out
    grown, model = et.load(tmp_path / "grown"), et.load(kept)
    model.partial_fit(et.TextCorpus(more, tokenizer="words", lowercase=True))
    assert np.array_equal(grown.components_, model.components_)
    everything = ("-k", 3, "--keep-moments", "whole", "--no-cache", "-q")
    cli("topics", "fit", documents, more, "-o", tmp_path / "all", *everything)
    fresh = et.load(tmp_path / "all")
    assert grown.moments_ == fresh.moments_
    cli("topics", "add", kept, more, "-o", tmp_path / "again", "--restart", "--no-cache", "-q")
    assert np.array_equal(et.load(tmp_path / "again").components_, fresh.components_)


def test_in_place_and_as_json(cli, more, kept):
    told = json.loads(cli("topics", "add", kept, more, "--no-cache", "--json").out)
    assert told["model"] == str(kept)
    assert (told["n_documents_before"], told["n_documents"], told["topics"]) == (300, 450, 3)
    assert told["new_topics"] == 0
    assert et.load(kept).provenance_["n_documents"] == 450


@pytest.mark.parametrize("n", ["1", "auto"])
def test_a_new_topic(cli, kept, space, n):
    shown = cli("topics", "add", kept, space, "--new-topics", n, "--no-cache")
    assert "4 topics (1 new)" in shown.out
    assert set(shown.out.splitlines()[-1].split()[2:]) <= set(FOURTH)
    assert set(et.load(kept).top_words(5)[3]) <= set(FOURTH)


def test_mistakes_are_one_line_and_change_nothing(cli, tmp_path, topics, more, kept):
    before = kept.read_bytes()
    own = tmp_path / "own.txt"
    for arguments, reason in (
        ((topics, more, "-o", tmp_path / "x"), "--keep-moments whole"),
        ((kept, tmp_path / "missing"), "missing"),
        ((more, more), "not an eigentext file"),
        ((kept, more, "--new-topics", "-1"), "--new-topics must be a whole number"),
        ((kept, more, "--new-topics", "1", "--restart"), "forgets the old topics"),
        ((kept, more, "-o", more), "would be written over what is read"),
        ((kept, own), "own.txt"),
        ((kept, more, "-o", "-"), "name one with -o"),
    ):
        own.write_text("")
        assert reason in cli("topics", "add", *arguments, "--no-cache", "-q").mistake
    assert kept.read_bytes() == before
    assert not (tmp_path / "x").exists()


def test_one_of_two_at_once_is_told(cli, tmp_path, monkeypatch, more, kept):
    grown = tmp_path / "grown"
    assert cli("topics", "add", kept, more, "-o", grown, "--no-cache", "-q").status == 0
    partial_fit = et.TopicModel.partial_fit

    def meanwhile(self, *arguments, **settings):
        found = partial_fit(self, *arguments, **settings)
        shutil.copy(grown, tmp_path / "other")
        (tmp_path / "other").replace(kept)  # as another command would
        return found

    monkeypatch.setattr(et.TopicModel, "partial_fit", meanwhile)
    other = tmp_path / "other.txt"
    other.write_text(lines(30, seed=9))
    line = cli("topics", "add", kept, other, "--no-cache", "-q").mistake
    assert "has changed since it was read" in line
    assert kept.read_bytes() == grown.read_bytes()


def test_vectors_are_given_again(cli, tmp_path, documents, more):
    vectors, model = tmp_path / "words", tmp_path / "model"
    et.Eigenwords(4, window=5, min_count=1).fit(et.TextCorpus(documents, lowercase=True)).save(
        vectors
    )
    given = ("--vectors", vectors)
    options = ("-k", 3, "--keep-moments", "whole", "--no-cache", "-q")
    other = tmp_path / "other"
    assert cli("topics", "fit", documents, "-o", model, *options, *given).status == 0
    assert cli("topics", "fit", more, "-o", other, *options).status == 0
    assert "(--vectors)" in cli("topics", "add", model, more, "--no-cache", "-q").mistake
    merging = ("topics", "merge", model, other, "-o", tmp_path / "merged")
    assert "(--vectors)" in cli(*merging, "-q").mistake
    assert cli(*merging, *given).status == 0
    assert cli("topics", "add", model, more, "--no-cache", *given).status == 0
    grown = et.load(model)
    assert "background" in grown.diagnostics_
