"""`eigentext topics compare`: the topics of two models."""

import json

import pyarrow.parquet as pq
import pytest

import eigentext as et
from cli.topics.conftest import lines
from eigentext.topics import compare


@pytest.fixture
def other(cli, tmp_path):
    text, path = tmp_path / "other.txt", tmp_path / "other"
    text.write_text(lines(200, seed=7))
    assert cli("topics", "fit", text, "-o", path, "-k", 3, "--no-cache", "-q").status == 0
    return path


def test_text_json_and_table(cli, tmp_path, topics, other, unseen):
    expected = compare(et.load(topics), et.load(other), n_words=3)
    assert len(expected.matched) == 3
    shown = cli("topics", "compare", topics, other, "-n", 3)
    assert (shown.status, shown.out, shown.err) == (0, f"{expected}\n", "")
    told = json.loads(cli("topics", "compare", topics, other, "-n", 3, "--json").out)
    assert (told.pop("a"), told.pop("b")) == (str(topics), str(other))
    assert told == expected.to_dict()
    options = ("--json", "--documents", unseen)
    told = json.loads(cli("topics", "compare", topics, other, *options).out)
    assert sum(map(sum, told["documents"])) == pytest.approx(1)
    path = tmp_path / "table.parquet"
    cli("topics", "compare", topics, other, "-n", 3, "-o", path)
    assert pq.read_table(path).equals(expected.to_arrow())
    cli("topics", "compare", topics, other, "-n", 3, "-o", tmp_path / "page.txt")
    assert (tmp_path / "page.txt").read_text() == f"{expected}\n"


def test_mistakes_are_one_line(cli, tmp_path, topics, model, unseen):
    strange = tmp_path / "strange"
    et.TopicModel(1).fit(["foo bar foo", "bar foo bar"] * 5).save(strange)
    for arguments, reason in (
        ((topics, model), "not topics"),
        ((topics, tmp_path / "missing"), "cannot be read"),
        ((topics, strange), "no word in common"),
        ((topics, topics, "--threshold", 2), "see eigentext topics compare --help"),
        ((topics, topics, "--documents", unseen), "add --json"),
        ((topics, topics, "-o", topics), "would be written over what is read"),
    ):
        assert reason in cli("topics", "compare", *arguments).mistake


def test_a_table_in_text(cli, topics, other):
    shown = cli("topics", "compare", topics, other, "--format", "csv")
    assert shown.status == 0
    head, *rows = shown.out.splitlines()
    assert head == "kind,a,b,shares,likeness,words"
    found = compare(et.load(topics), et.load(other))
    words = [row.rsplit(",", 1)[1] for row in rows]
    assert words == [" ".join(one.words) for one in found.matched]
