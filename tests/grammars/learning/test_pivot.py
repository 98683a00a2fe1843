"""Pivot learning: true parameters from a population, near ones from samples, always proper."""

import importlib.util
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from eigentext import engine
from eigentext.grammars.learning import pivot as pivot_module
from eigentext.grammars.learning.counts import CountedTrees
from eigentext.grammars.learning.em import em, random_start
from eigentext.grammars.learning.pivot import FeatureTable, pivot
from eigentext.grammars.learning.spectral import project
from eigentext.grammars.learning.training import Smoothing
from eigentext.grammars.treebank.features import TreebankNodes, code_features

_spec = importlib.util.spec_from_file_location("_worlds", Path(__file__).parents[1] / "_worlds.py")
worlds = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(worlds)

RULES = {
    "S": ["X C", "A Y", "X Y", "Y X"],
    "X": ["A B", "B A", "A A", "C B"],
    "Y": ["B C", "C A", "B B", "A C"],
    "A": ["u", "v", "w"],
    "B": ["u", "v", "w", "x"],
    "C": ["u", "v", "x"],
}
STATES = {"X": 3, "Y": 2, "A": 2, "B": 3, "C": 2}


class PivotWorld(worlds.World):
    """A world in which the h-th rule or word of a label is the pivot of its state h."""

    def __init__(self, rules=RULES, roots="S X Y", n_states=STATES, seed=0, **options):
        super().__init__(rules, roots, n_states, seed, **options)
        for a, rights in self.rules.items():
            parts = [self.parameters[a, *right] for right in rights]
            for h, part in enumerate(parts[: self.m[a]]):
                part[np.arange(self.m[a]) != h] = 0
            total = sum(part.reshape(self.m[a], -1).sum(axis=1) for part in parts)
            for part in parts:
                part /= total.reshape(-1, *[1] * (part.ndim - 1))
        found = [(tree, pi @ b) for a, pi in self.pi.items() for tree, b in self._inside(a)]
        self.trees = [tree for tree, p in found if p > 0]
        self.p = np.array([p for _, p in found if p > 0])

        self.learner = worlds.learner(self.trees)

    def everything(self, counts, features="full"):
        """Counted trees, features and projections, with given numbers of each tree."""
        weights = np.repeat(counts.astype(float), np.diff(self.learner.treebank.offsets))
        return evidence(self.learner, features, weights=weights)

    def error(self, learner, found):
        """The largest error of a parameter, under the best order of the states of each label."""
        grammar, symbols = found.grammar, [str(symbol) for symbol in learner.treebank.symbols]
        rules = [tuple(symbols[a] for a in rule) for rule in zip(*grammar.rules[:3])]
        orders = {}
        for a, symbol in enumerate(symbols):
            kinds = [grammar.tensor_of(r) for r, rule in enumerate(rules) if rule[0] == symbol]
            truth = [self.parameters[rule] for rule in rules if rule[0] == symbol]
            for pair in np.flatnonzero(learner.trees.pair_label == a):
                kinds.append(self.word(learner, found, pair))
                truth.append(self.parameters[symbol, self.name(learner, pair)])
            have = np.stack([t.reshape(-1, self.m[symbol]).sum(axis=0) for t in kinds], axis=1)
            want = np.stack([t.reshape(self.m[symbol], -1).sum(axis=1) for t in truth], axis=1)
            distances = np.abs(have[None] - want[:, None]).sum(axis=2)
            orders[symbol] = linear_sum_assignment(distances)[1]
        errors = []
        for r, (a, b, c) in enumerate(rules):
            t = grammar.tensor_of(r)[np.ix_(orders[b], orders[c], orders[a])]
            errors.append(t.transpose(2, 0, 1) - self.parameters[a, b, c])
        for pair, a in enumerate(learner.trees.pair_label):
            q = self.word(learner, found, pair)[orders[symbols[a]]]
            errors.append(q - self.parameters[symbols[a], self.name(learner, pair)])
        for symbol, root in zip(symbols, np.split(grammar.root, grammar.state_offsets[1:-1])):
            errors.append(root[orders[symbol]] - self.pi.get(symbol, 0))
        return max(np.abs(error).max() for error in errors)

    def word(self, learner, found, pair):
        sizes = found.grammar.n_states[learner.trees.pair_label]
        return np.split(found.lexical, np.cumsum(sizes)[:-1])[pair]

    def name(self, learner, pair):
        return learner.lexicon.words[learner.trees.pair_terminal[pair]]


@cache
def pivot_world(seed=0, **options):
    return PivotWorld(seed=seed, **options)


def evidence(learner, features="full", max_states=6, **options):
    nodes = TreebankNodes(learner.treebank, learner.lexicon.terminals())
    coded = code_features(features, nodes)
    return learner, coded, project(nodes, coded, max_states, **options)


def arrays(parameters):
    return parameters.grammar.tensor, parameters.lexical, parameters.grammar.root


