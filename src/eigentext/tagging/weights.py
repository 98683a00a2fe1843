"""The weights of a linear model of tag sequences, and the problem that they are learned from."""

from typing import NamedTuple

import numpy as np

from eigentext.corpus import schemes
from eigentext.tagging.features import EncodedSentences, FeatureExtractor
from eigentext.tagging.tagset import TagSet


class Weights(NamedTuple):
    """A linear model of tag sequences. The module `_loops` has the formula."""

    W: np.ndarray  # float32 (n_features, m)
    D: np.ndarray  # float32 (n_dense, m)
    T: np.ndarray  # float32 (m + 1, m); the last row is for the start of a sentence
    end: np.ndarray  # float32 (m,): 0, or -inf if no sentence may end with the tag

    @classmethod
    def zeros(cls, features: FeatureExtractor, tagset: TagSet) -> "Weights":
        """Return weights of zero, and of -inf for the transitions that the scheme forbids."""
        m = len(tagset.learned)
        start, transition, end = schemes.allowed(tagset.learned, tagset.scheme)
        return cls(
            np.zeros((len(features.keys), m), np.float32),
            np.zeros((features.n_dense, m), np.float32),
            np.where(np.vstack([transition, start]), 0, -np.inf).astype(np.float32),
            np.where(end, 0, -np.inf).astype(np.float32),
        )


class TrainingProblem(NamedTuple):
    """Tagged sentences in numbers, and the weights that training begins with."""

    data: EncodedSentences
    places: np.ndarray  # a row for each dense template: source, offset, first row of its weights
    widths: np.ndarray  # the length of the vectors of each source
    gold: np.ndarray  # int32, the number of the tag of each token
    start: Weights
