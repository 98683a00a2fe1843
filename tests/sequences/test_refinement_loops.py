"""The loops of refinement HMMs equal sums and maxima over all sequences of labels and states."""

from itertools import pairwise, product

import numpy as np
import pytest

from eigentext.sequences import _refinement_loops as loops

SIZES = np.array([2, 1, 1])  # two labels, and the border
M = 2


def tables(rng, negative=False):
    """A random model: one, mean, flat, seen, place, blocks. The bigram 1 -> 0 was never seen."""
    has = np.arange(M) < SIZES[:, None]
    one, mean = (rng.random((3, M)) * has for _ in range(2))
    one[2], mean[2] = [1, 0], [1, 0]
    flat, seen = rng.random((2, 3, 3))
    place = np.arange(9, dtype=np.int32).reshape(3, 3)
    place[1, 0] = -1
    blocks = rng.random((9, M, M)) - (0.3 if negative else 0.0)
    return one, mean, flat, seen, place, blocks


def transition(a, b, one, mean, flat, seen, place, blocks):
    found = flat[a, b] * np.outer(one[a], mean[b])
    if place[a, b] >= 0:
        found = found + seen[a, b] * blocks[place[a, b]]
    return found[: SIZES[a], : SIZES[b]]


def sentence(rng, depth):
    border = np.array([0, 2, 3, 5])
    active = np.array([0, 1, 0, 1, 0], np.int32)
    return active, border, rng.random(5) + 0.1, rng.random((5, M, depth))


def paths(active, border):
    return product(*(range(a, z) for a, z in pairwise(border)))


def weight_of(path, active, weight, emitted, model):
    """The product of matrices along one path of labels."""
    value, before = np.ones((1, 1)), 2
    for k in path:
        a = active[k]
        E = emitted[k]
        E = np.diag(E[:, 0]) if E.shape[1] == 1 else E
        value = value @ transition(before, a, *model) @ (weight[k] * E[: SIZES[a], : SIZES[a]])
        before = a
    return float((value @ transition(before, 2, *model)).item())


@pytest.mark.parametrize("depth", [1, M])
def test_infer_is_the_sum_over_all_paths(depth):
    rng = np.random.default_rng(0)
    model = tables(rng, negative=depth > 1)
    active, border, weight, emitted = sentence(rng, depth)
    alpha, beta = np.zeros((2, 5, M))
    marginals, pairs = np.zeros(5), np.zeros(2 * 1 + 1 * 2)
    log_total, sign = loops.infer(
        active, border, weight, emitted, SIZES, *model, alpha, beta, marginals, pairs
    )
    weights = {path: weight_of(path, active, weight, emitted, model)
               for path in paths(active, border)}  # fmt: skip
    total = sum(weights.values())
    assert sign == np.sign(total)
    assert log_total == pytest.approx(np.log(abs(total)))
    for k in range(5):
        share = sum(w for path, w in weights.items() if k in path) / total
        assert marginals[k] == pytest.approx(share)
    expected = [
        sum(w for path, w in weights.items() if a in path and b in path) / total
        for a, b in [(0, 2), (1, 2), (2, 3), (2, 4)]
    ]
    np.testing.assert_allclose(pairs, expected)
    np.testing.assert_allclose((alpha * beta).sum(axis=1), marginals)


def test_infer_knows_what_is_impossible():
    rng = np.random.default_rng(0)
    model = list(tables(rng))
    model[2][:], model[3][:] = 0.0, 0.0
    active, border, weight, emitted = sentence(rng, 1)
    room = np.zeros((5, M)), np.zeros((5, M)), np.zeros(5), np.zeros(4)
    found = loops.infer(active, border, weight, emitted, SIZES, *model, *room)
    assert found == (-np.inf, 0)
    labels, states = np.zeros((2, 3), np.int64)
    assert loops.best_states(active, border, weight, emitted, SIZES, *model, labels, states) == (
        -np.inf
    )