def assert_proper(learner, found):
    """The rules and words of every state sum to one, and so do the roots."""
    grammar = found.grammar
    totals = np.zeros(grammar.state_offsets[-1])
    for r, a in enumerate(grammar.rules.parent):
        first = grammar.state_offsets[a]
        totals[first : first + grammar.n_states[a]] += grammar.tensor_of(r).sum(axis=(0, 1))
    totals += np.bincount(learner.trees.lexical_states(grammar), found.lexical, len(totals))
    np.testing.assert_allclose(totals, 1, rtol=1e-9)
    assert grammar.root.sum() == pytest.approx(1)
    for values in arrays(found):
        assert (values >= 0).all()


# the population -----------------------------------------------------------------------------------


@pytest.mark.parametrize("features", ["simple", "full"])
@pytest.mark.parametrize("seed", range(3))
def test_the_population_gives_the_true_parameters(features, seed):
    """Theorem 1 of [Cohen and Collins 2014]."""
    world = pivot_world(seed)
    learner, coded, projections = world.everything(1e12 * world.p, features)
    n_states = world.states(learner.treebank)
    np.testing.assert_array_equal(projections.n_states(6, 1e-9, 0), n_states)
    found = pivot(learner, coded, projections, n_states)
    np.testing.assert_array_equal(found.grammar.n_states, n_states)
    assert world.error(learner, found) < 1e-8
    assert_proper(learner, found)


def test_more_states_than_there_are():
    world = pivot_world(1)
    learner, coded, projections = world.everything(1e12 * world.p)
    found = pivot(learner, coded, projections, np.full(len(learner.treebank.symbols), 6))
    np.testing.assert_array_equal(found.grammar.n_states, world.states(learner.treebank))
    assert world.error(learner, found) < 1e-8


def test_diagnostics_tell_how_far_pivots_are_apart():
    world = pivot_world()
    learner, coded, projections = world.everything(1e12 * world.p)
    n_states = world.states(learner.treebank)
    found, told = pivot(learner, coded, projections, n_states, return_diagnostics=True)
    assert world.error(learner, found) < 1e-8
    assert told["separations"].keys() == {a for a, m in world.m.items() if m > 1}
    assert 0.01 < min(told["separations"].values()) < max(told["separations"].values()) < 10


# samples ------------------------------------------------------------------------------------------


def test_errors_fall_with_the_root_of_the_size():
    sizes, errors = [10**4, 10**6, 10**8], []
    for seed in range(3):
        world = pivot_world(seed, shape=3.0)
        rng = np.random.default_rng(seed)
        for size in sizes:
            learner, coded, projections = world.everything(rng.multinomial(size, world.p), "simple")
            n_states = world.states(learner.treebank)
            found = pivot(learner, coded, projections, n_states, least=size / 1000)
            errors.append(world.error(learner, found))
            assert_proper(learner, found)
    errors = np.log10(np.reshape(errors, (-1, len(sizes)))).mean(axis=0)
    assert errors[0] < -0.5
    assert (np.diff(errors) < -0.7).all()  # of -1, and not of -0.5 or -2
    assert (np.diff(errors) > -1.3).all()


def test_rare_features_are_no_pivots():
    """A thousand trees in which A has two states, and three that look like a third."""
    trees = ["(S (A a) (B b))", "(S (C c) (A d))"] * 500 + ["(X (A e) (B b))"] * 3
    learner, coded, projections = evidence(worlds.learner(trees), "simple")
    n_states = projections.n_states(6, 1e-9, 0)
    for least, found in ((1, 3), (4, 2), (501, 1)):
        grammar = pivot(learner, coded, projections, n_states, least=least).grammar
        assert [str(symbol) for symbol in learner.treebank.symbols] == ["S", "X", "A", "B", "C"]
        assert grammar.n_states.tolist() == [1, 1, found, 1, 1]


# any trees ----------------------------------------------------------------------------------------


def random_tree(rng, depth):
    if depth == 0 or rng.random() < 0.3:
        return f"({rng.choice(['A', 'B', 'C'])} {rng.choice(list('uvwxyz'))})"
    children = " ".join(random_tree(rng, depth - 1) for _ in range(rng.integers(1, 4)))
    return f"({rng.choice(['S', 'X', 'Y'])} {children})"


@settings(max_examples=10, deadline=None)
@given(
    st.integers(0, 10_000),
    st.integers(1, 60),
    st.integers(1, 8),
    st.sampled_from([0, 2, 10]),
    st.integers(0, 10),
    st.booleans(),
)
def test_probabilities_are_proper(seed, n_trees, most, least, n_iter, smooth):
    rng = np.random.default_rng(seed)
    trees = [random_tree(rng, 4) for _ in range(n_trees)]
    learner = CountedTrees(trees, rare=1, beta=1.0, gamma=1.0)
    learner, coded, projections = evidence(learner, max_states=most)
    n_states = np.array([min(most, rows.shape[1]) for rows in projections.outside])
    smoothing = Smoothing() if smooth else None
    found = pivot(
        learner, coded, projections, n_states, least=least, n_iter=n_iter, smoothing=smoothing
    )
    assert_proper(learner, found)
    assert (found.grammar.n_states <= n_states).all()
    # All trees have some probability, and EM can continue.
    after, history = em(learner.trees, found, 2)
    history.append(learner.trees.log_likelihood(after))
    assert np.isfinite(history).all()
    assert (np.diff(history) >= -1e-9 * np.abs(history[1:])).all()


