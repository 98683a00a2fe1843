"""Vectors of any model: their form, the words that have one, and how words are looked up."""

from types import SimpleNamespace

import numpy as np
import pytest
from gensim.models import KeyedVectors

from eigentext import Eigenwords, Vocabulary
from eigentext.errors import ParameterError
from eigentext.evaluate.vectors import WordVectors

WORDS = ["cat", "Dog", "tea"]
VECTORS = np.array([[3.0, 4.0], [0.0, -2.0], [1.0, 0.0]])
UNIT = [[0.6, 0.8], [0.0, -1.0], [1.0, 0.0]]


def keyed(words=WORDS, vectors=VECTORS):
    made = KeyedVectors(vectors.shape[1])
    made.add_vectors(words, vectors)
    return made


@pytest.mark.parametrize(
    "model",
    [
        (WORDS, VECTORS),
        [WORDS, VECTORS.tolist()],
        (WORDS, VECTORS.astype(np.float16)),
        SimpleNamespace(vocabulary_=Vocabulary(WORDS, [3, 2, 1]), vectors_=VECTORS),
        SimpleNamespace(vocabulary_={"tea": 2, "cat": 0, "Dog": 1}, vectors_=VECTORS),
        keyed(),
        SimpleNamespace(wv=keyed()),  # gensim's models
    ],
)
def test_every_kind_of_model(model):
    vectors = WordVectors(model)
    assert len(vectors) == 3
    assert [vectors.place(word) for word in WORDS] == [0, 1, 2]
    assert np.allclose(vectors.unit_rows(slice(0, 3)), UNIT)
    assert np.allclose(vectors.unit_rows(np.array([2, 0])), [UNIT[2], UNIT[0]])


def test_a_fitted_estimator():
    model = Eigenwords(2, window=1).fit(["the cat sat", "a dog ran", "the dog sat"] * 5)
    vectors = WordVectors(model)
    assert [vectors.place(word) for word in model.vocabulary_] == list(range(len(vectors)))
    assert np.allclose(vectors.unit_rows(slice(None)), model.vectors_, atol=1e-6)


@pytest.mark.parametrize("model", [Eigenwords(), "model", None, (WORDS,), SimpleNamespace()])
def test_models_without_vectors(model):
    with pytest.raises(ParameterError, match="has no word vectors: give a fitted model, gensim's"):
        WordVectors(model)


@pytest.mark.parametrize("vectors", [VECTORS[:2], VECTORS[0], VECTORS[None]])
def test_a_row_for_each_word(vectors):
    with pytest.raises(ParameterError, match=r"3 words, but vectors of shape \(.*; give one row"):
        WordVectors((WORDS, vectors))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_vectors_that_are_not_finite(bad):
    vectors = VECTORS.copy()
    vectors[1, 1] = bad
    with pytest.raises(ParameterError, match="the vector of 'Dog' is not finite"):
        WordVectors((WORDS, vectors))


def test_lengths_beyond_float32():
    vectors = WordVectors((WORDS, VECTORS * 1e30))
    assert np.allclose(vectors.unit_rows(slice(None)), UNIT)


def test_words_without_a_direction_are_missing():
    vectors = WordVectors((["none", *WORDS, "tiny"], np.vstack([[0, 0], VECTORS, [1e-40, 0]])))
    assert len(vectors) == 3
    assert [vectors.place(word) for word in ("none", *WORDS, "tiny")] == [-1, 0, 1, 2, -1]
    assert np.allclose(vectors.unit_rows(slice(None)), UNIT)


def test_the_first_of_two_rows_of_a_word_counts():
    assert WordVectors((["a", "b", "a"], np.eye(3))).place("a") == 0


def test_case():
    words = ["us", "US", "athens", "Oslo", "McKay", "élan"]
    vectors = WordVectors((words, np.eye(6)))
    found = {word: vectors.place(word) for word in ("us", "US", "Athens", "ATHENS", "oslo")}
    assert found == {"us": 0, "US": 1, "Athens": 2, "ATHENS": 2, "oslo": 3}
    assert vectors.place("mcKay") == 4
    assert vectors.place("Élan") == 5
    assert vectors.place("OSLO") == -1
    assert vectors.place("") == -1
    exact = WordVectors((words, np.eye(6)), case="exact")
    assert [exact.place(word) for word in ("US", "Athens", "oslo")] == [1, -1, -1]
    assert vectors.find({"Us", "US", "rome", "Bern"}) == (
        {"Us": 0, "US": 1, "rome": -1, "Bern": -1},
        ["Bern", "rome"],
        1,
    )
    with pytest.raises(ParameterError, match="case must be 'fold' or 'exact', not 'lower'"):
        WordVectors((words, np.eye(6)), case="lower")


@pytest.mark.parametrize("wrong", [[1, 2], ["cat", "dog"], ("cat", VECTORS)])
def test_a_pair_of_other_things_is_an_error(wrong):
    with pytest.raises(ParameterError, match="a list of words"):
        WordVectors(wrong)
