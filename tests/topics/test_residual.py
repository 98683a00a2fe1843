"""New topics: exact on population moments, found in samples, and none where there are none."""

import numpy as np
import pytest

from eigentext.moments.bags import BagMoments
from eigentext.topics.residual import found_in, left_out, new_topics
from eigentext.topics.tensor import word_scale


@pytest.mark.parametrize("alpha0", [0.0, 1.0])
@pytest.mark.parametrize("known", [3, 4, 5])
def test_exact_on_population_moments(random_topics, matched, alpha0, known):
    truth = random_topics(6, 40, alpha0)
    found = new_topics(truth, truth.topics[:known], 6 - known, alpha0=alpha0)
    order, l1 = matched(truth.topics[known:], found.components)
    assert l1.max() < 1e-8
    assert np.allclose(found.weights[order], truth.weights[known:], atol=1e-8)


@pytest.mark.parametrize("alpha0", [0.0, 1.0])
def test_nothing_is_left_of_topics_that_are_all_known(random_topics, alpha0):
    truth = random_topics(5, 30, alpha0)
    found = new_topics(truth, truth.topics, 3, alpha0=alpha0)
    assert found.weights.shape == (0,)
    assert found.components.shape == (0, 30)


def test_no_room_for_more(random_topics):
    truth = random_topics(4, 4)
    assert left_out(truth, truth.topics, 2, alpha0=0.0, scale=word_scale(truth.mean)) is None


def test_only_rounding_is_within_the_old_topics(random_topics):
    truth = random_topics(6, 40, 1.0)
    scale = word_scale(truth.mean)
    found = left_out(truth, truth.topics[:4], 2, alpha0=1.0, scale=scale)
    assert np.abs((truth.topics[:4] * scale) @ found.W).max() < 1e-8


@pytest.mark.parametrize("robust", [0.0, 7.0])
def test_from_a_sample(random_topics, matched, robust):
    truth = random_topics(6, 60, 0.0)
    X = BagMoments(truth.draw(6000, 40))
    old = truth._replace(
        weights=truth.weights[:5] / truth.weights[:5].sum(), topics=truth.topics[:5]
    )
    before = BagMoments(old.draw(3000, 40, seed=1))
    found = found_in(X, truth.topics[:5], None, before=before, alpha0=0.0, robust=robust)
    assert len(found.weights) == 1
    assert matched(truth.topics[5:], found.components)[1].max() < 0.25
    assert found.weights[0] == pytest.approx(truth.weights[5], rel=0.3)
    same = BagMoments(old.draw(6000, 40, seed=2))
    none = found_in(same, truth.topics[:5], None, before=before, alpha0=0.0, robust=robust)
    assert len(none.weights) == 0
