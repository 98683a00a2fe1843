"""Models of ARPA files as files of ours: the same numbers come back, and damage is told."""

import numpy as np
import pytest

import eigentext as et
from eigentext import KneserNey
from eigentext.errors import ModelFileError
from eigentext.sequences._trie_file import tables_from_saved, tables_to_saved
from eigentext.storage import read_saved, write_saved


@pytest.fixture
def model(tmp_path):
    rng = np.random.default_rng(0)
    fitted = KneserNey(3).fit([[f"w{x}" for x in line] for line in rng.integers(0, 9, (60, 5))])
    fitted.to_arpa(tmp_path / "model.arpa")
    return KneserNey.from_arpa(tmp_path / "model.arpa")


@pytest.mark.parametrize("order", [1, 2, 4])
def test_tables_come_back(order):
    tables = KneserNey(order).fit([["to", "be", "or", "not", "to", "be"]])._tables
    again = tables_from_saved(*tables_to_saved(tables), tables.trie.n_symbols)
    assert again.trie.borders == tables.trie.borders
    for a, b in ((again.trie.first, tables.trie.first), (again.trie.words, tables.trie.words)):
        assert np.array_equal(a, b)
        assert a.dtype == b.dtype
    assert np.array_equal(again.probabilities, tables.probabilities)
    assert np.array_equal(again.backoffs, tables.backoffs)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("words", lambda a: a[:-1]),
        ("words", lambda a: [*a[:-1], a[0]]),
        ("unigrams", lambda a: a + 2),
        ("unigrams", lambda a: a * np.nan),
        ("backoffs", lambda a: -a),
        ("backoffs", lambda a: a[:-1]),
        ("level.0.indices", lambda a: a + 9),
        ("level.0.indices", lambda a: a[::-1].copy()),
        ("level.0.indptr", lambda a: a[:-1]),
        ("level.0.indptr", lambda a: a[::-1].copy()),
        ("level.1.data", lambda a: a - 1),
        ("level.1.data", lambda a: a.astype(np.float32)),
        ("tables", lambda a: {"order": 4}),
        ("tables", lambda a: {"order": "3"}),
        ("tables", lambda a: {}),
        ("tables", lambda a: None),
        ("diagnostics", lambda a: {}),
        ("provenance", lambda a: {}),
    ],
)
def test_damaged_models_are_refused(tmp_path, model, name, change):
    model.save(tmp_path / "model")
    arrays, about = read_saved(tmp_path / "model")
    if name in about:
        about[name] = change(about[name])
    else:
        part = arrays[name]
        arrays[name] = change(part if isinstance(part, list) else np.array(part))
    write_saved(tmp_path / "model", KneserNey._format, arrays, about)
    with pytest.raises(ModelFileError, match="damaged"):
        et.load(tmp_path / "model")


def test_a_smaller_order_is_another_model(tmp_path, model):
    # A file of order 3 that says 2: the weights are too many.
    model.save(tmp_path / "model")
    arrays, about = read_saved(tmp_path / "model")
    write_saved(tmp_path / "model", KneserNey._format, arrays, about | {"tables": {"order": 2}})
    with pytest.raises(ModelFileError, match="backoffs has shape"):
        et.load(tmp_path / "model")
