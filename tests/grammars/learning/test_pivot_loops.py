"""The concave EM of rules, against sums over all combinations of rows."""

import numpy as np
import pytest

from eigentext.grammars.grammar import starts
from eigentext.grammars.learning._pivot_loops import (
    begin,
    likeliest_rules,
    pull_left_first,
    pull_right_first,
)

SIZES = np.array([[3, 2, 4], [1, 1, 1], [2, 3, 1], [4, 4, 3]])
COUNTS = np.array([35, 3, 20, 1])  # more than a block, less than one
TEMPLATES = np.array([[2, 3, 2], [1, 1, 1], [3, 1, 4], [2, 2, 1]])  # of left, right and parent


class Rules:
    """Rows of random numbers for the nodes of four rules, each with its own children."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.sizes, self.offsets = SIZES, starts(SIZES.prod(axis=1))
        self.members, self.sum_offsets = starts(COUNTS), starts(SIZES[:, 2])
        self.rule = np.repeat(np.arange(4), COUNTS)
        n = len(self.rule)
        order = rng.permutation(3 * n)
        self.left, self.right = np.full(3 * n, -1), np.full(3 * n, -1)
        self.nodes = order[:n]
        self.left[self.nodes], self.right[self.nodes] = order[n : 2 * n], order[2 * n :]
        self.weights = rng.uniform(0.5, 2, 3 * n)
        self.r = rng.gamma(0.5, size=500)
        self.s = rng.gamma(0.5, size=300)
        self.r_at, self.s_at = np.full((3 * n, 3), -1), np.full((3 * n, 4), -1)
        for i, rule in zip(self.nodes, self.rule):
            k2, k3, k1 = TEMPLATES[rule]
            self.s_at[i, :k1] = rng.integers(0, 290, k1)
            self.r_at[self.left[i], :k2] = rng.integers(0, 490, k2)
            self.r_at[self.right[i], :k3] = rng.integers(0, 490, k3)
        self.average = rng.gamma(1, size=self.offsets[-1])
        self.tensor = rng.normal(0.7, 1, size=self.offsets[-1])

    def found(self, n_iter, tol=0.0, blocks=((0, 4),)):
        tensor, sums = self.tensor.copy(), np.full(self.sum_offsets[-1], np.nan)
        for block in blocks:
            likeliest_rules(
                *block, self.members, self.nodes, self.left, self.right, self.weights, self.sizes,
                self.offsets, self.r_at, self.r, self.s_at, self.s, self.average, n_iter, tol,
                tensor, sums, self.sum_offsets,
            )  # fmt: skip
        return tensor, sums

    def of(self, rule, tensor):
        return tensor[self.offsets[rule] : self.offsets[rule + 1]].reshape(self.sizes[rule])

    def rows(self, rule):
        """The weight and the outer product of each combination of rows at each node."""
        mb, mc, ma = self.sizes[rule]
        k2, k3, k1 = TEMPLATES[rule]
        for i in self.nodes[self.rule == rule]:
            for x in self.s_at[i, :k1]:
                for y in self.r_at[self.left[i], :k2]:
                    for z in self.r_at[self.right[i], :k3]:
                        outer = np.einsum(
                            "b,c,a->bca", self.r[y : y + mb], self.r[z : z + mc], self.s[x : x + ma]
                        )
                        yield self.weights[i] / (k1 * k2 * k3), outer

    def start(self, rule):
        t, average = self.of(rule, self.tensor), self.of(rule, self.average)
        below, above = -t[t < 0].sum(), t[t > 0].sum()
        noise = min(below / above, 1)
        return (1 - noise) * np.maximum(t, 0) / above + noise * average / average.sum()

    def slope(self, rule, t):
        total = sum(w for w, _ in self.rows(rule))
        return sum(w * outer / (t * outer).sum() for w, outer in self.rows(rule)) / total

    def log_likelihood(self, rule, t):
        return sum(w * np.log((t * outer).sum()) for w, outer in self.rows(rule))


@pytest.mark.parametrize("n_iter", [0, 1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_steps_are_sums_over_all_combinations_of_rows(n_iter, seed):
    rules = Rules(seed)
    tensor, sums = rules.found(n_iter)
    for rule in range(4):
        t = rules.start(rule)
        for _ in range(n_iter):
            t = t * rules.slope(rule, t)
            assert t.sum() == pytest.approx(1)
        n = rules.weights[rules.nodes[rules.rule == rule]].sum()
        np.testing.assert_allclose(rules.of(rule, tensor), n * t, rtol=1e-9, atol=1e-9)
        in_states = sums[rules.sum_offsets[rule] : rules.sum_offsets[rule + 1]]
        np.testing.assert_allclose(in_states, rules.of(rule, tensor).sum(axis=(0, 1)), rtol=1e-12)
    assert (tensor > 0).all()


def test_borders_of_blocks_do_not_matter():
    rules = Rules(0)
    whole = rules.found(2)
    parts = rules.found(2, blocks=((2, 4), (0, 1), (1, 2)))
    for one, other in zip(whole, parts):
        np.testing.assert_array_equal(one, other)


def test_it_rises_to_the_greatest_likelihood():
    rules = Rules(1)
    rule = 2
    n = rules.weights[rules.nodes[rules.rule == rule]].sum()
    found = [rules.of(rule, rules.found(k)[0]) / n for k in (0, 1, 2, 5, 20, 300)]
    scores = [rules.log_likelihood(rule, t) / n for t in found]
    assert (np.diff(scores) > -1e-12).all()
    gap = rules.slope(rule, found[-1]).max() - 1
    assert gap < 1e-3
    best = rules.of(rule, rules.found(300, tol=0.01)[0]) / n  # it stops when it is this near
    assert gap < rules.slope(rule, best).max() - 1 <= 0.01
    assert scores[-1] - 0.01 <= rules.log_likelihood(rule, best) / n < scores[-1]


def test_where_a_start_is_noise_it_is_the_average():
    average = np.array([[1.0, 3.0]])
    for t in ([[-1.0, -2.0]], [[-1.0, 1.0]], [[0.0, 0.0]], [[-2.0, 1.0]]):
        t = np.array(t)
        begin(t, average)
        np.testing.assert_array_equal(t, [[0.25, 0.75]])
    t = np.array([[3.0, 1.0]])
    begin(t, average)
    np.testing.assert_array_equal(t, [[0.75, 0.25]])
    begin(t, 0 * average)
    np.testing.assert_array_equal(t, [[0.75, 0.25]])
    t = np.array([[-1.0, 2.0]])
    begin(t, average)
    np.testing.assert_allclose(t, [[0.125, 0.875]])


def test_either_child_first():
    rng = np.random.default_rng(0)
    f, y, z = rng.random((3, 4)), rng.random((2, 3)), rng.random((5, 4))
    y[1], f[:, 0] = 0, 0  # combinations of no probability do not count
    b, other, at = np.empty((3, 4)), np.empty((3, 4)), np.empty(5)
    pull_left_first(f, y, z, 0.5, b, at, at.copy())
    pull_right_first(f, y, z, 0.5, other, at, at.copy())
    np.testing.assert_allclose(b, 0.5 * sum(np.outer(y[0], zk) / (y[0] @ f @ zk) for zk in z))
    np.testing.assert_allclose(b, other)
