"""Files of taggers: saved and loaded with every source, and damaged files."""

import numpy as np
import pytest
from gensim.models import KeyedVectors
from sklearn.base import clone

import eigentext as et
from eigentext import HMM, PCFG, Eigentokens, Eigenwords, LatentPCFG, Tagger, WordClusters
from eigentext.errors import ModelFileError
from eigentext.storage import read_saved, write_saved

pytestmark = pytest.mark.filterwarnings("ignore:overflow")  # Python warns if Numba is off

TEXT = [line.split() for line in ("the dog barks", "a cat sleeps", "the cat barks at a dog")] * 4
TAGGED = [
    [("the", "O"), ("dog", "B-A"), ("barks", "O"), ("at", "O"), ("Tom", "B-P"), ("Cat", "I-P")],
    [("a", "B-A"), ("cat", "I-A"), ("sleeps", "O")],
]
TREES = [
    "(S (NP (DT the) (NN dog)) (VP (VBZ barks) (PP (IN at) (NP (NNP Tom)))))",
    "(S (NP (DT a) (NN cat)) (VP (VBZ sleeps)))",
]
WORDS = ["the", "dog", "cat", "barks", "sleeps", "a"]
MATRIX = np.random.default_rng(0).normal(size=(6, 3))


def keyed():
    vectors = KeyedVectors(3)
    vectors.add_vectors(WORDS, MATRIX.astype(np.float32))
    return vectors


def eigenwords():
    return Eigenwords(3, window=1, min_count=1).fit(TEXT)


SOURCES = {
    "none": dict,
    "eigenwords": lambda: {"vectors": eigenwords()},
    "gensim": lambda: {"vectors": keyed()},
    "tuple": lambda: {"vectors": (WORDS, MATRIX)},
    "clusters": lambda: {"clusters": WordClusters(3).fit(eigenwords())},
    "paths": lambda: {"clusters": dict(zip(WORDS, ["00", "010", "011", "1", "1", "00"]))},
    "eigentokens": lambda: {"eigentokens": Eigentokens(3, window=1, min_count=1).fit(TEXT)},
    "spectral": lambda: {"states": HMM(2, min_count=1, rank=1).fit(TEXT)},
    "em": lambda: {"states": HMM(2, method="em", n_init=1, n_iter=5).fit(TEXT)},
    "grammar": lambda: {"parser": LatentPCFG(2, method="em", nodes_per_state=1).fit(TREES)},
    "all": lambda: {
        "vectors": (WORDS, MATRIX),
        "clusters": dict(zip(WORDS, ["00", "010", "011", "1", "1", "00"])),
        "eigentokens": Eigentokens(3, window=1, min_count=1).fit(TEXT),
        "states": HMM(2, min_count=1, rank=1).fit(TEXT),
        "parser": PCFG().fit(TREES),
    },
}


@pytest.mark.parametrize("scheme", ["bio", "bilou"])
@pytest.mark.parametrize("source", SOURCES)
def test_saved_and_restored(tmp_path, source, scheme):
    tagger = Tagger(scheme=scheme, n_epochs=3, random_state=7, **SOURCES[source]()).fit(TAGGED)
    tagger.save(tmp_path / "tagger")
    again = et.load(tmp_path / "tagger")
    sentences = ["the dog sleeps", "A CAT barks at Tom", "x"]
    assert again.tag(sentences) == tagger.tag(sentences)
    assert again.k_best_many(sentences, 20) == tagger.k_best_many(sentences, 20)
    for one, two in zip(again.confidences(sentences), tagger.confidences(sentences)):
        np.testing.assert_array_equal(one, two)
    for name in ("tags_", "columns_", "templates_", "temperature_", "diagnostics_"):
        assert getattr(again, name) == getattr(tagger, name)
    assert again.top_features("O") == tagger.top_features("O")
    given = ("vectors", "clusters", "eigentokens", "states", "parser")
    for name, value in tagger.get_params(deep=False).items():
        if name in given:
            assert (getattr(again, name) is None) == (value is None)
        else:
            assert getattr(again, name) == value
    assert len(repr(again)) < 250
    again.save(tmp_path / "copy")  # a loaded tagger can be saved, with the same arrays
    first, second = (read_saved(tmp_path / name)[0] for name in ("tagger", "copy"))
    assert first.keys() == second.keys()
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])


@pytest.mark.parametrize("source", SOURCES)
def test_what_was_loaded_learns_as_before(tmp_path, source):
    tagger = Tagger(n_epochs=3, **SOURCES[source]()).fit(TAGGED)
    tagger.save(tmp_path / "tagger")
    again = et.load(tmp_path / "tagger")
    again.fit(TAGGED)
    assert again.k_best("the cat sleeps", 9) == tagger.k_best("the cat sleeps", 9)


