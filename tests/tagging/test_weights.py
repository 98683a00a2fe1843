"""Weights of zero follow the scheme."""

import numpy as np

from eigentext import Tagger
from eigentext.tagging.tagset import TagSet
from eigentext.tagging.weights import Weights


def test_zero_weights_forbid_what_the_scheme_forbids():
    features = Tagger(features=["word[0]"]).fit([[("a", "B-X"), ("b", "I-X")]] * 3)._features
    weights = Weights.zeros(features, TagSet(["B-X", "I-X", "O"], "bio", False))
    assert weights.W.shape == (len(features.keys), 3)
    assert weights.D.shape == (0, 3)
    forbidden = np.isneginf(weights.T)
    assert forbidden[2].tolist() == [False, True, False]  # O, I-X
    assert forbidden[3].tolist() == [False, True, False]  # I-X at the start
    assert not forbidden[:2].any()
    assert not weights.end.any()
    assert all(part.dtype == np.float32 for part in weights)
    free = Weights.zeros(features, TagSet(["D", "N"], None, False))
    assert not any(part.any() for part in free)
