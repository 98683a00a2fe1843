"""EM for topics: the likelihood never falls, posteriors are exact, topics approach the truth."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config
from scipy.special import gammaln
from threadpoolctl import threadpool_limits

from eigentext import engine
from eigentext.errors import CorpusError
from eigentext.topics import em
from eigentext.topics.content import by_key, column_keys, document_keys, word_keys
from eigentext.topics.em import _Sampler, refine_lda, refine_mixture

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="slow")


def ones(X):
    return np.ones(X.shape[0], np.int64)


def keys_of(X):
    words = column_keys(X.shape[1])
    return document_keys(X, words), words


def perturbed(truth, seed=0):
    """Return topics that are as far from the truth as the moments of few documents."""
    rng = np.random.default_rng(seed)
    noisy = truth.topics * rng.lognormal(0, 0.4, truth.topics.shape)
    noisy /= noisy.sum(axis=1, keepdims=True)
    return 0.8 * noisy + 0.2 * truth.mean


def distances(one, other):
    """Return the L1 distance of each topic. A start near the truth keeps its order."""
    return np.abs(one - other).sum(axis=1)


# --- one topic per document -----------------------------------------------------------------------


def log_likelihood(X, times, w, phi):
    """Return the log-likelihood of documents as sequences of words."""
    chances = [w @ np.prod(phi**row, axis=1) for row in X.toarray()]
    return times @ np.log(chances)


def test_the_mixture_ends_when_it_gains_nothing():
    X = sp.csr_array([[3, 3, 0, 0], [0, 0, 3, 3]])
    start = np.array([[0.4, 0.4, 0.1, 0.1], [0.1, 0.1, 0.4, 0.4]])
    found = refine_mixture(X, ones(X), np.full(2, 0.5), start, n_steps=50, smoothing=0.0)
    assert len(found.perplexities) < 10
    assert found.perplexities[-1] == pytest.approx(2 * 2 ** (1 / 6))


@settings(max_examples=20)
@given(st.integers(0, 1000), st.sampled_from([0.0, 0.1, 2.0]))
def test_every_step_of_the_mixture_rises(seed, smoothing):
    rng = np.random.default_rng(seed)
    X = sp.csr_array(rng.poisson(0.6, (25, 8)))
    times, w, phi = rng.integers(1, 4, 25), rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(8), 3)
    values = []
    for n_steps in range(1, 7):
        found = refine_mixture(X, times, w, phi, n_steps=n_steps, smoothing=smoothing, tol=-1.0)
        value = log_likelihood(X, times, found.weights, found.components)
        if smoothing:
            value += smoothing * np.log(found.components).sum()
        values.append(value)
        assert len(found.perplexities) == n_steps
        assert np.allclose(found.components.sum(axis=1), 1)
        assert found.weights.sum() == pytest.approx(1)
    assert (np.diff(values) >= -1e-9 * np.abs(values[1:])).all()


def test_perplexities_of_the_mixture(random_topics):
    truth = random_topics(3, 20)
    X, times = truth.draw(40, 6), np.arange(1, 41)
    start = perturbed(truth)
    found = refine_mixture(X, times, truth.weights, start, n_steps=3, smoothing=0.0, tol=-1.0)
    two = refine_mixture(X, times, truth.weights, start, n_steps=2, smoothing=0.0, tol=-1.0)
    n_tokens = times @ X.sum(axis=1)
    expected = np.exp(-log_likelihood(X, times, two.weights, two.components) / n_tokens)
    assert found.perplexities[2] == pytest.approx(expected, rel=1e-12)
    assert found.perplexities[:2] == two.perplexities
    assert found.perplexities == sorted(found.perplexities, reverse=True)


def test_topics_apart_are_a_fixed_point(monkeypatch):
    """If each document certainly has one topic, one step gives the frequencies of words."""
    monkeypatch.setattr(em, "_UNIFORM", 0.0)
    X = sp.csr_array(np.array([[3, 1, 0, 0], [1, 1, 0, 0], [0, 0, 2, 6], [4, 2, 0, 0]]))
    topics, weights = np.array([[2 / 3, 1 / 3, 0, 0], [0, 0, 0.25, 0.75]]), np.array([0.75, 0.25])
    found = refine_mixture(X, ones(X), weights, topics, n_steps=3, smoothing=0.0, tol=-1.0)
    assert np.allclose(found.components, topics, rtol=0, atol=1e-15)
    assert np.allclose(found.weights, weights, rtol=0, atol=1e-15)
    copies = refine_mixture(
        X, np.array([1, 2, 5, 1]), weights, topics, n_steps=1, smoothing=0.0, tol=-1.0
    )
    assert np.allclose(copies.weights, [4 / 9, 5 / 9])
    assert np.allclose(copies.components[0], [9 / 14, 5 / 14, 0, 0])


def test_the_end_of_em_is_a_fixed_point(random_topics):
    truth = random_topics(3, 12)
    X = truth.draw(60, 40)
    end, one_more = (
        refine_mixture(X, ones(X), truth.weights, truth.topics, n_steps=n, smoothing=0.5, tol=-1.0)
        for n in (60, 61)
    )
    assert np.allclose(one_more.components, end.components, rtol=0, atol=1e-10)
    assert np.allclose(one_more.weights, end.weights, rtol=0, atol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_the_mixture_is_recovered(random_topics, seed):
    truth = random_topics(4, 40, seed=seed)
    X = truth.draw(4000, 30, seed)
    start = perturbed(truth, seed)
    found = refine_mixture(X, ones(X), np.full(4, 0.25), start, n_steps=30, smoothing=0.1, tol=-1.0)
    assert distances(start, truth.topics).min() > 0.2
    assert distances(found.components, truth.topics).max() < 0.06
    assert np.abs(found.weights - truth.weights).max() < 0.03


def test_a_topic_that_loses_all_documents():
    """Without smoothing, a topic without tokens does not change and has no weight."""
    X = sp.csr_array(np.array([[900, 0], [800, 0]]))
    found = refine_mixture(
        X, ones(X), np.full(2, 0.5), np.eye(2), n_steps=4, smoothing=0.0, tol=-1.0
    )
    assert np.allclose(found.weights, [1, 0])
    assert np.allclose(found.components.sum(axis=1), 1)
    assert np.allclose(found.components[0], [1, 0])


def test_mixtures_of_one_topic_and_empty_rows():
    X = sp.csr_array(np.array([[2, 1, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0]]))
    topics = np.full((1, 3), 1 / 3)
    found = refine_mixture(X, ones(X), np.ones(1), topics, n_steps=2, smoothing=0.0, tol=-1.0)
    assert np.allclose(found.components, [[0.75, 0.25, 0]])
    assert found.perplexities[0] == pytest.approx(3)
    two = refine_mixture(
        X, ones(X), np.full(2, 0.5), np.eye(2, 3), n_steps=5, smoothing=0.1, tol=-1.0
    )
    assert np.isfinite(two.components).all()
    assert two.weights.sum() == pytest.approx(1)


# --- the sampler ----------------------------------------------------------------------------------


def exact_posterior(words, phi, alpha):
    """Return p(z_i = k | words), shape (n, K), as a sum over all z without proportions."""
    K, posterior = len(alpha), np.zeros((len(words), len(alpha)))
    for z in product(range(K), repeat=len(words)):
        m = np.bincount(z, minlength=K)
        chance = np.exp((gammaln(m + alpha) - gammaln(alpha)).sum())
        chance *= np.prod([phi[k, w] for k, w in zip(z, words)])
        for i, k in enumerate(z):
            posterior[i, k] += chance
    return posterior / posterior.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("words", [[0], [0, 0, 1], [0, 1, 2, 2, 3]])
def test_expected_counts_are_those_of_the_exact_posterior(words):
    """Return the mean over many sweeps of a document that occurs many times."""
    rng = np.random.default_rng(len(words))
    phi, alpha = rng.dirichlet(np.full(4, 0.5), 3), np.array([0.2, 0.5, 0.1])
    expected = np.zeros((4, 3))
    np.add.at(expected, words, exact_posterior(words, phi, alpha))
    row = np.bincount(words, minlength=4)
    copies = sp.csr_array(np.tile(row, (3000, 1)))
    for X, times, n_sweeps in (
        (copies, np.ones(3000, np.int64), 15),
        (copies[:500], np.full(500, 6), 90),
    ):
        sampler, total = _Sampler(X, times, phi, alpha, 0), np.zeros((4, 3))
        for _ in range(5):
            sampler.sweep(phi, alpha, keep=False)
        for _ in range(n_sweeps):
            total += sampler.sweep(phi, alpha)[0]
        # 45,000 correlated draws have a standard deviation of about 0.005.
        assert np.allclose(total / (3000 * n_sweeps), expected, rtol=0, atol=0.025)


def test_expected_counts_sum_to_the_tokens(random_topics):
    truth = random_topics(5, 30, 1.0)
    X = truth.draw(200, 20)
    times = np.random.default_rng(0).integers(1, 5, 200)
    sampler = _Sampler(X, times, truth.topics, truth.weights, 0)
    expected, _ = sampler.sweep(truth.topics, truth.weights)
    assert expected.shape == (30, 5)
    assert expected.dtype == np.float64
    assert np.allclose(expected.sum(axis=1), times @ X, rtol=1e-5)
    assert expected.sum() == pytest.approx(20 * times.sum(), rel=1e-6)
    none, perplexity = sampler.sweep(truth.topics, truth.weights, keep=False)
    assert len(none) == 0
    assert 1 < perplexity < 30


def test_first_topics_are_drawn_by_what_fits_the_document():
    X = sp.csr_array(np.array([[50, 0, 0], [0, 0, 50], [25, 0, 25]]))
    phi = np.array([[0.98, 0.01, 0.01], [0.01, 0.01, 0.98]])
    topics = _Sampler(X, ones(X), phi, np.array([0.1, 0.1]), 0).topics
    assert (topics[:50] == 0).mean() > 0.95
    assert (topics[50:100] == 1).mean() > 0.95
    words = np.repeat(by_key(X, column_keys(3)).indices[2:], 25)  # tokens are in this order
    assert (topics[100:][words == 0] == 0).mean() > 0.8
    assert (topics[100:][words == 2] == 1).mean() > 0.8


# --- LDA ------------------------------------------------------------------------------------------


def refined(X, start, *, times=None, weights=None, **options):
    defaults = {"alpha0": 1.0, "n_steps": 30, "smoothing": 0.1}
    weights = np.full(len(start), 1 / len(start)) if weights is None else weights
    times = ones(X) if times is None else times
    return refine_lda(X, times, weights, start, **defaults | options)


def plsa(X, phi, n_steps):
    """EM with point estimates of proportions."""
    X = X.toarray()
    theta = np.full((len(X), len(phi)), 1 / len(phi))
    for step in range(10 + n_steps):
        ratios = X / (theta @ phi)
        left, right = theta * (ratios @ phi.T), phi * (theta.T @ ratios)
        theta = left / left.sum(axis=1, keepdims=True)
        if step >= 10:
            phi = right / right.sum(axis=1, keepdims=True)
    return phi


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("concentration", [0.1, 1.0])
def test_lda_stays_at_the_truth_and_comes_nearer(random_topics, concentration, seed):
    """The topics are flat (1.0), so that point estimates move away from them."""
    truth = random_topics(5, 100, 1.0, seed, concentration)
    X = truth.draw(3000, 60, seed)
    start = perturbed(truth, seed)
    near = refined(X, truth.topics, weights=truth.weights)
    nearer = refined(X, start, weights=truth.weights)
    noise = distances(near.components, truth.topics).mean()
    before, after = (distances(topics, truth.topics) for topics in (start, nearer.components))
    # If the topic of each token were known, it would be about 0.02 and 0.04.
    assert noise < (0.04 if concentration < 1 else 0.075)
    assert before.mean() > 0.25
    assert after.mean() < 0.35 * before.mean()
    assert (after < 0.6 * before).all()
    assert np.abs(near.weights - truth.weights).max() < 0.03
    assert np.abs(nearer.weights - truth.weights).max() < 0.04
    if concentration == 1.0:
        biased = distances(plsa(X, truth.topics, 10), truth.topics).mean()
        assert noise < 0.6 * biased


def test_perplexities_fall(random_topics):
    truth = random_topics(5, 100, 1.0)
    X = truth.draw(2000, 40)
    found = refined(X, perturbed(truth))
    history = np.array(found.perplexities)
    assert history[-1] < 0.97 * history[0]
    assert (history[1:] < 1.003 * history[:-1]).all()
    at_truth = refined(X, truth.topics, weights=truth.weights)
    assert history[-1] == pytest.approx(at_truth.perplexities[-1], rel=0.01)


def test_steps_end_when_they_gain_little(random_topics):
    truth = random_topics(3, 30, 1.0)
    X = truth.draw(500, 30)
    many = refined(X, truth.topics, n_steps=100)
    assert len(many.perplexities) < 30
    assert len(refined(X, truth.topics, n_steps=100, tol=-1.0).perplexities) == 100
    assert len(refined(X, truth.topics, n_steps=3).perplexities) == 3


def test_one_step(random_topics):
    truth = random_topics(3, 30, 1.0)
    X = truth.draw(500, 30)
    found = refined(X, truth.topics, n_steps=1, smoothing=0.0)
    assert len(found.perplexities) == 1
    assert np.allclose(found.components.sum(axis=1), 1)
    assert found.weights.sum() == pytest.approx(1)
    # The counts are those of one sweep, so the mean of topics is the frequency of words.
    assert np.allclose(found.weights @ found.components, X.sum(axis=0) / X.sum(), rtol=1e-4)


def test_times_are_copies(random_topics):
    """The draws differ, but the answers are the same up to noise."""
    truth = random_topics(4, 40, 1.0)
    X = truth.draw(1500, 40)
    words = np.argsort(-truth.topics[0])[:4]
    times = 1 + X[:, words].sum(axis=1)  # documents of the first topic count more
    once = refined(X, truth.topics, times=times)
    copies = refined(X[np.repeat(np.arange(1500), times)], truth.topics)
    assert distances(once.components, copies.components).max() < 0.035
    assert np.abs(once.weights - copies.weights).max() < 0.01
    assert once.perplexities[-1] == pytest.approx(copies.perplexities[-1], rel=0.005)
    assert np.abs(once.weights - refined(X, truth.topics).weights).max() > 0.1


def test_same_bits_on_any_number_of_threads(random_topics):
    """There are 20,000 documents, because BLAS uses threads only for long sums."""
    truth = random_topics(3, 50, 1.0)
    X = truth.draw(20_000, 8)
    times = np.random.default_rng(0).integers(1, 5, 20_000)
    start = (truth.weights, perturbed(truth))
    results, mixtures = [], []
    for threads in (1, 2, 8):
        with (
            engine.use(engine.ThreadEngine(threads)),
            threadpool_limits(limits=threads, user_api="blas"),
        ):
            options = {"n_steps": 3, "smoothing": 0.1}
            results.append(refine_lda(X, times, *start, alpha0=1.0, random_state=4, **options))
            mixtures.append(refine_mixture(X, times, *start, **options))
    for found in (results, mixtures):
        for other in found[1:]:
            assert np.array_equal(other.components, found[0].components)
            assert np.array_equal(other.weights, found[0].weights)
            assert other.perplexities == found[0].perplexities
    another = refine_lda(X, times, *start, alpha0=1.0, random_state=5, n_steps=3, smoothing=0.1)
    assert not np.array_equal(another.components, results[0].components)
    assert distances(another.components, results[0].components).max() < 0.1


def test_a_document_draws_alike_in_any_company(random_topics):
    """Its place, other documents, other columns and their order do not matter."""
    truth = random_topics(4, 30, 1.0)
    X, alpha, names = truth.draw(80, 25), np.full(4, 0.25), word_keys([f"w{i}" for i in range(30)])
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(80)[:50], rng.permutation(30)

    def topics_of(X, phi, names):
        sampler = _Sampler(X, ones(X), phi, alpha, 3, names)
        for _ in range(3):
            sampler.sweep(phi, alpha)
        return np.split(sampler.topics, np.cumsum(X.sum(axis=1).astype(int))[:-1])

    whole = topics_of(X, truth.topics, names)
    part = topics_of(X[rows][:, columns], truth.topics[:, columns], names[columns])
    assert all(np.array_equal(drawn, whole[row]) for drawn, row in zip(part, rows, strict=True))
    assert any(not np.array_equal(drawn, whole[i]) for i, drawn in enumerate(part))


def test_the_order_of_documents_leaves_only_rounding(random_topics):
    truth = random_topics(4, 30, 1.0)
    X, order = truth.draw(300, 25), np.random.default_rng(0).permutation(300)
    found, moved = (refined(counts, truth.topics, n_steps=3) for counts in (X, X[order]))
    assert np.allclose(found.components, moved.components, rtol=1e-3, atol=1e-5)


def test_one_topic():
    X = sp.csr_array(np.array([[2, 1, 0, 0], [1, 0, 0, 3]]))
    times, topics = np.array([1, 2]), np.array([[0.4, 0.3, 0.2, 0.1]])
    found = refined(X, topics, times=times, smoothing=0.0)
    assert np.allclose(found.components, [[4 / 11, 1 / 11, 0, 6 / 11]])
    assert found.weights.tolist() == [1.0]
    lifted = 0.99 * topics[0] + 0.01 / 4
    expected = np.exp(-(np.array([4, 1, 0, 6]) @ np.log(lifted)) / 11)
    assert found.perplexities[0] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("alpha0", [1.0, 1e-3, 1e-9, 1e-50])
@pytest.mark.parametrize("smoothing", [0.1, 0.0])
def test_documents_of_one_word(alpha0, smoothing):
    """The prior alone decides their topics, even if it is very small."""
    X = sp.csr_array(np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]]))
    start = np.array([[0.9, 0.1, 0.0], [0.0, 0.1, 0.9]])
    found = refined(X, start, alpha0=alpha0, smoothing=smoothing)
    assert np.isfinite(found.components).all()
    assert np.allclose(found.components.sum(axis=1), 1)
    assert found.weights.sum() == pytest.approx(1)
    assert all(1 <= perplexity < 4 for perplexity in found.perplexities)


def test_empty_rows_change_nothing(random_topics):
    truth = random_topics(3, 20, 1.0)
    X = truth.draw(50, 20)
    nothing = sp.csr_array((6, 20), dtype=X.dtype)
    expected = refined(X, truth.topics)
    for more in (sp.vstack([X, nothing], "csr"), sp.vstack([nothing, X], "csr")):
        found = refined(more, truth.topics)
        assert np.allclose(found.components, expected.components, rtol=1e-3, atol=1e-5)
        assert found.perplexities == pytest.approx(expected.perplexities)


def test_fractions_are_rounded_up(random_topics):
    truth = random_topics(3, 20, 1.0)
    X = truth.draw(50, 20)
    less = X - 0.4 * (X > 0)
    sampler = _Sampler(less, ones(X), truth.topics, truth.weights, 0)
    assert np.array_equal(sampler._lengths, X.sum(axis=1))
    expected, _ = sampler.sweep(truth.topics, truth.weights)
    assert np.allclose(expected.sum(axis=1), X.sum(axis=0), rtol=1e-5)
    tiny = _Sampler(0.01 * X, ones(X), truth.topics, truth.weights, 0)
    assert np.array_equal(tiny._lengths, (X > 0).sum(axis=1))
    assert np.isfinite(refined(less, truth.topics).components).all()


def test_a_topic_that_the_moments_gave_nothing_is_not_dead(random_topics):
    truth = random_topics(3, 30, 1.0)
    X = truth.draw(1000, 40)
    found = refined(X, truth.topics, weights=np.array([0.5, 0.5, 0.0]))
    assert found.weights.min() > 0.1
    assert distances(found.components, truth.topics).max() < 0.15


def test_words_that_the_moments_gave_nothing_are_not_lost(random_topics):
    """EM cannot leave a zero, so it does not start with one."""
    truth = random_topics(3, 30, 1.0)
    X = truth.draw(1000, 40)
    start = np.where(truth.topics > 0.05, truth.topics, 0)
    start /= start.sum(axis=1, keepdims=True)
    found = refined(X, start)
    assert (start == 0).any()
    assert distances(found.components, truth.topics).max() < 0.2


def test_of_very_long_documents_some_tokens_are_enough(random_topics):
    """Sums do not change, those of a word in expectation. Shorter documents stay complete."""
    truth = random_topics(3, 20, 1.0)
    long, short = 10_000_000 * truth.draw(3, 40), truth.draw(5, 40)
    long[[0], long[[0]].indices[:1]] = (
        7  # a rare word: mostly none of it is left, or it counts more
    )
    X = sp.vstack([long, short], "csr")
    kept = np.zeros(X.shape)
    for seed in range(20):
        tokens, times = em._thinned(X, 2 * ones(X), *keys_of(X), seed)
        drawn = sp.csr_array((tokens, X.indices, X.indptr), X.shape)
        assert drawn.sum() <= 3 * (em._LONGEST + 20) + short.sum()
        assert np.allclose(times * drawn.sum(axis=1), 2 * X.sum(axis=1))
        assert np.array_equal(drawn[3:].toarray(), short.toarray())
        kept += times[:, None] * drawn.toarray() / 40
    assert np.allclose(kept, X.toarray(), rtol=1e-3, atol=300)
    same = em._thinned(short, ones(short), *keys_of(short), 0)
    assert np.array_equal(same[0], short.data)
    assert same[1].dtype == np.int64


def test_long_documents_teach_what_their_shares_do(random_topics):
    truth = random_topics(3, 20, 1.0)
    X = truth.draw(6, 3000)
    start, settings = perturbed(truth), {"alpha0": 1.0, "n_steps": 1, "smoothing": 0.0}
    one = refine_lda(X, 1000 * ones(X), truth.weights, start, **settings)
    other = refine_lda(1000 * X, ones(X), truth.weights, start, **settings)
    assert distances(one.components, other.components).max() < 0.02


def test_too_little_memory_is_an_error_before_it_is_used():
    with pytest.raises(CorpusError, match=r"keeps a topic .*: 12000000 GB, and this"):
        em._check_room(10**15)
