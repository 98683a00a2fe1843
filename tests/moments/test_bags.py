"""Moments of bags: all pairs and triples of positions, a model's own moments, equal bits."""

from itertools import permutations, product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from eigentext import engine
from eigentext.moments.bags import BagMoments

D = 4
documents = st.lists(st.lists(st.integers(0, D - 1), max_size=6), min_size=1, max_size=6)


def counts_of(tokens, d=D):
    return np.array([np.bincount(np.array(t, int), minlength=d) for t in tokens])


def by_positions(tokens, weights, order, d=D):
    """The mean over documents of the mean over ordered tuples of distinct positions."""
    moment, total = np.zeros((d,) * order), 0.0
    for document, weight in zip(tokens, weights):
        places = list(permutations(document, order))
        for words in places:
            moment[words] += weight / len(places)
        total += weight if places else 0
    return moment / total if total else moment


def contracted(T, W):
    return np.einsum("abc,ai,bj,ck->ijk", T, W, W, W)


def random_counts(n=6000, d=300, seed=0, mean=0.05):
    rng = np.random.default_rng(seed)
    return sp.csr_array(rng.poisson(mean, (n, d)))


@settings(max_examples=30)
@given(documents, st.integers(0, 99))
def test_all_positions_of_all_documents(tokens, seed):
    rng = np.random.default_rng(seed)
    weights, W = rng.uniform(0.1, 3, len(tokens)), rng.standard_normal((D, 3))
    bags = BagMoments(counts_of(tokens), weights)
    pairs, triples = (by_positions(tokens, weights, order) for order in (2, 3))
    assert np.allclose(bags.mean, by_positions(tokens, weights, 1), rtol=0, atol=1e-13)
    assert np.allclose(bags.pairs_times(np.eye(D)), pairs, rtol=0, atol=1e-13)
    assert np.allclose(bags.pairs_times(W), pairs @ W, rtol=0, atol=1e-12)
    assert np.allclose(bags.triples(np.eye(D)), triples, rtol=0, atol=1e-13)
    assert np.allclose(bags.triples(W), contracted(triples, W), rtol=0, atol=1e-11)
    assert np.allclose(bags.triples(W[:, :1]), contracted(triples, W[:, :1]), rtol=0, atol=1e-11)


def test_by_hand():
    bags = BagMoments(counts_of([[0, 0, 1], [1, 1]], 2))
    assert np.allclose(bags.mean, [1 / 3, 2 / 3])
    assert np.allclose(bags.pairs_times(np.eye(2)), [[1 / 6, 1 / 6], [1 / 6, 1 / 2]])
    third = [[[0, 1 / 3], [1 / 3, 0]], [[1 / 3, 0], [0, 0]]]  # of the first document alone
    assert np.allclose(bags.triples(np.eye(2)), third)


def test_weights_are_copies():
    tokens = [[0, 1, 1, 2], [3, 3, 0], [1, 2]]
    once = BagMoments(counts_of(tokens), np.array([2, 1, 3]))
    copies = BagMoments(counts_of([tokens[i] for i in (0, 0, 1, 2, 2, 2)]))
    assert np.allclose(once.mean, copies.mean)
    assert np.allclose(once.pairs_times(np.eye(D)), copies.pairs_times(np.eye(D)))
    assert np.allclose(once.triples(np.eye(D)), copies.triples(np.eye(D)))


@pytest.mark.parametrize(("K", "d", "length"), [(2, 4, 3), (3, 3, 4), (2, 3, 5), (1, 3, 3)])
def test_the_moments_of_a_model(K, d, length):
    """Over all documents there are, each as likely as it is: no bias at any length."""
    rng = np.random.default_rng(length)
    w, mu = rng.dirichlet(np.ones(K)), rng.dirichlet(np.ones(d), K)
    tokens = list(product(range(d), repeat=length))
    chances = np.array([(w * mu[:, document].prod(axis=1)).sum() for document in tokens])
    bags = BagMoments(counts_of(tokens, d), chances)
    assert np.abs(bags.mean - w @ mu).max() < 1e-12
    assert np.abs(bags.pairs_times(np.eye(d)) - (mu.T * w) @ mu).max() < 1e-12
    third = np.einsum("r,ri,rj,rk->ijk", w, mu, mu, mu)
    assert np.abs(bags.triples(np.eye(d)) - third).max() < 1e-12


def test_documents_too_short_are_left_out_of_what_they_lack():
    tokens = [[0, 0, 1, 3], [2, 1, 1]]
    short, empty = [[3], [2, 2]], [[], []]
    longer, all_of_them = (BagMoments(counts_of(t)) for t in (tokens, tokens + short + empty))
    assert np.array_equal(all_of_them.triples(np.eye(D)), longer.triples(np.eye(D)))
    with_pairs = BagMoments(counts_of([*tokens, short[1]]))
    assert np.array_equal(all_of_them.pairs_times(np.eye(D)), with_pairs.pairs_times(np.eye(D)))
    assert np.array_equal(all_of_them.mean, BagMoments(counts_of(tokens + short)).mean)


@pytest.mark.parametrize("tokens", [[[0], [1, 2], []], [[0], [3]], [[], []]])
def test_nothing_but_short_documents(tokens):
    bags = BagMoments(counts_of(tokens))
    assert np.isfinite(bags.mean).all()
    assert np.isfinite(bags.pairs_times(np.eye(D))).all()
    assert not bags.triples(np.eye(D)).any()
    assert bags.pairs_times(np.eye(D)).any() == any(len(t) > 1 for t in tokens)
    assert bags.pair_shares(np.eye(D)).sum() == pytest.approx(0)  # no pair is of one word twice


