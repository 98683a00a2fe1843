"""Averages over the nodes of rules, against einsum."""

from itertools import pairwise

import numpy as np
import pytest

from eigentext import engine
from eigentext.grammars.grammar import starts, tensor_sizes
from eigentext.grammars.learning import _spectral_loops
from eigentext.grammars.learning._spectral_loops import average_rules
from eigentext.grammars.treebank.normal_form import Treebank

NONE, SOME = (0.0, 0.0, 0.0), (2.0, 10.0, 30.0)  # C of one, of two and of three vectors


class Averages:
    """Random Y and Z of the nodes of a treebank, and the arguments of `average_rules`."""

    def __init__(self, trees, n_states=(2, 1, 4), seed=0, *, weighted=False):
        rng = np.random.default_rng(seed)
        self.treebank = treebank = Treebank.from_trees(trees)
        self.rules = treebank.rules()
        self.n_states = np.resize(n_states, len(treebank.symbols))
        self.sizes = tensor_sizes(self.rules, self.n_states)
        self.states = starts(self.n_states)
        self.place = starts(self.n_states[treebank.label])
        self.y, self.z = rng.normal(size=(2, self.place[-1]))
        self.mean_y, self.mean_z = rng.normal(size=(2, self.states[-1]))
        self.weights = rng.gamma(1.0, size=len(treebank.label)) if weighted else None
        if self.weights is None:
            self.weights = np.ones(len(treebank.label))
        self.totals = np.bincount(treebank.label, self.weights)[self.rules.parent]

    def average(self, C, blocks=None, n_threads=1):
        """By the compiled loop, block by block."""
        treebank, rules = self.treebank, self.rules
        inner = np.flatnonzero(treebank.left >= 0)
        nodes = inner[np.argsort(treebank.rule[inner], kind="stable")]
        offsets = starts(self.sizes.prod(axis=1))
        tensor = np.full(offsets[-1], np.nan)  # all of it is to be filled

        def work(block):
            average_rules(
                *block, starts(rules.counts), nodes, treebank.left, treebank.right, self.weights,
                self.sizes, offsets, self.place, self.y, self.z, self.mean_y, self.mean_z,
                self.states[rules.left], self.states[rules.right], self.states[rules.parent],
                self.totals, np.array(C), tensor,
            )  # fmt: skip

        list(engine.ThreadEngine(n_threads).map(work, blocks or [(0, len(rules.parent))]))
        return tensor

    def twin(self, C):
        """By the expression of the docstring."""
        treebank, found = self.treebank, []
        y, z = (np.split(x, self.place[1:-1]) for x in (self.y, self.z))
        mean_y, mean_z = (np.split(x, self.states[1:-1]) for x in (self.mean_y, self.mean_z))
        for r, (a, b, c) in enumerate(zip(*self.rules[:3])):
            nodes = np.flatnonzero(treebank.rule == r)
            w = self.weights[nodes]
            n = w.sum()
            Y2 = np.array([y[i] for i in treebank.left[nodes]])
            Y3 = np.array([y[i] for i in treebank.right[nodes]])
            Z = np.array([z[i] for i in nodes])
            if n == 0:
                found.append(np.zeros(self.sizes[r].prod()))
                continue

            def mean(subscripts, *operands, w=w, n=n):
                return np.einsum(f"n,{subscripts}", w, *operands) / n

            y2, y3, z1 = mean("ni->i", Y2), mean("ni->i", Y3), mean("ni->i", Z)
            pairs = (
                np.einsum("ij,k->ijk", mean("ni,nj->ij", Y2, Y3), z1)
                + np.einsum("ik,j->ijk", mean("ni,nk->ik", Y2, Z), y3)
                + np.einsum("jk,i->ijk", mean("nj,nk->jk", Y3, Z), y2)
            ) / 3
            ones = np.einsum("i,j,k->ijk", y2, y3, z1)
            labels = np.einsum("i,j,k->ijk", mean_y[b], mean_y[c], mean_z[a])
            lam1, lam2, lam3 = np.sqrt(n) / (np.array(C) + np.sqrt(n))
            smooth = lam2 * pairs + (1 - lam2) * (lam1 * ones + (1 - lam1) * labels)
            three = lam3 * mean("ni,nj,nk->ijk", Y2, Y3, Z) + (1 - lam3) * smooth
            found.append((n / self.totals[r] * three).ravel())
        return np.concatenate(found)


@pytest.mark.parametrize("C", [NONE, SOME])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_states", [(1,), (2, 1, 4), (5, 3)])
def test_averages_are_those_of_einsum(ambiguous_trees, n_states, weighted, C):
    # 70 of each: more nodes of a rule than the loop takes at a time.
    averages = Averages(ambiguous_trees * 70, n_states, weighted=weighted)
    assert averages.rules.counts.max() > 2 * _spectral_loops._ROWS
    np.testing.assert_allclose(averages.average(C), averages.twin(C), rtol=1e-9, atol=1e-12)


def test_without_smoothing_one_node_is_its_product():
    averages = Averages(["(S (A x) (B y))"], (3, 2, 2))
    (a, b, _), s = np.split(averages.y, averages.place[1:-1]), averages.z[-3:]
    np.testing.assert_allclose(averages.average(NONE), np.einsum("i,j,k->ijk", a, b, s).ravel())


def test_smoothing_without_end_is_the_average_of_labels(hand_trees):
    averages = Averages(hand_trees)
    averages.mean_y[:] = averages.mean_z[:] = 1.0
    found = averages.average((1e12, 1e12, 1e12))
    shares = averages.rules.counts / averages.totals
    np.testing.assert_allclose(found, np.repeat(shares, averages.sizes.prod(axis=1)), rtol=1e-9)


def test_what_weighs_nothing_is_nothing(hand_trees):
    averages = Averages(hand_trees)
    averages.weights[averages.treebank.rule == 2] = 0.0
    for C in (NONE, SOME):
        found = averages.average(C)
        np.testing.assert_allclose(found, averages.twin(C), rtol=1e-9, atol=1e-12)
        first = averages.sizes[:2].prod(axis=1).sum()
        assert not found[first : first + averages.sizes[2].prod()].any()


def test_borders_and_threads_do_not_matter(hand_trees):
    averages = Averages(hand_trees * 20, (7, 3, 5), weighted=True)
    n = len(averages.rules.parent)
    whole = averages.average(SOME).tobytes()
    for step in (1, 2, 7, n):
        blocks = list(pairwise([*range(0, n, step), n]))
        for n_threads in (1, 2):
            assert averages.average(SOME, blocks, n_threads).tobytes() == whole
