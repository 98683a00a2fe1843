"""Learning from two views: what is refused, what is joined, and what the moments alone give."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from eigentext.corpus import Vocabulary
from eigentext.errors import CorpusError
from eigentext.topics.two_view_input import Words, standardized
from eigentext.topics.two_view_learning import check_views, learn_views


def words(counts):
    counts = sp.csr_array(counts)
    names = [str(k) for k in range(counts.shape[1])]
    vocabulary = Vocabulary(names, np.asarray(counts.sum(axis=0)))
    return Words(counts, vocabulary, {}, [], {}, int(counts.sum()))


def settings(**changes):
    given = {"n_topics": 3, "balance": 1.0, "refine": 20, "robust": 7.0, "smoothing": 0.1}
    return SimpleNamespace(**given | {"random_state": 0} | changes)


def sample(n=600, seed=0, length=15):
    rng = np.random.default_rng(seed)
    phi = np.kron(np.eye(3), np.full(4, 0.2)) + 0.2 / 12
    phi /= phi.sum(axis=1, keepdims=True)
    h = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    counts = np.array([rng.multinomial(length, phi[k]) for k in h])
    return counts, h, phi, rng


@pytest.mark.parametrize("refine", [0, 20])
@pytest.mark.parametrize("kind", ["words", "numbers"])
def test_topics_of_a_model_are_found(kind, refine):
    counts, h, phi, rng = sample(3000)
    if kind == "words":
        nu = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
        second = words(np.array([rng.multinomial(2, nu[k]) for k in h]))
    else:
        nu = rng.normal(size=(3, 5))
        second = standardized(nu[h] + rng.normal(size=(len(h), 5)))
    found = learn_views(words(counts), second, settings(refine=refine))
    assert np.allclose(found.weights, [0.5, 0.3, 0.2], atol=0.05)  # the largest first
    assert np.abs(found.first["components"] - phi).max() < 0.03
    if kind == "words":
        assert np.abs(found.second["components"] - nu).max() < 0.08
    else:
        means = second.center + found.second["means"] * second.spread
        assert np.abs(means - nu).max() < 0.3
    assert found.diagnostics["n_sound"] >= 3


def test_the_second_view_separates_topics_with_equal_words():
    """Without it, two of the three topics could not be told apart by few words."""
    counts, h, _, rng = sample(1500, length=4)
    second = standardized(4 * np.eye(3)[h] + rng.normal(size=(len(h), 3)))
    means = learn_views(words(counts), second, settings()).second["means"]
    gaps = np.linalg.norm(means[:, None] - means, axis=2)[np.triu_indices(3, 1)]
    assert gaps.min() > 1.5


def test_documents_without_two_words_and_a_second_view_are_refused():
    short = words(np.eye(4, dtype=int))
    with pytest.raises(CorpusError, match="two words or more"):
        check_views(short, standardized(np.arange(4.0)[:, None]))
    empty = words(np.array([[0, 0], [1, 0]]))
    with pytest.raises(CorpusError, match="second view"):
        check_views(words(np.array([[2, 2], [0, 0]])), empty)


def test_more_topics_than_the_rank_are_told_and_not_learned():
    counts = np.tile([[3, 2, 1], [1, 2, 3]], (20, 1))
    second = standardized(np.tile([[0.0], [1.0]], (20, 1)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = learn_views(words(counts), second, settings(n_topics=10, robust=0.0))
    assert len(found.weights) < 10
    assert any("support only" in str(one.message) for one in caught)
