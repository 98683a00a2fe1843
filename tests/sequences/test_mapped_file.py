"""Models in mapped files: the same bits, opened without reading, and damage that hurts nobody."""

import copy
import pickle

import numpy as np
import pytest

import eigentext as et
from eigentext import KneserNey, engine
from eigentext.corpus.mapped_vocabulary import MappedVocabulary
from eigentext.errors import EigentextError, ModelFileError, ParameterError
from eigentext.storage import read_saved, write_saved
from eigentext.storage.maps import is_mapped

from .test_smoothing import drawn

pytestmark = pytest.mark.filterwarnings("ignore:.*Too little text")
TEXT = [*drawn(30, seed=1), ["zz", "a"], ["é", "a\0b"]]


@pytest.fixture(scope="module")
def model():
    return KneserNey(4).fit(drawn(200))


@pytest.mark.parametrize("order", [1, 2, 4])
@pytest.mark.parametrize("threads", [1, 2])
def test_mapped_is_loaded_bit_for_bit(tmp_path, order, threads):
    model = KneserNey(order, min_count=2).fit(drawn(200))
    with engine.use(engine.ThreadEngine(threads)):
        model.save(tmp_path / "counts")
        model.save(tmp_path / "mapped", mapped=True)
        loaded, mapped = et.load(tmp_path / "counts"), et.load(tmp_path / "mapped")
        for rare in (True, False):
            scores = [one.log_probabilities(TEXT, rare=rare) for one in (model, loaded, mapped)]
            assert np.array_equal(scores[0], scores[1], equal_nan=True)
            assert np.array_equal(scores[0], scores[2], equal_nan=True)
    assert mapped.perplexity(TEXT) == model.perplexity(TEXT)
    for context in ([], ["a"], ["b", "a"], ["zz"]):
        assert np.array_equal(mapped.distribution(context), model.distribution(context))
    assert mapped.generate(20) == model.generate(20)
    assert mapped.probability("a", ["b"]) == model.probability("a", ["b"])
    assert mapped.top_next(["a"]) == model.top_next(["a"])
    assert mapped.vocabulary_ == model.vocabulary_
    assert mapped.diagnostics_ == model.diagnostics_
    assert mapped.findings()


def test_nothing_is_read_before_it_is_needed(tmp_path, model):
    model.save(tmp_path / "mapped", mapped=True)
    mapped = et.load(tmp_path / "mapped")
    tables = mapped._tables
    for part in (tables.probabilities, tables.backoffs, tables.trie.first, tables.trie.words):
        assert is_mapped(part)
    mapped.log_probabilities(TEXT)
    assert isinstance(mapped.vocabulary_, MappedVocabulary)
    assert "words" not in vars(mapped.vocabulary_)
    assert is_mapped(tables.index.slots)


def test_copies_pickles_and_arpa(tmp_path, model):
    model.save(tmp_path / "mapped", mapped=True)
    mapped = et.load(tmp_path / "mapped")
    expected = model.log_probabilities(TEXT)
    for twin in (copy.copy(mapped), copy.deepcopy(mapped), pickle.loads(pickle.dumps(mapped))):
        assert np.array_equal(twin.log_probabilities(TEXT), expected, equal_nan=True)
    mapped.save(tmp_path / "again")  # a mapped model stays one
    assert (tmp_path / "again").read_bytes() == (tmp_path / "mapped").read_bytes()
    mapped.save(tmp_path / "tables", mapped=False)
    tables = et.load(tmp_path / "tables")
    assert np.array_equal(tables.log_probabilities(TEXT), expected, equal_nan=True)
    mapped.to_arpa(tmp_path / "a.arpa")
    model.to_arpa(tmp_path / "b.arpa")
    assert (tmp_path / "a.arpa").read_bytes() == (tmp_path / "b.arpa").read_bytes()
    arpa = KneserNey.from_arpa(tmp_path / "a.arpa")
    arpa.save(tmp_path / "mapped arpa", mapped=True)
    again = et.load(tmp_path / "mapped arpa")
    same = arpa.log_probabilities(TEXT), again.log_probabilities(TEXT)
    assert np.array_equal(*same, equal_nan=True)


def test_streams_integers_and_lower_case(tmp_path):
    rng = np.random.default_rng(0)
    lower = [[w.upper() for w in line] for line in drawn()]
    for text, other in (
        ([w for line in drawn() for w in line], ["a", "b", "zz"]),
        (rng.integers(0, 5, (50, 4)), [[0, 4], [9, 1]]),
        (rng.integers(0, 5, 200), [0, 4, 9]),
        (et.TextCorpus([" ".join(x) for x in lower], kind="texts", lowercase=True), [["A", "É"]]),
    ):
        model = KneserNey(3).fit(text)
        model.save(tmp_path / "mapped", mapped=True)
        mapped = et.load(tmp_path / "mapped")
        scores = [one.log_probabilities(other) for one in (model, mapped)]
        assert np.array_equal(*scores, equal_nan=True)