def test_no_weight_and_no_documents():
    for bags in (BagMoments(np.eye(3) * 5, np.zeros(3)), BagMoments(sp.csr_array((0, 3)))):
        assert not bags.mean.any()
        assert not bags.pairs_times(np.eye(3)).any()
        assert not bags.triples(np.eye(3)).any()


def test_counts_with_fractions():
    """The formulas hold as they stand."""
    rng = np.random.default_rng(0)
    C = rng.gamma(0.5, 2.0, (40, D))
    n = C.sum(axis=1)
    pairs, triples, n_pairs, n_triples = np.zeros((D, D)), np.zeros((D, D, D)), 0, 0
    I = np.eye(D)  # noqa: E741 - the identity
    for c, total in zip(C, n):
        if total >= 2:
            pairs += (np.outer(c, c) - np.diag(c)) / (total * (total - 1))
            n_pairs += 1
        if total >= 3:
            tied = np.einsum("a,ab,c->abc", c, I, c)
            triples += (
                np.einsum("a,b,c->abc", c, c, c)
                - (tied + tied.transpose(0, 2, 1) + tied.transpose(2, 1, 0))
                + 2 * np.einsum("a,ab,ac->abc", c, I, I)
            ) / (total * (total - 1) * (total - 2))
            n_triples += 1
    assert n_pairs > n_triples > 0
    bags = BagMoments(C)
    assert np.allclose(bags.mean, (C / n[:, None]).mean(axis=0))
    assert np.allclose(bags.pairs_times(I), pairs / n_pairs)
    assert np.allclose(bags.triples(I), triples / n_triples)


@pytest.mark.parametrize(("order", "length"), [(2, 1 + 1e-9), (3, 2 + 1e-9)])
def test_a_length_just_above_too_short_outweighs_nothing(order, length):
    """1 / (n - 2) would be a thousand million."""
    C = np.array([[2.0, 1.0], [1.0, 3.0], [0.4 * length, 0.6 * length]])
    found, without = BagMoments(C), BagMoments(C[:2])
    if order == 2:
        assert np.allclose(found.pairs_times(np.eye(2)), without.pairs_times(np.eye(2)))
    assert np.allclose(found.triples(np.eye(2)), without.triples(np.eye(2)))


def test_shares_of_documents_sum_to_the_trace():
    bags = BagMoments(random_counts(200, 30, mean=0.2), np.arange(200.0))
    W = np.random.default_rng(1).standard_normal((30, 5))
    shares = bags.pair_shares(W)
    assert shares.shape == (200,)
    assert shares.sum() == pytest.approx(np.trace(W.T @ bags.pairs_times(W)), rel=1e-12)
    one = BagMoments(bags.counts[[7]])  # a share is of the weighted mean
    weights = bags.weights * (bags.lengths >= 2)
    expected = weights[7] / weights.sum() * np.trace(W.T @ one.pairs_times(W))
    assert shares[7] == pytest.approx(expected, rel=1e-12)


def test_other_weights():
    C, rng = random_counts(200, 30, mean=0.2), np.random.default_rng(0)
    first, second = rng.uniform(0, 2, (2, 200))
    bags = BagMoments(C, first)
    before = bags.triples(np.eye(30))
    other, fresh = bags.reweighted(second), BagMoments(C, second)
    assert type(other) is BagMoments
    assert other.n_words == 30
    assert np.array_equal(other.mean, fresh.mean)
    assert np.array_equal(other.pairs_times(np.eye(30)), fresh.pairs_times(np.eye(30)))
    assert np.array_equal(other.triples(np.eye(30)), fresh.triples(np.eye(30)))
    assert np.array_equal(bags.triples(np.eye(30)), before)
    assert np.array_equal(bags.weights, first)


def test_any_matrix_of_counts():
    C = random_counts(50, 20, mean=0.3).toarray()
    expected = BagMoments(C).triples(np.eye(20))
    row, column = np.nonzero(C)
    twice = sp.coo_array(  # each count in two parts
        (np.tile(C[row, column] / 2, 2), (np.tile(row, 2), np.tile(column, 2))), C.shape
    )
    for form in (sp.csc_array(C), sp.csr_matrix(C.astype(np.int32)), twice):
        assert np.allclose(BagMoments(form).triples(np.eye(20)), expected, rtol=1e-12)


def test_same_bits_on_any_number_of_threads():
    C = random_counts()
    W = np.random.default_rng(0).standard_normal((300, 40))
    results = []
    for threads in (1, 2, 8):
        with (
            engine.use(engine.ThreadEngine(threads)),
            threadpool_limits(limits=threads, user_api="blas"),
        ):
            bags = BagMoments(C)
            results.append((bags.mean, bags.pairs_times(W), bags.triples(W), bags.pair_shares(W)))
    for other in results[1:]:
        assert all(np.array_equal(one, two) for one, two in zip(results[0], other))


def test_blocks_of_rows_change_nothing():
    """6,000 documents are two blocks of outer products; their parts of 500 are one each."""
    C = random_counts(d=40)
    W = np.random.default_rng(0).standard_normal((40, 30))
    parts = [BagMoments(C[start : start + 500]) for start in range(0, 6000, 500)]
    n = [(part.lengths >= 3).sum() for part in parts]
    expected = np.average([part.triples(W) for part in parts], axis=0, weights=n)
    assert np.allclose(BagMoments(C).triples(W), expected, rtol=1e-9, atol=1e-12)
