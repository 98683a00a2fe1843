"""Files of refinement HMMs: what was learned comes back, and damage is named."""

import numpy as np
import pytest

import eigentext as et
from eigentext import RefinementHMM
from eigentext.errors import ModelFileError
from eigentext.storage import read_saved, write_saved

pytestmark = pytest.mark.filterwarnings("ignore::eigentext.errors.LittleDataWarning")
TAGGED = [
    [("the", "D"), ("cat", "N"), ("sees", "V"), ("a", "D"), ("dog", "N")],
    [("dogs", "N"), ("see", "V"), ("cats", "N")],
] * 20


@pytest.fixture(scope="module", params=["em", "spectral"])
def model(request):
    settings = {"n_iter": 2} if request.param == "em" else {}
    return RefinementHMM(2, method=request.param, **settings).fit(TAGGED)


def changed(model, path, change):
    model.save(path)
    arrays, about = read_saved(path)
    arrays = {
        name: part if isinstance(part := arrays[name], list) else np.array(part)
        for name in list(arrays)
    }
    change(arrays)
    write_saved(path, RefinementHMM._format, arrays, about)
    return path


def test_averages_come_back(model, tmp_path):
    again = et.load(changed(model, tmp_path / "model", lambda arrays: None))
    for name, part in model._averages._asdict().items():
        assert np.array_equal(getattr(again._averages, name), part)
    depth = 2 if model.method == "spectral" else 1
    assert again._averages.shares.shape[1:] == (2, depth)


def _twice(arrays):
    arrays["grams"][0] = arrays["grams"][1]


def _edge(arrays):
    arrays["sizes"][-1] = 2


def _few(arrays):
    arrays["shares"] = arrays["shares"][:-1]


def _huge(arrays):
    arrays["blocks"][0] = 1e200


def _label(arrays):
    arrays["grams"][0, 0] = 99


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_twice, "has a pair twice|grams"),
        (_edge, "states before or after a sentence"),
        (_few, "does not have the shape that the counts and the method need"),
        (_huge, "blocks"),
        (_label, "grams"),
    ],
)
def test_damage_is_named(model, tmp_path, change, why):
    with pytest.raises(ModelFileError, match=why):
        et.load(changed(model, tmp_path / "model", change))


def test_only_operators_may_be_negative(model, tmp_path):
    def change(arrays):
        arrays["blocks"][0, 0, 0] = -0.01

    path = changed(model, tmp_path / "model", change)
    if model.method == "spectral":
        assert len(et.load(path).tag(["the", "cat"])) == 2
    else:
        with pytest.raises(ModelFileError, match="probabilities below zero"):
            et.load(path)