def test_best_states_are_the_best_of_all():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        model = tables(rng)
        active, border, weight, emitted = sentence(rng, 1)
        labels, states = np.zeros((2, 3), np.int64)
        best = loops.best_states(active, border, weight, emitted, SIZES, *model, labels, states)
        found = {}
        for path in paths(active, border):
            for h in product(*(range(SIZES[active[k]]) for k in path)):
                value, before = 1.0, (2, 0)
                for k, i in zip(path, h):
                    a = active[k]
                    value *= transition(before[0], a, *model)[before[1], i]
                    value *= weight[k] * emitted[k, i, 0]
                    before = a, i
                value *= transition(before[0], 2, *model)[before[1], 0]
                found[tuple(active[list(path)].tolist()), h] = value
        (tags, h), value = max(found.items(), key=lambda one: one[1])
        assert best == pytest.approx(np.log(value))
        assert tuple(labels.tolist()) == tags
        assert tuple(states.tolist()) == h


def test_best_pairs_are_the_best_of_all():
    rng = np.random.default_rng(1)
    active, border, *_ = sentence(rng, 1)
    marginals, pairs = rng.random(5), rng.random(4)
    gains = dict(zip([(0, 2), (1, 2), (2, 3), (2, 4)], pairs))
    allowed = np.ones((3, 3), bool)
    for forbidden in (None, (0, 0), (0, 1), (2, 1)):
        allowed[:] = True
        if forbidden:
            allowed[forbidden] = False
        found = {}
        for path in paths(active, border):
            labels = [2, *active[list(path)].tolist(), 2]
            if all(allowed[a, b] for a, b in pairwise(labels)):
                found[path] = sum(gains[pair] for pair in pairwise(path))
        path = np.zeros(3, np.int64)
        best = loops.best_pairs(active, border, marginals, pairs, allowed, path)
        if found:
            assert best == pytest.approx(max(found.values()))
            assert path.tolist() == active[list(max(found, key=found.__getitem__))].tolist()
    allowed[2] = False
    assert loops.best_pairs(active, border, marginals, pairs, allowed, path) == -np.inf
    one = np.zeros(1, np.int64)
    allowed[:] = True
    top = loops.best_pairs(active[:2], border[:2], np.array([0.2, 0.8]), np.zeros(0), allowed, one)
    assert (top, one[0]) == (0.8, 1)


def test_expected_counts_are_those_of_all_states():
    rng = np.random.default_rng(2)
    label, pair = np.array([0, 1, 0]), np.array([0, 1, 2])
    begins, into, after = np.array([0, 2, 3]), np.array([0, 1, 0]), np.array([2, 3])
    o, t = rng.random((3, M)), rng.random((4, M, M))
    shares, moves = np.zeros_like(o), np.zeros_like(t)
    found = loops.expect(0, 2, begins, label, pair, into, after, SIZES, o, t, shares, moves)
    # The first sentence has the labels 0 and 1, the second has 0 alone.
    first = np.array([t[0, 0, h] * o[0, h] * t[1, h, 0] * o[1, 0] * t[2, 0, 0] for h in range(2)])
    second = np.array([t[0, 0, h] * o[2, h] * t[3, h, 0] for h in range(2)])
    assert found == pytest.approx(np.log(first.sum()) + np.log(second.sum()))
    first, second = first / first.sum(), second / second.sum()
    np.testing.assert_allclose(shares, [first, [1, 0], second])
    np.testing.assert_allclose(moves[0], [first + second, [0, 0]])
    np.testing.assert_allclose(moves[1], [[first[0], 0], [first[1], 0]])
    np.testing.assert_allclose(moves[2], [[1, 0], [0, 0]])
    np.testing.assert_allclose(moves[3], [[second[0], 0], [second[1], 0]])


def test_products_are_added_by_groups():
    rng = np.random.default_rng(3)
    group, weights = np.array([1, -1, 0, 1]), rng.random(4)
    left, right, sums = rng.random((4, 2)), rng.random((4, 3)), np.zeros((2, 2, 3))
    loops.add_products(group, weights, left, right, sums)
    expected = np.zeros_like(sums)
    for j in (0, 2, 3):
        expected[group[j]] += weights[j] * np.outer(left[j], right[j])
    np.testing.assert_allclose(sums, expected)
