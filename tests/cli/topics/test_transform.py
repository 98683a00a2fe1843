"""`eigentext topics transform`: a row for each document."""

import json

import numpy as np
import pytest

import eigentext as et
from eigentext.corpus import documents as corpus_documents


@pytest.fixture
def transform(cli):
    """Run it; returns the names of the documents and the numbers after them."""

    def run(*arguments):
        result = cli("topics", "transform", *arguments)
        assert (result.status, result.err) == (0, ""), result.err
        rows = [line.split("\t") for line in result.out.splitlines()]
        return [row[0] for row in rows], np.array([row[1:] for row in rows], float)

    return run


def test_a_row_for_each_line(transform, topics, unseen):
    model = et.load(topics)
    names, shares = transform(topics, unseen)
    assert names == ["2", "3", "4", "5", "6", "9"]  # blank lines have no row
    lines = [line for line in unseen.read_text().splitlines() if line.strip()]
    assert np.allclose(shares, model.transform(lines), rtol=1e-5, atol=1e-9)
    assert np.allclose(shares.sum(axis=1), 1, atol=1e-5)
    assert np.allclose(shares[-1], model.weights_, atol=1e-5)  # no word known: the prior
    # Lines are of three topics in turn.
    top = shares[:5].argmax(axis=1)
    assert top.tolist() == [top[0], top[1], top[2], top[0], top[1]]
    assert len(set(top[:3])) == 3


def test_the_largest_topic_alone(transform, topics, unseen):
    names, shares = transform(topics, unseen)
    same_names, top = transform(topics, unseen, "--top")
    assert names == same_names
    assert top.shape == (6, 2)
    assert top[:, 0].tolist() == shares.argmax(axis=1).tolist()
    assert top[:, 1].tolist() == shares.max(axis=1).tolist()


def test_names_of_several_files_and_standard_input(transform, topics, unseen, standard_input):
    numbers = ["2", "3", "4", "5", "6", "9"]
    standard_input(unseen)
    names, _ = transform(topics, "-")
    assert names == numbers
    standard_input(unseen)
    names, _ = transform(topics, unseen, "-")
    assert names == [f"{file}:{n}" for file in (unseen, "-") for n in numbers]
    standard_input(unseen)
    names, shares = transform(topics, "-", unseen, "--unit", "document")
    assert names == ["-", str(unseen)]
    expected = et.load(topics).transform([unseen.read_text()])
    assert np.allclose(shares, np.repeat(expected, 2, axis=0), rtol=1e-5, atol=1e-9)


def test_empty_files_are_documents(transform, topics, tmp_path):
    (tmp_path / "a\tb").touch()
    names, shares = transform(topics, tmp_path / "a\tb", "--unit", "document")
    assert names == [f"{tmp_path}/a b"]
    assert np.allclose(shares, et.load(topics).weights_, atol=1e-5)


@pytest.mark.parametrize("option", [(), ("--top",)])
def test_as_json_and_into_a_file(cli, topics, unseen, tmp_path, option):
    result = cli("topics", "transform", topics, unseen, "--json", *option)
    told = json.loads(result.out)
    assert told["model"] == str(topics)
    expected = et.load(topics).transform([t for t in unseen.read_text().split("\n") if t.strip()])
    assert [one["document"] for one in told["documents"]] == ["2", "3", "4", "5", "6", "9"]
    for one, shares in zip(told["documents"], expected):
        if option:
            assert one["topic"] == shares.argmax()
            assert one["share"] == pytest.approx(shares.max())
        else:
            assert one["topics"] == pytest.approx(shares)
    for form in ((), ("--json",)):
        path = tmp_path / "rows"
        shown = cli("topics", "transform", topics, unseen, "-o", path, *form, *option)
        assert shown.out == f"{path}: 6 documents, 3 topics\n"
        assert path.read_text() == cli("topics", "transform", topics, unseen, *form, *option).out
    assert cli("topics", "transform", topics, unseen, "-o", path, "-q").out == ""


