"""The method "anchors": weights of documents, and the settings of Arora et al."""

import numpy as np
import scipy.sparse as sp

import eigentext as et
from eigentext.topics.anchors import anchor_topics


def outliers(random_topics, n=6):
    """Documents of a model, and a few long ones of words that occur nowhere else."""
    truth = random_topics(4, 60, 0.3, concentration=0.1)
    X = np.pad(truth.draw(2_000, 30).toarray(), ((0, 0), (0, 20)))
    Y = np.zeros((n, 80), int)
    Y[:, 60:] = 20
    return truth, np.vstack([X, Y])


def test_without_weights_and_rectification_it_is_the_plain_method(random_topics):
    X = random_topics(4, 60, 0.3).draw(500, 30)
    model = et.TopicModel(4, method="anchors", robust=0, rectify=False, refine=0).fit(X)
    found = anchor_topics(X, 4, n_refits=0)
    order = np.argsort(-found.weights, kind="stable")
    assert np.allclose(model.components_, found.components[order], atol=1e-9)
    assert np.allclose(model.topic_topic_, found.topic_topic[np.ix_(order, order)], atol=1e-9)


def test_outliers_lose_weight(random_topics):
    _, X = outliers(random_topics)
    shares = []
    for robust in (0, 7):
        model = et.TopicModel(4, method="anchors", robust=robust, refine=0).fit(X)
        shares.append(model.weights_ @ model.components_[:, 60:].sum(axis=1))
    assert model.diagnostics_["n_reduced"] >= 6
    assert shares[1] < shares[0] / 2


def test_documents_that_are_all_alike_keep_their_weight():
    X = sp.csr_array(np.repeat(np.kron(np.eye(6, dtype=int), [[2, 1, 1]]), 50, axis=0))
    model = et.TopicModel(6, method="anchors", refine=0).fit(X)
    assert np.allclose(model.weights_, 1 / 6, atol=0.02)
    tops = np.argsort(-model.components_, axis=1)[:, :3] // 3
    assert (tops == tops[:, :1]).all()


def test_rectified_topics_are_the_default(random_topics):
    X = random_topics(5, 100, 0.5).draw(300, 30)
    model = et.TopicModel(5, method="anchors", refine=0).fit(X)
    before, after = model.diagnostics_["negative"]
    assert after < before
    plain = et.TopicModel(5, method="anchors", refine=0, rectify=False).fit(X)
    assert "negative" not in plain.diagnostics_
