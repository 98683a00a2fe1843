"""`eigentext topics export`: tables of each kind, and pyLDAvis."""

import csv
import json

import pytest

import eigentext as et


def test_tables(cli, topics, documents, tmp_path):
    model = et.load(topics)
    for kind in ("words", "topics", "matrix", "tree"):
        out = cli("topics", "export", topics, "--kind", kind, "--format", "csv").out
        assert len(out.splitlines()) == 1 + len(model.to_arrow(kind))
    for kind in ("typical", "borderline"):
        path = tmp_path / f"{kind}.csv"
        result = cli("topics", "export", topics, documents, "--kind", kind, "-o", path)
        assert (result.status, result.out) == (0, f"{path}: 3 topics\n")
        rows = [*csv.DictReader(path.read_text().splitlines())]
        assert rows[0]["topic"] == "0" and rows[0]["name"].startswith("line ")


def test_pyldavis(cli, topics, documents, tmp_path):
    path = tmp_path / "topics.json"
    cli("topics", "export", topics, documents, "--pyldavis", path, "-n", "5")
    lines = documents.read_text().splitlines()
    assert json.loads(path.read_text()) == et.load(topics).to_pyldavis(lines, n_words=5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "say which table"),
        (["--pyldavis", "x.json"], "--pyldavis needs documents"),
        (["--kind", "typical", "--format", "csv"], "--kind typical needs documents"),
        (["FILE", "--kind", "words", "--format", "csv"], "--kind words uses no documents"),
        (["FILE", "--pyldavis", "x.json", "--format", "csv"], "exclude each other"),
    ],
)
def test_bad_input(cli, topics, documents, arguments, message):
    arguments = [documents if one == "FILE" else one for one in arguments]
    result = cli("topics", "export", topics, *arguments)
    assert result.status == 2 and message in result.err
