"""`eigentext rerank trees`: from the candidates of a parser to a reranker of trees."""

import json

import pytest

import eigentext as et
from eigentext.reranking import read_candidates
from eigentext.reranking.candidates import read_structures

OPTIONS = ("--min-count", "1", "--penalty", "0.1")


@pytest.fixture(scope="module")
def tree_examples(tree_files):
    best, gold = tree_files
    return read_candidates(best), read_structures(gold)


def test_the_model_is_that_of_the_library(cli, tree_files, tree_examples, tmp_path):
    best, gold = tree_files
    path = tmp_path / "reranker"
    result = cli("rerank", "trees", best, "--gold", gold, "-o", path, *OPTIONS, "--json")
    assert (result.status, result.err) == (0, ""), result.err
    lists, right = tree_examples
    expected = et.TreeReranker(min_count=1, penalty=0.1).fit(lists, right)
    assert et.load(path).rerank(lists) == expected.rerank(lists)
    assert json.loads(result.out)["n_features"] == len(expected.features_)
    shown = cli("rerank", "evaluate", path, best, "--gold", gold, "--json")
    assert json.loads(shown.out)["reranked"] == expected.score(lists, right)
    applied = cli("rerank", "apply", path, best)
    assert applied.out.splitlines() == [str(one) for one in expected.best(lists)]


def test_candidates_of_a_grammar(cli, tmp_path):
    trees = [
        "(S (NP (PRP I)) (VP (VBD ate) (NP (NN pie)) (PP (IN of) (NP (NN rice)))))",
        "(S (NP (PRP I)) (VP (VBD ate) (NP (NP (NN pie)) (PP (IN of) (NP (NN rice))))))",
    ] * 4
    model = et.PCFG().fit(trees)
    model.save(tmp_path / "grammar")
    (tmp_path / "text").write_text("I ate rice of pie\n")
    result = cli("grammar", "nbest", tmp_path / "grammar", tmp_path / "text", "--candidates",
                 "--tokenized", "-k", "3", "-o", tmp_path / "best")  # fmt: skip
    assert result.status == 0, result.err
    (found,) = read_candidates(tmp_path / "best")
    expected = model.candidates(["I", "ate", "rice", "of", "pie"], 3)
    assert [one.structure for one in found] == [one.tree for one in expected]
    for one, other in zip(found, expected):
        assert one.marginals == pytest.approx(other.marginals, abs=1e-4)
        assert one.expected == pytest.approx(other.expected, abs=1e-4)


def test_the_perceptron_and_clusters_that_are_none(cli, tree_files, tmp_path):
    best, gold = tree_files
    result = cli("rerank", "trees", best, "--gold", gold, "-o", tmp_path / "model", "--model",
                 "perceptron", "--min-count", "1", "--epochs", "2")  # fmt: skip
    assert result.status == 0, result.err
    assert "mistakes" in result.out + result.err
    wrong = cli("rerank", "trees", best, "--gold", gold, "-o", tmp_path / "other", "--clusters",
                tmp_path / "model")  # fmt: skip
    assert wrong.status
    assert "wants clusters" in wrong.err


def test_both_halves_of_validation(cli, tree_files, tmp_path):
    best, gold = tree_files
    result = cli(
        "rerank", "trees", best, "--gold", gold, "-o", tmp_path / "m", "--validation", best
    )
    assert result.status
    assert "go together" in result.err
