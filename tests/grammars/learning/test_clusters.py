"""States by clustering: counts by hand, proper probabilities, states recovered."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigentext import engine
from eigentext.grammars.grammar import Grammar
from eigentext.grammars.learning import clusters
from eigentext.grammars.learning.clusters import (
    cluster,
    cluster_start,
    count_states,
    directions,
    k_means,
    spread,
)
from eigentext.grammars.learning.counts import CountedTrees
from eigentext.grammars.learning.em import em, random_start
from eigentext.grammars.learning.spectral import project
from eigentext.grammars.learning.training import Smoothing
from eigentext.grammars.treebank.features import TreebankNodes, code_features

ONE_LABEL = ["(A (A a) (A b))", "(A (A (A b) (A b)) (A a))", "(A c)"]


def projected(trees, n_directions=4, features="full"):
    """Counted trees without rare words, and their nodes as vectors."""
    learner = CountedTrees(trees, rare=0, beta=1.0, gamma=3.0)
    nodes = TreebankNodes(learner.treebank, learner.lexicon.terminals())
    return learner, project(nodes, code_features(features, nodes), n_directions)


def started(trees, n_states, seed=0, smoothing=None, **options):
    learner, projections = projected(trees, **options)
    sizes = np.full(len(learner.treebank.symbols), n_states)
    rng = np.random.default_rng(seed)
    return learner, cluster_start(learner, projections, sizes, smoothing=smoothing, rng=rng)


def assert_proper(learner, parameters):
    """The rules and words of each state sum to one, and so does the root. Nothing is negative."""
    grammar, trees = parameters.grammar, learner.trees
    sums = np.bincount(trees.lexical_states(grammar), parameters.lexical, grammar.state_offsets[-1])
    for r, parent in enumerate(grammar.parent_states):
        t = grammar.tensor_of(r).sum(axis=(0, 1))
        sums[parent : parent + len(t)] += t
    assert np.allclose(sums, 1, rtol=0, atol=1e-6)  # tensors have 32 bits
    assert grammar.root.sum() == pytest.approx(1, abs=1e-12)
    for values in (grammar.tensor, grammar.root, parameters.lexical):
        assert values.min(initial=0) >= 0


# counts -------------------------------------------------------------------------------------------


def test_counts_by_hand():
    learner = CountedTrees(
        ["(S (A a) (B b))", "(S (A b) (B b))", "(B b)"], rare=0, beta=1.0, gamma=3.0
    )
    assert [str(symbol) for symbol in learner.treebank.symbols] == ["S", "A", "B"]
    grammar = Grammar(learner.trees.rules, np.array([2, 2, 3]), np.empty(0), np.empty(0))
    state = np.array([0, 2, 1, 1, 2, 0, 1])  # of A B S, A B S, B
    counts = count_states(learner, grammar, state)
    tensor = np.zeros((2, 3, 2))
    tensor[0, 2, 1] = tensor[1, 2, 0] = 1
    assert np.array_equal(counts.tensor.dense(12).reshape(2, 3, 2), tensor)
    words = dict(zip(zip(learner.trees.pair_label, learner.trees.pair_terminal), range(3)))
    a, b = (learner.lexicon.terminals()[k] for k in (0, 1))
    lexical = np.split(counts.lexical, [2, 4])
    assert lexical[words[1, a]].tolist() == [1, 0]
    assert lexical[words[1, b]].tolist() == [0, 1]
    assert lexical[words[2, b]].tolist() == [0, 1, 2]
    assert counts.root.tolist() == [1, 1, 0, 0, 0, 1, 0]
    assert counts.states.tolist() == [1, 1, 1, 1, 0, 1, 2]


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.lists(st.integers(1, 4), min_size=1, max_size=5))
def test_counts_equal_a_walk_over_the_trees(hand_trees, seed, n_states):
    learner = CountedTrees(hand_trees, rare=0, beta=1.0, gamma=3.0)
    treebank, trees = learner.treebank, learner.trees
    sizes = np.resize(n_states, len(treebank.symbols))
    grammar = Grammar(trees.rules, sizes, np.empty(0), np.empty(0))
    state = np.random.default_rng(seed).integers(sizes[treebank.label])
    counts = count_states(learner, grammar, state)
    uses, words, roots = Counter(), Counter(), Counter()
    terminal = iter(learner.lexicon.terminals())
    for first, last in pairwise(treebank.offsets):
        for i in range(first, last):
            a, left, right = treebank.label[i], treebank.left[i], treebank.right[i]
            if left < 0:
                words[a, next(terminal), state[i]] += 1
            else:
                uses[treebank.rule[i], state[left], state[right], state[i]] += 1
        roots[grammar.state_offsets[treebank.label[last - 1]] + state[last - 1]] += 1
    tensor = counts.tensor.dense(grammar.tensor_offsets[-1])
    filled = Grammar(trees.rules, sizes, tensor, counts.root)
    for (r, *states), n in uses.items():
        assert filled.tensor_of(r)[*states] == n
    assert tensor.sum() == sum(uses.values())
    places = np.split(counts.lexical, np.cumsum(sizes[trees.pair_label])[:-1])
    for a, x, row in zip(trees.pair_label, trees.pair_terminal, places):
        assert row.tolist() == [words[a, x, h] for h in range(sizes[a])]
    assert counts.root.tolist() == [roots[s] for s in range(len(counts.root))]
    at = grammar.state_offsets[treebank.label] + state
    assert np.array_equal(counts.states, np.bincount(at, minlength=len(counts.states)))


# clusters -----------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(2, 6))
def test_clusters_far_apart_are_found(seed, k):
    rng = np.random.default_rng(seed)
    centres = np.eye(8)[:k]
    truth = np.repeat(np.arange(k), np.arange(k) + 4)[rng.permutation(sum(range(4, k + 4)))]
    views = centres[truth] + 0.01 * rng.normal(size=(2, len(truth), 8))
    rows = directions(np.ones(8), *views)
    assert np.array_equal(k_means(rows, k, rng), k - 1 - truth)  # the largest comes first


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 9), st.integers(1, 60))
def test_each_row_is_nearest_to_the_mean_of_its_cluster(seed, k, n):
    rng = np.random.default_rng(seed)
    rows = directions(np.ones(2), rng.normal(size=(n, 2)), rng.normal(size=(n, 2)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clusters, "_STEPS", 1000)  # to the end
        found = k_means(rows, k, rng)
    sizes = np.bincount(found)
    assert len(sizes) <= k
    assert (np.diff(sizes) <= 0).all()
    assert sizes.min() > 0
    means = np.stack([rows[found == c].mean(axis=0) for c in range(len(sizes))])
    distances = ((rows[:, None] - means) ** 2).sum(axis=2)
    assert np.array_equal(distances.argmin(axis=1), found)


def test_no_more_clusters_than_different_rows():
    rows = np.repeat(np.eye(3), [5, 1, 3], axis=0)
    for k, expected in ((1, [9]), (3, [5, 3, 1]), (20, [5, 3, 1])):
        found = k_means(rows, k, np.random.default_rng(0))
        assert np.bincount(found).tolist() == expected
    assert k_means(np.zeros((4, 2)), 3, np.random.default_rng(0)).tolist() == [0] * 4
    assert k_means(np.ones((1, 2)), 3, np.random.default_rng(0)).tolist() == [0]


@given(st.integers(0, 10_000))
def test_clusters_begin_with_different_rows(seed):
    rng = np.random.default_rng(seed)
    kinds = directions(np.ones(3), rng.normal(size=(7, 3)), rng.normal(size=(7, 3)))
    which = rng.integers(7, size=50)
    which[:7] = range(7)
    assert sorted(which[spread(kinds[which], 7, rng)]) == list(range(7))
    assert len(spread(kinds[which], 20, rng)) == 7


def test_directions_have_length_one_and_weigh_singular_values():
    s = np.array([4.0, 1.0])
    inside, outside = np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([[0.5, 2.0], [0.0, -1.0]])
    assert np.allclose(directions(s, inside, outside), [[0.6, 0.8], [0.0, 0.0]])
    assert np.allclose(directions(9 * s, 2 * inside, 2 * outside), [[0.6, 0.8], [0.0, 0.0]])


# the start ----------------------------------------------------------------------------------------


def forgotten(n_trees, seed):
    """Trees whose labels show their states, X1 and X2, and the same trees with X."""
    rng = np.random.default_rng(seed)
    words = {"A1": "abc", "A2": "de", "B1": "fg", "B2": "hij"}

    def leaf(label):
        return f"({label} {rng.choice(list(words[label]))})"

    def phrase(state):
        a, b = leaf(f"A{state}"), leaf(f"B{state}")
        tree = f"(X1 {a} {b})" if state == 1 else f"(X2 {b} {a})"
        while rng.random() < 0.3:
            a = leaf(f"A{state}")
            tree = f"(X1 {a} {tree})" if state == 1 else f"(X2 {tree} {a})"
        return tree

    said = [
        f"(S {phrase(1)} {phrase(2)})" if rng.random() < 0.6 else f"(S {phrase(2)} {leaf('A2')})"
        for _ in range(n_trees)
    ]
    return said, ["".join(c for c in tree if c not in "12") for tree in said]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("features", ["full", "simple"])
def test_states_that_labels_forgot_are_found_again(features, seed):
    """If the rules above and below a node determine its state, the states are recovered."""
    said, plain = forgotten(200, seed)
    learner, found = started(plain, 2, seed, n_directions=2, features=features)
    truth = CountedTrees(said, rare=0, beta=1.0, gamma=3.0)
    expected = truth.trees.log_likelihood(truth.pcfg)
    assert learner.trees.log_likelihood(learner.pcfg) < expected - 50
    assert learner.trees.log_likelihood(found) == pytest.approx(expected, rel=1e-7)
    _, history = em(learner.trees, found, 3)  # and there is nothing left to do
    assert np.allclose(history, expected, rtol=1e-7)


TREES = st.recursive(
    st.tuples(st.sampled_from("AB"), st.sampled_from("ab")).map("({0[0]} {0[1]})".format),
    lambda below: st.tuples(st.sampled_from("ST"), below, below).map(
        "({0[0]} {0[1]} {0[2]})".format
    ),
    max_leaves=6,
)


@settings(max_examples=40)
@given(
    st.lists(TREES, min_size=1, max_size=8),
    st.integers(1, 5),
    st.sampled_from([None, Smoothing()]),
    st.integers(0, 100),
)
def test_probabilities_are_proper(trees, n_states, smoothing, seed):
    learner, found = started(trees, n_states, seed, smoothing)
    assert_proper(learner, found)
    assert np.isfinite(learner.trees.log_likelihood(found))
    if n_states == 1:
        expected = learner.trees.log_likelihood(learner.pcfg)
        assert learner.trees.log_likelihood(found) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("smoothing", [None, Smoothing()])
@pytest.mark.parametrize(
    "trees", [ONE_LABEL, ["(S (A a) (B b))"], ["(A a)"], ["(A a)"] * 5, ["(S (A a) (A a))"] * 3]
)
def test_more_states_than_there_is_to_tell_apart(trees, smoothing):
    """Labels seen once, a single label, a single tree, equal nodes."""
    learner, found = started(trees, 50, smoothing=smoothing, n_directions=50)
    assert_proper(learner, found)
    nodes = np.bincount(learner.treebank.label)
    assert (found.grammar.n_states <= nodes).all()
    if len(set(trees)) == 1 and "S" not in trees[0]:
        assert found.grammar.n_states.tolist() == [1]


def test_states_go_by_what_is_asked_of_each_label(hand_trees):
    learner, projections = projected(hand_trees)
    n_states = np.arange(len(learner.treebank.symbols)) % 3 + 1
    sizes, state = cluster(projections, n_states, np.random.default_rng(0))
    assert (sizes <= n_states).all()
    assert sizes.max() == 3
    for nodes, m in zip(projections.nodes, sizes):
        assert set(state[nodes]) == set(range(m))


def test_same_bits_twice_and_for_any_number_of_threads(hand_trees):
    found = []
    for n_threads, seed in ((1, 0), (2, 0), (1, 0), (1, 1)):
        with engine.use(engine.ThreadEngine(n_threads)):
            _, start = started(hand_trees * 3, 3, seed, Smoothing())
        found.append(
            [start.grammar.tensor.tobytes(), start.lexical.tobytes(), start.grammar.root.tobytes()]
        )
    assert found[0] == found[1] == found[2]
    assert found[0] != found[3]


def test_progress_is_told(hand_trees):
    class Listener:
        def started(self, phase):
            self.name = phase.name

        def advanced(self, phase):
            self.done = phase.done, phase.total, phase.unit

        def finished(self, phase):
            self.done = ("end", *self.done)

    learner, projections = projected(hand_trees)
    n_labels, listener = len(learner.treebank.symbols), Listener()
    with engine.report_to(listener):
        cluster(projections, np.full(n_labels, 2), np.random.default_rng(0))
    assert listener.name == "clusters"
    assert listener.done == ("end", n_labels, n_labels, "labels")


def test_on_penn_a_few_steps_go_further_than_as_many_from_noise(penn):
    learner, projections = projected(penn("dev"), 4)
    trees, nodes = learner.trees, np.bincount(learner.treebank.label)
    n_states, rng = np.clip(nodes // 10, 1, 4), np.random.default_rng(0)
    start = cluster_start(learner, projections, n_states, smoothing=Smoothing(), rng=rng)
    assert_proper(learner, start)
    noise = random_start(trees, learner.pcfg, 4, 10, 0.01, rng)
    steps, from_noise = (em(trees, one, 8)[1] for one in (start, noise))
    assert steps[0] > from_noise[-1]
    assert (np.diff(steps) > 0).all()
