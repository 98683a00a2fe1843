"""Rankings of the words of topics: known answers, laws, bad input, and what they do on text."""

from typing import get_args

import numpy as np
import pytest

from eigentext import TopicModel, load_dataset
from eigentext.errors import ParameterError
from eigentext.evaluate import coherence, distinct_words
from eigentext.moments import DocumentMoments
from eigentext.topics.parameters import RANK, Rank
from eigentext.topics.ranking import WEIGHTS, of_groups, order, scores

RANKS = get_args(Rank)


def topics(K=4, d=60, seed=0):
    """Topics without equal probabilities, their weights, and the counts of words."""
    rng = np.random.default_rng(seed)
    components = rng.dirichlet(np.full(d, 0.1), K) + 1e-9
    components /= components.sum(axis=1, keepdims=True)
    weights = rng.dirichlet(np.full(K, 3.0))
    counts = 1 + rng.poisson(5000 * (weights @ components))
    return components, weights, counts


def test_probability_is_argsort():
    components, weights, counts = topics()
    expected = np.argsort(-components, axis=1, kind="stable")[:, :7]
    assert np.array_equal(order(components, weights, counts, 7, "probability"), expected)


@pytest.mark.parametrize("rank", WEIGHTS)
def test_the_weight_one_is_probability(rank):
    components, weights, counts = topics()
    by_probability = order(components, weights, counts, 60, "probability")
    assert np.array_equal(order(components, weights, counts, 60, rank, 1.0), by_probability)
    assert not np.array_equal(order(components, weights, counts, 60, rank), by_probability)


def test_known_answers():
    components = np.array([[0.5, 0.25, 0.25], [0.5, 0.0, 0.5]])
    weights, counts = np.array([0.5, 0.5]), np.array([8, 2, 6])
    p = np.array([0.5, 0.125, 0.375])
    found = scores(components, weights, counts, "relevance", 0.25)
    assert np.allclose(found[0], 0.25 * np.log(components[0]) + 0.75 * np.log(components[0] / p))
    assert found[1, 1] == -np.inf
    divergence = scores(components, weights, counts, "divergence")
    assert np.allclose(divergence[0], components[0] * np.log(components[0] / p))
    # The ranks of probability are 1, 2/3, 2/3; those of 1/2, 1, 1/3 are 2/3, 1, 1/3.
    frex = scores(components, weights, counts, "frex", 0.5)
    expected = 1 / (0.5 / np.array([1, 2 / 3, 2 / 3]) + 0.5 / np.array([2 / 3, 1, 1 / 3]))
    assert np.allclose(frex[0], expected)
    score = scores(components, weights, counts, "score")
    assert np.allclose(score[0, [0, 2]], [0, 0.25 * np.log(0.25 / np.sqrt(0.125))])
    # The shares of the topics are 1/2, 1, 1/3 and 1/2, 0, 2/3: the excesses are 0, 1/2, 1/18.
    first, second = (0.125 * np.log(2) + 0.25 / 18 * np.log(6)) / (0.125 + 0.25 / 18), np.log(6)
    typical = np.exp((first + second) / 2)
    exclusive = components[0] / np.sqrt((components**2).sum(axis=0))
    evidence = counts / (counts + 1.5 * typical)
    distinctive = scores(components, weights, counts, "distinctive", 0.2)
    assert np.allclose(
        distinctive[0], 0.2 * np.log(components[0]) + 0.8 * np.log(exclusive * evidence)
    )


@pytest.mark.parametrize("rank", [rank for rank in RANKS if rank != "probability"])
def test_a_word_of_one_topic_is_before_an_equally_probable_word_of_all(rank):
    components = np.array([[0.3, 0.3, 0.4, 0.0], [0.0, 0.3, 0.2, 0.5], [0.0, 0.3, 0.2, 0.5]])
    weights, counts = np.full(3, 1 / 3), np.array([30, 30, 80, 100])
    found = scores(components, weights, counts, rank)
    assert found[0, 0] > found[0, 1]
    assert list(order(components, weights, counts, 4, "probability")[0][1:3]) == [0, 1]


def test_of_two_exclusive_words_the_rare_one_is_behind():
    components = np.array([[0.1, 0.1, 0.8], [0.0, 0.0, 1.0]])
    weights = np.array([0.5, 0.5])
    found = scores(components, weights, np.array([100, 3, 900]), "distinctive")
    assert found[0, 0] > found[0, 1]
    equal = scores(components, weights, np.zeros(3, int), "distinctive")  # no counts: no evidence
    assert equal[0, 0] == equal[0, 1]


