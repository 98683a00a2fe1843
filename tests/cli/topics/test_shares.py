"""`eigentext topics shares`: groups and periods of a table."""

import csv
import json

import pytest

import eigentext as et


@pytest.fixture
def table(tmp_path, unseen):
    lines = [line for line in unseen.read_text().splitlines() if line.strip()]
    path = tmp_path / "posts.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "day", "kind"])
        writer.writerows(
            [line, f"2024-{1 + k % 2:02}-03", "ab"[k % 2]] for k, line in enumerate(lines)
        )
    return path


def test_forms(cli, topics, table):
    options = ("--column", "text", "--by", "day", "--period", "month")
    lines = cli("topics", "shares", topics, table, *options).out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["2024-01", "2024-02"]
    corpus = et.TextCorpus(table, column="text", tokenizer="words", lowercase=True)
    found = et.load(topics).shares_by(corpus, "day", period="month")
    rows = [
        *csv.DictReader(
            cli("topics", "shares", topics, table, *options, "--format", "csv").out.splitlines()
        )
    ]
    assert [float(row["share"]) for row in rows] == found.shares.ravel().tolist()
    about = json.loads(cli("topics", "shares", topics, table, *options, "--json").out)
    assert about["rows"][0]["start"] == "2024-01-01" and len(about["rows"]) == len(rows)
    arguments = ("--column", "text", "--by", "kind", "--compare", "a", "b")
    lines = cli("topics", "shares", topics, table, *arguments).out.splitlines()
    assert len(lines) == 3 and " p " in lines[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--by", "day"], "--column"),
        (["--column", "text", "--by", "nope"], "no column 'nope'"),
        (["--column", "text", "--by", "kind", "--period", "day"], "row 1, column 'kind': 'a' is"),
        (["--column", "text", "--by", "kind", "--compare", "a", "z"], "no group 'z'"),
        (["--column", "text", "--by", "kind", "--level", "2"], "level must be"),
        (["--column", "text", "--by", "kind", "--json", "--format", "csv"], "choose one"),
    ],
)
def test_bad_input(cli, topics, table, arguments, message):
    result = cli("topics", "shares", topics, table, *arguments)
    assert result.status == 2 and message in result.err
