"""Vectors from elsewhere are models, and models are vectors of gensim."""

import numpy as np
import pytest
from sklearn.base import clone

import eigentext as et
from eigentext.errors import EigentextError, ModelFileError, ParameterError

TEXT = ["the cat sat here", "the dog sat there", "a cat ran here", "a dog ran there"] * 5
WORDS = ["the", "cat", "dog", "sat", "ran"]
VECTORS = np.random.default_rng(1).standard_normal((5, 4)) * [[1], [10], [0.1], [1e-3], [1e3]]


@pytest.fixture(scope="module")
def fitted():
    return et.Eigenwords(4, window=2).fit(TEXT)


@pytest.fixture
def imported():
    return et.Eigenwords.from_vectors(WORDS, VECTORS)


def test_a_model_comes_back_from_gensim_bit_by_bit(fitted):
    pytest.importorskip("gensim")
    keyed = fitted.to_gensim()
    assert keyed.index_to_key == fitted.vocabulary_.words
    assert keyed.get_vecattr("cat", "count") == 10
    back = et.Eigenwords.from_gensim(keyed)
    np.testing.assert_array_equal(back.vectors_, fitted.vectors_)
    assert back.vocabulary_ == fitted.vocabulary_
    assert back.most_similar("cat") == fitted.most_similar("cat")
    assert back.analogy("cat", "dog", "sat") == fitted.analogy("cat", "dog", "sat")


def test_a_model_of_gensim_answers_here_as_there(tmp_path):
    gensim = pytest.importorskip("gensim.models")
    sentences = [line.split() for line in TEXT]
    theirs = gensim.Word2Vec(sentences, vector_size=5, min_count=1, seed=1, workers=1, epochs=2)
    ours = et.Eigenwords.from_gensim(theirs)
    assert ours.provenance_["imported"] == "gensim's Word2Vec"
    assert ours.provenance_["n_tokens"] == 80
    assert list(ours) == theirs.wv.index_to_key
    for word in ours:
        for (a, x), (b, y) in zip(ours.most_similar(word), theirs.wv.most_similar(word)):
            assert a == b
            assert x == pytest.approx(y, abs=1e-6)
    # And through a file of gensim's, and back into gensim.
    theirs.wv.save_word2vec_format(str(tmp_path / "vectors.bin"), binary=True)
    read = et.Eigenwords.from_file(tmp_path / "vectors.bin")
    np.testing.assert_array_equal(read.vectors_, ours.vectors_)
    back = read.to_gensim()
    assert not back.expandos.get("count", np.zeros(1)).any()  # unknown there, and here
    assert back.similarity("cat", "dog") == pytest.approx(theirs.wv.similarity("cat", "dog"))


def test_vectors_of_fasttext_are_those_of_its_vocabulary():
    gensim = pytest.importorskip("gensim.models")
    sentences = [line.split() for line in TEXT]
    theirs = gensim.FastText(sentences, vector_size=5, min_count=1, workers=1, epochs=1, bucket=50)
    ours = et.Eigenwords.from_gensim(theirs.wv)
    assert len(ours) == len(theirs.wv)
    assert "cats" not in ours
    assert ours.similarity("cat", "dog") == pytest.approx(theirs.wv.similarity("cat", "dog"))


def test_files_of_ours_are_opened_by_gensim(fitted, tmp_path):
    gensim = pytest.importorskip("gensim.models")
    for format in ("word2vec", "word2vec-binary"):
        fitted.export(tmp_path / format, format)
        binary = format == "word2vec-binary"
        keyed = gensim.KeyedVectors.load_word2vec_format(str(tmp_path / format), binary=binary)
        np.testing.assert_array_equal(keyed.vectors, fitted.vectors_)


