"""Grammars by factors of their tensors."""

import numpy as np
import pytest

from eigentext.grammars.factored_grammar import FactoredGrammar, lengths
from eigentext.grammars.grammar import Grammar, starts
from eigentext.grammars.treebank.normal_form import Rules

RULES = Rules(*np.array([[0, 0, 1, 1, 0], [0, 0, 0, 2, 2], [0, 1, 2, 0, 2], [1, 1, 1, 1, 1]]))
N_STATES = np.array([3, 2, 4])
RANKS = np.array([2, 0, 5, 1, 0])


@pytest.fixture
def grammar():
    rng = np.random.default_rng(0)
    sizes = Grammar(RULES, N_STATES, np.empty(0), np.empty(0)).sizes
    numbers = rng.standard_normal(int(lengths(sizes, RANKS).sum()))
    means = rng.random((2, 9))
    return FactoredGrammar(RULES, N_STATES, RANKS, numbers, rng.random(9), (means[0], means[1]))


def test_tensors_are_sums_of_products(grammar):
    numbers, at = grammar.parts.numbers.astype(float), grammar.parts.at
    for r, ((mb, mc, ma), k) in enumerate(zip(grammar.sizes, RANKS)):
        part = numbers[at[r] : at[r + 1]]
        if k == 0:
            expected = part.reshape(mb, mc, ma)
        else:
            u, v, w = np.split(part.reshape(mb + mc + ma, k), (mb, mb + mc))
            expected = np.einsum("bk,ck,ak->bca", u, v, w)
        assert grammar.tensor_of(r) == pytest.approx(expected, rel=1e-12, abs=1e-14)


def test_some_tensors_and_all_tensors(grammar):
    dense = Grammar(RULES, N_STATES, grammar.tensor, grammar.root, grammar.means)
    some = np.array([3, 0, 1])
    assert len(grammar.tensor) == starts(grammar.sizes.prod(axis=1))[-1]
    assert np.array_equal(grammar.tensors_of(some), dense.tensors_of(some))
    assert grammar.tensors_of(some[:0]).shape == (0,)
    for found, expected in zip(grammar.state_means(), dense.state_means()):
        assert np.array_equal(found, expected)


def test_numbers_must_fit_the_ranks(grammar):
    with pytest.raises(ValueError, match="numbers"):
        FactoredGrammar(RULES, N_STATES, RANKS, grammar.parts.numbers[1:], grammar.root)
