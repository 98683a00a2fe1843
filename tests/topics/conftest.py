"""Random topic models, their exact moments, and documents drawn from them."""

from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist


class Truth(NamedTuple):
    """A topic model. With alpha0 = 0, each document has one topic."""

    weights: np.ndarray
    topics: np.ndarray
    alpha0: float

    @property
    def mean(self):
        return self.weights @ self.topics

    def pairs_times(self, B):
        """Return E[x1 x2'] B, from E[h h'] of the Dirichlet distribution."""
        w, a = self.weights, self.alpha0
        H = (np.diag(w) + a * np.outer(w, w)) / (a + 1)
        return self.topics.T @ (H @ (self.topics @ B))

    def triples(self, W):
        """Return E[x1 x2 x3](W, W, W), from E[h h h] of the Dirichlet distribution."""
        w, a, K = self.weights, self.alpha0, len(self.weights)
        H = np.zeros((K, K, K))
        for i in range(K):
            for j in range(K):
                for k in range(K):
                    # Each topic is drawn in proportion to a w + the number of its earlier draws.
                    H[i, j, k] = (
                        w[i]
                        * (a * w[j] + (i == j))
                        / (a + 1)
                        * (a * w[k] + (i == k) + (j == k))
                        / (a + 2)
                    )
        M = self.topics @ W
        return np.einsum("ijk,ia,jb,kc->abc", H, M, M, M, optimize=True)

    def draw(self, n_documents, length, seed=0):
        """Draw documents, and return a matrix of counts."""
        rng = np.random.default_rng(seed)
        if self.alpha0:
            h = rng.dirichlet(self.alpha0 * self.weights, n_documents)
        else:
            h = np.eye(len(self.weights))[
                rng.choice(len(self.weights), n_documents, p=self.weights)
            ]
        return sp.csr_array(rng.multinomial(length, h @ self.topics))


@pytest.fixture(scope="session")
def random_topics():
    """``random_topics(K, d, alpha0, seed)``: a model drawn at random."""

    def draw(K, d, alpha0=0.0, seed=0, concentration=0.3):
        rng = np.random.default_rng([K, d, seed])
        weights = rng.dirichlet(np.full(K, 5.0))
        return Truth(weights, rng.dirichlet(np.full(d, concentration), K), alpha0)

    return draw


@pytest.fixture(scope="session")
def matched():
    """``matched(truth, found)``: the found topic of each true one, and the L1 distances."""

    def match(truth, found):
        distances = cdist(truth, found, "cityblock")
        rows, columns = linear_sum_assignment(distances)
        assert (rows == np.arange(len(truth))).all()
        return columns, distances[rows, columns]

    return match
