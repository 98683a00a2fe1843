"""`eigentext rerank fit`: from n-best lists to a reranker, and what it says about it."""

import inspect
import json
import re

import pytest

import eigentext as et
from eigentext.cli.rerank.learn import fit as command
from eigentext.reranking import read_candidates
from eigentext.reranking.candidates import read_structures
from eigentext.reranking.parameters import BETAS
from eigentext.reranking.reranker import DECAYS


@pytest.fixture
def fit(cli, tmp_path):
    """Run a fit; the reranker and what is told about it."""

    def run(files, *options):
        best, gold = files
        path = tmp_path / "reranker"
        result = cli("rerank", "fit", best, "--gold", gold, "-o", path, *options, "--json")
        assert (result.status, result.err) == (0, ""), result.err
        return et.load(path), json.loads(result.out)

    return run


def examples(files):
    best, gold = files
    return read_candidates(best), read_structures(gold)


def test_the_model_is_that_of_the_library(fit, tagged_files, dev_files):
    held_out = ("--validation", dev_files[0], "--validation-gold", dev_files[1])
    model, told = fit(tagged_files, *held_out)
    expected = et.Reranker().fit(*examples(tagged_files), validation=examples(dev_files))
    lists, gold = examples(dev_files)
    assert model.rerank(lists) == expected.rerank(lists)
    assert told["dev_report"] == expected.evaluate(lists, gold).to_dict()
    assert (told["decay"], told["beta"], told["average"]) == (
        expected.decay_,
        expected.beta_,
        expected.average_,
    )
    assert told["n_inputs"] == 12
    assert len(told["trials"]) == len(DECAYS) * len(BETAS)
    assert set(told["phases"]) >= {"read candidates", "read gold", "save"}
    assert told["seconds"] > 0


def test_options_reach_the_reranker(fit, tagged_files):
    options = ("--decay", 0.3, "--decay", 0.6, "--beta", 0.1, "--beta", 2, "--epochs", 3)
    model, told = fit(tagged_files, *options, "--average", "none", "--seed", 7)
    assert (
        model.get_params()
        | {
            "decay": [0.3, 0.6],
            "beta": [0.1, 2.0],
            "n_epochs": 3,
            "average": None,
            "random_state": 7,
        }
        == model.get_params()
    )
    assert {trial["decay"] for trial in told["trials"]} == {0.3, 0.6}
    assert told["average"] is None
    assert told["dev_report"] is None


def test_one_value_of_each_needs_no_held_out_part(fit, tree_files):
    model, told = fit(tree_files, "--decay", 0.4, "--beta", 0.5, "--average", "mean")
    assert (model.decay_, model.beta_) == (0.4, 0.5)
    assert told["dev"] is None  # JSON has no nan
    assert "NaN" not in json.dumps(told)


def test_words_that_are_alike(fit, tagged_files):
    for match in ("exact", "capitalization", "factor"):
        model, told = fit(tagged_files, "--match", match, "--kernel", "sequence")
        assert repr(model.kernel) == repr(et.SequenceKernel(match=match))
        assert {trial["decay"] for trial in told["trials"]} == set(DECAYS)
    model, _ = fit(tagged_files, "--match", "factor", "--joint", "--margin", 0, "--decay", 0.3)
    assert model.perceptron_.kernel.joint
    assert model.margin == 0


def test_defaults_are_those_of_the_reranker():
    shown = {
        name: parameter.annotation.__metadata__[0].show_default
        for name, parameter in inspect.signature(command).parameters.items()
    }
    assert shown["decay"] == ", ".join(map(str, DECAYS))
    assert shown["beta"] == f"from {min(BETAS):g} to {max(BETAS):g}"
    assert shown["match"] == et.SequenceKernel().get_params()["match"]


def test_threads_and_runs_change_nothing(fit, tree_files, tmp_path):
    lists = read_candidates(tree_files[0])
    ranked = [fit(tree_files, "--threads", n)[0].rerank(lists) for n in (1, 2)]
    assert ranked[0] == ranked[1]


def test_standard_input_and_missing_gold(fit, cli, tree_files, standard_input, tmp_path):
    """Empty lines of a text have no gold; inputs whose right tree was not found have."""
    lists, gold = examples(tree_files)
    text = "\n".join(f"{log!r}\t{tree}" for tree, log in lists[0])
    standard_input(f"\n{text}\n\n\n{text}\n".encode())
    wrong = tmp_path / "gold.mrg"
    other = str(gold[0]).replace("NP", "NX").replace("(S ", "( (S-TPC ") + ")"
    wrong.write_text(f"{gold[0]}\n{other}\n")
    _, told = fit(("-", wrong), "--decay", 0.4, "--beta", 1)
    assert (told["n_inputs"], told["n_empty"], told["n_replaced"]) == (2, 0, 1)


