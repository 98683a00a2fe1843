"""Topics of two views from moments: exact for those of a model, and consistent for samples."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from eigentext.moments.bags import BagMoments
from eigentext.moments.second_views import SecondView
from eigentext.topics.two_view_tensor import two_view_tensor


class Model:
    """The moments of a model: words mu, second view with the means nu."""

    def __init__(self, K=5, d=40, q=9, seed=0, words=False):
        rng = np.random.default_rng(seed)
        self.w = rng.dirichlet(np.full(K, 5.0))
        self.mu = rng.dirichlet(np.full(d, 0.2), K)
        self.nu = rng.dirichlet(np.full(q, 0.4), K) if words else rng.normal(size=(K, q))
        self.mean = self.w @ self.mu

    def pairs_times(self, B):
        return self.mu.T @ (self.w[:, None] * (self.mu @ B))

    def triples(self, W, P=None):
        y = self.mu @ W
        return np.einsum("k,ki,kj,kl->ijl", self.w, y, y, y if P is None else self.nu @ P)

    def cross(self, B):
        return self.mu.T @ (self.w[:, None] * (self.nu @ B))

    def cross_back(self, B):
        return self.nu.T @ (self.w[:, None] * (self.mu @ B))

    def sample(self, n, length, noise, seed):
        rng = np.random.default_rng(seed)
        h = rng.choice(len(self.w), n, p=self.w)
        counts = np.array([rng.multinomial(length, self.mu[k]) for k in h])
        return counts, self.nu[h] + noise * rng.normal(size=(n, self.nu.shape[1]))


def _errors(found, model):
    distances = np.abs(found.components[:, None] - model.mu).sum(axis=2)
    i, k = linear_sum_assignment(distances)
    return (
        distances[i, k].max(),
        np.abs(found.second[i] - model.nu[k]).max(),
        np.abs(found.weights[i] - model.w[k]).max(),
    )


@pytest.mark.parametrize("words", [True, False])
@pytest.mark.parametrize(("K", "d"), [(1, 6), (2, 6), (5, 40), (8, 700)])
def test_population_moments_give_the_exact_topics(K, d, words):
    model = Model(K, d, q=9, words=words)
    found = two_view_tensor(model, model, K)
    assert max(_errors(found, model)) < 1e-8
    assert found.residual < 1e-8
    assert found.is_sound.all()


@pytest.mark.parametrize("seed", range(3))
def test_any_seed_gives_the_same_topics(seed):
    model = Model()
    assert max(_errors(two_view_tensor(model, model, 5, random_state=seed), model)) < 1e-8


def test_more_topics_than_the_rank_are_not_invented():
    model = Model(3, 40)
    found = two_view_tensor(model, model, 6)
    assert len(found.weights) == 3
    assert max(_errors(found, model)) < 1e-8


def test_a_view_without_information_does_no_harm():
    model = Model(4, 40)
    model.nu = np.tile(model.nu[0], (4, 1))
    assert max(_errors(two_view_tensor(model, model, 4), model)) < 1e-8


@pytest.mark.parametrize("seed", range(2))
def test_samples_recover_topics_at_the_rate_of_the_square_root(seed):
    model = Model(3, 12, q=4, seed=seed + 10)

    def error(n):
        found = []
        for draw in range(4):
            counts, rows = model.sample(n, 20, 0.5, draw)
            bags = BagMoments(counts)
            rows = np.column_stack([np.ones(n), rows])
            view = SecondView(bags, rows, np.ones(n, bool))
            answer = two_view_tensor(bags, view, 3)
            found.append(_errors(answer._replace(second=answer.second[:, 1:]), model))
        return np.mean(found, axis=0)

    few, many = error(1000), error(16_000)
    assert (many < 0.5 * few).all()  # four times less, up to chance
    assert many.max() < 0.15
