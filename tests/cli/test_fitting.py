"""What every fit does: checks before the work, a saved model, and a report."""

import json
import random
import warnings

import pytest

from eigentext.cli._bundles import RunOptions
from eigentext.cli._fitting import finding_lines, fitting, validation_facts
from eigentext.engine import phase
from eigentext.errors import EigentextError, ParameterError
from eigentext.estimators import Finding, Findings


class Model(Findings):
    """A model that finds something."""

    def __init__(self):
        self.learned_ = 1

    def save(self, path):
        path.write_text("model")

    def _findings(self):
        yield Finding("note", "It is small.")
        yield Finding("warning", "It is new.", "Wait.")


def fitted(output, **options):
    with fitting(output, RunOptions(**options), [str(output.parent / "text")], []) as fit:
        with phase("learn"):
            pass
        fit.save(Model())
    fit.report({"n": 3}, "3 things", ["a detail"], phases=True)
    return fit


def test_the_report_for_people(tmp_path, capfd):
    output = tmp_path / "model"
    fit = fitted(output)
    out, err = capfd.readouterr()
    summary, *lines, seconds = out.splitlines()
    assert output.read_text() == "model"
    assert fit.paths == [[tmp_path / "text"], []]
    assert summary.startswith(f"{output}: 3 things; ")
    assert summary.endswith(" MB at most")
    assert lines == ["  a detail", "  warning: It is new. Wait."]
    assert seconds == "  seconds         learn 0.0, save 0.0"
    assert [line.partition(":")[0] for line in err.splitlines()] == ["learn", "save"]


def test_the_report_for_machines_and_none(tmp_path, capfd):
    fitted(tmp_path / "model", json=True)
    out, err = capfd.readouterr()
    found = json.loads(out)
    assert err == ""
    assert list(found) == ["model", "n", "seconds", "phases", "peak_memory"]
    assert list(found["phases"]) == ["learn", "save"]
    fitted(tmp_path / "model", quiet=True)
    assert capfd.readouterr() == ("", "")


def test_paths_are_checked_before_the_work(tmp_path):
    def work(output):
        with fitting(output, RunOptions(), [str(tmp_path / "text")]) as fit:
            fit.check_not_read(fit.paths[0])
            raise AssertionError("it began")

    (tmp_path / "text").write_text("a")
    with pytest.raises(ParameterError, match="choose another -o"):
        work(tmp_path / "text")
    with pytest.raises(EigentextError, match="is a folder"):
        work(tmp_path)


def test_findings_as_lines():
    assert finding_lines(Model()) == ["warning: It is new. Wait.", "note: It is small."]
    assert finding_lines(object()) == []


def test_results_on_held_out_data_have_their_old_names_too():
    found = validation_facts([0.5], None)
    assert found["validation"] == found["dev"] == [0.5]
    assert found["validation_report"] is found["dev_report"] is None


def _many_words(path):
    words = [a + b + c for a in "bcdfghk" for b in "aeiou" for c in "lmnprstvxz"][:342]
    rng = random.Random(0)
    path.write_text("".join(" ".join(rng.choices(words, k=12)) + "\n" for _ in range(900)))


def _words_seen_once(path):
    path.write_text("".join(f"the a{i} of b{i} in c{i}\n" for i in range(300)))


def _many_labels(path):
    tree = "(S{0} (NP{0} (D{0} the) (N{0} dog)) (VP{0} (V{0} saw) (NP{0} (D{0} the) (N{0} cat))))\n"
    path.write_text("".join(tree.format(f"-x{i}") for i in range(20)).replace("-", "+"))


@pytest.mark.parametrize(
    ("write", "command", "warning"),
    [
        (
            _many_words,
            ("words", "fit", "--dim", 300, "--min-count", 1),
            "The vectors have 300 dimensions for 342 words, and most of these dimensions are "
            "noise. Ask for 85 dimensions or fewer (n_components, --dim), or give more text.",
        ),
        (
            _words_seen_once,
            ("bigram", "fit", "--states", 2),
            "Most words of the training text (900 of 903) occur only once, so about 50% of the "
            "tokens of other text will be unknown. Give more text.",
        ),
        (
            _many_labels,
            ("grammar", "fit", "--states", 1),
            "The treebank has 120 different labels in 20 trees, so most rules were seen once. Give "
            "more trees, or strip functions and features from the labels (the dialect of "
            "read_trees).",
        ),
    ],
)
def test_too_little_data_is_told_once_with_the_remedy(cli, tmp_path, write, command, warning):
    write(tmp_path / "data")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        result = cli(*command[:2], tmp_path / "data", "-o", tmp_path / "model", *command[2:])
    assert result.status == 0, result.err
    assert f"eigentext: warning: {warning}\n" in result.err
    assert (result.out + result.err).count(warning[:40]) == 1
    assert f"warning: {warning}" in cli("info", tmp_path / "model").out
