"""`eigentext hmm fit --method anchor`, `hmm tag` and `hmm evaluate`."""

import json

import pytest

import eigentext as et


@pytest.fixture(scope="module")
def model(tmp_path_factory, seen):
    path = tmp_path_factory.mktemp("models") / "anchor"
    et.HMM(2, method="anchor", min_count=2).fit(et.TextCorpus(seen)).save(path)
    return path


@pytest.fixture
def gold(tmp_path):
    path = tmp_path / "gold.conll"
    path.write_text("n0 N\nv1 V\nn2 N\n\nn1 N\nv0 V\n\n")
    return path


def test_fit_names_the_states(cli, seen, tmp_path, model):
    options = "--method", "anchor", "--states", 2, "--min-count", 2, "-o", tmp_path / "new"
    result = cli("hmm", "fit", seen, *options)
    assert result.status == 0, result.err
    expected = et.load(model)
    assert ", ".join(expected.tags_) in " ".join((result.out + result.err).split())
    assert et.load(tmp_path / "new").anchors_ == expected.anchors_


def test_options_of_the_method(cli, seen, tmp_path):
    options = "--method", "anchor", "--states", 2, "--anchors", "corners", "--candidates", 50
    more = "--spelling", 5, "--iterations", 3, "-o", tmp_path / "new", "--json"
    result = cli("hmm", "fit", seen, *options, *more)
    assert result.status == 0, result.err
    told = json.loads(result.out)
    assert len(told["anchors"]) == 2 and told["passes"] == 3
    found = et.load(tmp_path / "new").parameters_
    assert (found.anchors, found.n_candidates, found.spelling) == ("corners", 50, 5)


def test_tag(cli, model, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("n0 v1 n2\n\nn1 v0\n")
    result = cli("hmm", "tag", model, text)
    assert result.status == 0, result.err
    noun, verb, noun2 = (line.split("\t")[1] for line in result.out.splitlines()[:3])
    assert noun == noun2 != verb and noun[0] == "n" and verb[0] == "v"
    expected = et.load(model).tag([["n0", "v1", "n2"], ["n1", "v0"]])
    blocks = [block.splitlines() for block in result.out.strip().split("\n\n")]
    assert [[line.split("\t")[1] for line in block] for block in blocks] == expected
    lines = cli("hmm", "tag", model, text, "--json").out.splitlines()
    assert [json.loads(line)["tags"] for line in lines] == expected


def test_tag_writes_a_file(cli, model, seen, tmp_path):
    result = cli("hmm", "tag", model, seen, "-o", tmp_path / "tagged")
    assert result.status == 0 and result.out == ""
    assert sum(line != "" for line in (tmp_path / "tagged").read_text().splitlines()) == 3000


def test_evaluate(cli, model, gold):
    result = cli("hmm", "evaluate", model, gold)
    assert result.status == 0, result.err
    assert "many-to-one 100.00%" in result.out and "V-measure 100.00%" in result.out
    told = json.loads(cli("hmm", "evaluate", model, gold, "--json").out)
    assert told["many_to_one"] == told["v_measure"] == 1 and told["n_sentences"] == 2


def test_mistakes(cli, seen, tmp_path, model):
    empty = tmp_path / "empty"
    empty.write_text("\n")
    for command in ("tag", "evaluate"):
        result = cli("hmm", command, model, empty)
        assert result.status == 2 and result.err
    et.HMM(2).fit([["a", "b", "c"], ["b", "a", "c"]] * 9).save(tmp_path / "spectral")
    result = cli("hmm", "tag", tmp_path / "spectral", seen)
    assert result.status == 2 and "no parameters" in result.err
    many = cli("hmm", "fit", seen, "--method", "anchor", "--states", 900, "-o", tmp_path / "x")
    assert many.status == 2 and "--states" in many.err
