"""The compiled loops of learning, against einsum node by node."""

from itertools import pairwise

import numpy as np
import pytest

from eigentext.grammars.learning._training_loops import (
    ROWS,
    add_losses,
    back_off_rules,
    count_rules,
    inside_runs,
    normalize_rules,
    outside_runs,
)

# (m_left, m_right, m_parent) of rules, and the number of nodes of each. Short products are loops
# and long ones use BLAS. Some rules have more nodes than the loop takes at a time.
SIZES = np.array([[1, 1, 1], [2, 3, 4], [16, 16, 16], [7, 1, 9], [1, 20, 40], [5, 5, 1]])
NODES = [3, 2 * ROWS + 5, ROWS + 1, ROWS, 40, 1]


class Level:
    """Nodes of one height with two leaves each; a run for each rule."""

    def __init__(self, seed: int):
        rng = np.random.default_rng(seed)
        n = sum(NODES)
        self.rule = np.arange(len(SIZES))
        self.node_rule = np.repeat(self.rule, NODES)
        self.runs = 2 * n + np.concatenate(([0], np.cumsum(NODES)))
        leaves = rng.permutation(2 * n)
        self.left, self.right = (
            np.concatenate((np.full(2 * n, -1), x)) for x in (leaves[:n], leaves[n:])
        )
        sizes = np.empty(3 * n, np.int64)
        sizes[leaves[:n]], sizes[leaves[n:]], sizes[2 * n :] = SIZES[self.node_rule].T
        self.place = np.concatenate(([0], np.cumsum(sizes)))
        self.offsets = np.concatenate(([0], np.cumsum(SIZES.prod(axis=1))))
        self.tensor = rng.gamma(0.5, size=self.offsets[-1])
        self.tensor[rng.random(len(self.tensor)) < 0.2] = 0.0
        self.inside, self.outside = np.zeros(self.place[-1]), np.zeros(self.place[-1])
        self.scale = np.zeros(3 * n)
        for p in range(2 * n):
            self.vector(self.inside, p)[:] = rng.dirichlet(np.ones(sizes[p]))
        self.scale[: 2 * n] = rng.uniform(-2000, 500, 2 * n)
        impossible = [leaves[0], leaves[10], leaves[n + 20]]
        self.scale[impossible] = -np.inf
        for p in impossible:
            self.vector(self.inside, p)[:] = 0.0
        self.parents = range(2 * n, 3 * n)
        self.impossible = {2 * n, 2 * n + 10, 2 * n + 20}

    def vector(self, values, node):
        return values[self.place[node] : self.place[node + 1]]

    def tensor_of(self, node, tensor=None):
        r = self.node_rule[node - self.parents[0]]
        tensor = self.tensor if tensor is None else tensor
        return tensor[self.offsets[r] : self.offsets[r + 1]].reshape(SIZES[r])

    def upwards(self, borders=(0, 6)):
        for first, last in pairwise(borders):
            inside_runs(
                first, last, self.runs, self.rule, self.left, self.right, SIZES, self.offsets,
                self.tensor, self.place, self.inside, self.scale,
            )  # fmt: skip

    def downwards(self, rng, borders=(0, 6)):
        self.outside[:] = np.nan  # nothing is read that was not written
        for p in self.parents:
            self.vector(self.outside, p)[:] = rng.gamma(1.0, size=len(self.vector(self.inside, p)))
        for first, last in pairwise(borders):
            outside_runs(
                first, last, self.runs, self.rule, self.left, self.right, SIZES, self.offsets,
                self.tensor, self.place, self.inside, self.outside, self.scale,
            )  # fmt: skip

    def weight(self, p):
        if p in self.impossible:
            return 0.0
        return np.exp(self.scale[self.left[p]] + self.scale[self.right[p]] - self.scale[p])


@pytest.fixture(params=[0, 1])
def level(request):
    return Level(request.param)


def test_inside(level):
    level.upwards()
    for p in level.parents:
        b, c = (level.vector(level.inside, x[p]) for x in (level.left, level.right))
        v = np.einsum("b,c,bca->a", b, c, level.tensor_of(p))
        found = level.vector(level.inside, p)
        if p in level.impossible:
            assert level.scale[p] == -np.inf
            assert not found.any()
        else:
            below = level.scale[level.left[p]] + level.scale[level.right[p]]
            assert np.allclose(found, v / v.sum(), rtol=1e-12)
            assert level.scale[p] == pytest.approx(below + np.log(v.sum()), rel=1e-12)


def test_outside(level):
    level.upwards()
    level.downwards(np.random.default_rng(0))
    for p in level.parents:
        b, c = (level.vector(level.inside, x[p]) for x in (level.left, level.right))
        g = level.weight(p) * level.tensor_of(p) @ level.vector(level.outside, p)
        left, right = (level.vector(level.outside, x[p]) for x in (level.left, level.right))
        assert np.allclose(left, g @ c, rtol=1e-9)
        assert np.allclose(right, b @ g, rtol=1e-9)


