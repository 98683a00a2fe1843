"""`eigentext rerank evaluate`: 1-best, reranked and oracle."""

import json

import pytest

import eigentext as et
from eigentext.reranking import read_candidates
from eigentext.reranking.candidates import read_structures


@pytest.fixture
def told(cli):
    def run(model, files, *options):
        best, gold = files
        result = cli("rerank", "evaluate", model, best, "--gold", gold, *options, "--json")
        assert (result.status, result.err) == (0, ""), result.err
        return json.loads(result.out)

    return run


def test_known_answers(told, tagging_model, dev_files, tree_model, tree_files):
    found = told(tagging_model, dev_files)
    assert found["measure"] == "accuracy of tags"
    assert found["first"] == pytest.approx(2 / 3)
    assert found["reranked"] == found["oracle"] == 1.0
    assert (found["n_inputs"], found["n_changed"], found["n_better"]) == (8, 8, 8)
    found = told(tree_model, tree_files)
    assert found["measure"] == "F1 of labelled brackets"
    assert found["first"] == pytest.approx(4 / 5)  # one of five brackets has another label
    assert found["reranked"] == found["oracle"] == 1.0


def test_as_the_library_says(cli, told, tree_model, tree_files):
    report = et.load(tree_model).evaluate(
        read_candidates(tree_files[0]), read_structures(tree_files[1])
    )
    assert told(tree_model, tree_files, "--threads", 1) == {
        "model": str(tree_model),
        **report.to_dict(),
    }
    best, gold = tree_files
    shown = cli("rerank", "evaluate", tree_model, best, "--gold", gold, "-q")
    assert (shown.out, shown.err) == (f"{report}\n", "")


def test_gold_as_treebanks_have_it(told, tree_model, tree_files, tmp_path):
    """Roots, function tags and traces are taken off first."""
    spread = tree_files[1].read_text().replace("(S ", "( (S\n  ").replace("\n(", ")\n(")
    spread = spread.rstrip("\n") + ")\n"
    treebank = spread.replace("(NP (DT", "(NP-SBJ-1 (-NONE- *) (DT")
    (tmp_path / "gold.mrg").write_text(treebank)
    found = told(tree_model, (tree_files[0], tmp_path / "gold.mrg"))
    assert found == told(tree_model, tree_files)


def test_mistakes_are_one_line(cli, tagging_model, tree_model, tree_files, dev_files, tmp_path):
    best, gold = dev_files
    (tmp_path / "short").write_text("the/D time/N flies/V\n")
    for arguments, reason in (
        ((tagging_model, best), "--gold"),
        ((tagging_model, best, "--gold", tmp_path / "short"), "short: 1 gold structures; give"),
        ((gold, best, "--gold", gold), "not an eigentext file"),
        (
            (tree_model, best, "--gold", gold),
            f"{best}: tagged sequences, but {tree_model} ranks trees",
        ),
        (
            (tagging_model, tree_files[0], "--gold", tree_files[1]),
            "ranks tagged sequences; fit a",
        ),
    ):
        assert reason in cli("rerank", "evaluate", *arguments, "-q").mistake
