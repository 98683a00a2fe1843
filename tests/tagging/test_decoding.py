"""Scores, tags and probabilities of encoded sentences, and the temperature."""

import numpy as np
import pytest

from eigentext import Tagger
from eigentext.errors import ParameterError
from eigentext.tagging.decoding import best_tags, best_temperature, local_scores, posteriors


@pytest.fixture
def parts():
    """Encoded sentences of a small tagger, its features and its weights."""
    tagged = [[("a", "D"), ("dog", "N")], [("dogs", "N"), ("bark", "V")], [("a", "D")]] * 3
    tagger = Tagger(features=["word[-1..0]"]).fit(tagged)
    sentences = [[("a",), ("dog",), ("bark",)], [("dogs",)]]
    return tagger._features.encode(sentences), tagger._features, tagger._weights


def test_local_scores_are_sums_of_weights(parts):
    data, features, weights = parts
    expected = [weights.W[[f for f in row if f >= 0]].sum(axis=0) for row in data.features.tolist()]
    np.testing.assert_allclose(local_scores(data, features, weights), expected, rtol=1e-6)


def test_no_tagging_is_better_than_the_best(parts):
    data, features, weights = parts
    scores, best = local_scores(data, features, weights), best_tags(data, features, weights)
    m = scores.shape[1]

    def total(tags):
        before = [m, *tags[:-1]]
        return sum(weights.T[a, y] + scores[t, y] for t, (a, y) in enumerate(zip(before, tags)))

    every = [total(tags) for tags in np.ndindex(m, m, m)]
    assert total(best[:3].tolist()) == pytest.approx(max(every))


def test_a_high_temperature_knows_nothing_and_a_low_one_everything(parts):
    data, features, weights = parts
    scores = local_scores(data, features, weights)
    p, _ = posteriors(data, scores, weights, 1e9)
    np.testing.assert_allclose(p, 1 / p.shape[1], atol=1e-6)
    p, _ = posteriors(data, scores, weights, 1e-3)
    np.testing.assert_allclose(p[range(4), best_tags(data, features, weights)], 1)


def test_the_best_temperature_is_most_likely(parts):
    data, features, weights = parts
    scores = local_scores(data, features, weights)
    gold = np.array([1, 1, 2, 0], np.int32)  # some are wrong, so that the temperature is finite

    def loss(temperature):
        p, _ = posteriors(data, scores, weights, temperature)
        return -np.log(p[range(4), gold]).sum()

    best = best_temperature(data, features, weights, gold)
    assert loss(best) <= min(loss(0.8 * best), loss(1.25 * best))


def test_a_temperature_needs_tags_that_are_known(parts):
    with pytest.raises(ParameterError, match="none of the tags of these sentences was learned"):
        best_temperature(*parts, np.full(4, -1, np.int32))