def test_counts(level):
    level.upwards()
    level.downwards(np.random.default_rng(0))
    members = np.concatenate(([0], np.cumsum(NODES)))
    nodes = np.array(level.parents)
    counts, sums = np.full(len(level.tensor), np.nan), np.full(SIZES[:, 2].sum(), np.nan)
    sum_offsets = np.concatenate(([0], np.cumsum(SIZES[:, 2])))
    for first, last in ((0, 2), (2, len(SIZES))):
        count_rules(
            first, last, members, nodes, level.left, level.right, SIZES, level.offsets,
            level.tensor, level.place, level.inside, level.outside, level.scale, counts, sums,
            sum_offsets,
        )  # fmt: skip
    expected = np.zeros(len(level.tensor))
    for p in level.parents:
        b, c = (level.vector(level.inside, x[p]) for x in (level.left, level.right))
        uses = np.einsum("b,c,a->bca", b, c, level.vector(level.outside, p))
        level.tensor_of(p, expected)[:] += level.weight(p) * level.tensor_of(p) * uses
    assert np.allclose(counts, expected, rtol=1e-9)
    for r in range(len(SIZES)):
        of_rule = expected[level.offsets[r] : level.offsets[r + 1]].reshape(SIZES[r])
        found = sums[sum_offsets[r] : sum_offsets[r + 1]]
        assert np.allclose(found, of_rule.sum(axis=(0, 1)), rtol=1e-9)


def test_borders_of_blocks_change_no_bit():
    one, other = Level(0), Level(0)
    one.upwards()
    one.downwards(np.random.default_rng(0))
    other.upwards((0, 1, 3, len(SIZES)))
    other.downwards(np.random.default_rng(0), (0, 2, 5, len(SIZES)))
    assert np.array_equal(one.inside, other.inside)
    assert np.array_equal(one.outside, other.outside)
    assert np.array_equal(one.scale, other.scale)


def test_a_sum_whose_inverse_is_infinite_is_zero():
    """Two leaves whose states exclude each other up to rounding."""
    sizes, offsets = np.array([[1, 1, 2]]), np.array([0, 2])
    left, right = np.array([-1, -1, 0]), np.array([-1, -1, 1])
    place = np.array([0, 1, 2, 4])
    inside, outside = np.array([1.0, 1.0, np.nan, np.nan]), np.array([np.nan, np.nan, 0.0, 1.0])
    scale, tensor = np.zeros(3), np.array([0.0, 1e-310])
    shape = 0, 1, np.array([2, 3]), np.array([0]), left, right, sizes, offsets, tensor, place
    inside_runs(*shape, inside, scale)
    assert inside.tolist() == [1, 1, 0, 0]
    assert scale.tolist() == [0, 0, -np.inf]
    outside_runs(*shape, inside, outside, scale)
    assert outside[:2].tolist() == [0, 0]


def packed(rng, sizes):
    tensors = [rng.gamma(0.3, size=size) for size in sizes]
    offsets = np.concatenate(([0], np.cumsum(np.prod(sizes, axis=1))))
    return tensors, offsets, np.concatenate([t.ravel() for t in tensors])


def test_normalization():
    rng = np.random.default_rng(0)
    tensors, offsets, values = packed(rng, SIZES)
    parent_states = np.concatenate(([0], np.cumsum(SIZES[:-1, 2])))
    totals = rng.gamma(1.0, size=SIZES[:, 2].sum())
    totals[[3, 20]] = 0.0
    least = 0.01
    for first, last in ((0, 3), (3, len(SIZES))):
        normalize_rules(first, last, parent_states, SIZES, offsets, totals, least, values)
    for r, t in enumerate(tensors):
        below = totals[parent_states[r] : parent_states[r] + SIZES[r, 2]]
        expected = np.divide(t, below, out=np.zeros_like(t), where=below > 0)
        expected[expected < least] = 0.0
        found = values[offsets[r] : offsets[r + 1]].reshape(SIZES[r])
        assert np.allclose(found, expected, rtol=1e-15)


