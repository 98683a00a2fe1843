"""Damaged files of topics: the error names the damage, and nothing of the file is used."""

import numpy as np
import pytest

import eigentext as et
from eigentext.errors import ModelFileError
from eigentext.storage import read_saved, write_saved

TEXTS = ["ham eggs ham cheese", "eggs cheese ham eggs", "goal team goal match"] * 4


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "topics"
    et.TopicModel(2, refine=1).fit(TEXTS).save(path)
    arrays, about = read_saved(path)
    return {name: arrays[name] for name in arrays}, about


def changed(about, path, value):
    """Return a copy of the document with one value replaced."""
    first, *rest = path.split(".")
    return about | {first: changed(about[first], ".".join(rest), value) if rest else value}


@pytest.mark.parametrize(
    ("name", "change", "why"),
    [
        ("components", lambda a: a[:, :-1], "words has shape|word_counts has shape"),
        ("components", lambda a: a.astype(np.float32), "components holds float32"),
        ("components", lambda a: -a, "components has -.*, below 0"),
        ("components", lambda a: 2 * a, "components are not distributions"),
        ("components", lambda a: a * np.nan, "components has numbers that are not finite"),
        ("weights", lambda a: a[:1], "weights has shape"),
        ("weights", lambda a: 0 * a, "weights are not distributions"),
        ("words", lambda a: [a[0]] * len(a), "words has a string twice"),
        ("word_counts", lambda a: -a, "word_counts has"),
    ],
)
def test_arrays(saved, tmp_path, name, change, why):
    arrays, about = saved
    part = arrays[name] if name == "words" else np.asarray(arrays[name])
    content = arrays | {name: change(part)}
    write_saved(tmp_path / "m", et.TopicModel._format, content, about)
    with pytest.raises(ModelFileError, match=f"damaged or made by something else: ({why})"):
        et.load(tmp_path / "m")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("alpha0", -1.0),
        ("alpha0", "1"),
        ("n_features_in", 7),
        ("parameters", []),
        ("provenance.options", {"tokenizer": "words"}),
        ("provenance.options.unit", "stream"),
        ("provenance.n_documents", "many"),
        ("diagnostics.eigenvalues", []),
        ("diagnostics.eigenvalues", [None]),
        ("diagnostics.perplexities", "abc"),
        ("diagnostics.n_empty", None),
    ],
)
def test_documents(saved, tmp_path, path, value):
    arrays, about = saved
    write_saved(tmp_path / "m", et.TopicModel._format, arrays, changed(about, path, value))
    with pytest.raises(ModelFileError, match=f"damaged or made by something else: .*{path[:5]}"):
        et.load(tmp_path / "m")


def test_topics_without_topics_are_refused(saved, tmp_path):
    arrays, about = saved
    nothing = {"components": np.empty((0, 6)), "weights": np.empty(0)}
    write_saved(tmp_path / "m", et.TopicModel._format, arrays | nothing, about)
    with pytest.raises(ModelFileError, match="components is empty"):
        et.load(tmp_path / "m")
