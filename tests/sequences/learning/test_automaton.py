"""Automata from Hankel matrices: nested ranks, shrinkage, and their variances."""

from itertools import product

import numpy as np
import pytest

from eigentext import NgramMoments, WeightedAutomaton, engine
from eigentext.moments.hankel import Basis, Hankel, Trie, order_of
from eigentext.sequences.learning.automaton import normalized, projected

STRINGS = [string for k in range(3) for string in product(range(3), repeat=k)]
BASIS = Basis(STRINGS, STRINGS)


def factored(moments, statistics="substring", size=6, **settings):
    hankel = Hankel.of(Trie.of(moments), BASIS, statistics)
    return projected(hankel, BASIS, statistics, size, **settings)


@pytest.mark.parametrize("statistics", ["string", "prefix", "substring"])
@pytest.mark.parametrize("scaling", ["cca", "none"])
def test_the_formulas_of_the_paper(random_automaton, statistics, scaling):
    data = random_automaton(2, 3).sample(3000, 12)
    moments = NgramMoments.from_corpus(data, order=order_of(statistics, 2, 2))
    found = factored(moments, statistics, 4, scaling=scaling)
    hankel = found.hankel
    N = hankel.totals.max()
    H = hankel.H.toarray() / N
    # U and V have the scaling; U'HV is diagonal.
    assert np.allclose(found.U.T @ H @ found.V, np.diag(found.singular_values[:4]), atol=1e-12)
    model = found.plain(4)
    middles = hankel.middles.toarray() / N
    pseudo = np.linalg.inv(found.U.T @ H @ found.V) @ found.U.T
    for x in range(3):
        H_x = np.zeros_like(H)
        here = hankel.pair_symbols == x
        H_x[hankel.pair_prefixes[here]] = middles[here]
        assert np.allclose(model.operator(x), (pseudo @ H_x @ found.V).T)
    assert np.allclose(model.end, pseudo @ hankel.totals / N)
    assert np.allclose(model.stop, pseudo @ hankel.stops / N)
    assert np.allclose(model.start, hankel.starts @ found.V / len(data))


def test_a_smaller_rank_is_a_part_of_a_larger_one(random_automaton):
    moments = NgramMoments.from_corpus(random_automaton(3, 3).sample(2000, 12), order=5)
    large, small = (factored(moments, size=size) for size in (6, 3))
    both = (vars(found.operators(3)[0]).values() for found in (large, small))
    for one, other in zip(*both):
        assert np.allclose(one, other, atol=1e-10)
    assert np.allclose(large.plain(3).operators, small.plain(3).operators)


def test_rows_add_up_to_the_end(random_automaton):
    for data in (random_automaton(2, 3).sample(500, 9), np.arange(300) % 3):
        model, _ = factored(NgramMoments.from_corpus(data, order=5)).operators(3)
        assert np.allclose(model.rows.sum(axis=0), model.end)
        n = 3
        assert np.allclose(model.after[:n] @ model.end, 1)
        assert not model.after[n:].any()


def test_shrinkage_fades_with_data(random_automaton):
    truth = random_automaton(3, 3)
    means = []
    for size in (100, 1000, 10_000):
        found = factored(NgramMoments.from_corpus(truth.sample(size, 12), order=5), size=3)
        means.append(found.operators(3)[1].mean())
    assert means[0] > means[1] > means[2]
    _, shares = factored(truth.moments(5), size=3).operators(3)
    assert not shares.any()


def test_variances_are_sums_over_windows(random_automaton):
    data = [row for row in random_automaton(2, 3).sample(60, 12) if row]
    found = factored(NgramMoments.from_corpus(data, order=5), size=3)
    place = {string: k for k, string in enumerate(STRINGS)}
    expected = np.zeros(3)
    for unit in data:
        for t, x in enumerate(unit):
            before = [tuple(unit[t - k : t]) for k in range(3) if t >= k]
            after = [tuple(unit[t + 1 : t + 1 + k]) for k in range(3) if t + 1 + k <= len(unit)]
            u = sum(found.U[place[string]] for string in before)
            v = sum(found.V[place[string]] for string in after)
            expected[x] += (u @ u) * (v @ v)
    N = found.hankel.totals.max()
    assert np.allclose(found._variances(3), expected[found.chosen] / N**2)


def test_the_same_bits_on_any_number_of_threads(random_automaton):
    moments = NgramMoments.from_corpus(random_automaton(3, 3).sample(300, 12), order=5)
    answers = []
    for threads in (1, 2, 7):
        with engine.use(engine.ThreadEngine(threads)):
            model, _ = factored(moments).operators(4)
            answers.append(b"".join(part.tobytes() for part in vars(model).values()))
    assert len(set(answers)) == 1


def test_states_that_cannot_be_normalized():
    states = normalized(np.array([[2.0, 0.0], [-1.0, 0.0]]), np.array([1.0, 0.0]), np.array([1, 1]))
    assert states.tolist() == [[1, 0], [1, 1]]
    hopeless = normalized(np.array([[-1.0]]), np.array([1.0]), np.array([-1.0]))
    assert hopeless.tolist() == [[1]]


def test_noise_is_told_from_signal(random_automaton):
    truth = random_automaton(2, 3)
    found = factored(NgramMoments.from_corpus(truth.sample(30_000, 20), order=5))
    assert found.usable_rank == 3
    assert isinstance(WeightedAutomaton(2).fit(truth.sample(50, 9)), WeightedAutomaton)
