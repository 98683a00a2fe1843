"""Topics by anchor words: exact if every topic has an anchor, near the truth with large samples."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigentext import engine, load_dataset
from eigentext.errors import CorpusError, ParameterError
from eigentext.evaluate import completion_perplexity, distinct_words
from eigentext.factor import simplex_weights
from eigentext.moments import DocumentMoments
from eigentext.moments.bags import BagMoments
from eigentext.topics._anchor_loops import descend_divergences, descend_squares
from eigentext.topics.anchors import anchor_topics, topics_of_pairs
from eigentext.topics.corners import PairMoment, anchor_rows, in_span


@pytest.fixture(scope="session")
def anchored(random_topics):
    """``anchored(K, d, alpha0, seed)``: a random model whose words 0 to K - 1 are anchors."""

    def draw(K, d, alpha0=1.0, seed=0, concentration=0.3):
        truth = random_topics(K, d, alpha0, seed, concentration)
        topics = truth.topics.copy()
        topics[:, :K] = np.diag(np.random.default_rng(seed).uniform(0.02, 0.1, K))
        return truth._replace(topics=topics / topics.sum(axis=1, keepdims=True))

    return draw


def moment(truth):
    """Return the matrix Q."""
    return truth.pairs_times(np.eye(truth.topics.shape[1]))


def pair_mean(X, times=None):
    """Return the mean over documents of all pairs of distinct tokens, computed pair by pair."""
    times = np.ones(len(X)) if times is None else times
    total = np.zeros((X.shape[1], X.shape[1]))
    for document, weight in zip(X, times):
        if (n := document.sum()) >= 2:
            pairs = np.outer(document, document) - np.diag(document)
            total += weight * pairs / (n * (n - 1))
    return total / times[X.sum(axis=1) >= 2].sum()


# Exactness.


@pytest.mark.parametrize("alpha0", [0.0, 0.2, 1.0, 5.0])
@pytest.mark.parametrize("recovery", ["l2", "rows", "kl"])
@pytest.mark.parametrize(("K", "d"), [(1, 4), (2, 5), (4, 40), (10, 200)])
def test_exact_moments_give_exact_topics(anchored, matched, alpha0, recovery, K, d):
    for seed in range(2):
        truth = anchored(K, d, alpha0, seed)
        for n_refits in (0, 3):
            found = topics_of_pairs(
                PairMoment.of_matrix(moment(truth)), K, recovery=recovery, n_refits=n_refits
            )
            assert K == 1 or sorted(found.anchors) == list(range(K))
            order, errors = matched(truth.topics, found.components)
            # "kl" is minimized step by step, and only up to `tol`.
            near = 1e-4 if recovery == "kl" else 1e-8
            assert errors.max() < near
            assert np.abs(found.weights[order] - truth.weights).max() < near
            w = truth.weights
            R = (np.diag(w) + alpha0 * np.outer(w, w)) / (alpha0 + 1)
            assert np.abs(found.topic_topic[np.ix_(order, order)] - R).max() < near
            assert K == 1 or abs(found.alpha0 - alpha0) < 100 * near
            assert found.diagnostics["residual"] < near
            assert found.diagnostics["negative_topic_topic"] < near


def test_exact_for_a_moment_too_large_for_lapack(anchored, matched):
    truth = anchored(7, 900)
    found = topics_of_pairs(PairMoment.of_matrix(moment(truth)), 7)
    assert matched(truth.topics, found.components)[1].max() < 1e-8


def test_topics_without_anchors_take_refits(random_topics, matched):
    truth = random_topics(4, 200, 0.5, concentration=1.0)
    errors = [
        matched(
            truth.topics,
            topics_of_pairs(PairMoment.of_matrix(moment(truth)), 4, n_refits=n).components,
        )[1].max()
        for n in (0, 3, 30)
    ]
    assert errors[0] > 1.5 * errors[1] > 2 * errors[2]


def test_one_topic_is_the_mean():
    X = np.array([[2, 1, 0], [0, 1, 3]])
    found = anchor_topics(X, 1)
    assert np.allclose(found.components, [[1 / 3, 7 / 24, 3 / 8]])
    assert np.allclose(found.topic_topic, 1)
    assert np.isnan(found.alpha0)


# Samples.


@pytest.mark.parametrize("fractional", [False, True])
def test_pairs_of_bags_are_pairs_of_distinct_tokens(fractional):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.7, (30, 12)).astype(float)
    X[:3] = 0
    X[1, 4] = 1  # this document has no pair
    X = X * 1.5 if fractional else X
    times = rng.integers(1, 4, 30)
    Q = pair_mean(X, times)
    pairs = PairMoment.of_bags(BagMoments(sp.csr_array(X), times))
    B = rng.standard_normal((12, 5))
    assert np.allclose(pairs.times(B), Q @ B)
    rows = np.vstack([pairs.rows(i, j).toarray() for i, j in ((0, 5), (5, 6), (6, 12))])
    assert np.allclose(rows, np.maximum(Q, 0))
    long_enough = X.sum(axis=1) >= 2
    assert np.allclose(pairs.frequencies, times[long_enough] @ (X[long_enough] > 0))
    assert pairs.n_documents == times[long_enough].sum()
    assert pairs.work[-1] == sum((document > 0).sum() ** 2 for document in X)


@pytest.mark.parametrize("recovery", ["l2", "rows", "kl"])
def test_times_are_repetitions(anchored, recovery):
    X = anchored(3, 20).draw(60, 15).toarray()
    times = np.random.default_rng(0).integers(1, 4, 60)
    one = anchor_topics(X, 3, times=times, recovery=recovery, min_df=5)
    two = anchor_topics(np.repeat(X, times, axis=0), 3, recovery=recovery, min_df=5)
    assert np.array_equal(one.anchors, two.anchors)
    assert np.allclose(one.components, two.components, atol=1e-9)
    assert np.allclose(one.topic_topic, two.topic_topic, atol=1e-9)


@pytest.mark.parametrize("recovery", ["l2", "rows", "kl"])
def test_error_falls_with_documents(anchored, matched, recovery):
    truth = anchored(5, 60, 0.5)
    errors = []
    for n_documents in (1_000, 16_000):
        found = anchor_topics(truth.draw(n_documents, 50), 5, recovery=recovery)
        assert np.allclose(found.components.sum(axis=1), 1)
        assert np.allclose(found.weights.sum(), 1)
        assert np.allclose(found.topic_topic.sum(axis=1), found.weights)
        errors.append(matched(truth.topics, found.components)[1].mean())
    assert errors[0] < 0.2
    assert errors[1] < errors[0] / 2
    assert abs(found.alpha0 - 0.5) < 0.1


def test_refits_take_noise_out_of_the_corners(random_topics, matched):
    for seed in range(2):
        truth = random_topics(10, 500, 0.3, seed, concentration=0.1)
        X = truth.draw(4_000, 80)
        errors = [
            matched(truth.topics, anchor_topics(X, 10, n_refits=n).components)[1].mean()
            for n in (0, 3)
        ]
        assert errors[1] < 0.9 * errors[0]


# The weights of rows on corners.


def test_whole_rows_as_points_of_the_anchors_span(anchored):
    X = anchored(4, 30).draw(500, 20)
    pairs = PairMoment.of_bags(BagMoments(X))
    Q = pair_mean(X.toarray())
    p = Q.sum(axis=1)
    found = np.array([3, 0, 2, 1])
    rows = Q / p[:, None]
    of_anchors = anchor_rows(pairs, p, found[:, None])
    assert np.allclose(of_anchors, rows[found].T)
    points, corners = in_span(pairs, p, of_anchors)
    assert np.allclose(points[found], corners)
    assert np.allclose(
        simplex_weights(points, corners), simplex_weights(rows, rows[found]), atol=1e-7
    )


@pytest.mark.parametrize("recovery", ["l2", "rows"])
def test_gradient_nears_the_exact_answer(anchored, recovery):
    X = anchored(5, 60).draw(2_000, 40)
    exact = anchor_topics(X, 5, recovery=recovery)
    near = anchor_topics(X, 5, recovery=recovery, solver="gradient", n_iter=5000, tol=1e-8)
    assert near.diagnostics["gap"] <= 1e-8
    assert np.abs(near.components - exact.components).max() < 1e-4


def test_exponentiated_gradient_of_squares():
    rng = np.random.default_rng(0)
    corners = rng.standard_normal((6, 4))
    points = rng.standard_normal((50, 4))
    weights, gaps = np.full((50, 6), 1 / 6), np.full(50, np.nan)
    descend_squares(corners @ corners.T, points @ corners.T, weights, gaps, 3000, 1e-7, 10, 50)
    assert (weights[:10] == 1 / 6).all()
    assert np.allclose(weights.sum(axis=1), 1)
    assert (gaps[10:] <= 1e-7).all()

    def halves(y):
        return ((y @ corners - points) ** 2).sum(axis=1) / 2

    missing = (halves(weights) - halves(simplex_weights(points, corners)))[10:]
    assert (missing < gaps[10:] + 1e-12).all()


def slow_divergences(q, corners, n_iter=4000):
    """Return the weights with the least divergence for each row of q, by EM."""
    y = np.full((len(q), corners.shape[1]), 1 / corners.shape[1])
    for _ in range(n_iter):
        y *= (q / (y @ corners.T)) @ corners
        y /= y.sum(axis=1, keepdims=True)
    return y


def divergences_of(q, p):
    ratios = np.divide(q, p, out=np.ones_like(q), where=q > 0)
    return (q * np.log(ratios)).sum(axis=1)


@pytest.mark.parametrize("start", ["uniform", "corner"])
def test_exponentiated_gradient_of_divergences(start):
    rng = np.random.default_rng(0)
    corners = rng.dirichlet(np.full(25, 0.5), 5).T
    q = rng.multinomial(300, rng.dirichlet(np.full(5, 0.3), 40) @ corners.T) / 300.0
    Q = sp.csr_array(7 * q)
    weights = np.full((40, 5), 0.2) if start == "uniform" else np.tile(np.eye(5)[0], (40, 1))
    gaps, found = np.empty(40), np.empty(40)
    descend_divergences(Q.indptr, Q.indices, Q.data, corners, weights, gaps, found, 2000, 1e-7)
    assert np.allclose(weights.sum(axis=1), 1)
    assert gaps.max() <= 1e-7
    assert np.allclose(found, divergences_of(q, weights @ corners.T))
    least = divergences_of(q, slow_divergences(q, corners) @ corners.T)
    assert (found <= least + 1e-7).all()


def test_columns_that_no_corner_has_and_empty_rows_are_passed_over():
    corners = np.array([[0.5, 0.0], [0.5, 0.5], [0.0, 0.5], [0.0, 0.0]])
    Q = sp.csr_array([[1.0, 2.0, 1.0, 4.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 3.0, 0.0]])
    weights, gaps, found = np.full((3, 2), 0.5), np.empty(3), np.empty(3)
    descend_divergences(Q.indptr, Q.indices, Q.data, corners, weights, gaps, found, 300, 1e-6)
    assert np.allclose(weights[:2], 0.5)
    assert weights[2, 1] > 1 - 1e-5
    assert gaps[1] == found[1] == 0


def test_kl_ends_no_higher_than_it_began(anchored):
    X = anchored(5, 60).draw(2_000, 40)
    short, long = (anchor_topics(X, 5, recovery="kl", n_iter=n, tol=1e-6) for n in (1, 200))
    assert 0 < long.diagnostics["divergence"] < short.diagnostics["divergence"]
    assert long.diagnostics["gap"] < 1e-5 < short.diagnostics["gap"]


@pytest.mark.parametrize("recovery", ["l2", "rows", "kl"])
def test_same_bits_on_any_number_of_threads(anchored, recovery, monkeypatch):
    monkeypatch.setattr("eigentext.topics.anchors._PAIRS", 5_000)
    X = anchored(5, 600).draw(500, 40)
    results = []
    for threads in (1, 2, 5):
        with engine.use(engine.ThreadEngine(threads)):
            results.append(anchor_topics(X, 5, recovery=recovery, n_iter=5))
    for other in results[1:]:
        assert all(np.array_equal(one, two) for one, two in zip(results[0][:5], other[:5]))
        assert results[0].diagnostics == other.diagnostics


# Which words may be anchors.


def test_outlier_documents_make_no_topics(anchored, matched):
    truth = anchored(4, 50, 0.3)
    X = truth.draw(3_000, 30).toarray()
    outliers = np.zeros((6, 53), int)
    outliers[:, 50:] = 40  # six documents of three words that occur nowhere else
    X = np.vstack([np.pad(X, ((0, 0), (0, 3))), outliers])
    fooled = anchor_topics(X, 4, min_df=1)
    assert max(fooled.anchors) >= 50
    found = anchor_topics(X, 4)
    assert found.diagnostics["min_df"] == pytest.approx(0.004 * 3_006)
    assert max(found.anchors) < 50
    assert matched(truth.topics, found.components[:, :50])[1].mean() < 0.1


def test_min_df_counts_documents_or_shares():
    rng = np.random.default_rng(0)
    X = rng.poisson(np.geomspace(2, 0.05, 30), (200, 30))
    f = (X > 0).sum(axis=0)
    for min_df, least in ((40, 40), (40.0, 40), (0.2, 40), (1, 1), (0, f.min())):
        found = anchor_topics(X, 3, min_df=min_df)
        assert found.diagnostics["min_df"] == max(least, f.min())
        assert found.diagnostics["n_candidates"] == (f >= least).sum()
        assert (f[found.anchors] >= least).all()
    # The default is 0.4 % of the documents, or less if too few words would remain.
    X = np.tri(30, dtype=int)[::-1]
    X[:, :2] = 1  # any other word w occurs in 30 - w documents
    few, many = (anchor_topics(X, 2, times=np.append(np.ones(29), n)) for n in (71, 9971))
    assert few.diagnostics["min_df"] == pytest.approx(1)
    assert many.diagnostics["min_df"] == 11
    assert many.diagnostics["n_candidates"] == 20


def test_words_that_never_occur_or_only_alone():
    X = np.array([[2, 1, 0, 0, 0], [1, 2, 0, 0, 0], [0, 0, 2, 0, 2], [0, 0, 0, 1, 0]])
    found = anchor_topics(np.pad(X, ((0, 1), (1, 0))), 2)
    assert not found.components[:, [0, 4]].any()
    assert np.allclose(found.components.sum(axis=1), 1)


# Bad input.


def test_more_topics_than_there_are(anchored):
    truth = anchored(3, 30)
    found = topics_of_pairs(PairMoment.of_matrix(moment(truth)), 8)
    assert len(found.weights) == len(found.components) == len(found.anchors) == 3
    assert found.topic_topic.shape == (3, 3)
    assert len(anchor_topics(np.array([[1, 1, 0], [2, 1, 0]]), 3).weights) < 3


def test_bad_input(anchored):
    X = anchored(3, 30).draw(50, 10)
    with pytest.raises(ParameterError, match=r"3 topics, but only \d words .* lower min_df"):
        anchor_topics(X, 3, min_df=X.shape[0])
    with pytest.raises(ParameterError, match="1 or more, not 0"):
        anchor_topics(X, 0)
    with pytest.raises(ParameterError, match="'l2', 'rows' or 'kl'"):
        anchor_topics(X, 3, recovery="l1")
    with pytest.raises(ParameterError, match="'exact' or 'gradient'"):
        anchor_topics(X, 3, solver="newton")
    with pytest.raises(ParameterError, match="leave `times` out"):
        anchor_topics(BagMoments(X), 3, times=np.ones(50))
    with pytest.raises(CorpusError, match="row 1, column 0"):
        anchor_topics(np.array([[1.0, 2.0], [np.nan, 1.0]]), 1)
    with pytest.raises(CorpusError, match="two words"):
        anchor_topics(np.eye(4, dtype=int), 2)


# Real text.


def test_newswire(data_folder, monkeypatch):
    monkeypatch.setenv("EIGENTEXT_DATA", str(data_folder))
    texts = load_dataset("reuters", split="train").texts
    moments = DocumentMoments.from_corpus(texts[:2000], min_df=10, max_df=0.2, stop_words="english")
    words = moments.vocabulary.words
    found = anchor_topics(moments.counts, 20, times=moments.times)
    tops = [[words[w] for w in np.argsort(-topic)[:10]] for topic in found.components]
    assert distinct_words(tops) > 0.5
    assert any({"oil", "crude"} <= set(top) for top in tops)
    assert any({"shares", "stock"} <= set(top) for top in tops)
    unigrams = found.weights @ found.components
    scores = [
        completion_perplexity(topics, moments.counts).perplexity
        for topics in (found.components, unigrams[None])
    ]
    assert scores[0] < 0.7 * scores[1]
    assert min(found.separations) > 0