@pytest.mark.parametrize(("dependent", "independent"), [(5.0, 2.0), (0.0, 3.0), (4.0, 0.0)])
def test_back_off(dependent, independent):
    rng = np.random.default_rng(0)
    tensors, offsets, values = packed(rng, SIZES)
    tensors[1][..., 2] = values[offsets[1] : offsets[2]].reshape(SIZES[1])[..., 2] = 0.0
    first_states = np.concatenate(([0], np.cumsum(SIZES.ravel())))
    left_states, right_states = first_states[0:-1:3], first_states[1:-1:3]
    share = np.concatenate([rng.dirichlet(np.ones(m)) for m in SIZES.ravel()])
    for first, last in ((0, 3), (3, len(SIZES))):
        back_off_rules(
            first, last, SIZES, offsets, left_states, right_states, share, dependent, independent,
            values,
        )  # fmt: skip
    for r, E in enumerate(tensors):
        P = [share[s : s + m] for s, m in zip((left_states[r], right_states[r]), SIZES[r])]
        N, above = E.sum(), E.sum(axis=(0, 1))
        with np.errstate(invalid="ignore"):
            D = np.nan_to_num(np.einsum("ba,ca->bca", E.sum(axis=1), E.sum(axis=0)) / above)
        I = np.einsum("b,c,a->bca", *P, above)  # noqa: E741
        mixed = (N * E + dependent * D + independent * I) / (N + dependent + independent)
        found = values[offsets[r] : offsets[r + 1]].reshape(SIZES[r])
        assert np.allclose(found, mixed, rtol=1e-12)
        assert np.allclose(found.sum(axis=(0, 1)), above, rtol=1e-12)


# the losses of undone splits ----------------------------------------------------------------------

SMALL = ["(S (A a) (B b))", "(S (A b) (S (A a) (B b)))", "(S (A a) (B b) (B a))", "(B a)"]


@pytest.mark.parametrize("seed", range(3))
def test_losses(latent, seed):
    """The likelihood of a tree with two states merged at one node, over that of before."""
    model = latent(SMALL, (2, 4, 1), seed)
    treebank, grammar = model.treebank, model.parameters.grammar
    was_split = grammar.n_states > 1
    counts = model.trees.expect(model.parameters)
    found = model.trees.split_losses(model.parameters, counts.states, was_split)
    expected = np.where(np.isfinite(found), 0.0, np.inf)
    for t, first in enumerate(treebank.offsets[:-1]):
        for node in range(first, treebank.offsets[t + 1]):
            a = treebank.label[node]
            below, above = inside_outside(model, t, node)
            for h in range(0, grammar.n_states[a] if was_split[a] else 0, 2):
                s, both = grammar.state_offsets[a] + h, slice(h, h + 2)
                p = counts.states[s : s + 2] / counts.states[s : s + 2].sum()
                others = above @ below - above[both] @ below[both]
                merged = above[both].sum() * (p @ below[both])
                expected[s] -= np.log((others + merged) / (above @ below))
    assert np.allclose(found, expected, rtol=1e-9)


def inside_outside(model, t, node):
    """Inside and outside of a node by states, without scales, by the definition."""
    treebank, grammar, lexical = model.treebank, *vars(model.parameters).values()
    first, last = treebank.offsets[t : t + 2]
    inside, outside = {}, {}
    for p in range(first, last):
        a = treebank.label[p]
        if treebank.left[p] < 0:
            place = model.word_place(p)
            inside[p] = lexical[place : place + grammar.n_states[a]]
        else:
            t = grammar.tensor_of(treebank.rule[p])
            inside[p] = np.einsum("bca,b,c", t, inside[treebank.left[p]], inside[treebank.right[p]])
    states = grammar.state_offsets[treebank.label[last - 1] :]
    outside[last - 1] = grammar.root[states[0] : states[1]]
    for p in range(last - 1, first - 1, -1):
        if treebank.left[p] >= 0:
            b, c, t = treebank.left[p], treebank.right[p], grammar.tensor_of(treebank.rule[p])
            outside[b] = np.einsum("bca,c,a->b", t, inside[c], outside[p])
            outside[c] = np.einsum("bca,b,a->c", t, inside[b], outside[p])
    return inside[node], outside[node]


def test_losses_do_not_divide_by_zero():
    """A split of which neither state is used, and a node of a tree without probability."""
    label, n_states = np.array([0, 1, 0]), np.array([2, 2])
    place, state_offsets = np.array([0, 2, 4, 6]), np.array([0, 2, 4])
    inside = np.array([0.5, 0.5, 1.0, 0.0, 0.0, 0.0])
    outside = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    losses = np.zeros(4)
    states = np.array([0.0, 0.0, 1.0, 0.0])
    was_split = np.array([True, True])
    add_losses(label, n_states, was_split, place, inside, outside, state_offsets, states, losses)
    assert losses.tolist() == [0, 0, 0, 0]
    # The tree uses one state only, and all other trees use its twin.
    inside, outside = np.array([1.0, 0.0] * 3), np.array([1.0, 0.0] * 3)
    states = np.array([0.0, 5.0, 1.0, 1.0])
    add_losses(label, n_states, was_split, place, inside, outside, state_offsets, states, losses)
    assert losses[0] == pytest.approx(-2 * np.log(1e-300))
    assert losses[2] == pytest.approx(np.log(2))
    assert losses[[1, 3]].tolist() == [0, 0]
