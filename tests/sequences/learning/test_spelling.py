"""Features of spelling, and vectors of rare words that they predict."""

import numpy as np
import scipy.sparse as sp

from eigentext.sequences.learning.spelling import spelling_features, traits, with_spelling


def test_traits():
    assert traits("Walking") == ["capital", "-g", "-ng", "-ing"]
    assert traits("U.S.") == ["capital", "capitals", "-.", "-s."]
    assert traits("a") == [] and traits("?") == ["punctuation"]
    assert "digit" in traits("5th") and "hyphen" in traits("by-law")


def test_features_of_few_words_are_left_out():
    words = ["walking", "talking", "Singing", "ringing", "bringing", "walked"]
    F = spelling_features(words, 8)
    assert F.shape == (8, 3)  # -g, -ng, -ing; one capital and one -ed are too few
    np.testing.assert_array_equal(F.toarray()[:5], 1)
    np.testing.assert_array_equal(F.toarray()[5:], 0)


def test_no_words_and_no_features():
    assert spelling_features([], 2).shape == (2, 0)


def test_spelling_counts_like_tokens():
    """Frequent words keep their vectors. A rare one gets that of words with its spelling."""
    rng = np.random.default_rng(0)
    kind = np.repeat([0, 1], 50)
    F = sp.csr_array(np.eye(2)[kind])
    means = np.array([[1.0, 0.0], [0.0, 1.0]])
    counts = np.full(100, 1000.0)
    counts[[0, 99]] = 1
    points = means[kind] + rng.normal(size=(100, 2)) / np.sqrt(counts)[:, None]
    mixed = with_spelling(points, counts, F, 30.0)
    assert np.abs(mixed[1:99] - points[1:99]).max() < 0.01
    assert np.abs(mixed[[0, 99]] - means[[0, 1]]).max() < 0.1
    assert with_spelling(points, counts, F, 0.0) is points
