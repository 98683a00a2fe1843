"""Data to tag: random numbers for the loops, and texts whose words belong to classes."""

from types import SimpleNamespace

import numpy as np
import pytest

from eigentext import HMM, Eigentokens, Eigenwords, WordClusters
from eigentext.tagging.features import EncodedSentences
from eigentext.tagging.weights import Weights


@pytest.fixture(scope="session")
def random_problem():
    """``random_problem(seed)``: encoded sentences and weights, all small multiples of 1/4.

    Sums of them are exact in single precision, so that slow twins must agree to the bit, and ties
    are frequent.
    """

    def draw(seed: int, n_sentences: int = 8, longest: int = 4, m: int = 3) -> SimpleNamespace:
        rng = np.random.default_rng(seed)
        lengths = rng.integers(1, longest + 1, n_sentences)
        borders = np.concatenate([[0], np.cumsum(lengths)])
        n = int(borders[-1])
        n_features, widths = 7, np.array([2, 3])
        features = rng.integers(-1, n_features, (n, 4)).astype(np.int32)
        values = (rng.integers(-4, 5, 40) / 4).astype(np.float32)
        starts = np.stack([rng.integers(-1, len(values) - w + 1, n) for w in widths], axis=1)
        places = np.array([(0, 0, 0), (1, -1, 2), (0, 1, 5), (1, 2, 7)])  # source, offset, row
        T = rng.integers(-4, 5, (m + 1, m)) / 4
        T[rng.random(T.shape) < 0.2] = -np.inf
        T[:, 0] = rng.integers(-4, 5, m + 1) / 4  # so that every sentence has a tagging
        end = np.where(rng.random(m) < 0.3, -np.inf, rng.integers(-4, 5, m) / 4)
        end[0] = 0
        return SimpleNamespace(
            data=EncodedSentences(borders, features, values, starts.astype(np.int64)),
            places=places,
            widths=widths,
            weights=Weights(
                (rng.integers(-4, 5, (n_features, m)) / 4).astype(np.float32),
                (rng.integers(-4, 5, (10, m)) / 4).astype(np.float32),
                T.astype(np.float32),
                end.astype(np.float32),
            ),
            rng=rng,
        )

    return draw


@pytest.fixture(scope="session")
def class_world():
    """Words in six classes, which follow each other with certain probabilities. A class has a tag.

    ``sentences(n, seed)`` draws tagged sentences, of which plain text is made by leaving tags out.
    """
    n_classes, n_words = 6, 40
    follows = np.full((n_classes, n_classes), 0.02)
    for one in range(n_classes):
        follows[one, (one + 1) % n_classes] += 0.6
        follows[one, (one + 3) % n_classes] += 0.28
    follows /= follows.sum(axis=1, keepdims=True)
    tags = ["N", "V", "N", "D", "V", "D"]

    def sentences(n: int, seed: int, length: int = 10) -> list[list[tuple[str, str]]]:
        rng = np.random.default_rng(seed)
        drawn = []
        steps = np.cumsum(follows, axis=1)
        for _ in range(n):
            state, one = int(rng.integers(n_classes)), []
            for _ in range(length):
                # Names are random, so that their letters and endings do not show the class.
                number = int(rng.integers(n_words)) * n_classes + state
                one.append((f"{(number * 7919 + 13) % 9973:04d}", tags[state]))
                state = int(np.searchsorted(steps[state], rng.random() * steps[state, -1]))
            drawn.append(one)
        return drawn

    return sentences


def plain(tagged):
    return [[word for word, *_ in sentence] for sentence in tagged]


@pytest.fixture(scope="session")
def unlabeled(class_world):
    """Models of plain text, by the names of the parameters of a tagger."""
    text = plain(class_world(4000, 99))
    words = Eigenwords(8, window=1, context="list", min_count=1).fit(text)
    return {
        "vectors": words,
        "clusters": WordClusters(6).fit(words),
        "eigentokens": Eigentokens(8, window=2, min_count=1).fit(text),
        "states": HMM(6, method="spectral", min_count=1).fit(text),
    }
