"""JSON is valid everywhere: no NaN, no Infinity, whatever a model found."""

import ast
import json
import math
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import eigentext as et
from eigentext.cli.main import app
from eigentext.storage.files import read_saved, write_saved
from eigentext.storage.valid_json import json_text, json_value

ODD = [math.inf, -math.inf, math.nan]
SOURCES = Path(et.__file__).parent


def strict(text):
    """Read JSON as other programs do: NaN and Infinity are errors."""

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: {"a": [1, (x, "b")]}, np.float64])
def test_numbers_that_are_not_finite_are_null(value, wrap):
    assert "null" in json_text(wrap(value))
    strict(json_text(wrap(value)))


@pytest.mark.parametrize("value", ODD)
def test_kept_numbers_come_back(value):
    text = json_text({"found": [value, np.float32(value), 1]}, keep=True, default=np.generic.item)
    strict(text)
    np.testing.assert_equal(json_value(text), {"found": [value, value, 1]})


def test_other_values_are_as_json_writes_them():
    value = {"a": [1, 2.5, None, True, "ü"], "b": {}, "$number": 3, "c": {"$number": "7"}}
    assert json_text(value) == json.dumps(value)
    assert json_value(json_text(value)) == value


def test_model_files_are_valid_json_and_keep_their_numbers(tmp_path):
    write_saved(tmp_path / "a", "eigentext.state.v1", {}, {"found": [*ODD, np.float64("inf")]})
    raw = (tmp_path / "a").read_bytes()
    assert b"NaN" not in raw
    assert b"Infinity" not in raw
    np.testing.assert_equal(read_saved(tmp_path / "a")[1]["found"], [*ODD, math.inf])


def test_info_of_a_model_with_an_infinite_diagnostic(tmp_path):
    model = et.BigramModel(2, method="em", n_iter=3).fit(["a", "b", "a", "c", "a", "b"])
    model.diagnostics_["perplexity"] = math.inf
    model.history_["perplexity"][-1] = math.inf
    model.save(tmp_path / "m")
    shown = CliRunner().invoke(app, ["info", "--json", str(tmp_path / "m")])
    assert shown.exit_code == 0
    assert strict(shown.stdout)["diagnostics"]["perplexity"] is None
    assert et.load(tmp_path / "m").diagnostics_["perplexity"] == math.inf
    plain = CliRunner().invoke(app, ["info", str(tmp_path / "m")])
    assert plain.exit_code == 0


def test_old_files_with_infinity_still_load(tmp_path):
    model = et.BigramModel(2, method="em", n_iter=3).fit(["a", "b", "a", "c", "a", "b"])
    model.diagnostics_["perplexity"] = 123456789.0
    model.save(tmp_path / "m")
    raw = (tmp_path / "m").read_bytes()
    assert raw.count(b"123456789.0") == 1
    (tmp_path / "m").write_bytes(raw.replace(b"123456789.0", b"   Infinity"))
    assert et.load(tmp_path / "m").diagnostics_["perplexity"] == math.inf


def test_numbers_that_are_not_finite_may_be_refused():
    assert json_text([1.5, None], refuse=True) == "[1.5, null]"
    for number in (math.inf, -math.inf, math.nan):
        with pytest.raises(ValueError, match="not JSON compliant"):
            json_text({"score": number}, refuse=True)


def test_a_feature_named_by_infinity_is_refused_when_saved(tmp_path):
    lists = [[{math.inf: 1.0}, {"a": 1.0}], [{"a": 1.0}, {math.inf: 1.0}]]
    model = et.Perceptron().fit(lists, [1, 0])
    with pytest.raises(et.EigentextError, match="cannot be saved"):
        model.save(tmp_path / "m")


def test_all_json_is_written_in_one_place():
    writers = {
        str(path.relative_to(SOURCES))
        for path in SOURCES.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (
            isinstance(node, ast.Attribute)
            and node.attr in ("dumps", "dump")
            and isinstance(node.value, ast.Name)
            and "json" in node.value.id
        )
        or (
            isinstance(node, ast.ImportFrom)
            and node.module == "json"
            and {one.name for one in node.names} & {"dumps", "dump", "JSONEncoder"}
        )
    }
    assert writers == {"storage/valid_json.py"}
