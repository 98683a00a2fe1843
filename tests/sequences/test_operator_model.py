"""What all models of operators answer: one probability in all its forms, and what is between."""

from itertools import product

import numpy as np
import pytest

from eigentext import HMM, WeightedAutomaton
from eigentext.errors import CorpusError

KINDS = ["parameters", "spectral", "plain", "automaton"]
STRINGS = [x for k in (1, 2, 3) for x in product(range(3), repeat=k)]


@pytest.fixture(scope="module", params=KINDS)
def model(request, clear_hmm):
    """A model of a stream of three symbols."""
    truth = clear_hmm(2, 3)
    stream = truth.sample(1, 20_000)[0]
    if request.param == "parameters":
        return truth
    if request.param == "automaton":
        return WeightedAutomaton(3, basis=13, longest=2).fit(stream)
    return HMM(2, repair="none" if request.param == "plain" else "floor").fit(stream)


def test_a_sequence_is_a_product_of_conditional_probabilities(model):
    for x in STRINGS:
        logs = model.log_probabilities([list(x)])
        expected = [np.log(model.predict_next(x[:k])[symbol]) for k, symbol in enumerate(x)]
        assert np.allclose(logs, expected)
        assert model.log_probability(x) == pytest.approx(logs.sum())
        assert model.probability(x) == pytest.approx(np.exp(logs.sum()))
    assert model.probability([]) == 1
    assert model.log_probability([]) == 0


def test_scores_are_in_the_order_of_the_sequences(model):
    rows = [list(x) for x in STRINGS[::-1]]
    rows.insert(3, [])
    expected = [model.log_probability(row) for row in rows]
    assert np.allclose(model.score_samples(rows), expected)
    assert model.score_samples([[], []]).tolist() == [0, 0]
    logs = model.log_probabilities(rows)
    assert model.score(rows) == pytest.approx(logs.mean())
    assert model.perplexity(rows) == pytest.approx(np.exp(-logs.mean()))


def test_states_of_a_prefix_are_the_first_of_those_of_the_whole(model):
    x = [0, 1, 2, 0, 1]
    states = model.filter(x)
    assert np.allclose(states[:3], model.filter(x[:3]))
    both = model.transform([x, [], [2]])
    assert [len(one) for one in both] == [5, 0, 1]
    assert np.array_equal(both[0], states)
    assert np.allclose(both[2], model.filter([2]))
    assert model.transform([]) == []
    with pytest.raises(CorpusError, match="a list of sentences"):
        model.transform("012")


def test_operators_give_the_probability_of_a_symbol(model):
    for x in range(3):
        value = model.end_ @ model.operator(x) @ model.start_
        assert value == pytest.approx(model.probability([x]), rel=0.01)
    assert not model.operator(99).any()  # never seen
    assert model.scoring_diagnostics([[0, 99], [1]])["unknown"] == 1
    assert model.scoring_diagnostics([[0, 99], [1]])["tokens"] == 3


def test_samples_have_the_frequencies_of_the_model(model):
    drawn = np.asarray(model.sample(3000, 2, random_state=1))
    found = np.bincount(drawn[:, 0], minlength=3) / len(drawn)
    assert np.allclose(found, model.predict_next(), atol=0.04)
    assert np.array_equal(drawn, model.sample(3000, 2, random_state=1))
    assert np.asarray(model.sample(4, 0)).shape == (4, 0)
