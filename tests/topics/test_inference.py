"""Inference with fitted topics, apart from the model."""

import numpy as np
import pytest

import eigentext as et
from eigentext.errors import ParameterError
from eigentext.factor.mixture import posteriors, proportions
from eigentext.topics.inference import perplexity, top_words, topic_proportions
from eigentext.topics.parameters import RANK


@pytest.mark.parametrize("alpha0", [0.0, 1.0])
def test_the_model_asks_inference(random_topics, alpha0):
    X = random_topics(3, 30, alpha0).draw(100, 20)
    model = et.TopicModel(3, alpha0=alpha0, refine=3).fit(X)
    topics = model.components_, model.weights_, model.alpha0_
    assert np.array_equal(topic_proportions(X, *topics), model.transform(X))
    assert perplexity(X, *topics) == model.perplexity(X)
    names = model.vocabulary_.words
    given = model.components_, model.weights_, model.vocabulary_.counts, names
    assert top_words(*given, 4) == model.top_words(4)


def test_proportions_are_those_of_positive_topics(random_topics):
    truth = random_topics(3, 30, 1.0)
    X, phi, w = truth.draw(20, 15), truth.topics, truth.weights
    phi = (1 - 1e-6) * phi + 1e-6 / 30
    assert np.array_equal(topic_proportions(X, truth.topics, w, 0.0), posteriors(X, phi, w)[0])
    expected = proportions(X, phi, 2.0 * w)
    assert np.array_equal(topic_proportions(X, truth.topics, w, 2.0), expected)


def test_a_part_of_the_columns_is_enough(random_topics):
    truth = random_topics(3, 30, 1.0)
    X = truth.draw(1, 15)
    some = np.flatnonzero(X.toarray()[0])
    part = topic_proportions(
        X.toarray()[:, some], truth.topics[:, some], truth.weights, 1.0, n_words=30
    )
    whole = topic_proportions(X, truth.topics, truth.weights, 1.0)
    assert np.allclose(part, whole, rtol=0, atol=1e-12)


def test_a_word_that_no_topic_has_is_not_impossible():
    components = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    for alpha0 in (0.0, 1.0):
        found = topic_proportions(np.array([[2, 0, 1]]), components, np.array([0.5, 0.5]), alpha0)
        assert found[0, 0] > 0.7
        assert found.sum() == pytest.approx(1)


def test_top_words():
    components = np.array([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]])
    given = components, np.array([0.6, 0.4]), np.array([4, 3, 4]), ["a", "b", "c"]
    found = top_words(*given, 2, rank="probability")
    assert found == [["a", "b"], ["c", "a"]]
    assert found.probabilities == [[0.5, 0.3], [0.6, 0.2]]
    assert found.forms == {}
    assert top_words(*given, 0) == [[], []]


def test_the_default_is_the_setting_of_the_table():
    rng = np.random.default_rng(0)
    components = rng.dirichlet(np.full(50, 0.1), 6)
    names = [f"w{number}" for number in range(50)]
    given = components, np.full(6, 1 / 6), rng.integers(1, 100, 50), names, 8
    assert top_words(*given) == top_words(*given, rank=RANK.default)
    assert top_words(*given) != top_words(*given, rank="probability")


def test_sparse_shares_are_those_of_the_dense_matrix():
    texts = ["ham eggs ham cheese", "goal team goal match", "law court judge law"] * 20
    for alpha0 in (0.0, 1.0):
        model = et.TopicModel(3, alpha0=alpha0).fit(texts)
        new = [*texts[:5], "ham goal court", "", "unknown"]
        dense = model.transform(new)
        for least in (0.0, 0.01, 0.3, 1.0):
            found = model.transform(new, sparse=True, least=least)
            kept = dense >= least
            kept[np.arange(len(new)), dense.argmax(axis=1)] = True
            assert np.array_equal(found.toarray(), np.where(kept, dense, 0))
            assert found.has_sorted_indices and found.format == "csr"
    assert model.transform([], sparse=True).shape == (0, 3)
    for least in (-0.1, 1.1, "x"):
        with pytest.raises(ParameterError, match="least"):
            model.transform(texts, sparse=True, least=least)


def test_sparse_shares_do_not_depend_on_blocks(monkeypatch):
    from eigentext.topics import inference

    texts = ["ham eggs ham cheese", "goal team goal match", "ham goal"] * 20
    model = et.TopicModel(2).fit(texts)
    whole = model.transform(texts, sparse=True)
    monkeypatch.setattr(inference, "_ROWS", 7)
    parts = model.transform(texts, sparse=True)
    assert (whole != parts).nnz == 0 and whole.nnz == parts.nnz