def test_batches_change_nothing(cli, topics, documents, monkeypatch):
    whole = cli("topics", "transform", topics, documents).out
    monkeypatch.setattr(corpus_documents, "_BATCH", 1000)
    assert cli("topics", "transform", topics, documents).out == whole


def test_models_of_token_lists_read_blanks(transform, tmp_path):
    model = et.TopicModel(2).fit([["ham", "eggs", "ham"], ["x.", "y!", "x."]] * 9)
    model.save(tmp_path / "model")
    (tmp_path / "text").write_text("ham x.\neggs eggs\n")
    names, shares = transform(tmp_path / "model", tmp_path / "text", "--unit", "line")
    assert names == ["1", "2"]
    expected = model.transform([["ham", "x."], ["eggs", "eggs"]])
    assert np.allclose(shares, expected, rtol=1e-5, atol=1e-9)


def test_a_pipe(process, topics, unseen):
    with unseen.open() as text:
        result = process("topics", "transform", topics, "-", "--top", stdin=text)
    assert (result.status, result.err) == (0, "")
    assert [line.split("\t")[0] for line in result.out.splitlines()] == [
        "2",
        "3",
        "4",
        "5",
        "6",
        "9",
    ]


def test_mistakes_are_one_line(cli, topics, model, unseen, tmp_path):
    own, empty = tmp_path / "own.txt", tmp_path / "empty"
    own.write_bytes(unseen.read_bytes())
    empty.write_text(" \n\n")
    (tmp_path / "bytes").write_bytes(b"ham\nb\xff\n")
    et.TopicModel(1).fit(et.TextCorpus(own, tokenizer=str.split)).save(tmp_path / "split")
    for arguments, reason in (
        ((topics,), "FILE"),
        ((model, unseen), "not topics"),
        ((unseen, unseen), "not an eigentext file"),
        ((topics, tmp_path / "missing"), "missing: no such file"),
        ((topics, empty), "empty: contains no documents; is the file empty?"),
        ((topics, tmp_path / "bytes"), "line 2: byte 0xff is not UTF-8"),
        ((tmp_path / "split", unseen), "str.split', which the command line does not have"),
        ((topics, own, "-o", own), "would be written over what is read"),
        ((topics, own, "-o", topics), "would be written over what is read"),
        ((topics, own, "-o", tmp_path), "is a folder"),
        ((topics, own, "--unit", "stream"), "see eigentext topics transform --help"),
    ):
        assert reason in cli("topics", "transform", *arguments).mistake
    assert own.read_bytes() == unseen.read_bytes()
    replaced = cli("topics", "transform", topics, tmp_path / "bytes", "--errors", "replace")
    assert len(replaced.out.splitlines()) == 2


def test_large_shares_alone(cli, topics, unseen):
    found = cli("topics", "transform", topics, unseen, "--least", "0.2").out.splitlines()
    rows = [line.split("\t") for line in found]
    dense = et.load(topics).transform([*filter(str.strip, unseen.read_text().splitlines())])
    for (_, cells), shares in zip(rows, dense):
        parts = [cell.split(":") for cell in cells.split()]
        assert {int(k) for k, _ in parts} == set(np.flatnonzero(shares >= 0.2)) | {shares.argmax()}
        assert [float(share) for _, share in parts] == pytest.approx(
            sorted((shares[int(k)] for k, _ in parts), reverse=True), rel=1e-5
        )
    out = cli("topics", "transform", topics, unseen, "--least", "0.2", "--json").out
    about = json.loads(out)["documents"]
    assert [len(one["topics"]) for one in about] == [len(cells.split()) for _, cells in rows]
    lines = cli("topics", "transform", topics, unseen, "--least", "0.2", "--format", "csv").out
    assert lines.splitlines()[0] == "document,topic,share"
    assert len(lines.splitlines()) == 1 + sum(len(one["topics"]) for one in about)
    result = cli("topics", "transform", topics, unseen, "--least", "0.2", "--top")
    assert result.status == 2 and "choose one" in result.err