def test_clones_of_loaded_ones(tmp_path):
    tagger = Tagger(n_epochs=3, **SOURCES["tuple"](), **SOURCES["paths"]()).fit(TAGGED)
    tagger.save(tmp_path / "tagger")
    again = clone(et.load(tmp_path / "tagger")).fit(TAGGED)
    assert again.tag(["the cat sleeps"]) == tagger.tag(["the cat sleeps"])


def test_more_columns(tmp_path):
    tagged = [[("a", "D", "x", "T"), ("b", "N", "y", "U")]] * 2
    columns = ["word", "pos", "place"]
    tagger = Tagger(columns=columns, features=["word[0]|place[0]"]).fit(tagged)
    tagger.save(tmp_path / "tagger")
    sentence = [("b", "N", "y")]
    assert et.load(tmp_path / "tagger").tag([sentence]) == [[("b", "N", "y", "U")]]


def test_models_of_tokens_without_a_file_format(tmp_path):
    class Ones:
        def transform(self, sentences):
            return [np.ones((len(one), 2)) for one in sentences]

    tagger = Tagger(states=Ones()).fit(TAGGED)
    assert tagger.tag(["a dog"])
    with pytest.raises(ModelFileError, match="Ones has no file format"):
        tagger.save(tmp_path / "tagger")
    assert not (tmp_path / "tagger").exists()


# Damage.


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("taggers") / "tagger"
    Tagger(n_epochs=3, **SOURCES["all"]()).fit(TAGGED).save(path)
    return path


def rewritten(saved, path, change):
    """A copy of the file with changed arrays or document."""
    arrays, about = read_saved(saved)
    arrays = {name: a if isinstance(a, list) else np.array(a) for name, a in arrays.items()}
    change(arrays, about)
    write_saved(path, about.pop("format"), arrays, about)
    return path


def test_files_that_are_cut_short(saved, tmp_path):
    whole = saved.read_bytes()
    for size in (0, 5, 100, len(whole) // 2, len(whole) - 1):
        (tmp_path / "short").write_bytes(whole[:size])
        with pytest.raises(ModelFileError):
            et.load(tmp_path / "short")


@pytest.mark.parametrize(
    "name", ["W", "D", "T", "end", "keys", "parts", "symbols.word", "vector.words",
             "vector.vectors", "clusters.paths", "token.vectors"]
)  # fmt: skip
def test_arrays_that_are_missing(saved, tmp_path, name):
    path = rewritten(saved, tmp_path / "bad", lambda arrays, about: arrays.pop(name))
    with pytest.raises(ModelFileError, match="damaged"):
        et.load(path)


@pytest.mark.parametrize(
    "name", ["parameters", "tags", "learned_tags", "columns", "templates", "scheme", "temperature",
             "scales", "sources", "converts", "diagnostics"]
)  # fmt: skip
def test_entries_that_are_missing(saved, tmp_path, name):
    path = rewritten(saved, tmp_path / "bad", lambda arrays, about: about.pop(name))
    with pytest.raises(ModelFileError, match="damaged"):
        et.load(path)


def shorter(name):
    def change(arrays, about):
        arrays[name] = arrays[name][:-1]

    change.__name__ = f"{name} shorter"
    return change


def doubled(arrays, about):
    arrays["W"] = arrays["W"].astype(np.float64)


def other_columns(arrays, about):
    arrays["W"] = np.ascontiguousarray(arrays["W"][:, :-1])


def other_tags(arrays, about):
    about["tags"] = ["X", "Y"]


def strange_features(arrays, about):
    arrays["parts"][:, 0] = 99  # a template that does not exist


def strange_symbols(arrays, about):
    arrays["parts"][:, 1:] = 99_999


def unknown_source(arrays, about):
    about["sources"]["smell"] = {}


def unknown_inside(arrays, about):
    about["sources"]["token"]["format"] = "eigentext.smells.v1"


def wrong_template(arrays, about):
    about["templates"] = ["word["]


def wrong_parameter(arrays, about):
    about["parameters"]["n_epochs"] = 0


def strange_parameter(arrays, about):
    about["parameters"]["smell"] = 0


def flat_vectors(arrays, about):
    arrays["vector.vectors"] = arrays["vector.vectors"].ravel()


@pytest.mark.parametrize(
    "change",
    [
        *map(shorter, ["W", "D", "T", "end", "keys", "parts", "vector.words", "vector.vectors"]),
        *map(shorter, ["clusters.words", "clusters.paths"]),
        doubled,
        other_columns,
        other_tags,
        strange_features,
        strange_symbols,
        unknown_source,
        unknown_inside,
        wrong_template,
        wrong_parameter,
        strange_parameter,
        flat_vectors,
    ],
    ids=lambda change: change.__name__,
)
def test_parts_that_do_not_fit(saved, tmp_path, change):
    with pytest.raises(ModelFileError):
        et.load(rewritten(saved, tmp_path / "bad", change))


def test_an_untrained_tagger_cannot_be_saved(tmp_path):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        Tagger().save(tmp_path / "tagger")
