"""Automata of given weights: sums over all sequences by hand, and the n-grams they generate."""

from itertools import product

import numpy as np
import pytest

from eigentext import HMM, WeightedAutomaton
from eigentext.errors import ParameterError
from eigentext.matrices import budget
from eigentext.sequences.learning.given_automaton import form_of

START = np.array([1.0, 0.0])
OPERATORS = np.array([[[0.2, 0.0], [0.3, 0.1]], [[0.1, 0.3], [0.0, 0.4]]])
STOP = 1 - OPERATORS.sum(axis=(0, 1))


def test_an_end_is_the_sum_over_all_continuations():
    model = form_of(START, OPERATORS, STOP, ends=True)
    total, row = np.zeros(2), STOP
    for _ in range(400):
        total, row = total + row, row @ OPERATORS.sum(axis=0)
    assert np.allclose(model.end, total)
    assert np.allclose(model.rows, [*(model.end @ OPERATORS), STOP])
    assert np.allclose(model.rows.sum(axis=0), model.end)  # something follows, or it ends
    assert np.allclose(model.after[:2] @ model.end, 1)
    assert not model.after[2].any()
    assert not model.floors.any()
    for x in range(2):
        assert np.array_equal(model.operator(x), OPERATORS[x])


def test_any_basis_of_the_states_is_the_same_automaton():
    """Weights in other coordinates may be negative and still give all probabilities."""
    Q = np.array([[2.0, -1.0], [0.5, 3.0]])
    weights = (Q @ START, Q @ OPERATORS @ np.linalg.inv(Q), STOP @ np.linalg.inv(Q))
    one, other = (WeightedAutomaton.from_operators(*w) for w in ((START, OPERATORS, STOP), weights))
    for x in product(range(2), repeat=4):
        assert one.probability(x) == pytest.approx(other.probability(x))


def test_the_weights_are_copied():
    operators = OPERATORS.copy()
    model = form_of(START, operators, STOP, ends=True)
    operators[:] = 0
    assert np.array_equal(model.operator(1), OPERATORS[1])


@pytest.mark.parametrize("order", [1, 2, 4])
def test_expected_counts_are_sums_over_all_places(order):
    """An n-gram occurs after each beginning: the sum of its probabilities over all of them."""
    automaton = WeightedAutomaton.from_operators(START, OPERATORS, STOP)
    moments = automaton.moments(order)
    assert moments.order == order
    anywhere = np.linalg.solve(np.eye(2) - OPERATORS.sum(axis=0), START)
    edge = moments.edge
    for k in range(1, order + 1):
        for x in product(range(2), repeat=k):
            state, first = anywhere, START
            for symbol in x:
                state, first = OPERATORS[symbol] @ state, OPERATORS[symbol] @ first
            assert moments.count(list(x)) == pytest.approx(automaton.end_ @ state)
            if k < order:
                assert moments.count([*x, edge]) == pytest.approx(STOP @ state)
                assert moments.count([edge, *x]) == pytest.approx(automaton.end_ @ first)
                expected = automaton.probability(x, end=False)
                assert moments.count([edge, *x]) == pytest.approx(expected)
            if k < order - 1:
                expected = automaton.probability(x)
                assert moments.count([edge, *x, edge]) == pytest.approx(expected)
    assert moments.count([edge]) == 1


def test_a_stream_has_the_probabilities_of_its_first_symbols(random_hmm):
    hmm = random_hmm(3, 3)
    operators = [hmm.operator(x) for x in range(3)]
    stream = WeightedAutomaton.from_operators(hmm.start_, operators, hmm.end_, ends=False)
    moments, three = stream.moments(3), hmm.moments()
    for x in product(range(3), repeat=3):
        assert moments.count(list(x)) == pytest.approx(hmm.probability(list(x)))
        assert moments.count(list(x)) == pytest.approx(three.count(list(x)))


def test_a_table_that_no_memory_holds(monkeypatch):
    automaton = WeightedAutomaton.from_operators(START, OPERATORS, STOP)
    monkeypatch.setattr(budget, "machine_memory", lambda: 1e6)
    assert automaton.moments(3).order == 3
    with pytest.raises(ParameterError, match=r"all windows of 12 of 2 symbols.*or a lower order"):
        automaton.moments(12)


@pytest.mark.parametrize(
    ("start", "operators", "end", "ends", "message"),
    [
        ([1, 0], np.zeros((1, 2, 3)), [1, 0], True, "shapes must be"),
        ([[1]], np.zeros((1, 1, 1)), [1], True, "shapes must be"),
        ([1], [[[np.inf]]], [1], True, "finite"),
        ([1], [["x"]], [1], True, "arrays of numbers"),
        ([1], [[[1.0]]], [1], True, "eigenvalues below 1"),
        ([2], [[[0.5]]], [0.5], True, "must add up to 1, not 2"),
        ([1], [[[0.5]]], [1], False, "must add up to itself"),
        ([2], [[[1.0]]], [1], False, "must add up to 1, not 2"),
    ],
)
def test_weights_that_are_no_probabilities(start, operators, end, ends, message):
    with pytest.raises(ParameterError, match=message):
        form_of(start, operators, end, ends=ends)


def test_a_hidden_markov_model_is_accepted_as_it_is(random_hmm):
    hmm: HMM = random_hmm(4, 3)
    form = form_of(hmm.start_, [hmm.operator(x) for x in range(3)], hmm.end_, ends=False)
    assert np.allclose(form.end, 1)
    assert np.allclose(form.rows.sum(axis=0), 1)
