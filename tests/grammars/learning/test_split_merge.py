"""Splitting keeps the grammar, merging undoes it, and losses are losses of likelihood."""

from itertools import pairwise

import numpy as np
import pytest

from eigentext.grammars.grammar import Grammar
from eigentext.grammars.learning.em import em
from eigentext.grammars.learning.split_merge import counted, merge, split
from eigentext.grammars.learning.training import GrammarParameters, TrainingTrees
from eigentext.grammars.treebank.normal_form import Treebank

SMALL = [
    "(S (A a) (B b))",
    "(S (A b) (S (A a) (B b)))",
    "(S (S (A a) (B b)) (B a))",
    "(S (A a) (B b) (B a))",
    "(B a)",
]


def rng(seed=0):
    return np.random.default_rng(seed)


def everything(parameters):
    return parameters.grammar.tensor, parameters.lexical, parameters.grammar.root


def alike(one, other, rtol=1e-10):
    assert np.array_equal(one.grammar.n_states, other.grammar.n_states)
    for a, b in zip(everything(one), everything(other)):
        assert np.allclose(a, b, rtol=rtol, atol=1e-14)


# splitting ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("times", [1, 2, 3, (2, 1, 4)])
@pytest.mark.parametrize("n_states", [1, (2, 1, 3)])
def test_splitting_keeps_the_likelihood(latent, n_states, times):
    model = latent(SMALL, n_states)
    old = model.parameters.grammar
    times = np.resize(times, len(old.n_states))
    new = split(model.trees, model.parameters, times * old.n_states, 0.0, rng())
    assert np.array_equal(new.grammar.n_states, times * old.n_states)
    logs = (model.trees.log_likelihood(p) for p in (model.parameters, new))
    assert next(logs) == pytest.approx(next(logs), rel=1e-12)
    for r, (a, b, c) in enumerate(zip(*old.rules[:3])):
        t = old.tensor_of(r)
        for h2, h3, h in np.ndindex(*new.grammar.tensor_of(r).shape):
            found = new.grammar.tensor_of(r)[h2, h3, h]
            before = t[h2 // times[b], h3 // times[c], h // times[a]]
            assert found == pytest.approx(before / (times[b] * times[c]), rel=1e-12)
    sums = counted(model.trees, new.grammar, *everything(new)).states
    assert np.allclose(sums, 1, rtol=1e-12)
    assert new.grammar.root.sum() == pytest.approx(1)


def test_noise_is_small_and_breaks_the_symmetry(latent):
    model = latent(SMALL, (2, 1, 3))
    twice = 2 * model.parameters.grammar.n_states
    even = split(model.trees, model.parameters, twice, 0.0, rng())
    new, again, other = (
        split(model.trees, model.parameters, twice, 0.05, rng(seed)) for seed in (0, 0, 1)
    )
    assert np.allclose(new.grammar.tensor, even.grammar.tensor, rtol=0.11)
    assert np.allclose(new.lexical, even.lexical, rtol=0.11)
    sums = counted(model.trees, new.grammar, *everything(new)).states
    assert np.allclose(sums, 1, rtol=1e-12)
    for r, _ in enumerate(new.grammar.rules.parent):
        t = new.grammar.tensor_of(r)
        assert not np.isclose(t[0::2], t[1::2], rtol=1e-6).any()
        assert not np.isclose(t[:, 0::2], t[:, 1::2], rtol=1e-6).any()
    for one, same, different in zip(*map(everything, (new, again, other))):
        assert np.array_equal(one, same)
        assert one is new.grammar.root or not np.array_equal(one, different)


# merging ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_states", [1, (2, 1, 3)])
def test_merging_undoes_splitting(latent, n_states):
    """It is also a step of EM."""
    model = latent(SMALL, n_states)
    old = model.parameters.grammar.n_states
    for halves in (np.ones(len(old), bool), np.arange(len(old)) % 2 == 0):
        new = split(model.trees, model.parameters, np.where(halves, 2 * old, old), 0.0, rng())
        back = merge(model.trees, new, halves, 1.0)
        alike(back, em(model.trees, model.parameters, 1)[0])


def test_merging_gives_the_pcfg_back(latent):
    model = latent(SMALL)
    pcfg = model.trees.maximum_likelihood(model.treebank)
    n = len(model.treebank.symbols)
    new = split(model.trees, pcfg, np.full(n, 2), 0.3, rng())
    new, _ = em(model.trees, new, 3)
    alike(merge(model.trees, new, np.ones(n, bool), 1.0), pcfg)


@pytest.mark.parametrize("trees", [["(A a)", "(B b)", "(A b)"], ["(S (A a) (A a))"], ["(A a)"]])
def test_the_smallest_treebanks(latent, trees):
    model = latent(trees, 1)
    n = len(model.treebank.symbols)
    new = split(model.trees, model.parameters, np.full(n, 2), 0.0, rng())
    assert model.trees.log_likelihood(new) == pytest.approx(
        model.trees.log_likelihood(model.parameters), abs=1e-12
    )
    back = merge(model.trees, new, np.ones(n, bool), 1.0)
    alike(back, model.trees.maximum_likelihood(model.treebank))


def test_without_merging_it_is_a_step_of_em(latent):
    model = latent(SMALL, (2, 4))
    n = len(model.treebank.symbols)
    step, _ = em(model.trees, model.parameters, 1)
    alike(merge(model.trees, model.parameters, np.ones(n, bool), 0.0), step)
    alike(merge(model.trees, model.parameters, np.zeros(n, bool), 0.9), step)


@pytest.mark.parametrize("share", [0.25, 0.5, 0.7, 0.99])
def test_the_splits_that_lose_least_are_undone(latent, share):
    model = latent(SMALL, (2, 4, 1, 6), seed=3)
    grammar = model.parameters.grammar
    was_split = grammar.n_states > 1
    counts = model.trees.expect(model.parameters)
    losses = model.trees.split_losses(model.parameters, counts.states, was_split)
    firsts = np.flatnonzero(np.isfinite(losses))
    assert len(firsts) == grammar.n_states[was_split].sum() / 2
    undone = sorted(firsts, key=lambda s: losses[s])[: int(share * len(firsts))]
    found = merge(model.trees, model.parameters, was_split, share)
    labels = np.repeat(np.arange(len(grammar.n_states)), grammar.n_states)
    gone = np.bincount(labels[undone], minlength=len(grammar.n_states))
    assert np.array_equal(found.grammar.n_states, grammar.n_states - gone)
    # Their counts add up, state by state.
    of_new = np.cumsum(~np.isin(np.arange(len(labels)), np.array(undone) + 1)) - 1
    old = [slice(*pair) for pair in pairwise(grammar.state_offsets)]
    expected = Grammar(grammar.rules, found.grammar.n_states, 0 * found.grammar.tensor, np.empty(0))
    shaped = Grammar(grammar.rules, grammar.n_states, counts.tensor, counts.root)
    states = np.bincount(of_new, counts.states)
    for r, (a, b, c) in enumerate(zip(*grammar.rules[:3])):
        to = [of_new[old[x]] - of_new[old[x]][0] for x in (b, c, a)]
        np.add.at(expected.tensor_of(r), np.ix_(*to), shaped.tensor_of(r))
        expected.tensor_of(r)[:] /= states[of_new[old[a]][0] :][: expected.sizes[r, 2]]
    assert np.allclose(found.grammar.tensor, expected.tensor, rtol=1e-10)
    assert np.allclose(found.grammar.root, np.bincount(of_new, counts.root) / len(SMALL))
    sums = counted(model.trees, found.grammar, *everything(found)).states
    assert np.allclose(sums, 1, rtol=1e-12)


def test_labels_keep_the_states_that_they_can_use():
    """Subject and verb agree, with any adverb. Their splits are kept, that of the adverb is not."""
    draw = rng()
    trees = []
    for _ in range(300):
        plural = draw.random() < 0.5
        noun, verb = ("they", "walk") if plural else ("she", "walks")
        trees.append(f"(S (NP {noun}) (VP {verb}) (RB {draw.choice(['now', 'here'])}))")
    treebank = Treebank.from_trees(trees)
    training = TrainingTrees(treebank, treebank.word[treebank.left < 0])
    pcfg = training.maximum_likelihood(treebank)
    names = [str(symbol) for symbol in treebank.symbols]
    new = split(training, pcfg, np.full(len(names), 2), 0.9, rng())
    new, history = em(training, new, 40)
    assert history[-1] > history[0] + 0.9 * 300 * np.log(2)
    merged = merge(training, new, np.ones(len(names), bool), 0.6)
    found = dict(zip(names, merged.grammar.n_states.tolist()))
    assert found == {"S": 1, "@S": 1, "NP": 2, "VP": 2, "RB": 1}
    assert training.log_likelihood(merged) == pytest.approx(training.log_likelihood(new), rel=1e-3)


# losses -------------------------------------------------------------------------------------------


def test_what_was_split_without_noise_loses_nothing(latent):
    model = latent(SMALL, (2, 1, 3))
    was_split = np.ones(len(model.treebank.symbols), bool)
    twice = 2 * model.parameters.grammar.n_states
    new = split(model.trees, model.parameters, twice, 0.0, rng())
    counts = model.trees.expect(new)
    losses = model.trees.split_losses(new, counts.states, was_split)
    assert np.allclose(losses[0::2], 0, atol=1e-12)
    assert (losses[1::2] == np.inf).all()


def test_the_loss_of_a_label_that_comes_once_a_tree_is_exact(latent):
    """Undo its split by hand: the likelihood falls by the loss."""
    trees = ["(S (A a) (B b))", "(S (A b) (B b))", "(S (B a) (A a))", "(S (A c) (B b))", "(A b)"]
    for seed in range(3):
        model = latent(trees, 2, seed)
        grammar, lexical = vars(model.parameters).values()
        names = [str(symbol) for symbol in model.treebank.symbols]
        counts = model.trees.expect(model.parameters)
        was_split = np.ones(3, bool)
        losses = model.trees.split_losses(model.parameters, counts.states, was_split)
        before = counts.log_likelihood
        for a, name in enumerate(names):
            p = counts.states[2 * a : 2 * a + 2] / counts.states[2 * a : 2 * a + 2].sum()
            sizes = np.where(np.arange(3) == a, 1, 2)
            one = Grammar(grammar.rules, sizes, np.empty(0), np.empty(0))
            tensors = []
            for r, rule in enumerate(zip(*grammar.rules[:3])):
                t = grammar.tensor_of(r)
                t = t @ p[:, None] if rule[0] == a else t
                t = t.sum(axis=0, keepdims=True) if rule[1] == a else t
                tensors.append((t.sum(axis=1, keepdims=True) if rule[2] == a else t).ravel())
            words = [
                [q @ p] if label == a else q
                for label, q in zip(model.trees.pair_label, lexical.reshape(-1, 2))
            ]
            root = np.add.reduceat(grammar.root, np.delete(np.arange(6), 2 * a + 1))
            one = GrammarParameters(
                Grammar(grammar.rules, sizes, np.concatenate(tensors), root), np.concatenate(words)
            )
            after = model.trees.log_likelihood(one)
            assert before - after == pytest.approx(losses[2 * a], rel=1e-9), name


def test_sums_by_state(latent, hand_trees):
    model = latent(hand_trees, (2, 1, 3))
    draw, grammar = rng(), model.parameters.grammar
    values = Grammar(
        grammar.rules, grammar.n_states, draw.random(len(grammar.tensor)), grammar.root
    )
    lexical = draw.random(len(model.parameters.lexical))
    found = counted(model.trees, grammar, values.tensor, lexical, grammar.root)
    expected = np.zeros(len(grammar.root))
    for r, s in enumerate(grammar.parent_states):
        sums = values.tensor_of(r).sum(axis=(0, 1))
        expected[s : s + len(sums)] += sums
    np.add.at(expected, model.trees.lexical_states(grammar), lexical)
    assert np.allclose(found.states, expected, rtol=1e-12)
    assert found.tensor is values.tensor
    assert found.lexical is lexical