def test_what_people_read(cli, tagged_files, dev_files, tmp_path):
    best, gold = tagged_files
    path = tmp_path / "reranker"
    arguments = ("fit", best, "--gold", gold, "-o", path)
    held_out = ("--validation", dev_files[0], "--validation-gold", dev_files[1])
    shown = cli("rerank", *arguments, *held_out)
    assert shown.status == 0, shown.err
    report = str(et.load(path).evaluate(*examples(dev_files)))
    first, chosen, mistakes, *rest = shown.out.splitlines()
    assert re.fullmatch(
        rf"{path}: \d+ of 36 candidates kept from 12 inputs; \d+\.\d s, \d+ MB at most", first
    )
    assert chosen.startswith("  chosen          decay 0.")
    assert mistakes.startswith("  mistakes        ")
    assert [line[2:] for line in rest[:-1]] == report.splitlines()
    assert rest[-1].startswith("  seconds         read candidates ")
    assert "read candidates: " in shown.err
    quiet = cli("rerank", *arguments, "--quiet")
    assert (quiet.status, quiet.out, quiet.err) == (0, "", "")


def test_info(cli, tagging_model, tree_model):
    about = json.loads(cli("info", tagging_model, "--json").out)
    assert about["format"] == "eigentext.reranker.v1"
    assert about["diagnostics"]["n_inputs"] == 12
    shown = cli("info", tree_model).out
    assert "decay" in shown
    assert "F1 of labelled brackets" in shown
    assert max(map(len, shown.splitlines())) < 400  # the model is not printed


def test_mistakes_are_one_line(cli, model, tagged_files, tree_files, standard_input, tmp_path):
    best, gold = tagged_files
    (tmp_path / "short").write_text("".join(gold.read_text().splitlines(keepends=True)[:-1]))
    (tmp_path / "moved").write_text("".join(gold.read_text().splitlines(keepends=True)[::-1]))
    (tmp_path / "silent").write_text("(S (NP (-NONE- *)))\n" * 10)
    (tmp_path / "bad").write_text("-1\ta/A\n\nlow\ta/A\n")
    (tmp_path / "empty").touch()
    (tmp_path / "few").write_text("-1\ta/A\n-2\ta/B\n")
    (tmp_path / "few-gold").write_text("a/A\n")
    standard_input(b"")
    path = tmp_path / "reranker"
    for arguments, reason in (
        ((best,), "--gold"),
        (
            (best, "--gold", gold, "--validation", best),
            "--validation and --validation-gold go together; give both or",
        ),
        ((best, "--gold", tmp_path / "missing"), "missing: no such file"),
        (("-", "--gold", "-"), "standard input (-) can be read only once"),
        ((best, "--gold", tmp_path / "short"), "best.gz: 12 lists of candidates, but "),
        ((best, "--gold", tmp_path / "short"), "short: 11 gold structures; give one for each"),
        ((best, "--gold", tmp_path / "moved"), "best.gz, input 1: other words than in "),
        ((best, "--gold", tree_files[1]), "gold: 10 gold structures"),
        ((tree_files[0], "--gold", tmp_path / "silent"), "silent, tree 1: '(S (NP (-NONE- *)))' h"),
        ((tmp_path / "bad", "--gold", gold), "bad, line 3: 'low' is not a log-probability"),
        (
            (tmp_path / "empty", "--gold", gold),
            "empty: the file is empty; give one that contains structures",
        ),
        ((best, "--gold", tmp_path / "empty"), "empty: the file is empty"),
        ((best, "--gold", gold, "--kernel", "tree"), "--kernel tree is not for tagged sequences"),
        ((*tree_files[:1], "--gold", tree_files[1], "--match", "exact"), "--match is for tagged"),
        ((best, "--gold", gold, "--joint"), "give --match too"),
        ((best, "--gold", gold, "--decay", 0), "decay"),
        ((best, "--gold", gold, "--beta", -1), "beta must be one or several numbers, 0 or more"),
        (
            (best, "--gold", gold, "--epochs", 0),
            "n_epochs (--epochs) must be a whole",
        ),
        ((tmp_path / "few", "--gold", tmp_path / "few-gold"), "too few to hold out a share"),
    ):
        line = cli("rerank", "fit", *arguments, "-o", path, "-q").mistake
        assert reason in line, line
        assert not path.exists()
    assert (
        "is a file, not a stream" in cli("rerank", "fit", best, "--gold", gold, "-o", "-").mistake
    )
    line = cli("rerank", "fit", best, "--gold", gold, "-o", best, "-q").mistake
    assert "would be written over what is read" in line


def test_kinds_must_agree(cli, tagged_files, tmp_path):
    (tmp_path / "trees").write_text("(X (A a))\n" * 12)
    line = cli(
        *("rerank", "fit", tagged_files[0], "--gold", tmp_path / "trees"),
        *("-o", tmp_path / "reranker", "-q"),
    ).mistake
    assert "trees in one, tagged sequences in the other; give the same kind in both" in line
