"""The averaged perceptron: a run by hand, means after each pass, and the bound of Collins."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from eigentext import engine
from eigentext.monitor import HeldOut
from eigentext.tagging import perceptron
from eigentext.tagging.features import EncodedSentences
from eigentext.tagging.perceptron import Epoch, mean_of_runs
from eigentext.tagging.weights import TrainingProblem, Weights

NO_PLACES, NO_WIDTHS = np.empty((0, 3), np.int64), np.empty(0, np.int64)


class InOrder:
    """A random number generator for runs by hand. It keeps the order."""

    bit_generator = SimpleNamespace(state=None)

    def permutation(self, n):
        return np.arange(n)


def encoded(sentences):
    """Sentences as lists of features of tokens."""
    borders = np.cumsum([0, *map(len, sentences)])
    features = np.array([f for one in sentences for f in one], np.int32)[:, None]
    nothing = np.empty((len(features), 0), np.int64)
    return EncodedSentences(borders, features, np.empty(0, np.float32), nothing)


def zeros(n_features, m):
    shapes = (n_features, m), (0, m), (m + 1, m), (m,)
    return Weights(*(np.zeros(shape, np.float32) for shape in shapes))


def train(sentences, gold, n_features, m=2, rng=None, **settings):
    settings = {"n_epochs": 10, "margin": 0.0} | settings
    gold = np.array(gold, np.int32)
    start = zeros(n_features, m)
    problem = TrainingProblem(encoded(sentences), NO_PLACES, NO_WIDTHS, gold, start)
    return perceptron.train(problem, rng=rng or InOrder(), **settings)


# Words x (0) and y (1), tags A and B: x is A, y is B, "x y" is A B. Done by hand:
#   step 0, x:   all is 0, and A, the first, is right
#   step 1, y:   A, wrong: start-B and y-B get 1, start-A and y-A get -1
#   step 2, x y: A A has -2, A B 0, B A 0, B B 2, wrong: start-A, x-A and A-B get 1, start-B, x-B
#                and B-B get -1
#   steps 3 to 5: no mistake, the end. The update of step 1 is in 5 of 6 steps, and that of
#   step 2 is in 4.
SENTENCES, GOLD = [[0], [1], [0, 1]], [0, 1, 0, 1]


def test_a_run_by_hand():
    means = []

    def score(weights):
        means.append(weights)
        return -len(means)

    held_out = HeldOut(score, pack=Weights._asdict, unpack=lambda parts: Weights(**parts))
    weights, epochs = train(SENTENCES, GOLD, 2, held_out=held_out)
    assert held_out.best is means[0]
    assert held_out.scores == [-1, -2]
    assert epochs == [Epoch(2, 2), Epoch(0, 0)]
    # No mistakes in the second pass, and none in the eight that would follow: 30 steps in all.
    np.testing.assert_allclose(weights.W, np.array([[28, -28], [-29, 29]]) / 30, rtol=1e-6)
    expected = np.array([[0, 28], [0, -28], [-29 + 28, 29 - 28]]) / 30
    np.testing.assert_allclose(weights.T, expected, rtol=1e-6)
    assert weights.D.shape == (0, 2)
    assert all(part.dtype == np.float32 for part in weights)
    assert len(means) == 2  # after the first pass: 2 steps of 3, and 1
    np.testing.assert_allclose(means[0].W, np.array([[1, -1], [-2, 2]]) / 3, rtol=1e-6)
    np.testing.assert_allclose(means[0].T, np.array([[0, 1], [0, -1], [-1, 1]]) / 3, rtol=1e-6)
    np.testing.assert_array_equal(means[1].W, weights.W)


def test_passes_are_no_more_than_asked_for():
    weights, epochs = train(SENTENCES, GOLD, 2, n_epochs=1)
    assert epochs == [Epoch(2, 2)]
    np.testing.assert_allclose(weights.W, np.array([[1, -1], [-2, 2]]) / 3, rtol=1e-6)


def test_a_margin_by_hand():
    # With a margin of 1, the x of step 0 is wrong: B has 1 more than A.
    weights, epochs = train([[0]], [0], 1, margin=1.0)
    # Then A is ahead by 4, which is more than the margin, and training ends.
    assert epochs == [Epoch(1, 1), Epoch(0, 0)]
    np.testing.assert_array_equal(weights.W, [[1, -1]])
    # With a margin of 5 it takes two mistakes; the mean of 1 and nine times 2 is 1.9.
    weights, epochs = train([[0]], [0], 1, margin=5.0)
    assert [epoch.n_wrong for epoch in epochs] == [1, 1, 0]
    np.testing.assert_allclose(weights.W, np.array([[1.9, -1.9]]), rtol=1e-6)


def test_forbidden_transitions_stay_forbidden_and_the_start_does_not_change():
    start = zeros(2, 2)
    start.T[0, 0] = -np.inf
    before = [part.copy() for part in start]
    gold = np.array([0, 1, 1, 0], np.int32)
    known = TrainingProblem(encoded([[0, 1], [1, 0]]), NO_PLACES, NO_WIDTHS, gold, start)
    weights, _ = perceptron.train(known, n_epochs=3, margin=0.0, rng=np.random.default_rng(0))
    assert (np.isinf(weights.T) == np.isinf(start.T)).all()
    assert np.isfinite(weights.W).all()
    for part, old in zip(start, before):
        np.testing.assert_array_equal(part, old)


def drawn(rng, n, n_features=5, m=3):
    """Sentences, and their best tags under random weights, with the distance to the next best."""
    W, T = rng.normal(size=(n_features, m)), rng.normal(size=(m + 1, m))
    sentences, gold, gaps = [], [], []
    while len(sentences) < n:
        words = rng.integers(0, n_features, rng.integers(1, 5)).tolist()
        scores = {}
        for tags in itertools.product(range(m), repeat=len(words)):
            before = (m, *tags)
            scores[tags] = sum(W[w, y] + T[a, y] for w, y, a in zip(words, tags, before))
        best, second = sorted(scores, key=lambda tags: -scores[tags])[:2]
        if scores[best] - scores[second] > 0.3:
            sentences.append(words)
            gold += best
            gaps.append(scores[best] - scores[second])
    return sentences, gold, min(gaps) / np.sqrt((W**2).sum() + (T**2).sum())


@pytest.mark.parametrize("seed", range(4))
def test_mistakes_are_bounded(seed):
    # Collins (2002), theorem 1: at most R^2 / gap^2 mistakes, where |Phi(y) - Phi(z)| <= R.
    rng = np.random.default_rng(seed)
    sentences, gold, gap = drawn(rng, 40)
    _, epochs = train(sentences, gold, 5, 3, rng=rng, n_epochs=1000)
    longest = max(map(len, sentences))
    assert epochs[-1] == (0, 0)
    assert 0 < sum(epoch.n_wrong for epoch in epochs) <= 2 * (2 * longest) ** 2 / gap**2


def test_the_generator_decides_the_order():
    rng = np.random.default_rng(0)
    sentences, gold, _ = drawn(rng, 40)
    runs = [
        train(sentences, gold, 5, 3, rng=np.random.default_rng(seed), n_epochs=2)
        for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(runs[0][0].W, runs[1][0].W)
    assert not np.array_equal(runs[0][0].W, runs[2][0].W)


def test_the_mean_of_runs_by_hand(monkeypatch):
    def weights(w: float) -> Weights:
        T = np.array([[w, -np.inf], [0, 0], [0, 0]], np.float32)
        parts = (np.full((1, 2), w), np.full((0, 2), w), T, np.zeros(2))
        return Weights(*(np.asarray(part, np.float32) for part in parts))

    runs = iter([weights(2), weights(6)])
    monkeypatch.setattr(perceptron, "train", lambda *_, **settings: (next(runs), []))
    known = encoded(SENTENCES), NO_PLACES, NO_WIDTHS, np.array(GOLD), zeros(2, 2)
    problem = TrainingProblem(*known)
    with engine.use(engine.ThreadEngine(1)):
        mean = mean_of_runs(
            weights(1), [np.random.default_rng(0)] * 2, problem, n_epochs=3, margin=0
        )
    np.testing.assert_array_equal(mean.W, [[3, 3]])
    np.testing.assert_array_equal(mean.T[0], [3, -np.inf])
    assert all(part.dtype == np.float32 for part in mean)
