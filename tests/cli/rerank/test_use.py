"""`eigentext rerank apply`: the best structure a line, or the lists sorted anew."""

import gzip
import json

import pytest

import eigentext as et
from eigentext.reranking import read_candidates
from eigentext.reranking.candidates import read_structures, structure_line


@pytest.fixture
def apply(cli):
    """Run it in this process; the lines written."""

    def run(*arguments):
        result = cli("rerank", "apply", *arguments)
        assert (result.status, result.err) == (0, ""), result.err
        return result.out.split("\n")[:-1]

    return run


def test_the_best_a_line(apply, tagging_model, dev_files, tree_model, tree_files):
    for model, (best, gold) in ((tagging_model, dev_files), (tree_model, tree_files)):
        lines = apply(model, best)
        assert lines == gold.read_text().splitlines()
        expected = et.load(model).best(read_candidates(best))
        assert lines == list(map(structure_line, expected))


def test_lists_sorted_anew(apply, tree_model, tree_files, tmp_path):
    (tmp_path / "best").write_text("\n".join(apply(tree_model, tree_files[0], "--nbest")) + "\n")
    expected = et.load(tree_model).rerank(read_candidates(tree_files[0]))
    assert read_candidates(tmp_path / "best") == expected
    scores = [[one.log_probability for one in candidates] for candidates in expected]
    assert all(own == sorted(own, reverse=True) for own in scores)
    assert [len(own) for own in scores] == [3] * 10


def test_empty_lists_stay(apply, tagging_model, standard_input):
    standard_input(b"\n-1\tthe/D time/N falls/N\n-1.25\tthe/D time/N falls/V\n\n\n")
    assert apply(tagging_model, "-") == ["", "the/D time/N falls/V", ""]
    standard_input(b"\n1\t-1\tthe/D time/N falls/N\n\n\n")
    lines = apply(tagging_model, "-", "--nbest")
    assert [line.partition("\t")[2] for line in lines] == ["", "the/D time/N falls/N", "", ""]


def test_json_lines(apply, tagging_model, standard_input):
    text = b"\n-1\tthe/D time/N falls/N\n-1.25\tthe/D time/N falls/V\n"
    (best,) = et.load(tagging_model).rerank(
        [
            [
                (list(zip(("the", "time", "falls"), tags)), log)
                for tags, log in (("DNN", -1), ("DNV", -1.25))
            ]
        ]
    )
    rows = [{"structure": structure_line(one), "score": score} for one, score in best]
    standard_input(text)
    told = [json.loads(line) for line in apply(tagging_model, "-", "--json")]
    assert told == [{"structure": None, "score": None}, rows[0]]
    standard_input(text)
    told = [json.loads(line) for line in apply(tagging_model, "-", "--json", "--nbest")]
    assert told == [{"candidates": []}, {"candidates": rows}]


def test_into_packed_files(apply, tree_model, tree_files, tmp_path):
    path = tmp_path / "trees.gz"
    assert apply(tree_model, tree_files[0], "-o", path) == []
    assert read_structures(path) == et.read_trees(tree_files[1])
    first = path.read_bytes()
    assert apply(tree_model, tree_files[0], "-o", path, "--threads", 1, "-q") == []
    assert path.read_bytes() == first
    assert gzip.decompress(first).count(b"\n") == 10


def test_lists_of_a_parser(apply, cli, tree_files, tree_model, tmp_path):
    """What `grammar nbest` writes is read, its empty lines too."""
    assert cli(
        *("grammar", "fit", tree_files[1], "-o", tmp_path / "pcfg", "--method", "pcfg", "-q"),
        *("--horizontal", "0", "--vertical", "1"),
    ).status == 0  # fmt: skip
    (tmp_path / "text").write_text("the time flies of time\n\nthe fruit falls of fruit\n")
    listed = cli("grammar", "nbest", tmp_path / "pcfg", tmp_path / "text", "-k", 3, "-q")
    (tmp_path / "best").write_text(listed.out)
    lines = apply(tree_model, tmp_path / "best")
    assert [et.Tree.parse(line).leaves() if line else [] for line in lines] == [
        line.split() for line in (tmp_path / "text").read_text().splitlines()
    ]


def test_mistakes_are_one_line(cli, model, tagging_model, tree_files, dev_files, tmp_path):
    (tmp_path / "bad").write_text("-1\tthe/D time\n")
    for arguments, reason in (
        ((tagging_model,), "FILE"),
        ((model, dev_files[0]), "not a reranker"),
        ((dev_files[1], dev_files[0]), "not an eigentext file"),
        ((tagging_model, tmp_path / "missing"), "missing: no such file"),
        ((tagging_model, tmp_path / "bad"), "bad, line 1: 'time' is not a word with its tag"),
        (
            (tagging_model, tree_files[0]),
            f"{tree_files[0]}: trees, but {tagging_model} ranks tagged",
        ),
        ((tagging_model, dev_files[0], "-o", tmp_path), "is a folder"),
        ((tagging_model, dev_files[0], "-o", dev_files[0]), "would be written over what is read"),
        ((tagging_model, dev_files[0], "-o", tagging_model), "would be written over what is read"),
    ):
        before = sorted(tmp_path.iterdir())
        assert reason in cli("rerank", "apply", *arguments, "-q").mistake
        assert sorted(tmp_path.iterdir()) == before
