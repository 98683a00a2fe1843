"""`eigentext topics tree`: an outline, groups, Newick, JSON, a table."""

import csv
import json

import eigentext as et


def test_forms(cli, topics):
    tree = et.load(topics).hierarchy()
    assert cli("topics", "tree", topics).out == str(tree) + "\n"
    assert cli("topics", "tree", topics, "--newick").out == tree.to_newick() + "\n"
    found = json.loads(cli("topics", "tree", topics, "--json").out)
    assert found == {"model": str(topics), "tree": tree.to_dict()}
    rows = [*csv.DictReader(cli("topics", "tree", topics, "--format", "csv").out.splitlines())]
    assert [row["words"] for row in rows] == [" ".join(words) for words in tree.words]
    groups = cli("topics", "tree", topics, "--groups", "2", "-n", "2").out.splitlines()
    assert [line.endswith(f"({', '.join(map(str, g))})") for line, g in zip(groups, tree.cut(2))]
    assert len(groups) == 2


def test_bad_input(cli, topics, documents):
    result = cli("topics", "tree", topics, "--newick", "--json")
    assert result.status == 2 and "choose one" in result.err
    result = cli("topics", "tree", topics, "--groups", "9")
    assert result.status == 2 and "from 1 to 3" in result.err
    assert cli("topics", "tree", documents).status == 2