def test_one_state_is_the_pcfg(hand_trees):
    learner, coded, projections = evidence(worlds.learner(hand_trees))
    found = pivot(learner, coded, projections, np.ones(len(learner.treebank.symbols), np.int64))
    for one, other in zip(arrays(found), arrays(learner.pcfg)):
        np.testing.assert_allclose(one, other, rtol=1e-11)


@pytest.mark.parametrize("trees", [["(S (A a) (B b))"], ["(A a)"], ["(A a)", "(A b)"]])
def test_a_tree_or_two(trees):
    learner, coded, projections = evidence(worlds.learner(trees))
    n_states = np.array([rows.shape[1] for rows in projections.outside])
    found = pivot(learner, coded, projections, n_states, least=0)
    assert (found.grammar.n_states == 1).all()  # whatever is asked for, there is one point
    for one, other in zip(arrays(found), arrays(learner.pcfg)):
        np.testing.assert_allclose(one, other, rtol=1e-11)


def test_threads_do_not_matter(hand_trees, monkeypatch):
    monkeypatch.setattr(pivot_module, "_WORK", 8)
    learner, coded, projections = evidence(worlds.learner(hand_trees * 3))
    n_states = projections.n_states(4, 1e-9, 2)
    assert n_states.max() > 2
    answers = []
    for n_threads in (1, 3):
        with engine.use(engine.ThreadEngine(n_threads)):
            answers.append(arrays(pivot(learner, coded, projections, n_states, least=2)))
    for one, other in zip(*answers):
        np.testing.assert_array_equal(one, other)


# templates ----------------------------------------------------------------------------------------


def test_templates_by_hand():
    """Four nodes. The first template has no values, the second lacks one, the third has all."""
    values = np.array([[-1, -1, -1, -1], [7, 4, -1, 7], [0, 0, 1, 1]])
    templates = FeatureTable(values, np.array([1.0, 1.0, 2.0, 4.0]))
    assert templates.first.tolist() == [0, 3, 5]
    assert templates.codes.tolist() == [[2, 3], [1, 3], [0, 4], [2, 4]]
    assert templates.counts.tolist() == [2, 1, 5, 2, 6]
    expected = templates.expect(np.array([[1.0], [2.0], [3.0], [4.0]]))
    np.testing.assert_allclose(expected[:, 0], [3, 2, 17 / 5, 1.5, 22 / 6])
    p = np.array([[1, 0], [0, 1], [0.5, 0.5], [0.25, 0.75], [1, 0]])
    np.testing.assert_allclose(templates.average(p)[0], [0.375, 0.625])
    # Of the second template p(h) = (4.5, 3.5) / 8, of the third (6.5, 1.5) / 8.
    ratios = templates.ratios(p)
    np.testing.assert_allclose(ratios[:3], p[:3] / np.array([4.5, 3.5]) * 8)
    np.testing.assert_allclose(ratios[3:], p[3:] / np.array([6.5, 1.5]) * 8)
    joint = sum(n * np.outer(row, row) for n, row in zip(templates.counts, p))
    confusion = templates.confusion(p)
    np.testing.assert_allclose(confusion, joint / joint.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(confusion.sum(axis=1), 1)


def test_a_label_without_features():
    templates = FeatureTable(np.full((3, 2), -1), np.ones(2))
    assert templates.codes.tolist() == [[0], [0]]
    assert templates.counts.tolist() == [2]


def test_a_state_without_a_template_s_nodes():
    """Then the template says nothing."""
    p = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    templates = FeatureTable(np.array([[0, 1], [0, 1]]), np.ones(2))
    np.testing.assert_allclose(templates.ratios(p), [[1, 1], [1, 1], [0, 2], [2, 0]])


# real trees ---------------------------------------------------------------------------------------


def test_penn(penn):
    """Pivots without any step of EM are better than many steps from a random start."""
    learner = CountedTrees(penn("dev"), rare=5, beta=1.0, gamma=3.0)
    learner, coded, projections = evidence(learner)
    n_states = projections.n_states(4, 0.01, 10)
    found = pivot(learner, coded, projections, n_states)
    assert_proper(learner, found)
    assert (found.grammar.n_states > 1).sum() > 20
    start = random_start(learner.trees, learner.pcfg, 4, 10, 0.01, np.random.default_rng(0))
    _, by_em = em(learner.trees, start, 12)
    likelihood = learner.trees.log_likelihood
    assert likelihood(found) > max(by_em)
    assert likelihood(em(learner.trees, found, 2)[0]) > likelihood(found)
