"""`eigentext topics views`: two columns of a table, or text and an array."""

import csv
import json

import numpy as np
import pytest

import eigentext as et

TITLES = ("breakfast", "sports", "justice")


@pytest.fixture(scope="module")
def files(documents, tmp_path_factory):
    """A table of titles and bodies, the bodies alone, and an array of numbers."""
    folder = tmp_path_factory.mktemp("views")
    bodies = documents.read_text().splitlines()
    titles = [TITLES[k % 3] for k in range(len(bodies))]
    with (folder / "table.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["subject", "body", "key"])
        rows.writerows(zip(titles, bodies, range(100, 100 + len(bodies))))
    numbers = np.eye(3)[np.arange(len(bodies)) % 3]
    np.save(folder / "numbers.npy", numbers + np.random.default_rng(0).normal(size=numbers.shape))
    return folder, documents, bodies, titles


def _fit(cli, folder, *arguments):
    model = folder / "model"
    result = cli("topics", "views", "fit", *arguments, "-o", model, "-k", 3)
    assert result.status == 0, result.err
    return model, result.out


def test_two_columns_of_a_table(cli, files):
    folder, _, bodies, titles = files
    table = folder / "table.csv"
    columns = ("--column", "body", "--second", "subject")
    model, out = _fit(cli, folder, table, *columns)
    assert "3 topics over" in out
    assert any("sports" in line and "goal" in line for line in out.splitlines())
    same = et.TwoViewTopics(3).fit(bodies, titles)
    assert np.array_equal(et.load(model).components_, same.components_)
    shown = json.loads(cli("topics", "views", "show", model, "-n", 3, "--json").out)
    assert sorted(one["second"][0] for one in shown["topics"]) == sorted(TITLES)
    assert "|" in cli("topics", "views", "show", model).out
    result = cli("topics", "views", "transform", model, table, *columns, "--id", "key")
    rows = [line.split("\t") for line in result.out.splitlines()]
    assert [row[0] for row in rows[:2]] == ["100", "101"]
    expected = same.transform(bodies, titles)
    assert np.allclose(np.array([row[1:] for row in rows], float), expected, atol=1e-5)
    alone = cli("topics", "views", "transform", model, table, "--column", "body", "--top")
    top = [int(line.split("\t")[1]) for line in alone.out.splitlines()]
    assert top == same.transform(bodies).argmax(axis=1).tolist()


def test_text_and_an_array(cli, files):
    folder, documents, bodies, _ = files
    array = folder / "numbers.npy"
    model, out = _fit(cli, folder, documents, "--array", array)
    assert "3 numbers of 300 documents" in out
    result = cli("topics", "views", "transform", model, documents, "--array", array, "--json")
    first = json.loads(result.out)["documents"][0]["topics"]
    expected = et.load(model).transform(bodies[:1], np.load(array)[:1])[0]
    assert np.allclose(first, expected, atol=1e-9)


def test_mistakes_are_told(cli, files, tmp_path):
    folder, documents, bodies, titles = files
    table, array = folder / "table.csv", folder / "numbers.npy"

    def refused(*arguments):
        result = cli("topics", "views", *arguments)
        assert result.status == 2, result.err
        return result.err

    fit = ("fit", table, "-o", tmp_path / "model", "--column", "body")
    assert "give the second view" in refused(*fit)
    assert "give the second view" in refused(*fit, "--second", "subject", "--array", array)
    assert "--column" in refused("fit", table, "-o", tmp_path / "model", "--second", "subject")
    assert "nonsense" in refused(*fit, "--second", "nonsense")
    assert "not an array" in refused(*fit, "--array", documents)
    np.save(tmp_path / "short.npy", np.ones((5, 2)))
    assert "different lengths" in refused(*fit, "--array", tmp_path / "short.npy")
    np.save(tmp_path / "objects.npy", np.array([{}], object), allow_pickle=True)
    assert "not an array" in refused(*fit, "--array", tmp_path / "objects.npy")
    et.TwoViewTopics(3).fit(bodies, titles).save(tmp_path / "words")
    use = ("transform", tmp_path / "words", table, "--column", "body", "--array", array)
    assert "has words" in refused(*use)
    assert "exclude" in refused(*use, "--second", "subject")
    et.TopicModel(2).fit(bodies).save(tmp_path / "other")
    assert "not topics of two views" in refused("show", tmp_path / "other")
