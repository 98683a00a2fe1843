"""alpha0 and K from the data: exact from exact moments, recovered from samples."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import gammaln

import eigentext as et
from eigentext import DocumentMoments, TopicModel
from eigentext.errors import CorpusError, ParameterError
from eigentext.moments.bags import BagMoments
from eigentext.topics.choosing import (
    alpha0_of_moments,
    candidates,
    gain,
    improved_alpha,
    noise_level,
    perplexity_of,
    surprises,
)


def halves(X, seed=0):
    return np.random.default_rng(seed).random(X.shape[0]) < 0.5


@pytest.mark.parametrize("alpha0", [0.0, 0.1, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("K", [3, 5, 20])
def test_exact_moments_give_the_exact_alpha0(random_topics, K, alpha0):
    found = alpha0_of_moments(random_topics(K, 60, alpha0), K)
    assert found == pytest.approx(alpha0, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("K", [1, 2])
def test_few_topics_do_not_say_how_mixed_they_are(random_topics, K):
    assert alpha0_of_moments(random_topics(K, 30, 3.0), K) == 1.0


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("K", "alpha0"), [(5, 1.0), (10, 3.0)])
def test_alpha0_of_samples_comes_nearer(random_topics, K, alpha0, seed):
    truth = random_topics(K, 200, alpha0, seed)
    found = [alpha0_of_moments(BagMoments(truth.draw(n, 50, seed)), K) for n in (1000, 16_000)]
    errors = np.abs(np.log(np.array(found) / alpha0))
    assert errors[0] < 0.5
    assert errors[1] < 0.15


def log_likelihood(alpha, n, times):
    total = gammaln(alpha.sum()) - gammaln(n.sum(axis=1) + alpha.sum())
    return times @ (total + (gammaln(n + alpha) - gammaln(alpha)).sum(axis=1))


def test_every_step_of_alpha_raises_the_likelihood():
    rng = np.random.default_rng(0)
    truth = np.array([0.3, 1.0, 0.1])
    n = np.array([rng.multinomial(50, h) for h in rng.dirichlet(truth, 4000)])
    times, alpha, before = rng.integers(1, 3, 4000), np.ones(3), -np.inf
    for _ in range(5):
        alpha = improved_alpha(alpha, n, times, 1)
        assert log_likelihood(alpha, n, times) > before
        before = log_likelihood(alpha, n, times)
    assert np.allclose(improved_alpha(alpha, n, times, 300), truth, rtol=0.1)
    assert np.array_equal(improved_alpha(truth, np.zeros((2, 3)), np.ones(2), 3), truth)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("K", [5, 10, 20])
def test_directions_above_the_noise_are_topics(random_topics, K, seed):
    X = random_topics(K, 300, 1.0, seed, 0.1).draw(3000, 60, seed)
    level = noise_level(X, np.ones(3000, np.int64), halves(X))
    assert level.n_above == K
    assert (np.diff(level.eigenvalues) <= 0).all()


def test_words_without_documents_are_one_direction():
    X = sp.csr_array(np.random.default_rng(0).multinomial(40, np.full(80, 1 / 80), 2000))
    assert noise_level(X, np.ones(2000, np.int64), halves(X)).n_above == 1


def test_candidates():
    for n in range(1, 130):
        numbers = candidates(n)
        assert numbers[-1] == n
        assert numbers == sorted(set(numbers))
        assert 1 <= numbers[0] <= 3


def test_gains_are_paired():
    times = np.array([1, 2, 1])
    lengths = np.array([3.0, 5, 2])
    before, after = (np.array([9.0, 20, 5]), lengths), (np.array([6.0, 15, 3]), lengths)
    assert gain(before, after, times, 1)[0] == pytest.approx(15 / 15)
    assert gain(before, before, times, 2) == (0, 0)
    assert gain(before, after, times, 2)[0] == pytest.approx(0.5)
    saved = np.log(perplexity_of(before, times) / perplexity_of(after, times))
    assert gain(before, after, times, 1)[0] == pytest.approx(saved)


def test_surprises_of_the_truth_are_least(random_topics):
    truth, other = random_topics(4, 50, 1.0), random_topics(4, 50, 1.0, 1)
    X, times = truth.draw(200, 40), np.ones(200)
    found = [
        perplexity_of(surprises(X, one.topics, one.weights, one.weights, 0), times)
        for one in (truth, other)
    ]
    assert found[0] < found[1]
    lost, n = surprises(X, truth.topics, truth.weights, truth.weights, 0)
    assert (lost >= 0).all()
    assert 0.4 < n.sum() / X.sum() < 0.6


# --- in the model ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("K", "seed"), [(5, 0), (10, 1)])
def test_the_model_finds_both(random_topics, matched, tmp_path, K, seed):
    truth = random_topics(K, 300, 1.0, seed, 0.1)
    X = truth.draw(3000, 60, seed)
    model = TopicModel("auto", alpha0="moments", random_state=seed).fit(X)
    assert model.n_topics_ == K
    assert model.alpha0_ == pytest.approx(1, rel=0.25)
    assert model.diagnostics_["alpha0_of_moments"] == pytest.approx(1, rel=0.4)
    assert sum(model.diagnostics_["alpha"]) == pytest.approx(model.alpha0_)
    assert matched(truth.topics, model.components_)[1].max() < 0.25
    choice = model.diagnostics_["n_topics"]
    assert choice["n_above_noise"] == K
    assert choice["tried"][-1]["n_topics"] == K
    assert any(f"{K} directions above the noise" in one.line for one in model.findings())
    model.save(tmp_path / "model")
    assert et.load(tmp_path / "model").diagnostics_ == model.diagnostics_
    again = TopicModel("auto", alpha0="moments", random_state=seed).fit(X[::-1])
    assert np.array_equal(again.components_, model.components_)


def test_moments_alone_say_alpha0(random_topics):
    X = random_topics(5, 100, 2.0, 0, 0.1).draw(4000, 60)
    model = TopicModel(5, alpha0="moments", refine=0).fit(X)
    assert model.alpha0_ == model.diagnostics_["alpha0_of_moments"] == pytest.approx(2, rel=0.3)
    assert TopicModel(1, alpha0="moments").fit(X).n_topics_ == 1


@pytest.mark.parametrize("options", [{"method": "anchors"}, {"alpha0": 0}, {"refine": 0}])
def test_numbers_of_topics_by_other_methods(random_topics, options):
    alpha0 = options.get("alpha0", 0.3)
    X = random_topics(4, 100, alpha0, 0, 0.1).draw(1500, 60)
    assert TopicModel("auto", **options).fit(X).n_topics_ == 4


def test_too_few_documents_to_choose_by():
    texts = ["ham eggs ham cheese", "eggs cheese ham eggs", "goal team goal match"] * 4
    with pytest.raises(CorpusError, match=r"12 documents are too few .*n_topics=5"):
        TopicModel("auto").fit(texts)
    enough = [f"{text} {text.split()[i % 4]}" for i in range(10) for text in texts]
    assert TopicModel("auto").fit(enough).n_topics_ >= 1


@pytest.mark.parametrize(
    "wrong", [{"n_topics": "some"}, {"n_topics": 0}, {"n_topics": 2.5}, {"alpha0": "moment"},
              {"alpha0": ["moments", 1]}, {"alpha0": [1, "auto"]}, {"n_topics": True}]
)  # fmt: skip
def test_other_values_are_errors(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        TopicModel(**wrong).fit([[1, 2], [3, 4]])


def test_documents_are_not_changed():
    X = sp.csr_array(np.random.default_rng(0).poisson(0.5, (200, 30)))
    before = X.copy()
    moments = DocumentMoments.from_matrix(X)
    kept = moments.counts.copy()
    TopicModel("auto").fit_moments(moments)
    assert (before != X).nnz == 0
    assert (moments.counts != kept).nnz == 0


def test_copies_are_no_documents_to_choose_by():
    with pytest.raises(CorpusError, match=r"all but 1 of 60 documents are copies .*n_topics=5"):
        TopicModel("auto").fit(["ham eggs ham cheese"] * 60)