def test_stop_words_do_not_push_other_words_down():
    """Words of all topics leave the order of the other words as it is, however frequent."""
    components, weights, counts = topics()
    first = order(components, weights, counts, 10, "distinctive")
    with_the = np.column_stack([components / 2, np.full(4, 0.5)])
    again = order(with_the, weights, np.append(counts, 10**6), 11, "distinctive")
    assert [[w for w in topic if w != 60][:10] for topic in again.tolist()] == first.tolist()


@pytest.mark.parametrize("rank", RANKS)
def test_the_order_of_topics_and_of_words_does_not_matter(rank):
    components, weights, counts = topics()
    rng = np.random.default_rng(1)
    rows, columns = rng.permutation(4), rng.permutation(60)
    first = order(components, weights, counts, 10, rank)
    again = order(components[rows][:, columns], weights[rows], counts[columns], 10, rank)
    assert np.array_equal(columns[again], first[rows])


@pytest.mark.parametrize("rank", RANKS)
def test_twice_the_text_gives_the_same_ranking(rank):
    components, weights, counts = topics()
    first = order(components, weights, counts, 10, rank)
    assert np.array_equal(order(components, weights, 2 * counts, 10, rank), first)


@pytest.mark.parametrize("rank", RANKS)
def test_impossible_words_come_last(rank):
    components = np.array([[0.0, 0.2, 0.8, 0.0], [0.5, 0.0, 0.5, 0.0]])
    found = order(components, np.array([0.5, 0.5]), np.array([5, 2, 9, 0]), 4, rank)
    assert set(found[0][:2].tolist()) == {1, 2}
    assert found[0][2:].tolist() == [0, 3]
    assert np.array_equal(np.sort(found, axis=1), [[0, 1, 2, 3]] * 2)


@pytest.mark.parametrize("rank", RANKS)
def test_one_topic_of_few_words(rank):
    components, counts = np.array([[0.5, 0.3, 0.2]]), np.array([5, 3, 2])
    found = order(components, np.ones(1), counts, 10, rank)
    assert sorted(found[0].tolist()) == [0, 1, 2]
    assert order(components, np.ones(1), counts, 0, rank).shape == (1, 0)
    if rank in ("probability", "distinctive"):
        assert found[0].tolist() == [0, 1, 2]


def test_mistakes():
    components, weights, counts = topics()
    with pytest.raises(ParameterError, match="rank must be 'distinctive', 'probability'"):
        order(components, weights, counts, 3, "lift")  # type: ignore[arg-type]
    for weight in (-0.1, 1.5, "much", np.nan):
        with pytest.raises(ParameterError, match=r"weight must be a number, 0 or more and 1 at"):
            order(components, weights, counts, 3, "relevance", weight)  # type: ignore[arg-type]
    for rank in ("probability", "score", "divergence"):
        with pytest.raises(ParameterError, match=f"rank='{rank}' has no weight; leave weight out"):
            order(components, weights, counts, 3, rank, 0.5)


@pytest.mark.parametrize("method", ["tensor", "anchors"])
def test_on_text_more_words_are_distinct_and_coherence_is_no_less(data_folder, method):
    limits = {"min_df": 10, "max_df": 0.2, "stop_words": "english"}
    train, test = (load_dataset("20news", split=split).texts for split in ("train", "test"))
    model = TopicModel(20, method=method, refine=5, **limits).fit(list(train[::2]))
    reference = DocumentMoments.from_corpus(list(test[::2]), **limits | {"min_df": 1})
    usual, shown = (model.top_words(10, rank=rank) for rank in ("probability", RANK.default))
    assert distinct_words(shown) > distinct_words(usual) + 0.05
    assert coherence(shown, reference).mean > coherence(usual, reference).mean - 0.01


def test_a_group_is_ranked_as_one_topic_beside_those_outside():
    components, weights, counts = topics(K=6, d=80)
    single = of_groups(components, weights, counts, [[k] for k in range(6)], 9)
    assert single == order(components, weights, counts, 9).tolist()
    group, outside = [4, 1, 3], [0, 2, 5]
    mean = np.average(components[group], axis=0, weights=weights[group])
    merged = np.vstack([mean, components[outside]])
    nothing = np.zeros(80)  # without evidence
    (found,) = of_groups(components, weights, nothing, [group], 9)
    assert found == order(merged, weights[[1, 0, 2, 5]], nothing, 9)[0].tolist()
    (all_words,) = of_groups(components, weights, counts, [range(6)], 80)
    assert sorted(all_words) == np.flatnonzero(components.sum(axis=0)).tolist()
