"""Alternating least squares: tensors of known rank, and what it promises for all others."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigentext.grammars.grammar import Grammar
from eigentext.grammars.learning.low_rank import (
    Factors,
    alternate,
    decompose,
    first_factors,
    low_rank,
    relative_errors,
)
from eigentext.grammars.treebank.normal_form import Rules

RULES = Rules(*np.array([[0, 0, 1, 1, 0], [0, 0, 0, 2, 2], [0, 1, 2, 0, 2], [9, 1, 1, 4, 1]]))


def tensors_of(factors):
    return np.einsum("nbk,nck,nak->nbca", *factors)


def drawn(n, shape, k, seed=0):
    rng = np.random.default_rng(seed)
    return Factors(*(rng.standard_normal((n, m, k)) for m in shape))


def sizes_of(tensors):
    return np.sqrt((tensors**2).sum(axis=(1, 2, 3)))


@pytest.mark.parametrize(("k", "least"), [(1, 20), (2, 19), (4, 10)])
def test_tensors_of_low_rank_are_found(k, least):
    """The tensors return, mostly with their rank; least squares may end at another point."""
    tensors = tensors_of(drawn(20, (9, 8, 7), k))
    found = list(decompose(tensors, 8))
    assert sorted(np.concatenate([some for some, _, _ in found])) == list(range(20))
    right = 0
    for some, factors, missed in found:
        assert factors.u.shape == (len(some), 9, factors.v.shape[2])
        expected = relative_errors(tensors[some], factors, sizes_of(tensors[some]))
        assert missed == pytest.approx(expected, abs=1e-12)
        assert missed.max() < 0.05
        right += int((missed < 0.01).sum()) if factors.u.shape[2] == k else 0
    assert right >= least


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 12))
def test_steps_never_raise_the_error(seed, k):
    rng = np.random.default_rng(seed)
    tensors = rng.standard_normal((3, 4, 3, 5))
    start = first_factors(tensors, k)
    errors = [
        relative_errors(tensors, one, sizes_of(tensors))
        for one in (start, alternate(tensors, start, 1), alternate(tensors, start, 6))
    ]
    assert (errors[0] <= 1).all()
    assert (errors[1] <= errors[0] + 1e-4).all()  # regularization costs a little
    assert (errors[2] <= errors[1] + 1e-4).all()


def test_the_start_is_exact_with_enough_products():
    tensors = np.random.default_rng(1).standard_normal((2, 3, 2, 4))
    start = first_factors(tensors, 4 * 2)
    assert tensors_of(start) == pytest.approx(tensors, abs=1e-12)
    more = first_factors(tensors, 11)
    assert more.u.shape == (2, 3, 11)
    assert tensors_of(more) == pytest.approx(tensors, abs=1e-12)


def test_one_solution_is_that_of_least_squares():
    """The slow twin: lstsq of the unfolded tensor."""
    tensors = np.random.default_rng(2).standard_normal((1, 4, 5, 3))
    u, v, w = first_factors(tensors, 2)
    v2, w2 = v[0], w[0]
    products = np.einsum("ck,ak->cak", v2, w2).reshape(-1, 2)
    u = np.linalg.lstsq(products, tensors[0].reshape(4, -1).T, rcond=None)[0].T
    products = np.einsum("bk,ak->bak", u, w2).reshape(-1, 2)
    v2 = np.linalg.lstsq(products, tensors[0].transpose(1, 0, 2).reshape(5, -1).T, rcond=None)[0].T
    products = np.einsum("bk,ck->bck", u, v2).reshape(-1, 2)
    w2 = np.linalg.lstsq(products, tensors[0].reshape(-1, 3), rcond=None)[0].T
    found = alternate(tensors, Factors(*first_factors(tensors, 2)), 1)
    expected = np.einsum("bk,ck,ak->bca", u, v2, w2)
    assert tensors_of(found)[0] == pytest.approx(expected, abs=1e-4)


def test_small_tensors_and_zeros_are_left_alone():
    assert not list(decompose(np.ones((3, 1, 2, 2)), 5))
    ((some, factors, missed),) = decompose(np.zeros((2, 4, 4, 4)), 5)
    assert factors.u.shape == (2, 4, 1)
    assert missed.tolist() == [0.0, 0.0]
    assert not any(one.any() for one in factors)
    assert some.tolist() == [0, 1]


def grammar_of(seed, n_states=(6, 5, 7)):
    rng = np.random.default_rng(seed)
    found = Grammar(RULES, np.array(n_states), np.empty(0), rng.random(sum(n_states)))
    found.tensor = rng.standard_normal(found.tensor_offsets[-1])
    return found


def test_a_grammar_of_low_rank_returns():
    grammar = grammar_of(0)
    parts = [tensors_of(drawn(1, shape, 2, r))[0] for r, shape in enumerate(grammar.sizes)]
    grammar.tensor = np.concatenate([part.ravel() for part in parts])
    rng = np.random.default_rng(0)
    found = low_rank(grammar, 8, *(rng.gamma(5.0, size=(2, len(grammar.root)))))
    assert found.error < 0.01
    assert found.share < 1
    assert found.grammar.parts.ranks.max() <= 4
    for r, part in enumerate(parts):
        assert found.grammar.tensor_of(r) == pytest.approx(part, abs=0.05 * np.abs(part).max())


def test_error_and_share_are_what_they_say():
    grammar = grammar_of(1)
    found = low_rank(grammar, 3)
    uses, missed = RULES.counts, []
    for r in range(len(uses)):
        t = grammar.tensor_of(r)
        missed.append(np.linalg.norm(t - found.grammar.tensor_of(r)) / np.linalg.norm(t))
    assert found.error == pytest.approx(uses @ missed / uses.sum(), rel=1e-4)
    n = found.grammar.parts.ranks @ grammar.sizes.sum(axis=1)
    assert found.share == pytest.approx(n / len(grammar.tensor))
    assert (found.grammar.parts.ranks == 3).all()


def test_a_rank_that_saves_nothing_keeps_the_tensor():
    grammar = grammar_of(2, (2, 1, 2))
    found = low_rank(grammar, 50)
    assert not found.grammar.parts.ranks.any() or found.share < 1
    whole = found.grammar.parts.ranks == 0
    for r in np.flatnonzero(whole):
        assert found.grammar.tensor_of(r) == pytest.approx(grammar.tensor_of(r), rel=1e-6)


def test_more_rank_is_closer():
    grammar = grammar_of(3)
    errors = [low_rank(grammar, rank).error for rank in (1, 2, 4, 8)]
    assert errors == sorted(errors, reverse=True)