def test_without_gensim_the_error_names_it(fitted, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(EigentextError, match="pip install gensim"):
        fitted.to_gensim()


def test_lengths_are_one_and_cosines_stay(imported):
    np.testing.assert_allclose(np.linalg.norm(imported.vectors_, axis=1), 1, atol=1e-6)
    a, b = VECTORS[1:3]
    cosine = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
    assert imported.similarity("cat", "dog") == pytest.approx(cosine, abs=1e-6)


def test_an_imported_model_does_what_a_fitted_one_does(imported, tmp_path):
    assert len(imported.most_similar("cat")) == 4
    assert len(imported.analogy("cat", "dog", "sat")) == 1
    assert imported.transform(["the cat", "dog zebra", "zebra"]).shape == (3, 4)
    assert imported.to_pandas().shape == (5, 4)
    assert et.WordClusters(2).fit(imported).labels_.shape == (5,)
    assert repr(imported) == "Eigenwords(n_components=4)"
    assert set(vars(clone(imported))) == set(imported.get_params())
    imported.save(tmp_path / "model")
    loaded = et.load(tmp_path / "model")
    assert loaded.most_similar("cat") == imported.most_similar("cat")
    assert loaded.provenance_ == imported.provenance_
    assert loaded.findings() == imported.findings()
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    loaded.export(tmp_path / "vectors.txt")
    read = et.Eigenwords.from_file(tmp_path / "vectors.txt")
    np.testing.assert_array_equal(read.vectors_, imported.vectors_)


def test_findings_say_what_is_unknown(imported):
    sentences = [finding.sentence for finding in imported.findings()]
    assert sentences[0].startswith("These vectors come from a matrix. They were not learned here")
    assert sentences[1] == "It is not known how often the words occur."
    counted = et.Eigenwords.from_vectors(WORDS, VECTORS, counts=[9, 5, 4, 3, 2])
    assert len(counted.findings()) == 1
    assert counted.provenance_["n_tokens"] == 23
    zero = et.Eigenwords.from_vectors(["a", "b"], [[0, 0], [1, 0]], counts=[1, 1])
    assert zero.findings()[1].sentence == "1 words have a zero vector."


def test_what_an_imported_model_cannot_do(imported):
    with pytest.raises(ParameterError, match="no spectrum"):
        imported.plot("spectrum")
    with pytest.raises(ParameterError, match="keep_moments='whole'"):
        imported.partial_fit(["the cat"])


def test_the_explorer_shows_an_imported_model(imported, tmp_path):
    pytest.importorskip("starlette")
    from eigentext.explorer.models.words import ExploredWords

    explored = ExploredWords(imported, "words")
    assert "spectrum" not in explored.views
    assert dict(explored.facts())
    assert explored.ask("neighbors", {"word": "cat"})


def test_a_damaged_file_is_refused(imported, tmp_path):
    imported.provenance_["imported"] = 5
    imported.save(tmp_path / "model")
    with pytest.raises(ModelFileError, match="provenance must be"):
        et.load(tmp_path / "model")


def test_lower_case_is_said_by_the_user():
    words = et.Eigenwords.from_vectors(WORDS, VECTORS, lowercase=True, tokenizer="simple")
    assert "Cat" in words
    np.testing.assert_allclose(words.transform(["CAT!"])[0], words["cat"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a"], [[1, 2], [3, 4]]), "1 words, but vectors of"),
        ((["a", "a"], [[1, 2], [3, 4]]), "'a' comes twice"),
        (([1, 2], [[1, 2], [3, 4]]), "1 is no word"),
        ((["a", ""], [[1, 2], [3, 4]]), "'' is no word"),
        ((["a", []], [[1, 2], [3, 4]]), "is no word"),
        ((["a", "b"], [[1, 2], [np.nan, 4]]), "the vector of 'b' is not finite"),
        ((["a", "b"], [[1, 2], [1e300, 4]]), "the vector of 'b' is not finite"),
        ((["a", "b"], [["1", "2"], ["x", "y"]]), "give a row of numbers"),
        (([], np.zeros((0, 3))), "no vectors"),
    ],
)
def test_vectors_that_are_refused(arguments, message):
    with pytest.raises(ParameterError, match=message):
        et.Eigenwords.from_vectors(*arguments)


def test_other_arguments_that_are_refused():
    for counts in ([1], [1, -1], [0.5, 1], [2**60, 1]):
        with pytest.raises(ParameterError, match="counts must be 2 whole numbers"):
            et.Eigenwords.from_vectors(["a", "b"], np.eye(2), counts=counts)
    with pytest.raises(ParameterError, match="tokenizer must be one of"):
        et.Eigenwords.from_vectors(["a", "b"], np.eye(2), tokenizer="nonsense")
    with pytest.raises(ParameterError, match="is no KeyedVectors"):
        et.Eigenwords.from_gensim((["a"], np.eye(1)))
