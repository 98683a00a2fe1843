"""Sources that were learned without labels: all forms of them, known answers, and bad input."""

from types import SimpleNamespace

import numpy as np
import pytest
from gensim.models import KeyedVectors

from eigentext import Eigentokens, Eigenwords, WordClusters
from eigentext.errors import ParameterError
from eigentext.tagging.sources import (
    ClusterSource,
    TokenVectorSource,
    WordVectorSource,
    fold,
    given_sources,
)

WORDS = ["dog", "The", "cat"]
VECTORS = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def as_gensim():
    vectors = KeyedVectors(2)
    vectors.add_vectors(WORDS, VECTORS.astype(np.float32))
    return vectors


def as_eigenwords():
    # Fitted on a text with every word, then given known vectors.
    model = Eigenwords(1, window=1, min_count=1).fit(["dog The cat dog", "cat The dog dog"])
    places = [list(model.vocabulary_).index(word) for word in WORDS]
    model.vectors_ = VECTORS[np.argsort(places)].astype(np.float32)
    return model


@pytest.mark.parametrize(
    "model",
    [
        (WORDS, VECTORS),
        [WORDS, VECTORS.tolist()],
        ({word: place for place, word in enumerate(WORDS)}, VECTORS),
        as_gensim(),
        SimpleNamespace(wv=as_gensim()),
        as_eigenwords(),
        WordVectorSource(WORDS, VECTORS),
    ],
    ids=lambda model: type(model).__name__,
)
def test_vectors_of_any_kind(model):
    source = WordVectorSource.of(model)
    words = ["cat", "dog", "fish", "cat"]
    rows, vectors = source.rows([], words)
    assert vectors.dtype == np.float32
    assert rows[2] == -1
    assert rows[0] == rows[3]
    np.testing.assert_array_equal(vectors[rows[[0, 1]]], [[5, 6], [1, 2]])
    assert len(vectors) == 2  # of the words that occur
    assert source.width == 2
    assert source.coverage(words) == 3 / 4
    assert len(repr(source)) < 60


def test_a_word_is_found_in_another_case():
    known = {"dog": 0, "The": 1, "the": 2, "Bonn": 3, "USA": 4}
    for word, place in {
        "The": 1, "the": 2, "THE": 2, "Dog": 0, "DOG": 0, "bonn": 3, "BONN": None, "usa": None,
        "cat": None,
    }.items():  # fmt: skip
        assert fold(word, known) == place


def test_scale_is_the_root_mean_square_of_tokens_not_of_types():
    source = WordVectorSource(WORDS, VECTORS)
    words = ["dog", "dog", "dog", "cat", "fish"]
    source.set_scale([], words, 0.2)
    rows, vectors = source.rows([], words)
    assert np.sqrt(np.mean(vectors[rows[rows >= 0]] ** 2)) == pytest.approx(0.2)
    assert source.scale == pytest.approx(0.2 / np.sqrt((3 * 5 + 61) / 8))
    source.set_scale([], words, 0.2)  # a second call changes nothing
    assert source.scale == pytest.approx(0.2 / np.sqrt((3 * 5 + 61) / 8))
    zeros = WordVectorSource(WORDS, 0 * VECTORS)
    zeros.set_scale([], words, 0.2)
    assert zeros.scale == 1
    zeros.set_scale([], ["fish"], 0.2)
    assert zeros.scale == 1


@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30])
def test_vectors_of_any_size_have_that_scale(size):
    source = WordVectorSource.of((WORDS, size * VECTORS))
    source.set_scale([], WORDS, 0.2)
    rows, vectors = source.rows([], WORDS)
    assert np.sqrt(np.mean(vectors[rows] ** 2)) == pytest.approx(0.2, rel=1e-3)


