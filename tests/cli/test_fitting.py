"""What every fit does: checks before the work, a saved model, and a report."""

import json

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
