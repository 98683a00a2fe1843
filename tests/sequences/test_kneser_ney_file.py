"""The forms of a file of n-grams: which model has which, and discounts that cannot be."""

import numpy as np
import pytest

import eigentext as et
from eigentext import KneserNey
from eigentext.errors import ModelFileError
from eigentext.sequences import _kneser_ney_file
from eigentext.storage import read_saved, write_saved

from .test_smoothing import drawn

pytestmark = pytest.mark.filterwarnings("ignore:.*Too little text")
FORMS = {"moments", "tables", "mapped"}


@pytest.fixture(scope="module")
def lines():
    return drawn(100)


def form(model):
    [found] = FORMS & _kneser_ney_file.to_saved(model)[1].keys()
    return found


def test_each_model_has_its_form(lines, tmp_path):
    model = KneserNey(3).fit(lines)
    assert form(model) == "moments"  # counts can be added
    assert form(KneserNey(3, prune=(0, 0, 1)).fit(lines)) == "tables"
    model.to_arpa(tmp_path / "arpa")
    assert form(KneserNey.from_arpa(tmp_path / "arpa")) == "tables"
    model.save(tmp_path / "mapped", mapped=True)
    mapped = et.load(tmp_path / "mapped")
    assert form(mapped) == "mapped"
    assert "tables" in _kneser_ney_file.to_saved(mapped, mapped=False)[1]


@pytest.mark.parametrize("settings", [{}, {"prune": (0, 0, 1)}], ids=str)
def test_all_forms_answer_alike(lines, tmp_path, settings):
    model = KneserNey(3, **settings).fit(lines)
    logs = model.log_probabilities(lines)
    for name, how in (("usual", {}), ("mapped", {"mapped": True})):
        model.save(tmp_path / name, **how)
        again = et.load(tmp_path / name)
        assert np.allclose(again.log_probabilities(lines), logs, rtol=1e-6)
        assert again.diagnostics_ == model.diagnostics_


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda d: d[:-1], "are not of 3 orders"),
        (lambda d: d + 1, "take away more than was counted"),
        (lambda d: -1 - d, "discounts"),
        (lambda d: d * np.nan, "discounts"),
        (lambda d: d[:, :2].copy(), "discounts"),
    ],
)
def test_discounts_that_cannot_be(lines, tmp_path, change, why):
    KneserNey(3).fit(lines).save(tmp_path / "model")
    arrays, about = read_saved(tmp_path / "model")
    arrays = {name: arrays[name] for name in list(arrays)}
    arrays["discounts"] = change(np.asarray(arrays["discounts"]))
    write_saved(tmp_path / "model", KneserNey._format, arrays, about)
    with pytest.raises(ModelFileError, match=why):
        et.load(tmp_path / "model")