def test_another_tagger_with_the_same_vectors_does_not_change_their_scale():
    source = WordVectorSource(WORDS, VECTORS)
    WordVectorSource.of(source).set_scale([], WORDS, 7.0)
    assert source.scale == 1


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (3, "int has no word vectors: give a fitted model, gensim's"),
        (Eigenwords(3), "Eigenwords has no word vectors"),
        ((["a"], VECTORS), r"1 words, but vectors of shape \(3, 2\)"),
        ((["a"], [1.0]), "give one row for each word"),
        ((["a", "b"], [[1.0], [np.nan]]), "vectors must be finite numbers"),
        ((["a", "b"], [[1.0], [np.inf]]), "vectors must be finite numbers"),
        ((["a"], [["x"]]), "vectors must be finite numbers"),
    ],
)
def test_vectors_that_are_refused(model, message):
    with pytest.raises(ParameterError, match=message):
        WordVectorSource.of(model)


# Clusters.


def test_clusters_of_any_kind():
    paths = {"dog": "00", "Bonn": "0110", "cat": "1", "empty": ""}
    model = WordClusters(2).fit(np.array([[1.0], [1.1], [-5.0]]), words=["dog", "Bonn", "cat"])
    own = ClusterSource.of(model)
    assert {word: own.attribute("cluster")(word) for word in own.words} == dict(
        zip(model.vocabulary_.words, model.bit_strings_)
    )
    clusters = ClusterSource.of(paths)
    assert ClusterSource.of(clusters) is clusters
    whole, two = clusters.attribute("cluster"), clusters.attribute("cluster2")
    assert [whole(word) for word in ("dog", "Dog", "bonn", "fish", "empty")] == [
        "00", "00", "0110", None, None,
    ]  # fmt: skip
    assert [two(word) for word in ("dog", "bonn", "cat", "fish")] == ["00", "01", "1", None]
    assert clusters.coverage(["dog", "dog", "fish", "empty"]) == 2 / 4
    assert clusters.attribute("word") is None
    assert clusters.attribute("clusterx") is None
    assert clusters.attribute("cluster0") is None
    assert len(repr(clusters)) < 60


@pytest.mark.parametrize("model", [3, ["00"], {"dog": 7}, WordClusters(2), None])
def test_clusters_that_are_refused(model):
    with pytest.raises(ParameterError, match=r"has no clusters; give fitted WordClusters, or a di"):
        ClusterSource.of(model)


# Vectors of tokens.


def test_tokens_of_eigentokens():
    model = Eigentokens(2, window=1, min_count=1).fit(["a b a c", "b a c c", "a c b b"])
    source = TokenVectorSource(model)
    sentences = [[("a", "X"), ("b", "X")], [("c", "X")]]
    assert source.width == 2
    rows, vectors = source.rows(sentences, ["a", "b", "c"])
    assert rows.tolist() == [0, 1, 2]
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, np.concatenate(model.transform([["a", "b"], ["c"]])))
    source.set_scale(sentences, ["a", "b", "c"], 3.0)
    assert np.sqrt(np.mean(source.rows(sentences, ["a", "b", "c"])[1] ** 2)) == pytest.approx(3)


def test_models_that_have_no_vectors_of_tokens():
    with pytest.raises(
        ParameterError, match=r"int has no method transform.*give fitted Eigentokens or a"
    ):
        TokenVectorSource(3)
    words = Eigenwords(1, window=1, min_count=1).fit(["dog The cat dog", "cat The dog dog"])
    with pytest.raises(ParameterError, match="transform gives one vector for a sentence"):
        TokenVectorSource(words)


def test_which_sources_a_tagger_was_given():
    model = Eigentokens(2, window=1, min_count=1).fit(["a b a c", "b a c c", "a c b b"])
    assert given_sources() == (None, {})
    clusters, sources = given_sources((WORDS, VECTORS), {"dog": "0"}, model, model)
    assert clusters.words == ["dog"]
    assert list(sources) == ["vector", "token", "state"]
    assert sources["token"] is not sources["state"]
