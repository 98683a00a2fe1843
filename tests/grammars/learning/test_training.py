"""Expected counts and their parameters, against all choices of states one by one."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp

from eigentext import engine
from eigentext.grammars.grammar import Grammar
from eigentext.grammars.learning import shard, training
from eigentext.grammars.learning.shard import TreeShard
from eigentext.grammars.learning.split_merge import counted
from eigentext.grammars.learning.training import Smoothing, TrainingTrees, maximize
from eigentext.grammars.treebank.normal_form import Treebank

SMALL = [
    "(S (A a) (B b))",
    "(S (A a) (S (A b) (B a)))",
    "(S (S (A a) (B b)) (B b))",
    "(S (S (A b) (B b)) (S (A a) (B b)))",
    "(T (A a) (A b) (B b))",
    "(B a)",
]
ONE_WORD = ["(A a)", "(B b)", "(A b)", "(A a)"]


def fields(counts):
    return counts.tensor, counts.lexical, counts.root, counts.states


def by_state(trees, parameters):
    """The sum of the probabilities of all rules and words of a state."""
    grammar = parameters.grammar
    return counted(trees, grammar, grammar.tensor, parameters.lexical, grammar.root).states


# all choices of states ----------------------------------------------------------------------------


@pytest.mark.parametrize("binarize", ["left", "right"])
@pytest.mark.parametrize("n_states", [1, (2, 1, 3), (3, 2), (1, 4)])
def test_a_tree_is_as_probable_as_all_choices_of_states(latent, n_states, binarize):
    model = latent(SMALL, n_states, seed=1, binarize=binarize)
    each = [np.log(sum(p for _, p in model.assignments(t))) for t in range(len(SMALL))]
    assert model.trees.log_likelihood(model.parameters) == pytest.approx(sum(each), rel=1e-12)
    # The contraction written out: b^1 = T(b^2, b^3).
    treebank, grammar, lexical = model.treebank, *vars(model.parameters).values()
    vectors = []
    for node, a in enumerate(treebank.label):
        if treebank.left[node] < 0:
            place = model.word_place(node)
            vectors.append(lexical[place : place + grammar.n_states[a]])
        else:
            children = (vectors[x[node]] for x in (treebank.left, treebank.right))
            vectors.append(
                np.einsum("b,c,bca->a", *children, grammar.tensor_of(treebank.rule[node]))
            )
    for t, node in enumerate(treebank.offsets[1:] - 1):
        first = grammar.state_offsets[treebank.label[node]]
        p = grammar.root[first : first + len(vectors[node])] @ vectors[node]
        assert np.log(p) == pytest.approx(each[t], rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_states", [1, (2, 1, 3), (3, 2)])
def test_expected_counts(latent, n_states, seed):
    model = latent(SMALL, n_states, seed)
    found, expected = model.trees.expect(model.parameters), model.expected()
    assert found.log_likelihood == pytest.approx(expected.log_likelihood, rel=1e-12)
    for one, other in zip(fields(found), fields(expected)):
        assert np.allclose(one, other, rtol=1e-10, atol=1e-14)


def node_posteriors(model):
    """The sum over states at each node of the only shard."""
    (piece,) = model.trees.pieces
    v = TreeShard(piece).vectors(model.parameters)
    return np.add.reduceat(v.inside * v.outside, v.place[:-1])


@pytest.mark.parametrize("n_states", [1, (2, 1, 3), 16])
def test_inside_times_outside_is_one_at_every_node(latent, hand_trees, n_states):
    model = latent(hand_trees, n_states)
    counts = model.trees.expect(model.parameters)
    treebank = model.treebank
    assert np.allclose(node_posteriors(model), 1, rtol=1e-12)
    # So every node is counted once, and every tree.
    rules = np.add.reduceat(counts.tensor, model.parameters.grammar.tensor_offsets[:-1])
    assert np.allclose(rules, treebank.rules().counts, rtol=1e-12)
    assert counts.lexical.sum() == pytest.approx(len(treebank.tokens))
    assert counts.root.sum() == pytest.approx(len(treebank))
    assert counts.states.sum() == pytest.approx(len(treebank.label))


def test_leaf_posteriors_are_in_the_order_of_the_words(latent):
    model = latent(SMALL, (2, 1, 3))
    treebank, n_states = model.treebank, model.parameters.grammar.n_states
    posteriors, states, sizes = model.trees.leaf_posteriors(model.parameters)
    labels = treebank.label[treebank.left < 0]
    assert np.array_equal(sizes, n_states[labels])
    first = np.repeat(model.parameters.grammar.state_offsets[labels], sizes)
    assert np.array_equal(states - first, np.concatenate([np.arange(m) for m in sizes]))
    expected = []
    for t, first in enumerate(treebank.offsets[:-1]):
        choices = list(model.assignments(t))
        total = sum(p for _, p in choices)
        for node in np.flatnonzero(treebank.left[first : treebank.offsets[t + 1]] < 0):
            for h in range(n_states[treebank.label[first + node]]):
                expected.append(sum(p for chosen, p in choices if chosen[node] == h) / total)
    assert np.allclose(posteriors, expected, rtol=1e-12)


def test_shards_add_up(latent, hand_trees, monkeypatch):
    """Cut anywhere between trees. Pairs of a word and a label may occur in several shards."""
    whole = latent(hand_trees * 2, (3, 1, 2))
    expected, before = whole.trees.expect(whole.parameters), whole.trees
    n_nodes = len(whole.treebank.label)
    for most in (n_nodes - 1, n_nodes // 3, 40, 1):
        monkeypatch.setattr(training, "NODES", most)
        trees = latent(hand_trees * 2, (3, 1, 2)).trees
        sizes = [len(piece.label) for piece in trees.pieces]
        assert sum(sizes) == n_nodes
        assert 1 < len(sizes) <= len(whole.treebank)
        assert max(sizes) <= n_nodes / len(sizes) + np.diff(whole.treebank.offsets).max()
        found = trees.expect(whole.parameters)
        assert found.log_likelihood == pytest.approx(expected.log_likelihood, rel=1e-12)
        for one, other in zip(fields(found), fields(expected)):
            assert np.allclose(one, other, rtol=1e-10, atol=1e-13)
        for one, other in zip(
            trees.leaf_posteriors(whole.parameters), before.leaf_posteriors(whole.parameters)
        ):
            assert np.allclose(one, other, rtol=1e-12)
        assert trees.log_likelihood(whole.parameters) == found.log_likelihood
        was_split = whole.parameters.grammar.n_states == 2
        known = whole.parameters, expected.states, was_split
        assert np.allclose(trees.split_losses(*known), before.split_losses(*known), atol=1e-10)


# what could run over, or be nothing ---------------------------------------------------------------


def chain(n, seed):
    """A tree of n words as deep as it has words, branching to either side."""
    rng = np.random.default_rng(seed)
    text = "(S (A a) (B b))"
    for _ in range(n - 2):
        text = f"(S {text} (B b))" if rng.random() < 0.5 else f"(S (A a) {text})"
    return text


@pytest.mark.parametrize("factor", [1.0, 1e-9, 1e9])
def test_long_trees_do_not_run_over(latent, factor):
    """300 words; probabilities far below the least double, or scores far above the largest."""
    model = latent([chain(300, 0), chain(300, 1), SMALL[0]], (3, 2))
    treebank, grammar, lexical = model.treebank, *vars(model.parameters).values()
    grammar.tensor *= factor
    logs, expected = [], 0.0
    for node, a in enumerate(treebank.label):
        if treebank.left[node] < 0:
            place = model.word_place(node)
            logs.append(np.log(lexical[place : place + grammar.n_states[a]]))
        else:
            b, c = (logs[x[node]] for x in (treebank.left, treebank.right))
            t = np.log(grammar.tensor_of(treebank.rule[node]))
            logs.append(logsumexp(b[:, None, None] + c[:, None] + t, axis=(0, 1)))
    for node in treebank.offsets[1:] - 1:
        first = grammar.state_offsets[treebank.label[node]]
        expected += logsumexp(logs[node] + np.log(grammar.root[first : first + len(logs[node])]))
    counts = model.trees.expect(model.parameters)
    assert counts.log_likelihood == pytest.approx(expected, rel=1e-10)
    assert np.allclose(node_posteriors(model), 1, rtol=1e-9)


@pytest.mark.parametrize("spoilt", ["word", "rule", "root"])
def test_a_tree_without_probability_counts_for_nothing(latent, spoilt):
    model = latent(["(S (A a) (B b))", "(T (C c) (A a))", "(S (A a) (A a))"], (2, 3))
    treebank, grammar, lexical = model.treebank, *vars(model.parameters).values()
    states = np.repeat([str(symbol) for symbol in treebank.symbols], grammar.n_states)
    before = model.trees.expect(model.parameters)
    if spoilt == "word":
        place = model.word_place(3)
        lexical[place : place + (states == "C").sum()] = 0
    elif spoilt == "rule":
        grammar.tensor_of(treebank.rule[5])[:] = 0
    else:
        grammar.root[states == "T"] = 0
    counts = model.trees.expect(model.parameters)
    assert counts.log_likelihood == -np.inf
    assert model.trees.log_likelihood(model.parameters) == -np.inf
    assert counts.root.sum() == pytest.approx(2)
    assert counts.states.sum() == pytest.approx(6)
    assert counts.lexical.sum() == pytest.approx(4)
    assert counts.tensor.sum() == pytest.approx(2)
    assert not counts.states[np.isin(states, ["C", "T"])].any()
    others = np.isin(states, ["S", "B"])
    assert np.allclose(counts.states[others], before.states[others], rtol=1e-12)
    for smoothing in (None, Smoothing()):
        found = maximize(model.trees, grammar, replace(counts), smoothing)
        again = model.trees.expect(found)
        assert all(np.isfinite(field).all() for field in fields(again))


@pytest.mark.parametrize("n_words", [11, 12, 13, 40])
def test_a_root_of_hardly_any_probability(latent, n_words):
    """Its only state has almost no probability in the tree below, up to rounding."""
    model = latent([chain(n_words, 0)], 2)
    grammar = model.parameters.grammar
    first, last = grammar.state_offsets[:2]
    grammar.root[first:last] = [0, 1]
    for r in range(len(grammar.rules.parent)):
        grammar.tensor_of(r)[..., 1] *= 1e-28
        grammar.tensor_of(r)[..., 0] += 0.1
        if grammar.rules.left[r] == 0:
            grammar.tensor_of(r)[0, :, 1] = 0  # once in a state, always in it
        if grammar.rules.right[r] == 0:
            grammar.tensor_of(r)[:, 0, 1] = 0
    counts = model.trees.expect(model.parameters)
    assert all(np.isfinite(field).all() for field in fields(counts))


@pytest.mark.parametrize("seed", range(4))
def test_states_without_use_stay_so(latent, hand_trees, seed):
    """Many zeros and unreachable states: no NaN, and the likelihood does not fall."""
    model = latent(hand_trees, (4, 2, 3), seed)
    rng = np.random.default_rng(seed)
    trees, grammar = model.trees, model.parameters.grammar
    dead = rng.permutation(grammar.n_states[0])[:2]
    grammar.root[dead] = 0
    for r, (b, c) in enumerate(zip(grammar.rules.left, grammar.rules.right)):
        t = grammar.tensor_of(r)
        t *= rng.random(t.shape) < 0.8
        t[0, 0] = 0.1  # and yet every tree can be
        t[dead if b == 0 else [], :, :] = 0
        t[:, dead if c == 0 else [], :] = 0
    parameters, logs = model.parameters, []
    for _ in range(6):
        counts = trees.expect(parameters)
        logs.append(counts.log_likelihood)
        assert not counts.states[dead].any()
        parameters = maximize(trees, parameters.grammar, counts)
        assert np.isfinite(parameters.grammar.tensor).all()
        assert np.isfinite(parameters.lexical).all()
    assert np.isfinite(logs).all()
    assert (np.diff(logs) >= -1e-9 * np.abs(logs[:-1])).all()


@pytest.mark.parametrize(
    "trees", [ONE_WORD, ["(A a)"], ["(S (A a) (A a))"], [SMALL[0]], ["(A a)", SMALL[0]]]
)
@pytest.mark.parametrize("smoothing", [None, Smoothing()])
def test_the_smallest_treebanks(latent, trees, smoothing):
    model = latent(trees, (2, 3))
    found, expected = model.trees.expect(model.parameters), model.expected()
    for one, other in zip(fields(found), fields(expected)):
        assert np.allclose(one, other, rtol=1e-10)
    parameters = maximize(model.trees, model.parameters.grammar, found, smoothing)
    assert np.allclose(by_state(model.trees, parameters)[found.states > 0], 1)
    pcfg = model.trees.maximum_likelihood(model.treebank)
    best = model.trees.log_likelihood(pcfg)
    for _ in range(3):
        parameters = maximize(
            model.trees, parameters.grammar, model.trees.expect(parameters), smoothing
        )
    assert model.trees.log_likelihood(parameters) <= best + 1e-9


# parameters from counts ---------------------------------------------------------------------------


def test_the_pcfg_of_trees():
    treebank = Treebank.from_trees(SMALL)
    trees = TrainingTrees(treebank, treebank.word[treebank.left < 0])
    pcfg = trees.maximum_likelihood(treebank)
    symbols = [str(symbol) for symbol in treebank.symbols]
    q = {
        (symbols[a], treebank.words[x]): value
        for a, x, value in zip(trees.pair_label, trees.pair_terminal, pcfg.lexical)
    }
    assert q == {("A", "a"): 5 / 8, ("A", "b"): 3 / 8, ("B", "a"): 2 / 8, ("B", "b"): 6 / 8}
    # S is A B five times of eight, and A S, S B and S S once each; T and @T have one rule.
    rules = 5 * np.log(5 / 8) + 3 * np.log(1 / 8)
    words = 5 * np.log(5 / 8) + 3 * np.log(3 / 8) + 2 * np.log(2 / 8) + 6 * np.log(6 / 8)
    roots = 4 * np.log(4 / 6) + 2 * np.log(1 / 6)
    assert trees.log_likelihood(pcfg) == pytest.approx(rules + words + roots, rel=1e-12)
    counts = trees.expect(pcfg)
    again = maximize(trees, pcfg.grammar, counts)
    assert np.allclose(again.grammar.tensor, pcfg.grammar.tensor, rtol=1e-12)
    assert np.allclose(again.lexical, pcfg.lexical, rtol=1e-12)
    assert np.allclose(again.grammar.root, pcfg.grammar.root, rtol=1e-12)


SMOOTHINGS = [None, Smoothing(), Smoothing(0.3, 0.0, 0.0, 7.0), Smoothing(0.0, 0.2, 9.0, 0.0)]


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize("n_states", [1, (2, 1, 3), (5, 8)])
def test_all_that_a_state_may_become_sums_to_one(latent, hand_trees, n_states, smoothing):
    model = latent(hand_trees, n_states)
    counts = model.trees.expect(model.parameters)
    found = maximize(model.trees, model.parameters.grammar, counts, smoothing)
    assert np.allclose(by_state(model.trees, found), 1, rtol=1e-12)
    assert found.grammar.root.sum() == pytest.approx(1)


def test_living_states_do_not_lose_to_dead_ones(latent):
    model = latent(SMALL, (3, 2))
    counts = model.trees.expect(model.parameters)
    grammar = model.parameters.grammar
    dead = grammar.state_offsets[:-1]
    counts.states[dead] = counts.root[dead] = 0
    counts.lexical[np.isin(model.trees.lexical_states(grammar), dead)] = 0
    shaped = Grammar(grammar.rules, grammar.n_states, counts.tensor, counts.root)
    for r in range(len(grammar.rules.parent)):
        t = shaped.tensor_of(r)
        t[0], t[:, 0], t[..., 0] = 0, 0, 0
    counts = counted(model.trees, grammar, counts.tensor, counts.lexical, counts.root)
    found = maximize(model.trees, grammar, counts, Smoothing(0.3, 0.4))
    assert np.allclose(np.delete(by_state(model.trees, found), dead), 1, rtol=1e-12)
    for r in range(len(grammar.rules.parent)):
        t = found.grammar.tensor_of(r)
        assert not t[0].any()
        assert not t[:, 0].any()


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_maximization_written_out(latent, hand_trees, smoothing):
    model = latent(hand_trees, (2, 1, 3))
    trees, grammar = model.trees, model.parameters.grammar
    counts = trees.expect(model.parameters)
    labels = [slice(a, b) for a, b in zip(grammar.state_offsets[:-1], grammar.state_offsets[1:])]
    rules = Grammar(grammar.rules, grammar.n_states, counts.tensor.copy(), counts.root)
    expected = []
    for r, (a, b, c) in enumerate(zip(*grammar.rules[:3])):
        E = rules.tensor_of(r)
        if smoothing:
            P2, P3 = (counts.states[labels[x]] / counts.states[labels[x]].sum() for x in (b, c))
            D = np.einsum("ba,ca->bca", E.sum(axis=1), E.sum(axis=0)) / E.sum(axis=(0, 1))
            parts = E.sum(), smoothing.dependent, smoothing.independent
            mixed = parts[0] * E + parts[1] * D
            mixed += parts[2] * np.einsum("b,c,a->bca", P2, P3, E.sum(axis=(0, 1)))
            E = mixed / sum(parts)
        t = E / counts.states[labels[a]]
        if smoothing:
            t = t + smoothing.states * (t.mean(axis=2, keepdims=True) - t)
        expected.append(t.ravel())
    words, place = [], 0
    for a in trees.pair_label:
        m = grammar.n_states[a]
        q = counts.lexical[place : place + m] / counts.states[labels[a]]
        if smoothing:
            q = q + smoothing.words * (q.mean() - q)
        words.append(q)
        place += m
    root = counts.root / len(hand_trees)
    found = maximize(trees, grammar, counts, smoothing)
    assert np.allclose(found.grammar.tensor, np.concatenate(expected), rtol=1e-10)
    assert np.allclose(found.lexical, np.concatenate(words), rtol=1e-10)
    assert np.allclose(found.grammar.root, root, rtol=1e-12)


def test_what_is_almost_nothing_becomes_nothing(latent):
    model = latent(SMALL, 2)
    counts = model.trees.expect(model.parameters)
    counts.tensor[0], counts.lexical[0] = 1e-40, 1e-40
    found = maximize(model.trees, model.parameters.grammar, counts)
    assert found.grammar.tensor[0] == 0
    assert found.lexical[0] == 0


def test_more_smoothing():
    assert Smoothing(0.01, 0.1, 5, 2).times(2) == Smoothing(0.02, 0.2, 10, 4)
    assert Smoothing().times(1) == Smoothing()
    assert Smoothing(0.01, 0.1, 5, 2).times(100) == Smoothing(0.5, 0.5, 500, 200)


# threads ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_shards", [1, 3])
@pytest.mark.parametrize("smoothing", [None, Smoothing()])
def test_same_bits_for_any_number_of_threads(latent, hand_trees, monkeypatch, smoothing, n_shards):
    model = latent(hand_trees * 5, (16, 5, 30), binarize="right")
    if n_shards > 1:
        monkeypatch.setattr(training, "NODES", len(model.treebank.label) // n_shards + 1)
        model = latent(hand_trees * 5, (16, 5, 30), binarize="right")
    found = []
    for work, n_threads in ((1 << 40, 1), (2000, 1), (2000, 2), (300, 3), (2000, 2)):
        monkeypatch.setattr(shard, "_WORK", work)
        with engine.use(engine.ThreadEngine(n_threads)):
            counts = model.trees.expect(model.parameters)
            bits = [counts.log_likelihood, *(field.tobytes() for field in fields(counts))]
            new = maximize(model.trees, model.parameters.grammar, counts, smoothing)
        found.append([*bits, new.grammar.tensor.tobytes(), new.lexical.tobytes()])
    assert all(one == found[0] for one in found)


# real trees ---------------------------------------------------------------------------------------


def test_penn(penn):
    treebank = Treebank.from_trees(penn("dev"))
    trees = TrainingTrees(treebank, treebank.word[treebank.left < 0])
    pcfg = trees.maximum_likelihood(treebank)
    counts = trees.expect(pcfg)
    assert np.allclose(counts.tensor, treebank.rules().counts, rtol=1e-10)
    assert np.allclose(counts.states, np.bincount(treebank.label), rtol=1e-10)
    once = np.log(counts.tensor / counts.states[treebank.rules().parent]) @ counts.tensor
    words = np.log(counts.lexical / counts.states[trees.pair_label]) @ counts.lexical
    roots = counts.root[counts.root > 0]
    expected = once + words + np.log(roots / roots.sum()) @ roots
    assert counts.log_likelihood == pytest.approx(expected, rel=1e-10)
