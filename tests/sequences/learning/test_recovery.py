"""Parameters from operators, and from clusters of symbols."""

from itertools import permutations

import numpy as np
import pytest

from eigentext import NgramMoments
from eigentext.sequences.forms import Operators
from eigentext.sequences.learning import recovery
from eigentext.sequences.learning.recovery import clustered, recovered
from eigentext.sequences.learning.spectral import spectral_operators
from eigentext.sequences.learning.windows import Windows

SIZES = [(2, 10), (3, 10), (4, 20), (5, 20), (6, 30), (7, 40), (8, 50)]


def rng():
    return np.random.default_rng(0)


def distance(truth, found, m):
    """The largest difference of any parameter, under the best permutation of the states."""
    T, E, pi = truth.transition_, truth.emission_.T, truth.initial_
    costs = ((E[:, :, None] - found.emission[:, None, :]) ** 2).sum(axis=0)
    order = list(min(permutations(range(m)), key=lambda p: costs[range(m), p].sum()))
    return max(
        np.abs(E - found.emission[:, order]).max(),
        np.abs(T - found.transition[np.ix_(order, order)]).max(),
        np.abs(pi - found.initial[order]).max(),
    )


def assert_probabilities(found):
    for rows in (found.initial[None], found.transition, found.emission.T):
        assert (rows >= 0).all()
        assert np.allclose(rows.sum(axis=1), 1)


@pytest.mark.parametrize("scaling", ["cca", "none"])
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("m", "n"), SIZES)
def test_exact_moments_give_exact_parameters(random_hmm, m, n, seed, scaling):
    truth = random_hmm(m, n, seed)
    windows = Windows.of(truth.moments())
    model, _, _ = spectral_operators(windows, m, scaling=scaling)
    found, facts = recovered(model, windows, rng())
    assert distance(truth, found, m) < 1e-6
    assert facts["moved_to_simplex"] < 1e-6
    assert 0 < facts["eigenvalue_gap"] <= 2


def test_more_data_brings_parameters_nearer(clear_hmm):
    truth = clear_hmm(3, 9)
    distances = []
    for size in (500, 4000, 32_000):
        windows = Windows.of(NgramMoments.from_corpus(truth.sample(size, 10)))
        model, _, _ = spectral_operators(windows, 3)
        found, _ = recovered(model, windows, rng())
        assert_probabilities(found)
        assert (found.emission > 0).all()  # EM cannot leave a zero
        assert (found.transition > 0).all()
        distances.append(distance(truth, found, 3))
    assert distances[2] < 0.05
    assert distances[2] < distances[0] / 2


def test_operators_that_cannot_be_diagonalized():
    windows = Windows.of(NgramMoments.from_corpus([[0, 1, 0, 1]]))
    parts = {"start": np.array([1.0, 0]), "end": np.ones(2), "floors": np.zeros(2)}
    parts |= {"rows": np.eye(2), "after": np.eye(2)}
    none = Operators(**parts, places=np.full(2, -1, np.int32), operators=np.zeros((0, 2, 2)))
    assert recovered(none, windows, rng()) is None
    singular = np.ones((2, 2, 2))
    assert (
        recovered(Operators(**parts, places=np.arange(2), operators=singular), windows, rng())
        is None
    )


def test_complex_eigenvalues_are_no_exception():
    windows = Windows.of(NgramMoments.from_corpus([[0, 1, 0, 1, 1, 0, 0]]))
    turn = np.array([[0.5, -0.4], [0.4, 0.5]])
    model = Operators(
        start=np.array([0.6, 0.4]),
        end=np.ones(2),
        rows=np.array([[0.5, 0.5], [0.5, 0.5]]),
        after=np.array([[0.7, 0.3], [0.2, 0.8]]),
        places=np.arange(2),
        operators=np.stack([turn, turn.T]) / 2,
        floors=np.zeros(2),
    )
    found, facts = recovered(model, windows, rng())
    assert_probabilities(found)
    assert np.isfinite(facts["moved_to_simplex"])


def test_clusters_are_of_like_symbols(clear_hmm):
    truth = clear_hmm(3, 12)
    windows = Windows.of(NgramMoments.from_corpus(truth.sample(5000, 10)))
    _, profiles, _ = spectral_operators(windows, 3)
    found = clustered(profiles, windows, 3, rng())
    assert_probabilities(found)
    assert (found.emission > 0).all()
    # Symbols that one state mostly emits are mostly in one cluster.
    sure = truth.emission_.max(axis=0) / truth.emission_.sum(axis=0) > 0.95
    states = truth.emission_.argmax(axis=0)[sure]
    clusters = (found.emission / found.emission.sum(axis=0)).argmax(axis=1)[sure]
    assert len(set(zip(states.tolist(), clusters.tolist()))) == 3


def test_more_clusters_than_symbols():
    windows = Windows.of(NgramMoments.from_corpus([[0, 1, 0, 1, 1]]))
    found = clustered(np.array([[0.0], [1.0]]), windows, 4, rng())
    assert_probabilities(found)
    assert found.emission.shape == (2, 4)


# Steps.


def test_weights_of_known_distributions():
    E = np.array([[0.9, 0.2], [0.1, 0.3], [0.0, 0.5]])
    counts = 1e6 * E @ [0.3, 0.7]
    weights = np.array([0.5, 0.5])
    for _ in range(20):
        weights = recovery.mixture_weights(counts, E, weights)
    assert np.allclose(weights, [0.3, 0.7], atol=1e-6)
    gone = np.array([0.0, 0.0, 3.0])  # only the second distribution has that symbol
    assert np.allclose(recovery.mixture_weights(gone, E, np.array([0.5, 0.5])), [0, 1])


def test_on_the_simplex():
    rows, moved = recovery._on_simplex(np.array([[0.25, 0.75], [0.5, 0.5]]))
    assert rows.tolist() == [[0.25, 0.75], [0.5, 0.5]]
    assert moved == 0
    rows, moved = recovery._on_simplex(np.array([[1.1, -0.1], [0.5, 0.5]]))
    assert moved == pytest.approx(0.05)
    assert np.allclose(rows, [[0.975, 0.025], [0.5, 0.5]])
    rows, _ = recovery._on_simplex(np.array([[1.0, 0, 0]]), np.array([0, 1, 3]), blur=0.04)
    assert np.allclose(rows, [[0.96, 0.01, 0.03]])
    rows, _ = recovery._on_simplex(np.array([[-1.0, -1.0]]))  # no positive entry
    assert np.allclose(rows, 0.5)


def test_k_means_of_separate_points():
    draw = rng()
    centers = np.array([[0, 0], [10, 0], [0, 10]])
    points = np.repeat(centers, 20, axis=0) + draw.standard_normal((60, 2))
    distances = recovery._k_means(points, np.ones(60), 3, draw)
    nearest = distances.argmin(axis=1).reshape(3, 20)
    assert (nearest == nearest[:, :1]).all()
    assert sorted(nearest[:, 0]) == [0, 1, 2]
    for group, cluster in zip(points.reshape(3, 20, 2), nearest[:, 0]):
        expected = ((group - group.mean(axis=0)) ** 2).sum(axis=1)
        assert np.allclose(distances.reshape(3, 20, 3)[:, :, cluster].min(axis=0), expected)
