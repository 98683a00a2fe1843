"""`eigentext topics show`: topics in the terminal, as JSON and as a page."""

import json
from itertools import chain

import pytest

import eigentext as et
from eigentext.topics.report import report


def test_a_line_for_each_topic(cli, topics):
    model = et.load(topics)
    shown = cli("topics", "show", topics, "--words", 4)
    assert (shown.status, shown.err) == (0, "")
    for k, line in enumerate(shown.out.splitlines()):
        expected = [str(k), f"{model.weights_[k]:.1%}", *model.top_words(4)[k]]
        assert line.split() == expected
    assert k == 2


def test_topics_as_json(cli, topics):
    model = et.load(topics)
    told = json.loads(cli("topics", "show", topics, "-n", 5, "--json").out)
    assert told["model"] == str(topics)
    assert [topic["topic"] for topic in told["topics"]] == [0, 1, 2]
    for k, topic in enumerate(told["topics"]):
        assert topic["weight"] == model.weights_[k]
        assert topic["alpha"] == model.alpha_[k]
        assert [word for word, _ in topic["words"]] == model.top_words(5)[k]
        for word, p in topic["words"]:
            assert p == model.components_[k, model.vocabulary_[word]]


@pytest.mark.parametrize("rank", ["probability", "relevance", "frex"])
def test_another_ranking(cli, topics, rank, tmp_path):
    model, page = et.load(topics), tmp_path / "page.html"
    top = model.top_words(4, rank=rank)
    shown = cli("topics", "show", topics, "-n", 4, "--rank", rank)
    assert [line.split()[2:] for line in shown.out.splitlines()] == top
    told = json.loads(cli("topics", "show", topics, "-n", 4, "--rank", rank, "--json").out)
    assert [[word for word, _ in topic["words"]] for topic in told["topics"]] == top
    table = cli("topics", "show", topics, "-n", 4, "--rank", rank, "--format", "tsv").out
    assert [line.split("\t")[3] for line in table.splitlines()[1:]] == [*chain(*top)]
    cli("topics", "show", topics, "--html", page, "-n", 4, "--rank", rank)
    assert page.read_text() == report(model, n_words=4, rank=rank)


def test_a_page(cli, topics, documents, tmp_path):
    model, page = et.load(topics), tmp_path / "page.html"
    shown = cli("topics", "show", topics, "--html", page, "-n", 4, "--quiet")
    assert (shown.status, shown.out, shown.err) == (0, "", "")
    assert page.read_text() == report(model, n_words=4)
    shown = cli("topics", "show", topics, "--html", page, "--documents", documents)
    assert shown.out == f"{page}: 3 topics\n"
    read = {"tokenizer": "words", "lowercase": True}
    assert page.read_text() == report(model, et.TextCorpus(documents, **read))
    to_stream = cli("topics", "show", topics, "--html", "-", "--documents", documents, "-q")
    assert to_stream.out == page.read_text()
    options = ("--html", page, "--documents", documents, "--unit", "document", "--json")
    told = json.loads(cli("topics", "show", topics, *options).out)
    assert (told["html"], len(told["topics"])) == (str(page), 3)
    assert f" of {documents}</small>" in page.read_text()


def test_mistakes_are_one_line(cli, topics, model, documents, tmp_path):
    own = tmp_path / "own.txt"
    own.write_bytes(documents.read_bytes())
    et.TopicModel(1).fit([[2, 1], [1, 2]]).save(tmp_path / "matrix")
    for arguments, reason in (
        ((model,), f"{model}: holds {et.load(model)!r}, not topics"),
        ((documents,), "not an eigentext file"),
        ((tmp_path / "missing",), "cannot be read"),
        ((topics, "--words", 0), "see eigentext topics show --help"),
        ((topics, "--rank", "lift"), "see eigentext topics show --help"),
        ((topics, "--documents", documents), "--html FILE"),
        ((topics, "--html", topics), "would be written over what is read"),
        ((topics, "--html", own, "--documents", own), "would be written over what is read"),
        ((topics, "--html", tmp_path), "is a folder"),
        ((topics, "--html", tmp_path / "p", "--documents", tmp_path / "no"), "no such file"),
        (
            (tmp_path / "matrix", "--html", tmp_path / "p", "--documents", documents),
            "learned with the tokenizer 'matrix', which the command line does not have",
        ),
    ):
        assert reason in cli("topics", "show", *arguments, "--quiet").mistake
    assert own.read_bytes() == documents.read_bytes()
    assert not (tmp_path / "p").exists()


def test_topics_of_a_matrix_are_shown(cli, tmp_path):
    et.TopicModel(1).fit([[2, 1], [1, 2], [3, 0]]).save(tmp_path / "model")
    assert cli("topics", "show", tmp_path / "model").out.split() == ["0", "100.0%", "0", "1"]


@pytest.mark.parametrize("damage", [lambda whole: whole[:-1], lambda whole: whole[:40]])
def test_a_damaged_model(cli, topics, tmp_path, damage):
    (tmp_path / "cut").write_bytes(damage(topics.read_bytes()))
    assert "cut: damaged or incomplete" in cli("topics", "show", tmp_path / "cut").mistake