def test_bad_settings(tmp_path, model):
    for bits in (0, 1, 17, 2.5, "8", True):
        with pytest.raises(ParameterError, match="quantize"):
            model.save(tmp_path / "model", quantize=bits)
    with pytest.raises(ParameterError, match="mapped"):
        model.save(tmp_path / "model", mapped="yes")
    with pytest.raises(ParameterError, match="leave out mapped=False"):
        model.save(tmp_path / "model", mapped=False, quantize=8)
    model.save(tmp_path / "model", quantize=8)
    with pytest.raises(EigentextError, match="quantized already"):
        et.load(tmp_path / "model").save(tmp_path / "again", quantize=4)
    with pytest.raises(EigentextError, match="there is no other form"):
        et.load(tmp_path / "model").save(tmp_path / "again", mapped=False)


def damaged(path, name, change):
    arrays, about = read_saved(path)
    if name in about:
        about[name] = change(about[name])
    else:
        arrays[name] = change(np.array(arrays[name]))
    write_saved(path, KneserNey._format, arrays, about)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("first", lambda a: a[:-1]),
        ("first", lambda a: a.astype(np.int64)),
        ("symbols", lambda a: a[1:]),
        ("p", lambda a: a[1:]),
        ("b", lambda a: a.astype(np.float32)),
        ("slots", lambda a: a[:-1]),
        ("names.offsets", lambda a: a[:-1]),
        ("names.slots", lambda a: a[:-1]),
        ("names.slots", lambda a: a[:0]),
        ("names.counts", lambda a: a[:-1]),
        ("mapped", lambda a: None),
        ("mapped", lambda a: {}),
        ("mapped", lambda a: a | {"borders": a["borders"][:-1]}),
        ("mapped", lambda a: a | {"borders": a["borders"][::-1]}),
        ("mapped", lambda a: a | {"borders": [0]}),
        ("mapped", lambda a: a | {"bits": 99}),
        ("mapped", lambda a: a | {"bits": 0}),
        ("mapped", lambda a: a | {"probes": 10**9}),
        ("mapped", lambda a: a | {"quantize": 8}),
        ("mapped", lambda a: a | {"names": {}}),
        ("diagnostics", lambda a: {}),
        ("provenance", lambda a: {}),
    ],
)
def test_wrong_shapes_are_refused_at_once(tmp_path, model, name, change):
    model.save(tmp_path / "model", mapped=True)
    damaged(tmp_path / "model", name, change)
    with pytest.raises(ModelFileError, match="damaged"):
        et.load(tmp_path / "model")


@pytest.mark.parametrize("bits", [None, 4, 12])
@pytest.mark.parametrize(
    "name", ["first", "symbols", "p", "b", "slots", "names.bytes", "names.offsets", "names.slots"]
)
def test_wrong_values_are_told_or_give_numbers(tmp_path, model, name, bits):
    rng = np.random.default_rng(0)
    path = tmp_path / "model"
    for trial in range(12):

        def change(a, trial=trial):
            flat = a.view(np.uint8)
            where = rng.integers(0, len(flat), 1 + len(flat) // (3 if trial % 2 else 50))
            flat[where] = rng.integers(0, 256, len(where))
            return a

        model.save(path, mapped=True, quantize=bits)
        damaged(path, name, change)
        loaded = et.load(path)
        for use in (
            lambda m: m.log_probabilities(TEXT, rare=True),
            lambda m: m.distribution(["a"]),
            lambda m: m.distribution(["b", "a"]),
            lambda m: m.probability("a", ["b"]),
            lambda m: m.to_arpa(tmp_path / "model.arpa") or 0.0,
        ):
            try:
                found = np.asarray(use(loaded))
            except EigentextError:
                continue
            assert not np.isnan(found).any()
            assert not np.isposinf(found).any()


def test_files_from_before_pruning_are_read(tmp_path, model):
    model.save(tmp_path / "old")
    arrays, about = read_saved(tmp_path / "old")
    del about["parameters"]["prune"]
    write_saved(tmp_path / "old", KneserNey._format, arrays, about)
    old = et.load(tmp_path / "old")
    assert old.get_params() == {"order": 4, "min_count": 1, "prune": ()}
    assert old.perplexity(TEXT) == model.perplexity(TEXT)
