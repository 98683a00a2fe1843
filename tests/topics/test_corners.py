"""The points of words, and anchors that are rectified, given or excluded."""

import numpy as np
import pytest

from eigentext.errors import ParameterError
from eigentext.moments.bags import BagMoments
from eigentext.topics.anchors import anchor_topics, topics_of_pairs
from eigentext.topics.corners import PairMoment, anchor_rows


def anchored(random_topics, K, d, alpha0, seed=0, concentration=0.3):
    """A random model in which the words k and K + k are anchors of the topic k."""
    truth = random_topics(K, d, alpha0, seed, concentration)
    topics = truth.topics.copy()
    weights = np.random.default_rng(seed).uniform(0.02, 0.1, 2 * K)
    topics[:, : 2 * K] = np.hstack([np.diag(weights[:K]), np.diag(weights[K:])])
    return truth._replace(topics=topics / topics.sum(axis=1, keepdims=True))


def moment(truth):
    return PairMoment.of_matrix(truth.pairs_times(np.eye(truth.topics.shape[1])))


@pytest.mark.parametrize("alpha0", [0.0, 1.0])
@pytest.mark.parametrize(("K", "d"), [(1, 5), (3, 30), (8, 200), (6, 800)])
def test_rectification_changes_nothing_if_moments_are_exact(random_topics, matched, alpha0, K, d):
    truth = anchored(random_topics, K, d, alpha0)
    plain, found = (topics_of_pairs(moment(truth), K, rectify=x, n_refits=0) for x in (False, True))
    assert found.diagnostics["negative"] == [0.0, 0.0]
    assert np.abs(plain.components - found.components).max() < 1e-8
    assert matched(truth.topics, found.components)[1].max() < 1e-8


def test_rectification_is_exact_if_only_some_words_may_be_anchors(random_topics, matched):
    truth = anchored(random_topics, 4, 60, 1.0)
    pairs = moment(truth)
    rare = np.arange(60) >= 40
    pairs = pairs._replace(frequencies=np.where(rare, 1.0, 100.0), n_documents=100.0)
    found = topics_of_pairs(pairs, 4, min_df=50, rectify=True, n_refits=0)
    assert found.diagnostics["n_candidates"] == 40
    assert matched(truth.topics, found.components)[1].max() < 1e-8


@pytest.mark.parametrize("rectify", [False, True])
@pytest.mark.parametrize("recovery", ["l2", "rows", "kl"])
@pytest.mark.parametrize("given", [[[2]], [[3, 8], [1]], [[5, 0], [1], [2, 7], [8], [4]]])
def test_given_anchors_are_exact_and_come_first(random_topics, rectify, recovery, given):
    truth = anchored(random_topics, 5, 60, 0.5)
    options = {"rectify": rectify, "recovery": recovery, "given": given, "n_refits": 0}
    found = topics_of_pairs(moment(truth), 5, **options)
    firsts = [words[0] % 5 for words in given]
    assert (found.anchors[: len(given)] == [words[0] for words in given]).all()
    order = found.anchors % 5
    assert sorted(order) == list(range(5))
    assert (order[: len(given)] == firsts).all()
    near = 1e-4 if recovery == "kl" else 1e-8
    assert np.abs(found.components - truth.topics[order]).max() < near


def test_the_search_does_not_find_given_or_excluded_words_again(random_topics, matched):
    truth = anchored(random_topics, 5, 60, 0.5)
    first = topics_of_pairs(moment(truth), 5, n_refits=0)
    excluded = first.anchors
    found = topics_of_pairs(moment(truth), 5, excluded=excluded, n_refits=0)
    assert not set(found.anchors) & set(excluded)
    assert matched(truth.topics, found.components)[1].max() < 1e-8


@pytest.mark.parametrize("rectify", [False, True])
def test_error_falls_with_the_root_of_the_number_of_documents(random_topics, matched, rectify):
    truth = anchored(random_topics, 5, 80, 0.5)
    errors = []
    for n in (2_000, 32_000):
        found = anchor_topics(
            truth.draw(n, 50), 5, rectify=rectify, given=[[0, 5], [1]], n_refits=0
        )
        assert set(found.anchors[:2]) == {0, 1}
        errors.append(matched(truth.topics, found.components)[1].mean())
    assert errors[0] / 8 < errors[1] < errors[0] / 2.5  # by 4, if it falls as 1 / sqrt(n)


def test_several_words_have_the_harmonic_mean_of_their_rows():
    X = np.array([[1, 1, 2, 0, 0], [1, 1, 0, 1, 0], [0, 1, 3, 0, 1], [0, 1, 1, 0, 1]])
    pairs = PairMoment.of_bags(BagMoments(X))
    Q = pairs.rows(0, 5).toarray()
    p = Q.sum(axis=1)
    rows = Q / p[:, None]
    one, both, apart = anchor_rows(pairs, p, [[2], [0, 1], [3, 4, 0]]).T
    assert np.allclose(one, rows[2])
    shared = np.array([0 if min(x) <= 0 else 2 / (1 / x).sum() for x in rows[:2].T])
    assert np.allclose(both, shared / shared.sum())
    assert np.allclose(apart.sum(), 1)


def test_words_that_share_nothing_have_the_mean():
    X = np.array([[1, 1, 0, 0], [0, 0, 1, 1]])
    pairs = PairMoment.of_bags(BagMoments(X))
    (row,) = anchor_rows(pairs, np.full(4, 0.25), [[0, 2]]).T
    assert np.allclose(row, [0, 0.5, 0, 0.5])


def test_more_given_anchors_than_the_pairs_support():
    X = np.tile([[2, 2, 0, 0], [0, 0, 2, 2]], (20, 1))
    found = anchor_topics(X, 4, given=[[0], [1], [2]], n_refits=0)
    assert len(found.weights) == 3
    assert np.isfinite(found.components).all()
    assert np.allclose(found.components.sum(axis=1), 1)


def test_bad_input():
    X = np.array([[2, 1, 0], [1, 2, 0], [0, 0, 1]])
    with pytest.raises(ParameterError, match="shares no document with another word"):
        anchor_topics(X, 1, given=[[2]])
    with pytest.raises(ParameterError, match="no word is left that may be an anchor"):
        anchor_topics(X, 1, excluded=[0, 1, 2])
